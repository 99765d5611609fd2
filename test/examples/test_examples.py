# SPDX-License-Identifier: Apache-2.0
"""Every example runs as a stranger would run it, prints figures of its source, and draws."""

import os
from pathlib import Path
import re

from fork_server import COMMANDS, run_forked
from PIL import Image
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / 'examples'


def run(name, *arguments, status=0, log=False):
    """Run an example from another folder, with a log on stderr or without; return its output."""
    done = run_forked(COMMANDS, [EXAMPLES / name, *arguments], '/', dict(os.environ))
    assert done.returncode == status, done.stderr
    if status == 0:
        assert log or not done.stderr
    return done.stdout if status == 0 else done.stderr


@pytest.fixture
def picture(tmp_path):
    """Return the path of an example's picture, which is checked at the end."""
    path = tmp_path / 'picture.png'
    yield path
    check_picture(path)


def check_picture(path):
    """Check that a picture shows something."""
    with Image.open(path) as image:
        assert min(image.size) > 100
        assert len(image.convert('RGB').getcolors(1 << 24)) > 10


def numbers(text):
    """Return the numbers in a line."""
    return [float(part) for part in re.findall(r'-?\d+\.?\d*(?:e[-+]?\d+)?', text)]


def line(output, start):
    """Return the numbers after `start` in the line that begins with it."""
    found = [row for row in output.splitlines() if row.lstrip().startswith(start)]
    assert found, f'no line begins with "{start}" in:\n{output}'
    return numbers(found[0].lstrip()[len(start):])


def test_every_example_is_tested():
    tested = re.findall(r"run\(\s*'(\w+\.py)'", Path(__file__).read_text())
    scripts = {path for path in EXAMPLES.glob('*.py') if not path.name.endswith('.launch.py')}
    # The launch files run draw_topics.py: test_example_launch_files.py.
    assert set(tested) == {path.name for path in scripts} - {'draw_topics.py'}
    assert len(tested) >= 10
    for path in EXAMPLES.glob('*.py'):
        assert len(path.read_text().splitlines()) <= 60


def test_the_gallery_shows_every_example_and_its_picture():
    page = (ROOT / 'docs' / 'examples.md').read_text()
    for path in EXAMPLES.glob('*.py'):
        assert path.name in page
        if path.name != 'draw_topics.py':
            stem = path.name.partition('.')[0]
            (shown,) = re.findall(rf'\((pictures/{stem}\.\w+)\)', page)
            check_picture(ROOT / 'docs' / shown)


@pytest.mark.slow
def test_animate_a_swing(tmp_path):
    output = run('animate_a_swing.py', tmp_path / 'swing.gif')
    assert 30.0 < line(output, 'largest deflection of a link:')[0] < 90.0
    with Image.open(tmp_path / 'swing.gif') as image:
        assert image.n_frames == 60
    check_picture(tmp_path / 'swing.gif')


def test_torque_of_a_motion(picture):
    output = run('torque_of_a_motion.py', picture)
    # Rigid torques of Mohan and Saha's manoeuvre, from the equations of three slender rods.
    assert line(output, '1.00 ')[:3] == pytest.approx([512.349, 268.532, 29.211], abs=1e-3)
    row = line(output, '2.50 ')
    assert row[:3] == pytest.approx([986.392, 514.099, 55.646], abs=1e-3)
    assert len(row) == 6 and row[3:] != row[:3]
    # The links lag at first: little of the torque that stiff ones need, nearly all of it later.
    early = line(output, '0.50 ')
    assert all(0 < bent < 0.2 * stiff for stiff, bent in zip(early[:3], early[3:], strict=True))
    assert all(0.8 * stiff < bent < stiff for stiff, bent in zip(row[:3], row[3:], strict=True))


def test_simulate_a_swing(tmp_path):
    output = run('simulate_a_swing.py', tmp_path / 'out')
    # El-Rayyes's case 3 with stiff links: -1.81622, 0.18157 rad after 0.5 s; bending changes
    # these by less than 0.0025 and 0.0054 rad.
    angles = line(output, 'joints after 0.500 s:')
    assert angles[0] == pytest.approx(-1.81622, abs=0.0026)
    assert angles[1] == pytest.approx(0.18157, abs=0.0055)
    drift, total = line(output, 'energy drift:')
    assert drift < 1e-6 * abs(total)
    header = (tmp_path / 'out' / 'swing.csv').read_text().splitlines()[0]
    assert 'link1/bending_y1' in header
    check_picture(tmp_path / 'out' / 'tip_deflection.png')


