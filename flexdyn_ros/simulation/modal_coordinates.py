# SPDX-License-Identifier: Apache-2.0
"""Each modal coordinate of a robot by itself: kind, modal mass, stiffness, damping, frequency."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any, Iterator

from flexdyn_ros.model.beam.body import link_body
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot
import numpy as np


def coordinate_table(
    robot: Robot, mass: np.ndarray, stiffness: np.ndarray
) -> list[dict[str, Any]]:
    """
    Return one record a modal coordinate: kind, modal mass, stiffness, frequency, damping ratio.

    Modes of beams and files have their effective mass and share of the tip's compliance besides.

    Args:
        robot: The robot.
        mass: Its mass matrix, (nv, nv), which gives an elastic joint's inertia.
        stiffness: Its stiffness matrix, (nv, nv), which gives a nonlinear spring's slope.
    """
    # Kind, modal mass, stiffness and damping by name.
    found: dict[str, tuple[str, float, float, float]] = {}
    for link in robot.links:
        if link.segments is not None:
            found.update(_segment_data(link))
        if link.segments is not None or not link.mode_names:
            continue
        body = link_body(link)
        for k, mode in enumerate(body.modes):
            own = float(body.stiffness[k, k])
            # Loaded modes count by their mass with the bodies that they carry.
            inertia, damping = own / mode.frequency**2, float(body.damping[k, k])
            plain = mode.shape == 'clamped-free'
            kind = mode.kind if plain else f'{mode.kind}, {mode.shape}'
            found[mode.name] = (kind, inertia, own, damping)
    for joint in robot.joints:
        if joint.elastic_name:
            k, drive = robot.coordinate_names.index(joint.elastic_name), joint.dynamics
            slope = float(stiffness[k, k]) if drive.spring else drive.stiffness
            kind = 'nonlinear spring' if drive.spring else 'joint spring'
            found[joint.elastic_name] = (kind, float(mass[k, k]), slope, drive.damping)
        for name, axis in zip(joint.bearing_names, joint.dynamics.bearing):
            k = robot.coordinate_names.index(name)
            found[name] = ('bearing', float(mass[k, k]), axis.stiffness, axis.damping)
    for link in robot.links:
        for spring in link.mode_springs:
            name = link.full_name(spring.mode)
            kind, inertia, _, damping = found[name]
            k = robot.coordinate_names.index(name)
            found[name] = (f'{kind}, nonlinear', inertia, float(stiffness[k, k]), damping)
    shares = {name: share for link in robot.links for name, share in _link_shares(link)}
    return [
        {'index': k, **_record(name, *found[name]), **shares.get(name, {})}
        for k, name in enumerate(robot.mode_names)
    ]


def _link_shares(link: Link) -> Iterator[tuple[str, dict[str, float]]]:
    """
    Yield the effective mass and the share of the tip's compliance of a link's modes.

    The effective mass is |int phi dm|^2 over the modal mass [kg] (Wijker, Mechanical Vibrations
    in Spacecraft Design, 2004, section 6.4). The share is that of the mode in the static
    deflections of the tip under forces along all axes, in 0 ... 1.
    """
    if link.segments is not None or not link.mode_names:
        return
    body = link_body(link)
    beam, file = link.beam, link.modal
    tip = file.tip if file is not None else tuple(
        beam.length * row[0] for row in beam.axes) if beam is not None else (0.0, 0.0, 0.0)
    shape = body.node_at(np.array(tip)).translation
    own = np.diag(body.stiffness)
    compliance = np.sum(shape**2, axis=1) / own
    total = float(compliance.sum())
    for k, mode in enumerate(body.modes):
        moment, mass = body.modal_first_moment[k], body.modal_mass[k, k]
        yield mode.name, {
            'effective_mass': float(moment @ moment / mass) if mass > 0.0 else 0.0,
            'tip_share': float(compliance[k] / total) if total > 0.0 else 0.0,
        }


def _segment_data(link: Link) -> dict[str, tuple[str, float, float, float]]:
    """Return kind, inertia, stiffness and damping of the passive joints between segments."""
    segments, found = link.segments, {}
    for axis in segments.directions:
        inertia = segments.inertia_matrix(axis).diagonal()
        names = [name for name in link.mode_names if name.endswith(f'_{axis}')]
        for name, mass in zip(names, inertia):
            spring, damper = segments.stiffness(axis), segments.damping(axis)
            found[name] = (f'segment about {axis}', float(mass), spring, damper)
    return found


def _record(
    name: str, kind: str, mass: float, stiffness: float, damping: float
) -> dict[str, Any]:
    rate = sqrt(stiffness / mass) if mass > 0.0 and stiffness > 0.0 else None
    return {
        'name': name,
        'kind': kind,
        'frequency': rate / (2.0 * pi) if rate else None,
        'damping_ratio': damping / (2.0 * mass * rate) if rate else None,
        'modal_mass': mass,
        'stiffness': stiffness,
    }
