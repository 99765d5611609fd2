# SPDX-License-Identifier: Apache-2.0
"""Runs of scenarios against closed forms and loops written out."""

from pathlib import Path

import flexdyn_ros as fd
from flexdyn_ros.scenario import load, run, ScenarioError
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ROOT / 'examples' / 'scenarios'
ROD = """<robot name="rod"><link name="base"/>
  <link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="3"/>
    <inertia ixx="0" ixy="0" ixz="0" iyy="0.25" iyz="0" izz="0.25"/></inertial></link>
  <link name="tip"/>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/>
    <axis xyz="0 0 1"/><limit effort="4" velocity="10"/></joint>
  <joint name="end" type="fixed"><parent link="rod"/><child link="tip"/><origin xyz="1 0 0"/>
  </joint></robot>"""
INERTIA = 1.0  # of the rod about its hinge, 3 kg and 1 m [kg m^2]
PID = {'type': 'pid', 'kp': 40, 'kd': 4, 'ki': 30, 'setpoint': {'hinge': 0.3}}


def rod(controller=None, **sections):
    """Run a scenario of a rod that turns without gravity's help about a vertical hinge."""
    controllers = {} if controller is None else {'motor': controller}
    return run(load({'robot': ROD, 'controllers': controllers, 'simulation': {
        'duration': 0.4, 'step': 0.001}, **sections}), progress=False)


def test_a_pid_follows_the_linear_equation():
    """J x'''+ kd x'' + kp x' + ki x = 0 of the error's integral x, over split stages as well."""
    j, kd, kp, ki = INERTIA, PID['kd'], PID['kp'], PID['ki']
    roots = np.roots([j, kd, kp, ki])
    # x = 0, x' = 0.3, x'' = 0 at the start.
    weights = np.linalg.solve(np.vander(roots, 3, increasing=True).T, [0.0, 0.3, 0.0])
    push = {'type': 'wrench', 'link': 'tip', 'force': [0, 0, 1], 'start': 0.1234,
            'duration': 0.1}  # along the hinge
    for disturbances in ({}, {'push': push}):
        found = rod(PID, disturbances=disturbances)
        t = found.motion.t
        error = sum(w * r * np.exp(r * t) for w, r in zip(weights, roots)).real
        assert 0.3 - found.motion.q[:, 0] == pytest.approx(error, abs=1e-9)
        assert (np.diff(t) > 0.0).all()


def test_a_sampled_pid_is_the_loop_written_out():
    """Hold, delay, saturation and conditional integration of a double integrator."""
    rate, delay, limit = 100.0, 0.02, 4.0
    found = rod({**PID, 'kp': 60, 'ki': 200, 'rate': rate, 'delay': delay,
                 'saturation': 'limits'})
    q, qd, integral, waiting, torque = 0.0, 0.0, 0.0, [], None
    period, places = 1.0 / rate, []
    for k in range(41):
        places.append(q)
        error = 0.3 - q
        wanted = 60.0 * error - 4.0 * qd + 200.0 * integral
        given = min(max(wanted, -limit), limit)
        if not (wanted != given and error * (given - wanted) < 0.0):
            integral += period * error
        waiting.append((k + 2, given))
        if torque is None:
            torque = given
        if waiting[0][0] <= k:
            torque = waiting.pop(0)[1]
        q += period * qd + 0.5 * period**2 * torque / INERTIA
        qd += period * torque / INERTIA
    assert found.motion.q[::10, 0] == pytest.approx(places, abs=1e-10)
    assert np.abs(found.motion.tau).max() == limit


