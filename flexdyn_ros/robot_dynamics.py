# SPDX-License-Identifier: Apache-2.0
"""Dynamics: what users call. It checks arguments and leaves the numbers to a backend."""

from __future__ import annotations

from typing import Any
from typing import Iterable
from typing import Optional
from typing import Union

from flexdyn_ros.closed_chains.methods import ByLoop
from flexdyn_ros.closed_chains.methods import ClosedChainMethods
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.interface.arguments import deliver
from flexdyn_ros.interface.arguments import deliver_matrix
from flexdyn_ros.interface.arguments import real_vector
from flexdyn_ros.interface.arguments import targets
from flexdyn_ros.interface.backend_owner import BackendOwner
from flexdyn_ros.interface.batch_dynamics import BatchDynamics
from flexdyn_ros.interface.checked_arguments import Wrenches
from flexdyn_ros.interface.derivative_methods import DerivativeMethods
from flexdyn_ros.interface.direct_calls import HandOver
from flexdyn_ros.interface.load_methods import LoadMethods
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.prescribed_base import accelerations_on_base
from flexdyn_ros.prescribed_base import checked_base_acceleration
import numpy as np

METHODS = ('auto', 'recursive', 'cholesky')
Out = Optional[np.ndarray]


class Dynamics(LoadMethods, DerivativeMethods, ClosedChainMethods):
    """
    The dynamics of a robot in joint-and-mode space.

    Units are SI. Vectors of configuration have length nq, all others nv: joints first, then
    modes (`robot.coordinate_names`). Arguments may be numpy arrays, sequences or buffers such
    as array.array; every numeric method writes into `out` where one is given.

    Wrenches map a frame name to six numbers [fx, fy, fz N, mx, my, mz N m] that the
    environment exerts on the robot at the frame's origin, in root axes.

    Once a function is compiled, plain calls of its method go straight to the compiled code
    (`interface/direct_calls.py`), so a method does nothing but check arguments, ask the backend
    and deliver. Derivatives, loads and loops are in the base classes.

    Attributes:
        robot: The robot.
        backend: Name of the backend in use.
        formulation: Name of the formulation in use.
        batch: The same functions over many samples at once, see `BatchDynamics`.
    """

    def __init__(
        self,
        robot: Robot,
        backend: str = 'auto',
        patient: bool = True,
        formulation: str = 'recursive',
        approximations: Union[str, Iterable[str]] = (),
    ):
        """
        Prepare the dynamics of a robot.

        Args:
            robot: From `load_robot`.
            backend: "reference" (the algorithms as written), "python" (straight-line code
                generated from them when a function is first used, kept on disk, and run as
                machine code of our own, by the extension's interpreter or by CPython, with the
                same bits), "c" (the same compiled), or "auto": "c" where there is a compiler,
                otherwise "python"; the first calls of a function that is not on disk yet are
                the reference's, and some more the interpreter's.
            patient: False lets "auto" generate code at a function's first call already, as
                programs want that must not wait in the middle of their work. Where compiling
                fails, "python" answers, and a warning is logged.
            formulation: "recursive" (Newton-Euler, composite and articulated bodies), or
                "kinematic_influence" (Graves: Jacobians of points, projection on them), which
                gives the same numbers by another way, slower: a check, on the reference backend.
            approximations: Names of what the second formulation shall approximate as its paper
                does, none by default: "undeformed_inertia", "lumped_mass", "printed_recursion",
                see `dynamics/influence_approximations.py`.

        Raises:
            ArgumentError: If there is no such backend, formulation or approximation, or they do
                not go together; if a link's rotation="linear" has no place in the formulation.
            NoCompiler: If "c" is asked for and there is no C compiler.
        """
        super().__init__(robot, backend, patient, formulation, approximations)

    @property
    def batch(self) -> BatchDynamics:
        """The same functions over many samples at once."""
        return BatchDynamics(self)

    def inverse_dynamics(
        self,
        q: Any,
        qd: Any,
        qdd: Any,
        wrenches: Wrenches = None,
        out: Out = None,
        loop_forces: ByLoop = None,
    ) -> np.ndarray:
        """
        Return joint torques [N m | N], then modal forces, for a motion, (nv,).

        With loops the constraint forces take their part: passive joints get none, and where the
        actuated ones can share the rest in many ways, they get the smallest forces.

        Args:
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
            qdd: Acceleration, (nv,), that the loops allow.
            wrenches: See the class.
            out: Where to write the result.
            loop_forces: See `ClosedChainMethods`.

        Raises:
            UnattainableMotion: If the actuated joints cannot make the motion.
        """
        if self._quick is not None and wrenches is None and out is None and loop_forces is None:
            found = self._quick(q, qd, qdd)
            if found is not None:
                return found
        self._need_loops(loop_forces)
        at = self._position(q)
        tau = self._backend.inverse_dynamics(
            at,
            real_vector('qd', qd, self._nv),
            real_vector('qdd', qdd, self._nv),
            () if wrenches is None else self._checked(wrenches),
        )
        if self._quick is None and self._closed is None and not self._quaternions:
            self._quick = self._quick_inverse_dynamics()
        if self._closed is not None:
            loading = self._closed.loading(None, loop_forces)
            tau = self._closed.torques(self._backend, at, tau, loading)
        return deliver(tau, out)

    def forward_dynamics(
        self,
        q: Any,
        qd: Any,
        tau: Any,
        wrenches: Wrenches = None,
        out: Out = None,
        method: str = 'auto',
        base_acceleration: Any = None,
        loop_accelerations: ByLoop = None,
        loop_forces: ByLoop = None,
    ) -> np.ndarray:
        """
        Return the accelerations of joints and modes under forces tau, (nv,).

        With loops they meet the constraints; `constraint_forces` gives what that takes.

        Args:
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
            tau: Joint torques, then modal forces, (nv,).
            wrenches: See the class.
            out: Where to write the result.
            method: "recursive" (O(n); robots with mimic joints take the other way), "cholesky"
                (mass matrix and its factors), or "auto" (of generated code the one with fewer
                operations, otherwise "recursive"). With loops there is one way, and with the
                kinematic influence the mass matrix.
            base_acceleration: Rates of the six base velocities of a robot with <base
                motion="prescribed"/>, (6,) [m/s^2, rad/s^2]. The first six entries of tau are
                not read then; inverse dynamics with the result gives the wrench on the base.
                Without it they are that wrench, as on a free base.
            loop_accelerations: See `ClosedChainMethods`.
            loop_forces: The same.

        Raises:
            ArgumentError: If an argument has the wrong shape, the base is not prescribed, or
                the formulation has no recursion.
            SingularMassMatrix: If a coordinate moves no inertia, naming it and its links.
        """
        if method not in METHODS:
            raise ArgumentError('method', f'is "{method}", expected one of {METHODS}')
        if method == 'recursive' and self._formulation != 'recursive':
            raise ArgumentError(
                'method', f'is "recursive", and formulation="{self._formulation}" solves with the '
                'mass matrix; leave it out or use "cholesky"',
            )
        self._need_loops(loop_accelerations, loop_forces)
        position, velocity = self._position(q), real_vector('qd', qd, self._nv)
        forces = real_vector('tau', tau, self._nv)
        loads = () if wrenches is None else self._checked(wrenches)
        base, qdd = None, None  # type: Any, Any
        if base_acceleration is not None:
            base = checked_base_acceleration(self.robot, base_acceleration)
        if self._closed is not None:
            loading = self._closed.loading(loop_accelerations, loop_forces)
            qdd = self._closed.motion(
                self._backend, position, velocity, forces, loads, loading, base=base
            ).qdd
        elif base is None:
            qdd = self._backend.forward_dynamics(position, velocity, forces, loads, method)
        else:
            qdd = accelerations_on_base(
                self._backend, self._exact, (position, velocity), forces, base, loads, method
            )
        return deliver(qdd, out)

    def hybrid_dynamics(
        self,
        q: Any,
        qd: Any,
        joint_qdd: Any,
        wrenches: Wrenches = None,
        out: Optional[tuple[np.ndarray, np.ndarray]] = None,
        loop_accelerations: ByLoop = None,
        loop_forces: ByLoop = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return joint torques (n_joints,) and modal accelerations (n_modes,).

        The joints follow `joint_qdd`, (n_joints,); the modes move freely, without modal forces.
        With loops the actuated joints follow it, and passive joints move as the loops have it.
        `out` is two arrays of these shapes.
        """
        self._need_loops(loop_accelerations, loop_forces)
        given = (
            self._position(q),
            self._velocity(qd),
            real_vector('joint_qdd', joint_qdd, self._n_joints),
            self._checked(wrenches),
        )
        if self._closed is None:
            tau, qdd = self._backend.hybrid_dynamics(*given)
        else:
            loading = self._closed.loading(loop_accelerations, loop_forces)
            tau, qdd = self._closed.hybrid(self._backend, *given, loading)
        tau_out, qdd_out = targets(out, 'two arrays', 2)
        return deliver(tau, tau_out), deliver(qdd, qdd_out)

    def mass_matrix(self, q: Any, out: Out = None) -> np.ndarray:
        """Return the mass matrix, (nv, nv)."""
        rows = self._backend.mass_matrix(self._position(q))
        return deliver_matrix(rows, (self._nv, self._nv), out)

    def bias_vector(self, q: Any, qd: Any, out: Out = None) -> np.ndarray:
        """Return gravity, Coriolis, friction and elastic forces together, (nv,)."""
        return deliver(self._backend.bias_vector(self._position(q), self._velocity(qd)), out)

    def gravity_vector(self, q: Any, out: Out = None) -> np.ndarray:
        """Return the forces that hold the robot against gravity, (nv,)."""
        return deliver(self._backend.gravity_vector(self._position(q)), out)

    def coriolis_vector(self, q: Any, qd: Any, out: Out = None) -> np.ndarray:
        """Return the forces of Coriolis and centrifugal accelerations, (nv,)."""
        return deliver(
            self._backend.coriolis_vector(self._position(q), self._velocity(qd)), out
        )

    def friction_vector(self, qd: Any, out: Out = None) -> np.ndarray:
        """Return the losses of the joints: friction, and damping without a spring, (nv,)."""
        return deliver(self._backend.friction_vector(self._velocity(qd)), out)

    def elastic_vector(self, q: Any, qd: Any, out: Out = None) -> np.ndarray:
        """Return stiffness and damping forces of modes and elastic joints, (nv,)."""
        return deliver(self._backend.elastic_vector(self._position(q), self._velocity(qd)), out)

    def inertia_vector(self, q: Any, qdd: Any, out: Out = None) -> np.ndarray:
        """Return M(q) qdd, (nv,)."""
        return deliver(
            self._backend.inertia_vector(self._position(q), self._vector('qdd', qdd)), out
        )

    def external_force_vector(self, q: Any, wrenches: Wrenches, out: Out = None) -> np.ndarray:
        """Return the forces that wrenches ask for, -J^T w, (nv,)."""
        return deliver(
            self._backend.external_force_vector(self._position(q), self._checked(wrenches)), out
        )

    def frame_pose(self, q: Any, frame: str, out: Out = None) -> np.ndarray:
        """Return the homogeneous transform of a link's frame in the root frame, (4, 4)."""
        rotation, position = self._backend.frame_pose(self._position(q), self._frame(frame))
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = rotation, position
        return deliver(pose, out)

    def jacobian(self, q: Any, frame: str, out: Out = None) -> np.ndarray:
        """Return the Jacobian at a frame's origin in root axes, linear rows first, (6, nv)."""
        rows = self._backend.jacobian(self._position(q), self._frame(frame))
        return deliver_matrix(rows, (6, self._nv), out)

    def jacobian_rate_qd(self, q: Any, qd: Any, frame: str, out: Out = None) -> np.ndarray:
        """Return dJ/dt qd at a frame's origin in root axes, linear part first, (6,)."""
        rate = self._backend.jacobian_rate_qd(
            self._position(q), self._velocity(qd), self._frame(frame)
        )
        return deliver(rate, out)

    def kinetic_energy(self, q: Any, qd: Any, out: Out = None) -> Any:
        """Return the kinetic energy [J], a float; into `out`, shape (), where that is given."""
        energy = self._backend.kinetic_energy(self._position(q), self._velocity(qd))
        return float(energy) if out is None else deliver(energy, out)

    def potential_energy(self, q: Any, out: Out = None) -> Any:
        """Return gravity's energy, zero at the root frame's origin, and elastic energy [J]."""
        energy = self._backend.potential_energy(self._position(q))
        return float(energy) if out is None else deliver(energy, out)


Dynamics._hand_over = HandOver(Dynamics, BackendOwner.__dict__['_kernels'])
