# SPDX-License-Identifier: Apache-2.0
"""The python backend: the reference's numbers, loads as arguments, sources kept on disk."""

import os
import stat
import subprocess
import sys

from codegen import cases
import flexdyn_ros as fd
from flexdyn_ros.codegen.backends import executors
from flexdyn_ros.codegen.backends.generated import generated_backend
from flexdyn_ros.codegen.backends.variants import Variant
from flexdyn_ros.model.records.inertia import Inertia
import numpy as np
from oracles.random_robots import random_robot_urdf
import pytest
from thinned import thinned

# Cases of the default run for each robot; of a rigid tree and a flexible chain, all.
MAIN_FUNCTIONS = ('inverse_dynamics', 'mass_matrix', 'jacobian_rate_qd', 'kinetic_energy')
MATRIX = ((0.3, 0.01, 0.02), (0.01, 0.4, 0.03), (0.02, 0.03, 0.5))


def backend(model):
    """Return the python backend of a robot as loaded."""
    declared = {payload.link: payload.inertia for payload in model.payloads}
    return generated_backend('python', model, list(model.gravity_vector), declared)


@pytest.mark.parametrize(('name', 'function'), thinned(
    [(name, function) for name in cases.ROBOTS for function in cases.FUNCTIONS],
    lambda name, function: function in MAIN_FUNCTIONS or name in ('rigid tree', 'flexible chain'),
))
def test_the_backend_equals_the_reference(name, function):
    """All functions, with wrenches on two frames where wrenches are taken."""
    model = cases.robot(name)
    frames = [model.frame_names[-1], model.frame_names[1]]
    loads = [(f, (1.0, -2.0, 3.0), (0.5, 0.2, -0.4)) for f in frames]
    for wrenches in (loads, ()):
        found = cases.answer(model, function, frames[0], wrenches=wrenches, backend=backend(model))
        cases.assert_close(found, cases.answer(model, function, frames[0], wrenches=wrenches))


@pytest.mark.parametrize('method', ['recursive', 'cholesky'])
def test_both_ways_to_accelerations(method):
    """Named, as of the reference."""
    model = cases.robot('flexible chain')
    q, qd, _, tau = cases.state(model)
    found = backend(model).forward_dynamics(q, qd, tau, (), method)
    cases.assert_close(
        np.array(found), np.array(cases.reference(model).forward_dynamics(q, qd, tau, (), method))
    )


def test_the_backend_says_which_it_is():
    """By name."""
    model = cases.robot('rigid tree')
    assert fd.Dynamics(model, 'python').backend == 'python'
    assert fd.Dynamics(model, 'reference').backend == 'reference'


@pytest.mark.parametrize('name', ['rigid tree', 'flexible chain'])
def test_payload_and_gravity_at_run_time(name):
    """Set, they equal the reference's; cleared, the torques are the same bit for bit."""
    model = cases.robot(name)
    q, qd, qdd, tau = cases.state(model)
    ours, theirs = fd.Dynamics(model, 'python'), fd.Dynamics(model, 'reference')
    before = ours.inverse_dynamics(q, qd, qdd), ours.forward_dynamics(q, qd, tau)
    for link in (model.links[-1].name, model.links[1].name):
        for dyn in (ours, theirs):
            dyn.set_payload(link, 1.5, [0.1, 0.2, 0.3], MATRIX)
        cases.assert_close(ours.inverse_dynamics(q, qd, qdd), theirs.inverse_dynamics(q, qd, qdd))
        cases.assert_close(ours.mass_matrix(q).ravel(), theirs.mass_matrix(q).ravel())
    for dyn in (ours, theirs):
        dyn.set_gravity([1.0, 2.0, -3.0])
    cases.assert_close(ours.forward_dynamics(q, qd, tau), theirs.forward_dynamics(q, qd, tau))
    energies = [dyn.potential_energy(q) for dyn in (ours, theirs)]
    assert energies[0] == pytest.approx(energies[1], rel=1e-12)
    assert not np.array_equal(before[0], ours.inverse_dynamics(q, qd, qdd))
    ours.clear_payload()
    ours.set_gravity(model.gravity)
    assert np.array_equal(before[0], ours.inverse_dynamics(q, qd, qdd))
    assert np.array_equal(before[1], ours.forward_dynamics(q, qd, tau))


def test_other_values_of_a_load_need_no_new_code(monkeypatch):
    """One variant serves all payloads of a link, all gravities and all wrenches on a frame."""
    model = cases.robot('rigid tree')
    q, qd, qdd, _ = cases.state(model)
    dyn = fd.Dynamics(model, 'python')
    frame = model.frame_names[-1]

    def use(scale):
        dyn.set_payload(frame, scale, [0.1, 0.2, 0.3], MATRIX)
        dyn.set_gravity([0.0, scale, 0.0])
        return dyn.inverse_dynamics(q, qd, qdd, {frame: [scale] * 6})

    first = use(1.0)
    monkeypatch.setattr(Variant, 'trace', None)
    assert not np.array_equal(first, use(2.0))


@pytest.mark.parametrize('mass', ['0', '1e-300'])
def test_what_moves_no_inertia_is_refused_as_by_the_reference(mass):
    """The same error with the same names."""
    model = cases.arm_with_point_tip(mass)
    messages = []
    for name in ('python', 'reference'):
        with pytest.raises(fd.FlexdynError) as caught:
            fd.Dynamics(model, name).forward_dynamics([0.1, 0.2], [0.3, 0.4], [1.0, 1.0])
        messages.append((type(caught.value), str(caught.value)))
    assert messages[0] == messages[1]
    assert '"two"' in messages[0][1]


