# SPDX-License-Identifier: Apache-2.0
"""
Dynamics: the public functions of a robot. It checks arguments and leaves the numbers to a backend.

The methods about loops stand in `closed_chains/methods.py`.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Iterable, Optional, overload, Sequence, Union
import warnings

from flexdyn_ros.arguments import deliver, names, one_of, real_vector
from flexdyn_ros.batch import BatchDynamics
from flexdyn_ros.checked_arguments import payload_body, Wrenches
from flexdyn_ros.closed_chains.methods import ByLoop, ClosedChainMethods
from flexdyn_ros.closed_chains.states import LOOP_TOLERANCE
from flexdyn_ros.codegen.backends.generated import Backend, generated_backend, GeneratedBackend
from flexdyn_ros.dynamics.articulated_body import factor_order
from flexdyn_ros.dynamics.functions import FUNCTIONS, SOLVING_METHODS
from flexdyn_ros.dynamics.influence.backend import InfluenceBackend
from flexdyn_ros.dynamics.influence.model import Approximations
from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.evaluation import Evaluation
from flexdyn_ros.model.records.robot import require_robot, Robot
from flexdyn_ros.prescribed_base import accelerations_on_base, checked_base_acceleration
import numpy as np
from numpy.typing import ArrayLike

NO_INERTIA = ((0.0, 0.0, 0.0),) * 3
BACKENDS = ('auto', 'c', 'python', 'reference')
RECURSIVE, INFLUENCE = FORMULATIONS = ('recursive', 'kinematic_influence')
Out = Optional[np.ndarray]
# A float, or the array that it was written into.
Energy = Union[float, np.ndarray]
Outs = Optional[tuple[np.ndarray, np.ndarray, np.ndarray]]


class Dynamics(Evaluation, ClosedChainMethods):
    """
    The dynamics of a robot in joint-and-mode space.

    Units are SI. Vectors of configuration have length nq, all others nv: joints first, then
    modes (`robot.coordinate_names`). Arguments may be numpy arrays, sequences or buffers such
    as array.array; every numeric method writes into `out` where one is given.

    Wrenches map a frame name to six numbers [fx, fy, fz N, mx, my, mz N m]. The environment exerts
    them on the robot at the frame's origin, in root axes.

    Common arguments of the methods:

    - q: configuration, (nq,) [rad | m];
    - qd, qdd: velocity and acceleration, (nv,) [rad/s | m/s, rad/s^2 | m/s^2];
    - tau: generalised forces, (nv,) [N m | N];
    - frame: name of a link, for its origin and axes;
    - out: float64 array of the result's shape, or None;
    - loop_accelerations, loop_forces: by loop, see `ClosedChainMethods`;
    - base_acceleration: of a prescribed base, (6,) [m/s^2, rad/s^2].

    A wrong shape or type, and a number that is not finite, raise ArgumentError. An unknown frame
    raises UnknownName. Numbers too large for a finite result raise NonFiniteResult. Formulas and
    their sources are in docs/explanation/physics.md and in the modules of `dynamics`.

    Attributes:
        robot: The robot.
        backend: Name of the backend in use.
        formulation: Name of the formulation in use.
        batch: The same functions over many samples at once, see `BatchDynamics`.
        loop_tolerance: Largest constraint error of a configuration, as a fraction of the loop's
            length, or an angle [rad]. Beyond it dynamics raise ArgumentError, and beyond a
            thousandth of it they warn once. The length is that of the way along the loop over the
            origins of its joints and frames.
    """

    def __init__(
        self,
        robot: Robot,
        backend: str = 'auto',
        patient: Optional[bool] = None,
        formulation: str = RECURSIVE,
        approximations: Union[str, Iterable[str]] = (),
        loop_tolerance: float = LOOP_TOLERANCE,
    ):
        """
        Prepare the dynamics of a robot.

        Args:
            robot: From `load_robot`.
            backend: "reference" (the algorithms as written; for studies over many robots),
                "python" (the exported Python, run by CPython), "c" (the exported C, compiled), or
                "auto". "auto" is "c" where there is a compiler, otherwise "python". Code is
                generated at a function's first call and kept on disk. "auto" does so up to 40
                coordinates, for derivatives up to 12; beyond that the reference computes until
                `compile` is called.
            patient: Deprecated, without effect.
            formulation: "recursive" (Newton-Euler, composite and articulated bodies), or
                "kinematic_influence" (Graves: Jacobians of points, projection on them), which
                gives the same numbers by another way, slower: a check, on the reference backend.
            approximations: Approximations of its paper that the second formulation makes, none by
                default: "undeformed_inertia", "lumped_mass", "printed_recursion",
                see `dynamics/influence/model.py`.
            loop_tolerance: See the attribute.

        Raises:
            ArgumentError: If there is no such backend, formulation or approximation, or they do
                not go together; if a link's rotation="linear" has no place in the formulation.
            NoCompiler: "c" is chosen and there is no C compiler.
        """
        require_robot(robot)
        one_of('backend', backend, BACKENDS)
        if patient is not None:
            warnings.warn(
                'The argument "patient" of Dynamics is deprecated and has no effect. Use '
                'Dynamics.compile',
                DeprecationWarning, stacklevel=2,
            )
        super().__init__(robot)
        self._take_loop_tolerance(loop_tolerance)
        self._formulation, self._kind = formulation, backend
        self._approximations = _checked_approximations(formulation, approximations, backend)
        self._backend = self._new_backend()

    @property
    def backend(self) -> str:
        """Name of the backend in use."""
        return self._backend.name

    @property
    def formulation(self) -> str:
        """Name of the formulation in use."""
        return self._formulation

    @property
    def loop_tolerance(self) -> float:
        """Largest constraint error of a configuration, see the class."""
        return self._loop_tolerance

    @loop_tolerance.setter
    def loop_tolerance(self, tolerance: float) -> None:
        self._take_loop_tolerance(tolerance)
        self._change_loads()

    @property
    def batch(self) -> BatchDynamics:
        """The same functions over many samples at once."""
        return BatchDynamics(self)

    def compile(
        self,
        *functions: str,
        wrenches: Iterable[str] = (),
        arguments: Iterable[str] = (),
        batch: bool = False,
    ) -> None:
        """
        Generate and compile functions now.

        From then on they compute the results, for any number of coordinates. The backend
        "reference" has nothing to compile.

        Args:
            functions: Names as of `generate`, such as "inverse_dynamics" or "jacobian:tool".
            wrenches: Frames of the wrenches that calls will have.
            arguments: Loads that are arguments of the code from then on: "gravity",
                "payload:<link>". A change of their values needs no new code; on a flexible link
                that holds for one cross-section. Other loads become arguments when they first
                differ from the description.
            batch: Whether to compile the functions over many samples too.

        Raises:
            ArgumentError: If there is no function or load of a name, or no function is given.
            UnknownName: If there is no frame or link of a name.
            CompilationFailed: If the compiler of the backend "c" fails.
        """
        if not functions:
            raise ArgumentError('functions', f'is empty, expected some of {tuple(FUNCTIONS)}')
        one_of('batch', batch, (True, False))
        frames = names('wrenches', wrenches)
        places = tuple((self._frame(frame), None) for frame in sorted(frames))
        requests = [each for text in functions for each in self._requests(text)]
        self._keep_as_arguments(names('arguments', arguments))
        if isinstance(self._backend, GeneratedBackend):
            for request in requests:
                takes = request.function.takes_wrenches
                self._backend.compile(request, places if takes else (), batch)

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrenches: Wrenches = None,
        out: Out = None,
        loop_forces: ByLoop = None,
    ) -> np.ndarray:
        """
        Return joint torques [N m | N], then modal forces, for a motion, (nv,).

        With loops the constraint forces take their part: passive joints get none. Where the
        actuated ones can share the rest in many ways, they get the smallest forces.

        Args:
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
            qdd: Acceleration, (nv,), that the loops allow.
            wrenches: See the class.
            out: Array for the result.
            loop_forces: See `ClosedChainMethods`.

        Raises:
            UnattainableMotion: If the actuated joints cannot make the motion.
            NonFiniteResult: If the numbers are too large for a finite result.
        """
        self._need_loops(loop_forces=loop_forces)
        return self._evaluate(
            'inverse_dynamics', (q, qd, qdd), wrenches=wrenches, out=out,
            loop_inputs=self._loop_inputs(None, loop_forces),
        )

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches = None,
        out: Out = None,
        method: str = 'auto',
        base_acceleration: Optional[ArrayLike] = None,
        loop_accelerations: ByLoop = None,
        loop_forces: ByLoop = None,
    ) -> np.ndarray:
        """
        Return the accelerations of joints and modes under forces tau, (nv,).

        With loops they meet the constraints; `constraint_forces` returns the forces for that.

        Args:
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
            tau: Joint torques, then modal forces, (nv,).
            wrenches: See the class.
            out: Array for the result.
            method: "recursive" (O(n); robots with mimic joints take the other way), "cholesky"
                (mass matrix and its factors), or "auto". "auto" is the one with fewer operations
                of generated code, otherwise "recursive". With loops there is one way, and with the
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
            NonFiniteResult: If the numbers are too large for a finite result.
        """
        self._check_method(method)
        self._need_loops(loop_accelerations=loop_accelerations, loop_forces=loop_forces)
        base = None
        if base_acceleration is not None:
            base = checked_base_acceleration(self.robot, base_acceleration)
        if self._closed is not None or base is None:
            return self._evaluate(
                'forward_dynamics', (q, qd, tau), wrenches=wrenches, method=method, out=out,
                loop_inputs=self._loop_inputs(loop_accelerations, loop_forces), base=base,
            )
        at, rate, force = map(self._vector, ('q', 'qd', 'tau'), (q, qd, tau))
        loads = self._checked(wrenches)
        numbers = {'q': at, 'qd': rate, 'tau': force, 'base_acceleration': base}
        return deliver(self._sound(
            'forward_dynamics', numbers, loads,
            lambda: accelerations_on_base(
                self._backend, self._exact, (at, rate), force, base, loads, method
            ),
        ), out)

    def hybrid_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        joint_qdd: ArrayLike,
        wrenches: Wrenches = None,
        out: Optional[tuple[np.ndarray, np.ndarray]] = None,
        loop_accelerations: ByLoop = None,
        loop_forces: ByLoop = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return joint torques (n_joints,) and modal accelerations (n_modes,).

        Their units are [N m | N] and [m/s^2 | rad/s^2].

        The joints follow `joint_qdd`, (n_joints,); the modes move freely, without modal forces.
        With loops the actuated joints follow it, and passive joints follow the loops. `out` is two
        arrays of these shapes.
        """
        self._need_loops(loop_accelerations=loop_accelerations, loop_forces=loop_forces)
        return self._evaluate(
            'hybrid_dynamics', (q, qd, joint_qdd), wrenches=wrenches, out=out,
            loop_inputs=self._loop_inputs(loop_accelerations, loop_forces),
        )

    def quasi_static_torque(
        self,
        joint_q: ArrayLike,
        joint_qd: ArrayLike,
        joint_qdd: ArrayLike,
        wrenches: Wrenches = None,
        out: Outs = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return joint torques, the deflection at which modes rest along a motion, and its error.

        Units are [N m | N], [m | rad] and [m | rad], of the shapes of `out`.

        Springs and the loads of the joint motion balance, modal rates and accelerations being
        zero; the elastic balance and its source are in `dynamics/modal_motion.py`. Six steps of
        Newton's method find it. The last of these steps, (n_modes,), bounds the error. Where it is
        not small against the deflection, the loads are near those of buckling. `QuasiStatic`
        iterates until it converges, or raises.

        Args:
            joint_q: Joint positions, (nq - n_modes,) [rad | m].
            joint_qd: Joint velocities, (n_joints,) [rad/s | m/s].
            joint_qdd: Joint accelerations, (n_joints,) [rad/s^2 | m/s^2].
            wrenches: See `Dynamics`.
            out: Three arrays, (n_joints,), (n_modes,) and (n_modes,).

        Raises:
            NotYetSupported: The robot has loops.
        """
        self._refuse_loops('quasi_static_torque', 'Use hybrid_dynamics')
        return self._evaluate(
            'quasi_static_torque', (joint_q, joint_qd, joint_qdd), wrenches=wrenches, out=out
        )

    def hybrid_step(
        self,
        joint_q: ArrayLike,
        joint_qd: ArrayLike,
        joint_qdd: ArrayLike,
        modal_state: ArrayLike,
        step: ArrayLike,
        wrenches: Wrenches = None,
        out: Optional[tuple[np.ndarray, np.ndarray]] = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return joint torques [N m | N] and the modal state after one step along a joint motion.

        The joints move as given, and modes vibrate without modal forces. The step is that of the
        generalised-alpha method of Chung and Hulbert (1993), implicit and stable at any size; see
        `dynamics/modal_motion.py`. At its end the modal rows of the equations of motion hold.

        Args:
            joint_q: Joint positions at the end of the step, (nq - n_modes,) [rad | m].
            joint_qd: Joint velocities at the end of the step, (n_joints,) [rad/s | m/s].
            joint_qdd: Joint accelerations at the end, (n_joints,) [rad/s^2 | m/s^2].
            modal_state: Modal deflections, their rates, accelerations, and the accelerations that
                the method averages, (4 n_modes,), at the start of the step, in SI. Begin with the
                accelerations of `hybrid_dynamics`, and averages that equal them.
            step: Its size [s], and the spectral radius from 0 to 1, such as 0.9. That is the share
                of its amplitude that very fast vibration keeps in a step.
            wrenches: See `Dynamics`.
            out: Two arrays, (n_joints,) and (4 n_modes,).

        Raises:
            NotYetSupported: The robot has loops.
        """
        self._refuse_loops('hybrid_step', 'Use hybrid_dynamics')
        return self._evaluate(
            'hybrid_step', (joint_q, joint_qd, joint_qdd, modal_state, step), wrenches=wrenches,
            out=out,
        )

    def mass_matrix(self, q: ArrayLike, out: Out = None) -> np.ndarray:
        """Return the mass matrix, (nv, nv) [kg m^2 | kg m | kg]."""
        return self._evaluate('mass_matrix', (q,), out=out)

    @property
    def factor_order(self) -> tuple[int, ...]:
        """Order of the coordinates in `mass_matrix_factors`, as places in qd, (nv,)."""
        return tuple(factor_order(self._exact().tree))

    def mass_matrix_factors(
        self, q: ArrayLike, out: Optional[tuple[np.ndarray, np.ndarray]] = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return U, unit upper triangular (nv, nv), and the diagonal of D, (nv,).

        U diag(D) U^T is the mass matrix with rows and columns in `factor_order`. U and D come from
        the reverse Gaussian elimination of the DeNOC form, coordinate by coordinate from the tips
        (Mohan and Saha, eqs. 34 to 38). D is the inertia that each coordinate meets while all
        outside it move freely [kg m^2 | kg]; modes have the unit of their generalised mass.

        Raises:
            ArgumentError: If the robot has mimic joints.
            SingularMassMatrix: If a coordinate moves no inertia.
        """
        return self._evaluate('mass_matrix_factors', (q,), out=out)

    def composite_inertia(self, q: ArrayLike, frame: str, out: Out = None) -> np.ndarray:
        """
        Return the inertia of a frame's body and all that it carries, held stiff, (6, 6).

        It takes the twist [m/s, rad/s] of the frame, linear rows first, to momentum [kg m/s, kg
        m^2/s]. All are at the frame's origin in its axes. Its blocks are in kg, kg m and kg m^2.
        The body is all that fixed joints join to the frame's link. Deflections are included, and
        held (the composite body of Walker and Orin, 1982, and of Mohan and Saha, eq. 31). Rotors
        are left out.

        Raises:
            UnknownName: If there is no such frame.
            ArgumentError: If deflections are linearised.
        """
        return self._evaluate('composite_inertia', (q,), frame=frame, out=out)

    def articulated_inertia(self, q: ArrayLike, frame: str, out: Out = None) -> np.ndarray:
        """
        Return the inertia of a frame's body and all that it carries, moving freely, (6, 6).

        Units [kg | kg m | kg m^2] and axes are those of `composite_inertia`. The joints outside
        the body and the modes from the body outward, its own included, accelerate without forces.
        It is Featherstone's articulated body (Mohan and Saha, eq. 38). Rotors of the joints
        outside are included. The body's own joint has no part in it.

        Raises:
            UnknownName: If there is no such frame.
            ArgumentError: If the robot has mimic joints, or deflections are linearised.
            SingularMassMatrix: If a coordinate outside moves no inertia.
        """
        return self._evaluate('articulated_inertia', (q,), frame=frame, out=out)

    def bias_vector(self, q: ArrayLike, qd: ArrayLike, out: Out = None) -> np.ndarray:
        """Return gravity, Coriolis, friction and elastic forces together, (nv,) [N m | N]."""
        return self._evaluate('bias_vector', (q, qd), out=out)

    def gravity_vector(self, q: ArrayLike, out: Out = None) -> np.ndarray:
        """Return the forces that hold the robot against gravity, (nv,) [N m | N]."""
        return self._evaluate('gravity_vector', (q,), out=out)

    def coriolis_vector(self, q: ArrayLike, qd: ArrayLike, out: Out = None) -> np.ndarray:
        """Return the forces of Coriolis and centrifugal accelerations, (nv,) [N m | N]."""
        return self._evaluate('coriolis_vector', (q, qd), out=out)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, out: Out = None) -> np.ndarray:
        """
        Return C(q, qd), (nv, nv): C qd = coriolis_vector, and dM/dt - 2 C is skew-symmetric.

        Many matrices have that product; passivity-based control needs this one. Its entries are
        Christoffel's symbols of the first kind times qd; with body-wise velocities (floating
        joints and quaternions) dM/dt is the rate along the flow. An entry has the units of the
        same entry of the mass matrix over seconds [kg m^2/s | kg m/s | kg/s]. With loops it is
        that of the open tree. The recursion and its source are in `dynamics/coriolis_matrix.py`.

        Raises:
            NotYetSupported: If a link has rotation="linear".
            ArgumentError: If the formulation makes approximations.
        """
        if any(self._approximations):
            raise ArgumentError(
                'approximations', 'make equations that are not those of an energy, so that they '
                'have no Coriolis matrix; omit them',
            )
        return self._evaluate('coriolis_matrix', (q, qd), out=out)

    def friction_vector(self, qd: ArrayLike, out: Out = None) -> np.ndarray:
        """Return losses of joints: friction, and damping without a spring, (nv,) [N m | N]."""
        return self._evaluate('friction_vector', (qd,), out=out)

    def elastic_vector(self, q: ArrayLike, qd: ArrayLike, out: Out = None) -> np.ndarray:
        """Return stiffness and damping forces of modes and elastic joints, (nv,) [N m | N]."""
        return self._evaluate('elastic_vector', (q, qd), out=out)

    def inertia_vector(self, q: ArrayLike, qdd: ArrayLike, out: Out = None) -> np.ndarray:
        """Return M(q) qdd, (nv,) [N m | N]."""
        return self._evaluate('inertia_vector', (q, qdd), out=out)

    def external_force_vector(
        self, q: ArrayLike, wrenches: Wrenches, out: Out = None
    ) -> np.ndarray:
        """Return the forces that balance wrenches, -J^T w, (nv,) [N m | N]."""
        return self._evaluate('external_force_vector', (q,), wrenches=wrenches, out=out)

    def frame_pose(self, q: ArrayLike, frame: str, out: Out = None) -> np.ndarray:
        """Return the homogeneous transform of a link's frame in the root frame, (4, 4) [m]."""
        return self._evaluate('frame_pose', (q,), frame=frame, out=out)

    def jacobian(self, q: ArrayLike, frame: str, out: Out = None) -> np.ndarray:
        """Return the Jacobian at a frame's origin, root axes, (6, nv), linear first [m | -]."""
        return self._evaluate('jacobian', (q,), frame=frame, out=out)

    def jacobian_rate_qd(
        self, q: ArrayLike, qd: ArrayLike, frame: str, out: Out = None
    ) -> np.ndarray:
        """Return dJ/dt qd at a frame's origin, root axes, (6,), [m/s^2] then [rad/s^2]."""
        return self._evaluate('jacobian_rate_qd', (q, qd), frame=frame, out=out)

    @overload
    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, out: None = None) -> float: ...

    @overload
    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, out: np.ndarray) -> np.ndarray: ...

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, out: Out = None) -> Energy:
        """Return the kinetic energy [J], a float; into `out`, shape (), where that is given."""
        return self._evaluate('kinetic_energy', (q, qd), out=out)

    @overload
    def potential_energy(self, q: ArrayLike, out: None = None) -> float: ...

    @overload
    def potential_energy(self, q: ArrayLike, out: np.ndarray) -> np.ndarray: ...

    def potential_energy(self, q: ArrayLike, out: Out = None) -> Energy:
        """Return gravity's energy, zero at the root frame's origin, and elastic energy, () [J]."""
        return self._evaluate('potential_energy', (q,), out=out)

    @overload
    def dissipated_power(self, qd: ArrayLike, out: None = None) -> float: ...

    @overload
    def dissipated_power(self, qd: ArrayLike, out: np.ndarray) -> np.ndarray: ...

    def dissipated_power(self, qd: ArrayLike, out: Out = None) -> Energy:
        """
        Return the power that joints' losses and all damping take [W], a float.

        It is qd^T (friction_vector + the damping part of elastic_vector), zero or more. `out`
        has shape ().
        """
        return self._evaluate('dissipated_power', (qd,), out=out)

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, wrenches: Wrenches = None,
        out: Outs = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return d tau / dq, d tau / d qd and d tau / d qdd, (nv, nv) each [N m | N per q, qd, qdd].

        Column k of the first is for a displacement of velocity coordinate k. That is one of q
        itself, but of a quaternion a rotation vector, and of a floating joint's position a
        translation, both in body axes. With loops, derivatives hold for displacements and changes
        of velocity that keep the loops closed, where their rank does not change.
        """
        return self._evaluate(
            'inverse_dynamics_derivatives', (q, qd, qdd), wrenches=wrenches, out=out
        )

    def forward_dynamics_derivatives(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, wrenches: Wrenches = None,
        out: Outs = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return d qdd / dq, d qdd / d qd and d qdd / d tau, (nv, nv) [rad/s^2 | m/s^2 per each].

        Positions are displaced as by `inverse_dynamics_derivatives`.

        Raises:
            SingularMassMatrix: If a coordinate moves no inertia, naming it and its links.
        """
        return self._evaluate(
            'forward_dynamics_derivatives', (q, qd, tau), wrenches=wrenches, out=out
        )

    def inverse_dynamics_parameter_derivatives(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, parameters: Sequence[str],
        wrenches: Wrenches = None, out: Out = None,
    ) -> np.ndarray:
        """
        Return derivatives of joint torques and modal forces by parameters, (nv, n) [N m | N each].

        Args:
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
            qdd: Acceleration, (nv,).
            parameters: Names as of the arguments of generated code: "<link>/mass", "<link>/com"
                (3 columns), "<link>/inertia" (6 columns: xx yy zz xy xz yz), "<joint>/viscous",
                "<joint>/coulomb", "<joint>/rotor_inertia". Springs and modes have
                "<joint>/stiffness", "<joint>/damping", "<mode>/stiffness", "<mode>/damping".
            wrenches: See the class.
            out: Array for the result.

        Raises:
            ArgumentError: If a parameter is unknown or comes twice, or there is none.
        """
        return self._evaluate(
            'inverse_dynamics_parameter_derivatives', (q, qd, qdd), wrenches=wrenches, out=out,
            parameters=self._parameters(parameters),
        )

    def forward_dynamics_parameter_derivatives(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, parameters: Sequence[str],
        wrenches: Wrenches = None, out: Out = None,
    ) -> np.ndarray:
        """
        Return the derivatives of accelerations by parameters, (nv, n) [rad/s^2 | m/s^2 each].

        The parameters are those of `inverse_dynamics_parameter_derivatives`.

        Raises:
            ArgumentError: If a parameter is unknown or comes twice, or there is none.
            SingularMassMatrix: If a coordinate moves no inertia, naming it and its links.
        """
        return self._evaluate(
            'forward_dynamics_parameter_derivatives', (q, qd, tau), wrenches=wrenches, out=out,
            parameters=self._parameters(parameters),
        )

    def set_payload(
        self,
        link: str,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = NO_INERTIA,
    ) -> None:
        """
        Put a rigid body on a link; it replaces the one that is there.

        On a flexible link it rides on the cross-section, or the segment, at its centre of mass. On
        a link of several beams it rides on the nearest one.

        Args:
            link: Name of the link.
            mass: [kg].
            com: Centre of mass in the link frame, (3,) [m]; its origin without one.
            inertia: About the centre of mass in link axes, (3, 3) [kg m^2]; none is a point mass.

        Raises:
            UnknownName: If there is no such link.
            ArgumentError: If the mass or a principal moment is negative, or the inertia not
                symmetric; zeros are a point mass. Moments that break the triangle inequality, as
                those of planar models may, are taken with a warning.
        """
        self.robot.link(link)
        body = payload_body(mass, com, inertia)
        carrier, place = self.robot.holder(link, body.com)
        kept = {name: each for name, each in self._payloads.items()
                if self.robot.link(name).part_of != link}
        self._payloads = {**kept, carrier: replace(body, com=place)}
        self._change_loads()

    def clear_payload(self, link: Optional[str] = None) -> None:
        """Return the payload of a link, or all, to the description's, or raise UnknownName."""
        declared = {payload.link: payload.inertia for payload in self.robot.payloads}
        kept = {}
        if link is not None:
            self.robot.link(link)
            kept = {name: body for name, body in self._payloads.items()
                    if link not in (name, self.robot.link(name).part_of)}
        # The declared order, so that sums of inertias come out bit for bit the same.
        self._payloads = {**declared, **kept}
        self._change_loads()

    def set_gravity(self, vector: ArrayLike) -> None:
        """Set the acceleration of gravity, `vector` (3,) in the root frame [m/s^2]."""
        self._gravity = real_vector('vector', vector, 3)
        self._change_loads()

    def _keep_as_arguments(self, names: Sequence[str]) -> None:
        """Make gravity or payloads arguments of the code in any case."""
        ahead = self._compiled_ahead
        before = ahead.gravity, len(ahead.payloads)
        for name in names:
            kind, _, link = str(name).partition(':')
            if name == 'gravity':
                ahead.gravity = True
            elif kind == 'payload' and link:
                ahead.payloads.add(self.robot.link(link).name)
            else:
                raise ArgumentError(
                    'arguments', f'names "{name}", expected "gravity" or "payload:<link>"'
                )
        if (ahead.gravity, len(ahead.payloads)) != before:
            self._change_loads()

    def _take_loop_tolerance(self, tolerance: float) -> None:
        """
        Check and take a loop tolerance.

        Raises:
            ArgumentError: If it is no number above zero.
        """
        try:
            self._loop_tolerance = float(tolerance)
        except (TypeError, ValueError, OverflowError):
            raise ArgumentError(
                'loop_tolerance', f'is {tolerance!r:.60}, expected a positive number') from None
        if not self._loop_tolerance > 0.0:
            raise ArgumentError('loop_tolerance', f'is {tolerance}, expected a positive number')
        if self._closed is not None:
            self._closed = copy(self._closed)  # a copy of these dynamics may share it
            self._closed.tolerance = self._loop_tolerance

    def _check_method(self, method: str) -> None:
        one_of('method', method, SOLVING_METHODS)
        if method == 'recursive' and self._formulation != RECURSIVE:
            raise ArgumentError(
                'method', f'is "{method}", and formulation="{self._formulation}" solves with the '
                'mass matrix; omit it or use "cholesky"',
            )

    def _new_backend(self) -> Backend:
        given = (self.robot, self._gravity, self._payloads)
        if self._formulation == INFLUENCE:
            return InfluenceBackend(*given, self._approximations)
        if self._kind == 'reference':
            return ReferenceBackend(*given)
        return generated_backend(self._kind, *given, self._compiled_ahead)


