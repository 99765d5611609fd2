# SPDX-License-Identifier: Apache-2.0
"""The filter against closed forms and scipy, its sensors, and its errors."""

from functools import cache

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError, FlexdynError, NotYetSupported
from flexdyn_ros.modal_observer.kalman_gain import sampled, steady_gain
from flexdyn_ros.modal_observer.observer import EstimateDiverged
from flexdyn_ros.modal_observer.sensor_equations import SensorEquations
from flexdyn_ros.model.records.sensor import MountedSensor
import numpy as np
import pytest
from scipy.linalg import solve_continuous_are, solve_discrete_are
from vibrating_arms import encoders, HeldArm, PERIOD, strain_gauges

ARM = """<robot name="boom"><link name="base"/><link name="arm"/>
<joint name="hub" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="100" velocity="10"/></joint>
<link name="tool"><inertial><mass value="2"/><origin xyz="0.1 0 0"/>
<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="mount" type="fixed"><parent link="arm"/><child link="tool"/>
<origin xyz="1.2 0 0" rpy="0.3 0.2 0.4"/></joint>
<flexdyn version="1.0"><gravity xyz="0 -9.81 0"/><flexible_link link="arm">
<beam tip="tool" young="7e10" shear="2.6e10" area="2e-4" iy="4e-9" iz="{iz}" j="8e-9" mass="0.6">
<bending axis="y" modes="1" damping_ratio="0.01"/><bending axis="z" modes="1"/></beam>
</flexible_link><joint_dynamics joint="hub" rotor_inertia="0.4" gear_ratio="1" {spring}/>
{more}</flexdyn></robot>"""


def text(iz=2e-9, spring='', more=''):
    return ARM.format(iz=iz, spring=spring, more=more)


@cache
def boom(iz=2e-9, backend='auto'):
    return fd.Dynamics(fd.load_robot(text(iz)), backend)


def test_one_mode_has_the_closed_form_of_kalman_and_bucy():
    """Of x'' = -w^2 x + noise, read often: the gain is that of the continuous filter, times h."""
    w, q, r, h = 7.0, 0.3, 1e-4, 1e-5
    a, c = np.array([[0.0, 1.0], [-w**2, 0.0]]), np.array([[1.0, 0.0]])
    f, noise = sampled(a, np.diag([0.0, q]), h)
    gain = steady_gain(f, c, noise, np.array([[r / h]]))[:, 0] / h
    # P12 = r (sqrt(w^4 + q / r) - w^2), P11^2 = 2 r P12.
    second = np.sqrt(w**4 + q / r) - w**2
    assert gain == pytest.approx([np.sqrt(2.0 * second), second], rel=2e-3)
    p = solve_continuous_are(a.T, c.T, np.diag([0.0, q]), np.array([[r]]))
    assert gain == pytest.approx(p[:, 0] / r, rel=2e-3)


def test_the_gain_is_that_of_scipy():
    """Of random systems with several readings."""
    random = np.random.default_rng(5)
    for n, p in ((2, 1), (6, 2), (12, 4)):
        f, q = sampled(random.normal(size=(n, n)), np.eye(n), 0.1)
        h, part = random.normal(size=(p, n)), random.normal(size=(p, p))
        r = part @ part.T + np.eye(p)
        before = solve_discrete_are(f.T, h.T, q, r)
        wanted = np.linalg.solve(h @ before @ h.T + r, h @ before).T
        assert steady_gain(f, h, q, r) == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_fast_decays_are_sampled_in_closed_form():
    """Of x' = -a x + noise: friction of light joints decays within nanoseconds."""
    for a in (1e-3, 1.0, 1e3, 1e7):
        f, q = sampled(np.array([[-a]]), np.array([[2.0]]), 1e-2)
        assert f[0, 0] == pytest.approx(np.exp(-1e-2 * a), rel=1e-9)
        assert q[0, 0] == pytest.approx(-np.expm1(-2e-2 * a) / a, rel=1e-9)


FINGER = """<link name="finger"><inertial><mass value="1e-2"/>
<inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="grip" type="prismatic"><parent link="arm"/><child link="finger"/><axis xyz="0 0 1"/>
<limit lower="0" upper="1" effort="9" velocity="1"/><dynamics damping="{}" friction="{}"/></joint>
<flexdyn"""