@pytest.mark.parametrize('controller', [
    {'type': 'torque', 'points': [{'time': 0, 'torques': {'hinge': 0}},
                                  {'time': 0.3, 'torques': {'hinge': 3}}]},
    {'type': 'pd', 'kp': 30, 'kd': 3},
    {'type': 'pid', 'kp': 30, 'kd': 3, 'ki': 9},
    {'type': 'pd_gravity', 'kp': 30, 'kd': 3},
    {'type': 'computed_torque', 'kp': 30, 'kd': 3},
    {'type': 'feed_forward', 'model': 'quasi_static', 'kp': 30, 'kd': 3},
], ids=lambda controller: controller['type'])
def test_every_controller_samples_with_delay_noise_and_saturation(controller):
    """The torque is held for 10 ms, is bounded, and comes 5 ms after its sample."""
    found = rod({**controller, 'rate': 100, 'delay': 0.005, 'saturation': 1.5,
                 'noise': {'position': 1e-3, 'seed': 2}},
                trajectories={'turn': {'type': 'quintic', 'points': [
                    {'time': 0, 'positions': {'hinge': 0}},
                    {'time': 0.4, 'positions': {'hinge': 0.2}}]}}).motion
    tau = found.tau[:, 0]
    assert np.abs(tau).max() <= 1.5
    held = tau[5:395].reshape(-1, 10)
    assert np.array_equal(held, np.repeat(held[:, :1], 10, axis=1))
    assert len(np.unique(tau)) > 5


def test_controllers_add_up():
    """A constant torque beside PD acts as a set point that is farther by torque / kp."""
    pd = {'type': 'pd', 'kp': 20, 'kd': 3}
    both = run(load({'robot': ROD, 'simulation': {'duration': 0.4, 'step': 0.001}, 'controllers': {
        'pd': pd, 'push': {'type': 'torque', 'constant': {'hinge': 2}}}}), False)
    one = rod({**pd, 'setpoint': {'hinge': 0.1}})
    assert both.motion.q == pytest.approx(one.motion.q, abs=1e-12)


def test_back_calculation_holds_the_integral_down():
    """It overshoots less than an integral without anti-windup."""
    peaks = []
    for kind in ('none', 'back_calculation', 'conditional'):
        found = rod({**PID, 'ki': 300, 'kd': 15, 'setpoint': {'hinge': 1.0}, 'rate': 500,
                     'saturation': 4, 'anti_windup': kind},
                    simulation={'duration': 4, 'step': 0.002})
        peaks.append(found.motion.q[:, 0].max())
    assert peaks[1] < peaks[0] - 0.1
    assert peaks[2] < peaks[0] - 0.1


def test_the_same_seed_gives_the_same_run():
    def noisy(seed):
        return rod({'type': 'pd', 'kp': 10, 'kd': 1, 'rate': 100,
                    'noise': {'position': 0.01, 'velocity': 0.1, 'seed': seed}}).motion.q

    assert np.array_equal(noisy(1), noisy(1))
    assert not np.array_equal(noisy(1), noisy(2))
    # Noise of the first torque.
    first = np.random.default_rng(1).standard_normal(2)
    start = rod({'type': 'pd', 'kp': 10, 'kd': 1, 'rate': 100,
                 'noise': {'position': 0.01, 'velocity': 0.1, 'seed': 1}}).motion.tau[0, 0]
    assert start == pytest.approx(-10.0 * 0.01 * first[0] - 0.1 * first[1])


@pytest.mark.parametrize('velocity', ['matched', 'at_rest'])
def test_a_payload_keeps_angular_momentum(velocity):
    """Picked up from rest it slows the rod by J / (J + m l^2); dropped it changes nothing."""
    mass, rate = 2.0, 1.5
    found = rod(initial={'velocities': {'hinge': rate}}, payload={
        'link': 'tip', 'mass': mass, 'picked_up': 0.1, 'dropped': 0.3, 'velocity': velocity})
    motion, slower = found.motion, rate
    if velocity == 'at_rest':
        slower = rate * INERTIA / (INERTIA + mass)
    t, qd = motion.t, motion.qd[:, 0]
    assert qd[t < 0.0999] == pytest.approx(rate)
    assert qd[t > 0.0999] == pytest.approx(slower)
    ends = rate * 0.1 + slower * 0.3
    assert motion.q[-1, 0] == pytest.approx(ends)
    assert motion.residual == pytest.approx(0.0, abs=1e-10)


def test_a_torque_step_and_a_wrench_pulse_give_their_impulses():
    found = rod(disturbances={
        'kick': {'type': 'torque', 'torques': {'hinge': 2}, 'start': 0.0505, 'duration': 0.1},
        'push': {'type': 'wrench', 'link': 'tip', 'force': [0, 3, 0], 'start': 0.2,
                 'duration': 0.0003}})
    impulse = 2.0 * 0.1 + 3.0 * 0.0003
    assert found.motion.qd[-1, 0] == pytest.approx(impulse / INERTIA, rel=2e-6)


