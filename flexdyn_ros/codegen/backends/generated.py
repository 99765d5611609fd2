# SPDX-License-Identifier: Apache-2.0
"""
The backends "python", "c" and "auto": functions generated when first used.

Results that are not finite, or come out of a doubtful pivot, are left to the reference algorithms.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
import logging
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from flexdyn_ros.codegen.backends.executors import CExecutor, Executor, PythonExecutor
from flexdyn_ros.codegen.backends.variants import (
    CompiledAhead,
    Floats,
    ordered_wrenches,
    Places,
    Variant,
    Variants,
)
from flexdyn_ros.codegen.compile.cache import model_digest
from flexdyn_ros.codegen.compile.compiler import CompilationFailed, NoCompiler
from flexdyn_ros.codegen.compile.program import NativeFunction
from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.codegen.tracing.parameters import ChosenParameters
from flexdyn_ros.dynamics.functions import FUNCTIONS
from flexdyn_ros.dynamics.newton_euler import FrameWrench
from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.robot import Robot

# Coordinates up to which "auto" generates a function at its first call: values and derivatives.
MOST_FOR_VALUES, MOST_FOR_DERIVATIVES = 40, 12

_logger = logging.getLogger('flexdyn_ros.codegen')
# The result of the executor: "function", "batch" or "native"; of a function, where its wrenches
# act, and its method.
Key = tuple[str, Request, Places, str]
# A function over many samples, see `ctypes_calls.Batch`, and its variant.
Batch = tuple[Callable[..., None], Variant]


class GeneratedBackend:
    """Evaluates one robot under one gravity and one set of payloads by generated code."""

    def __init__(
        self,
        robot: Robot,
        gravity: Floats,
        payloads: Mapping[str, Inertia],
        executor: Executor,
        automatic: bool = False,
        ahead: Optional[CompiledAhead] = None,
        digest: str = '',
    ):
        """
        Prepare; code is generated at its first use.

        Args:
            robot: The robot.
            gravity: Acceleration of gravity in the root frame, (3,) [m/s^2].
            payloads: Inertia in link axes by link name.
            executor: The executor.
            automatic: Whether large functions that were not compiled ahead are the reference's,
                and Python takes over where compiling fails.
            ahead: The request of `Dynamics.compile`.
            digest: Digest of the robot where it is known.
        """
        self._robot, self._gravity, self._payloads = robot, list(gravity), dict(payloads)
        self._executor, self._automatic = executor, automatic
        self._digest = digest or model_digest(robot)
        self._ahead = CompiledAhead() if ahead is None else ahead
        self._variants = Variants(robot, self._digest, gravity, payloads, self._ahead)
        # None where the reference computes it, as a coordinate meets no inertia.
        self._made: dict[Key, Any] = {}
        self._reference: Optional[ReferenceBackend] = None

    @property
    def name(self) -> str:
        """Name of the executor in use."""
        return self._executor.name

    @property
    def exact(self) -> ReferenceBackend:
        """The reference algorithms under the same loads, which compute doubtful results."""
        if self._reference is None:
            self._reference = ReferenceBackend(self._robot, self._gravity, self._payloads)
        return self._reference

    def under(self, gravity: Floats, payloads: Mapping[str, Inertia]) -> GeneratedBackend:
        """Return a backend of the same robot under other gravity and payloads."""
        return GeneratedBackend(
            self._robot, gravity, payloads, self._executor, self._automatic, self._ahead,
            self._digest,
        )

    def evaluate(
        self,
        name: str,
        vectors: Sequence[Floats],
        frame: Optional[str] = None,
        parameters: Optional[ChosenParameters] = None,
        wrenches: Sequence[FrameWrench] = (),
        method: str = 'auto',
    ) -> Any:
        """Return the results of a function; see `ReferenceBackend.evaluate`."""
        request = Request(name, frame, () if parameters is None else parameters.parameters)
        chosen = () if parameters is None else parameters.arguments()
        found = self._sound(request, vectors, wrenches, chosen, method)
        if found is None:
            return self.exact.evaluate(name, vectors, frame, parameters, wrenches, method)
        return found

    def closed(
        self, name: str, vectors: Sequence[Floats], settings: tuple[float, ...],
        wrenches: Sequence[FrameWrench] = (),
    ) -> Any:
        """Return the results of a function with loops, None where it is not sound."""
        return self._sound(Request(name, settings=settings), vectors, wrenches)

    def _sound(
        self, request: Request, vectors: Sequence[Floats], wrenches: Sequence[FrameWrench],
        chosen: Sequence[Any] = (), method: str = 'auto',
    ) -> Any:
        """Return the results of generated code, None where there is none or it is not sound."""
        ordered = ordered_wrenches(wrenches)
        places = tuple((wrench.frame, wrench.axes) for wrench in ordered)
        function = self.function(request, places, method)
        if function is None:
            return None
        try:
            loads = [(*wrench.force, *wrench.moment) for wrench in ordered]
            return function(*vectors, *loads, *chosen)
        except FlexdynError:
            raise
        except (ArithmeticError, ValueError):
            return None

    def function(
        self, request: Request, places: Places = (), method: str = 'auto'
    ) -> Optional[Callable]:
        """
        Return a generated function, or None where the reference computes it.

        Args:
            request: The function.
            places: Frames of the wrenches, and their axes.
            method: Method that solves for accelerations.
        """
        return self._found('function', request, places, method)[0]

    def batch(
        self, request: Request, places: Places = (), method: str = 'auto'
    ) -> Optional[Batch]:
        """Return a function over many samples and its variant, or None where there is none."""
        made, variant = self._found('batch', request, places, method)
        return None if made is None else (made, variant)

    def native(self, request: Request, places: Places = ()) -> Optional[NativeFunction]:
        """Return a function as compiled code calls it, or None; see `function`."""
        return self._found('native', request, places, 'auto')[0]

    def _found(self, what: str, request: Request, places: Places, method: str) -> Any:
        """Return the executor's result for a function, and its variant, or None for either."""
        key = (what, request, places, method)
        if key not in self._made and self._is_generated(request):
            variant = self._variants.variant(request, places, method)
            self._made[key] = self._make(lambda: getattr(self._executor, what)(variant)), variant
        return self._made.get(key, (None, None))

    def compile(self, request: Request, places: Places = (), batch: bool = False) -> None:
        """Make a function now, for a robot of any size."""
        if self._robot.nv:
            for each in {request, request.traced}:
                self._ahead.requests.add(each)
                self.function(each, places)
            if batch:
                self.batch(request, places)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return one of the functions, with the arguments of the reference's method."""
        if name in FUNCTIONS:
            return partial(self._positional, name)
        if name.startswith('_'):
            raise AttributeError(name)
        return getattr(self.exact, name)

    def _positional(self, name: str, *arguments: Any) -> Any:
        function, rest = FUNCTIONS[name], list(arguments)
        vectors, rest = rest[: len(function.inputs)], rest[len(function.inputs):]
        frame = rest.pop(0) if function.of_frame else None
        parameters = rest.pop(0) if function.of_parameters else None
        wrenches = rest.pop(0) if function.takes_wrenches and rest else ()
        return self.evaluate(name, vectors, frame, parameters, wrenches, *rest)

    def _is_generated(self, request: Request) -> bool:
        """Return whether generated code computes a function; warn once of each left out."""
        function = FUNCTIONS[request.name]
        if not self._robot.nv or (function.of_parameters and not request.parameters):
            return False
        # At compilation ahead, the parameters of such derivatives are not chosen yet.
        if not self._automatic or replace(request.traced, parameters=()) in self._ahead.requests:
            return True
        derives = function.derives or function.of_parameters
        most = MOST_FOR_DERIVATIVES if derives else MOST_FOR_VALUES
        if self._robot.nv <= most:
            return True
        asked = f'{request.name}:{request.frame}' if request.frame else request.name
        _warn_of_size(self._robot.name, asked, self._robot.nv, most)
        return False

    def _make(self, make: Callable[[], Any]) -> Any:
        """
        Return the executor's result, or None where a coordinate meets no inertia.

        Python takes over from "auto" if compiling fails.
        """
        try:
            return make()
        except ArithmeticError:  # a pivot of the trace is the number zero
            return None
        except CompilationFailed as error:
            if not self._automatic:
                raise
            _logger.warning('Compiling failed, so the backend "python" replaces compiled code. '
                            '%s', error)
            self._executor = PythonExecutor()
            self._made.clear()
            return self._make(make)


