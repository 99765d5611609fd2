# SPDX-License-Identifier: Apache-2.0
"""`flexdyn simulate SCENARIO.yaml` and `flexdyn inverse-dynamics`."""

import json

from command import flexdyn
import flexdyn_ros as fd
from flexdyn_ros.simulation.record import load_npz
import numpy as np
import pytest

SCENARIO = """\
robot: arm.urdf
initial: {positions: {shoulder: 0.2}}
simulation: {duration: 0.2, step: 0.0002}
trajectories:
  move: {type: cycloidal, end: {shoulder: 0.5, elbow: -0.3}, duration: 0.2}
controllers:
  torques: {type: torque, file: torques.csv}
  motors: {type: pd, kp: 50, kd: 5, trajectory: move}
outputs: {plots: false, frames: forearm}
"""


@pytest.fixture
def study(folder):
    """Return the folder with a scenario beside the arm, and the torques of its motion."""
    t = np.linspace(0.0, 0.2, 41)
    s = t / 0.2
    shape = s - np.sin(2.0 * np.pi * s) / (2.0 * np.pi)
    rows = np.column_stack([t, 0.2 + 0.3 * shape, -0.3 * shape])
    np.savetxt(folder / 'motion.csv', rows, delimiter=',', header='t,shoulder,elbow', comments='')
    (folder / 'study.yaml').write_text(SCENARIO)
    return folder


def test_a_file_in_the_place_of_the_folder(study):
    run = flexdyn('simulate', 'study.yaml', '--set', 'controllers.torques.file=motion.csv',
                  '--out', 'arm.urdf', cwd=study)
    assert (run.returncode, run.stderr.strip()) == (
        2, 'error: arm.urdf cannot be written: File exists. '
        'Check place, space and permissions.')


def test_torques_of_a_trajectory_drive_it(study):
    """They are those of inverse dynamics, and as a table keep the errors of a scenario small."""
    made = flexdyn('inverse-dynamics', 'arm.urdf', 'motion.csv', '-o', 'torques.csv', '--json',
                   cwd=study)
    assert made.returncode == 0, made.stderr
    report = json.loads(made.stdout)
    assert report['samples'] == 41
    table = np.loadtxt(study / 'torques.csv', delimiter=',', skiprows=1)
    dyn = fd.Dynamics(fd.load_robot(study / 'arm.urdf'))
    way = np.array([0.3, -0.3]) / 0.2
    middle = dyn.inverse_dynamics([0.35, -0.15], 2.0 * way, [0.0, 0.0])
    assert table[20, 1:] == pytest.approx(middle, rel=1e-4)
    run = flexdyn('simulate', 'study.yaml', '--json', cwd=study)
    assert (run.returncode, run.stderr) == (0, '')
    summary = json.loads(run.stdout)
    assert max(each['largest'] for each in summary['tracking_errors'].values()) < 1e-3
    assert summary['files'] == [f'study/{name}' for name in (
        'trajectory.csv', 'trajectory.npz', 'frames.csv')]
    motion = load_npz(study / 'study' / 'trajectory.npz')
    assert motion.q[0].tolist() == [0.2, 0.0]
    frames = np.loadtxt(study / 'study' / 'frames.csv', delimiter=',', skiprows=1)
    assert frames[-1, 1:] == pytest.approx(dyn.frame_pose(motion.q[-1], 'forearm')[:3, 3])


def test_set_changes_values_and_text_shows_errors(study):
    (study / 'torques.csv').write_text('t,shoulder/effort\n0,0\n1,0\n')
    run = flexdyn('simulate', 'study.yaml', '--set', 'simulation.duration=0.1',
                  'outputs.npz=false', '--out', 'short', cwd=study)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == 'short'
    assert 'shoulder: largest error' in run.stdout
    assert not (study / 'short' / 'trajectory.npz').exists()
    last = (study / 'short' / 'trajectory.csv').read_text().splitlines()[-1]
    assert float(last.split(',')[0]) == pytest.approx(0.1)


@pytest.mark.parametrize(('words', 'message'), [
    (('simulate', 'study.yaml', '--dt', '0.1'), '"--dt" is given beside a scenario'),
    (('simulate', 'study.yaml', '--set', 'a'), 'needs KEY=YAML'),
    (('simulate', 'study.yaml', '--set', 'simulation.stop=1'), 'Did you mean'),
    (('simulate', 'arm.urdf', '--set', 'a=1'), 'needs a scenario'),
    (('simulate', 'none.yaml'), 'none.yaml: cannot be read'),
    (('inverse-dynamics', 'arm.urdf', 'none.csv'), 'which is no file'),
    (('inverse-dynamics', 'arm.urdf', 'other.csv'), 'no column of a joint'),
])
def test_wrong_calls(study, words, message):
    (study / 'other.csv').write_text('t,x\n0,1\n1,2\n')
    run = flexdyn(*words, cwd=study)
    assert run.returncode == 2
    assert message in run.stderr
