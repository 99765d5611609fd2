# SPDX-License-Identifier: Apache-2.0
"""
Bodies for one sample and for two side by side.

In pairs each register, slot and number is two; functions are called for one after the other.
"""

from __future__ import annotations

from typing import Mapping
from typing import Sequence

from flexdyn_ros.codegen.emitting.numbers_table import fixed_place
from flexdyn_ros.codegen.emitting.numbers_table import LARGEST
from flexdyn_ros.codegen.emitting.numbers_table import NOT_A_NUMBER
from flexdyn_ros.codegen.emitting.numbers_table import NumbersTable
from flexdyn_ros.codegen.emitting.numbers_table import ZERO
from flexdyn_ros.codegen.emitting.operations import Operation
from flexdyn_ros.codegen.emitting.operations import Value
from flexdyn_ros.codegen.emitting.sse2_assignment import Body
from flexdyn_ros.codegen.emitting.sse2_assignment import REACH
from flexdyn_ros.codegen.emitting.sse2_assignment import RESULTS
from flexdyn_ros.codegen.emitting.sse2_assignment import StraightCode
from flexdyn_ros.codegen.emitting.x86_encoding import Memory
from flexdyn_ros.codegen.emitting.x86_encoding import PAIR
from flexdyn_ros.codegen.emitting.x86_encoding import Place
from flexdyn_ros.codegen.emitting.x86_encoding import SCALAR
from flexdyn_ros.dynamics.scalar import PiecewisePolynomial

# Slots of pairs: what was wrong, a function's argument, its result.
WRONG, ARGUMENT, RESULT = range(3)


def body_of(
    steps: Sequence[Operation], results: int, numbers: NumbersTable,
    tables: Mapping[str, PiecewisePolynomial], lanes: int,
) -> Body:
    """
    Return the instructions of steps.

    Args:
        steps: What to do, see `plain_steps.py`.
        results: How many results they store.
        numbers: Where numbers lie.
        tables: Piecewise polynomials by the names of their functions.
        lanes: 1, or 2 for pairs of samples.
    """
    code = (_Single if lanes == 1 else _Pairs)(steps, numbers)
    return code.body(results, tables)


class _Single(StraightCode):
    """One sample: what is wrong ends it."""

    size, prefix, own_slots = 8, SCALAR, 0
    _n_labels = 0

    def _move(self, source: Place, target: Place) -> None:
        if isinstance(target, Memory):
            assert isinstance(source, int)
            self._code.store(source, target)
        elif isinstance(source, Memory):
            self._code.load(source, target)
        else:
            self._code.pairs('movapd', source, target)

    def _end(self, results: int, frame: int) -> None:
        super()._end(results, frame)
        self._code.mark('wrong')
        if results:
            self._code.load(fixed_place(NOT_A_NUMBER), 0)
            self._code.store(0, Memory(RESULTS, -REACH))
        super()._end(results, frame)

    def _call_all(self, function: str) -> None:
        self._call_one(function)
        if function == 'exp':
            self._code.pairs('ucomisd', fixed_place(LARGEST), 0)
            self._code.jump_if('ja', 'wrong')

    def _check_zero(self, register: int, kept: Sequence[Value]) -> None:
        self._n_labels += 1
        label = f'not zero {self._n_labels}'
        self._code.pairs('ucomisd', fixed_place(ZERO), register)
        self._code.jump_if('jp', label)
        self._code.jump_if('je', 'wrong')
        self._code.mark(label)


class _Pairs(StraightCode):
    """Two samples: what is wrong with either is remembered until the end."""

    size, prefix, own_slots = 16, PAIR, 3

    def _begin(self) -> None:
        self._code.pairs('xorpd', 0, 0)
        self._code.store_pair(0, self._own_slot(WRONG))

    def _end(self, results: int, frame: int) -> None:
        if results:  # all ones, which is not a number, where something is wrong
            self._code.pairs('movapd', self._own_slot(WRONG), 0)
            self._code.pairs('orpd', Memory(RESULTS, -REACH), 0)
            self._code.store_pair(0, Memory(RESULTS, -REACH))
        super()._end(results, frame)

    def _move(self, source: Place, target: Place) -> None:
        if isinstance(target, Memory):
            assert isinstance(source, int)
            self._code.store_pair(source, target)
        else:
            self._code.pairs('movapd', source, target)

    def _call_all(self, function: str) -> None:
        argument, result = self._own_slot(ARGUMENT), self._own_slot(RESULT)
        self._code.store_pair(0, argument)
        for offset in (0, 8):
            if offset:
                self._code.load(Memory(argument.base, argument.offset + offset), 0)
            self._call_one(function)
            self._code.store(0, Memory(result.base, result.offset + offset))
        self._code.pairs('movapd', result, 0)
        if function == 'exp':
            self._code.pairs('movapd', fixed_place(LARGEST), 1)
            self._code.compare('less', 0, 1)
            self._remember(1)

    def _check_zero(self, register: int, kept: Sequence[Value]) -> None:
        free = self._allocate(kept)
        self._code.pairs('movapd', register, free)
        self._code.compare('equal', fixed_place(ZERO), free)
        self._remember(free)

    def _remember(self, register: int) -> None:
        self._code.pairs('orpd', self._own_slot(WRONG), register)
        self._code.store_pair(register, self._own_slot(WRONG))
