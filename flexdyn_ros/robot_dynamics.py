# SPDX-License-Identifier: Apache-2.0
"""Dynamics: what users call. It checks arguments and leaves the numbers to a backend."""

from __future__ import annotations

import math
from typing import Any
from typing import Callable
from typing import Iterable
from typing import Mapping
from typing import Optional
from typing import Sequence
from typing import Sized
from typing import Union
from weakref import ref

from flexdyn_ros.arguments import deliver
from flexdyn_ros.arguments import deliver_matrix
from flexdyn_ros.arguments import Evaluation
from flexdyn_ros.arguments import quick_evaluation
from flexdyn_ros.arguments import real_matrix
from flexdyn_ros.arguments import real_number
from flexdyn_ros.arguments import real_vector
from flexdyn_ros.batch_dynamics import BatchDynamics
from flexdyn_ros.closed_chains.chains import ClosedChains
from flexdyn_ros.closed_chains.methods import ByLoop
from flexdyn_ros.closed_chains.methods import ClosedChainMethods
from flexdyn_ros.codegen.c_backend import CBackend
from flexdyn_ros.codegen.chosen_parameters import choose_parameters
from flexdyn_ros.codegen.chosen_parameters import ChosenParameters
from flexdyn_ros.codegen.functions import Request
from flexdyn_ros.codegen.patient_backend import PatientBackend
from flexdyn_ros.codegen.python_backend import PythonBackend
from flexdyn_ros.direct_calls import DirectCalls
from flexdyn_ros.direct_calls import METHODS as DIRECT_METHODS
from flexdyn_ros.direct_calls import OPEN_METHODS
from flexdyn_ros.dynamics.newton_euler import FrameWrench
from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.errors import UnknownName
from flexdyn_ros.model.link import Inertia
from flexdyn_ros.model.robot import Robot
from flexdyn_ros.prescribed_base import accelerations_on_base
from flexdyn_ros.prescribed_base import checked_base_acceleration
import numpy as np

BACKENDS = ('auto', 'c', 'python', 'reference')
METHODS = ('auto', 'recursive', 'cholesky')
Backend = Union[PatientBackend, CBackend, PythonBackend, ReferenceBackend]
Out = Optional[np.ndarray]
Outs = Optional[tuple[np.ndarray, np.ndarray, np.ndarray]]
Wrenches = Optional[Mapping[str, Any]]


