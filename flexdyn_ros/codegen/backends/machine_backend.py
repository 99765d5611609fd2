# SPDX-License-Identifier: Apache-2.0
"""
The "python" backend on Linux and x86-64: the same programs as machine code of our own.

No compiler is needed, nor the extension, and the results are those of CPython bit for bit.
"""

from __future__ import annotations

from typing import Any

from flexdyn_ros.codegen.backends.kernel_backend import KernelBackend
from flexdyn_ros.codegen.native.machine_program import MachineProgram


class MachineBackend(KernelBackend):
    """Evaluates one robot under one gravity and one set of payloads by machine code."""

    runs_on = 'machine code'
    times_c = 1.4

    def _as_program(self, *parts: Any) -> MachineProgram:
        return MachineProgram(*parts)
