# SPDX-License-Identifier: Apache-2.0
"""Functions of Dynamics over many samples at once: vectors of lanes, threads, no interpreter."""

from __future__ import annotations

from functools import lru_cache
from inspect import Parameter, Signature, signature
import os
from typing import Any, Callable, Mapping, Optional, Sequence

from flexdyn_ros.arguments import one_of, real_numbers, refuse_infinite, target, targets
from flexdyn_ros.checked_arguments import Wrenches, wrenches_by_frame
from flexdyn_ros.codegen.backends.generated import GeneratedBackend
from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.dynamics.functions import FUNCTIONS, result_shape, SOLVING_METHODS
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.evaluation import Evaluation
import numpy as np

THREADS_VARIABLE = 'FLEXDYN_THREADS'
# Samples below which a thread of its own does not pay.
SAMPLES_OF_A_THREAD = 1024
# Functions that go over many samples.
BATCHED = {
    name: function for name, function in FUNCTIONS.items()
    if not function.of_loops and not function.of_parameters
}
# Parameters of methods that their batches do not have.
NO_ARGUMENTS = ('self', 'base_acceleration', 'loop_accelerations', 'loop_forces')


class BatchDynamics:
    """
    The functions of a Dynamics over N samples.

    Each function is a method with the arguments of the same method of `Dynamics`: vectors, a
    frame, `wrenches`, `out`, and `method` for forward dynamics. Vectors have one row a sample;
    results have one entry a sample: (N, nv), matrices (N, nv, nv), energies (N,). A wrench is one
    for all samples, (6,), or one for each, (N, 6). Payloads and gravity are those of the Dynamics.
    Compiled code takes several samples at once and shares them among threads ($FLEXDYN_THREADS, by
    default one for each processor). Other Python threads run meanwhile. The other backends go
    through the samples one by one.
    """

    def __init__(self, dyn: Evaluation):
        """Take the dynamics of a robot."""
        self._dyn = dyn

    def __getattr__(self, name: str) -> BatchFunction:
        """Return one of the functions over samples."""
        if name not in BATCHED:
            raise AttributeError(f'{type(self).__name__} has no function "{name}"')
        return BatchFunction(self._dyn, name)

    def __dir__(self) -> list[str]:
        """Return the names of the functions."""
        return sorted({*super().__dir__(), *BATCHED})