@pytest.mark.parametrize('damping, friction', [(0.0, 0.0), (10.0, 1.0), (1e3, 1e3)])
def test_joints_that_no_mode_moves_leave_the_others_as_they_are(damping, friction):
    """A finger at the hub: without friction it has no noise of its own, with it it stands."""
    alone = fd.ModalObserver(boom(), PERIOD).observability([0.3])
    robot = fd.load_robot(text().replace('<flexdyn', FINGER.format(damping, friction), 1))
    found = fd.ModalObserver(fd.Dynamics(robot), PERIOD).observability([0.3, 0.0])
    for one, other in zip(alone, found):
        assert one.made_of == other.made_of and one.observable == other.observable
        assert one.error == pytest.approx(other.error, rel=0.02)


def test_a_stable_estimate_is_chosen_and_a_refusal_names_the_modes():
    """Of the boom with a hoist, whose torsion neither encoders nor strain gauges observe."""
    robot = fd.load_robot('package://flexdyn_ros/urdf/telescopic_boom.urdf.xacro')
    dyn, q = fd.Dynamics(robot), np.full(robot.n_joints, 0.1)
    found = fd.ModalObserver(dyn, PERIOD, encoders(robot)).observability(q)
    assert {mode.made_of: mode.observable for mode in found} == {
        'boom/bending_y1': True, 'boom/bending_z1': True, 'boom/torsion1': False,
        'boom/bending_y_static1': False, 'boom/bending_z_static1': False}
    with pytest.raises(FlexdynError, match=r'do not observe: 62.3 Hz \(boom/torsion1\). Add'):
        fd.ModalObserver(dyn, PERIOD, encoders(robot) + strain_gauges(robot)).observability(q)


def sensor(measures, frame, axis=(1.0, 0.0, 0.0), at=0.0, distance=0.0):
    return MountedSensor('s', measures, frame, 1e-3, axis, at, distance)


def readings(dyn, sensors, q, qd, qdd):
    return SensorEquations(dyn, sensors)(*map(np.array, (q, qd, qdd)))


def test_inertial_sensors_are_differences_of_the_pose():
    """Along a motion with constant acceleration, in axes of the frame."""
    dyn, axes, h = boom(backend='reference'), [tuple(row) for row in np.eye(3)], 1e-4
    q, qd, qdd = [0.3, 0.02, -0.01], [0.5, -0.8, 0.6], [1.0, -2.0, 3.0]

    def pose(t):
        return dyn.frame_pose(np.array(q) + np.array(qd) * t + np.array(qdd) * t**2 / 2, 'tool')

    turn = pose(0.0)[:3, :3]
    second = (pose(h) - 2.0 * pose(0.0) + pose(-h))[:3, 3] / h**2
    found = readings(dyn, [sensor('acceleration', 'tool', a) for a in axes], q, qd, qdd)
    assert found == pytest.approx(turn.T @ (second - dyn.robot.gravity), abs=1e-5)
    spin = (pose(h) - pose(-h))[:3, :3] / (2.0 * h) @ turn.T
    spin = turn.T @ [spin[2, 1], spin[0, 2], spin[1, 0]]
    found = readings(dyn, [sensor('angular_velocity', 'tool', a) for a in axes], q, qd, qdd)
    assert found == pytest.approx(spin, abs=1e-6)


def test_a_force_sensor_reads_what_moves_the_tool():
    """Newton's and Euler's laws of a rigid tool, about the joint frame."""
    dyn, axes = boom(backend='reference'), [tuple(row) for row in np.eye(3)]
    q, qd, qdd = np.array([0.3, 0.02, -0.01]), np.zeros(3), np.array([1.0, -2.0, 3.0])
    turn = dyn.frame_pose(q, 'tool')[:3, :3]
    linear, angular = np.split(dyn.jacobian(q, 'tool') @ qdd, 2)
    arm = turn @ [0.1, 0.0, 0.0]
    force = 2.0 * (linear + np.cross(angular, arm) - dyn.robot.gravity)
    torque = 1e-3 * angular + np.cross(arm, force)
    found = readings(dyn, [sensor('force', 'mount', a) for a in axes], q, qd, qdd)
    assert found == pytest.approx(turn.T @ force, rel=1e-9)
    found = readings(dyn, [sensor('torque', 'mount', a) for a in axes], q, qd, qdd)
    assert found == pytest.approx(turn.T @ torque, rel=1e-9)


