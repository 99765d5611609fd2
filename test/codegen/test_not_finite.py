# SPDX-License-Identifier: Apache-2.0
"""Finite arguments without a finite result: our error, of every backend, one sample or many."""

from functools import lru_cache
import warnings

from codegen import cases
from codegen.compiled import needs_compiler, QUICK
import flexdyn_ros as fd
from flexdyn_ros.errors import NonFiniteResult
import numpy as np
from oracles.mechanisms import mechanism
from oracles.small_robots import arm
import pytest
from thinned import thinned

BACKENDS = ['reference', 'python', pytest.param('c', marks=needs_compiler)]
FRICTION = (
    '<joint_dynamics joint="joint2" damping="0.4"><friction viscous="0.3" coulomb="1.2" '
    'stribeck="2.5" stribeck_velocity="0.2" smoothing_velocity="0.3"/></joint_dynamics>'
)
ROBOTS = {
    'rigid tree': lambda: cases.robot('rigid tree'),
    'flexible chain': lambda: cases.robot('flexible chain'),
    'friction': lambda: fd.load_robot(arm(FRICTION)),
    'loops': lambda: mechanism('four_bar'),
}
OVERFLOWING = {
    'inverse_dynamics': 'qd', 'forward_dynamics': 'qd', 'bias_vector': 'qd',
    'coriolis_vector': 'qd', 'kinetic_energy': 'qd',
}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Compile without optimising; a warning of numpy is an error."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter('error', RuntimeWarning)
        yield


@lru_cache(maxsize=None)
def dynamics(name, backend):
    """Return the dynamics of one of the robots, which these tests share."""
    return fd.Dynamics(ROBOTS[name](), backend)


def state_of(dyn):
    """Return q, qd, qdd and tau that loops allow."""
    q, qd, qdd, tau = (np.array(each) for each in cases.state(dyn.robot))
    if dyn.robot.loops:
        q, qd = dyn.project(np.full_like(q, 0.3), np.zeros_like(qd))
        qdd = np.zeros_like(qdd)
    return q, qd, qdd, tau


def calls(dyn, q, qd, qdd, tau):
    """Return calls of the functions by name."""
    frame, joints = dyn.robot.frame_names[-1], dyn.robot.n_joints
    found = {
        'inverse_dynamics': lambda: dyn.inverse_dynamics(q, qd, qdd),
        'forward_dynamics': lambda: dyn.forward_dynamics(q, qd, tau),
        'cholesky': lambda: dyn.forward_dynamics(q, qd, tau, method='cholesky'),
        'hybrid_dynamics': lambda: dyn.hybrid_dynamics(q, qd, qdd[:joints]),
        'mass_matrix': lambda: dyn.mass_matrix(q), 'bias_vector': lambda: dyn.bias_vector(q, qd),
        'gravity_vector': lambda: dyn.gravity_vector(q),
        'coriolis_vector': lambda: dyn.coriolis_vector(q, qd),
        'friction_vector': lambda: dyn.friction_vector(qd),
        'elastic_vector': lambda: dyn.elastic_vector(q, qd),
        'inertia_vector': lambda: dyn.inertia_vector(q, qdd),
        'frame_pose': lambda: dyn.frame_pose(q, frame), 'jacobian': lambda: dyn.jacobian(q, frame),
        'jacobian_rate_qd': lambda: dyn.jacobian_rate_qd(q, qd, frame),
        'kinetic_energy': lambda: dyn.kinetic_energy(q, qd),
        'potential_energy': lambda: dyn.potential_energy(q),
    }
    if dyn.robot.loops:
        found.update({
            'constraint_forces': lambda: dyn.constraint_forces(q, qd, tau),
            'actuated_forces': lambda: dyn.actuated_forces(q, tau),
            'loop_gaps': lambda: dyn.loop_gaps(q), 'loop_jacobian': lambda: dyn.loop_jacobian(q),
            'loop_bias': lambda: dyn.loop_bias(q, qd), 'project': lambda: dyn.project(q, qd),
        })
    return found


def is_finite(result):
    """Return whether all numbers of a result are."""
    parts = result if isinstance(result, tuple) else (result,)
    return all(np.isfinite(each).all() for each in parts)


@pytest.mark.parametrize('backend', BACKENDS)
@pytest.mark.parametrize('name', thinned(ROBOTS, ('rigid tree', 'friction', 'loops')))
@pytest.mark.parametrize('size', [1e160, 1e300, 1.7e308])
def test_a_result_is_finite_or_an_error_of_ours(name, backend, size):
    """Whichever argument is huge, on the first call and on the next ones."""
    dyn = dynamics(name, backend)
    state = state_of(dyn)
    refused = set()
    for which in range(4):
        given = [np.full_like(each, size) if k == which else each for k, each in enumerate(state)]
        for function, call in calls(dyn, *given).items():
            for _ in range(2):
                try:
                    assert is_finite(call()), function
                except fd.FlexdynError:
                    refused.add((function, ('q', 'qd', 'qdd', 'tau')[which]))
    # Squares of rates overflow.
    assert {*OVERFLOWING.items()} <= refused
    assert is_finite(dyn.inverse_dynamics(*state[:3]))


