# SPDX-License-Identifier: Apache-2.0
"""
The dynamics of a robot's joints, its modes following statically.

With springs that are stiff against the motion, of order 1 / e^2, deflections are of order e^2.
After vibrations have decayed, they vary as slowly as the joints. To leading order their
rates and accelerations drop out, delta' = delta'' = 0 (singular perturbation, zeroth order:
Siciliano and Book, A singular perturbation approach to control of lightweight flexible
manipulators, 1988; Kokotovic, Khalil and O'Reilly, Singular Perturbation Methods in Control,
1986, chapter 1). The exact equations remain, at the deflection delta that solves

    0   = f_mode(q, q', q'', delta, 0, 0),
    tau = f_joint(q, q', q'', delta, 0, 0),

f the inverse dynamics: delta carries inertia, Coriolis, gravity and wrenches of the joint motion.
"""

from __future__ import annotations

from typing import Optional

from flexdyn_ros.arguments import real_vector
from flexdyn_ros.checked_arguments import Wrenches
from flexdyn_ros.errors import NotYetSupported
from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
from flexdyn_ros.prescribed_base import checked_base_acceleration
from flexdyn_ros.quasi_static.static_deflection import StaticDeflection
from flexdyn_ros.robot_dynamics import Dynamics, require_dynamics
import numpy as np
from numpy.typing import ArrayLike

# Of a deflection: below the resolution of an integration's steps.
TOLERANCE = 1e-11


class QuasiStatic:
    """
    Inverse and forward dynamics of the joints alone, every mode at its static deflection.

    Modes are all that the robot counts as such: those of links, elastic joints and segments. Joint
    positions [rad | m] are the first entries of a configuration, (nq - n_modes,). Joint
    velocities, accelerations and torques [N m | N] are (n_joints,), in the order of
    `robot.joint_names`. Payloads and gravity are those that the dynamics have at the time of a
    call.

    Attributes:
        dyn: The dynamics of the robot with its modes.
        robot: The robot.
        n_positions: Number of joint positions.
    """

    def __init__(self, dyn: Dynamics):
        """
        Prepare.

        Args:
            dyn: The `Dynamics` of the robot.

        Raises:
            ArgumentError: These are no dynamics.
            FlexdynError: A mode has no stiffness, and so no static deflection.
            NotYetSupported: The robot has loops.
        """
        require_dynamics(dyn)
        self.dyn, self.robot = dyn, dyn.robot
        if self.robot.loops:
            raise NotYetSupported(
                'The quasi-static form of a robot with loops is not supported yet',
                file=self.robot.source,
                element='loop',
                name=self.robot.loops[0].name,
                advice='Use Dynamics, or torque_model flexible_quasi_static of '
                       'inverse_dynamics_node',
            )
        self.n_positions = self.robot.nq - self.robot.n_modes
        self._static = StaticDeflection(dyn, TOLERANCE)

    def configuration(self, q: ArrayLike, deflection: ArrayLike) -> np.ndarray:
        """Return the robot's configuration, (nq,), of joint positions and a deflection."""
        return np.concatenate((
            np.array(real_vector('q', q, self.n_positions)),
            np.array(real_vector('deflection', deflection, self.robot.n_modes)),
        ))

    def inverse_dynamics(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, wrenches: Wrenches = None,
        start: Optional[ArrayLike] = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the torques of a joint motion, (n_joints,), and the deflection with it, (n_modes,).

        Args:
            q: Joint positions, (n_positions,).
            qd: Joint velocities, (n_joints,).
            qdd: Joint accelerations, (n_joints,).
            wrenches: Frame name to six numbers, see `Dynamics`.
            start: Deflection to begin the search from, (n_modes,); the undeformed arm when None.

        Raises:
            DeflectionNotFound: There is no deflection that carries the load, as beyond buckling.
        """
        position = np.array(real_vector('q', q, self.n_positions))
        if start is not None:
            start = np.array(real_vector('start', start, self.robot.n_modes))
        rate, acceleration = self.with_modes(qd, 'qd'), self.with_modes(qdd, 'qdd')

        def forces(deflection: np.ndarray) -> np.ndarray:
            at = np.concatenate((position, deflection))
            return np.asarray(self.dyn.inverse_dynamics(at, rate, acceleration, wrenches))

        n = self.robot.n_joints
        deflection = self._static.find(lambda delta: forces(delta)[n:], start)
        return forces(deflection)[:n], deflection

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches = None,
        base_acceleration: Optional[ArrayLike] = None,
        start: Optional[ArrayLike] = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the joint accelerations, (n_joints,), and the deflection with them, (n_modes,).

        Both solve the equations of the module together. For a deflection, the joints' rows give
        their accelerations by the joints' block of the mass matrix. The modes' rows remain.

        Args:
            q: Joint positions, (n_positions,).
            qd: Joint velocities, (n_joints,).
            tau: Joint torques, (n_joints,).
            wrenches: Frame name to six numbers, see `Dynamics`.
            base_acceleration: Of a prescribed base, see `Dynamics.forward_dynamics`.
            start: Deflection to begin the search from, (n_modes,); the undeformed arm when None.

        Raises:
            DeflectionNotFound: There is no deflection that carries the load, as beyond buckling.
            SingularMassMatrix: A joint moves no inertia.
        """
        position = np.array(real_vector('q', q, self.n_positions))
        rate, force = self.with_modes(qd, 'qd'), self.with_modes(tau, 'tau')
        given = np.zeros(self.robot.nv)
        held = 0
        if base_acceleration is not None:
            held = BASE_COORDINATES
            given[:held] = checked_base_acceleration(self.robot, base_acceleration)
        n, free = self.robot.n_joints, slice(held, self.robot.n_joints)

        def solved(deflection: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Return accelerations of the joints, and the forces that hold the modes."""
            at = np.concatenate((position, deflection))
            rest = np.asarray(self.dyn.inverse_dynamics(at, rate, given, wrenches))
            mass = self.dyn.mass_matrix(at)
            found = given.copy()
            found[free] = self._accelerations(mass[free, free], (force - rest)[free], at)
            return found[:n], rest[n:] + mass[n:, free] @ found[free]

        if start is not None:
            start = np.array(real_vector('start', start, self.robot.n_modes))
        deflection = self._static.find(lambda delta: solved(delta)[1], start)
        return solved(deflection)[0], deflection

    def _accelerations(self, mass: np.ndarray, force: np.ndarray, q: np.ndarray) -> np.ndarray:
        try:
            lower = np.linalg.cholesky(mass)
        except np.linalg.LinAlgError:
            # It names the coordinate that meets no inertia.
            zero = np.zeros(self.robot.nv)
            self.dyn.forward_dynamics(q, zero, zero, method='cholesky')
            raise
        return np.asarray(np.linalg.solve(lower.T, np.linalg.solve(lower, force)))

    def with_modes(self, values: ArrayLike, argument: str) -> np.ndarray:
        """Return a joint vector, (n_joints,), with zeros for the modes, (nv,)."""
        joints = np.array(real_vector(argument, values, self.robot.n_joints))
        return np.concatenate((joints, np.zeros(self.robot.n_modes)))
