# SPDX-License-Identifier: Apache-2.0
"""
Outputs of a linear state space, and the matrices C and D of y = C x + D u.

An output is the change of a quantity from its value at the state:

- FRAME/x y z rx ry rz: place [m], and rotation vector r with R = exp(r) R0 [rad], in root axes;
- FRAME/vx vy vz wx wy wz: velocity [m/s] and angular velocity [rad/s] in root axes;
- FRAME/ax ay az: reading of an accelerometer at the frame's origin along the frame's axes, the
  specific force R^T (a - g) [m/s^2] (Titterton and Weston, Strapdown Inertial Navigation
  Technology, 2004, section 3.2);
- FRAME/pose, FRAME/velocity, FRAME/acceleration: all of these in turn;
- LINK/strain@x,y,z: reading of a strain gauge along a beam [1]. It is at the fraction x of the
  length, and at y, z [m] in the cross-section. The strain is Euler and Bernoulli's,
  u' - y v'' - z w'', with the curvatures of the beam's modes;
- COORDINATE and COORDINATE/rate: a coordinate of `robot.coordinate_names`, and its velocity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

from flexdyn_ros.arguments import names as names_of
from flexdyn_ros.checked_arguments import Wrenches
from flexdyn_ros.errors import ArgumentError, UnknownName
from flexdyn_ros.linearisation.tangent import rate_derivative, twist_derivative
from flexdyn_ros.model.beam.body import beam_field
from flexdyn_ros.model.configuration import ConfigurationSpace
from flexdyn_ros.model.records.base import cross_matrices
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.urdf.values import number
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.configuration import velocity_coordinate_units
import numpy as np
from numpy.typing import ArrayLike

_GROUPS = {
    'pose': ('x', 'y', 'z', 'rx', 'ry', 'rz'),
    'velocity': ('vx', 'vy', 'vz', 'wx', 'wy', 'wz'),
    'acceleration': ('ax', 'ay', 'az'),
}
_UNITS = {
    'pose': ('m', 'm', 'm', 'rad', 'rad', 'rad'),
    'velocity': ('m/s', 'm/s', 'm/s', 'rad/s', 'rad/s', 'rad/s'),
    'acceleration': ('m/s^2',) * 3,
}
_STEP = 1e-6  # of a coordinate [rad | m], for the third derivatives of moving accelerometers


@dataclass(frozen=True)
class SystemOutput:
    """
    One output.

    Attributes:
        name: Its full name.
        unit: Of its values.
        kind: "pose", "velocity", "acceleration", "strain", "coordinate" or "rate".
        place: Name of the frame, link or coordinate.
        row: Entry of the quantity; of the coordinate in v.
        at: Fraction of the length, and y, z in the cross-section [m], of a strain.
    """

    name: str
    unit: str
    kind: str
    place: str
    row: int = 0
    at: tuple[float, ...] = ()


def parsed_outputs(robot: Robot, names: Sequence[str]) -> tuple[SystemOutput, ...]:
    """
    Return the outputs of names.

    Raises:
        UnknownName: There is no frame, link, coordinate or component of a name.
        ArgumentError: A strain is not on a beam with modes, or is not written as x,y,z.
    """
    return tuple(output for name in names_of('outputs', names) for output in _parsed(robot, name))


def _parsed(robot: Robot, name: str) -> tuple[SystemOutput, ...]:
    coordinates, units = robot.coordinate_names, velocity_coordinate_units(robot)
    if name in coordinates:
        k = coordinates.index(name)
        return (SystemOutput(name, units[k], 'coordinate', name, k),)
    place, _, what = name.rpartition('/')
    if what == 'rate' and place in coordinates:
        k = coordinates.index(place)
        return (SystemOutput(name, f'{units[k]}/s', 'rate', place, k),)
    if what.startswith('strain'):
        return (_strain(robot, name, place, what),)
    if place not in robot.frame_names:
        raise UnknownName(*(('frame', place, robot.frame_names) if place else
                            ('coordinate', name, coordinates)))
    for group, parts in _GROUPS.items():
        rows = range(len(parts)) if what == group else [
            k for k, part in enumerate(parts) if part == what]
        if rows:
            return tuple(
                SystemOutput(f'{place}/{parts[k]}', _UNITS[group][k], group, place, k)
                for k in rows)
    known = (*_GROUPS, *(part for parts in _GROUPS.values() for part in parts))
    raise UnknownName(f'output of "{place}"', what, known)


def _strain(robot: Robot, name: str, place: str, what: str) -> SystemOutput:
    link = robot.link(place)
    if link.beam is None or not link.mode_names or link.segments is not None:
        raise ArgumentError(
            'outputs', f'names "{name}", and "{place}" has no modes of a beam. '
            'Choose a link with <beam>')
    try:
        x, y, z = map(number, what.partition('@')[2].split(','))
    except ValueError:
        raise ArgumentError(
            'outputs', f'names "{name}", expected strain@x,y,z with three numbers') from None
    if not 0.0 <= x <= 1.0:
        raise ArgumentError('outputs', f'names "{name}", expected x from 0 to 1')
    return SystemOutput(name, '1', 'strain', place, at=(x, y, z))


def output_matrices(
    dyn: Dynamics, state: tuple[ArrayLike, ArrayLike, ArrayLike], a: np.ndarray, b: np.ndarray,
    outputs: Sequence[SystemOutput], wrenches: Wrenches = None,
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return C, (p, 2 nv), and D, (p, n_joints).

    Args:
        dyn: The dynamics.
        state: q, (nq,), qd, (nv,), and tau, (nv,).
        a: A of the state space, (2 nv, 2 nv).
        b: B of the state space, (2 nv, n_joints).
        outputs: From `parsed_outputs`.
        wrenches: Frame name to six numbers, see `Dynamics`.
    """
    nv = dyn.robot.nv
    q, qd, tau = (np.asarray(each, dtype=float) for each in state)
    qdd: Optional[np.ndarray] = None
    c, d = np.zeros((len(outputs), 2 * nv)), np.zeros((len(outputs), b.shape[1]))
    kept: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]] = {}
    for k, output in enumerate(outputs):
        if output.kind in ('coordinate', 'rate'):
            c[k, output.row + (nv if output.kind == 'rate' else 0)] = 1.0
        elif output.kind == 'strain':
            c[k, :nv] = strain_row(dyn.robot, output.place, output.at)
        elif output.kind == 'pose':
            c[k, :nv] = dyn.jacobian(q, output.place)[output.row]
        else:
            key = output.kind, output.place
            if key not in kept and output.kind == 'velocity':
                kept[key] = np.hstack([
                    twist_derivative(dyn, q, qd, output.place), dyn.jacobian(q, output.place),
                ]), np.zeros((6, b.shape[1]))
            elif key not in kept:
                if qdd is None:
                    qdd = dyn.forward_dynamics(q, qd, tau, wrenches)
                kept[key] = _accelerometer(dyn, q, qd, qdd, output.place, a[nv:], b[nv:])
            c[k], d[k] = (each[output.row] for each in kept[key])
    return c, d


