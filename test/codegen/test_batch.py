# SPDX-License-Identifier: Apache-2.0
"""Many samples at once: the numbers of single calls, any number of samples, clear errors."""

from concurrent.futures import ThreadPoolExecutor
import gc
import inspect
import os
from pathlib import Path
import subprocess
import sys

from codegen import cases
from codegen.compiled import needs_compiler, QUICK
import flexdyn_ros as fd
from flexdyn_ros.batch import BATCHED
from flexdyn_ros.codegen.backends.generated import GeneratedBackend
from flexdyn_ros.errors import SingularMassMatrix
import numpy as np
from oracles.random_robots import random_state
import pytest

pytestmark = needs_compiler
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Compile without optimising."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)


def samples(model, count, seed=4):
    """Return arrays of q, qd, qdd and tau by samples."""
    rng = np.random.default_rng(seed)
    states = [random_state(model, rng) for _ in range(count)]
    q, qd, qdd = (np.array([state[k] for state in states]) for k in range(3))
    return q, qd, qdd, rng.normal(size=(count, model.nv))


def arguments(model, function, given):
    """Return a function's arguments out of q, qd, qdd and tau."""
    q, qd, qdd, tau = given
    joints, positions = model.n_joints, model.nq - model.n_modes
    motion = q[..., :positions], qd[..., :joints], qdd[..., :joints]
    modal = q[..., positions:], qd[..., joints:], qdd[..., joints:], qdd[..., joints:]
    steps = np.broadcast_to([0.002, 0.8], (*q.shape[:-1], 2))
    names = {
        'quasi_static_torque': motion,
        'hybrid_step': (*motion, np.concatenate(modal, axis=-1), steps),
        'inverse_dynamics': (q, qd, qdd), 'forward_dynamics': (q, qd, tau),
        'hybrid_dynamics': (q, qd, qdd[..., :model.n_joints]), 'bias_vector': (q, qd),
        'coriolis_vector': (q, qd), 'coriolis_matrix': (q, qd),
        'composite_inertia': (q, model.frame_names[-1]),
        'elastic_vector': (q, qd), 'kinetic_energy': (q, qd),
        'friction_vector': (qd,), 'dissipated_power': (qd,), 'inertia_vector': (q, qdd),
        'jacobian_rate_qd': (q, qd, model.frame_names[-1]),
        'frame_pose': (q, model.frame_names[-1]), 'jacobian': (q, model.frame_names[-1]),
        'external_force_vector': (q, {model.frame_names[-1]: [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]}),
    }
    return names.get(function, (q,))


def assert_equal(model, function, dyn, given):
    """Compare a batch with the reference's single calls."""
    reference = fd.Dynamics(model, 'reference')
    found = getattr(dyn.batch, function)(*arguments(model, function, given))
    parts = found if isinstance(found, tuple) else (found,)
    for k in range(len(given[0])):
        single = getattr(reference, function)(*arguments(model, function, [x[k] for x in given]))
        # All results as one vector: the rest of the static iteration is rounding.
        cases.assert_close(cases.flat([part[k] for part in parts]), cases.flat(single))


@pytest.mark.parametrize('backend', ['reference', 'python'])
def test_other_backends_go_through_the_samples(backend):
    """All functions, on few samples."""
    model = cases.robot('floating')
    dyn = fd.Dynamics(model, backend)
    for function in cases.FUNCTIONS:
        assert_equal(model, function, dyn, samples(model, 2))


@pytest.mark.parametrize('name', ['rigid tree', 'flexible chain', 'floating'])
def test_batches_equal_single_calls(name):
    """Whole vectors of lanes and the remainder."""
    model = cases.robot(name)
    dyn = fd.Dynamics(model)
    functions = cases.FUNCTIONS if name == 'rigid tree' else ('forward_dynamics', 'frame_pose')
    for function in functions:
        for count in (11, 1) if function == 'forward_dynamics' else (11,):
            assert_equal(model, function, dyn, samples(model, count))
    assert dyn.batch.inverse_dynamics(*(each[:0] for each in samples(model, 1)[:3])).shape == (
        0, model.nv
    )


