# SPDX-License-Identifier: Apache-2.0
"""What users ask of a dynamics library, one testable statement a test."""

import re

import numpy as np
from oracles.compare import assert_agree
from oracles.random_robots import inertial_xml
from oracles.random_robots import numbers
from oracles.random_robots import physical_inertia
from oracles.random_robots import random_robot_urdf
from oracles.random_robots import random_state
from oracles.random_robots import rpy_of
import pytest
from scipy.spatial.transform import Rotation

import flexdyn_ros as fd

ONE_AXIS = ('revolute', 'continuous', 'prismatic')


def flexible_urdf(seed=81, **options):
    """Return a flexible chain without fixed joints."""
    settings = {'n_joints': 3, 'kinds': ONE_AXIS, 'flexible': 0.8, 'tree': False} | options
    return random_robot_urdf(seed, **settings)


def state_of(robot, seed=1):
    """Return a random state of the robot."""
    return random_state(robot, np.random.default_rng(seed))


def with_extension(text, inside):
    """Return the URDF with more <flexdyn> content."""
    return text.replace('</flexdyn>', inside + '</flexdyn>')


def arm(drive='', dynamics=''):
    """Return a two-joint arm, `drive` and `dynamics` on its second joint."""
    body = inertial_xml(1.2, [0.3, 0.1, 0.0], np.diag([0.02, 0.03, 0.04]))
    joint = (
        '<joint name="joint{0}" type="continuous"><origin xyz="0.5 0 {1}" rpy="{2} 0 0"/>'
        '<parent link="link{1}"/><child link="link{0}"/><axis xyz="0 0 1"/>{3}</joint>'
    )
    return (
        f'<robot name="arm"><link name="link0"/><link name="link1">{body}</link>'
        f'<link name="link2">{body}</link>{joint.format(1, 0, 1.0, "")}'
        f'{joint.format(2, 1, -0.5, dynamics)}<flexdyn version="1.0">{drive}</flexdyn></robot>'
    )


def test_a_rotor_adds_its_reflected_inertia_on_its_diagonal_alone():
    """M gains gear_ratio^2 * rotor_inertia, nothing else changes."""
    drive = '<joint_dynamics joint="joint2" rotor_inertia="3e-4" gear_ratio="50"/>'
    plain, geared = (fd.Dynamics(fd.load_robot(arm(d))) for d in ('', drive))
    q, qd = [0.4, -0.7], [0.5, 1.5]
    expected = plain.mass_matrix(q) + np.diag([0.0, 50.0**2 * 3e-4])
    assert_agree(geared.mass_matrix(q), expected, 1e-14)
    assert np.array_equal(geared.bias_vector(q, qd), plain.bias_vector(q, qd))


def test_urdf_damping_and_friction_apply():
    """<dynamics damping friction> is viscous and Coulomb friction."""
    losses = '<dynamics damping="2.5" friction="0.7"/>'
    plain, lossy = (fd.Dynamics(fd.load_robot(arm(dynamics=d))) for d in ('', losses))
    q, qd, qdd = [0.4, -0.7], [0.5, 1.5], [1.0, -2.0]
    change = lossy.inverse_dynamics(q, qd, qdd) - plain.inverse_dynamics(q, qd, qdd)
    assert_agree(change, [0.0, 2.5 * 1.5 + 0.7], 1e-12)
    back = lossy.forward_dynamics(q, qd, lossy.inverse_dynamics(q, qd, qdd))
    assert_agree(back, qdd, 1e-9)


