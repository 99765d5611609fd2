# SPDX-License-Identifier: Apache-2.0
"""States of an arm at rest that a view shows: its vibrations, and its static deflection."""

from __future__ import annotations

from dataclasses import dataclass
import math

from flexdyn_ros.quasi_static.dynamics import QuasiStatic
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.frequencies import linearised
import numpy as np

ROUNDING = 9  # digits of a damping ratio
_STILL = 1e-6  # of the fastest vibration: what is slower meets no stiffness


@dataclass(frozen=True)
class Vibration:
    """
    One vibration of the whole arm with its joints held.

    Attributes:
        frequency: Of the damped motion's undamped twin, |eigenvalue| / (2 pi) [Hz].
        damping_ratio: Minus the eigenvalue's real part over its size [1].
        shape: Complex modal coordinates, (n_modes,), the largest of size 1.
    """

    frequency: float
    damping_ratio: float
    shape: np.ndarray

    def __str__(self) -> str:
        """Return frequency and damping."""
        return f'{self.frequency:.4g} Hz, damping ratio {self.damping_ratio:.3g}'

    def at(self, phase: float) -> np.ndarray:
        """Return the modal coordinates at a phase [rad], (n_modes,), without the decay."""
        return np.real(self.shape * np.exp(1j * phase))


def vibrations(dyn: Dynamics, q: np.ndarray) -> list[Vibration]:
    """
    Return the vibrations about a configuration at rest, (nq,), lowest first.

    All joints are held, those of loops too.
    """
    n_modes = dyn.robot.n_modes
    if not n_modes:
        return []
    _, _, values, vectors = linearised(dyn, q, dyn.robot.n_joints)
    fastest = np.abs(values).max(initial=0.0)
    found = []
    for value, vector in zip(values, vectors.T):
        if value.imag > _STILL * fastest:
            shape = vector[:n_modes]
            shape = shape / shape[np.argmax(np.abs(shape))]
            size = abs(value)
            ratio = max(0.0, round(-value.real / size, ROUNDING))
            found.append(Vibration(size / (2.0 * math.pi), ratio, shape))
    return sorted(found, key=lambda each: each.frequency)


class StaticLoads:
    """Finds the static deflection under gravity and a payload, in dynamics of its own."""

    def __init__(self, dyn: Dynamics):
        """
        Prepare.

        Raises:
            FlexdynError: A mode has no stiffness, or the robot has loops.
        """
        self._dyn = Dynamics(dyn.robot)
        self._static = QuasiStatic(self._dyn)

    def deflection(
        self, joints: np.ndarray, gravity: bool, link: str = '', mass: float = 0.0
    ) -> np.ndarray:
        """
        Return the modal coordinates, (n_modes,).

        Args:
            joints: Joint positions, (nq - n_modes,).
            gravity: Whether the description's gravity acts.
            link: The link that carries a point mass at its origin.
            mass: That mass, beside payloads of the description [kg].

        Raises:
            DeflectionNotFound: The arm buckles under these loads.
        """
        dyn = self._dyn
        dyn.set_gravity(dyn.robot.gravity if gravity else np.zeros(3))
        dyn.clear_payload()
        if mass:
            dyn.set_payload(link, mass, np.zeros(3), np.zeros((3, 3)))
        rest = np.zeros(dyn.robot.n_joints)
        return self._static.inverse_dynamics(joints, rest, rest)[1]
