# SPDX-License-Identifier: Apache-2.0
"""Bearings that give way in several directions, against arms with explicit passive joints."""

import flexdyn_ros as fd
from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.check import check_robot
from flexdyn_ros.simulation.vibrations import analyse
import numpy as np
from oracles.compare import assert_agree, assert_slope_in_q, reference_dynamics
import pytest

BODY = (
    '<inertial><origin xyz="0.4 0.05 -0.1"/><mass value="3"/><inertia ixx="0.02" iyy="0.2" '
    'izz="0.21" ixy="0.01" ixz="0" iyz="0.004"/></inertial>'
)
LAST = (
    f'<link name="c">{BODY}</link><joint name="elbow" type="revolute"><parent link="b"/>'
    '<child link="c"/><origin xyz="0.8 0 0" rpy="0.3 0 0"/><axis xyz="0 1 0"/></joint>'
)
AXIS, ORIGIN = '0 0.6 0.8', '<origin xyz="0.1 0 0.2" rpy="0.2 -0.4 0.1"/>'
STIFFNESS = {'rx': 800.0, 'ry': 900.0, 'rz': 700.0, 'tx': 4e4, 'ty': 5e4, 'tz': 6e4}
DAMPING = {name: 1e-3 * value for name, value in STIFFNESS.items()}


def arm(directions, joint='revolute', more='', gear=''):
    """Return an arm whose first joint has a bearing that gives way in these directions."""
    numbers = (' '.join(f'{table[d]:g}' for d in directions) for table in (STIFFNESS, DAMPING))
    bearing = '<bearing directions="{}" stiffness="{}" damping="{}"/>'.format(
        ' '.join(directions), *numbers)
    return fd.load_robot(
        f'<robot name="r"><link name="a"/><link name="b">{BODY}</link><joint name="swing" '
        f'type="{joint}"><parent link="a"/><child link="b"/>{ORIGIN}<axis xyz="{AXIS}"/></joint>'
        f'{LAST}<flexdyn version="1.0"><joint_dynamics joint="swing"{gear}>{bearing}'
        f'</joint_dynamics>{more}</flexdyn></robot>')


def explicit(directions, joint='revolute', more=''):
    """Return the same arm with a link and a passive joint for each direction."""
    links, drives, parent, origin = '', '', 'a', ORIGIN
    for name in directions:
        kind = 'continuous' if name[0] == 'r' else 'prismatic'
        axis = ' '.join('1' if name[1] == each else '0' for each in 'xyz')
        links += (
            f'<link name="{name}_link"/><joint name="{name}" type="{kind}"><parent '
            f'link="{parent}"/><child link="{name}_link"/>{origin}<axis xyz="{axis}"/><limit '
            'lower="-9" upper="9" effort="9" velocity="9"/></joint>')
        drives += (
            f'<joint_dynamics joint="{name}" parallel_stiffness="{STIFFNESS[name]}" '
            f'damping="{DAMPING[name]}"/>')
        parent, origin = f'{name}_link', ''
    return fd.load_robot(
        f'<robot name="r"><link name="a"/>{links}<link name="b">{BODY}</link><joint name="swing" '
        f'type="{joint}"><parent link="{parent}"/><child link="b"/>{origin}<axis xyz="{AXIS}"/>'
        f'</joint>{LAST}<flexdyn version="1.0">{drives}{more}</flexdyn></robot>')


def matched(one, other, directions):
    """Return the places in the arm of explicit joints of the other arm's coordinates."""
    names = [name.removeprefix('swing/bearing_') for name in one.coordinate_names]
    assert sum(name in directions for name in names) == len(directions) == one.n_modes
    return [other.coordinate_names.index(name) for name in names]


CASES = [
    (('rx', 'ry'), 'revolute', 'reference'),
    (('rx', 'rz', 'tx', 'tz'), 'revolute', 'c'),
    (('rx', 'ry', 'rz', 'tx', 'ty'), 'prismatic', 'python'),
    (('rx', 'ry', 'rz', 'tx', 'ty', 'tz'), 'fixed', 'reference'),
]


@pytest.mark.parametrize(('directions', 'joint', 'backend'), CASES)
def test_agrees_with_passive_joints(directions, joint, backend):
    """Inverse, forward, hybrid dynamics, terms, energies, frames, wrenches."""
    robot, other = arm(directions, joint), explicit(directions, joint)
    dyn, passive = fd.Dynamics(robot, backend=backend), reference_dynamics(other)
    at = matched(robot, other, directions)
    rng = np.random.default_rng(3)
    q, qd, qdd = (rng.normal(scale=scale, size=robot.nv) for scale in (0.3, 0.8, 2.0))
    wrench = {'c': [3.0, -2.0, 5.0, 0.4, 0.2, -0.3]}

    def spread(values):
        full = np.zeros(robot.nv)
        full[at] = values
        return full

    q2, qd2, qdd2 = map(spread, (q, qd, qdd))
    tau = dyn.inverse_dynamics(q, qd, qdd, wrench)
    assert_agree(tau, passive.inverse_dynamics(q2, qd2, qdd2, wrench)[at], 1e-11)
    assert_agree(dyn.forward_dynamics(q, qd, tau, wrench), qdd, 1e-9)
    assert_agree(dyn.mass_matrix(q), passive.mass_matrix(q2)[np.ix_(at, at)], 1e-11)
    assert dyn.kinetic_energy(q, qd) == pytest.approx(passive.kinetic_energy(q2, qd2), rel=1e-11)
    assert dyn.potential_energy(q) == pytest.approx(passive.potential_energy(q2), rel=1e-11)
    assert_agree(dyn.frame_pose(q, 'c'), passive.frame_pose(q2, 'c'), 1e-11)
    torque, modes = dyn.hybrid_dynamics(q, qd, qdd[: robot.n_joints], wrench)
    zero = np.concatenate((torque, np.zeros(robot.n_modes)))
    found = passive.forward_dynamics(q2, qd2, spread(zero), wrench)[at]
    assert_agree(np.concatenate((qdd[: robot.n_joints], modes)), found, 1e-9)
    # The dampers of a bearing are elastic, those of passive joints losses.
    springs = dyn.elastic_vector(q, qd)
    assert_agree(springs, passive.elastic_vector(q2, qd2)[at] + passive.friction_vector(qd2)[at],
                 1e-11)


