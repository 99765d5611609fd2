# SPDX-License-Identifier: Apache-2.0
"""The c backend: the reference's numbers, loads as arguments, the same errors."""

from codegen import cases
from codegen.compiled import needs_compiler, QUICK
import flexdyn_ros as fd
from flexdyn_ros.codegen.backends.generated import generated_backend
from flexdyn_ros.codegen.compile.program import CompiledProgram
from flexdyn_ros.codegen.export import c
from flexdyn_ros.codegen.export.chunks import split
from flexdyn_ros.codegen.tracing.parameters import parameter_names
import numpy as np
from oracles.small_robots import arm
import pytest
from thinned import thinned

pytestmark = needs_compiler
MAIN_FUNCTIONS = ('inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics', 'frame_pose')
MATRIX = ((0.3, 0.01, 0.02), (0.01, 0.4, 0.03), (0.02, 0.03, 0.5))


def backend(model):
    """Return the c backend of a robot as loaded."""
    declared = {payload.link: payload.inertia for payload in model.payloads}
    return generated_backend('c', model, list(model.gravity_vector), declared)


@pytest.mark.parametrize('name', thinned(
    cases.ROBOTS, ('rigid tree', 'flexible chain', 'floating', 'multi axis'),
))
def test_the_backend_equals_the_reference(name, monkeypatch):
    """All functions of one robot, the largest ones of others; with wrenches on two frames."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = cases.robot(name)
    frames = [model.frame_names[-1], model.frame_names[1]]
    loads = [(f, (1.0, -2.0, 3.0), (0.5, 0.2, -0.4)) for f in frames]
    functions = cases.FUNCTIONS if name == 'rigid tree' else MAIN_FUNCTIONS
    calls = [(function, ()) for function in functions] + [('inverse_dynamics', loads)]
    ours = backend(model)
    for function, wrenches in calls:
        found, expected = (
            cases.answer(model, function, frames[0], wrenches=wrenches, backend=each)
            for each in (ours, cases.reference(model))
        )
        cases.assert_close(found, expected)


def test_optimised_code_equals_the_reference(user_flags):
    """With the flags that users get."""
    model = cases.robot('flexible chain')
    cases.assert_close(
        cases.answer(model, 'forward_dynamics', backend=backend(model)),
        cases.answer(model, 'forward_dynamics'),
    )


def test_large_functions_are_compiled_in_parts(monkeypatch, tmp_path):
    """Parts that pass their temporaries on give the same numbers as one function."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK + ' -DIN_PARTS')
    monkeypatch.setattr(c, 'split', lambda plan, angles, size: split(plan, angles, 30))
    model = cases.robot('flexible chain')
    ours = backend(model)
    cases.assert_close(
        cases.answer(model, 'forward_dynamics', backend=ours),
        cases.answer(model, 'forward_dynamics'),
    )
    q, qd, _, tau = cases.state(model)
    rows = fd.Dynamics(model, 'c').batch.forward_dynamics([q] * 9, [qd] * 9, [tau] * 9)
    cases.assert_close(rows[8], cases.answer(model, 'forward_dynamics'))


@pytest.mark.parametrize('method', ['recursive', 'cholesky'])
def test_both_ways_to_accelerations(method, monkeypatch):
    """Named, as of the reference."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = cases.robot('flexible chain')
    q, qd, _, tau = cases.state(model)
    dyn, reference = fd.Dynamics(model, 'c'), fd.Dynamics(model, 'reference')
    for _ in range(2):
        cases.assert_close(
            dyn.forward_dynamics(q, qd, tau, method=method),
            reference.forward_dynamics(q, qd, tau, method=method),
        )
    cases.assert_close(dyn.forward_dynamics(q, qd, tau), reference.forward_dynamics(q, qd, tau))
    with pytest.raises(fd.FlexdynError, match='cholesky'):
        dyn.forward_dynamics(q, qd, tau, method='gauss')


@pytest.mark.parametrize('name', ['rigid tree', 'floating'])
def test_payload_and_gravity_at_run_time(name, monkeypatch):
    """Set, they equal the reference's; cleared, the results are the same bit for bit."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = cases.robot(name)
    q, qd, qdd, tau = (np.array(each) for each in cases.state(model))
    ours, theirs = fd.Dynamics(model, 'c'), fd.Dynamics(model, 'reference')

    def results(dyn):
        return dyn.inverse_dynamics(q, qd, qdd), dyn.forward_dynamics(q, qd, tau)

    before = results(ours)
    again = results(ours)
    for link in (model.links[-1].name, model.links[1].name):
        for dyn in (ours, theirs):
            dyn.set_payload(link, 1.5, [0.1, 0.2, 0.3], MATRIX)
        for _ in range(2):
            for pair in zip(results(ours), results(theirs), strict=True):
                cases.assert_close(*pair)
    for dyn in (ours, theirs):
        dyn.set_gravity([1.0, 2.0, -3.0])
    for pair in zip(results(ours), results(theirs), strict=True):
        cases.assert_close(*pair)
    ours.clear_payload()
    ours.set_gravity(model.gravity)
    for _ in range(2):
        for old, older, new in zip(again, before, results(ours), strict=True):
            assert np.array_equal(old, new)
            assert np.array_equal(older, new)


