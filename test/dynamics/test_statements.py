# SPDX-License-Identifier: Apache-2.0
"""Statements about mass, gravity and payloads; one statement a test."""

import re

import flexdyn_ros as fd
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.random_robots import inertial_xml, numbers, physical_inertia, rpy_of
from oracles.small_robots import arm, flexible_urdf, state_of
import pytest
from scipy.spatial.transform import Rotation


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
        reference_dynamics(fd.load_robot(t)).inverse_dynamics([0.7], [1.3], [2.0])
        for t in (apart, together)
    ]
    assert_agree(ours[0], ours[1], 1e-12)


def test_gravity_vector_does_not_know_the_velocity():
    """The gravity term equals inverse dynamics at rest, and takes no velocity."""
    robot = fd.load_robot(flexible_urdf())
    dyn = reference_dynamics(robot)
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
    mounted = reference_dynamics(fd.load_robot(bare_text.replace('<flexdyn', mount + '<flexdyn')))
    bare = reference_dynamics(fd.load_robot(bare_text))
    mounted.set_gravity(gravity)
    bare.set_gravity(turn.T @ gravity)
    state = state_of(bare.robot)
    assert_agree(mounted.inverse_dynamics(*state), bare.inverse_dynamics(*state), 1e-12)
    assert mounted.robot.coordinate_names == bare.robot.coordinate_names


def test_gravity_at_run_time_equals_gravity_in_the_file():
    """set_gravity takes effect at once, and equals the element <gravity>."""
    text = flexible_urdf()
    other = re.sub(r'<gravity [^>]*/>', '<gravity xyz="1 2 -3"/>', text)
    dyn, expected = (reference_dynamics(fd.load_robot(t)) for t in (text, other))
    state = state_of(dyn.robot)
    before = dyn.inverse_dynamics(*state)
    dyn.set_gravity([1.0, 2.0, -3.0])
    assert np.array_equal(dyn.inverse_dynamics(*state), expected.inverse_dynamics(*state))
    assert not np.array_equal(dyn.inverse_dynamics(*state), before)


def test_payload_set_then_cleared_restores_every_bit():
    """Also after a second payload, which replaces the first."""
    robot = fd.load_robot(flexible_urdf())
    dyn = reference_dynamics(robot)
    state = state_of(robot)
    before = dyn.inverse_dynamics(*state)
    inertia = np.diag([0.01, 0.02, 0.02])
    dyn.set_payload('link3', 1.5, [0.1, 0.0, 0.2], inertia)
    first = dyn.inverse_dynamics(*state)
    dyn.set_payload('link3', 0.7, [0.0, 0.1, 0.0], inertia)
    second = dyn.inverse_dynamics(*state)
    fresh = reference_dynamics(robot)
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
    """clear_payload restores a payload declared in the description."""
    declared = '<payload link="link2" mass="0.8" com="0 0 0.1" ixx="0.01" iyy="0.01" izz="0.01"/>'
    plain, loaded = (fd.load_robot(arm(drive)) for drive in ('', declared))
    q, qd, qdd = [0.4, -0.7], [0.5, 1.5], [1.0, -2.0]
    bare, dyn = reference_dynamics(plain), reference_dynamics(loaded)
    before = dyn.inverse_dynamics(q, qd, qdd)
    bare.set_payload('link2', 0.8, [0.0, 0.0, 0.1], 0.01 * np.eye(3))
    assert_agree(bare.inverse_dynamics(q, qd, qdd), before, 1e-14)
    dyn.set_payload('link2', 5.0, [0, 0, 0], np.zeros((3, 3)))
    assert not np.array_equal(dyn.inverse_dynamics(q, qd, qdd), before)
    dyn.clear_payload()
    assert np.array_equal(dyn.inverse_dynamics(q, qd, qdd), before)


def test_a_payload_attaches_to_the_named_link():
    """It acts as a body welded to that link does, without an effect on joints behind it."""
    mass, com = 0.9, np.array([0.2, -0.1, 0.3])
    inertia = np.array([[0.02, 0.001, 0.0], [0.001, 0.03, 0.002], [0.0, 0.002, 0.025]])
    weld = (
        f'<link name="load">{inertial_xml(mass, com, inertia)}</link><joint name="w" type="fixed">'
        '<parent link="link1"/><child link="load"/></joint>'
    )
    welded = reference_dynamics(fd.load_robot(arm().replace('<flexdyn', weld + '<flexdyn')))
    dyn = reference_dynamics(fd.load_robot(arm()))
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
    plain, knotted = (reference_dynamics(fd.load_robot(t)) for t in (text, split))
    assert knotted.robot.coordinate_names == plain.robot.coordinate_names
    state = state_of(plain.robot)
    assert_agree(knotted.inverse_dynamics(*state), plain.inverse_dynamics(*state), 1e-12)


def test_a_massless_leaf_is_accepted_and_forward_dynamics_names_it():
    """A missing <inertial> is zero mass: inverse dynamics works, forward dynamics refuses."""
    text = arm().replace('<flexdyn', (
        '<link name="feather"/><joint name="loose" type="continuous"><parent link="link2"/>'
        '<child link="feather"/><axis xyz="0 0 1"/></joint><flexdyn'
    ))
    robot = fd.load_robot(text)
    dyn = reference_dynamics(robot)
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


def test_a_hanging_weight_equals_a_wrench():
    """At rest, a point payload needs the torques of its weight as a wrench from outside."""
    dyn = reference_dynamics(fd.load_robot(arm()))
    q, zero = [0.4, -0.7], [0.0, 0.0]
    push = {'link2': [0.0, 0.0, -9.81 * 1.3, 0.0, 0.0, 0.0]}
    expected = dyn.inverse_dynamics(q, zero, zero, wrenches=push)
    assert not np.allclose(expected, dyn.inverse_dynamics(q, zero, zero))
    dyn.set_payload('link2', 1.3, [0.0, 0.0, 0.0], np.zeros((3, 3)))
    assert_agree(dyn.inverse_dynamics(q, zero, zero), expected, 1e-12)