Dynamics._written = {
    name: getattr(Dynamics, name) for name in FUNCTIONS if hasattr(Dynamics, name)
}


def require_dynamics(value: object) -> None:
    """Raise ArgumentError unless these are the dynamics of a robot."""
    if isinstance(value, Dynamics):
        return
    advice = 'expected a Dynamics: pass Dynamics(robot)'
    if isinstance(value, Robot):
        advice = 'expected its Dynamics: pass Dynamics(robot)'
    elif isinstance(getattr(value, 'dyn', None), Dynamics):
        advice = 'expected its Dynamics: pass its attribute "dyn"'
    raise ArgumentError('dyn', f'is of type {type(value).__name__}, {advice}')


def _checked_approximations(
    formulation: str, approximations: Union[str, Iterable[str]], backend: str
) -> Approximations:
    """Return the approximations by these names, or raise where the three choices contradict."""
    one_of('formulation', formulation, FORMULATIONS)
    found = Approximations.named(approximations)
    if formulation == INFLUENCE:
        if backend not in ('auto', 'reference'):
            raise ArgumentError(
                'formulation', f'is "{INFLUENCE}", which is not compiled, and backend is '
                f'"{backend}"; omit backend or use backend="reference"',
            )
    elif any(found):
        raise ArgumentError(
            'approximations', f'are those of formulation="{INFLUENCE}", and formulation is '
            f'"{formulation}". Omit them',
        )
    return found