def test_friction_follows_its_printed_law():
    """Viscous, Coulomb, Stribeck and smoothing; odd, and zero at rest."""
    law = (
        '<joint_dynamics joint="joint2"><friction viscous="4" coulomb="2.1" stribeck="3" '
        'stribeck_velocity="0.05" smoothing_velocity="0.02"/></joint_dynamics>'
    )
    dyn = fd.Dynamics(fd.load_robot(arm(law, '<dynamics damping="9" friction="9"/>')))
    for rate in (0.0, 0.003, 0.04, 1.2, -0.04):
        expected = 4.0 * rate
        expected += (2.1 + 0.9 * np.exp(-((rate / 0.05) ** 2))) * np.tanh(rate / 0.02)
        assert dyn.friction_vector([0.0, rate])[1] == pytest.approx(expected, abs=1e-14)
    assert np.all(dyn.friction_vector([0.0, 0.0]) == 0.0)


def test_two_masses_on_a_spring_ring_at_the_printed_frequency():
    """Motor inertia B and link inertia J on a spring k: w^2 = k (1/B + 1/J)."""
    body = inertial_xml(1.0, [0, 0, 0], np.diag([0.1, 0.1, 0.3]))
    text = (
        f'<robot name="two"><link name="a"/><link name="b">{body}</link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/></joint><flexdyn version="1.0"><joint_dynamics joint="j" '
        'stiffness="400" damping="0.5" rotor_inertia="2e-4" gear_ratio="30"/></flexdyn></robot>'
    )
    robot = fd.load_robot(text)
    dyn = fd.Dynamics(robot)
    assert robot.coordinate_names == ('j', 'j/elastic')
    motor, link = 30.0**2 * 2e-4, 0.3
    stiffness = np.array([dyn.elastic_vector(e, [0, 0]) for e in np.eye(2)]).T
    values = np.linalg.eigvals(np.linalg.solve(dyn.mass_matrix([0.0, 0.0]), stiffness))
    assert max(values.real) == pytest.approx(400.0 * (1.0 / motor + 1.0 / link), rel=1e-12)
    assert min(values.real) == pytest.approx(0.0, abs=1e-9)
    damping = dyn.elastic_vector([0, 0], [2.0, 3.0]) + dyn.friction_vector([2.0, 3.0])
    assert_agree(damping, [0.0, 1.5], 1e-14)


def test_a_spring_adds_exactly_its_torque():
    """Deflection e asks for k e on the spring's coordinate; forward dynamics gives it back."""
    drive = '<joint_dynamics joint="joint2" stiffness="{}" rotor_inertia="0.01"/>'
    soft, hard = (fd.Dynamics(fd.load_robot(arm(drive.format(k)))) for k in (100.0, 350.0))
    q, qd, qdd = [0.4, -0.7, 0.02], [0.5, 1.5, -0.3], [1.0, -2.0, 0.6]
    change = hard.inverse_dynamics(q, qd, qdd) - soft.inverse_dynamics(q, qd, qdd)
    assert_agree(change, [0.0, 0.0, 250.0 * 0.02], 1e-12)
    push = hard.mass_matrix(q) @ (
        hard.forward_dynamics(q, qd, [0, 0, 0]) - soft.forward_dynamics(q, qd, [0, 0, 0])
    )
    assert_agree(push, [0.0, 0.0, -250.0 * 0.02], 1e-10)