def test_other_values_of_a_load_need_no_new_code(monkeypatch):
    """One variant serves all payloads of a link, all gravities and all wrenches on a frame."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = cases.robot('rigid tree')
    q, qd, qdd, _ = cases.state(model)
    dyn, reference = fd.Dynamics(model, 'c'), fd.Dynamics(model, 'reference')
    frame = model.frame_names[-1]

    def use(dyn, scale):
        dyn.set_payload(frame, scale, [0.1, 0.2, 0.3], MATRIX)
        dyn.set_gravity([0.0, scale, 0.0])
        return dyn.inverse_dynamics(q, qd, qdd, {frame: [scale] * 6})

    cases.assert_close(use(dyn, 1.0), use(reference, 1.0))
    monkeypatch.setattr(CompiledProgram, '_build', None)
    cases.assert_close(use(dyn, 2.0), use(reference, 2.0))


@pytest.mark.parametrize('mass', ['0', '1e-300'])
def test_what_moves_no_inertia_is_refused_as_by_the_reference(mass, monkeypatch):
    """The same error with the same names, also of a call that goes straight to compiled code."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = cases.arm_with_point_tip(mass)
    messages = []
    for dyn in (fd.Dynamics(model, 'reference'), fd.Dynamics(model, 'c')):
        for _ in range(2):
            with pytest.raises(fd.FlexdynError) as caught:
                dyn.forward_dynamics(np.array([0.1, 0.2]), np.array([0.3, 0.4]), np.ones(2))
            messages.append((type(caught.value), str(caught.value)))
    assert len(set(messages)) == 1
    assert '"two"' in messages[0][1]


def test_robots_without_coordinates():
    """Nothing moves, and nothing fails."""
    model = fd.load_robot('<robot name="r"><link name="base"/></robot>')
    dyn = fd.Dynamics(model, 'c')
    for _ in range(2):
        assert dyn.inverse_dynamics([], [], []).shape == (0,)
        assert dyn.forward_dynamics([], [], []).shape == (0,)
        assert dyn.mass_matrix([]).shape == (0, 0)
        assert dyn.jacobian([], 'base').shape == (6, 0)
        assert np.array_equal(dyn.frame_pose([], 'base'), np.eye(4))
        assert dyn.kinetic_energy([], []) == 0.0
    assert dyn.batch.inverse_dynamics(*np.zeros((3, 4, 0))).shape == (4, 0)


def test_many_threads_at_once(monkeypatch):
    """Each call has memory of its own."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    cases.assert_same_in_threads(fd.Dynamics(cases.robot('flexible chain'), 'c'))


def test_wrenches_on_very_many_frames(monkeypatch):
    """A kernel takes as many vectors as there are."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    links = ''.join(f'<link name="l{k}"/>' for k in range(70))
    joints = ''.join(
        f'<joint name="j{k}" type="{"fixed" if k else "continuous"}"><origin xyz="0.1 0 0"/>'
        f'<parent link="l{k}"/><child link="l{k + 1}"/><axis xyz="0 0 1"/></joint>'
        for k in range(69)
    )
    model = fd.load_robot(f'<robot name="r">{links}{joints}</robot>')
    wrenches = {f'l{k}': [0.0, 1.0, 0.0, 0.0, 0.0, 0.5] for k in range(1, 70)}
    for _ in range(2):
        found = fd.Dynamics(model, 'c').external_force_vector([0.0], wrenches)
        # Moments about the joint, at the first link: arms of 0, 0.1, 0.2 m and so on.
        assert found == pytest.approx([-sum(0.1 * k + 0.5 for k in range(69))], rel=1e-13)


def test_springs_of_tables_and_friction(monkeypatch):
    """Piecewise polynomials, exponentials and hyperbolic tangents, also of many samples."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = fd.load_robot(arm(
        '<joint_dynamics joint="joint2" damping="0.4" rotor_inertia="0.02"><friction '
        'viscous="0.3" coulomb="1.2" stribeck="2.5" stribeck_velocity="0.2" '
        'smoothing_velocity="0.3"/><spring points="-0.5 -90, 0 0, 0.3 40, 0.6 130"/>'
        '</joint_dynamics>'
    ))
    ours, theirs = fd.Dynamics(model, 'c'), fd.Dynamics(model, 'reference')
    q, qd, qdd, _ = (np.array(each) for each in cases.state(model))
    for scale in (0.1, 1.0, -1.0):
        given = scale * q, scale * qd, qdd
        expected = theirs.inverse_dynamics(*given)
        cases.assert_close(ours.inverse_dynamics(*given), expected)
        rows = ours.batch.inverse_dynamics(*(np.tile(each, (9, 1)) for each in given))
        cases.assert_close(rows[8], expected)


def test_derivatives(monkeypatch):
    """By state and by parameters, under loads, also of many samples."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    model = cases.robot('rigid tree')
    q, qd, qdd, tau = cases.state(model)
    ours, theirs = fd.Dynamics(model, 'c'), fd.Dynamics(model, 'reference')
    for dyn in (ours, theirs):
        dyn.set_gravity([1.0, 2.0, -3.0])
    wrenches = {model.frame_names[-1]: [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]}
    names = [name for name in parameter_names(model) if name.endswith(('/com', '/mass'))][:2]
    for function, last in zip(cases.DERIVATIVES, (qdd, tau), strict=True):
        for loads in (None, wrenches):
            found = [np.ravel(getattr(d, function)(q, qd, last, loads)) for d in (ours, theirs)]
            cases.assert_close(*found, 1e-10)
        rows = getattr(ours.batch, function)([q] * 9, [qd] * 9, [last] * 9)
        again = getattr(ours, function)(q, qd, last)
        for many, one in zip(rows, again, strict=True):
            cases.assert_close(many[8], one)
    for function, last in zip(cases.PARAMETER_DERIVATIVES, (qdd, tau), strict=True):
        found = [np.ravel(getattr(d, function)(q, qd, last, names)) for d in (ours, theirs)]
        cases.assert_close(*found, 1e-9)