def test_a_strain_gauge_reads_the_curvature_at_the_root():
    """Of the first mode of a cantilever: 1.8751^2 / L^2 for unit deflection of the tip."""
    dyn, d = boom(), 0.02
    root = [sensor('strain', 'arm', axis, 0.0, d) for axis in (
        (0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0))]
    unit = 1.875104**2 / 1.2**2 * d
    zero = np.zeros(3)
    # Bent towards +y, the side at +y is compressed.
    assert readings(dyn, root, [0.0, 1.0, 0.0], zero, zero) == pytest.approx(
        [-unit, unit, 0.0], rel=1e-5, abs=1e-9)
    assert readings(dyn, root, [0.0, 0.0, 1.0], zero, zero) == pytest.approx(
        [0.0, 0.0, -unit], rel=1e-5, abs=1e-9)


@pytest.mark.parametrize('factor, bar', [
    (1.0, 0.1), pytest.param(0.9, 0.25, marks=pytest.mark.slow),
    pytest.param(1.1, 0.25, marks=pytest.mark.slow)])
def test_the_error_is_within_its_bars_from_motor_encoders(factor, bar):
    arm = HeldArm(boom().robot, np.array([0.3]), 30.0)
    model = boom(2e-9 * factor)
    observer = fd.ModalObserver(model, PERIOD, encoders(model.robot))
    modes = [mode for mode in arm.modes if observer.observability([0.3])[mode[2]].observable]
    assert len(modes) == 1
    assert arm.error(observer, modes[0])[0] < bar


def test_a_mode_that_moves_no_joint_is_unobservable():
    """Bending along the axis of the joint, which a gyroscope in the tool measures."""
    robot = boom().robot
    by_name = {m.made_of: m for m in fd.ModalObserver(boom(), PERIOD).observability([0.3])}
    assert by_name['arm/bending_y1'].observable
    hidden = by_name['arm/bending_z1']
    assert not hidden.observable
    assert hidden.error > 0.9
    gyro = [sensor('angular_velocity', 'tool', (0.0, 1.0, 0.0))]
    seen = fd.ModalObserver(boom(), PERIOD, encoders(robot) + gyro).observability([0.3])
    assert all(mode.observable for mode in seen)
    # Unobserved modes are not corrected.
    observer = fd.ModalObserver(boom(), PERIOD)
    observer.update([0.0], [0.3])
    before = observer.q[2]
    observer.update(boom().quasi_static_torque([0.3], [0.0], [0.0])[0], [0.301])
    assert observer.q[1] != pytest.approx(0.0, abs=1e-9)
    assert observer.q[2] == pytest.approx(before, abs=1e-9)


def test_an_arm_that_moves_through_cells_is_followed():
    """Sliding joint, several designs, exact model without noise."""
    dyn = boom()
    observer = fd.ModalObserver(dyn, PERIOD)
    hold, sag, _ = dyn.quasi_static_torque([0.0], [0.0], [0.0])
    torque = fd.simulate(
        dyn, [0.0, *sag], [0.0] * 3, lambda t, q, qd: [hold[0] + 20.0 * np.sin(3.0 * t), 0.0, 0.0],
        0.8, PERIOD, 'rk4', energy_tolerance=None)
    for row in range(len(torque.t)):
        mean = 0.5 * (torque.tau[row] + torque.tau[max(row - 1, 0)])[:1]
        q, qd = observer.update(mean, torque.q[row, :1])
    assert np.ptp(torque.q[:, 0]) > 0.5
    assert len(observer._designs) > 1
    size = np.ptp(torque.q[:, 1])
    assert q[:2] == pytest.approx(torque.q[-1, :2], abs=0.02 * size)


@pytest.mark.parametrize('arguments, word', [
    ({'period': 0.0}, 'period'), ({'period': float('nan')}, 'period'),
    ({'period': 1e-3, 'amplitude': -1.0}, 'amplitude'), ({'period': 'fast'}, '"period"'),
    ({'period': 1e-3, 'friction_error': None}, 'friction_error'),
    ({'period': 1e-3, 'friction_error': float('nan')}, 'friction_error'),
    *(({'period': 1e-3, 'sensors': wrong}, '"sensors" is') for wrong in (3, 'gyro', np.eye(2))),
    ({'period': 1e-3, 'sensors': [MountedSensor('a', 'motor_position', 'hub', 0.0)]}, 'noise'),
    ({'period': 1e-3, 'sensors': [sensor('strain', 'arm', distance=0.1)]}, 'hub'),
])
def test_wrong_arguments_are_named(arguments, word):
    with pytest.raises(ArgumentError, match=word):
        fd.ModalObserver(boom(backend='reference'), **arguments)


