# SPDX-License-Identifier: Apache-2.0
"""Derivatives of inverse and forward dynamics against Pinocchio, differences, closed forms."""

from functools import lru_cache
import math

from codegen import cases
from codegen.native import need_compiler
import flexdyn_ros as fd
from flexdyn_ros.codegen.tracing.parameters import choose_parameters, parameter_names
from flexdyn_ros.dynamics.reference import ReferenceBackend
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.displaced import displaced
from oracles.random_robots import random_robot_urdf
from oracles.segment_arms import boom, WRIST
from oracles.small_robots import arm, pendulum
from oracles.vendor_robots import frictionless, on_floating_base, robots_folder, without_geometry
import pytest

STEP = 1e-5
ROBOTS = {
    **cases.ROBOTS,
    'elastic joints': (23, 4, {'flexible': 0.6, 'max_modes': 1, 'mimic': True}),
    'multi axis': (20, 4, {'kinds': ('multi_axis', 'quaternion', 'revolute'), 'max_modes': 1}),
    'floating chain': (31, 3, {'kinds': ('floating', 'planar', 'revolute'), 'flexible': 0.7}),
}
VENDORS = {
    'ur5': ('ur_description/urdf/ur5_robot.urdf', None),
    'panda': ('panda_description/urdf/panda.urdf', None),
    'solo': ('solo_description/robots/solo12.urdf', 'floating'),
    'kinova': ('kinova_description/robots/kinova.urdf', 'floating'),
}


@lru_cache(maxsize=None)
def robot_of(name):
    """Return a robot by name: random ones with springs and friction, and a boom in segments."""
    if name == 'segments':
        return fd.load_robot(boom(3, 'y z', 'centred', 'continuous', more=WRIST))
    seed, joints, options = ROBOTS[name]
    return fd.load_robot(random_robot_urdf(seed, joints, **options))


def differences(robot, function, q, *vectors):
    """Return central differences of a vector (nv,) by q and by each of the other vectors."""
    found = []
    for which in range(1 + len(vectors)):
        columns = []
        for k in range(robot.nv):
            ends = []
            for step in (STEP, -STEP):
                moved = [np.array(v, dtype=float) for v in vectors]
                at = displaced(robot, q, step * np.eye(robot.nv)[k]) if which == 0 else q
                if which:
                    moved[which - 1][k] += step
                ends.append(function(at, *moved))
            columns.append((ends[0] - ends[1]) / (2.0 * STEP))
        found.append(np.array(columns).T)
    return found


def wrenches_on(robot):
    """Return wrenches on two frames."""
    return {
        robot.frame_names[-1]: [1.0, -2.0, 3.0, 0.5, 0.2, -0.4],
        robot.frame_names[1]: [-4.0, 1.0, 2.0, 0.1, 0.7, 0.3],
    }


@pytest.mark.parametrize('name', [*ROBOTS, 'segments'])
def test_state_derivatives_equal_differences(name):
    """Trees, flexible links, elastic and mimic joints, floating and planar ones, wrenches."""
    robot = robot_of(name)
    dyn = reference_dynamics(robot)
    q, qd, qdd, tau = cases.state(robot)
    wrenches = wrenches_on(robot)
    found = dyn.inverse_dynamics_derivatives(q, qd, qdd, wrenches)

    def forces(q, qd, qdd):
        return dyn.inverse_dynamics(q, qd, qdd, wrenches)

    for ours, theirs in zip(found, differences(robot, forces, q, qd, qdd), strict=True):
        assert_agree(ours, theirs, 3e-7)
    found = dyn.forward_dynamics_derivatives(q, qd, tau, wrenches)

    def accelerations(q, qd, tau):
        return dyn.forward_dynamics(q, qd, tau, wrenches)

    for ours, theirs in zip(found, differences(robot, accelerations, q, qd, tau), strict=True):
        assert_agree(ours, theirs, 1e-6)


