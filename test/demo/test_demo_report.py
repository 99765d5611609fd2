# SPDX-License-Identifier: Apache-2.0
"""Counts and errors of the demonstration's report; the vendor's arm and its extension."""

from types import SimpleNamespace

import flexdyn_ros as fd
from flexdyn_ros.demo import plan
from flexdyn_ros.demo.plan import ROBOTS, vendor_file, VENDOR_PACKAGE
from flexdyn_ros.demo.recording import errors, expected_counts, make_report, Recording
from flexdyn_ros.demo.report import demo_report, summary_lines
from flexdyn_ros.demo.supervisor import ERROR
import numpy as np
import pytest
import yaml

DURATION = 2.0  # [s]


@pytest.fixture
def recording(tmp_path):
    """Return a recording in which every topic was heard as often as it should be."""
    run = plan.DemoRun.make(ROBOTS['canadarm'], 'rigid', DURATION, 1.0, tmp_path / 'run')
    made = Recording(run)
    for topic, count in expected_counts(run).items():
        hear(made, topic, count)
    hear(made, plan.MARKERS, 1)
    return made


def hear(recording, topic, count):
    """Let a recording receive a number of messages of a topic, and none before."""
    recording.counts.pop(topic, None)
    recording.stamps.pop(topic, None)
    for k in range(count):
        recording.hear(topic, 0.01 * k, k)


def test_complete_recordings_have_no_errors(recording):
    assert errors(recording) == []


@pytest.mark.parametrize('change', [-0.02, 0.02])
@pytest.mark.parametrize('topic', ['joint_states', 'clock', plan.TORQUES])
def test_wrong_counts_are_errors(recording, topic, change):
    wanted = expected_counts(recording.run)[topic]
    count = round(wanted * (1.0 + change))
    hear(recording, topic, count)
    assert errors(recording) == [f'/{topic}: {count} messages instead of {wanted}.']


def test_silent_markers_and_diagnostics_are_errors(recording):
    hear(recording, plan.MARKERS, 0)
    recording.errors += ['arm: broken', 'arm: broken']
    assert errors(recording) == ['arm: broken', f'/{plan.MARKERS}: no message.']


def test_counts_are_duration_times_rate(recording):
    counts = expected_counts(recording.run)
    assert counts['joint_states'] == DURATION * plan.RATE + 1
    assert counts[plan.TORQUES] == DURATION * plan.RATE


def test_repeated_stamps_are_counted_apart(recording):
    hear(recording, 'states', 11)
    assert not recording.hear('states', 5.5, 10)
    assert recording.counts['states'] == 12 and len(recording.stamps['states']) == 11


def test_columns_and_tracking_error_follow_the_motor_side(recording):
    """Two states of an arm whose elbow has a motor side, 0.1 rad behind the reference."""
    names = ('shoulder', 'elbow', 'elbow_motor', 'wrist')
    start = dict(zip(recording.run.demo_robot.joints, ROBOTS['canadarm'].waypoints[0][1]))
    position = [start['shoulder'], 7.0, start['elbow'] - 0.1, start['wrist']]
    for stamp in (0, 5_000_000):
        recording.add(plan.STATES, stamp, names, position, [0.0] * 4, [1.0, 2.0, 3.0, 4.0])
        recording.add(plan.MODES, stamp, ('hand/bending_y1',), [-0.02], [0.0])
        recording.add(plan.TIPS, stamp, ('x', 'y', 'z'), (1.0, 2.0, 3.0))
    recording.add(plan.TORQUES, 5_000_000, recording.run.demo_robot.joints, [], [], [5.0] * 3)
    columns = recording.columns()
    assert columns['time'] == pytest.approx([0.0, 0.005])
    assert columns['tracking_error/elbow'] == pytest.approx([-0.1, -0.1], abs=1e-6)
    assert columns['effort/elbow'] == pytest.approx([3.0, 3.0])
    assert np.isnan(columns['feed_forward/elbow'][0]) and columns['feed_forward/elbow'][1] == 5.0
    report = make_report(recording, columns)
    assert report['tracking_error_rad']['largest'] == pytest.approx(0.1, rel=1e-4)
    assert report['tracking_error_rad']['rms'] == pytest.approx(0.1 / 3**0.5, rel=1e-4)
    assert report['largest_modal_coordinate'] == {'hand/bending_y1': pytest.approx(0.02)}


