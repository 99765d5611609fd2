# SPDX-License-Identifier: Apache-2.0
"""Screws and axes of any direction: closed forms, chains under a constraint, Pinocchio, loops."""

import flexdyn_ros as fd
from flexdyn_ros.model.check import check_robot
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.random_robots import random_robot_urdf, random_state
from oracles.robot_kinds import ROBOTS
import pytest
from thinned import thinned
from validation.van_der_merwe.gimbal_chain import body, joint, origin

AXIS = np.array([2.0, -1.0, 2.0]) / 3.0
PITCH, MASS, COM, MOMENTS = 0.07, 1.7, (0.1, -0.2, 0.3), (0.02, 0.03, 0.04)
GRAVITY = (1.0, -2.0, -9.0)
BEAM = (
    '<flexible_link link="rod"><beam tip="0.9 0 0" y_axis="0 1 0" young="2e9" shear="1e9" '
    'area="1e-3" iy="2e-8" iz="3e-8" j="5e-8" mass="0.8"><bending axis="y" modes="1"/>'
    '<bending axis="z" modes="1"/><torsion modes="1"/></beam></flexible_link>'
)
DIRECTION = f'<axis xyz="{AXIS[0]} {AXIS[1]} {AXIS[2]}"/>'


def robot_of(parts, inner):
    """Return a robot under oblique gravity."""
    gravity = ' '.join(map(str, GRAVITY))
    return fd.load_robot(
        f'<robot name="r"><link name="base"/>{parts}<flexdyn version="1.0">'
        f'<gravity xyz="{gravity}"/>{inner}</flexdyn></robot>'
    )


def on_a_flexible_rod(behind, inner=''):
    """Return a flexible rod on a revolute joint, and the bodies at its tip."""
    first = joint('first', 'continuous', 'base', 'rod', origin((0.1, 0.2, 0.3)),
                  '<axis xyz="0 0 1"/>')
    return robot_of('<link name="rod"/>' + first + behind, BEAM + inner)


def screw():
    """Return the rod with a screw at its tip."""
    return on_a_flexible_rod(
        joint('drive', 'continuous', 'rod', 'nut', origin((0.9, 0.0, 0.0)), DIRECTION)
        + body('nut', MASS, COM, MOMENTS), f'<joint_dynamics joint="drive" pitch="{PITCH}"/>',
    )


def turn_and_slide():
    """Return the same with a revolute and a prismatic joint, a massless link between them."""
    limit = '<limit lower="-9" upper="9" effort="1" velocity="1"/>'
    return on_a_flexible_rod(
        joint('drive', 'continuous', 'rod', 'between', origin((0.9, 0.0, 0.0)), DIRECTION)
        + '<link name="between"/>'
        + joint('slide', 'prismatic', 'between', 'nut', origin((0, 0, 0)), DIRECTION + limit)
        + body('nut', MASS, COM, MOMENTS),
    )


def test_a_falling_nut():
    """On a vertical spindle: (I + m h^2) q'' = -m g h."""
    robot = fd.load_robot(
        '<robot name="r"><link name="base"/>'
        + joint('drive', 'continuous', 'base', 'nut', origin((0, 0, 0)), '<axis xyz="0 0 1"/>')
        + body('nut', 2.0, (0.0, 0.0, 0.1), (0.3, 0.3, 0.05)) + '<flexdyn version="1.0">'
        '<joint_dynamics joint="drive" pitch="0.2"/></flexdyn></robot>'
    )
    for backend in ('reference', 'auto'):
        dyn = fd.Dynamics(robot, backend)
        found = dyn.forward_dynamics([0.4], [1.3], [0.0])
        assert found[0] == pytest.approx(-2.0 * 9.81 * 0.2 / (0.05 + 2.0 * 0.2**2), rel=1e-13)
        pose = dyn.frame_pose([0.4], 'nut')
        np.testing.assert_allclose(pose[:3, 3], [0.0, 0.0, 0.08], atol=1e-15)
        np.testing.assert_allclose(
            dyn.jacobian([0.4], 'nut')[:, 0], [0, 0, 0.2, 0, 0, 1.0], atol=1e-15)


