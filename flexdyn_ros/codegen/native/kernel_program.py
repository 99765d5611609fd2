# SPDX-License-Identifier: Apache-2.0
"""A traced program that becomes a kernel of `runtime/kernel.c`: compiled, or interpreted."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any
from typing import Callable
from typing import Sequence

from flexdyn_ros.codegen.emitting.batch_loop import DOUBTFUL_PIVOT
from flexdyn_ros.codegen.tracing.interface import Input
from flexdyn_ros.codegen.tracing.interface import Output
from flexdyn_ros.codegen.tracing.interface import Trace


@dataclass(frozen=True)
class KernelProgram(ABC):
    """
    A program that is made once, kept on disk, and called as a kernel.

    Attributes:
        key: What the trace depends on, such as a model's digest and a function's name.
        produce: Makes the trace; called only where the cache does not have the program.
        inputs: The trace's inputs.
        outputs: Its results, pivots left out.
        quaternions: Where quaternions start in the first input.
    """

    key: tuple[str, ...]
    produce: Callable[[], Trace]
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    quaternions: tuple[int, ...] = ()

    @abstractmethod
    def kernel(self, constants: Sequence[float] = ()) -> Any:
        """
        Return the function of one sample.

        It takes lists of floats and gives nested lists, one for each result, in a tuple where
        there are several; an ArithmeticError says that they are not finite, or that a pivot
        is in doubt.

        Args:
            constants: Numbers of the last inputs, which are then no arguments.
        """

    @abstractmethod
    def batch(self) -> Callable[..., None]:
        """Return a function of (count, inputs, strides, outputs, flags, threads)."""

    @abstractmethod
    def is_batch_ready(self) -> bool:
        """Return whether the function over samples was made before."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Return whether it was made before, in this process or another."""


def made_kernel(
    calls: Any, function: Any, program: KernelProgram, constants: Sequence[float], pivots: int
) -> Any:
    """
    Return a kernel.

    Args:
        calls: What has kernels: the extension, or `ctypes_calls`.
        function: Address of a compiled function, or a program of the extension.
        program: Says what goes in and comes out.
        constants: See `KernelProgram.kernel`.
        pivots: Number of pivots after the results.
    """
    sizes = [len(each.symbols) for each in program.inputs]
    left = len(constants)
    while left > 0:
        left -= sizes.pop()
    shapes = tuple(output.shape for output in program.outputs)
    return calls.Kernel(
        function, tuple(sizes), tuple(map(float, constants)), shapes, pivots,
        tuple(program.quaternions), DOUBTFUL_PIVOT,
    )
