# SPDX-License-Identifier: Apache-2.0
"""States that close loops, singular ones, rotations held, and frames that are moved."""

import flexdyn_ros as fd
from flexdyn_ros.errors import LoopsCannotClose
import numpy as np
from oracles.compare import reference_dynamics
from oracles.mechanisms import mechanism, URDF
import pytest
from scipy.optimize import minimize
from validation.beams_and_linkages.four_bar import joint_values
from validation.van_der_merwe.gimbal_chain import body, joint, origin
import xacro


def test_projection_is_the_nearest():
    """Against a general constrained minimiser."""
    dyn = reference_dynamics(mechanism('four_bar'))
    start = joint_values(2.0)[0] + [0.3, -0.2, 0.25]
    q, qd = dyn.project(start, [1.0, 2.0, -1.0])
    found = minimize(
        lambda x: np.sum((x - start) ** 2), q + 0.01, method='SLSQP', tol=1e-14,
        constraints={'type': 'eq', 'fun': dyn.loop_gaps},
    )
    np.testing.assert_allclose(q, found.x, atol=1e-6)
    a = dyn.loop_jacobian(q)
    free = np.linalg.svd(a)[2][-1]
    np.testing.assert_allclose(qd, free * (free @ [1.0, 2.0, -1.0]), atol=1e-12)


def test_projection_with_a_coordinate_held():
    dyn = reference_dynamics(mechanism('four_bar'))
    wanted = joint_values(2.0, 3.0)
    start = wanted[0] + [0.0, 0.4, -0.3]
    q, qd = dyn.project(start, [3.0, 0.0, 0.0], hold=['crank'])
    np.testing.assert_allclose(q, wanted[0], atol=1e-10)
    np.testing.assert_allclose(qd, wanted[1], atol=1e-10)


def test_where_no_state_closes():
    """A crank held where the coupler cannot reach, with a rocker held too."""
    dyn = reference_dynamics(mechanism('four_bar'))
    with pytest.raises(LoopsCannotClose, match=r'"pin" does not close: its error is .* m in '):
        dyn.project(joint_values(1.0)[0] + [0, 0, 2.5], np.zeros(3), hold=['crank', 'rocker'])
    text = xacro.process_file(str(URDF / 'four_bar.urdf.xacro')).toprettyxml()
    text = text.replace('xyz="0.9 0 0"', 'xyz="0.1 0 0"')
    short = fd.load_robot(text.replace('xyz="0.7 0 0"', 'xyz="0.3 0 0"'))
    with pytest.raises(LoopsCannotClose) as caught:
        reference_dynamics(short).project(np.zeros(3), np.zeros(3))
    assert caught.value.loop == 'pin'
    # Stretched towards each other, the bars leave a gap.
    assert np.hypot(*caught.value.gaps.values()) == pytest.approx(1.0 - 0.3 - 0.1 - 0.3, abs=1e-3)


def parallelogram(third=False):
    """Return a parallelogram linkage, singular when flat; with a third crank it is redundant."""
    rod = (0.5, 0, 0), (0.001, 0.09, 0.09)
    text, cranks = '', (0.0, 1.0, 2.0) if third else (0.0, 2.0)
    for k, x in enumerate(cranks):
        axis = '<axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="1" velocity="1"/>'
        text += body(f'crank{k}', 1.0, *rod)
        text += joint(f'crank{k}', 'revolute', 'base', f'crank{k}', origin((x, 0, 0)), axis)
    text += body('bar', 2.0, (1.0, 0, 0), (0.001, 0.7, 0.7))
    text += joint('bar', 'revolute', 'crank0', 'bar', origin((1, 0, 0)), axis)
    loops = ''
    for k, x in list(enumerate(cranks))[1:]:
        text += f'<link name="end{k}"/>' + joint(
            f'end{k}', 'fixed', f'crank{k}', f'end{k}', origin((1, 0, 0)))
        text += f'<link name="hole{k}"/>' + joint(
            f'hole{k}', 'fixed', 'bar', f'hole{k}', origin((x, 0, 0)))
        loops += f'<loop name="pin{k}" frame1="hole{k}" frame2="end{k}" constrain="tx ty"/>'
    return fd.load_robot(
        f'<robot name="p"><link name="base"/>{text}<flexdyn version="1.0">'
        f'<gravity xyz="0 -9.81 0"/>{loops}</flexdyn></robot>')


def test_a_singular_configuration_is_found_and_solved(caplog):
    """Flat, a parallelogram can move two ways; nothing diverges, and a report names it."""
    dyn = reference_dynamics(parallelogram())
    names = dyn.robot.joint_names
    q = np.zeros(3)
    report = dyn.loop_report(q)
    assert report.singular and not report.redundant
    assert (report.rank, report.usual_rank, report.degrees_of_freedom) == (1, 2, 2)
    assert report.dependent
    qdd = dyn.forward_dynamics(q, np.zeros(3), np.zeros(3))
    assert np.isfinite(qdd).all() and np.abs(qdd).max() < 100.0
    assert 'rank 1' in caplog.text
    bent = np.zeros(3)
    bent[[names.index('crank0'), names.index('crank1')]] = 0.7
    bent[names.index('bar')] = -0.7
    assert not dyn.loop_report(bent).singular
    # Two cranks turn about their pins, and the bar moves on a circle.
    inertia = 2 * (0.09 + 0.25) + 2.0
    pull = 9.81 * (2 * 0.5 + 2.0) * np.cos(0.7)
    qdd = dyn.forward_dynamics(bent, np.zeros(3), np.zeros(3))
    assert qdd[names.index('crank0')] == pytest.approx(-pull / inertia, rel=1e-10)


