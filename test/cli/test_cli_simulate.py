# SPDX-License-Identifier: Apache-2.0
"""`flexdyn simulate`."""

import json
import signal
import subprocess
import sys
import time

from command import flexdyn, surroundings
from flexdyn_ros.cli.main import main
from flexdyn_ros.simulation.record import load_npz
import pytest


def test_results_are_written_and_summed_up(folder):
    """CSV, npz and plots of the requested run; the JSON names the files."""
    run = flexdyn(
        'simulate', 'flexible.urdf', '--t-end', '0.02', '--dt', '0.001', '--q0', 'shoulder=0.3',
        'upper_arm/bending_y1=0.01', '--qd0', 'elbow=-1', '--torque', 'shoulder=2.5', '--out',
        'runs/first', '--json', cwd=folder,
    )
    assert (run.returncode, run.stderr) == (0, '')
    summary = json.loads(run.stdout)
    names = ('trajectory.csv', 'trajectory.npz', 'joints.png', 'modes.png', 'tip_deflection.png',
             'energy.png')
    assert summary['files'] == [f'runs/first/{name}' for name in names]
    for name in summary['files']:
        assert (folder / name).stat().st_size > 0
    motion = load_npz(folder / 'runs/first/trajectory.npz')
    assert motion.q[0].tolist() == [0.3, 0.0, 0.01, 0.0, 0.0, 0.0]
    assert motion.qd[0, 1] == -1.0
    assert motion.tau[5].tolist() == [2.5, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert summary['samples'] == len(motion) == 21
    assert summary['energy_end'] == motion.energy[-1]
    assert summary['tip_deflections']['upper_arm/tip_y']['peak'] == pytest.approx(0.01)
    assert summary['final_configuration']['shoulder'] == motion.q[-1, 0]
    assert summary['real_time_factor'] == pytest.approx(0.02 / summary['wall_time'])
    assert summary['step_limit'] > 0.001


def test_compiling_shows_its_progress_on_a_terminal(tmp_path, monkeypatch, capsys):
    """A robot of a mass that no cache has."""
    (tmp_path / 'new.urdf').write_text(
        '<robot name="new"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 -1"/>'
        f'<mass value="{1.0 + 1e-19 * time.time_ns()!r}"/><inertia ixx="1" iyy="1" izz="1" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="pivot" type="continuous">'
        '<parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>')
    monkeypatch.setattr('flexdyn_ros.progress._QUIET_TIME', 1e-4)
    monkeypatch.setattr('flexdyn_ros.progress._INTERVAL', 0.0)
    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.setattr(sys.stderr, 'isatty', lambda: True)
    assert main(['simulate', str(tmp_path / 'new.urdf'), '--t-end', '0.01', '--no-plots', '--out',
                 str(tmp_path / 'run')]) == 0
    shown = capsys.readouterr().err.replace('\n', '\r').split('\r')
    bars = [line for line in shown if line.startswith('compiling ')]
    assert any(' of robot "new" [' in line and '  50 % ' in line for line in bars)
    assert any(' 100 % ' in line for line in bars)
    assert any(line.startswith('simulating [') for line in shown)


def test_text_ends_with_the_folder(folder):
    """The last line can be taken by a script."""
    run = flexdyn('simulate', 'arm.urdf', '--extension', 'flexible.xml', '--t-end', '0.01',
                  '--no-plots', cwd=folder)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[-1] == 'simulation'
    assert 'energy:' in run.stdout
    assert 'real-time factor' in run.stdout
    written = sorted(path.name for path in (folder / 'simulation').iterdir())
    assert written == ['trajectory.csv', 'trajectory.npz']


def test_a_page_and_mcap_lie_beside_the_other_files(folder):
    """They are written to the given folder; a wrong factor is an error with a page alone."""
    pytest.importorskip('trimesh', reason='the page carries the three.js of trimesh')
    pytest.importorskip('rosbags', reason='MCAP files are written by rosbags')
    call = ('simulate', 'flexible.urdf', '--t-end', '0.1', '--no-plots', '--q0', 'shoulder=0.3',
            '--out', 'seen', '--mcap', '--html', '--json')
    run = flexdyn(*call, '--factor', '5', cwd=folder)
    assert (run.returncode, run.stderr) == (0, '')
    assert json.loads(run.stdout)['files'] == [
        f'seen/trajectory.{kind}' for kind in ('csv', 'npz', 'mcap', 'html')]
    assert sorted(path.name for path in (folder / 'seen').iterdir()) == [
        f'trajectory.{kind}' for kind in ('csv', 'html', 'mcap', 'npz')]
    page = (folder / 'seen' / 'trajectory.html').read_text()
    assert page.startswith('<!DOCTYPE html>') and '$' + 'DATA' not in page
    assert (folder / 'seen' / 'trajectory.mcap').read_bytes().startswith(b'\x89MCAP')
    for words, error in ((('--factor', '0'), 'not positive'), (('--package', 'x'), 'NAME=PATH')):
        run = flexdyn(*call, *words, cwd=folder)
        assert run.returncode == 2 and error in run.stderr


def test_adaptive_methods_take_tolerances(folder):
    """Names in any case; --dt takes samples; tolerances of other methods are a wrong call."""
    call = ('simulate', 'flexible.urdf', '--t-end', '0.02', '--dt', '0.01', '--no-plots', '--json',
            '--q0', 'shoulder=0.3', '--rtol', '1e-5')
    ends = []
    for method in ('dop853', 'radau'):
        run = flexdyn(*call, '--method', method, '--atol', '1e-8', cwd=folder)
        assert (run.returncode, run.stderr) == (0, '')
        summary = json.loads(run.stdout)
        assert (summary['method'].lower(), summary['step_limit']) == (method, None)
        assert summary['samples'] == 3
        ends.append(summary['final_configuration']['shoulder'])
    assert ends[0] == pytest.approx(ends[1], abs=1e-5)
    run = flexdyn(*call, '--method', 'rk4', '--force', cwd=folder)
    assert run.returncode == 2
    assert '"rtol"' in run.stderr and 'adaptive' in run.stderr
    assert flexdyn(*call, '--method', 'euler', cwd=folder).returncode == 2


def test_modes_may_follow_statically(folder):
    """The joints move alone; arguments for modes are then refused."""
    call = ('simulate', 'flexible.urdf', '--t-end', '0.1', '--dt', '0.05', '--modes',
            'quasi_static', '--no-plots', '--out', 'slow', '--torque', 'shoulder=2.5',
            '--q0', 'shoulder=0.3')
    run = flexdyn(*call, '--json', cwd=folder)
    assert (run.returncode, run.stderr) == (0, '')
    motion = load_npz(folder / 'slow/trajectory.npz')
    assert motion.method == 'rk4, modes quasi-static'
    assert motion.q[0, 0] == 0.3
    assert motion.q[0, 2:].any()
    assert not motion.qd[:, 2:].any()
    run = flexdyn(*call, 'upper_arm/bending_y1=0.01', cwd=folder)
    assert run.returncode == 2
    assert 'gives a value to the mode "upper_arm/bending_y1"' in run.stderr


def test_a_prescribed_base_moves_as_given(folder):
    """Its wrench is in the results; a base that is fixed, or an axis that is none, is refused."""
    text = (folder / 'flexible.urdf').read_text()
    text = text.replace('</flexdyn>', '<base motion="prescribed"/></flexdyn>')
    (folder / 'based.urdf').write_text(text)
    options = ('--t-end', '0.004', '--no-plots', '--json', '--base-acceleration')
    run = flexdyn('simulate', 'based.urdf', *options, 'tx=2', 'rz=-1', cwd=folder)
    assert run.returncode == 0, run.stderr
    summary = json.loads(run.stdout)
    assert summary['final_velocity']['base_motion/tx'] == pytest.approx(0.008)
    assert summary['final_velocity']['base_motion/rz'] == pytest.approx(-0.004)
    motion = load_npz(folder / 'simulation' / 'trajectory.npz')
    peaks = dict(zip(motion.velocity_names[:6], abs(motion.tau[:, :6]).max(axis=0).tolist()))
    assert summary['base_wrench_peak'] == peaks
    assert 0.0 < peaks['base_motion/tz'] < 1.4 * 9.81  # it carries an arm that falls
    for name, words in (('flexible.urdf', 'the base is fixed'), ('based.urdf', '"up"')):
        given = 'tx=1' if name == 'flexible.urdf' else 'up=1'
        run = flexdyn('simulate', name, *options, given, cwd=folder)
        assert run.returncode == 2
        assert words in run.stderr
    info = json.loads(flexdyn('info', 'based.urdf', '--json', cwd=folder).stdout)
    assert (info['base_motion'], info['root']) == ('prescribed', 'world')


def test_step_is_chosen_below_the_stability_limit(folder):
    """A stiff beam needs less than the usual millisecond."""
    stiff = (folder / 'flexible.urdf').read_text().replace('young="2e9"', 'young="2e13"')
    (folder / 'stiff.urdf').write_text(stiff)
    run = flexdyn('simulate', 'stiff.urdf', '--t-end', '0.0005', '--no-plots', '--json',
                  cwd=folder)
    assert run.returncode == 0, run.stderr
    summary = json.loads(run.stdout)
    assert summary['dt'] == pytest.approx(0.5 * summary['step_limit'])
    assert summary['dt'] < 1e-3


def test_divergence_is_told_with_the_limit_and_keeps_the_motion(folder):
    """A step that is too large is a wrong call, and where it is forced too: exit code 2."""
    call = ('simulate', 'flexible.urdf', '--t-end', '100', '--dt', '0.1', '--q0',
            'upper_arm/bending_y1=0.01', '--out', 'diverged')
    run = flexdyn(*call, cwd=folder)
    assert run.returncode == 2
    assert 'rk4 is stable up to' in run.stderr and 'mode "upper_arm/bending' in run.stderr
    run = flexdyn(*call, '--force', cwd=folder)
    assert run.returncode == 2
    assert run.stdout == ''
    kept, error = run.stderr.splitlines()
    assert 'diverged' in kept
    assert error.startswith('error: The simulation diverged after t = ')
    assert 'Use a dt below' in error
    motion = load_npz(folder / 'diverged/trajectory.npz')
    assert 1 < len(motion) < 1000
    assert not (folder / 'diverged/joints.png').exists()


def test_massless_moving_link_is_refused_by_name(folder):
    """The rigid arm's upper arm has no inertia of its own, which is fine; a lone one is not."""
    (folder / 'ghost.urdf').write_text("""
        <robot name="massless"><link name="base"/><link name="ghost"/>
        <joint name="hinge" type="continuous"><parent link="base"/><child link="ghost"/>
        <axis xyz="0 0 1"/></joint></robot>""")
    run = flexdyn('simulate', 'ghost.urdf', '--t-end', '0.01', cwd=folder)
    assert run.returncode == 1
    assert 'hinge' in run.stderr
    assert 'ghost' in run.stderr


LONG = 'robot: arm.urdf\nsimulation: {duration: 1.0e+4, method: rk10}\n'


@pytest.mark.parametrize(('call', 'name'), [
    (('arm.urdf', '--t-end', '1e4', '--method', 'rk10', '--out', 'long'), 'long'),
    (('endless.yaml',), 'endless'),
])
def test_an_interrupt_leaves_the_motion_so_far(folder, call, name):
    """Exit code 130, and files that are whole."""
    (folder / 'endless.yaml').write_text(LONG)
    first = flexdyn('simulate', 'arm.urdf', '--t-end', '0.01', '--no-plots', cwd=folder)
    assert first.returncode == 0
    process = subprocess.Popen(
        [sys.executable, '-m', 'flexdyn_ros', 'simulate', *call], cwd=folder, env=surroundings(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    try:
        deadline = time.monotonic() + 60.0
        while not (folder / name).exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=100)
    finally:
        process.kill()
    assert process.returncode == 130
    assert 'the motion before the interrupt' in error and error.endswith('Interrupted.\n')
    motion = load_npz(folder / name / 'trajectory.npz')
    assert 10 < len(motion) < 10**7
    assert sorted(path.name for path in (folder / name).iterdir()) == [
        'trajectory.csv', 'trajectory.npz']


def test_a_full_disk_does_not_take_the_other_file(folder):
    """The file that fits is written; the error names the other one."""
    (folder / 'full').mkdir()
    (folder / 'full' / 'trajectory.csv').symlink_to('/dev/full')
    run = flexdyn('simulate', 'arm.urdf', '--t-end', '0.01', '--out', 'full', cwd=folder)
    assert run.returncode == 2
    assert 'trajectory.csv cannot be written: No space left on device' in run.stderr
    assert 'trajectory.npz is written' in run.stderr
    assert len(load_npz(folder / 'full' / 'trajectory.npz')) == 11