def test_like_a_turn_and_a_slide_in_proportion():
    """A constraint slide = h turn on a chain of two joints, at the tip of a bending link."""
    ours, theirs = reference_dynamics(screw()), reference_dynamics(turn_and_slide())
    assert ours.robot.nv == 5
    # q of the chain is tie times q.
    tie = np.insert(np.eye(5), 2, PITCH * np.eye(5)[1], axis=0)
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 5)) * [1.0, 1.0, 0.05, 0.05, 0.05]
    far = tie @ q, tie @ qd, tie @ qdd
    mass = theirs.mass_matrix(far[0])
    assert_agree(ours.mass_matrix(q), tie.T @ mass @ tie, 1e-12)
    forces = tie.T @ theirs.inverse_dynamics(*far)
    assert_agree(ours.inverse_dynamics(q, qd, qdd), forces, 1e-12)
    assert_agree(ours.forward_dynamics(q, qd, forces), qdd, 1e-9)
    coriolis = tie.T @ theirs.coriolis_matrix(*far[:2]) @ tie
    assert_agree(ours.coriolis_matrix(q, qd), coriolis, 1e-11)
    assert_agree(ours.jacobian(q, 'nut'), theirs.jacobian(far[0], 'nut') @ tie, 1e-12)
    assert_agree(ours.frame_pose(q, 'nut'), theirs.frame_pose(far[0], 'nut'), 1e-12)


def test_pinocchio_helical():
    """JointModelHelicalUnaligned."""
    pin = pytest.importorskip('pinocchio', reason='Pinocchio is not installed')
    model = pin.Model()
    model.gravity = pin.Motion(np.array(GRAVITY), np.zeros(3))
    places = ((0.3, -0.1, 0.2), (0.5, 0.4, -0.3))
    parent, parts, drives, link = 0, '', '', 'base'
    for name, place in zip('ab', places):
        kind = pin.JointModelHelicalUnaligned(AXIS, PITCH)
        parent = model.addJoint(parent, kind, pin.SE3(np.eye(3), np.array(place)), name)
        inertia = pin.Inertia(MASS, np.array(COM), np.diag(MOMENTS))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
        parts += joint(f'j{name}', 'continuous', link, name, origin(place), DIRECTION)
        parts += body(name, MASS, COM, MOMENTS)
        drives += f'<joint_dynamics joint="j{name}" pitch="{PITCH}"/>'
        link = name
    dyn = reference_dynamics(robot_of(parts, drives))
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 2))
    data = model.createData()
    assert_agree(
        dyn.inverse_dynamics(q, qd, qdd), pin.rnea(model, data, q, qd, qdd), 1e-12)
    assert_agree(dyn.forward_dynamics(q, qd, qdd), pin.aba(model, data, q, qd, qdd), 1e-11)


def oblique_wrist(inner=''):
    """Return a joint of oblique and offset axes, and the same with joints one by one."""
    ways = (((1.0, 2.0, -2.0), (0.1, 0.0, 0.3)), ((0.0, 3.0, 4.0), (0.0, -0.2, 0.1)),
            ((6.0, 2.0, 3.0), None))
    axes = (
        '<axis name="swing" xyz="1 2 -2" through="0.1 0 0.3"/>'
        f'<axis name="thread" xyz="0 3 4" through="0 -0.2 0.1" pitch="{PITCH}"/>'
        '<axis name="stroke" xyz="6 2 3" motion="slide"/>'
    )
    ours = robot_of(
        joint('wrist', 'floating', 'base', 'hand', origin((0.2, 0.1, 0.5)))
        + body('hand', MASS, COM, MOMENTS),
        f'<multi_axis_joint joint="wrist">{axes}</multi_axis_joint>{inner}',
    )
    parts, parent, last = '', 'base', np.array([0.2, 0.1, 0.5])
    for k, (direction, through) in enumerate(ways):
        point = np.array(through or (0.0, 0.0, 0.0))
        turned = f'<axis xyz="{" ".join(map(str, direction))}"/>'
        limit = '<limit lower="-9" upper="9" effort="1" velocity="1"/>'
        kind = 'prismatic' if through is None else 'continuous'
        parts += joint(f'j{k}', kind, parent, f'l{k}', origin(last + point), turned + limit)
        parent, last = f'l{k}', -point
        parts += f'<link name="l{k}"/>'
    parts += joint('end', 'fixed', parent, 'hand', origin(last)) + body('hand', MASS, COM, MOMENTS)
    theirs = robot_of(parts, f'<joint_dynamics joint="j1" pitch="{PITCH}"/>{inner}')
    return reference_dynamics(ours), reference_dynamics(theirs)


