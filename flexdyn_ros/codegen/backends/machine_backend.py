# SPDX-License-Identifier: Apache-2.0
"""
The "python" backend on Linux and x86-64: the same programs as machine code of our own.

No compiler is needed, nor the extension, and the results are those of CPython bit for bit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flexdyn_ros.codegen.backends.generated_functions import FLAT
from flexdyn_ros.codegen.backends.kernel_backend import KernelBackend
from flexdyn_ros.codegen.native.extension import extension
from flexdyn_ros.codegen.native.kernel_program import KernelProgram
from flexdyn_ros.codegen.native.machine_program import MachineProgram
from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.codegen.tracing.loads import Loads


class MachineBackend(KernelBackend):
    """Evaluates one robot under one gravity and one set of payloads by machine code."""

    runs_on = 'machine code'
    times_c = 1.4

    def _program(self, request: Request, loads: Loads, solver: str) -> KernelProgram:
        found = super()._program(request, loads, solver)
        if request.name not in FLAT or extension(build=False) is not None:
            return found
        # Lists of all numbers are delivered faster than lists of rows.
        return replace(found, outputs=tuple(
            replace(output, shape=(output.size,)) for output in found.outputs
        ))

    def _as_program(self, *parts: Any) -> MachineProgram:
        return MachineProgram(*parts)
