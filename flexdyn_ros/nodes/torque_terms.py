# SPDX-License-Identifier: Apache-2.0
"""The terms of the equations of motion that a published torque contains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable

from flexdyn_ros.nodes.dynamics_under_wrenches import DynamicsUnderWrenches
import numpy as np


@dataclass(frozen=True)
class TorqueTerms:
    """
    Which terms are compensated.

    Attributes:
        gravity: Gravity.
        coriolis: Coriolis and centrifugal terms.
        inertia: Mass matrix times accelerations.
        friction: Joint damping and friction.
    """

    gravity: bool = True
    coriolis: bool = True
    inertia: bool = True
    friction: bool = True

    @classmethod
    def of(cls, names: Iterable[str]) -> TorqueTerms:
        """Return the terms of these names."""
        chosen = set(names)
        return cls(**{name: name in chosen for name in vars(cls())})

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms that are on."""
        return tuple(name for name, on in vars(self).items() if on)

    def sum(self, dyn, q, qd, qdd) -> np.ndarray:
        """
        Return the sum of the terms that are on.

        With all of them on this is the inverse dynamics; its joint rows hold no elastic forces,
        because springs and modal stiffness act on modal coordinates alone.

        Args:
            dyn: The dynamics of the robot.
            q: Configuration, shape (nq,) [rad | m].
            qd: Velocity, shape (nv,) [rad/s | m/s].
            qdd: Acceleration, shape (nv,) [rad/s^2 | m/s^2].

        Returns:
            Generalised forces, shape (nv,) [N m | N].
        """
        if len(self.names) == 4:
            return dyn.inverse_dynamics(q, qd, qdd)
        total = np.zeros(dyn.robot.nv)
        if self.gravity:
            total += dyn.gravity_vector(q)
        if self.coriolis:
            total += dyn.coriolis_vector(q, qd)
        if self.inertia:
            total += dyn.inertia_vector(q, qdd)
        if self.friction:
            total += dyn.friction_vector(qd)
        if isinstance(dyn, DynamicsUnderWrenches):
            total += dyn.external_forces(q)
        return dyn.actuated_forces(q, total)

    def sentence(self, mode: str, acceleration: str) -> str:
        """
        Return the line that says what the torque contains.

        Args:
            mode: Mode of the node.
            acceleration: Where accelerations come from, such as "zero until a reference comes".
        """
        if mode == 'gravity':
            return 'Published torque contains: gravity of the undeformed arm alone.'
        contained = ', '.join(self.names) or 'nothing'
        missing = ', '.join(name for name in vars(self) if name not in self.names) or 'nothing'
        deflection = {
            'rigid': 'modes held at zero',
            'flexible_quasi_static': 'with the quasi-static deflection',
            'flexible_hybrid': 'with the modes integrated along the joint motion',
        }[mode]
        return (
            f'Published torque contains: {contained}; omitted: {missing}; {deflection}; '
            f'accelerations: {acceleration}.'
        )