def test_the_explicit_joints_move_as_pinocchio_s_do():
    """The rigid part of the same motion by Pinocchio, springs and dampers beside it."""
    pytest.importorskip('pinocchio', reason='pinocchio is not installed')
    from oracles.pinocchio_oracle import pin, PinocchioOracle

    directions = ('rx', 'rz', 'tx', 'tz')
    robot, other = arm(directions), explicit(directions)
    text = other.descriptions[0].replace('type="revolute"', 'type="continuous"')
    oracle, at = PinocchioOracle(other, pin.buildModelFromXML(text)), matched(
        robot, other, directions)
    dyn = reference_dynamics(robot)
    q, qd, qdd = np.random.default_rng(8).normal(scale=0.4, size=(3, robot.nv))
    full = np.zeros((3, robot.nv))
    full[:, at] = q, qd, qdd
    expected = oracle.inverse_dynamics(*full)[at] + dyn.elastic_vector(q, qd)
    assert_agree(dyn.inverse_dynamics(q, qd, qdd), expected, 1e-11)
    assert_agree(dyn.mass_matrix(q), oracle.mass_matrix(full[0])[np.ix_(at, at)], 1e-11)


def test_kinematic_influence_and_derivatives_agree():
    """A second formulation, and differences."""
    robot = arm(('rx', 'tz'), gear=' stiffness="500" rotor_inertia="0.02"')
    dyn = reference_dynamics(robot)
    influence = fd.Dynamics(robot, backend='reference', formulation='kinematic_influence')
    rng = np.random.default_rng(4)
    q, qd, qdd = rng.normal(scale=0.3, size=(3, robot.nv))
    assert_agree(influence.inverse_dynamics(q, qd, qdd), dyn.inverse_dynamics(q, qd, qdd), 1e-10)
    assert_agree(influence.mass_matrix(q), dyn.mass_matrix(q), 1e-10)
    assert_slope_in_q(dyn, dyn.inverse_dynamics_derivatives(q, qd, qdd)[0], q, qd, qdd)
    batch = fd.Dynamics(robot).batch.inverse_dynamics(q[None], qd[None], qdd[None])
    assert_agree(batch[0], dyn.inverse_dynamics(q, qd, qdd), 1e-12)


def test_frequencies_are_those_of_the_passive_joints():
    """The vibrations with joints held, against scipy's eigenvalues of the explicit arm."""
    from scipy.linalg import eigh

    directions = ('rx', 'tz')
    robot, other = arm(directions), explicit(directions)
    passive = reference_dynamics(other)
    at = [other.coordinate_names.index(name) for name in directions]
    mass = passive.mass_matrix(np.zeros(other.nv))[np.ix_(at, at)]
    squares = eigh(np.diag([STIFFNESS[name] for name in directions]), mass, eigvals_only=True)
    found = analyse(robot, np.zeros(robot.nv))
    rates = [v['frequency'] for v in found['locked']]
    assert rates == pytest.approx(np.sqrt(squares) / (2 * np.pi), rel=1e-8)
    assert [row['kind'] for row in found['coordinates']] == ['bearing', 'bearing']
    assert not [f for f in check_robot(robot).findings if f.severity == 'error']


@pytest.mark.parametrize('method', ['rk4', 'auto'])
def test_a_swing_keeps_its_energy(method):
    """Without the dampers it is constant, and with them it falls by their losses."""
    robot = arm(('rx', 'ry'))
    dyn = fd.Dynamics(robot)
    q = np.zeros(robot.nv)
    q[robot.n_joints:] = 0.02
    motion = fd.simulate(dyn, q, np.zeros(robot.nv), None, 0.3, 5e-4, method=method)
    rates = motion.qd[:, robot.n_joints:]
    power = rates**2 @ [DAMPING['rx'], DAMPING['ry']]
    lost = np.trapezoid(power, motion.t) if hasattr(np, 'trapezoid') else np.trapz(power, motion.t)
    assert lost > 1e-3
    assert motion.energy[0] - motion.energy[-1] == pytest.approx(lost, rel=2e-3)


@pytest.mark.parametrize(('bearing', 'words'), [
    ('directions="ry rz" stiffness="1 2"', 'contain the motion of the joint'),
    ('directions="rx" stiffness="1 2"', 'there are 1 directions'),
    ('directions="rx" stiffness="0"', 'must be positive'),
    ('directions="rx" stiffness="3" damping="-1"', 'negative'),
])
def test_refusals(bearing, words):
    text = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="swing" type="continuous">'
        f'<parent link="a"/><child link="b"/><axis xyz="{AXIS}"/></joint><flexdyn version="1.0">'
        f'<joint_dynamics joint="swing"><bearing {bearing}/></joint_dynamics></flexdyn></robot>')
    with pytest.raises(ModelError, match=words):
        fd.load_robot(text)


def test_a_mounting_has_no_drive():
    """A fixed joint with friction beside its bearing is refused."""
    end = '</joint_dynamics>'
    text = arm(('rx',), 'fixed').descriptions[0].replace(end, f'<friction viscous="1"/>{end}')
    with pytest.raises(ModelError, match='A fixed joint has <bearing'):
        fd.load_robot(text)