class BatchFunction:
    """One function of a robot over samples."""

    def __init__(self, dyn: Evaluation, name: str):
        """Take the dynamics of a robot and the name of a function."""
        self._dyn, self.__name__ = dyn, name
        self._function, self._written = BATCHED[name], dyn._written[name]
        self.__signature__ = _signature(self._written)
        self.__doc__ = f'Return {self._function.summary}, one entry a sample.'

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Evaluate the function over all samples; see `BatchDynamics`."""
        given = _bound(self._written, arguments, named)
        method = given.get('method', 'auto')
        one_of('method', method, SOLVING_METHODS)
        dyn = self._dyn
        frame = dyn._frame(given['frame']) if self._function.of_frame else None
        samples = _sample_rows({name: given[name] for name in self._function.inputs}, dyn._width)
        count = len(next(iter(samples.values())))
        loads = _sample_wrenches(given.get('wrenches'), count, dyn._frame)
        shapes = [
            (count, *result_shape(kind, dyn._nv, dyn._n_joints))
            for _, kind in self._function.outputs
        ]
        single = len(shapes) == 1
        outs = [given['out']] if single else targets(given['out'], len(shapes))
        results = [
            np.empty(shape) if each is None else target(each, shape)
            for each, shape in zip(outs, shapes)
        ]
        taken = (*samples.values(), *loads.values())
        aside = [np.empty(each.shape) if _must_copy(each, taken) else each for each in results]
        doubtful: Sequence[int] = range(count)
        made = self._compiled(method, frame, loads) if count else None
        if made is not None:
            function, constants = made
            inputs = [*samples.values(), *constants, *loads.values()]
            strides = [
                *(each.shape[1] for each in samples.values()), *(0 for _ in constants),
                *(6 if each.ndim == 2 else 0 for each in loads.values()),
            ]
            flags = np.empty(count, dtype=np.uint8)
            function(count, inputs, strides, aside, flags, _threads(count))
            doubtful = np.flatnonzero(flags).tolist() if flags.any() else ()
        if doubtful:
            for name, rows in samples.items():
                refuse_infinite(name, rows)
        for k in doubtful:
            # A call of its own, with the errors of one.
            for result, value in zip(aside, self._one(k, samples, loads, given)):
                result[k] = value
        for result, found in zip(results, aside):
            if result is not found:
                result[...] = found
        return results[0] if single else tuple(results)

    def _one(
        self, k: int, samples: Mapping[str, np.ndarray], loads: Mapping[str, np.ndarray],
        given: Mapping[str, Any],
    ) -> tuple[np.ndarray, ...]:
        """Return the results of one sample."""
        arguments = {**given, **{name: rows[k] for name, rows in samples.items()}, 'out': None}
        if 'wrenches' in given:
            arguments['wrenches'] = {f: w if w.ndim == 1 else w[k] for f, w in loads.items()}
        found = getattr(self._dyn, self.__name__)(**arguments)
        return (found,) if len(self._function.outputs) == 1 else found

    def _compiled(
        self, method: str, frame: Optional[str], loads: Mapping[str, np.ndarray]
    ) -> Optional[tuple[Callable[..., None], list[np.ndarray]]]:
        """Return a compiled function over samples and its constants, None where there is none."""
        backend = self._dyn._backend
        if not isinstance(backend, GeneratedBackend) or self._dyn._replaces(self.__name__):
            return None
        if self._dyn.robot.loops and self._function.by_rank:
            return None  # loops are solved by rank, sample by sample
        places = tuple((each, None) for each in loads)
        made = backend.batch(Request(self.__name__, frame), places, method)
        if made is None:
            return None
        function, variant = made
        return function, [np.array(values) for values in variant.constants.values()]


@lru_cache(maxsize=None)
def _signature(written: Callable[..., Any]) -> Signature:
    """Return the arguments of a method of Dynamics without those that its batch does not take."""
    return Signature([
        each.replace(annotation=Parameter.empty)
        for name, each in signature(written).parameters.items() if name not in NO_ARGUMENTS
    ])


@lru_cache(maxsize=None)
def _defaults(written: Callable[..., Any]) -> dict[str, Any]:
    """Return the arguments of a method with their defaults, in their order."""
    return {each.name: each.default for each in _signature(written).parameters.values()}


def _bound(
    written: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """
    Return all arguments of a call by name.

    `Signature.bind` takes as long as hundreds of samples, so that it raises the errors alone.
    """
    defaults = _defaults(written)
    places = tuple(defaults)[: len(arguments)]
    given = {**defaults, **dict(zip(places, arguments)), **named}
    fits = (
        len(places) == len(arguments) and len(given) == len(defaults)
        and named.keys().isdisjoint(places)
        and all(value is not Parameter.empty for value in given.values())
    )
    if not fits:
        _signature(written).bind(*arguments, **named)
    return given


def _threads(count: int) -> int:
    """Return the number of threads that share samples."""
    try:
        wanted = int(os.environ.get(THREADS_VARIABLE, ''))
    except ValueError:
        affinity = getattr(os, 'sched_getaffinity', None)
        wanted = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(wanted, count // SAMPLES_OF_A_THREAD))


def _sample_rows(
    vectors: Mapping[str, Any], width_of: Callable[[str], int]
) -> dict[str, np.ndarray]:
    """
    Return the arguments as arrays of rows, with as many rows each.

    Args:
        vectors: Arguments by name, (N, width).
        width_of: Returns the width of one by its name.

    Raises:
        ArgumentError: If an argument has another shape.
    """
    found: dict[str, np.ndarray] = {}
    count: Optional[int] = None
    for name, value in vectors.items():
        width = width_of(name)
        rows = _packed(real_numbers(name, value, f'(N, {width})'))
        if rows.ndim != 2 or rows.shape[1] != width:
            raise ArgumentError(name, f'has shape {rows.shape}, expected (N, {width})')
        if count is not None and len(rows) != count:
            first = next(iter(found))
            raise ArgumentError(
                name, f'has {len(rows)} samples, expected {count} as in "{first}"'
            )
        count, found[name] = len(rows), rows
    return found


def _packed(numbers: np.ndarray) -> np.ndarray:
    """Return numbers as compiled code reads them: one after the other, aligned."""
    flags = numbers.flags
    plain = flags.c_contiguous and flags.aligned
    return numbers if plain else np.require(numbers, requirements=('C', 'A'))


def _sample_wrenches(
    wrenches: Wrenches, count: int, known: Callable[[str], str]
) -> dict[str, np.ndarray]:
    """
    Return wrenches, each (6,) or (N, 6), in the order of their frames.

    Args:
        wrenches: By frame, or None.
        count: Number of samples, N.
        known: Returns a frame's name, or raises UnknownName.

    Raises:
        ArgumentError: If they are no wrenches of so many samples.
    """
    found = {}
    given = wrenches_by_frame(wrenches)
    for frame in sorted(given, key=str):  # those that are no names are refused below
        argument, shapes = f'wrenches["{frame}"]', f'(6,) or ({count}, 6)'
        numbers = _packed(real_numbers(argument, given[frame], shapes))
        if numbers.shape not in ((6,), (count, 6)):
            raise ArgumentError(argument, f'has shape {numbers.shape}, expected {shapes}')
        refuse_infinite(argument, numbers)
        found[known(frame)] = numbers
    return found


def _must_copy(out: np.ndarray, inputs: tuple[np.ndarray, ...]) -> bool:
    """Return whether a result has to be found elsewhere first."""
    plain = out.flags.c_contiguous and out.flags.aligned and out.dtype.isnative
    return not plain or any(np.may_share_memory(out, each) for each in inputs)