def test_feed_forward_follows_exactly():
    """Without errors at the start and with the payload known no feedback is needed."""
    controller = {'type': 'feed_forward', 'model': 'rigid', 'payload_known': True}
    payload = {'link': 'tip', 'mass': 2, 'picked_up': 0.1, 'dropped': 0.25}
    for kind in ({'type': 'cycloidal', 'end': {'hinge': 1}, 'duration': 0.4},
                 {'type': 'trapezoidal', 'end': {'hinge': 1}, 'velocity': 4,
                  'acceleration': 37.3},
                 {'type': 'spline', 'points': [
                     {'time': t, 'positions': {'hinge': x}}
                     for t, x in ((0, 0), (0.17, 0.4), (0.4, 1))]}):
        found = rod(controller, trajectories={'turn': kind}, payload=payload)
        error = found.summary()['tracking_errors']['hinge']
        assert error['largest'] < 2e-5, kind
    unknown = rod({**controller, 'payload_known': False},
                  trajectories={'turn': kind}, payload=payload)
    assert unknown.summary()['tracking_errors']['hinge']['largest'] > 0.01


def test_computed_torque_and_gravity_take_the_known_payload():
    """PD with gravity holds a rod still; errors of computed torque obey e'' + kd e' + kp e = 0."""
    hanging = ROD.replace('<axis xyz="0 0 1"/>', '<axis xyz="0 1 0"/>')
    payload = {'link': 'tip', 'mass': 2}

    def held(controller):
        return rod(controller, robot=hanging, payload=payload, initial={
            'positions': {'hinge': 0.5}})

    for where in ('state', 'reference'):
        pd = {'type': 'pd_gravity', 'kp': 50, 'kd': 5, 'payload_known': True, 'gravity_at': where}
        assert held(pd).motion.q[:, 0] == pytest.approx(0.5, abs=1e-9)
    assert abs(held({**pd, 'payload_known': False}).motion.q[-1, 0] - 0.5) > 1e-3
    found = held({'type': 'computed_torque', 'kp': 100, 'kd': 20, 'payload_known': True,
                  'setpoint': {'hinge': 0.8}})
    t = found.motion.t
    assert 0.8 - found.motion.q[:, 0] == pytest.approx(
        0.3 * (1.0 + 10.0 * t) * np.exp(-10.0 * t), abs=1e-9)


def test_a_base_that_is_moved():
    """Acceleration held and then changed: the wrench on the base is a result."""
    robot = ROOT / 'urdf' / 'satellite_arm.urdf.xacro'
    found = run(load({
        'robot': str(robot), 'arguments': {'base_motion': 'prescribed', 'modes': 0},
        'simulation': {'duration': 0.2, 'step': 0.01},
        'base': {'points': [{'time': 0, 'acceleration': {'tx': 0.5}},
                            {'time': 0.1, 'acceleration': {'tx': -0.5}}]}}), False)
    rate = found.motion.qd[:, found.motion.velocity_names.index('base_motion/tx')]
    assert rate.max() == pytest.approx(0.05)
    assert rate[-1] == pytest.approx(0.0, abs=1e-6)
    assert abs(found.motion.tau[0, 0]) > 1.0


def test_an_interrupt_keeps_the_stages_that_are_done(monkeypatch):
    asked = []
    monkeypatch.setattr('flexdyn_ros.progress._INTERVAL', 0.0)

    def stop(fraction):
        if fraction > 0.7 and not asked:
            asked.append(fraction)
            raise KeyboardInterrupt

    scenario = load({'robot': ROD, 'simulation': {'duration': 40, 'step': 0.001}, 'initial': {
        'velocities': {'hinge': 1}}, 'disturbances': {'kick': {
            'type': 'torque', 'torques': {'hinge': 0}, 'start': 10, 'duration': 10}}})
    with pytest.raises(KeyboardInterrupt) as caught:
        run(scenario, stop)
    motion = caught.value.trajectory
    assert 20.0 <= motion.t[-1] < 40.0
    assert motion.q[:, 0] == pytest.approx(motion.t)