@pytest.mark.parametrize('name', [*ROBOTS, 'segments'])
def test_forward_derivatives_follow_from_inverse_ones(name):
    """M d qdd/dx = -d ID/dx at these accelerations: two runs of dual numbers agree."""
    robot = robot_of(name)
    dyn = reference_dynamics(robot)
    q, qd, _, tau = cases.state(robot)
    qdd = dyn.forward_dynamics(q, qd, tau)
    by_q, by_qd, mass = dyn.inverse_dynamics_derivatives(q, qd, qdd)
    found = dyn.forward_dynamics_derivatives(q, qd, tau)
    expected = [-np.linalg.solve(mass, by_q), -np.linalg.solve(mass, by_qd), np.linalg.inv(mass)]
    for ours, theirs in zip(found, expected, strict=True):
        assert_agree(ours, theirs, 1e-9)


@pytest.mark.oracle
@pytest.mark.parametrize(('name', 'backend'), [
    *((name, 'reference') for name in VENDORS), ('panda', 'python'),
])
def test_rigid_arms_against_pinocchio(name, backend):
    """Its analytical derivatives, on a free-flyer too."""
    from oracles.pinocchio_oracle import pin, PinocchioOracle

    path, base = VENDORS[name]
    text = without_geometry((robots_folder() / path).read_text(encoding='utf-8'))
    if base:
        text = on_floating_base(text, fd.load_robot(text).root, base)
    robot = frictionless(fd.load_robot(text))
    oracle = PinocchioOracle(robot, pin.buildModelFromXML(text))
    dyn = fd.Dynamics(robot, backend)
    q, qd, qdd, tau = (np.array(v) for v in cases.state(robot))
    expected = oracle.inverse_dynamics_derivatives(q, qd, qdd)
    for ours, theirs in zip(dyn.inverse_dynamics_derivatives(q, qd, qdd), expected, strict=True):
        assert_agree(ours, theirs, 1e-10)
    if any(joint.mimic for joint in robot.joints):
        return
    expected = oracle.forward_dynamics_derivatives(q, qd, tau)
    for ours, theirs in zip(dyn.forward_dynamics_derivatives(q, qd, tau), expected, strict=True):
        assert_agree(ours, theirs, 1e-9)


@pytest.mark.parametrize('backend', ['reference', 'python', 'c'])
def test_a_pendulum(backend):
    """By state, force and parameters: m r^2 q'' + b q' + m g r sin q = tau."""
    need_compiler(backend)
    m, r, b, g = 2.0, 0.5, 0.3, 9.81
    angle, rate, acceleration, torque = 0.7, 1.1, -2.0, 3.0
    dyn = fd.Dynamics(pendulum(), backend)
    found = dyn.inverse_dynamics_derivatives([angle], [rate], [acceleration])
    assert np.ravel(found) == pytest.approx([m * g * r * math.cos(angle), b, m * r**2], rel=1e-12)
    found = dyn.forward_dynamics_derivatives([angle], [rate], [torque])
    expected = [-g / r * math.cos(angle), -b / (m * r**2), 1.0 / (m * r**2)]
    assert np.ravel(found) == pytest.approx(expected, rel=1e-12)
    names = ['bob/mass', 'pivot/viscous', 'bob/com', 'pivot/rotor_inertia', 'bob/inertia']
    found = dyn.inverse_dynamics_parameter_derivatives(
        [angle], [rate], [acceleration], names
    )
    by_x, by_z = (-m * g * math.cos(angle), -2.0 * m * r * acceleration - m * g * math.sin(angle))
    assert found[0] == pytest.approx([
        r**2 * acceleration + g * r * math.sin(angle), rate, by_x, 0.0, by_z, acceleration,
        0.0, acceleration, 0.0, 0.0, 0.0, 0.0,
    ], rel=1e-12, abs=1e-12)
    motion = (torque - b * rate - m * g * r * math.sin(angle)) / (m * r**2)
    found = dyn.forward_dynamics_parameter_derivatives(
        [angle], [rate], [torque], ['bob/mass', 'pivot/viscous']
    )
    by_mass = -(r**2 * motion + g * r * math.sin(angle)) / (m * r**2)
    assert found[0] == pytest.approx([by_mass, -rate / (m * r**2)], rel=1e-12)


