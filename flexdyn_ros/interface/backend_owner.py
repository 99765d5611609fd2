# SPDX-License-Identifier: Apache-2.0
"""A robot's backend: which one, its direct calls, and what a copy of its owner takes along."""

from __future__ import annotations

from typing import Any
from typing import ClassVar
from typing import Iterable
from typing import Optional
from typing import Union
from weakref import ref

from flexdyn_ros.closed_chains.chains import ClosedChains
from flexdyn_ros.codegen.backends.c_backend import CBackend
from flexdyn_ros.codegen.backends.patient_backend import PatientBackend
from flexdyn_ros.codegen.backends.python_backend import PythonBackend
from flexdyn_ros.codegen.backends.without_compiler import python_backend
from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.dynamics.influence_approximations import Approximations
from flexdyn_ros.dynamics.influence_backend import InfluenceBackend
from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.interface.arguments import Evaluation
from flexdyn_ros.interface.arguments import quick_evaluation
from flexdyn_ros.interface.checked_arguments import CheckedArguments
from flexdyn_ros.interface.direct_calls import DirectCalls
from flexdyn_ros.interface.direct_calls import HandOver
from flexdyn_ros.interface.direct_calls import OPEN_METHODS
from flexdyn_ros.model.records.robot import require_robot
from flexdyn_ros.model.records.robot import Robot

BACKENDS = ('auto', 'c', 'python', 'reference')
RECURSIVE, INFLUENCE = FORMULATIONS = ('recursive', 'kinematic_influence')
Backend = Union[PatientBackend, CBackend, PythonBackend, ReferenceBackend]


class BackendOwner(CheckedArguments):
    """
    Holds the backend of a robot under the present loads.

    Compiled functions answer for methods of this object: these find them in the slot `_kernels`,
    see `direct_calls.py`.
    """

    __slots__ = ('_kernels',)
    _hand_over: ClassVar[HandOver]

    def __init__(
        self,
        robot: Robot,
        backend: str,
        patient: bool,
        formulation: str = RECURSIVE,
        approximations: Union[str, Iterable[str]] = (),
    ):
        """
        Prepare a backend; `Dynamics` says what the arguments are.

        Raises:
            ArgumentError: If there is no such backend, formulation or approximation, or they do
                not go together.
            NoCompiler: If "c" is asked for and there is no C compiler.
        """
        require_robot(robot)
        if backend not in BACKENDS:
            raise ArgumentError('backend', f'is "{backend}", expected one of {BACKENDS}')
        self._formulation = formulation
        self._approximations = _checked_approximations(formulation, approximations, backend)
        super().__init__(robot)
        self._gravity = list(robot.gravity_vector)
        self._payloads = {payload.link: payload.inertia for payload in robot.payloads}
        self._closed = ClosedChains(robot) if robot.loops else None
        self._kind, self._patient = backend, bool(patient)
        self._forget_direct_calls()
        self._backend: Backend = self._new_backend()

    @property
    def backend(self) -> str:
        """Name of the backend in use."""
        return self._backend.name

    @property
    def formulation(self) -> str:
        """Name of the formulation in use."""
        return self._formulation

    def _new_backend(self) -> Backend:
        given = (self.robot, self._gravity, self._payloads)
        if self._formulation == INFLUENCE:
            return InfluenceBackend(*given, self._approximations)
        if self._kind == 'reference':
            return ReferenceBackend(*given)
        # Weakly, so that a backend does not keep its owner alive.
        owner = ref(self)

        def listener(request: Request, kernel: Any) -> None:
            dyn = owner()
            if dyn is not None:
                dyn._call_directly(request, kernel)

        if self._kind == 'python':
            return python_backend(*given, listener)
        if self._kind == 'c':
            return CBackend(*given, listener=listener)
        return PatientBackend(*given, listener=listener, patient=self._patient)

    def _exact(self) -> ReferenceBackend:
        """Return the reference backend under the present loads."""
        if isinstance(self._backend, InfluenceBackend):
            return self._backend
        return ReferenceBackend(self.robot, self._gravity, self._payloads)

    def _rebuild(self) -> None:
        self._forget_direct_calls()
        self._backend = self._backend.under(self._gravity, self._payloads)

    def _call_directly(self, request: Request, kernel: Any) -> None:
        """Let a compiled function answer for its method."""
        closed = self._closed is not None and request.name.partition('/')[0] in OPEN_METHODS
        make = None if closed else self._direct.add(request, kernel)
        if make is not None:
            self._hand_over(make)

    def _forget_direct_calls(self) -> None:
        self._direct = DirectCalls()
        self._kernels = self._direct.kernels
        self._quick: Optional[Evaluation] = None

    def _quick_inverse_dynamics(self) -> Optional[Evaluation]:
        """Return generated Python that takes arrays, where it is made."""
        if isinstance(self._backend, (PythonBackend, PatientBackend)):
            prepared = self._backend.prepared('inverse_dynamics')
            if prepared is not None:
                return quick_evaluation(*prepared, self._nq, self._nv)
        return None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs; its backend is made anew."""
        left = ('_backend', '_direct', '_quick')
        return {name: value for name, value in self.__dict__.items() if name not in left}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what a copy needs."""
        self.__dict__.update(state)
        self._forget_direct_calls()
        self._backend = self._new_backend()


def _checked_approximations(
    formulation: str, approximations: Union[str, Iterable[str]], backend: str
) -> Approximations:
    """Return the approximations by these names where all three choices go together."""
    if formulation not in FORMULATIONS:
        raise ArgumentError('formulation', f'is "{formulation}", expected one of {FORMULATIONS}')
    found = Approximations.named(approximations)
    if formulation == INFLUENCE:
        if backend not in ('auto', 'reference'):
            raise ArgumentError(
                'formulation', f'is "{INFLUENCE}", which is not compiled, and backend is '
                f'"{backend}"; leave backend out or use backend="reference"',
            )
    elif any(found):
        raise ArgumentError(
            'approximations', f'are those of formulation="{INFLUENCE}", and formulation is '
            f'"{formulation}"',
        )
    return found
