# SPDX-License-Identifier: Apache-2.0
"""The "c" backend: generated C, compiled function by function when first used."""

from __future__ import annotations

from typing import Any
from typing import Callable
from typing import cast
from typing import Mapping
from typing import Optional

from flexdyn_ros.codegen.compiler import Compiler
from flexdyn_ros.codegen.compiler import find_compiler
from flexdyn_ros.codegen.functions import Request
from flexdyn_ros.codegen.kernel_backend import KernelBackend
from flexdyn_ros.codegen.kernel_backend import Listener
from flexdyn_ros.codegen.native import BATCH
from flexdyn_ros.codegen.native import NativeProgram
from flexdyn_ros.codegen.variants import Floats
from flexdyn_ros.codegen.variants import Places
from flexdyn_ros.model.link import Inertia
from flexdyn_ros.model.robot import Robot
import numpy as np

# A function of (count, inputs, strides, outputs, flags, threads), and its last inputs.
Batch = tuple[Callable[..., None], tuple[np.ndarray, ...]]


class CBackend(KernelBackend):
    """Evaluates one robot under one gravity and one set of payloads by compiled code."""

    name = 'c'

    def __init__(
        self,
        robot: Robot,
        gravity: Floats,
        payloads: Mapping[str, Inertia],
        digest: Optional[str] = None,
        listener: Optional[Listener] = None,
    ):
        """
        Prepare; nothing is compiled before it is used.

        Args:
            robot: The robot.
            gravity: Acceleration of gravity in the root frame, (3,) [m/s^2].
            payloads: Inertia in link axes by link name.
            digest: Digest of the robot where it is known.
            listener: See KernelBackend.

        Raises:
            NoCompiler: If there is no C compiler.
        """
        super().__init__(robot, gravity, payloads, digest, listener)
        self.compiler: Compiler = find_compiler()
        self._batches: dict[tuple[Request, Places], Batch] = {}

    def _as_program(self, *parts: Any) -> NativeProgram:
        return NativeProgram(*parts)

    def batch(self, request: Request, places: Places, wait: bool = True) -> Optional[Batch]:
        """
        Return a function over many samples, and the values of payloads and gravity.

        Args:
            request: The function.
            places: Where wrenches act.
            wait: Whether to compile it; otherwise None says that this would be needed.
        """
        found = self._batches.get((request, places))
        if found is None:
            made, extra = self.program(request, places)
            program = cast(NativeProgram, made)
            if not wait and not program.is_ready(BATCH):
                return None
            constants = tuple(np.array(values) for values in extra)
            found = self._batches[request, places] = (program.batch(), constants)
        return found