def test_parameter_files_and_run_file(recording):
    run = recording.run
    run.write()
    assert plan.DemoRun.load(str(run.file)) == run
    for node in plan.NODES:
        parameters = parameters_of(run, node)
        assert '<robot' in parameters['robot_description'] and not parameters['extension_file']


def parameters_of(run, node):
    """Return the parameters that a run gives to a node."""
    with open(run.path / f'{node}.yaml') as stream:
        return yaml.safe_load(stream)['/**']['ros__parameters']


def test_pd_alone_takes_no_term_of_the_feed_forward(recording):
    run = recording.run
    for control, wanted in (('pd', False), ('rigid', True), ('flexible', True)):
        made = plan.DemoRun.make(run.demo_robot, control, 1.0, 1.0, run.path / control)
        made.write()
        parameters = parameters_of(made, 'inverse_dynamics_node')
        assert set(parameters['compensate'].values()) == {wanted}
        is_flexible = parameters['torque_model'] == 'flexible_hybrid'
        assert is_flexible is (control == 'flexible')


def report_of(control, error, mistakes=()):
    return {
        'robot': 'canadarm', 'control': control, 'title': plan.CONTROLS[control],
        'tracking_error_rad': {'rms': error, 'largest': 2 * error, 'over_the_first_s': 5.0},
        'states': {'recorded': 501}, 'real_time_factor': 0.5, 'errors': list(mistakes),
    }


def test_summary_tells_factors_and_errors():
    runs = [report_of('pd', 0.1), report_of('rigid', 0.004, ['/clock: silent.'])]
    tips = [{'robot': 'canadarm', 'model': '5 % wrong', 'control': 'PD + stable inversion',
             'joint_error_rms_rad': 0.0123, 'tip_error_m': 0.0456, 'residual_vibration_m': 7e-6}]
    report = demo_report(runs, ['canadarm/arm.png'], 12.34, tips)
    assert report['improvement'] == {'canadarm': {'rigid': 25.0}}
    text = '\n'.join(summary_lines(report))
    assert '25 times' in text
    row, = (line.split() for line in text.splitlines() if 'stable inversion' in line)
    assert row[-3:] == ['12.3', '45.6', '0.007']
    assert 'error: canadarm, PD + rigid feed-forward: /clock: silent.' in text


@pytest.mark.parametrize('line, wanted', [
    ('[ERROR] [1.5] [arm]: no torque', True),
    ('ModuleNotFoundError: No module named rclpy', True),
    ('flexdyn_ros.errors.ModelError: arm.urdf: wrong', True),
    ('[INFO] [1.5] [arm]: errors: none', False),
    ('[WARN] [1.5] [arm]: late', False),
])
def test_lines_of_error_in_logs(line, wanted):
    assert bool(ERROR.search(line)) is wanted


@pytest.mark.skipif(
    vendor_file() is None,
    reason=f'{VENDOR_PACKAGE} is not installed here: `make test` installs it',
)
def test_vendor_file_loads_untouched_beside_its_extension(pytestconfig):
    extension = pytestconfig.rootpath / 'urdf' / 'ur5e_extension.flexdyn.xml'
    robot = fd.load_robot(vendor_file(), extension=extension)
    plain = fd.load_robot(vendor_file())
    assert robot.notes == plain.notes == ()
    assert robot.joint_names == plain.joint_names == ROBOTS['vendor'].joints
    assert robot.mode_names == (
        'shoulder_lift_joint/elastic', 'upper_arm_link/bending_y1', 'upper_arm_link/bending_z1',
        'elbow_joint/elastic',
    )
    # The payload of 5 kg comes on top; the beam takes its mass from the link.
    stretched = np.zeros(robot.nv)
    weight = SimpleNamespace(
        flexible=fd.Dynamics(robot).gravity_vector(stretched)[1],
        rigid=fd.Dynamics(plain).gravity_vector(np.zeros(plain.nv))[1],
    )
    lever = 0.425 + 0.3922  # from shoulder to wrist, the arm stretched along the ground [m]
    assert weight.flexible - weight.rigid == pytest.approx(-5.0 * 9.81 * lever, rel=0.02)
