# SPDX-License-Identifier: Apache-2.0
"""Machine code of our own in a process: memory, threads, forks, the cache, what refuses it."""

import os
import pickle
import subprocess
import sys

from codegen import cases
from codegen.programs import as_machine_code
from codegen.programs import as_python
from codegen.programs import bits
from codegen.programs import needs_machine_code
from codegen.programs import random_trace
from codegen.programs import random_vectors
from codegen.programs import symbols
from codegen.programs import traced_of
import flexdyn_ros as fd
from flexdyn_ros.codegen.backends.machine_backend import MachineBackend
from flexdyn_ros.codegen.emitting.sse2_code import machine_code_of
from flexdyn_ros.codegen.emitting.sse2_code import MachineCode
from flexdyn_ros.codegen.native import machine_program
from flexdyn_ros.codegen.native import source_cache
from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.symbolic.graph import Graph
import numpy as np
from oracles.random_robots import random_robot_urdf
import pytest

# A function that does nothing: ret.
NOTHING = b'\xc3'


@pytest.fixture(autouse=True)
def with_machine_code():
    """Skip where machine code cannot run."""
    needs_machine_code()


@pytest.fixture(params=['extension', 'ctypes'])
def calls(request, monkeypatch):
    """Call machine code by the extension where it is, and through ctypes."""
    if request.param == 'ctypes':
        monkeypatch.setenv('FLEXDYN_CALLS', 'ctypes')
    return request.param


def test_the_backend_python_takes_it(calls):
    """All functions are the reference's; a copy works too."""
    model = cases.robot('flexible chain')
    q, qd, qdd, tau = cases.state(model)
    dyn, reference = fd.Dynamics(model, 'python'), fd.Dynamics(model, 'reference')
    assert isinstance(dyn._backend, MachineBackend)
    assert dyn.backend == 'python'
    for other in (dyn, pickle.loads(pickle.dumps(dyn))):
        for _ in range(2):
            for name, vectors in (('inverse_dynamics', (q, qd, qdd)), ('mass_matrix', (q,)),
                                  ('forward_dynamics', (q, qd, tau)),
                                  ('jacobian', (q, model.frame_names[-1]))):
                cases.assert_close(
                    getattr(other, name)(*vectors), getattr(reference, name)(*vectors)
                )


def test_many_threads_at_once(calls):
    """What is put aside lies on the stack of the thread."""
    cases.assert_same_in_threads(fd.Dynamics(cases.robot('flexible chain'), 'python'))


def test_batches_in_threads(monkeypatch):
    """Whatever the number of samples and threads: the bits of single calls."""
    model = cases.robot('floating')
    dyn = fd.Dynamics(model, 'python')
    q, qd, qdd, _ = (np.array(each) for each in cases.state(model))
    scales = np.linspace(0.1, 1.0, 3001)[:, None]
    rows = np.repeat(q[None], len(scales), axis=0), scales * qd, scales * qdd
    expected = [dyn.inverse_dynamics(*each) for each in zip(*rows)]
    for threads in ('1', '3'):
        monkeypatch.setenv('FLEXDYN_THREADS', threads)
        assert np.array_equal(dyn.batch.inverse_dynamics(*rows), expected)


def test_after_a_fork():
    """Parent and child call what was there, and load more, each for itself."""
    traces = [random_trace(seed, 10) for seed in range(3)]
    x = random_vectors(0, 1)[0]
    expected = [bits(as_python(trace)(x)) for trace in traces]
    before = as_machine_code(traces[0])
    child = os.fork()
    if child == 0:
        try:
            found = [bits(before(x)), bits(as_machine_code(traces[1])(x))]
            os._exit(0 if found == expected[:2] else 1)
        finally:
            os._exit(2)
    after = as_machine_code(traces[2])
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert [bits(before(x)), bits(after(x))] == expected[::2]


SCRIPT = """
import sys
import flexdyn_ros as fd
from flexdyn_ros.codegen.native import machine_program
if sys.argv[2] == 'warm':
    machine_program.machine_code_of = None
model = fd.load_robot(sys.argv[1])
dyn = fd.Dynamics(model, 'python')
print(dyn.inverse_dynamics([0.1] * model.nq, [0.2] * model.nv, [0.3] * model.nv))
"""


