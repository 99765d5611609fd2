# SPDX-License-Identifier: Apache-2.0
"""
The lowest frequencies over speed (Campbell diagram) and over pose, joints held.

In a Campbell diagram one joint turns at a constant rate, and the others rest. Gravity, which would
turn against the arm, is left out. About the deflection that the rotation causes, the modes obey
M x'' + (D + G) x' + K x = 0. These are the modal blocks of the derivatives of inverse dynamics,
with centrifugal and gyroscopic terms (Genta, Dynamics of Rotating Systems, 2005, chapter 2).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Callable, Mapping, Optional

from flexdyn_ros.arguments import real_vector
from flexdyn_ros.errors import ArgumentError, require_known
from flexdyn_ros.linearisation.equilibrium import static_equilibrium
from flexdyn_ros.quasi_static.dynamics import QuasiStatic
from flexdyn_ros.quasi_static.static_deflection import DeflectionNotFound
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.configuration import ConfigurationMap
from flexdyn_ros.simulation.frequencies import natural_modes, state_matrix
import numpy as np
from numpy.typing import ArrayLike

Progress = Optional[Callable[[float], None]]


@dataclass(frozen=True)
class Campbell:
    """
    Poles over the speed of one joint.

    Attributes:
        joint: Its name.
        speeds: (n,) [rad/s].
        frequencies: |Im s| / 2 pi of the lowest poles, ascending, (n, k) [Hz].
        growth: Largest real part of all poles, (n,) [1/s]; above zero the rotation is unstable.
    """

    joint: str
    speeds: np.ndarray
    frequencies: np.ndarray
    growth: np.ndarray


@dataclass(frozen=True)
class PoseMap:
    """
    Natural frequencies over a grid of joint positions.

    Attributes:
        names: Names of one or two joint coordinates.
        positions: Their positions, (n1,) and (n2,) [rad | m].
        frequencies: Lowest ones, joints held, (n1, k) or (n1, n2, k) [Hz]; nan where no static
            equilibrium carries the load.
        places: Of the frame, if one was given, (n1, 3) or (n1, n2, 3) [m].
        units: Of the positions.
    """

    names: tuple[str, ...]
    positions: tuple[np.ndarray, ...]
    frequencies: np.ndarray
    places: Optional[np.ndarray]
    units: tuple[str, ...]


def campbell_diagram(
    dyn: Dynamics, joint: str, speeds: ArrayLike, q: Optional[ArrayLike] = None, modes: int = 6,
    progress: Progress = None,
) -> Campbell:
    """
    Return the frequencies of the modes while a joint turns.

    Args:
        dyn: Dynamics of the robot.
        joint: Name of the joint coordinate that turns.
        speeds: Its rates, (n,) [rad/s].
        q: Configuration, (nq,); the neutral one for None. Its modal part is not read.
        modes: Number of frequencies.
        progress: Receives the fraction done.

    Raises:
        UnknownName: The robot has no such joint.
        ArgumentError: The robot has no modes.
        DeflectionNotFound: No deflection carries the load at a speed.
        NotYetSupported: The robot has loops.
    """
    robot = dyn.robot
    require_known('joint', [joint], robot.joint_names)
    _require_modes(dyn)
    weightless = copy(dyn)
    weightless.set_gravity((0.0, 0.0, 0.0))
    static, first = QuasiStatic(weightless), robot.nq - robot.n_modes
    at = np.array(robot.neutral_configuration() if q is None else real_vector('q', q, robot.nq))
    rates = np.asarray(speeds, dtype=float)
    modal = slice(robot.n_joints, None)
    zero, found, growth = np.zeros(robot.nv), [], []
    for k, speed in enumerate(rates):
        rate = zero.copy()
        rate[robot.joint_names.index(joint)] = speed
        n = slice(robot.n_joints)
        # From speed to speed along one branch of solutions, that of the arm at rest.
        start = at[first:] if k else None
        at[first:] = static.inverse_dynamics(at[:first], rate[n], zero[n], start=start)[1]
        by_q, by_qd, mass = (
            each[modal, modal]
            for each in weightless.inverse_dynamics_derivatives(at, rate, zero))
        poles = np.linalg.eigvals(state_matrix(mass, by_q, by_qd))
        # Of a pair one pole; two real poles count as one of frequency 0.
        found.append(np.sort(np.abs(poles.imag))[::2][:modes] / (2.0 * np.pi))
        growth.append(poles.real.max())
        if progress is not None:
            progress((k + 1) / len(rates))
    return Campbell(joint, rates, np.array(found), np.array(growth))


def pose_map(
    dyn: Dynamics, positions: Mapping[str, ArrayLike], q: Optional[ArrayLike] = None,
    modes: int = 3, frame: Optional[str] = None, progress: Progress = None,
) -> PoseMap:
    """
    Return the lowest frequencies over a grid of poses, at static equilibrium.

    Args:
        dyn: Dynamics of the robot, with its payloads and gravity.
        positions: Positions [rad | m] of one or two joint coordinates, by name.
        q: Configuration of the others, (nq,); the neutral one for None.
        modes: Number of frequencies.
        frame: Frame whose places are returned too.
        progress: Receives the fraction done.

    Raises:
        UnknownName: The robot has no such coordinate or frame.
        ArgumentError: There are not one or two coordinates, or the robot has no modes.
        NotYetSupported: The robot has loops.
    """
    robot = dyn.robot
    _require_modes(dyn)
    QuasiStatic(dyn)  # refuses loops
    if len(positions) not in (1, 2):
        raise ArgumentError('positions', f'names {len(positions)} coordinates, expected 1 or 2')
    coordinates = ConfigurationMap(robot)
    names = coordinates.names[:robot.nq - robot.n_modes]
    require_known('joint coordinate', positions, names)
    axes = tuple(np.atleast_1d(np.asarray(each, dtype=float)) for each in positions.values())
    places = [names.index(name) for name in positions]
    at = np.array(robot.neutral_configuration() if q is None else real_vector('q', q, robot.nq))
    shape = tuple(map(len, axes))
    found = np.full((*shape, min(modes, robot.n_modes)), np.nan)
    tips = None if frame is None else np.zeros((*shape, 3))
    for k, index in enumerate(np.ndindex(*shape)):
        at[places] = [axis[i] for axis, i in zip(axes, index)]
        found[index] = _held_frequencies(dyn, at, found.shape[-1])
        if tips is not None:
            tips[index] = dyn.frame_pose(at, str(frame))[:3, 3]
        if progress is not None:
            progress((k + 1) / found[..., 0].size)
    units = tuple(coordinates.units[place] for place in places)
    return PoseMap(tuple(positions), axes, found, tips, units)


def _held_frequencies(dyn: Dynamics, q: np.ndarray, count: int) -> np.ndarray:
    modal = slice(dyn.robot.n_joints, None)
    try:
        rest = static_equilibrium(dyn, q)
    except DeflectionNotFound:
        return np.full(count, np.nan)
    mass = rest.dyn.mass_matrix(rest.q)[modal, modal]
    return natural_modes(mass, rest.stiffness[modal, modal])[0][:count] / (2.0 * np.pi)


def _require_modes(dyn: Dynamics) -> None:
    if not dyn.robot.n_modes:
        raise ArgumentError(
            'dyn', f'is of "{dyn.robot.name}", which is rigid. Add a <flexible_link>')
