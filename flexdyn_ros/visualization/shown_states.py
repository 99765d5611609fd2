# SPDX-License-Identifier: Apache-2.0
"""States that a view shows: closed loops, vibrations, and static deflection."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from dataclasses import dataclass
import math

from flexdyn_ros.errors import LoopsCannotClose
from flexdyn_ros.linearisation.equilibrium import static_configuration
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.frequencies import damping_matrix, state_matrix, stiffness_matrix
from flexdyn_ros.simulation.vibrations import allowed_motions, driven_coordinates
import numpy as np

ROUNDING = 9  # digits of a damping ratio
_STILL = 1e-6  # of the fastest vibration: slower motion meets no stiffness


@dataclass(frozen=True)
class Vibration:
    """
    One vibration of the whole arm with its driven joints held.

    Attributes:
        frequency: Of the damped motion's undamped twin, |eigenvalue| / (2 pi) [Hz].
        damping_ratio: Minus the eigenvalue's real part over its size [1].
        shape: Complex displacements of the coordinates, (nv,), the largest of size 1.
    """

    frequency: float
    damping_ratio: float
    shape: np.ndarray

    def __str__(self) -> str:
        """Return frequency and damping."""
        return f'{self.frequency:.4g} Hz, damping ratio {self.damping_ratio:.3g}'

    def at(self, phase: float) -> np.ndarray:
        """Return the displacements at a phase [rad], (nv,), without the decay."""
        return np.real(self.shape * np.exp(1j * phase))


def closed(dyn: Dynamics, q: np.ndarray, hold_modes: bool = True) -> np.ndarray:
    """
    Return the nearest configuration that closes all loops, (nq,).

    Driven joints and modes stay as they are. Where the loops cannot close with these, the modes
    move too, and where they still cannot, all coordinates.

    Args:
        dyn: The dynamics.
        q: Configuration, (nq,).
        hold_modes: Whether modes stay as they are where that is possible.

    Raises:
        LoopsCannotClose: No nearby configuration closes the loops.
    """
    robot, rest = dyn.robot, np.zeros(dyn.robot.nv)
    if not robot.loops:
        return q
    driven = driven_coordinates(robot)
    for hold in ({*driven, *robot.mode_names}, driven)[not hold_modes:]:
        with suppress(LoopsCannotClose):
            return dyn.project(q, rest, hold=hold)[0]
    return dyn.project(q, rest)[0]


def vibrations(dyn: Dynamics, q: np.ndarray) -> list[Vibration]:
    """
    Return the vibrations about a configuration at rest, (nq,), lowest first.

    Joints are held, with loops the actuated ones; the passive ones follow.
    """
    moving, motions, _ = allowed_motions(dyn, q)
    basis = np.eye(dyn.robot.nv)[:, moving] if motions is None else motions
    if not basis.size:
        return []
    values, vectors = np.linalg.eig(state_matrix(*(
        basis.T @ each @ basis
        for each in (dyn.mass_matrix(q), stiffness_matrix(dyn, q), damping_matrix(dyn, q)))))
    fastest = np.abs(values).max(initial=0.0)
    found = []
    for value, vector in zip(values, vectors.T):
        if value.imag > _STILL * fastest:
            shape = basis @ vector[:basis.shape[1]]
            shape = shape / shape[np.argmax(np.abs(shape))]
            size = abs(value)
            ratio = max(0.0, round(-value.real / size, ROUNDING))
            found.append(Vibration(size / (2.0 * math.pi), ratio, shape))
    return sorted(found, key=lambda each: each.frequency)


def static_deflection(
    dyn: Dynamics, q: np.ndarray, gravity: bool, link: str = '', mass: float = 0.0
) -> np.ndarray:
    """
    Return the configuration, (nq,), under gravity and a payload, joints held; see Equilibrium.

    Args:
        dyn: The dynamics; their loads stay as they are.
        q: Configuration, (nq,).
        gravity: Whether the description's gravity acts.
        link: The link that carries a point mass at its origin.
        mass: That mass, beside payloads of the description [kg].

    Raises:
        DeflectionNotFound: The arm buckles under these loads.
        FlexdynError: A mode has no stiffness.
    """
    dyn = copy(dyn)
    dyn.set_gravity(dyn.robot.gravity if gravity else np.zeros(3))
    dyn.clear_payload()
    if mass:
        dyn.set_payload(link, mass, np.zeros(3), np.zeros((3, 3)))
    return static_configuration(dyn, q)