@pytest.mark.parametrize('backend', BACKENDS)
@pytest.mark.parametrize('name', ROBOTS)
def test_the_error_names_the_largest_argument(name, backend):
    """Also of energies."""
    dyn = dynamics(name, backend)
    q, qd, qdd, tau = state_of(dyn)
    far = np.full_like(qd, -1e300)
    place = r'qd\[\d+\] = -1e\+300'
    for function in OVERFLOWING:
        call = calls(dyn, q, far, qdd, tau)[function]
        with pytest.raises(NonFiniteResult, match=rf'^{function} has no finite result.*{place}'):
            call()
    with pytest.raises(NonFiniteResult, match='kinetic_energy'):
        dyn.kinetic_energy(q, np.full_like(qd, 1e200))
    frame = dyn.robot.frame_names[-1]
    try:
        assert is_finite(dyn.external_force_vector(q, {frame: [1.7e308] * 6}))
    except NonFiniteResult as error:
        assert f'wrenches["{frame}"][0] = 1.7e+308' in str(error)


@pytest.mark.parametrize('backend', BACKENDS)
@pytest.mark.parametrize('name', ['rigid tree', 'loops'])
def test_samples(name, backend):
    """One of them is enough; sound ones among themselves are computed."""
    dyn = dynamics(name, backend)
    q, qd, qdd, tau = (np.tile(each, (9, 1)) for each in state_of(dyn))
    far = qd.copy()
    far[4] = 1e300
    for call in (
        lambda: dyn.batch.inverse_dynamics(q, far, qdd),
        lambda: dyn.batch.forward_dynamics(q, far, tau),
        lambda: dyn.batch.kinetic_energy(q, far),
    ):
        with pytest.raises(NonFiniteResult, match=r'no finite result.*qd\[\d+\] = 1e\+300'):
            call()
    assert is_finite(dyn.batch.inverse_dynamics(q, qd, qdd))


@pytest.mark.parametrize('backend', BACKENDS)
def test_loops_under_huge_loads(backend):
    """No infinity is returned, and no error of the linear algebra gets out."""
    dyn = dynamics('loops', backend)
    q, qd, qdd, tau = state_of(dyn)
    with pytest.raises(NonFiniteResult, match=r'^loop_bias .*qd\[0\]'):
        dyn.loop_bias(q, np.full_like(qd, 1e300))
    with pytest.raises(NonFiniteResult, match=r'^constraint_forces .*qd\[0\]'):
        dyn.constraint_forces(q, np.full_like(qd, 1e300), tau)
    with pytest.raises(NonFiniteResult, match=r'^forward_dynamics .*wrenches\['):
        dyn.forward_dynamics(q, qd, tau, {dyn.robot.frame_names[-1]: [1.7e308] * 6})


@pytest.mark.parametrize('backend', BACKENDS)
def test_derivatives(backend):
    """By state and by parameters."""
    dyn = dynamics('rigid tree', backend)
    q, qd, qdd, tau = state_of(dyn)
    far, names = np.full_like(qd, 1e300), ['link3/mass']
    for call in (
        lambda: dyn.inverse_dynamics_derivatives(q, far, qdd),
        lambda: dyn.forward_dynamics_derivatives(q, far, tau),
        lambda: dyn.inverse_dynamics_parameter_derivatives(q, far, qdd, names),
        lambda: dyn.forward_dynamics_parameter_derivatives(q, far, tau, names),
    ):
        for _ in range(2):
            with pytest.raises(NonFiniteResult, match=r'qd\[0\] = 1e\+300'):
                call()


def test_the_inertia_that_a_frame_meets():
    """Its solution is computed outside the backends, and checked all the same."""
    model = cases.robot('rigid tree')
    dyn, link = fd.Dynamics(model, 'reference'), model.frame_names[-1]
    dyn.set_payload(link, 1e308, [1e10, 0.0, 0.0], np.zeros((3, 3)))
    with pytest.raises(NonFiniteResult, match='operational_space_inertia'):
        dyn.operational_space_inertia(np.zeros(model.nq), link, inverse=True)


@pytest.mark.parametrize('backend', BACKENDS)
def test_far_deflections_are_named(backend):
    """The inertia about a far mass leaves nothing but round-off of the others."""
    dyn = dynamics('flexible chain', backend)
    q, qd, _, tau = state_of(dyn)
    place = dyn.robot.coordinate_names.index('joint3/elastic')
    q[place] = 1e19
    for method in ('recursive', 'cholesky'):
        with pytest.raises(fd.FlexdynError, match=rf'q\[{place}\] = 1e\+19'):
            dyn.forward_dynamics(q, qd, tau, method=method)