def test_trajectories_from_csv_and_a_bag(tmp_path):
    """Both follow the same quintic; the bag's points have all three derivatives."""
    from flexdyn_ros.simulation.joint_motions import quintic, sampled

    rosbags = pytest.importorskip('rosbags.rosbag2', reason='rosbags is not installed')
    from rosbags.typesys import get_typestore, Stores

    motion = quintic([0.0, 0.2, 0.4], [[0.0], [0.4], [0.1]])
    t = np.linspace(0.0, 0.4, 9)
    states = np.array(sampled(motion, t))[:, :, 0]
    lines = [f'{a},{q},{v}' for a, q, v in zip(t, *states[:2])]
    (tmp_path / 'turn.csv').write_text('\n'.join(['t,hinge,hinge/velocity', *lines]))
    store = get_typestore(Stores.ROS2_HUMBLE)
    kinds = {name.split('/')[-1]: kind for name, kind in store.types.items()}
    points = [kinds['JointTrajectoryPoint'](
        np.array([q]), np.array([v]), np.array([a]), np.zeros(0),
        kinds['Duration'](int(when), round(1e9 * (when % 1.0)))) for when, q, v, a in zip(
            t.tolist(), *states.tolist())]
    header = kinds['Header'](kinds['Time'](0, 0), '')
    message = kinds['JointTrajectory'](header, ['hinge'], points)

    def write(name):
        with rosbags.Writer(tmp_path / name, version=9) as writer:
            topic = writer.add_connection(
                '/reference', 'trajectory_msgs/msg/JointTrajectory', typestore=store)
            writer.write(topic, 1, store.serialize_cdr(
                message, 'trajectory_msgs/msg/JointTrajectory'))

    write('bag')
    wanted = []
    for kind, file in (('csv', 'turn.csv'), ('bag', 'bag')):
        found = rod({'type': 'feed_forward', 'model': 'rigid'}, trajectories={
            'turn': {'type': kind, 'file': str(tmp_path / file)}})
        exact = sampled(motion, found.motion.t)[0][:, 0]
        wanted.append(np.abs(found.references['hinge'] - exact).max())
        assert found.summary()['tracking_errors']['hinge']['largest'] < 1e-3
    assert wanted[0] < 2e-3
    assert wanted[1] < 1e-9
    points[1].positions[0] = np.nan
    write('holed')
    with pytest.raises(ScenarioError, match='turn.file: holds a trajectory, expected finite'):
        rod({'type': 'pd', 'kp': 1}, trajectories={
            'turn': {'type': 'bag', 'file': str(tmp_path / 'holed')}})


@pytest.mark.parametrize(('model', 'kp', 'least', 'most'), [
    ('flexible', 0, 0.0, 2e-5), ('quasi_static', 0, 0.05, 0.5), ('quasi_static', 1000, 1e-4, 0.1),
])
def test_feed_forward_of_flexible_links(model, kp, least, most):
    """The joints follow exactly by the exact model; without its vibration they need feedback."""
    found = run(load({
        'robot': str(ROOT / 'urdf' / 'two_link_arm.urdf.xacro'), 'arguments': {'gravity': '0 0 0'},
        'simulation': {'duration': 0.5, 'step': 0.0005},
        'trajectories': {'move': {'type': 'cycloidal', 'duration': 0.5,
                                  'end': {'joint1': 0.4, 'joint2': -0.3}}},
        'controllers': {'motors': {'type': 'feed_forward', 'model': model, 'kp': kp}}}), False)
    errors = [each['largest'] for each in found.summary()['tracking_errors'].values()]
    assert least <= max(errors) < most
    assert np.abs(found.motion.tips).max() > 1e-3


def test_parts_without_controllers_equal_one_simulation():
    robot = fd.load_robot(ROOT / 'urdf' / 'two_link_arm.urdf.xacro')
    start = np.array([-1.75, -0.5, 0.0, 0.0])
    whole = fd.simulate(fd.Dynamics(robot), start, np.zeros(4), None, 0.2, 5e-4, progress=False)
    found = run(load(STUDIES / 'double_pendulum_stiff.yaml', {
        'simulation.duration': 0.2, 'disturbances.none': {
            'type': 'torque', 'torques': {'joint1': 0}, 'start': 0.1}}), False)
    assert found.motion.q == pytest.approx(whole.q, abs=1e-12)
    assert found.motion.work == pytest.approx(whole.work, abs=1e-12)