@pytest.mark.parametrize('name, value', [
    ('period', '1 ms'), ('period', 0.0), ('delay', None), ('stiffness_error', 1.0),
    ('stiffness_error', 'some'), ('in_drives', np.ones(2)), ('modes', 'all'), ('modes', 0),
    ('actuators', 3), ('sensors', ['hub']),
])
def test_wrong_arguments_of_active_damping_are_named(name, value):
    given = {'period': 1e-3, 'delay': 1e-3, name: value}
    with pytest.raises(ArgumentError, match=f'"{name}"'):
        fd.damping_controller(boom(backend='reference'), [0.2], [30.0], [6.0], **given)


def test_robots_without_modes_and_with_loops_are_refused():
    rigid = text().replace('<bending axis="y" modes="1" damping_ratio="0.01"/>', '').replace(
        '<bending axis="z" modes="1"/>', '')
    with pytest.raises(FlexdynError, match='rigid'):
        fd.ModalObserver(fd.Dynamics(fd.load_robot(rigid)), 1e-3)
    free = fd.load_robot(text(more='<base motion="free"/>'))
    with pytest.raises(NotYetSupported, match='fixed base'):
        fd.ModalObserver(fd.Dynamics(free), 1e-3)


GOOD = '<sensor name="a" measures="{}" frame="{}" noise="1e-3" {}/>'


@pytest.mark.parametrize('measures, frame, more', [
    ('motor_position', 'hub', ''), ('link_position', 'hub', ''),
    ('angular_velocity', 'tool', 'axis="0 0 2"'), ('acceleration', 'base', 'axis="0 1 0"'),
    ('force', 'mount', 'axis="1 0 0"'), ('torque', 'mount', 'axis="1 0 0"'),
    ('strain', 'arm', 'axis="0 1 0" distance="0.01" at="0.5"'),
])
def test_the_extension_gives_sensors(measures, frame, more):
    robot = fd.load_robot(text(spring='stiffness="5e3"', more=GOOD.format(measures, frame, more)))
    (found,) = robot.sensors
    assert (found.name, found.measures, found.frame, found.noise) == ('a', measures, frame, 1e-3)
    assert np.linalg.norm(found.axis) == pytest.approx(1.0)
    assert (found.at, found.distance) == ((0.5, 0.01) if measures == 'strain' else (0.0, 0.0))


@pytest.mark.parametrize('measures, frame, more, word', [
    ('motor_position', 'mount', '', 'no coordinate'), ('link_position', 'hub', '', 'no spring'),
    ('motor_position', 'hub', 'axis="0 0 1"', 'no effect'),
    ('angular_velocity', 'tol', 'axis="0 0 1"', 'No link'),
    ('angular_velocity', 'tool', '', 'axis is missing'),
    ('force', 'hub', 'axis="1 0 0"', 'not fixed'), ('force', 'mont', 'axis="1 0 0"', 'No joint'),
    ('strain', 'tool', 'axis="1 0 0" distance="0.01"', 'no <beam>'),
    ('strain', 'arm', 'axis="0 1 0"', 'distance is missing'),
    ('acceleration', 'tool', 'axis="0 1 0" at="0.5"', 'no effect'),
])
def test_sensors_that_cannot_be_are_refused(measures, frame, more, word):
    with pytest.raises(FlexdynError, match=word):
        fd.load_robot(text(more=GOOD.format(measures, frame, more)))


def test_the_command_line_prints_what_is_observable(tmp_path, capsys):
    from flexdyn_ros.cli.main import main

    path = tmp_path / 'boom.urdf'
    path.write_text(text())
    assert main(['modes', str(path), '--at', 'hub=0.3', '--observer', '1000']) == 0
    printed = capsys.readouterr().out
    assert 'unobservable, not estimated' in printed
    assert 'from hub_encoder' in printed
    assert main(['modes', str(path), '--observer', '-1']) == 2


def test_an_estimate_that_leaves_the_encoders_starts_anew():
    """A jump of the encoders is no motion of the arm: it raises once."""
    dyn = fd.Dynamics(fd.load_robot('package://flexdyn_ros/urdf/canadarm.urdf.xacro'))
    observer = fd.ModalObserver(dyn, PERIOD)
    at, rest = np.array([0.0, 0.3, 0.2]), np.zeros(3)
    for _ in range(3):
        observer.update(rest, at)
    with pytest.raises(EstimateDiverged, match='has left the measured joint positions'):
        for k in range(40):
            observer.update(rest + 1e7 * (-1.0) ** k, at)
    q, qd = observer.update(rest, at)
    assert np.array_equal(q[:3], at)
    assert not qd.any()
