# SPDX-License-Identifier: Apache-2.0
"""Equivalent formulations agree: mass matrix, its factors, closed forms, axes of wrenches."""

from dataclasses import replace

import flexdyn_ros as fd
from flexdyn_ros.codegen import generate
from flexdyn_ros.dynamics.articulated_body import factor_order, mass_matrix_factors
from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.dynamics.base_parameters import regroup
from flexdyn_ros.dynamics.coriolis_matrix import coriolis_matrix
from flexdyn_ros.dynamics.mass_matrix import (
    mass_matrix,
    mass_matrix_by_columns,
    mass_matrix_by_first_columns,
    mass_matrix_by_outer_links,
)
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.records.joint import Friction, JointDynamics, Mimic
import numpy as np
import pytest
from validation.counts.robots import flexible_arm, flexible_chain, puma_560, stanford_arm

ROBOTS = {
    'Stanford6': stanford_arm(),
    'Puma6': puma_560(),
    'flexible J': flexible_arm('J', 'TBB-BB', 2, 2.0, False),
    'flexible K': flexible_arm('K', 'R-BB-BB', 1, 0.0, True),
    'flexible Q': flexible_arm('Q', 'R-BB-BB-R-R-R', 1, 0.0, True, general=True),
    'flexible chain': flexible_chain(2, 2),
}
SMALL = {'Stanford3': stanford_arm(3), 'Puma3': puma_560(3)}
CLOSED = ('closed form', 'closed form in multiple angles')
WRENCH = [3.0, -5.0, 2.0, 0.4, -0.7, 1.1]


def state(count, seed=3):
    """Return three random vectors."""
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (3, count)).tolist()


def run(robot, function, values, **options):
    """Return the results of generated Python."""
    code = generate(robot, function, 'python', **options)
    return code.compile_python()(*values)


def close(found, expected):
    """Compare to 1e-12 of the largest entry."""
    size = np.max(np.abs(expected))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * size)


@pytest.mark.parametrize('regrouped', [False, True])
@pytest.mark.parametrize('name', ROBOTS)
def test_ways_to_the_mass_matrix(name, regrouped):
    """Walker and Orin's methods agree, and a mixture of them."""
    tree = _tree(ROBOTS[name], regrouped)
    q = state(tree.nq)[0]
    expected = np.array(mass_matrix(tree, q))
    close(mass_matrix_by_columns(tree, q), expected)
    close(mass_matrix_by_outer_links(tree, q), expected)
    close(mass_matrix_by_first_columns(tree, q), expected)


@pytest.mark.parametrize('name', ['Stanford6', 'Puma6'])
def test_the_coriolis_matrix_of_regrouped_inertia(name):
    """It depends on the mass matrix alone: inertia counted with a parent changes no entry."""
    tree = _tree(ROBOTS[name], False)
    q, qd, _ = state(tree.nq)
    close(coriolis_matrix(_tree(ROBOTS[name], True), q, qd), coriolis_matrix(tree, q, qd))


@pytest.mark.slow
def test_the_cheaper_way_to_the_mass_matrix_is_taken():
    """Behind a turned base joint a mixture of the methods is, on two flexible links alone not."""
    mixed = ('composite bodies and inverse dynamics',)
    function = 'mass_matrix+bias_vector'
    turned = generate(ROBOTS['flexible K'], function)
    assert turned.choices == mixed
    # The aim for case K; FLEXHB has 964.
    assert turned.counts['mul'] + turned.counts['add'] < 500
    composite = generate(ROBOTS['flexible K'], function, method='composite bodies')
    assert _total(turned) < _total(composite)
    assert generate(flexible_arm('A', 'BB-BB', 1, 0.0, True), function).choices == ()


@pytest.mark.parametrize('regrouped', [False, True])
@pytest.mark.parametrize('name', ROBOTS)
def test_factors_of_the_mass_matrix(name, regrouped):
    """U D U^T is the mass matrix in the documented order, U unit upper triangular."""
    tree = _tree(ROBOTS[name], regrouped)
    q = state(tree.nq)[0]
    upper, diagonal = (np.array(x) for x in mass_matrix_factors(tree, q))
    order = factor_order(tree)
    assert sorted(order) == list(range(tree.nv))
    expected = np.array(mass_matrix(tree, q))[np.ix_(order, order)]
    close(upper @ np.diag(diagonal) @ upper.T, expected)
    np.testing.assert_array_equal(np.tril(upper), np.eye(tree.nv))
    assert (diagonal > 0.0).all()