def test_oblique_offset_axes_like_a_chain():
    """A turn about an offset axis, a screw and an oblique slide, against joints one by one."""
    ours, theirs = oblique_wrist()
    assert ours.robot.coordinate_names == ('wrist/swing', 'wrist/thread', 'wrist/stroke')
    q, qd, qdd = np.random.default_rng(2).normal(size=(3, 3))
    for name, given in (
        ('inverse_dynamics', (q, qd, qdd)), ('mass_matrix', (q,)), ('coriolis_vector', (q, qd)),
        ('jacobian', (q, 'hand')), ('frame_pose', (q, 'hand')), ('kinetic_energy', (q, qd)),
    ):
        assert_agree(getattr(ours, name)(*given), getattr(theirs, name)(*given), 1e-11)


def test_oblique_offset_axes_in_a_loop():
    """The hand held to a plane: accelerations and the force of the loop, joints one by one."""
    ours, theirs = oblique_wrist(
        '<loop name="plane" frame1="hand" frame2="base" constrain="tz"/>')
    q, qd, tau = np.random.default_rng(2).normal(size=(3, 3))
    assert ours.robot.nv == theirs.robot.nv == 3
    q, qd = ours.project(q, qd)
    for state, other in zip((q, qd), theirs.project(q, qd)):
        np.testing.assert_allclose(other, state, atol=1e-9)
    found = ours.forward_dynamics(q, qd, tau)
    assert_agree(found, theirs.forward_dynamics(q, qd, tau), 1e-10)
    force = ours.constraint_forces(q, qd, tau)
    assert abs(force[0]) > 1.0
    assert_agree(force, theirs.constraint_forces(q, qd, tau), 1e-10)
    free, _ = oblique_wrist()
    assert np.abs(found - free.forward_dynamics(q, qd, tau)).max() > 0.1


@pytest.mark.parametrize('name', thinned(['screws', 'general_axes'], {'screws'}))
def test_generated_code_and_derivatives(name):
    """Compiled code, the second formulation, and derivatives against differences."""
    robot = fd.load_robot(random_robot_urdf(**ROBOTS[name]))
    dyn, exact = fd.Dynamics(robot), reference_dynamics(robot)
    q, qd, qdd = random_state(robot, np.random.default_rng(5))
    tau = exact.inverse_dynamics(q, qd, qdd)
    assert_agree(dyn.inverse_dynamics(q, qd, qdd), tau, 1e-11)
    assert_agree(dyn.forward_dynamics(q, qd, tau), qdd, 1e-8)
    assert_agree(dyn.coriolis_matrix(q, qd), exact.coriolis_matrix(q, qd), 1e-11)
    for each in (exact, dyn):
        by_q, by_qd, _ = each.inverse_dynamics_derivatives(q, qd, qdd)
        step = 1e-6
        for k in (0, robot.n_joints - 1, robot.nv - 1):
            shift = step * np.eye(robot.nv)[k]
            slope = exact.inverse_dynamics(q + shift, qd, qdd)
            slope = (slope - exact.inverse_dynamics(q - shift, qd, qdd)) / (2.0 * step)
            np.testing.assert_allclose(by_q[:, k], slope, rtol=1e-6, atol=1e-6 * abs(by_q).max())
            slope = exact.inverse_dynamics(q, qd + shift, qdd)
            slope = (slope - exact.inverse_dynamics(q, qd - shift, qdd)) / (2.0 * step)
            np.testing.assert_allclose(by_qd[:, k], slope, rtol=1e-6, atol=1e-6 * abs(by_qd).max())


