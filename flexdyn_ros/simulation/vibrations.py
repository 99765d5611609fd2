# SPDX-License-Identifier: Apache-2.0
"""
Small undamped vibrations of a robot about a configuration at rest, and their participation.

Participation of a mode x with joints locked is its share (0 to 1) of the inertia at a joint or the
base. x is scaled so that x' M x = 1 over the modal coordinates f. It is the effective modal mass
of Wijker, Mechanical Vibrations in Spacecraft Design, 2004:

    in joint j             (M_jf x)^2 / M_jj
    in base translation k  (L_kf x)^2 / (total mass)

M is the mass matrix, and L_kf the modal forces that hold the arm while its base accelerates by
1 m/s^2 along root axis k.
"""

from __future__ import annotations

from typing import Any, Optional

from flexdyn_ros.closed_chains.solve import spaces
from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.frequencies import natural_modes, stiffness_matrix
from flexdyn_ros.simulation.modal_coordinates import coordinate_table
import numpy as np

_MADE_OF = 3  # coordinates with the largest shares of potential energy are named
_ROUNDING = 1e-13  # of the largest square of a frequency


def analyse(
    robot: Robot, q: np.ndarray, stiffness: Optional[np.ndarray] = None
) -> dict[str, Any]:
    """
    Return the mode tables in the form that `flexdyn modes --json` prints.

    Args:
        robot: The robot.
        q: The configuration, (nq,).
        stiffness: Of the vibrations, gravity's included, (nv, nv); that of modes and springs alone
            for None.

    Returns:
        "coordinates", one record a modal coordinate. "locked" and "free", one a natural mode with
        joints held and free; unstable ones have a growth rate [1/s]. "joint_inertia", M_jj by
        joint [kg m^2 | kg]. "geometric_stiffening", the links that have it, and
        "gravity_stiffness_included".

    Raises:
        SingularMassMatrix: Some motion meets no inertia, so that it has no frequency.
    """
    dyn = Dynamics(robot)
    mass, elastic = dyn.mass_matrix(q), stiffness_matrix(dyn, q)
    with_gravity = stiffness is not None
    stiffness = stiffness if with_gravity else elastic
    moving, held_motions, motions = allowed_motions(dyn, q)
    locked = _vibrations(
        dyn, q, mass[moving, moving], stiffness[moving, moving],
        robot.coordinate_names[moving], held_motions,
    )
    beyond = slice(BASE_COORDINATES if robot.base_motion == 'prescribed' else 0, None)
    free = _vibrations(
        dyn, q, mass[beyond, beyond], stiffness[beyond, beyond], robot.coordinate_names[beyond],
        motions,
    )
    coupling, total_mass = _base_coupling(robot, q), _total_mass(robot)
    for vibration in locked:
        shape = vibration['shape']
        vibration['participation'] = {
            'joints': {
                name: _share(mass[k, moving] @ shape, mass[k, k])
                for k, name in enumerate(robot.joint_names)
            },
            'base': {
                axis: _share(row[moving] @ shape, total_mass)
                for axis, row in zip('xyz', coupling)
            },
        }
    for vibration in (*locked, *free):
        vibration['shape'] = vibration['shape'].tolist()
    return {
        'name': robot.name,
        'coordinates': coordinate_table(robot, mass, elastic),
        'locked': locked,
        'free': free,
        'joint_inertia': {name: float(mass[k, k]) for k, name in enumerate(robot.joint_names)},
        'geometric_stiffening': [link.name for link in robot.links if link.stiffens],
        'gravity_stiffness_included': with_gravity,
    }


def allowed_motions(
    dyn: Dynamics, q: np.ndarray
) -> tuple[slice, Optional[np.ndarray], Optional[np.ndarray]]:
    """
    Return the coordinates free with joints held, and motions that loops leave, held and free.

    Without loops these are the modes and no restriction. With loops the actuated joints are held
    and the passive ones follow: motions are columns over the coordinates.
    """
    robot = dyn.robot
    if not robot.loops:
        return slice(robot.n_joints, None), None, None
    a = dyn.loop_jacobian(q)
    first = BASE_COORDINATES if robot.base_motion == 'prescribed' else 0
    driven = driven_coordinates(robot)
    loose = [k for k, name in enumerate(robot.coordinate_names) if name not in driven]
    held = np.zeros((robot.nv, len(loose)))
    held[loose, range(len(loose))] = 1.0
    along = spaces(a, columns=slice(first, None)).free
    return slice(None), held @ spaces(a, columns=loose).free, along


def driven_coordinates(robot: Robot) -> set[str]:
    """Return the names of the actuated coordinates and those of a prescribed base."""
    base = BASE_COORDINATES if robot.base_motion == 'prescribed' else 0
    return {*robot.actuated_coordinates, *robot.coordinate_names[:base]}


def _vibrations(
    dyn: Dynamics,
    q: np.ndarray,
    mass: np.ndarray,
    stiffness: np.ndarray,
    names: tuple[str, ...],
    motions: Optional[np.ndarray],
) -> list[dict[str, Any]]:
    """Return one record a natural mode, lowest first, within the given motions."""
    try:
        if motions is None:
            rates, shapes = natural_modes(mass, stiffness)
        else:
            stiff = motions[np.any(stiffness, axis=0)]
            rates, shapes = natural_modes(
                motions.T @ mass @ motions, motions.T @ stiffness @ motions,
                motions.shape[1] - (np.linalg.matrix_rank(stiff, 1e-9) if stiff.size else 0),
            )
            shapes = motions @ shapes
    except np.linalg.LinAlgError:
        dyn.forward_dynamics(q, np.zeros(dyn.robot.nv), np.zeros(dyn.robot.nv))
        raise
    records = []
    rounding = _ROUNDING * rates.max(initial=0.0) ** 2
    rates = np.where(rates**2 > rounding, rates, 0.0)
    for rate, shape in zip(rates, shapes.T):
        strain = shape * (stiffness @ shape)
        total = float(np.sum(strain))  # w^2
        shares = strain / total if rate > 0.0 and total > 0.0 else np.zeros(len(names))
        largest = np.argsort(-shares, kind='stable')[:_MADE_OF]
        records.append({
            'frequency': float(rate) / (2.0 * np.pi),
            'growth_rate': float(np.sqrt(-total)) if total < -rounding else 0.0,
            'made_of': {names[k]: float(shares[k]) for k in largest if shares[k] >= 0.01},
            'shape': shape,
        })
    return records


def _base_coupling(robot: Robot, q: np.ndarray) -> list[np.ndarray]:
    """
    Return L_kf for all coordinates, (3, nv) [kg | kg m].

    An acceleration of the base acts as gravity in the opposite direction.
    """
    dyn = Dynamics(robot)
    rows = []
    for axis in np.eye(3):
        dyn.set_gravity(-axis)
        rows.append(np.array(dyn.gravity_vector(q)))
    return rows


def _total_mass(robot: Robot) -> float:
    """Return the mass with payloads [kg]."""
    return float(robot.total_mass) + sum(p.inertia.mass for p in robot.payloads)


def _share(coupling: float, inertia: float) -> float:
    return float(coupling**2 / inertia) if inertia > 0.0 else 0.0
