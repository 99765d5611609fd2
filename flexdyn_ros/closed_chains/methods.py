# SPDX-License-Identifier: Apache-2.0
"""The methods of `Dynamics` that are about loops."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Iterable, Mapping, Optional, Sequence

from flexdyn_ros.arguments import deliver, names, one_of, targets
from flexdyn_ros.checked_arguments import CheckedArguments, Wrenches
from flexdyn_ros.closed_chains.chains import ClosedChains
from flexdyn_ros.closed_chains.solve import spaces
from flexdyn_ros.closed_chains.states import LoopReport
from flexdyn_ros.errors import ArgumentError, FlexdynError, NotYetSupported, require_known
from flexdyn_ros.prescribed_base import checked_base_acceleration
import numpy as np
from numpy.typing import ArrayLike

Out = Optional[np.ndarray]
Outs = Optional[tuple[np.ndarray, np.ndarray]]
ByLoop = Optional[Mapping[str, Any]]


class ClosedChainMethods(CheckedArguments, ABC):
    """
    The methods of `Dynamics` for loops.

    Where they are taken, `loop_accelerations` maps a loop's name to accelerations of frame1
    against frame2 in its constrained directions [rad/s^2 | m/s^2]. Other loops have zero.
    `loop_forces` maps it to forces on frame1 in its free directions [N m | N]. Frame2 gets the
    opposite. A matrix in their place gives these forces from the loop's constraint forces. All
    are in axes of frame2.
    """

    _backend: Any
    _closed: Optional[ClosedChains]

    @property
    def closed_chains(self) -> Optional[ClosedChains]:
        """The loops of the robot, or None where it has none."""
        return self._closed

    @property
    def equations(self) -> Any:
        """The backend that evaluates the equations now; payloads and gravity replace it."""
        return self._backend

    def project(
        self, q: ArrayLike, qd: ArrayLike, hold: Iterable[str] = (), out: Outs = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the nearest state that meets all loops: q (nq,) and qd (nv,).

        Nearest in the sum of the squares of all coordinates [rad | m], quaternions by their
        rotation vectors; then the velocity in the same sense. Without loops it is the state.

        Args:
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
            hold: Names of coordinates that stay as they are.
            out: Where to write the results, two arrays.

        Raises:
            LoopsCannotClose: If no nearby state closes the loops; it holds the gaps.
            UnknownName: If the robot has no coordinate of a name.
        """
        held = names('hold', hold)
        require_known('coordinate', held, self.robot.coordinate_names)
        at, rate = np.array(self._position(q)), np.array(self._velocity(qd))
        places, closed = targets(out, 2), self._closed
        if closed is None:
            return deliver(at, places[0]), deliver(rate, places[1])
        found = self._sound(
            'project', {'q': at.tolist(), 'qd': rate.tolist()}, (),
            lambda: closed.project(self._backend, at, rate, held),
        )
        self._call_directly('project', None, (), 'auto')
        return deliver(found[0], places[0]), deliver(found[1], places[1])

    def constraint_forces(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches = None,
        out: Out = None,
        loop_accelerations: ByLoop = None,
        loop_forces: ByLoop = None,
        base_acceleration: Optional[ArrayLike] = None,
    ) -> np.ndarray:
        """
        Return the forces of the loops under generalised forces tau, (n_constraints,).

        They act on frame1, in axes of frame2, in the order of the loops and of their directions
        [N m | N]. For constraints that repeat each other, these are the smallest forces.
        """
        self._need_loops(loop_accelerations=loop_accelerations, loop_forces=loop_forces)
        base = None
        if base_acceleration is not None:
            base = checked_base_acceleration(self.robot, base_acceleration)
        at, rate, force = self._position(q), self._velocity(qd), self._vector('tau', tau)
        closed, loads = self._closed, self._checked(wrenches)
        if closed is None:
            return deliver([], out)
        inputs = closed.inputs(loop_accelerations, loop_forces)
        return deliver(self._sound(
            'constraint_forces',
            {'q': at, 'qd': rate, 'tau': force, 'base_acceleration': base or ()}, loads,
            lambda: closed.motion(
                self._backend, at, rate, force, loads, inputs, base=base,
                tolerance=closed.tolerance,
            ).forces,
        ), out)

    def actuated_forces(
        self, q: ArrayLike, forces: ArrayLike, out: Out = None, loop_forces: ByLoop = None
    ) -> np.ndarray:
        """
        Return forces of the actuated joints for forces on the open tree, (nv,) [N m | N].

        The loops carry the rest: gravity_vector, for one, is that of the tree, and this makes of
        it the torques that hold the mechanism. Without loops they are the same forces.

        Args:
            q: Configuration, (nq,).
            forces: Generalised forces on the open tree, (nv,).
            out: Array for the result.
            loop_forces: See the class.

        Raises:
            UnattainableMotion: If the actuated joints cannot give them.
        """
        self._need_loops(loop_forces=loop_forces)
        at, rest = self._position(q), self._vector('forces', forces)
        if self._closed is None:
            return deliver(rest, out)
        closed, inputs = self._closed, self._closed.inputs(None, loop_forces)
        return deliver(self._sound(
            'actuated_forces', {'q': at, 'forces': rest}, (),
            lambda: closed.torques(self._backend, at, rest, inputs),
        ), out)

    def loop_gaps(self, q: ArrayLike, out: Out = None) -> np.ndarray:
        """Return the constraint errors of the loops, (n_constraints,) [rad | m]."""
        at, closed = self._position(q), self._closed
        if closed is None:
            return deliver([], out)
        return deliver(self._sound(
            'loop_gaps', {'q': at}, (), lambda: closed.constraint_errors(self._backend, at)
        ), out)

    def loop_jacobian(self, q: ArrayLike, out: Out = None) -> np.ndarray:
        """Return the Jacobian A of the constraints, (n_constraints, nv), by frame2 [m | -]."""
        at, closed = self._position(q), self._closed
        if closed is None:
            return deliver(np.zeros((0, self.robot.nv)), out)
        return deliver(self._sound(
            'loop_jacobian', {'q': at}, (), lambda: closed.jacobian(self._backend, at)
        ), out)

    def loop_bias(self, q: ArrayLike, qd: ArrayLike, out: Out = None) -> np.ndarray:
        """Return dA/dt qd of the constraints, (n_constraints,) [rad/s^2 | m/s^2]."""
        at, rate = self._position(q), self._velocity(qd)
        if self._closed is None:
            return deliver([], out)
        return deliver(self._sound(
            'loop_bias', {'q': at, 'qd': rate}, (), lambda: self._backend.loop_bias(at, rate)
        ), out)

    def loop_report(self, q: ArrayLike) -> LoopReport:
        """Return rank, degrees of freedom [-] and singularity of the loops at q, (nq,)."""
        if self._closed is None:
            raise FlexdynError(
                f'Robot "{self.robot.name}" has no loops. Add a <loop> to its description.')
        return self._closed.report(self._backend, np.array(self._position(q)))

    def operational_space_inertia(
        self, q: ArrayLike, frame: str, inverse: bool = False, out: Out = None
    ) -> np.ndarray:
        """
        Return the inertia that forces and moments meet at a frame's origin, (6, 6), root axes.

        Linear directions come first [kg | kg m | kg m^2]. The inverse, accelerations for unit
        forces, always exists. Loops are included.

        Args:
            q: Configuration, (nq,).
            frame: Name of a link.
            inverse: Whether to return J M^-1 J^T in place of its inverse.
            out: Array for the result.

        Raises:
            ArgumentError: If the frame cannot move in all six directions, so that only the
                inverse exists.
        """
        one_of('inverse', inverse, (True, False))
        at, place, nv = self._position(q), self._frame(frame), self.robot.nv

        def inertia() -> np.ndarray:
            mass = np.reshape(self._backend.mass_matrix(at), (nv, nv))
            jacobian = np.reshape(self._backend.jacobian(at, place), (6, nv))
            if self._closed is not None:
                free = spaces(self._closed.jacobian(self._backend, at)).free
                mass, jacobian = free.T @ mass @ free, jacobian @ free
            try:
                mobility = jacobian @ np.linalg.solve(mass, jacobian.T)
            except np.linalg.LinAlgError:
                rest = np.zeros(nv)
                self.forward_dynamics(at, rest, rest)  # names the motion without inertia
                raise
            if inverse:
                return mobility
            rank = spaces(jacobian).rank
            if rank < 6:
                raise ArgumentError(
                    'frame', f'is "{frame}", which moves in {rank} directions here, not in six: '
                    'use inverse=True'
                )
            return np.linalg.inv(mobility)

        return deliver(self._sound('operational_space_inertia', {'q': at}, (), inertia), out)

    @abstractmethod
    def _call_directly(
        self, name: str, frame: Optional[str], loaded: Sequence[str], method: str
    ) -> None:
        """Let compiled code serve the next plain calls; see `Evaluation`."""

    def _refuse_loops(self, what: str, advice: str) -> None:
        """Refuse a quantity that is known for open trees only."""
        if self._closed is not None:
            raise NotYetSupported(
                f'{what} of a robot with loops is not supported yet',
                advice=f'{advice}, or load it without <loop>',
            )

    @abstractmethod
    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Return accelerations, (nv,); see `Dynamics`."""
