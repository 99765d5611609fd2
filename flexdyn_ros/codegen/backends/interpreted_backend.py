# SPDX-License-Identifier: Apache-2.0
"""
The "python" backend where the extension is there: the same programs, interpreted by it.

An operation then takes about one nanosecond instead of CPython's fifteen, and the results are
the same bit for bit. No compiler is needed.
"""

from __future__ import annotations

from typing import Any

from flexdyn_ros.codegen.backends.kernel_backend import KernelBackend
from flexdyn_ros.codegen.native.interpreted_program import InterpretedProgram


class InterpretedBackend(KernelBackend):
    """Evaluates one robot under one gravity and one set of payloads by instructions."""

    runs_on = "the extension's interpreter"
    times_c = 3.0
    leaves_traces = True

    def _as_program(self, *parts: Any) -> InterpretedProgram:
        return InterpretedProgram(*parts)