def test_energy_is_conserved():
    """A bending rod with a free screw at its tip, two seconds."""
    dyn = fd.Dynamics(screw())
    run = fd.simulate(dyn, [0.3, 0.2, 0.01, 0.0, 0.0], [0.5, 3.0, 0, 0, 0], None, 1.0, 2e-4,
                      method='rk4')
    assert np.ptp(run.energy) < 1e-6 * np.ptp(
        [dyn.kinetic_energy(q, qd) for q, qd in zip(run.q[::50], run.qd[::50])])


def test_a_spindle_in_a_loop():
    """A screw drives a slider: (I + (m1 + m2) h^2) q'' = tau, the slider moves by h q."""
    limit = '<limit lower="-9" upper="9" effort="1" velocity="1"/>'
    along = '<axis xyz="0 0 1"/>'
    robot = fd.load_robot(
        '<robot name="r"><link name="base"/>'
        + joint('drive', 'continuous', 'base', 'spindle', origin((0, 0, 0)), along)
        + body('spindle', 0.5, (0.0, 0.0, 0.1), (0.3, 0.3, 0.05))
        + joint('way', 'prismatic', 'base', 'slider', origin((0, 0, 0)), along + limit)
        + body('slider', 2.0, (0.0, 0.0, 0.1), (0.3, 0.3, 0.05)) + '<flexdyn version="1.0">'
        '<gravity xyz="0 0 0"/><joint_dynamics joint="drive" pitch="0.2"/><loop name="collar" '
        'frame1="spindle" frame2="slider" constrain="rx ry tx ty tz"/></flexdyn></robot>'
    )
    dyn = fd.Dynamics(robot)
    found = dyn.forward_dynamics([0.5, 0.1], [1.0, 0.2], [0.7, 0.0])
    expected = 0.7 / (0.05 + 2.5 * 0.2**2)
    np.testing.assert_allclose(found, [expected, 0.2 * expected], rtol=1e-10)


def test_the_check_warns_and_units():
    """Other programs read a revolute joint; a turn is an angle, a slide a length."""
    from flexdyn_ros.simulation.configuration import velocity_coordinate_units

    findings = check_robot(screw()).findings
    assert any('screw' in each.message and 'revolute' in each.message for each in findings)
    assert screw().joint('drive').type == 'continuous'
    robot = fd.load_robot(random_robot_urdf(**ROBOTS['general_axes']))
    slides = [axis.slides for each in robot.joints for axis in each.general_axes]
    places = [k for k, name in enumerate(robot.coordinate_names) if '/a' in name]
    units = velocity_coordinate_units(robot)
    assert [units[k] == 'm' for k in places] == slides and len(set(slides)) == 2


@pytest.mark.parametrize(('inner', 'words'), [
    ('<multi_axis_joint joint="wrist"/>', 'either axes or <axis>'),
    ('<multi_axis_joint joint="wrist" axes="rx"><axis name="a" xyz="1 0 0"/></multi_axis_joint>',
     'either axes or <axis>'),
    ('<multi_axis_joint joint="wrist"><axis name="a/b" xyz="1 0 0"/></multi_axis_joint>',
     'word of letters'),
    ('<multi_axis_joint joint="wrist"><axis name="a" xyz="1 0 0" motion="slide" pitch="1"/>'
     '</multi_axis_joint>', 'no effect on a slide'),
    ('<multi_axis_joint joint="wrist" rotation="quaternion"><axis name="a" xyz="1 0 0"/>'
     '</multi_axis_joint>', 'all three rotations'),
    ('<multi_axis_joint joint="wrist" axes="rx"/><joint_dynamics joint="wrist/rx" pitch="1"/>',
     'pitch in its <axis>'),
    ('<multi_axis_joint joint="wrist" axes="rx"/><joint_dynamics joint="way" pitch="1"/>',
     'prismatic joint has no pitch'),
])
def test_errors(inner, words):
    """One sentence each."""
    limit = '<limit lower="-9" upper="9" effort="1" velocity="1"/>'
    parts = joint('wrist', 'floating', 'base', 'hand', origin((0, 0, 0)))
    parts += body('hand', MASS, COM, MOMENTS)
    parts += joint('way', 'prismatic', 'hand', 'tip', origin((0, 0, 0)), limit)
    parts += body('tip', MASS, COM, MOMENTS)
    with pytest.raises(fd.FlexdynError, match=words):
        robot_of(parts, inner)