@pytest.mark.parametrize('name', ['Stanford6', 'flexible chain'])
def test_generated_factors(name):
    """They are a function that can be generated, entries named in their order."""
    robot = ROBOTS[name]
    tree = _tree(robot, False)
    q = state(tree.nq)[0]
    code = generate(robot, 'mass_matrix_factors', 'python', optimise='quick')
    upper, diagonal = code.compile_python()(q)
    expected_upper, expected_diagonal = mass_matrix_factors(tree, q)
    close(upper, expected_upper)
    close(diagonal, expected_diagonal)
    names = [robot.coordinate_names[k] for k in factor_order(tree)]
    assert list(code.outputs[1].entries) == [f'D: {each}' for each in names]
    assert code.outputs[0].entries[1] == f'U: {names[0]}, {names[1]}'


def test_factors_refuse_mimic_joints():
    """A coordinate that moves several bodies breaks the recursion."""
    robot = stanford_arm(3)
    joints = list(robot.joints)
    joints[1] = replace(joints[1], mimic=Mimic(joints[0].name))
    robot = replace(robot, joints=tuple(joints))
    with pytest.raises(ArgumentError, match='mimic'):
        generate(robot, 'mass_matrix_factors')
    with pytest.raises(ValueError, match='mimic'):
        mass_matrix_factors(assemble(robot, {}), [0.1, 0.2])


def test_the_method_of_the_mass_matrix_is_selectable():
    """Code names its method; 2 needs fewer operations than 1, and 3 the fewest."""
    robot, totals = ROBOTS['Puma6'], []
    q = state(6)[0]
    for method in ('inverse dynamics', 'outer links', 'composite bodies'):
        code = generate(robot, 'mass_matrix', 'python', method=method)
        assert code.choices == (method,)
        close(code.compile_python()(q), mass_matrix(_tree(robot, False), q))
        totals.append(_total(code))
    assert totals[0] > totals[1] > totals[2]


def test_unknown_methods_are_refused():
    """An error names the method and the known ones."""
    with pytest.raises(ArgumentError, match='"outer links"'):
        generate(ROBOTS['Puma6'], 'mass_matrix', method='outer')
    with pytest.raises(ArgumentError, match='none'):
        generate(ROBOTS['Puma6'], 'gravity_vector', method='outer links')


@pytest.mark.parametrize('method', CLOSED)
@pytest.mark.parametrize('name', SMALL)
def test_closed_forms(name, method):
    """All functions that have one, with friction and rotors."""
    robot = _with_drives(SMALL[name])
    q, qd, qdd = state(3)
    dyn = fd.Dynamics(robot, backend='reference')
    calls = {
        'inverse_dynamics': (q, qd, qdd), 'mass_matrix': (q,), 'bias_vector': (q, qd),
        'coriolis_vector': (q, qd), 'inertia_vector': (q, qdd), 'gravity_vector': (q,),
        'forward_dynamics': (q, qd, qdd),
    }
    for function, values in calls.items():
        expected = getattr(dyn, function)(*values)
        close(run(robot, function, values, method=method), expected)


@pytest.mark.parametrize('method', CLOSED)
def test_closed_forms_under_a_wrench(method):
    """A wrench adds to the closed form."""
    robot = SMALL['Puma3']
    q, qd, qdd = state(3)
    dyn = fd.Dynamics(robot, backend='reference')
    expected = dyn.inverse_dynamics(q, qd, qdd, {'tool': WRENCH})
    found = run(
        robot, 'inverse_dynamics', (q, qd, qdd, WRENCH), arguments=('wrench:tool',),
        method=method, optimise='quick',
    )
    close(found, expected)


@pytest.mark.parametrize('axes', ['tool', 'link2', 'base'])
def test_a_wrench_in_axes_of_a_chosen_frame(axes):
    """The same wrench in other axes gives the same torques."""
    robot = ROBOTS['Puma6']
    q, qd, qdd = state(6)
    dyn = fd.Dynamics(robot, backend='reference')
    turn = dyn.frame_pose(q, axes)[:3, :3]
    in_root = np.concatenate([turn @ WRENCH[:3], turn @ WRENCH[3:]])
    expected = dyn.inverse_dynamics(q, qd, qdd, {'tool': in_root})
    argument = f'wrench:tool@{axes}'
    given = (q, qd, qdd, WRENCH)
    found = run(robot, 'inverse_dynamics', given, arguments=(argument,), optimise='quick')
    close(found, expected)


def _tree(robot, regrouped):
    tree = assemble(robot, {payload.link: payload.inertia for payload in robot.payloads})
    return regroup(tree) if regrouped else tree


def _with_drives(robot):
    law = Friction(0.7, 0.4, 0.6, 0.3, 0.05)
    joints = list(robot.joints)
    joints[1] = replace(joints[1], dynamics=JointDynamics(law, 0.0, None, 2e-3, 30.0))
    return replace(robot, joints=tuple(joints))


def _total(code):
    return code.counts['mul'] + code.counts['add']
