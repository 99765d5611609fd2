# SPDX-License-Identifier: Apache-2.0
"""The stack that generated code takes: no frame above 16 KiB, by the compiler's report."""

from dataclasses import replace
from functools import lru_cache
import os
import subprocess
import sys

from codegen import cases
from codegen.compiled import needs_compiler
from codegen.variant_of import variant_of
import flexdyn_ros as fd
from flexdyn_ros.codegen.compile.compiled_c import batch_source, call_source
from flexdyn_ros.codegen.compile.compiler import find_compiler
from flexdyn_ros.codegen.compile.program import BATCH, CALL, FLAGS
from flexdyn_ros.codegen.export.c import c_program, emit_c, EXPORTED, MOST_ON_STACK
from oracles.dh_urdf import chain_urdf
import pytest
from thinned import thinned

pytestmark = needs_compiler
MOST = 16 * 1024
LINK = {'alpha': 0.7, 'a': 0.3, 'd': 0.1, 'm': 2.0, 'com': [-0.1, 0.02, 0.05],
        'J_cm': [0.02, 0.03, 0.04]}
# Between them whole functions near the size where parts begin, many angles, large work arrays.
QUICK_CASES = [
    (7, 'forward_dynamics'), (12, 'gravity_vector'),
]
SLOW_CASES = [
    (7, 'inverse_dynamics_derivatives'), (76, 'jacobian'),
    *((60, name) for name in ('inverse_dynamics', 'forward_dynamics', 'mass_matrix')),
    *((12, name) for name in cases.DERIVATIVES), (25, 'inverse_dynamics'), (9, 'forward_dynamics'),
    *((n, 'inverse_dynamics') for n in (12, 14, 16, 18, 20)), (5, 'inverse_dynamics_derivatives'),
]


@lru_cache(maxsize=None)
def arm(n):
    """Return a rigid arm of n joints, neighbours at an angle that is no right one."""
    return fd.load_robot(chain_urdf([LINK] * n))


def frames(source, flags, folder):
    """Return the frame of each function in bytes, as the compiler reports it."""
    (folder / 'code.c').write_text(source)
    command = [*find_compiler().command, *flags, '-fstack-usage', '-c', 'code.c', '-o', 'code.o']
    subprocess.run(command, cwd=folder, check=True)
    found = {}
    for line in (folder / 'code.su').read_text().splitlines():
        place, size, kind = line.split('\t')
        # Unbounded code has no largest size.
        found[place.rpartition(':')[2]] = int(size) if kind != 'dynamic' else MOST * MOST
    return found


def assert_small_frames(model, function, folder):
    """Check calls, batches and the exported C."""
    made = variant_of(model, function).trace()
    compiler = find_compiler()
    program = c_program(made)
    sources = [
        (call_source(made), (*compiler.flags, *FLAGS[CALL])),
        (batch_source(made), (*compiler.flags, *FLAGS[BATCH])),
        (emit_c(program), ('-O0', '-w')),
    ]
    for source, flags in sources:
        found = frames(source, flags, folder)
        assert found
        assert max(found.values()) <= MOST, (flags, found)
    return program


@pytest.mark.parametrize(('n', 'function'), QUICK_CASES)
def test_frames_are_below_16_kib(n, function, tmp_path):
    """Of calls, batches and exported C."""
    assert_small_frames(arm(n), function, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(('n', 'function'), SLOW_CASES)
def test_frames_of_more_functions(n, function, tmp_path):
    """Up to 60 links, and derivatives of up to 12 coordinates."""
    assert_small_frames(arm(n), function, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize('name', ['flexible chain', 'floating', 'mimic'])
@pytest.mark.parametrize('function', ['forward_dynamics', 'inverse_dynamics_derivatives'])
def test_frames_of_other_robots(name, function, tmp_path):
    """Flexible links and joints of all kinds."""
    assert_small_frames(cases.robot(name), function, tmp_path)


def test_large_work_arrays_come_from_the_caller():
    """Beyond the limit it is an argument, which the text describes; below it is none."""
    made = variant_of(arm(7), 'inverse_dynamics_derivatives').trace()
    small = c_program(made)
    size = len(small.parts.shared)
    arrays = size + 3 * small.angle_size
    assert small.work_size == 0 and arrays <= MOST_ON_STACK and 8 * MOST_ON_STACK < MOST
    assert f'double work[{size}]' in emit_c(small) or f', work[{size}];' in emit_c(small)
    large = c_program(made, replace(EXPORTED, most_on_stack=arrays - 1))
    assert large.work_size == size
    assert f'work[{size}]: memory for numbers in between' in emit_c(large)
    assert emit_c(large).count(f'work[{size}]') == 1
    # So do the arrays of very many angles; those that only fill a vector are zero.
    most = c_program(made, replace(EXPORTED, most_angles=20, multiple=4))
    assert most.work_size == size + 3 * 8
    assert f'*const angle = work + {size}, *const sine = work + {size + 8},' in emit_c(most)
    assert 'angle[7] = 0.0;' in emit_c(most)


SCRIPT = """
import sys, threading
import numpy as np
import flexdyn_ros as fd
model = fd.load_robot(sys.argv[1])
dyn = fd.Dynamics(model, 'c')
q = np.full(60, 0.3)
out, rows = np.zeros(60), np.zeros((2, 60))
calls = [
    lambda: dyn.inverse_dynamics(q, q, q, out=out),
    lambda: dyn.jacobian(q, 'tip' if 'tip' in model.frame_names else model.frame_names[-1]),
    lambda: dyn.batch.inverse_dynamics(rows, rows, rows),
]
expected = [np.copy(call()) for call in calls]
found = []
threading.stack_size(int(sys.argv[2]) * 1024)
thread = threading.Thread(target=lambda: found.extend(np.copy(call()) for call in calls))
thread.start()
thread.join()
assert len(found) == 3 and all(map(np.array_equal, found, expected))
print('same')
"""


@pytest.mark.parametrize('way', ['', 'ctypes'])
@pytest.mark.parametrize('size', thinned([64, 32], [32]))
def test_sixty_links_on_a_small_stack(size, way, tmp_path, monkeypatch):
    """Of a thread: 64 KiB, and 32 KiB, the least that Python allows."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', '-O1')
    path = tmp_path / 'arm.urdf'
    path.write_text(chain_urdf([LINK] * 60))
    done = subprocess.run(
        [sys.executable, '-c', SCRIPT, str(path), str(size)], capture_output=True, text=True,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path), 'FLEXDYN_CALLS': way,
             'FLEXDYN_THREADS': '1'},
    )
    assert (done.returncode, done.stdout) == (0, 'same\n'), done.stderr