def test_wrenches_payloads_and_gravity():
    """A wrench is one for all samples or one for each; loads are those of the Dynamics."""
    model = cases.robot('rigid tree')
    ours, theirs = fd.Dynamics(model), fd.Dynamics(model, 'reference')
    for dyn in (ours, theirs):
        dyn.set_payload(model.links[-1].name, 1.5, [0.1, 0.2, 0.3], np.eye(3))
        dyn.set_gravity([1.0, 2.0, 3.0])
    q, qd, qdd, _ = samples(model, 9)
    first, last = model.frame_names[1], model.frame_names[-1]
    each = np.random.default_rng(0).normal(size=(9, 6))
    found = ours.batch.inverse_dynamics(q, qd, qdd, {last: each, first: [1.0] * 6})
    for k in range(9):
        wrenches = {last: each[k], first: [1.0] * 6}
        cases.assert_close(found[k], theirs.inverse_dynamics(q[k], qd[k], qdd[k], wrenches))


def test_results_go_where_they_are_wanted(monkeypatch):
    """Out may be strided, or one of the arguments; threads do not matter."""
    model = cases.robot('rigid tree')
    dyn = fd.Dynamics(model)
    q, qd, qdd, _ = samples(model, 37)
    q, qd, qdd = (np.resize(each, (5003, each.shape[1])) for each in (q, qd, qdd))
    expected = dyn.batch.inverse_dynamics(q, qd, qdd)
    for threads in ('1', '3', '7'):
        monkeypatch.setenv('FLEXDYN_THREADS', threads)
        assert np.array_equal(dyn.batch.inverse_dynamics(q, qd, qdd), expected)
    for out in (np.zeros_like(expected), np.zeros((*expected.shape, 2))[..., 0], qdd.copy()):
        accelerations = qdd if out.shape != qdd.shape else qdd.copy()
        assert dyn.batch.inverse_dynamics(q, qd, accelerations, out=out) is out
        assert np.array_equal(out, expected)
    same = qdd.copy()
    assert np.array_equal(dyn.batch.inverse_dynamics(q, qd, same, out=same), expected)


@pytest.mark.parametrize('name', ['flexible chain', 'floating'])
def test_a_sample_does_not_depend_on_others(name):
    """Wherever it stands, however many there are; one that overflows spoils none beside it."""
    model = cases.robot(name)
    dyn = fd.Dynamics(model, 'c')
    q, qd, qdd, _ = samples(model, 13)
    expected = dyn.batch.inverse_dynamics(q, qd, qdd)
    for part in (slice(0, 1), slice(3, 12), slice(5, None)):
        assert np.array_equal(
            dyn.batch.inverse_dynamics(q[part], qd[part], qdd[part]), expected[part]
        )
    far = qd.copy()
    far[6] *= 1e160
    with pytest.raises(fd.FlexdynError, match='inverse_dynamics has no finite result'):
        dyn.batch.inverse_dynamics(q, far, qdd)


def test_samples_in_doubt_are_the_references(monkeypatch):
    """Of a robot whose pivots differ by more than the limit, none of another."""
    asked = []
    exact = GeneratedBackend.exact.fget
    monkeypatch.setattr(
        GeneratedBackend, 'exact', property(lambda self: asked.append(1) or exact(self))
    )
    for model, count in ((cases.robot('rigid tree'), 0), (cases.light_wrist_on_a_heavy_arm(), 9)):
        asked.clear()
        q, qd, _, tau = samples(model, 9)
        found = fd.Dynamics(model, 'c').batch.forward_dynamics(q, qd, tau)
        reference = fd.Dynamics(model, 'reference')
        assert len(asked) == count
        for k in range(9):
            cases.assert_close(found[k], reference.forward_dynamics(q[k], qd[k], tau[k]))


def test_what_moves_no_inertia_is_refused():
    """As by single calls."""
    for backend in ('c', 'python'):
        batch = fd.Dynamics(cases.arm_with_point_tip('0'), backend).batch
        with pytest.raises(SingularMassMatrix, match='"two" moves no inertia'):
            batch.forward_dynamics(*np.full((3, 9, 2), 0.3))