def strain_row(robot: Robot, link: str, at: Sequence[float]) -> np.ndarray:
    """Return the strain for unit coordinates, (nv,), at x [1], y, z [m] of a link's beam."""
    x, y, z = at
    found, row = robot.link(link), np.zeros(robot.nv)
    assert found.beam is not None
    strain = beam_field(found.beam, np.array([x])).strain[:, 0]
    places = [robot.coordinate_names.index(name) for name in found.mode_names]
    # The curvature about y is -w'', that about z is v''.
    row[places] = strain[:, 0] + z * strain[:, 4] - y * strain[:, 5]
    return row


def _accelerometer(
    dyn: Dynamics, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, frame: str,
    by_state: np.ndarray, by_input: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return C, (3, 2 nv), and D, (3, m), of a frame's accelerometer.

    The change of R^T s, s = a - g, is R^T (da + s x dr), dr the rotation in root axes. That of
    a = J qdd + dJ/dt qd holds the change of qdd, rows of A and B.
    """
    nv = dyn.robot.nv
    jacobian, rotation = dyn.jacobian(q, frame), dyn.frame_pose(q, frame)[:3, :3]
    force = jacobian[:3] @ qdd + dyn.jacobian_rate_qd(q, qd, frame)[:3] - np.array(dyn._gravity)
    c = jacobian[:3] @ by_state
    c[:, :nv] += twist_derivative(dyn, q, qdd, frame)[:3] + cross_matrices(force) @ jacobian[3:]
    if np.any(qd):
        moved = ConfigurationSpace(dyn.robot).moved
        c[:, :nv] += np.stack([
            (dyn.jacobian_rate_qd(moved(q, step), qd, frame)
             - dyn.jacobian_rate_qd(moved(q, -step), qd, frame))[:3] / (2.0 * _STEP)
            for step in _STEP * np.eye(nv)], axis=1)
        c[:, nv:] += rate_derivative(dyn, q, qd, frame)[:3]
    return rotation.T @ c, rotation.T @ jacobian[:3] @ by_input