def test_welding_equals_merging_by_hand():
    """A body on a fixed joint gives the torque of its inertia merged into the parent."""
    rng = np.random.default_rng(3)
    turn = Rotation.random(random_state=7).as_matrix()
    place = np.array([0.3, -0.2, 0.5])
    parts = []
    for rotation, shift in ((np.eye(3), np.zeros(3)), (turn, place)):
        mass, com = rng.uniform(0.5, 2.0), rng.normal(size=3) * 0.2
        parts.append((mass, com, physical_inertia(rng, mass), rotation, shift))
    total = sum(part[0] for part in parts)
    centres = [shift + rotation @ com for _, com, _, rotation, shift in parts]
    centre = sum(part[0] * c for part, c in zip(parts, centres, strict=True)) / total
    merged = np.zeros((3, 3))
    for (mass, _, inertia, rotation, _), c in zip(parts, centres, strict=True):
        r = c - centre
        merged += rotation @ inertia @ rotation.T + mass * (r @ r * np.eye(3) - np.outer(r, r))
    joint = (
        '<joint name="j" type="continuous"><origin xyz="0 0 1" rpy="0.5 0.2 0"/>'
        '<parent link="a"/><child link="b"/><axis xyz="0.6 0 0.8"/></joint>'
    )
    weld = (
        f'<joint name="w" type="fixed"><origin xyz="{numbers(place)}" '
        f'rpy="{numbers(rpy_of(turn))}"/><parent link="b"/><child link="c"/></joint>'
    )
    apart = (
        f'<robot name="r"><link name="a"/><link name="b">{inertial_xml(*parts[0][:3])}</link>'
        f'<link name="c">{inertial_xml(*parts[1][:3])}</link>{joint}{weld}</robot>'
    )
    together = (
        f'<robot name="r"><link name="a"/>'
        f'<link name="b">{inertial_xml(total, centre, merged)}</link>{joint}</robot>'
    )
    ours = [
        fd.Dynamics(fd.load_robot(t)).inverse_dynamics([0.7], [1.3], [2.0])
        for t in (apart, together)
    ]
    assert_agree(ours[0], ours[1], 1e-12)


def test_gravity_vector_does_not_know_the_velocity():
    """The gravity term equals inverse dynamics at rest, and takes no velocity."""
    robot = fd.load_robot(flexible_urdf())
    dyn = fd.Dynamics(robot)
    q, qd, _ = state_of(robot)
    zero = np.zeros(robot.nv)
    at_rest = dyn.inverse_dynamics(q, zero, zero) - dyn.elastic_vector(q, zero)
    gravity = dyn.gravity_vector(q)
    assert_agree(gravity, at_rest, 1e-12)
    rest = dyn.coriolis_vector(q, qd) + dyn.friction_vector(qd) + dyn.elastic_vector(q, qd)
    assert_agree(dyn.bias_vector(q, qd) - rest, gravity, 1e-11)
    assert np.all(dyn.coriolis_vector(q, zero) == 0.0)


def test_a_tilted_mount_equals_turned_gravity():
    """On a mount turned by R under g, the torques are the bare robot's under R^T g."""
    text = flexible_urdf()
    gravity = np.array([0.5, -1.0, -9.7])
    bare_text = re.sub(r'<gravity [^>]*/>', '', text)
    turn = Rotation.random(random_state=11).as_matrix()
    mount = (
        f'<link name="floor"/><joint name="mount" type="fixed"><origin xyz="0.1 0.2 0.3" '
        f'rpy="{numbers(rpy_of(turn))}"/><parent link="floor"/><child link="link0"/></joint>'
    )
    mounted = fd.Dynamics(fd.load_robot(bare_text.replace('<flexdyn', mount + '<flexdyn')))
    bare = fd.Dynamics(fd.load_robot(bare_text))
    mounted.set_gravity(gravity)
    bare.set_gravity(turn.T @ gravity)
    state = state_of(bare.robot)
    assert_agree(mounted.inverse_dynamics(*state), bare.inverse_dynamics(*state), 1e-12)
    assert mounted.robot.coordinate_names == bare.robot.coordinate_names


def test_gravity_at_run_time_equals_gravity_in_the_file():
    """set_gravity takes effect at once, and equals the element <gravity>."""
    text = flexible_urdf()
    other = re.sub(r'<gravity [^>]*/>', '<gravity xyz="1 2 -3"/>', text)
    dyn, expected = fd.Dynamics(fd.load_robot(text)), fd.Dynamics(fd.load_robot(other))
    state = state_of(dyn.robot)
    before = dyn.inverse_dynamics(*state)
    dyn.set_gravity([1.0, 2.0, -3.0])
    assert np.array_equal(dyn.inverse_dynamics(*state), expected.inverse_dynamics(*state))
    assert not np.array_equal(dyn.inverse_dynamics(*state), before)


