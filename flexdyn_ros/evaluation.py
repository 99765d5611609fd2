# SPDX-License-Identifier: Apache-2.0
"""From a call of `Dynamics` to its backend: arguments checked, results delivered in arrays."""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from dataclasses import replace
from typing import Any, Callable, ClassVar, Mapping, Optional, Sequence

from flexdyn_ros.arguments import deliver, names as checked_names, targets
from flexdyn_ros.checked_arguments import CheckedArguments, Wrenches
from flexdyn_ros.closed_chains.chains import ClosedChains
from flexdyn_ros.closed_chains.loop_inputs import LoopInputs
from flexdyn_ros.codegen.backends.generated import Backend, GeneratedBackend
from flexdyn_ros.codegen.backends.variants import CompiledAhead, ordered_wrenches
from flexdyn_ros.codegen.compile.program import NativeFunction
from flexdyn_ros.codegen.tracing.functions import read_function, Request
from flexdyn_ros.codegen.tracing.parameters import choose_parameters, ChosenParameters
from flexdyn_ros.direct_calls import call_directly, forget_direct_calls, is_direct
from flexdyn_ros.dynamics.functions import FUNCTIONS, result_shape
from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.errors import require_known
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.robot import Robot
import numpy as np

# With loops, the functions from which derivatives are computed.
DERIVED = ('loop_equations', 'inverse_dynamics_derivatives', 'loop_derivatives')
# Functions about no frame and no parameters, which other compiled code may call.
NATIVE = tuple(
    name for name, each in FUNCTIONS.items() if not each.of_frame and not each.of_parameters)