def test_threads_at_once_and_after_a_fork(monkeypatch):
    """Batches of several Python threads, and of a child process, whose helpers do not exist."""
    monkeypatch.setenv('FLEXDYN_THREADS', '3')
    model = cases.robot('rigid tree')
    given = [np.tile(each, (300, 1)) for each in samples(model, 7)[:3]]
    batch = fd.Dynamics(model).batch
    expected = batch.inverse_dynamics(*given)

    def repeat(_):
        return all(np.array_equal(batch.inverse_dynamics(*given), expected) for _ in range(20))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(repeat, range(4)))
    child = os.fork()
    if not child:
        gc.disable()  # objects of other tests may have threads that do not exist here
        os._exit(0 if repeat(0) else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert repeat(0)


WITHOUT_THREADS = """
import resource
import sys
import threading
import flexdyn_ros as fd
import numpy as np
robot = fd.load_robot('urdf/puma560.urdf.xacro')
given = np.random.default_rng(0).normal(size=(3, 4096, robot.nv))
batch = fd.Dynamics(robot, 'c').batch
expected = batch.inverse_dynamics(*given[:, :96])
pages = int(open('/proc/self/statm').read().split()[0])
# Less than the stack of a thread is left.
most = pages * resource.getpagesize() + 4 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (most, most))
try:
    threading.Thread(target=int).start()
    sys.exit('a thread was started')
except RuntimeError:
    pass
found = batch.inverse_dynamics(*given)
assert np.array_equal(found[:96], expected) and np.isfinite(found).all()
"""


@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='limits memory as Linux does')
def test_threads_that_cannot_be_started():
    """The calling thread evaluates their samples."""
    done = subprocess.run(
        [sys.executable, '-c', WITHOUT_THREADS], capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, 'FLEXDYN_THREADS': '3', 'PYTHONPATH': str(ROOT)},
    )
    assert done.returncode == 0, done.stderr


def test_errors():
    """Errors name wrong shapes, counts and values; also a coordinate without inertia."""
    model = cases.robot('floating')
    batch = fd.Dynamics(model).batch
    q, qd, qdd, tau = samples(model, 8)
    bad, far = qd.copy(), q.copy()
    bad[6, 1] = np.nan
    start = model.quaternion_starts[0]
    far[3, start : start + 4] = 0.0
    for wrong, words in (
        ((q, qd[:5], qdd), r'"qd" has 5 samples, expected 8 as in "q"'),
        ((q[0], qd, qdd), r'"q" has shape .*, expected \(N, '),
        ((q, qd[:, :2], qdd), r'"qd" has shape \(8, 2\), expected \(N, '),
        ((q, bad, qdd), r'"qd" has a value that is not finite \[6, 1\]'),
        ((far, qd, qdd), 'quaternion of length 0'),
        ((q, 'text', qdd), '"qd" must hold real numbers'),
        ((q, qd, qdd, {'nowhere': [0.0] * 6}), 'nowhere'),
        ((q, qd, qdd, {3: [0.0] * 6, model.frame_names[0]: [0.0] * 6}), 'No frame is called "3"'),
        ((q, qd, qdd, {model.frame_names[0]: np.zeros((7, 6))}), r'\(6,\) or \(8, 6\)'),
    ):
        with pytest.raises(fd.FlexdynError, match=words):
            batch.inverse_dynamics(*wrong)
    with pytest.raises(fd.FlexdynError, match='out'):
        batch.inverse_dynamics(q, qd, qdd, out=np.zeros(3))
    with pytest.raises(fd.FlexdynError, match='gauss'):
        batch.forward_dynamics(q, qd, tau, method='gauss')


@pytest.mark.parametrize('function', sorted(BATCHED))
def test_functions_look_like_those_of_dynamics(function):
    """They take the same arguments in the same order, and have help; other names are refused."""
    batch = fd.Dynamics(cases.robot('rigid tree'), 'reference').batch
    assert function in dir(batch)
    if not hasattr(fd.Dynamics, function):
        return
    of_samples = inspect.signature(getattr(batch, function)).parameters
    of_one = inspect.signature(getattr(fd.Dynamics, function)).parameters
    assert [*of_samples] == [name for name in of_one if name in of_samples]
    assert getattr(batch, function).__doc__.endswith('one entry a sample.')
    assert not hasattr(batch, 'nonsense')


def test_a_method_of_a_subclass_answers_for_each_sample():
    """Compiled code does not take its place."""

    class Twice(fd.Dynamics):

        def gravity_vector(self, q, out=None):
            return 2.0 * super().gravity_vector(q)

    model = cases.robot('rigid tree')
    q = samples(model, 5)[0]
    dyn = Twice(model, 'c')
    assert np.array_equal(
        dyn.batch.gravity_vector(q), [dyn.gravity_vector(each) for each in q]
    )
