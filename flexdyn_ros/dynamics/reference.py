# SPDX-License-Identifier: Apache-2.0
"""
The reference backend: the algorithms run on floats, as written.

It takes and gives plain lists of floats that the caller has checked. Every other backend must
agree with it.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Callable, Mapping, Optional, Sequence

from flexdyn_ros.dynamics.accelerations import singular_mass_matrix, solved_accelerations
from flexdyn_ros.dynamics.articulated_body import (
    articulated_inertia,
    mass_matrix_factors,
    NoInertia,
)
from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.dynamics.coriolis_matrix import coriolis_matrix
from flexdyn_ros.dynamics.derivatives.dual import (
    duals,
    jacobian_of,
    parameter_derivatives,
    state_derivatives,
)
from flexdyn_ros.dynamics.energy import kinetic_energy, potential_energy
from flexdyn_ros.dynamics.frame_kinematics import (
    frame_pose,
    FrameKinematics,
    jacobian_rate_times_velocity,
    RECURSIVE,
)
from flexdyn_ros.dynamics.functions import FUNCTIONS
from flexdyn_ros.dynamics.internal_forces import dissipated_power, elastic_forces, friction_forces
from flexdyn_ros.dynamics.loops import loop_bias, loop_free_jacobian, loop_jacobian, loop_poses
from flexdyn_ros.dynamics.mass_matrix import composite_inertia, mass_matrix
from flexdyn_ros.dynamics.modal_motion import hybrid_step, quasi_static_torque
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.newton_euler import FrameWrench, generalised_forces
from flexdyn_ros.errors import ArgumentError, SingularMassMatrix
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.robot import Robot
import numpy as np

Floats = list[float]
Wrenches = Sequence[FrameWrench]
NO_GRAVITY = (0.0, 0.0, 0.0)


class ReferenceBackend:
    """Evaluates one robot under one gravity and one set of payloads."""

    name = 'reference'
    _kinematics: FrameKinematics = RECURSIVE

    def __init__(self, robot: Robot, gravity: Floats, payloads: Mapping[str, Inertia]):
        """
        Build the tree of bodies.

        Args:
            robot: The robot.
            gravity: Acceleration of gravity in the root frame, (3,) [m/s^2].
            payloads: Inertia in link axes by link name.
        """
        self._robot = robot
        self._gravity = tuple(gravity)
        self._payloads = payloads
        self._tree = assemble(robot, payloads)
        self._zero = [0.0] * robot.nv

    def under(self, gravity: Floats, payloads: Mapping[str, Inertia]) -> ReferenceBackend:
        """Return a backend of the same robot under other gravity and payloads."""
        return ReferenceBackend(self._robot, gravity, payloads)

    def evaluate(
        self,
        name: str,
        vectors: Sequence[Any],
        frame: Optional[str] = None,
        parameters: Any = None,
        wrenches: Wrenches = (),
        method: str = 'auto',
    ) -> Any:
        """
        Return the results of a function; several results are a tuple.

        Args:
            name: One of `functions.FUNCTIONS`.
            vectors: Its inputs.
            frame: Its frame, or None.
            parameters: Those of its derivatives, see `codegen.tracing.parameters`.
            wrenches: Wrenches on frames.
            method: Method of forward dynamics, one of SOLVING_METHODS.
        """
        function = FUNCTIONS[name]
        given: list[Any] = list(vectors)
        given += [frame] if function.of_frame else []
        given += [parameters] if function.of_parameters else []
        given += [wrenches] if function.takes_wrenches else []
        given += [method] if name == 'forward_dynamics' else []
        return getattr(self, name)(*given)

    def closed(
        self, name: str, vectors: Sequence[Any], settings: tuple, wrenches: Wrenches = ()
    ) -> None:
        """Return None: `closed_chains` solves problems whose rank depends on the loops."""

    def inverse_dynamics(
        self, q: Floats, qd: Floats, qdd: Floats, wrenches: Wrenches = ()
    ) -> Floats:
        """Return joint torques and modal forces, (nv,)."""
        forces = self._forces(q, qd, qdd, self._gravity, wrenches)
        losses = friction_forces(self._tree, qd)
        springs = elastic_forces(self._tree, q, qd)
        return [a + b + c for a, b, c in zip(forces, losses, springs)]

    def _forces(
        self,
        q: Floats,
        qd: Optional[Floats] = None,
        qdd: Optional[Floats] = None,
        gravity: Optional[Sequence[float]] = None,
        wrenches: Wrenches = (),
    ) -> Floats:
        """Return the forces of inertia, gravity and wrenches, (nv,); None is rest, or none."""
        still = self._zero
        return generalised_forces(
            self._tree, q, still if qd is None else qd, still if qdd is None else qdd,
            NO_GRAVITY if gravity is None else gravity, wrenches,
        )

    def forward_dynamics(
        self, q: Floats, qd: Floats, tau: Floats, wrenches: Wrenches = (), method: str = 'auto'
    ) -> Floats:
        """Return accelerations, (nv,), by the "cholesky" or the recursive method."""
        bias = self.inverse_dynamics(q, qd, self._zero, wrenches)
        right = [a - b for a, b in zip(tau, bias)]
        return self._solve(q, right, range(self._tree.nv), method)

    def accelerations_beyond(self, held: int, q: Floats, forces: Floats) -> Floats:
        """
        Return the accelerations of all but the first `held` coordinates, those standing still.

        Args:
            held: Number of coordinates, from the first on, that do not move.
            q: Configuration, (nq,).
            forces: Generalised forces, (nv,), velocity-dependent terms and gravity taken off.
        """
        return self._solve(q, forces, range(held, self._robot.nv), 'recursive')[held:]

    def hybrid_dynamics(
        self, q: Floats, qd: Floats, joint_qdd: Floats, wrenches: Wrenches
    ) -> tuple[Floats, Floats]:
        """Return joint torques (n_joints,) and modal accelerations (n_modes,)."""
        n_joints = self._robot.n_joints
        qdd = joint_qdd + [0.0] * self._robot.n_modes
        at_rest = self.inverse_dynamics(q, qd, qdd, wrenches)
        free = range(n_joints, self._robot.nv)
        modal = self._solve(q, [-force for force in at_rest], free, 'recursive')[n_joints:]
        tau = self.inverse_dynamics(q, qd, joint_qdd + modal, wrenches)
        return tau[:n_joints], modal

    def quasi_static_torque(
        self, joint_q: Floats, joint_qd: Floats, joint_qdd: Floats, wrenches: Wrenches = ()
    ) -> tuple[Floats, Floats, Floats]:
        """Return joint torques, static deflection and its last change; see `modal_motion`."""
        return quasi_static_torque(self, joint_q, joint_qd, joint_qdd, wrenches)

    def hybrid_step(
        self, joint_q: Floats, joint_qd: Floats, joint_qdd: Floats, modal_state: Floats,
        step: Floats, wrenches: Wrenches = (),
    ) -> tuple[Floats, Floats]:
        """Return joint torques and the modal state after a time step; see `modal_motion`."""
        return hybrid_step(self, joint_q, joint_qd, joint_qdd, modal_state, step, wrenches)

    @property
    def tree(self) -> Multibody:
        """The bodies."""
        return self._tree

    def derivative_at(
        self, function: Callable[[list], Sequence[Any]], at: Sequence[float]
    ) -> list[Floats]:
        """Return the derivative of a vector by its argument at some place, by rows."""
        found = function(duals(at, np.eye(len(at))))
        return jacobian_of(found, len(at)).tolist()

    def bias_vector(self, q: Floats, qd: Floats, wrenches: Wrenches = ()) -> Floats:
        """Return gravity, Coriolis, friction and elastic forces together, (nv,)."""
        return self.inverse_dynamics(q, qd, self._zero, wrenches)

    def inverse_dynamics_derivatives(
        self, q: Floats, qd: Floats, qdd: Floats, wrenches: Wrenches = ()
    ) -> tuple:
        """Return the derivatives of the forces by q, qd and qdd, (nv, nv) each."""

        def forces(q: list, qd: list) -> list:
            return self.inverse_dynamics(q, qd, qdd, wrenches)

        return (*state_derivatives(forces, self._tree, q, qd), self.mass_matrix(q))

    def forward_dynamics_derivatives(
        self, q: Floats, qd: Floats, tau: Floats, wrenches: Wrenches = ()
    ) -> tuple:
        """Return the derivatives of the accelerations by q, qd and tau, (nv, nv) each."""
        # On floats first: only there are coordinates without inertia found.
        self.forward_dynamics(q, qd, tau, wrenches, 'recursive')

        def accelerations(q: list, qd: list, tau: list) -> list:
            return self.forward_dynamics(q, qd, tau, wrenches, 'recursive')

        return tuple(state_derivatives(accelerations, self._tree, q, qd, tau))

    def inverse_dynamics_parameter_derivatives(
        self, q: Floats, qd: Floats, qdd: Floats, chosen: Any, wrenches: Wrenches = ()
    ) -> list[Floats]:
        """Return the derivatives of the forces by parameters of the model, (nv, n)."""
        return parameter_derivatives(
            lambda tree: self._of(tree).inverse_dynamics(q, qd, qdd, wrenches),
            lambda values: chosen.tree(self._payloads, values), chosen.values,
        ).tolist()

    def forward_dynamics_parameter_derivatives(
        self, q: Floats, qd: Floats, tau: Floats, chosen: Any, wrenches: Wrenches = ()
    ) -> list[Floats]:
        """Return the derivatives of the accelerations by parameters of the model, (nv, n)."""
        self.forward_dynamics(q, qd, tau, wrenches, 'recursive')
        return parameter_derivatives(
            lambda tree: self._of(tree).forward_dynamics(q, qd, tau, wrenches, 'recursive'),
            lambda values: chosen.tree(self._payloads, values), chosen.values,
        ).tolist()

    def _of(self, tree: Multibody) -> ReferenceBackend:
        """Return the same backend over another tree of bodies."""
        other = copy(self)
        other._tree = tree
        return other

    def _solve(self, q: Floats, forces: Floats, free: range, method: str) -> Floats:
        """Return the accelerations of the free coordinates; the others stay zero."""
        if not free:
            return list(self._zero)
        try:
            return solved_accelerations(
                self._tree, self.mass_matrix, q, forces, free, method != 'cholesky')[0]
        except NoInertia as found:
            raise self._singular(found, q) from found

    def _singular(self, found: NoInertia, q: Floats) -> SingularMassMatrix:
        return singular_mass_matrix(self._tree, self._robot.joints, found.coordinate, q)

    def mass_matrix(self, q: Floats) -> list[Floats]:
        """Return the mass matrix, (nv, nv)."""
        return mass_matrix(self._tree, q)

    def mass_matrix_factors(self, q: Floats) -> tuple[list[Floats], Floats]:
        """Return U, (nv, nv), and the diagonal of D, (nv,), in `factor_order`."""
        try:
            return mass_matrix_factors(self._tree, q)
        except NoInertia as found:
            raise self._singular(found, q) from found

    def composite_inertia(self, q: Floats, frame: str) -> list[Floats]:
        """Return the composite inertia of a frame's body, (6, 6)."""
        self._need_whole_bodies('composite_inertia', mimics=True)
        return composite_inertia(self._tree, q, self._tree.frames[frame])

    def articulated_inertia(self, q: Floats, frame: str) -> list[Floats]:
        """Return the articulated inertia of a frame's body, (6, 6)."""
        self._need_whole_bodies('articulated_inertia')
        try:
            return articulated_inertia(self._tree, q, self._tree.frames[frame])[0]
        except NoInertia as found:
            raise self._singular(found, q) from found

    def _need_whole_bodies(self, function: str, mimics: bool = False) -> None:
        """Raise ArgumentError where equations are not those of bodies, one coordinate each."""
        if self._tree.linearised:
            raise ArgumentError('function', f'names "{function}", which linearised deflections '
                                'do not allow: use fd.reduced(robot, "exact")')
        if self._tree.shares_coordinates and not mimics:
            raise ArgumentError('function', f'names "{function}", which mimic joints do not '
                                'allow. Remove <mimic>, or use another function')

    def gravity_vector(self, q: Floats) -> Floats:
        """Return the forces that hold the robot against gravity, (nv,)."""
        return self._forces(q, gravity=self._gravity)

    def coriolis_vector(self, q: Floats, qd: Floats) -> Floats:
        """Return the forces of Coriolis and centrifugal accelerations, (nv,)."""
        return self._forces(q, qd)

    def coriolis_matrix(self, q: Floats, qd: Floats) -> list[Floats]:
        """Return C with C qd = coriolis_vector and dM/dt - 2 C skew-symmetric, (nv, nv)."""
        return coriolis_matrix(self._tree, q, qd)

    def inertia_vector(self, q: Floats, qdd: Floats) -> Floats:
        """Return M qdd, (nv,)."""
        return self._forces(q, qdd=qdd)

    def external_force_vector(self, q: Floats, wrenches: Wrenches) -> Floats:
        """Return -J^T w, (nv,)."""
        return self._forces(q, wrenches=wrenches)

    def friction_vector(self, qd: Floats) -> Floats:
        """Return the losses of the joints, (nv,)."""
        return friction_forces(self._tree, qd)

    def elastic_vector(self, q: Floats, qd: Floats) -> Floats:
        """Return stiffness and damping forces of modes and springs, (nv,)."""
        return elastic_forces(self._tree, q, qd)

    def dissipated_power(self, qd: Floats) -> float:
        """Return the power that friction and damping take [W]."""
        return dissipated_power(self._tree, qd)

    def frame_pose(self, q: Floats, frame: str) -> list[Floats]:
        """Return the homogeneous transform of a link's frame in the root frame, (4, 4)."""
        rotation, position = frame_pose(self._tree, q, frame, self._kinematics.motions)
        rows = [[*row, x] for row, x in zip(rotation, position)]
        return [*rows, [0.0, 0.0, 0.0, 1.0]]

    def jacobian(self, q: Floats, frame: str) -> list[Floats]:
        """Return the (6, nv) Jacobian of a link's frame."""
        return self._kinematics.jacobian(self._tree, q, self._tree.frames[frame])

    def jacobian_rate_qd(self, q: Floats, qd: Floats, frame: str) -> Floats:
        """Return dJ/dt qd of a link's frame, (6,)."""
        motions = self._kinematics.motions
        return jacobian_rate_times_velocity(self._tree, q, qd, frame, motions)

    def loop_poses(self, q: Floats) -> list[Floats]:
        """Return rotation (9, by rows) and place (3) of frame1 in frame2 of each loop."""
        return loop_poses(self._tree, q, self._kinematics)

    def loop_jacobian(self, q: Floats) -> list[Floats]:
        """Return the Jacobian of the loops' constraints, (n_constraints, nv)."""
        return loop_jacobian(self._tree, q, self._kinematics)

    def loop_free_jacobian(self, q: Floats) -> list[Floats]:
        """Return the Jacobian of the directions that the loops leave free."""
        return loop_free_jacobian(self._tree, q, self._kinematics)

    def loop_bias(self, q: Floats, qd: Floats) -> Floats:
        """Return the loops' accelerations for qdd = 0, (n_constraints,)."""
        return loop_bias(self._tree, q, qd, self._kinematics)

    def loop_derivatives(self, q: Floats, qd: Floats) -> tuple:
        """Return the derivatives by q of the loops' Jacobian, row by row, and of their bias."""

        def jacobian(q: list) -> list:
            return [x for row in self.loop_jacobian(q) for x in row]

        by_q, _ = state_derivatives(self.loop_bias, self._tree, q, qd)
        return state_derivatives(jacobian, self._tree, q)[0], by_q

    def loop_equations(self, q: Floats, qd: Floats, wrenches: Wrenches = ()) -> tuple:
        """Return mass matrix, bias, and Jacobian, bias and poses of the loops."""
        return (
            self.mass_matrix(q), self.inverse_dynamics(q, qd, self._zero, wrenches),
            self.loop_jacobian(q), self.loop_bias(q, qd), self.loop_poses(q),
        )

    def kinetic_energy(self, q: Floats, qd: Floats) -> float:
        """Return the kinetic energy [J]."""
        return kinetic_energy(self._tree, q, qd)

    def potential_energy(self, q: Floats) -> float:
        """Return the potential energy [J]."""
        return potential_energy(self._tree, q, self._gravity)
