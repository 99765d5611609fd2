# SPDX-License-Identifier: Apache-2.0
"""The "c" backend: generated C, compiled function by function when first used."""

from __future__ import annotations

from typing import Any
from typing import Mapping
from typing import Optional

from flexdyn_ros.codegen.backends.kernel_backend import KernelBackend
from flexdyn_ros.codegen.backends.kernel_backend import Listener
from flexdyn_ros.codegen.backends.variants import Floats
from flexdyn_ros.codegen.native.compiler import Compiler
from flexdyn_ros.codegen.native.compiler import find_compiler
from flexdyn_ros.codegen.native.native_program import NativeProgram
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.robot import Robot


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
        Find the compiler; nothing is compiled before it is used. See KernelBackend.

        Raises:
            NoCompiler: If there is no C compiler.
        """
        super().__init__(robot, gravity, payloads, digest, listener)
        self.compiler: Compiler = find_compiler()

    def _as_program(self, *parts: Any) -> NativeProgram:
        return NativeProgram(*parts)
