# SPDX-License-Identifier: Apache-2.0
"""Memory for machine code, functions that it calls, and systems that allow neither."""

import logging
import math
import mmap
import os
from pathlib import Path
import subprocess
import sys

from codegen import cases
from codegen.programs import as_machine_code
from codegen.programs import needs_machine_code
from codegen.programs import random_trace
import flexdyn_ros as fd
from flexdyn_ros.codegen.backends import without_compiler
from flexdyn_ros.codegen.backends.machine_backend import MachineBackend
from flexdyn_ros.codegen.native import executable_memory
from flexdyn_ros.codegen.native import machine_program
from flexdyn_ros.codegen.native import math_functions
from flexdyn_ros.codegen.native.executable_memory import ExecutableMemory
from flexdyn_ros.codegen.tracing.functions import Request
import pytest

URDF = Path(__file__).resolve().parents[2] / 'urdf'
# A function that does nothing: ret.
NOTHING = b'\xc3'


@pytest.fixture(autouse=True)
def with_machine_code():
    """Skip where machine code cannot run."""
    needs_machine_code()


def maps():
    """Return the lines of the process's memory map."""
    return Path('/proc/self/maps').read_text(encoding='utf-8').splitlines()


def test_no_page_can_be_written_and_executed():
    """Once it was made; what other libraries have in this process was there before."""
    def both():
        return {line for line in maps() if {'w', 'x'} <= set(line.split()[1])}

    before = both()
    as_machine_code(random_trace(0, 5))
    assert any('x' in line.split()[1] and len(line.split()) == 5 for line in maps())
    assert both() <= before


def test_thousands_of_programs_take_few_mappings():
    """They are neighbours; the same program is there once."""
    before = len(maps())
    for _ in range(3000):
        executable_memory.memory.place(NOTHING)
    assert len(maps()) < before + 100
    model = cases.robot('rigid tree')
    q, qd, qdd, _ = cases.state(model)
    fd.Dynamics(model, 'python').inverse_dynamics(q, qd, qdd)
    loaded = len(machine_program._loaded)
    for _ in range(200):
        program, _ = MachineBackend(model, list(model.gravity_vector), {}).program(
            Request('inverse_dynamics'), ()
        )
        program.kernel()
    assert len(machine_program._loaded) <= loaded + 1


def test_large_content_has_a_block_of_its_own():
    """And what comes after it has one too."""
    memory = ExecutableMemory()
    large = bytes(3 * executable_memory.BLOCK)
    addresses = [memory.place(each) for each in (NOTHING, large, NOTHING)]
    assert len(set(addresses)) == 3
    assert all(each % mmap.PAGESIZE == 0 for each in addresses)


def test_where_memory_cannot_be_executed_others_compute(monkeypatch, caplog):
    """As under SELinux: one line says so."""
    without_compiler._machine_code_runs.cache_clear()
    for function in (machine_program.problem, executable_memory.problem):
        function.cache_clear()

    def refuse(address, size):
        raise PermissionError(13, 'memory cannot be made executable: Permission denied')

    monkeypatch.setattr(executable_memory, '_protect', refuse)
    model = cases.robot('rigid tree')
    q, qd, qdd, _ = cases.state(model)
    try:
        with caplog.at_level(logging.INFO, 'flexdyn_ros.codegen'):
            dyns = [fd.Dynamics(model, 'python') for _ in range(3)]
        assert not any(isinstance(dyn._backend, MachineBackend) for dyn in dyns)
        cases.assert_close(
            dyns[0].inverse_dynamics(q, qd, qdd), cases.answer(model, 'inverse_dynamics')
        )
        assert caplog.text.count('does without machine code') == 1
        assert 'Permission denied' in caplog.text
    finally:
        for function in (machine_program.problem, executable_memory.problem,
                         without_compiler._machine_code_runs):
            function.cache_clear()


SCRIPT = """
import ctypes
import logging
import sys
import flexdyn_ros as fd
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format='%(message)s')
# PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN of Linux 6.3 and later
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) != 0:
    sys.exit(77)
dyn = fd.Dynamics(fd.load_robot(sys.argv[1]), 'python')
dyn.mass_matrix([0.1] * dyn.robot.nq)
"""


def test_a_system_that_refuses():
    """The kernel itself: a process that may not make memory executable."""
    done = subprocess.run(
        [sys.executable, '-c', SCRIPT, str(URDF / 'puma560.urdf.xacro')], capture_output=True,
        text=True, env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
    )
    if done.returncode == 77:
        pytest.skip('the kernel has no PR_SET_MDWE; Linux 6.3 runs it')
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()[:2]
    assert 'does without machine code' in first and 'Permission denied' in first
    assert 'run by' in second and 'run by machine code' not in second


@pytest.mark.parametrize(('system', 'processor'), [('linux', 'aarch64'), ('darwin', 'x86_64')])
def test_other_platforms_have_none(system, processor, monkeypatch):
    """They are named."""
    monkeypatch.setattr(executable_memory.sys, 'platform', system)
    monkeypatch.setattr(executable_memory.platform, 'machine', lambda: processor)
    assert f'{system} on {processor}' in executable_memory.problem.__wrapped__()


def test_functions_other_than_those_of_python_are_noticed(monkeypatch):
    """A mathematical library with other bits is not called."""
    math_functions.math_functions.cache_clear()
    try:
        assert math_functions.problem() is None
        math_functions.math_functions.cache_clear()
        monkeypatch.setattr(
            math_functions.math, 'tanh', lambda x, own=math.tanh: own(x) * (1.0 + 2.0**-52)
        )
        assert 'tanh' in math_functions.problem()
    finally:
        math_functions.math_functions.cache_clear()
