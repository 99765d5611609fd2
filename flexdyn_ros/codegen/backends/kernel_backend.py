# SPDX-License-Identifier: Apache-2.0
"""
What the backends share whose functions are kernels of the extension: compiled or interpreted.

They make the same variants as generated Python (`variants.py`): payloads and gravity that
differ from the description's are arguments of the code, so that changing them makes nothing
anew, and without them the plain function runs. Functions are kept on disk. What is not finite,
or comes out of a doubtful pivot, is left to the reference backend.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any
from typing import Callable
from typing import Mapping
from typing import Optional
from typing import Sequence
from typing import TypeVar

from flexdyn_ros.codegen.backends.python_backend import PythonBackend
from flexdyn_ros.codegen.backends.variants import Floats
from flexdyn_ros.codegen.backends.variants import FORWARD
from flexdyn_ros.codegen.backends.variants import key_of
from flexdyn_ros.codegen.backends.variants import Places
from flexdyn_ros.codegen.backends.variants import traced
from flexdyn_ros.codegen.backends.variants import Wrenches
from flexdyn_ros.codegen.native.kernel_program import KernelProgram
from flexdyn_ros.codegen.tracing.chosen_parameters import ChosenParameters
from flexdyn_ros.codegen.tracing.function_vectors import inputs_of
from flexdyn_ros.codegen.tracing.function_vectors import outputs_of
from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.codegen.tracing.interface import Input
from flexdyn_ros.codegen.tracing.interface import Output
from flexdyn_ros.codegen.tracing.interface import Trace
from flexdyn_ros.codegen.tracing.loads import Loads
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.robot import Robot
import numpy as np

# Programs that wait for another backend: some megabytes each, at most.
MOST_TRACES = 8
# Told of a function without wrenches: its request, and the kernel.
Listener = Callable[[Request, Any], None]
# A function of (count, inputs, strides, outputs, flags, threads), and its last inputs.
Batch = tuple[Callable[..., None], tuple[np.ndarray, ...]]
Self = TypeVar('Self', bound='KernelBackend')


class KernelBackend(PythonBackend):
    """
    Evaluates one robot under one gravity and one set of payloads by kernels.

    Attributes:
        listener: Told of each kernel that may be called without this backend.
        traces: Programs that one backend leaves to another that will need them too, or None.
    """

    # Whether this is the backend that leaves them.
    leaves_traces = False

    def __init__(
        self,
        robot: Robot,
        gravity: Floats,
        payloads: Mapping[str, Inertia],
        digest: Optional[str] = None,
        listener: Optional[Listener] = None,
    ):
        """
        Prepare; nothing is made before it is used.

        Args:
            robot: The robot.
            gravity: Acceleration of gravity in the root frame, (3,) [m/s^2].
            payloads: Inertia in link axes by link name.
            digest: Digest of the robot where it is known.
            listener: Told of each kernel that may be called without this backend.
        """
        super().__init__(robot, gravity, payloads, digest)
        self.listener = listener
        self._batches: dict[tuple[Request, Places], Batch] = {}
        self.traces: Optional[dict[tuple, Trace]] = None

    def under(self: Self, gravity: Floats, payloads: Mapping[str, Inertia]) -> Self:
        """Return a backend of the same robot under other gravity and payloads."""
        made = type(self)(self._robot, gravity, payloads, self._digest, self.listener)
        made.traces = self.traces
        return made

    @abstractmethod
    def _as_program(
        self,
        key: tuple[str, ...],
        produce: Callable[[], Trace],
        inputs: tuple[Input, ...],
        outputs: tuple[Output, ...],
        quaternions: tuple[int, ...],
    ) -> KernelProgram:
        """Return a traced program as one that becomes a kernel."""

    def forward_dynamics(
        self, q: Floats, qd: Floats, tau: Floats, wrenches: Wrenches, method: str
    ) -> Floats:
        """Return accelerations, (nv,); see PythonBackend."""
        if not self._nv:
            return []
        try:
            return self._loaded(FORWARD[method], (q, qd, tau), wrenches)
        except ArithmeticError:
            return self._exact.forward_dynamics(q, qd, tau, wrenches, method)

    def hybrid_dynamics(
        self, q: Floats, qd: Floats, joint_qdd: Floats, wrenches: Wrenches
    ) -> tuple[Floats, Floats]:
        """Return joint torques (n_joints,) and modal accelerations (n_modes,)."""
        try:
            if not self._n_modes:
                return self._loaded('inverse_dynamics', (q, qd, joint_qdd), wrenches), []
            return self._loaded('hybrid_dynamics', (q, qd, joint_qdd), wrenches)
        except ArithmeticError:
            return self._exact.hybrid_dynamics(q, qd, joint_qdd, wrenches)

    def forward_dynamics_derivatives(
        self, q: Floats, qd: Floats, tau: Floats, wrenches: Wrenches = ()
    ) -> tuple:
        """Return the derivatives of the accelerations by q, qd and tau, (nv, nv) each."""
        if not self._nv:
            return [], [], []
        try:
            return self._loaded('forward_dynamics_derivatives', (q, qd, tau), wrenches)
        except ArithmeticError:
            return self._exact.forward_dynamics_derivatives(q, qd, tau, wrenches)

    def forward_dynamics_parameter_derivatives(
        self, q: Floats, qd: Floats, tau: Floats, chosen: ChosenParameters,
        wrenches: Wrenches = (),
    ) -> list:
        """Return the derivatives of the accelerations by parameters of the model, (nv, n)."""
        name = 'forward_dynamics_parameter_derivatives'
        if not self._nv:
            return []
        try:
            return self._loaded(name, (q, qd, tau), wrenches, chosen)
        except ArithmeticError:
            return self._exact.forward_dynamics_parameter_derivatives(
                q, qd, tau, chosen, wrenches
            )

    def is_made(self, name: str, arguments: Sequence[Any]) -> bool:
        """Return whether a call with these arguments needs nothing to be made any more."""
        request, loads, solver, _ = self._resolved(*self.variant(name, arguments))
        return self._program(request, loads, solver).is_ready()

    def program(self, request: Request, places: Places) -> tuple[KernelProgram, tuple]:
        """Return a function as a program, and the values of payloads and gravity."""
        request, loads, solver, extra = self._resolved(request, places)
        return self._program(request, loads, solver), extra

    def batch(self, request: Request, places: Places, wait: bool = True) -> Optional[Batch]:
        """
        Return a function over many samples, and the values of payloads and gravity.

        Args:
            request: The function.
            places: Where wrenches act.
            wait: Whether to make it; otherwise None says that this would be needed.
        """
        found = self._batches.get((request, places))
        if found is None:
            program, extra = self.program(request, places)
            if not wait and not program.is_batch_ready():
                return None
            constants = tuple(np.array(values) for values in extra)
            found = self._batches[request, places] = (program.batch(), constants)
        return found

    def _program(self, request: Request, loads: Loads, solver: str) -> KernelProgram:
        robot = self._robot
        inputs = (*inputs_of(robot, [request]), *loads.inputs())
        takes_position = bool(inputs) and inputs[0].name == 'q'
        return self._as_program(
            ('dynamics', *key_of(self._digest, request, loads, solver)),
            lambda: self._trace(request, loads, solver),
            inputs, tuple(outputs_of(robot, request)),
            robot.quaternion_starts if takes_position else (),
        )

    def _trace(self, request: Request, loads: Loads, solver: str) -> Trace:
        """Return a function as the generated backends run it."""
        if self.traces is None:
            return traced(self._robot, request, loads, solver)
        key = key_of(self._digest, request, loads, solver)
        found = self.traces.pop(key, None) or traced(self._robot, request, loads, solver)
        if self.leaves_traces:
            self.traces[key] = found
        while len(self.traces) > MOST_TRACES:
            self.traces.pop(next(iter(self.traces)), None)
        return found

    def _make(self, request: Request, places: Places) -> tuple[Callable, tuple]:
        """Return a kernel; payloads and gravity are part of it without wrenches."""
        program, extra = self.program(request, places)
        if request.parameters:
            return _with_numbers(program.kernel()), extra
        if places:
            return program.kernel(), extra
        kernel = program.kernel([number for values in extra for number in values])
        if self.listener is not None and self._nv:
            self.listener(request, kernel)
        return kernel, ()


def _with_numbers(kernel: Any) -> Callable[..., Any]:
    """Return a kernel that takes numbers where it wants vectors of one."""

    def call(*arguments: Any) -> Any:
        return kernel(*((x,) if isinstance(x, float) else x for x in arguments))

    return call


def _with_exact(name: str) -> Callable[..., Any]:
    """Return a method that leaves results that are not finite to the reference backend."""
    method = getattr(PythonBackend, name)

    def call(self: KernelBackend, *arguments: Any) -> Any:
        try:
            return method(self, *arguments)
        except ArithmeticError:
            return getattr(self._exact, name)(*arguments)

    call.__name__ = name
    call.__doc__ = method.__doc__
    return call


for _name in (
    'inverse_dynamics', 'inverse_dynamics_derivatives', 'inverse_dynamics_parameter_derivatives',
    'mass_matrix', 'bias_vector', 'gravity_vector', 'coriolis_vector',
    'inertia_vector', 'external_force_vector', 'friction_vector', 'elastic_vector', 'frame_pose',
    'jacobian', 'jacobian_rate_qd', 'kinetic_energy', 'potential_energy', 'loop_poses',
    'loop_jacobian', 'loop_bias', 'loop_equations',
):
    setattr(KernelBackend, _name, _with_exact(_name))