class Dynamics(ClosedChainMethods):
    """
    The dynamics of a robot in joint-and-mode space.

    Units are SI. Vectors of configuration have length nq, all others nv: joints first, then
    modes (`robot.coordinate_names`). Arguments may be numpy arrays, sequences or buffers such
    as array.array; every numeric method writes into `out` where one is given.

    Wrenches map a frame name to six numbers [fx, fy, fz N, mx, my, mz N m] that the
    environment exerts on the robot at the frame's origin, in root axes.

    Once a function is compiled, its method is shadowed by a direct call of the compiled code
    (`direct_calls.py`), so a method does nothing but check arguments, ask the backend and
    deliver.

    Attributes:
        robot: The robot.
        backend: Name of the backend in use.
        batch: The same functions over many samples at once, see `BatchDynamics`.
    """

    def __init__(self, robot: Robot, backend: str = 'auto', patient: bool = True):
        """
        Prepare the dynamics of a robot.

        Args:
            robot: From `load_robot`.
            backend: "reference" (the algorithms as written), "python" (straight-line code
                generated from them when a function is first used, and kept on disk), "c" (the
                same compiled), or "auto": "c" where there is a compiler, otherwise "python";
                the first few calls of a function that is not on disk yet are the reference's.
            patient: False lets "auto" generate code at a function's first call already, as
                programs want that must not wait in the middle of their work. Where compiling
                fails, generated Python answers, and a warning is logged.

        Raises:
            ArgumentError: If there is no such backend.
            NoCompiler: If "c" is asked for and there is no C compiler.
        """
        if backend not in BACKENDS:
            raise ArgumentError('backend', f'is "{backend}", expected one of {BACKENDS}')
        self.robot = robot
        self._nq, self._nv, self._n_joints = robot.nq, robot.nv, robot.n_joints
        self._quaternions = robot.quaternion_starts
        self._frames = frozenset(robot.frame_names)
        self._chosen: dict[tuple[str, ...], ChosenParameters] = {}
        self._gravity = list(robot.gravity_vector)
        self._closed = ClosedChains(robot) if robot.loops else None
        self._payloads = {payload.link: payload.inertia for payload in robot.payloads}
        self._kind, self._patient = backend, bool(patient)
        self._direct = DirectCalls()
        self._quick: Optional[Evaluation] = None
        self._backend: Backend = self._new_backend()

    def _new_backend(self) -> Backend:
        given = (self.robot, self._gravity, self._payloads)
        if self._kind == 'reference':
            return ReferenceBackend(*given)
        if self._kind == 'python':
            return PythonBackend(*given)
        # Weakly, so that a backend does not keep its owner alive.
        owner = ref(self)

        def listener(request: Request, kernel: Any) -> None:
            dyn = owner()
            if dyn is not None:
                dyn._call_directly(request, kernel)

        if self._kind == 'c':
            return CBackend(*given, listener=listener)
        return PatientBackend(*given, listener=listener, patient=self._patient)

    def _rebuild(self) -> None:
        self._forget_direct_calls()
        self._backend = self._backend.under(self._gravity, self._payloads)

    def _call_directly(self, request: Request, kernel: Any) -> None:
        """Let a compiled function answer for its method, unless a subclass overrides that."""
        name = request.name.partition('/')[0]
        method = getattr(type(self), name, None)
        closed = self._closed is not None and name in OPEN_METHODS
        if not closed and method is not None and method is _METHODS.get(name):
            call = self._direct.add(request, kernel, method.__get__(self))
            if call is not None:
                self.__dict__[name] = call

    def _forget_direct_calls(self) -> None:
        self._direct = DirectCalls()
        self._quick = None
        for name in _METHODS:
            self.__dict__.pop(name, None)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs; its backend is made anew."""
        left = ('_backend', '_direct', '_quick', *_METHODS)
        return {name: value for name, value in self.__dict__.items() if name not in left}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what a copy needs."""
        self.__dict__.update(state)
        self._direct = DirectCalls()
        self._quick = None
        self._backend = self._new_backend()

    @property
    def _widths(self) -> dict[str, int]:
        """Lengths of a sample's q, its other vectors (as qd) and joint_qdd."""
        return {'q': self._nq, 'qd': self._nv, 'joint_qdd': self._n_joints}

    @property
    def batch(self) -> BatchDynamics:
        """The same functions over many samples at once."""
        return BatchDynamics(self)

    @property
    def backend(self) -> str:
        """Name of the backend in use."""
        return self._backend.name

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

    def _quick_inverse_dynamics(self) -> Optional[Evaluation]:
        """Return generated Python that takes arrays, where it is made."""
        if isinstance(self._backend, (PythonBackend, PatientBackend)):
            prepared = self._backend.prepared('inverse_dynamics')
            if prepared is not None:
                return quick_evaluation(*prepared, self._nq, self._nv)
        return None

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
                operations, otherwise "recursive"). With loops there is one way.
            base_acceleration: Rates of the six base velocities of a robot with <base
                motion="prescribed"/>, (6,) [m/s^2, rad/s^2]. The first six entries of tau are
                not read then; inverse dynamics with the result gives the wrench on the base.
                Without it they are that wrench, as on a free base.
            loop_accelerations: See `ClosedChainMethods`.
            loop_forces: The same.

        Raises:
            ArgumentError: If an argument has the wrong shape, or the base is not prescribed.
            SingularMassMatrix: If a coordinate moves no inertia, naming it and its links.
        """
        if method not in METHODS:
            raise ArgumentError('method', f'is "{method}", expected one of {METHODS}')
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

    def _exact(self) -> ReferenceBackend:
        """Return the reference backend under the present loads."""
        return ReferenceBackend(self.robot, self._gravity, self._payloads)

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
        tau_out, qdd_out = out if out is not None else (None, None)
        return deliver(tau, tau_out), deliver(qdd, qdd_out)

    def inverse_dynamics_derivatives(
        self, q: Any, qd: Any, qdd: Any, wrenches: Wrenches = None, out: Outs = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return d tau / dq, d tau / d qd and d tau / d qdd, the mass matrix, (nv, nv) each.

        Column k of the first is for a displacement of velocity coordinate k: of q itself, but
        of a quaternion a rotation vector, and of a floating joint's position a translation, both
        in body axes.

        Raises:
            NotYetSupported: If the robot has loops.
        """
        self._refuse_loops('inverse_dynamics_derivatives')
        found = self._backend.inverse_dynamics_derivatives(
            self._position(q), self._velocity(qd), self._vector('qdd', qdd),
            self._checked(wrenches),
        )
        return self._matrices(found, out)

    def forward_dynamics_derivatives(
        self, q: Any, qd: Any, tau: Any, wrenches: Wrenches = None, out: Outs = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return d qdd / dq, d qdd / d qd and d qdd / d tau, (nv, nv) each.

        Positions are displaced as by `inverse_dynamics_derivatives`.

        Raises:
            NotYetSupported: If the robot has loops.
            SingularMassMatrix: If a coordinate moves no inertia, naming it and its links.
        """
        self._refuse_loops('forward_dynamics_derivatives')
        found = self._backend.forward_dynamics_derivatives(
            self._position(q), self._velocity(qd), self._vector('tau', tau),
            self._checked(wrenches),
        )
        return self._matrices(found, out)

    def inverse_dynamics_parameter_derivatives(
        self, q: Any, qd: Any, qdd: Any, parameters: Sequence[str],
        wrenches: Wrenches = None, out: Out = None,
    ) -> np.ndarray:
        """
        Return the derivatives of joint torques and modal forces by parameters, (nv, n).

        Args:
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
            qdd: Acceleration, (nv,).
            parameters: Names as of the arguments of generated code: "<link>/mass", "<link>/com"
                (3 columns), "<link>/inertia" (6 columns: xx yy zz xy xz yz), "<joint>/viscous",
                "<joint>/coulomb", "<joint>/rotor_inertia", "<joint>/stiffness",
                "<joint>/damping", "<mode>/stiffness", "<mode>/damping".
            wrenches: See the class.
            out: Where to write the result.

        Raises:
            ArgumentError: If a parameter is unknown or comes twice, or there is none.
            NotYetSupported: If the robot has loops.
        """
        self._refuse_loops('inverse_dynamics_parameter_derivatives')
        chosen = self._parameters(parameters)
        found = self._backend.inverse_dynamics_parameter_derivatives(
            self._position(q), self._velocity(qd), self._vector('qdd', qdd), chosen,
            self._checked(wrenches),
        )
        return deliver(np.reshape(found, (self._nv, len(chosen.values))), out)

    def forward_dynamics_parameter_derivatives(
        self, q: Any, qd: Any, tau: Any, parameters: Sequence[str],
        wrenches: Wrenches = None, out: Out = None,
    ) -> np.ndarray:
        """
        Return the derivatives of accelerations by parameters of the model, (nv, n).

        The parameters are those of `inverse_dynamics_parameter_derivatives`.

        Raises:
            ArgumentError: If a parameter is unknown or comes twice, or there is none.
            NotYetSupported: If the robot has loops.
            SingularMassMatrix: If a coordinate moves no inertia, naming it and its links.
        """
        self._refuse_loops('forward_dynamics_parameter_derivatives')
        chosen = self._parameters(parameters)
        found = self._backend.forward_dynamics_parameter_derivatives(
            self._position(q), self._velocity(qd), self._vector('tau', tau), chosen,
            self._checked(wrenches),
        )
        return deliver(np.reshape(found, (self._nv, len(chosen.values))), out)

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

    def set_payload(self, link: str, mass: Any, com: Any, inertia: Any) -> None:
        """
        Put a rigid body on a link; it replaces the one that is there.

        On a flexible link it rides on the cross-section, or the segment, at its centre of mass.

        Args:
            link: Name of the link.
            mass: [kg].
            com: Centre of mass in the link frame, (3,) [m].
            inertia: About the centre of mass in link axes, (3, 3) [kg m^2].

        Raises:
            UnknownName: If there is no such link.
            ArgumentError: If the mass is negative, or the inertia not symmetric and positive.
        """
        self.robot.link(link)
        mass = real_number('mass', mass)
        if mass < 0.0:
            raise ArgumentError('mass', f'is {mass}, expected zero or more')
        centre = tuple(real_vector('com', com, 3))
        moments = real_matrix('inertia', inertia, (3, 3))
        scale = max(np.abs(moments).max(), np.finfo(float).tiny)
        if np.abs(moments - moments.T).max() > 1e-9 * scale:
            raise ArgumentError('inertia', 'is not symmetric')
        if np.linalg.eigvalsh(moments).min() < -1e-9 * scale:
            raise ArgumentError('inertia', 'has a negative principal moment')
        rows = tuple(tuple(row) for row in (0.5 * (moments + moments.T)).tolist())
        self._payloads = {**self._payloads, link: Inertia(mass, centre, rows)}
        self._rebuild()

    def clear_payload(self, link: Optional[str] = None) -> None:
        """Return the payload of one link, or of all, to what the description declares."""
        declared = {payload.link: payload.inertia for payload in self.robot.payloads}
        if link is None:
            self._payloads = declared
        else:
            self.robot.link(link)
            others = {name: body for name, body in self._payloads.items() if name != link}
            own = {link: declared[link]} if link in declared else {}
            kept = {**others, **own}
            # The declared order, so that sums of inertias come out bit for bit the same.
            order = [*declared, *(name for name in kept if name not in declared)]
            self._payloads = {name: kept[name] for name in order}
        self._rebuild()

    def set_gravity(self, vector: Any) -> None:
        """Set the acceleration of gravity in the root frame, (3,) [m/s^2]."""
        self._gravity = real_vector('vector', vector, 3)
        self._rebuild()

    def _position(self, q: Any) -> list[float]:
        """Return a checked configuration with its quaternions brought to unit length."""
        values = real_vector('q', q, self._nq)
        if not self._quaternions:
            return values
        for start in self._quaternions:
            x, y, z, w = values[start : start + 4]
            # In the order in which compiled code adds, so that both give the same bits.
            length = math.sqrt(x * x + y * y + z * z + w * w)
            if not 0.5 < length < 2.0:
                raise ArgumentError(
                    'q', f'has a quaternion of length {length:.3g} at {start}, expected 1'
                )
            values[start : start + 4] = [x / length, y / length, z / length, w / length]
        return values

    def _velocity(self, qd: Any) -> list[float]:
        return real_vector('qd', qd, self._nv)

    def _vector(self, argument: str, value: Any) -> list[float]:
        return real_vector(argument, value, self._nv)

    def _parameters(self, names: Sequence[str]) -> ChosenParameters:
        if not isinstance(names, Iterable):
            raise ArgumentError('parameters', 'must be a sequence of names such as "<link>/mass"')
        key = (names,) if isinstance(names, str) else tuple(str(name) for name in names)
        found = self._chosen.get(key)
        if found is None:
            found = self._chosen[key] = choose_parameters(self.robot, key)
        return found

    def _matrices(self, found: Any, out: Outs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        shape = (self._nv, self._nv)
        if out is not None and (not isinstance(out, Sized) or len(out) != 3):
            raise ArgumentError('out', 'must be three arrays, one for each matrix')
        first, second, third = (
            deliver(np.reshape(rows, shape), place)
            for rows, place in zip(found, (None, None, None) if out is None else out)
        )
        return first, second, third

    def _frame(self, frame: str) -> str:
        if frame not in self._frames:
            raise UnknownName('frame', frame, self.robot.frame_names)
        return frame

    def _checked(self, wrenches: Wrenches) -> list[FrameWrench]:
        if wrenches is None:
            return []
        if not isinstance(wrenches, Mapping):
            raise ArgumentError('wrenches', 'must map frame names to six numbers')
        checked = []
        for frame, wrench in wrenches.items():
            six = real_vector(f'wrenches["{frame}"]', wrench, 6)
            force, moment = (six[0], six[1], six[2]), (six[3], six[4], six[5])
            checked.append(FrameWrench(self._frame(frame), force, moment))
        return checked


# The methods as written, to tell where a subclass has its own.
_METHODS: dict[str, Callable] = {
    name: getattr(Dynamics, name) for name in (*DIRECT_METHODS, *OPEN_METHODS)
}