Backend = Union[GeneratedBackend, ReferenceBackend]


def generated_backend(
    kind: str,
    robot: Robot,
    gravity: Floats,
    payloads: Mapping[str, Inertia],
    ahead: Optional[CompiledAhead] = None,
) -> GeneratedBackend:
    """
    Return the backend "c", "python" or "auto" of a robot.

    Args:
        kind: Name of the backend.
        robot: The robot.
        gravity: Acceleration of gravity in the root frame, (3,) [m/s^2].
        payloads: Inertia in link axes by link name.
        ahead: The request of `Dynamics.compile`.

    Raises:
        NoCompiler: "c" is chosen and there is no C compiler.
    """
    executor: Executor
    if kind == 'python':
        executor = PythonExecutor()
    else:
        try:
            executor = CExecutor()
        except NoCompiler as error:
            if kind == 'c':
                raise
            _warn_of_no_compiler(str(error))
            executor = PythonExecutor()
    return GeneratedBackend(robot, gravity, payloads, executor, kind == 'auto', ahead)


@lru_cache(maxsize=None)
def _warn_of_no_compiler(problem: str) -> None:
    _logger.warning(
        'The backend is "python", run by CPython, some 30 times slower than "c". %s', problem
    )


@lru_cache(maxsize=None)
def _warn_of_size(robot: str, function: str, count: int, most: int) -> None:
    _logger.warning(
        'Robot "%s" has %d coordinates: "auto" generates %s up to %d of them, so the slow '
        'reference answers. Call dyn.compile("%s") once to compile it; that may take minutes.',
        robot, count, function, most, function,
    )