@pytest.mark.parametrize('name', [
    'rigid tree', 'flexible chain', 'floating', 'mimic', 'elastic joints', 'segments',
])
def test_parameter_derivatives_equal_differences(name):
    """Of all parameters that a robot has; forward ones follow from inverse ones."""
    robot = robot_of(name)
    names = parameter_names(robot)
    chosen = choose_parameters(robot, names)
    dyn = reference_dynamics(robot)
    q, qd, qdd, tau = cases.state(robot)
    payloads = {payload.link: payload.inertia for payload in robot.payloads}
    backend = ReferenceBackend(robot, list(robot.gravity_vector), payloads)

    def forces(values):
        return np.array(backend._of(chosen.tree(payloads, values)).inverse_dynamics(q, qd, qdd))

    found = dyn.inverse_dynamics_parameter_derivatives(q, qd, qdd, names)
    assert found.shape == (robot.nv, len(chosen.values))
    size = np.abs(forces(chosen.values)).max()
    for k, value in enumerate(chosen.values):
        step = 1e-4 * max(abs(value), 0.1)
        ends = [
            forces([v + sign * step * (k == other) for other, v in enumerate(chosen.values)])
            for sign in (1.0, -1.0)
        ]
        # The forces are cubic in the parameters at most; the rest is round-off.
        allowed = 1e-6 * np.abs(found[:, k]).max() + 1e-14 * size / step
        assert np.abs((ends[0] - ends[1]) / (2.0 * step) - found[:, k]).max() <= allowed, names
    motion = dyn.forward_dynamics(q, qd, tau)
    by_force = dyn.inverse_dynamics_parameter_derivatives(q, qd, motion, names)
    expected = -np.linalg.solve(dyn.mass_matrix(q), by_force)
    found = dyn.forward_dynamics_parameter_derivatives(q, qd, tau, names)
    assert_agree(found, expected, 1e-8)


def test_a_parameter_in_the_text_of_the_model():
    """Differences by other numbers in the URDF itself."""
    def load(mass=1.5, stiffness=120.0, rotor=0.02, coulomb=2.0):
        text = arm(
            f'<joint_dynamics joint="joint2" stiffness="{stiffness}" damping="0.4" rotor_inertia='
            f'"{rotor}" gear_ratio="3"><friction viscous="0.3" coulomb="{coulomb}" '
            'stribeck="2.5" stribeck_velocity="0.2" smoothing_velocity="0.3"/></joint_dynamics>'
        )
        old = 'value="1.2"'
        first = text.index(old)
        return fd.load_robot(f'{text[:first]}value="{mass}"{text[first + len(old):]}')

    given = {'mass': 1.5, 'stiffness': 120.0, 'rotor': 0.02, 'coulomb': 2.0}
    names = ['link1/mass', 'joint2/stiffness', 'joint2/rotor_inertia', 'joint2/coulomb']
    robot = load()
    q, qd, qdd, _ = cases.state(robot)
    found = reference_dynamics(robot).inverse_dynamics_parameter_derivatives(q, qd, qdd, names)
    for k, (key, value) in enumerate(given.items()):
        step = 1e-4 * value
        ends = [
            reference_dynamics(load(**{**given, key: value + sign * step})).inverse_dynamics(
                q, qd, qdd
            ) for sign in (1.0, -1.0)
        ]
        assert_agree(found[:, k], (ends[0] - ends[1]) / (2.0 * step), 1e-8, key)


def test_a_payload_and_gravity_count():
    """Both change the derivatives, and clearing them restores every bit."""
    robot = robot_of('flexible chain')
    dyn = reference_dynamics(robot)
    q, qd, qdd, _ = cases.state(robot)
    before = dyn.inverse_dynamics_derivatives(q, qd, qdd)
    dyn.set_payload(robot.frame_names[-1], 2.0, [0.1, 0.2, 0.3], np.eye(3))
    dyn.set_gravity([1.0, 2.0, 3.0])
    found = dyn.inverse_dynamics_derivatives(q, qd, qdd)
    expected = differences(robot, dyn.inverse_dynamics, q, qd, qdd)
    for ours, theirs, old in zip(found, expected, before, strict=True):
        assert_agree(ours, theirs, 1e-7)
        assert not np.array_equal(ours, old)
    dyn.clear_payload()
    dyn.set_gravity(robot.gravity)
    for old, new in zip(before, dyn.inverse_dynamics_derivatives(q, qd, qdd), strict=True):
        assert np.array_equal(old, new)