def test_constraints_that_repeat_each_other_only_when_closed():
    """Three cranks: the dependence holds on closed configurations, and through a simulation."""
    dyn = fd.Dynamics(parallelogram(third=True), backend='python')
    names = dyn.robot.joint_names
    q = np.array([-0.7 if name == 'bar' else 0.7 for name in names])
    report = dyn.loop_report(q)
    assert (report.redundant, report.rank, report.degrees_of_freedom) == (1, 3, 1)
    # A little open, the constraints only look independent.
    qdd = dyn.forward_dynamics(q, np.zeros(4), np.zeros(4))
    for seed in range(5):
        off = 1e-5 * np.random.default_rng(seed).normal(size=4)
        near = dyn.forward_dynamics(q + off, np.zeros(4), np.zeros(4))
        np.testing.assert_allclose(near, qdd, atol=1e-2)
    run = fd.simulate(dyn, q, np.zeros(4), None, 1.0, 1e-2)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-3
    cranks = [k for k, name in enumerate(names) if name != 'bar']
    np.testing.assert_allclose(run.q[-1, cranks], run.q[-1, cranks[0]], atol=1e-10)
    inertia, pull = 3 * 0.34 + 2.0, 9.81 * (3 * 0.5 + 2.0)
    energy = 0.5 * inertia * run.qd[:, cranks[0]]**2 + pull * np.sin(run.q[:, cranks[0]])
    np.testing.assert_allclose(energy, energy[0], atol=1e-3)


def shafts():
    """Return two shafts on universal mounts whose turns about x a loop makes equal."""
    axis = '<axis xyz="{}"/><limit lower="-9" upper="9" effort="1" velocity="1"/>'
    text = ''
    for side in 'ab':
        parent = 'base'
        for k, along in enumerate(('0 0 1', '0 1 0', '1 0 0')):
            name = f'{side}{k}'
            text += body(name, 0.5 + k, (0.1, 0.02 * k, -0.03), (0.02, 0.03, 0.04))
            text += joint(name, 'revolute', parent, name, origin((0, 0, 0)), axis.format(along))
            parent = name
    loop = '<loop name="cv" frame1="a2" frame2="b2" constrain="rx"/>'
    return fd.load_robot(
        f'<robot name="s"><link name="base"/>{text}'
        f'<flexdyn version="1.0">{loop}</flexdyn></robot>')


def test_one_rotation_is_a_constant_velocity_joint():
    """Shafts at an angle turn at equal rates, and the constraint is that of its place."""
    dyn = reference_dynamics(shafts())
    names = list(dyn.robot.joint_names)
    q, qd = np.zeros(6), np.zeros(6)
    q[names.index('a0')], q[names.index('b0')] = 0.4, -0.3
    q[names.index('a2')] = q[names.index('b2')] = 0.9
    assert np.abs(dyn.loop_gaps(q)).max() < 1e-14
    a = dyn.loop_jacobian(q)[0]
    assert a[names.index('a2')] == pytest.approx(-a[names.index('b2')], rel=1e-12)
    qd = np.random.default_rng(3).normal(size=6)
    q, qd = dyn.project(q + 0.2 * np.random.default_rng(4).normal(size=6), qd)
    h = 1e-5
    tau = np.random.default_rng(5).normal(size=6)
    qdd = dyn.forward_dynamics(q, qd, tau)
    gaps = [
        dyn.loop_gaps(q + s * qd + 0.5 * s * s * qdd)[0] for s in (-2 * h, -h, 0.0, h, 2 * h)
    ]
    rate = (gaps[0] - 8 * gaps[1] + 8 * gaps[3] - gaps[4]) / (12 * h)
    second = (-gaps[0] + 16 * gaps[1] - 30 * gaps[2] + 16 * gaps[3] - gaps[4]) / (12 * h * h)
    assert abs(rate) < 1e-9
    assert abs(second) < 1e-4
    run = fd.simulate(dyn, q, qd, None, 0.3, 5e-3, drift='none')
    assert np.abs(dyn.loop_gaps(run.q[-1])).max() < 1e-6
    assert np.abs(run.energy - run.energy[0]).max() < 1e-5 * max(1.0, np.ptp(run.kinetic))


def test_frames_that_are_moved_apart():
    """A pin that is driven along x: the gap follows the double integral, projected too."""
    dyn = fd.Dynamics(mechanism('four_bar'), backend='python')
    q, qd, _ = joint_values(1.0, 1.0)

    def driven(t):
        return {'pin': [0.5 * np.cos(5.0 * t), 0.0]}

    run = fd.simulate(dyn, q, qd, None, 0.5, 5e-3, loop_accelerations=driven)
    gaps = np.array([dyn.loop_gaps(q) for q in run.q])
    np.testing.assert_allclose(gaps[:, 0], 0.5 / 25 * (1 - np.cos(5.0 * run.t)), atol=1e-8)
    np.testing.assert_allclose(gaps[:, 1], 0.0, atol=1e-8)
    free = fd.simulate(dyn, q, qd, None, 0.5, 5e-3, loop_accelerations=driven, drift='none')
    np.testing.assert_allclose(free.q[-1], run.q[-1], atol=1e-5)
    force = fd.simulate(
        dyn, q, qd, None, 0.5, 5e-3, loop_accelerations={'pin': [0.1, 0.0]}, drift='baumgarte')
    assert dyn.loop_gaps(force.q[-1])[0] == pytest.approx(0.5 * 0.1 * 0.25, abs=1e-6)