def test_a_second_process_makes_nothing(tmp_path, monkeypatch):
    """Code is kept on disk, and neither the compiler nor the extension is asked for."""
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path / 'kept'))
    monkeypatch.setenv('FLEXDYN_CALLS', 'ctypes')
    monkeypatch.setenv('CC', '/nowhere/cc')
    model = tmp_path / 'robot.urdf'
    model.write_text(random_robot_urdf(3, 3, flexible=0.0))
    results = [
        subprocess.run(
            [sys.executable, '-c', SCRIPT, str(model), kind], capture_output=True, text=True,
            check=True, env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
        ).stdout for kind in ('cold', 'warm')
    ]
    assert results[0] == results[1]
    assert [path.suffix for path in (tmp_path / 'kept').iterdir()] == ['.code']


def test_what_is_kept_is_checked(monkeypatch):
    """An entry that is damaged, or no code, is made anew; one that others can write, too."""
    model = cases.robot('rigid tree')
    q, qd, qdd, _ = cases.state(model)
    backend = MachineBackend(model, list(model.gravity_vector), {})
    program, _ = backend.program(Request('inverse_dynamics'), ())
    monkeypatch.setattr(machine_program, '_loaded', {})  # whose entries may be in other folders
    expected = program.kernel()(q, qd, qdd)
    entry = program._entry(machine_program.CALL)
    path, content = source_cache.path_of(entry), source_cache.read_bytes(entry)
    made = []
    monkeypatch.setattr(machine_program, 'machine_code_of', lambda *given: made.append(
        machine_code_of(*given)) or made[-1])

    def again(count):
        monkeypatch.setattr(machine_program, '_loaded', {})
        assert program.kernel()(q, qd, qdd) == expected
        assert len(made) == count

    again(0)
    for count, wrong in enumerate((b'', b'nonsense\n', b'[]\n', content[:-1], b'[1, 2, 3]\n'), 1):
        source_cache.write_bytes(entry, wrong)
        again(count)
    path.write_bytes(path.read_bytes().replace(NOTHING, b'\xcc'))  # another instruction
    again(6)
    path.chmod(0o666)
    again(7)


def test_code_is_kept_as_it_is():
    """To bytes and back; what is not code is no code."""
    made = machine_code_of(random_trace(1, 10))
    assert MachineCode.from_bytes(made.to_bytes()) == made
    heads = (b'[99, 1, 2]', b'[-1, 1, 2]', b'[0, -1, 2]', b'{}')
    for wrong in (made.to_bytes() + b' ', *(head + b'\nab' for head in heads)):
        with pytest.raises((ValueError, TypeError)):
            MachineCode.from_bytes(wrong)


@pytest.mark.parametrize(('way', 'runs_on'), [
    ('machine_code', 'machine code'), ('cpython', 'CPython'), ('', 'machine code'),
])
def test_a_way_can_be_chosen(way, runs_on, monkeypatch):
    """By $FLEXDYN_PYTHON."""
    monkeypatch.setenv('FLEXDYN_PYTHON', way)
    assert fd.Dynamics(cases.robot('rigid tree'), 'python')._backend.runs_on == runs_on


def test_an_unknown_way_is_an_error(monkeypatch):
    """That names those that there are."""
    monkeypatch.setenv('FLEXDYN_PYTHON', 'pypy')
    with pytest.raises(fd.FlexdynError, match=r'FLEXDYN_PYTHON.*"pypy".*machine_code'):
        fd.Dynamics(cases.robot('rigid tree'), 'python')


def test_no_results_and_no_inputs():
    """Nothing is written where nothing belongs."""
    graph = Graph()
    names, (first, *_) = symbols(graph)
    assert as_machine_code(traced_of(graph, names, []))([1.0] * 4) == []
    assert as_machine_code(traced_of(graph, [], [graph.constant(-0.0)]))([]) == [0.0]
    assert as_machine_code(traced_of(graph, names, [1.0 / first]))([4.0] * 4) == [0.25]


def test_an_unknown_function_is_named():
    """Rather than left out."""
    graph = Graph()
    names, (first, *_) = symbols(graph)
    node = graph._node(6, (first,), 'gamma')
    with pytest.raises(ValueError, match='"gamma"'):
        machine_code_of(traced_of(graph, names, [node]))


def test_arguments_of_other_lengths_are_refused(monkeypatch):
    """Before anything is read."""
    model = cases.robot('rigid tree')
    monkeypatch.setenv('FLEXDYN_CALLS', 'ctypes')
    q, qd, qdd, _ = cases.state(model)
    kernel = MachineBackend(model, list(model.gravity_vector), {}).program(
        Request('inverse_dynamics'), ())[0].kernel()
    for wrong in ((q, qd), (q, qd, qdd, qdd), (q, qd[1:], [*qdd, 0.0]), ()):
        with pytest.raises(ValueError, match='lengths'):
            kernel(*wrong)