def test_modes_from_a_file(tmp_path, picture):
    output = run('modes_from_a_file.py', tmp_path / 'rod.npz', picture)
    # El-Rayyes's case 1: the clamped-free beam of his table 4.8, and a lumped mass matrix.
    found = line(output, 'frequencies [Hz]')
    assert found == pytest.approx([11.291414, 70.762082, 198.135877], rel=5e-3)
    assert "'rod/mode3'" in output and (tmp_path / 'rod.npz').exists()


def test_vendor_urdf_with_extension(picture):
    output = run('vendor_urdf_with_extension.py', picture)
    assert 'shoulder_lift_joint/elastic' in output
    assert 'upper_arm_link/bending_z1' in output
    assert 0.5 < line(output, 'the tool sags by')[0] < 20.0


def test_vendor_urdf_that_is_missing(tmp_path):
    message = run('vendor_urdf_with_extension.py', tmp_path / 'none.urdf', status=1)
    assert 'none.urdf is missing' in message and 'Traceback' not in message


def test_wrench_and_payload(picture):
    output = run('wrench_and_payload.py', picture)
    assert line(output, 'largest difference:')[0] < 1e-10
    assert 'cleared payload leaves no trace: True' in output
    _, alone, payload, wrench = numbers(
        next(row for row in output.splitlines() if row.startswith('joint2')))
    assert payload == wrench and abs(payload - alone) > 1.0


def test_modes_of_an_arm(picture):
    output = run('modes_of_an_arm.py', picture)
    # Mohan and Saha's arm, two modes a link, stretched: independent beam model.
    locked = [0.1555, 1.179, 3.468, 7.960, 14.02, 55.25]
    free = [3.232, 4.891, 19.16, 24.20, 36.53, 164.7]
    assert line(output, 'joints locked:') == pytest.approx(locked, rel=5e-4)
    assert line(output, 'joints free:') == pytest.approx(free, rel=5e-4)


def test_poles_under_joint_control(picture):
    output = run('poles_under_joint_control.py', picture)
    # Stiff joints: the locked frequencies of the example above, without damping.
    stiff = line(output, 'kp = 1e+10:')
    assert stiff[0::2] == pytest.approx([0.1555, 1.179, 3.468, 7.960], rel=5e-4)
    assert max(stiff[1::2]) < 1e-4
    soft = line(output, 'kp = 1e+04:')
    assert soft[0] < 0.7 * stiff[0] and soft[1] > 0.4


@pytest.mark.slow
def test_corrected_positions(picture):
    output = run('corrected_positions.py', picture)
    assert line(output, 'as given: tip off by up to')[0] > 10.0
    assert line(output, 'corrected: tip off by up to')[0] < 0.01


@pytest.mark.slow
@pytest.mark.ros
def test_correct_a_trajectory(picture):
    output = run('correct_a_trajectory.py', picture, log=True)
    assert 'trajectory_out, frame_id "plan", stamp 0.000000000: corrected by up to 0.0' in output
    assert 'time stretched by 2.' in output


def test_observe_modes(picture):
    output = run('observe_modes.py', picture)
    # The model is 5 percent too soft: its frequency lies sqrt(0.95) below 6.45 Hz.
    assert line(output, '6.28 Hz: predicted error')[0] < 10.0
    for name in ('link1', 'link2'):
        size, error = line(output, f'{name}/bending_y1:')
        assert size > 0.5 and error < 10.0


@pytest.mark.slow
def test_satellite_base(picture):
    output = run('satellite_base.py', picture)
    yaw, satellite, _ = numbers(
        next(row for row in output.splitlines() if row.startswith('yaw')))
    assert yaw > 0.01 > 0.0 > satellite > -yaw
    assert line(output, 'largest momentum:')[0] < 1e-9
    # The arm swings on its hinges and holds back: less than all links in one piece.
    force, = line(output, 'largest force along z:')
    whole, = line(output, 'of all links without joints:')
    assert whole == pytest.approx(12.449, abs=1e-3)
    assert 0.9 * whole < force < whole


def test_reduced_forms(picture):
    output = run('reduced_forms.py', picture)
    off = {
        form: line(output, f'{form}:')[2]
        for form in ('exact', 'linearised', 'undeformed_kinetic_energy', 'first_order_rotations',
                     'quasi_static')
    }
    assert off['exact'] == 0.0
    assert 0.0 < off['linearised'] < off['first_order_rotations']
    assert off['first_order_rotations'] < off['undeformed_kinetic_energy'] < 0.1
    assert 0.1 < off['quasi_static'] < 10.0
    assert 'deflection="linearised"' in output
    assert 'modes quasi-static' in output