def test_payload_set_then_cleared_restores_every_bit():
    """Also after a second payload, which replaces the first."""
    robot = fd.load_robot(flexible_urdf())
    dyn = fd.Dynamics(robot)
    state = state_of(robot)
    before = dyn.inverse_dynamics(*state)
    inertia = np.diag([0.01, 0.02, 0.02])
    dyn.set_payload('link3', 1.5, [0.1, 0.0, 0.2], inertia)
    first = dyn.inverse_dynamics(*state)
    dyn.set_payload('link3', 0.7, [0.0, 0.1, 0.0], inertia)
    second = dyn.inverse_dynamics(*state)
    fresh = fd.Dynamics(robot)
    fresh.set_payload('link3', 0.7, [0.0, 0.1, 0.0], inertia)
    assert np.array_equal(second, fresh.inverse_dynamics(*state)), 'a payload must replace'
    assert not np.array_equal(first, before)
    assert not np.array_equal(second, first)
    dyn.clear_payload('link3')
    assert np.array_equal(dyn.inverse_dynamics(*state), before)
    dyn.set_payload('link1', 0.7, [0.0, 0.1, 0.0], inertia)
    dyn.clear_payload()
    assert np.array_equal(dyn.inverse_dynamics(*state), before)


def test_clearing_returns_to_the_payload_of_the_file():
    """A payload declared in the description is what clear_payload restores."""
    declared = '<payload link="link2" mass="0.8" com="0 0 0.1" ixx="0.01" iyy="0.01" izz="0.01"/>'
    plain, loaded = (fd.load_robot(arm(drive)) for drive in ('', declared))
    q, qd, qdd = [0.4, -0.7], [0.5, 1.5], [1.0, -2.0]
    bare, dyn = fd.Dynamics(plain), fd.Dynamics(loaded)
    before = dyn.inverse_dynamics(q, qd, qdd)
    bare.set_payload('link2', 0.8, [0.0, 0.0, 0.1], 0.01 * np.eye(3))
    assert_agree(bare.inverse_dynamics(q, qd, qdd), before, 1e-14)
    dyn.set_payload('link2', 5.0, [0, 0, 0], np.zeros((3, 3)))
    assert not np.array_equal(dyn.inverse_dynamics(q, qd, qdd), before)
    dyn.clear_payload()
    assert np.array_equal(dyn.inverse_dynamics(q, qd, qdd), before)


def test_a_payload_attaches_to_the_named_link():
    """It acts as a body welded to that link does; joints behind that link do not feel it."""
    mass, com = 0.9, np.array([0.2, -0.1, 0.3])
    inertia = np.array([[0.02, 0.001, 0.0], [0.001, 0.03, 0.002], [0.0, 0.002, 0.025]])
    weld = (
        f'<link name="load">{inertial_xml(mass, com, inertia)}</link><joint name="w" type="fixed">'
        '<parent link="link1"/><child link="load"/></joint>'
    )
    welded = fd.Dynamics(fd.load_robot(arm().replace('<flexdyn', weld + '<flexdyn')))
    dyn = fd.Dynamics(fd.load_robot(arm()))
    q, qd, qdd = [0.4, -0.7], [0.5, 1.5], [1.0, -2.0]
    before = dyn.inverse_dynamics(q, qd, qdd)
    dyn.set_payload('link1', mass, com, inertia)
    after = dyn.inverse_dynamics(q, qd, qdd)
    assert_agree(after, welded.inverse_dynamics(q, qd, qdd), 1e-12)
    assert after[1] == pytest.approx(before[1], rel=1e-13)
    with pytest.raises(fd.FlexdynError, match='no_such_link'):
        dyn.set_payload('no_such_link', mass, com, inertia)


