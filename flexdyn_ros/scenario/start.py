# SPDX-License-Identifier: Apache-2.0
"""The state at the start of a scenario."""

from __future__ import annotations

import logging
from typing import Any, Mapping, Sequence

from flexdyn_ros.errors import LoopsCannotClose
from flexdyn_ros.scenario.document import CheckedSection
from flexdyn_ros.scenario.trajectories import ScenarioTrajectory
from flexdyn_ros.simulation.configuration import ConfigurationMap
import numpy as np

# A projection of the initial state beyond this is reported [rad | m].
_MOVED = 1e-6


def driven_positions(data: CheckedSection, dyn: Any) -> dict[str, float]:
    """
    Return the initial positions of the joints that are driven, as far as they are written.

    Joints with a quaternion, and a base, are not among them.
    """
    q, _ = _written(data, dyn)
    robot, own = dyn.robot, ConfigurationMap(dyn.robot)
    places = dict(zip(own.plain_v.tolist(), own.plain_q.tolist()))
    return {
        name: float(q[places[k]]) for k, name in enumerate(robot.coordinate_names)
        if name in robot.actuated_coordinates and k in places
        and not name.startswith('base_motion/')}


def initial_state(
    data: CheckedSection, dyn: Any, trajectories: Mapping[str, ScenarioTrajectory],
    start: Mapping[str, float],
) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """
    Return configuration, velocity, and the positions of the joints that are driven.

    Args:
        data: The checked scenario.
        dyn: Its `Dynamics`.
        trajectories: Its trajectories.
        start: Positions as they are written.

    Raises:
        ScenarioError: A name is unknown, loops do not close, or there is no equilibrium.
    """
    section: CheckedSection = data['initial']
    q, qd = _written(data, dyn)
    own, held = ConfigurationMap(dyn.robot), list(section['positions'])
    places = dict(zip(own.velocity_names, range(own.nv)))
    of_q = dict(zip(own.plain_v.tolist(), own.plain_q.tolist()))
    if section['trajectory'] is not None:
        section.known('trajectory', section['trajectory'], tuple(trajectories), 'trajectory')
        chosen = trajectories[section['trajectory']]
        position, rate, _ = chosen.motion.with_curvature(0.0)
        for k, name in enumerate(chosen.names):
            q[of_q[places[name]]], qd[places[name]] = position[k], rate[k]
        held += chosen.names
    if dyn.robot.loops:
        with section.place.errors():
            q, qd = nearest_closed(dyn, q, qd, held)
    if section['deflection'] == 'static':
        from flexdyn_ros.tip_tracking.static_tracking import equilibrium

        with (section.place / 'deflection').errors():
            q = equilibrium(dyn, q, 'q')
    return q, qd, {name: float(q[of_q[places[name]]]) for name in start}


def nearest_closed(
    dyn: Any, q: np.ndarray, qd: np.ndarray, given: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the nearest state that meets the loops, with the given values kept if possible.

    Args:
        dyn: The dynamics.
        q: Configuration, (nq,).
        qd: Velocity, (nv,).
        given: Names of coordinates to keep.

    Raises:
        LoopsCannotClose: There is none.
    """
    held = [name for name in given if name in dyn.robot.coordinate_names]
    try:
        at, rate = dyn.project(q, qd, hold=held)
    except LoopsCannotClose:
        if not held:
            raise
        at, rate = dyn.project(q, qd)
    if max(np.abs(at - q).max(), np.abs(rate - qd).max()) > _MOVED:
        logging.getLogger('flexdyn_ros').warning(
            'The nearest state that closes the loops replaces the initial state. Start from the '
            'first line of trajectory.csv.')
    return at, rate


def _written(data: CheckedSection, dyn: Any) -> tuple[np.ndarray, np.ndarray]:
    section, own = data['initial'], ConfigurationMap(dyn.robot)
    with (section.place / 'positions').errors():
        q = own.checked(
            section.vector('positions', own.names, 'coordinate',
                           dyn.robot.neutral_configuration()), 'positions')
    return q, section.vector('velocities', own.velocity_names, 'coordinate')