class Evaluation(CheckedArguments):
    """
    Evaluates the functions of a robot by the backend under the present loads.

    Attributes:
        robot: The robot.
    """

    # The methods as `Dynamics` has them; those that a subclass replaces are never called directly.
    _written: ClassVar[Mapping[str, Callable[..., Any]]]

    def __init__(self, robot: Robot):
        """Take a robot with the loads of its description; the backend is made by the caller."""
        super().__init__(robot)
        self._gravity = list(robot.gravity_vector)
        self._payloads: dict[str, Inertia] = {each.link: each.inertia for each in robot.payloads}
        self._closed = ClosedChains(robot) if robot.loops else None
        self._chosen: dict[tuple[str, ...], ChosenParameters] = {}
        self._compiled_ahead = CompiledAhead()
        self._backend: Backend

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, whose backend is made anew."""
        state = {
            name: value for name, value in self.__dict__.items()
            if name != '_backend' and not is_direct(value)
        }
        state['_compiled_ahead'] = deepcopy(self._compiled_ahead)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of a copy."""
        self.__dict__.update(state)
        self._backend = self._new_backend()

    @abstractmethod
    def _new_backend(self) -> Backend:
        """Return a backend under the present loads."""

    def _evaluate(
        self,
        name: str,
        given: Sequence[Any],
        *,
        frame: Optional[str] = None,
        parameters: Optional[ChosenParameters] = None,
        wrenches: Wrenches = None,
        method: str = 'auto',
        out: Any = None,
        loop_inputs: Optional[LoopInputs] = None,
        base: Optional[Sequence[float]] = None,
    ) -> Any:
        """
        Return the results of a function: checked arguments, the backend, results in arrays.

        `loop_inputs` are accelerations and forces of loops, `base` that of a prescribed base.
        """
        function = FUNCTIONS[name]
        if function.of_frame:
            frame = self._frame(frame)
        vectors = list(map(self._vector, function.inputs, given))
        loads = self._checked(wrenches)
        count = 0 if parameters is None else len(parameters.values)
        shapes = [
            result_shape(kind, self._nv, self._n_joints, count) for _, kind in function.outputs
        ]
        single = len(shapes) == 1
        closed = self._closed if function.by_rank else None

        def compute() -> tuple[np.ndarray, ...]:
            if closed is not None:
                found = closed.evaluate(
                    self._backend, name, vectors, loads, loop_inputs, base, parameters
                )
            else:
                found = self._backend.evaluate(name, vectors, frame, parameters, loads, method)
            return tuple(
                np.asarray(each, dtype=float).reshape(shape)
                for each, shape in zip((found,) if single else found, shapes)
            )

        numbers = {**dict(zip(function.inputs, vectors)), 'base_acceleration': base or ()}
        results = self._sound(name, numbers, loads, compute)
        if parameters is None and len(loads) < 2:
            self._call_directly(name, frame, [wrench.frame for wrench in loads], method)
        if not single:
            return tuple(map(deliver, results, targets(out, len(shapes))))
        return float(results[0]) if not shapes[0] and out is None else deliver(results[0], out)

    def _call_directly(
        self, name: str, frame: Optional[str], loaded: Sequence[str], method: str
    ) -> None:
        """Let compiled code serve the next plain calls of a method, where there is some."""
        backend = self._backend
        if not isinstance(backend, GeneratedBackend) or backend.name != 'c':
            return
        if not self._is_compiled(name):
            return
        places = tuple((each, None) for each in loaded)
        kernel = backend.function(self._request(name, frame), places, method)
        written = self._written[name]
        if loaded:
            choices: list[Optional[str]] = [None] if method == 'auto' else []
        else:
            choices = [frame] if frame is not None else [method]
            choices += [None] if frame is None and method == 'auto' else []
        for choice in choices:
            call_directly(self, written, kernel, choice, loaded[0] if loaded else None)
        if self._backend is not backend:  # another thread has changed the loads meanwhile
            forget_direct_calls(self)

    def _loop_inputs(
        self, accelerations: Optional[Mapping[str, Any]], forces: Optional[Mapping[str, Any]]
    ) -> Optional[LoopInputs]:
        """Return the given accelerations and forces of loops, None for a robot without."""
        return None if self._closed is None else self._closed.inputs(accelerations, forces)

    def _replaces(self, name: str) -> bool:
        """Return whether a subclass has a method of its own, which batches and steps then call."""
        return getattr(type(self), name) is not self._written[name]

    def native(self, name: str, wrenches: Wrenches = None) -> Optional[NativeFunction]:
        """
        Return a function under the present loads as other compiled code calls it.

        Args:
            name: One of `NATIVE`.
            wrenches: Constant wrenches, see `Dynamics`; they become constants of the function.

        Returns:
            None where the backend is not "c", or a subclass replaces the method. Also where
            compiled code does not solve a function of a robot with loops.

        Raises:
            UnknownName: There is no such function, or no frame of a wrench.
        """
        require_known('native function', [name], NATIVE)
        loads = ordered_wrenches(self._checked(wrenches))
        backend = self._backend
        plain = self._is_compiled(name) and not self._replaces(name)
        if not isinstance(backend, GeneratedBackend) or not plain:
            return None
        places = tuple((each.frame, each.axes) for each in loads)
        found = backend.native(self._request(name), places)
        if found is None or not loads:
            return found
        numbers = [x for each in loads for x in (*each.force, *each.moment)]
        return replace(found, constants=(*numbers, *found.constants))

    def _requests(self, text: str) -> list[Request]:
        """Return the functions that a text names; with loops, those that it is computed from."""
        if self._closed is None:
            return read_function(self.robot, text)
        found: list[Request] = []
        for part in str(text).split('+'):
            name = part.strip()
            if name in FUNCTIONS and FUNCTIONS[name].solved:
                found.append(self._request(name))
            elif name in FUNCTIONS and FUNCTIONS[name].derives and FUNCTIONS[name].by_rank:
                found += map(Request, DERIVED)
            else:
                found += read_function(self.robot, part)
        return found

    def _request(self, name: str, frame: Optional[str] = None) -> Request:
        """Return a function as a request to the backend."""
        closed = self._closed if FUNCTIONS[name].solved else None
        return Request(name, frame, settings=() if closed is None else closed.settings)

    def _is_compiled(self, name: str) -> bool:
        """Return whether compiled code gives a function's results, on the backend "c"."""
        function = FUNCTIONS[name]
        return self._closed is None or function.solved or not function.by_rank

    def _parameters(self, names: Sequence[str]) -> ChosenParameters:
        key = checked_names('parameters', names)
        found = self._chosen.get(key)
        if found is None:
            found = self._chosen[key] = choose_parameters(self.robot, key)
        return found

    def _exact(self) -> ReferenceBackend:
        """Return the reference backend under the present loads."""
        backend = self._backend
        return backend.exact if isinstance(backend, GeneratedBackend) else backend

    def _change_loads(self) -> None:
        """Take the present gravity and payloads."""
        self._backend = self._backend.under(self._gravity, self._payloads)
        forget_direct_calls(self)