def test_fixed_joints_in_between_change_nothing():
    """Splitting a joint's origin over a fixed joint keeps every torque, and the length."""
    text = flexible_urdf()
    split = text
    for k in (1, 2, 3):
        pattern = rf'<joint name="joint{k}".*?(<origin [^>]*/>)<parent link="([^"]+)"'
        origin = re.search(pattern, text)
        knot = (
            f'<link name="knot{k}"/><joint name="knot_joint{k}" type="fixed">{origin.group(1)}'
            f'<parent link="{origin.group(2)}"/><child link="knot{k}"/></joint>'
        )
        split = split.replace(
            f'{origin.group(1)}<parent link="{origin.group(2)}"', f'<parent link="knot{k}"'
        ).replace('<flexdyn', knot + '<flexdyn')
    plain, knotted = (fd.Dynamics(fd.load_robot(t)) for t in (text, split))
    assert knotted.robot.coordinate_names == plain.robot.coordinate_names
    state = state_of(plain.robot)
    assert_agree(knotted.inverse_dynamics(*state), plain.inverse_dynamics(*state), 1e-12)


def test_a_continuous_joint_is_one_periodic_coordinate():
    """Torques at q and q + 2 pi k are equal to 1e-12."""
    dyn = fd.Dynamics(fd.load_robot(arm()))
    q, qd, qdd = np.array([0.4, -0.7]), [0.5, 1.5], [1.0, -2.0]
    assert dyn.robot.nq == dyn.robot.nv == 2
    turned = q + 2 * np.pi * np.array([3, -2])
    expected = dyn.inverse_dynamics(q, qd, qdd)
    assert_agree(dyn.inverse_dynamics(turned, qd, qdd), expected, 1e-12)


def test_a_mimic_joint_equals_the_free_model_projected():
    """Inertia reflects with the ratio squared and torque with the ratio; offset included."""
    drive = '<joint_dynamics joint="joint2" rotor_inertia="2e-4" gear_ratio="20" damping="0.3"/>'
    free = fd.load_robot(arm(drive, '<dynamics friction="0.5"/>'))
    tied = fd.load_robot(arm(drive, (
        '<dynamics friction="0.5"/><mimic joint="joint1" multiplier="-1.7" offset="0.2"/>'
    )))
    assert tied.coordinate_names == ('joint1',)
    ratio = np.array([1.0, -1.7])
    q = ratio * 0.4 + np.array([0.0, 0.2])
    both, one = fd.Dynamics(free), fd.Dynamics(tied)
    expected = ratio @ both.inverse_dynamics(q, ratio * 0.6, ratio * 1.5)
    assert_agree(one.inverse_dynamics([0.4], [0.6], [1.5]), [expected], 1e-12)
    assert_agree(one.mass_matrix([0.4]), [[ratio @ both.mass_matrix(q) @ ratio]], 1e-12)


def test_a_massless_leaf_is_accepted_and_forward_dynamics_names_it():
    """A missing <inertial> is zero mass: inverse dynamics works, forward dynamics refuses."""
    text = arm().replace('<flexdyn', (
        '<link name="feather"/><joint name="loose" type="continuous"><parent link="link2"/>'
        '<child link="feather"/><axis xyz="0 0 1"/></joint><flexdyn'
    ))
    robot = fd.load_robot(text)
    dyn = fd.Dynamics(robot)
    tau = dyn.inverse_dynamics([0.1, 0.2, 0.3], [1, 2, 3], [1, 1, 1])
    assert np.all(np.isfinite(tau)) and tau[2] == 0.0
    assert robot.total_mass == pytest.approx(2.4)
    with pytest.raises(fd.FlexdynError, match='loose.*feather'):
        dyn.forward_dynamics([0.1, 0.2, 0.3], [1, 2, 3], tau)


def test_an_inertial_without_origin_stands_at_the_link_frame():
    """URDF's default: identity."""
    body = inertial_xml(1.2, [0.3, 0.1, 0.0], np.diag([0.02, 0.03, 0.04]))
    text = arm().replace(body, re.sub('<origin [^>]*/>', '', body))
    assert fd.load_robot(text).link('link2').inertia.com == (0.0, 0.0, 0.0)
