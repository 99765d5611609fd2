# SPDX-License-Identifier: Apache-2.0
"""Counts, rates and errors of the demonstration's report; the vendor's arm and its extension."""

from types import SimpleNamespace

import flexdyn_ros as fd
from flexdyn_ros.demo import plan
from flexdyn_ros.demo.progress import ProgressLine
from flexdyn_ros.demo.recording import Recording
from flexdyn_ros.demo.robots import Description
from flexdyn_ros.demo.robots import ROBOTS
from flexdyn_ros.demo.robots import vendor_file
from flexdyn_ros.demo.robots import VENDOR_PACKAGE
from flexdyn_ros.demo.run_report import errors
from flexdyn_ros.demo.run_report import expected_counts
from flexdyn_ros.demo.summary import demo_report
from flexdyn_ros.demo.summary import summary_lines
from flexdyn_ros.demo.supervisor import is_error
from flexdyn_ros.demo.topic_log import TopicLog
import numpy as np
import pytest
import yaml

DURATION = 2.0  # [s]


@pytest.fixture
def recording(tmp_path):
    """Return a recording in which every topic was heard as often as it should be."""
    description = Description(tmp_path / 'arm.urdf', None, as_topic=False)
    run = plan.Run.make(
        ROBOTS['canadarm'], 'rigid', DURATION, 1.0, tmp_path / 'run', description)
    made = Recording(run)
    for topic, count in expected_counts(run).items():
        log = made.log(topic, 'kind')
        for k in range(count):
            log.heard(0.01 * k, k)
    made.log(f'/{plan.MARKERS}', 'kind').heard(0.0)
    return made


def test_complete_recordings_have_no_errors(recording):
    assert errors(recording) == []


@pytest.mark.parametrize('change', [-0.02, 0.02])
@pytest.mark.parametrize('topic', ['joint_states', 'clock', plan.TORQUES, plan.REFERENCE])
def test_wrong_counts_are_errors(recording, topic, change):
    log = recording.log(f'/{topic}', 'kind')
    wanted = expected_counts(recording.run)[f'/{topic}']
    for k in range(round(wanted * (1.0 + change))):
        log.heard(0.01 * k, k)
    sentence, = errors(recording)
    assert sentence == f'/{topic}: {log.count} messages instead of {wanted}.'


def test_silent_markers_and_diagnostics_are_errors(recording):
    recording.log(f'/{plan.MARKERS}', 'kind')
    recording.errors += ['arm: broken', 'arm: broken']
    assert errors(recording) == ['arm: broken', f'/{plan.MARKERS}: no message.']


def test_counts_are_duration_times_rate(recording):
    counts = expected_counts(recording.run)
    assert counts['/joint_states'] == DURATION * plan.RATE + 1
    assert counts[f'/{plan.TORQUES}'] == DURATION * plan.RATE


def test_repeated_stamps_are_counted_apart():
    log = TopicLog('/states', 'kind')
    for k in range(11):
        assert log.heard(0.5 * k, k * 10**7)
    assert not log.heard(5.5, 10**8)
    summary = log.summary(simulated=0.1)
    assert (summary['messages'], summary['repeated']) == (12, 1)
    assert summary['rate_in_simulated_time_hz'] == pytest.approx(110.0)
    assert summary['rate_in_real_time_hz'] == pytest.approx(2.0)


def test_parameter_files_and_run_file(recording):
    run = recording.run
    run.write()
    assert plan.Run.load(str(run.file)) == run
    for node in ('forward_dynamics', 'inverse_dynamics', 'deflection_markers'):
        file = run.launch_arguments()[f'{node}_params']
        with open(file) as stream:
            parameters = yaml.safe_load(stream)['/**']['ros__parameters']
        assert parameters


def test_pd_alone_takes_no_term_of_the_feed_forward(recording):
    run = recording.run
    for control, wanted in (('pd', False), ('rigid', True), ('flexible', True)):
        description = Description(run.path, None, as_topic=False)
        made = plan.Run.make(run.demo_robot, control, 1.0, 1.0, run.path / control, description)
        made.write()
        with open(made.path / 'inverse_dynamics.yaml') as stream:
            parameters = yaml.safe_load(stream)['/**']['ros__parameters']
        assert set(parameters['compensate'].values()) == {wanted}
        is_flexible = parameters['torque_model'] == 'flexible_hybrid'
        assert is_flexible is (control == 'flexible')


def report_of(control, error, mistakes=()):
    return {
        'robot': 'canadarm', 'control': control, 'title': plan.CONTROLS[control],
        'tracking_error_rad': {'rms': error, 'largest': 2 * error, 'over_the_first_s': 5.0},
        'states': {'recorded': 501}, 'real_time_factor': 0.5, 'errors': list(mistakes),
        'processes': [{'launched_by': 'flexdyn_ros.launching'}], 'versions': {},
    }


def test_summary_tells_factors_and_errors():
    runs = [report_of('pd', 0.1), report_of('rigid', 0.004, ['/clock: silent.'])]
    report = demo_report(runs, ['canadarm/arm.png'], 12.34)
    assert report['improvement'] == {'canadarm': {'rigid': 25.0}}
    text = '\n'.join(summary_lines(report))
    assert '25 times' in text
    assert 'error: canadarm, PD + rigid feed-forward: /clock: silent.' in text
    assert 'stand-in' in text


@pytest.mark.parametrize('line, wanted', [
    ('[ERROR] [1.5] [arm]: no torque', True),
    ('[error] the package is not installed', True),
    ('ModuleNotFoundError: No module named rclpy', True),
    ('flexdyn_ros.errors.ModelError: arm.urdf: wrong', True),
    ('[INFO] [1.5] [arm]: errors: none', False),
    ('[WARN] [1.5] [arm]: late', False),
])
def test_lines_of_error_in_logs(line, wanted):
    assert is_error(line) is wanted


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


def test_progress_names_the_runs_at_work(capsys):
    def item(control, simulated):
        run = SimpleNamespace(robot='canadarm', control=control, duration=10.0)
        return SimpleNamespace(run=run, simulated=simulated)

    line = ProgressLine([item('flexible', 10.0), item('rigid', 5.0), item('pd', 0.0)])
    line.show()
    line.show()  # too early for another line
    said = capsys.readouterr().out
    assert said.count('\n') == 1
    assert '50 % simulated' in said
    assert 'canadarm/rigid at 5.0 s' in said
    assert 'flexible' not in said and 'pd' not in said