def test_a_light_wrist_on_a_heavy_arm_is_solved():
    """Pivots of very different size, where the reference computes, give its result."""
    model = cases.light_wrist_on_a_heavy_arm()
    results = [
        fd.Dynamics(model, name).forward_dynamics([0.1, 0.2], [0.3, 0.4], [1.0, 1.0])
        for name in ('python', 'reference')
    ]
    cases.assert_close(*results)


def test_many_threads_at_once():
    """Calls share nothing that changes."""
    cases.assert_same_in_threads(fd.Dynamics(cases.robot('rigid tree'), 'python'))


def test_robots_without_coordinates():
    """Nothing moves, and nothing fails."""
    model = fd.load_robot('<robot name="r"><link name="base"/></robot>')
    dyn = fd.Dynamics(model, 'python')
    assert dyn.inverse_dynamics([], [], []).shape == (0,)
    assert dyn.forward_dynamics([], [], []).shape == (0,)
    assert dyn.mass_matrix([]).shape == (0, 0)
    assert dyn.jacobian([], 'base').shape == (6, 0)
    assert np.array_equal(dyn.frame_pose([], 'base'), np.eye(4))
    assert dyn.kinetic_energy([], []) == 0.0


SCRIPT = """
import sys
import flexdyn_ros as fd
from flexdyn_ros.codegen.backends import executors, variants
if sys.argv[2] == 'warm':
    executors.emit_python = variants.simplify = None
model = fd.load_robot(sys.argv[1])
dyn = fd.Dynamics(model, 'python')
print(dyn.inverse_dynamics([0.1] * model.nq, [0.2] * model.nv, [0.3] * model.nv).tolist())
"""


def test_a_second_process_generates_nothing(tmp_path, monkeypatch):
    """Sources are kept on disk, in one step, and give the same numbers; no compiler is run."""
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path / 'kept'))
    model = tmp_path / 'robot.urdf'
    model.write_text(random_robot_urdf(3, 3, flexible=0.0))
    results = [
        subprocess.run(
            [sys.executable, '-c', SCRIPT, str(model), kind], capture_output=True, text=True,
            check=True, env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
        ).stdout for kind in ('cold', 'warm')
    ]
    assert results[0] == results[1]
    entries = list((tmp_path / 'kept').iterdir())
    assert [path.suffix for path in entries] == ['.py']
    assert stat.S_IMODE((tmp_path / 'kept').stat().st_mode) == 0o700
    assert not entries[0].stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def test_a_source_is_made_once_for_all_objects(monkeypatch):
    """Of one process, also after a change of the cache."""
    model = cases.robot('rigid tree')
    q = cases.state(model)[0]
    first = fd.Dynamics(model, 'python').mass_matrix(q)
    monkeypatch.setattr(executors.cache, 'read', None)
    assert np.array_equal(fd.Dynamics(model, 'python').mass_matrix(q), first)


def test_a_payload_replaces_the_declared_one():
    """A payload on a link that declares one replaces it, as in the reference."""
    model = cases.robot('rigid tree')
    link = model.links[-1].name
    extra = f'<payload link="{link}" mass="0.5" com="0.1 0 0" ixx="0" iyy="0" izz="0"/>'
    text = random_robot_urdf(3, 4, flexible=0.0)
    if '<payload' not in text:
        text = text.replace('</flexdyn>', extra + '</flexdyn>')
    declared = fd.load_robot(text)
    carrier = declared.payloads[0].link
    q, qd, qdd, _ = cases.state(declared)
    payloads = {carrier: Inertia(2.0, (0.1, 0.2, 0.3), MATRIX)}
    ours = generated_backend('python', declared, list(declared.gravity_vector), payloads)
    cases.assert_close(
        np.array(ours.inverse_dynamics(q, qd, qdd)),
        np.array(cases.reference(declared, payloads).inverse_dynamics(q, qd, qdd)),
    )


def test_arguments_are_checked_in_every_call():
    """In every call, the first and later ones, and for every type of vector."""
    model = fd.load_robot(random_robot_urdf(5, 3, flexible=0.0))
    dyn = fd.Dynamics(model, 'python')
    state = np.random.default_rng(5).normal(size=(3, model.nv))
    first = dyn.inverse_dynamics(*state)
    assert np.array_equal(dyn.inverse_dynamics(*state), first)
    assert np.array_equal(dyn.inverse_dynamics(*state.tolist()), first)
    single = state.astype(np.float32)
    exact = fd.Dynamics(model, 'reference').inverse_dynamics(*single)
    cases.assert_close(dyn.inverse_dynamics(*single), exact)
    for place, name in enumerate(('q', 'qd', 'qdd')):
        for wrong in (state[place][:-1], state[place][None], np.full(model.nv, np.inf)):
            arguments = [*state]
            arguments[place] = wrong
            with pytest.raises(fd.FlexdynError, match=f'"{name}"|{name} '):
                dyn.inverse_dynamics(*arguments)
    dyn.set_gravity([0.0, 0.0, 0.0])
    light = dyn.inverse_dynamics(*state)
    assert np.array_equal(dyn.inverse_dynamics(*state), light)
    assert not np.array_equal(light, first)
