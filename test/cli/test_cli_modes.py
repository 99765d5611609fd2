# SPDX-License-Identifier: Apache-2.0
"""`flexdyn modes`."""

import json
import math
import re

from command import flexdyn, FLEXIBLE_ARM, MODES, REPOSITORY
import flexdyn_ros as fd
from flexdyn_ros.model.beam.body import link_body
from flexdyn_ros.model.modal.files import write_modal_file
import numpy as np
from oracles import rotating_beam
import pytest
from scipy.interpolate import PchipInterpolator
from scipy.linalg import eigh

# A rod of 2 kg and 1 m, clamped.
ROD = """<robot name="rod"><link name="rod"/><flexdyn version="1.0"><flexible_link link="rod"
geometric_stiffening="false"><beam tip="1 0 0" young="7e10" iz="1e-8" mass="2">
<bending axis="y" modes="{modes}"/></beam></flexible_link></flexdyn></robot>"""


@pytest.fixture(scope='module')
def answer(folder):
    """Return the JSON of the flexible arm with its elbow bent."""
    run = flexdyn('modes', 'flexible.urdf', '--at', 'elbow=0.7', '--json', cwd=folder)
    assert (run.returncode, run.stderr) == (0, '')
    return json.loads(run.stdout)


def matrices(folder, answer):
    """Return M and K, gravity's included, in the same configuration, by another formulation."""
    dyn = fd.Dynamics(
        fd.load_robot(folder / 'flexible.urdf'), formulation='kinematic_influence')
    q, rest = np.array(list(answer['configuration'].values())), np.zeros(6)
    assert dyn.inverse_dynamics(q, rest, rest)[2:] == pytest.approx(np.zeros(4), abs=1e-9)
    held = [
        dyn.inverse_dynamics(q + s, rest, rest) for e in np.eye(6) for s in (1e-5 * e, -1e-5 * e)
    ]
    return dyn.mass_matrix(q), (np.array(held[::2]) - np.array(held[1::2])).T / 2e-5


def test_coordinates_have_the_frequencies_of_beam_theory(answer):
    """Clamped-free: 1.8751^2 and 4.6941^2 over 2 pi times sqrt(E I / (m L^3))."""
    rows = {row['name']: row for row in answer['coordinates']}
    assert [row['name'] for row in answer['coordinates']] == list(MODES)
    assert [row['index'] for row in answer['coordinates']] == [0, 1, 2, 3]
    base = math.sqrt(2e9 * 1.3e-8 / 0.8) / (2.0 * math.pi)
    for name, root in zip(MODES[:3], (1.8751041, 1.8751041, 4.6940911)):
        assert rows[name]['frequency_hz'] == pytest.approx(root**2 * base, rel=1e-6)
    assert rows[MODES[0]]['kind'] == 'bending_y'
    assert rows[MODES[0]]['damping_ratio'] == pytest.approx(0.01)
    assert rows[MODES[1]]['damping_ratio'] == 0.0
    assert rows[MODES[0]]['modal_mass'] == pytest.approx(0.2, rel=1e-6)  # a quarter of the mass
    spring = rows['elbow/elastic']
    assert (spring['kind'], spring['stiffness']) == ('joint spring', 300.0)
    inertia = 0.02 + 0.6 * 0.2**2
    assert spring['modal_mass'] == pytest.approx(inertia)
    assert spring['frequency_hz'] == pytest.approx(math.sqrt(300.0 / inertia) / (2.0 * math.pi))
    assert spring['damping_ratio'] == pytest.approx(0.5 / (2.0 * math.sqrt(300.0 * inertia)))


def test_a_spring_table_counts_with_its_slope(tmp_path):
    """At rest a dead zone has no stiffness; bent, its frequency follows the table."""
    springs = re.sub(
        r'stiffness="300"(.*?)/>', r'\1><spring points="-0.1 -9, -0.01 0, 0 0, 0.01 0, 0.1 9, '
        '0.2 90"/></joint_dynamics>', FLEXIBLE_ARM, flags=re.DOTALL,
    )
    (tmp_path / 'table.urdf').write_text(springs)
    slope = PchipInterpolator([-0.1, -0.01, 0, 0.01, 0.1, 0.2], [-9, 0, 0, 0, 9, 90]).derivative()
    for bent in (0.0, 0.15):
        at = f'elbow/elastic={bent}'
        run = flexdyn('modes', 'table.urdf', '--at', at, '--json', cwd=tmp_path)
        assert (run.returncode, run.stderr) == (0, '')
        row, = [r for r in json.loads(run.stdout)['coordinates'] if r['name'] == 'elbow/elastic']
        assert row['kind'] == 'nonlinear spring'
        assert row['stiffness'] == pytest.approx(slope(bent), rel=1e-7)
        if bent:
            rate = math.sqrt(slope(bent) / row['modal_mass'])
            assert row['frequency_hz'] == pytest.approx(rate / (2.0 * math.pi))
    run = flexdyn('info', 'table.urdf', cwd=tmp_path)
    assert 'elastic by a table of 6 points' in run.stdout


def test_frequencies_solve_the_eigenproblem(answer, folder):
    """Locked: modes alone; free: all, with a zero for a joint that nothing turns back."""
    mass, stiffness = matrices(folder, answer)
    locked = np.sqrt(eigh(stiffness[2:, 2:], mass[2:, 2:], eigvals_only=True)) / (2 * np.pi)
    free = np.sqrt(np.maximum(eigh(stiffness, mass, eigvals_only=True), 0)) / (2 * np.pi)
    got_locked = [v['frequency_hz'] for v in answer['locked']]
    got_free = [v['frequency_hz'] for v in answer['free']]
    assert got_locked == pytest.approx(locked.tolist(), rel=1e-7)
    assert got_free == pytest.approx(free.tolist(), rel=1e-7, abs=1e-4)
    assert answer['gravity_stiffness_included']
    for vibration, frequency in zip(answer['free'], got_free):
        shape = np.array(vibration['shape'])
        assert shape @ mass @ shape == pytest.approx(1.0)
        square = (2 * np.pi * frequency) ** 2 - vibration['growth_rate_per_s'] ** 2
        assert shape @ stiffness @ shape == pytest.approx(square, abs=2e-5)


def test_participation_sums_to_what_the_modes_carry(answer, folder):
    """All modes together carry M_jf M_ff^-1 M_fj of a joint's inertia M_jj, each a part of it."""
    mass, _ = matrices(folder, answer)
    whole = np.diag(mass[:2, 2:] @ np.linalg.solve(mass[2:, 2:], mass[2:, :2])) / np.diag(mass)[:2]
    for joint, expected in zip(('shoulder', 'elbow'), whole):
        shares = [v['participation']['joints'][joint] for v in answer['locked']]
        assert all(0.0 <= share <= 1.0 for share in shares)
        assert sum(shares) == pytest.approx(expected, rel=1e-9)
        assert 0.01 < expected < 1.0 + 1e-12
    for axis in 'xyz':
        shares = [v['participation']['base'][axis] for v in answer['locked']]
        assert 0.0 <= sum(shares) <= 1.0
    # Bending along y moves the arm along the root's y axis only.
    y_mode = max(answer['locked'], key=lambda v: v['participation']['base']['y'])
    assert list(y_mode['made_of']) == ['upper_arm/bending_y1']
    assert y_mode['participation']['base']['x'] == pytest.approx(0.0, abs=1e-12)


def test_base_participation_of_a_cantilever_is_the_textbook_one(folder):
    """The first clamped-free mode carries 61.3 percent of a uniform beam's mass, the next 18.8."""
    (folder / 'cantilever.urdf').write_text("""
        <robot name="cantilever"><link name="wall"/><link name="beam"/>
        <joint name="clamp" type="fixed"><parent link="wall"/><child link="beam"/></joint>
        <flexdyn version="1.0"><flexible_link link="beam" geometric_stiffening="false">
          <beam tip="1 0 0" young="2e11" shear="8e10" area="1e-4" iz="1e-9" j="2e-9" mass="0.5">
            <bending axis="y" modes="3"/></beam></flexible_link></flexdyn></robot>""")
    run = flexdyn('modes', 'cantilever.urdf', '--json', cwd=folder)
    assert run.returncode == 0, run.stderr
    shares = [v['participation']['base']['y'] for v in json.loads(run.stdout)['locked']]
    assert shares == pytest.approx([0.6131, 0.1883, 0.0647], abs=2e-4)


def test_canadarm_has_its_published_arm_s_frequencies(folder):
    """Mohan and Saha's arm by an independent planar model: two modes a link, straight [Hz]."""
    pytest.importorskip('xacro', reason='xacro is not installed here: `make test` installs it')
    run = flexdyn('modes', REPOSITORY / 'urdf' / 'canadarm.urdf.xacro', '--json', cwd=folder)
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert [v['frequency_hz'] for v in answer['locked']] == pytest.approx(
        [0.1555, 1.179, 3.468, 7.960, 14.022, 55.247], rel=3e-4)
    assert [v['frequency_hz'] for v in answer['free']] == pytest.approx(
        [0.0, 0.0, 0.0, 3.2316, 4.8907, 19.159, 24.205, 36.525, 164.66], rel=3e-4)


def test_text_names_units_and_what_is_left_out(folder):
    """Tables of coordinates, locked and free vibrations; a rigid robot is named."""
    run = flexdyn('modes', 'flexible.urdf', cwd=folder)
    assert run.returncode == 0, run.stderr
    for words in ('frequency [Hz]', 'damping ratio', 'joints locked', 'joints free',
                  'Gravity stiffness is included', ' %'):
        assert words in run.stdout
    rigid = flexdyn('modes', 'arm.urdf', cwd=folder)
    assert rigid.returncode == 1 or 'no modes' in rigid.stdout


def test_effective_masses_shares_of_the_tip_and_a_picture(folder):
    """A cantilever's first mode carries 0.613 of its mass and 0.971 of its tip's compliance."""
    text = ROD.format(modes=8)
    (folder / 'rod.urdf').write_text(text)
    run = flexdyn('modes', 'rod.urdf', '--json', '--plot', 'rod.png', cwd=folder)
    assert run.returncode == 0, run.stderr
    rows = json.loads(run.stdout)['coordinates']
    assert [r['effective_mass_kg'] / 2.0 for r in rows[:3]] == pytest.approx(
        [0.6131, 0.1883, 0.0647], abs=1e-3)
    # 12 / root^4 of the compliance L^3 / 3 EI, and 0.9999 of it in eight modes.
    assert rows[0]['tip_share'] == pytest.approx(12 / 1.8751040687**4 / 0.9999, rel=2e-4)
    assert (folder / 'rod.png').read_bytes().startswith(b'\x89PNG')
    shown = flexdyn('modes', 'rod.urdf', cwd=folder).stdout
    assert 'effective mass [kg]' in shown and 'all coordinates are kept' in shown


def test_dropped_modes_of_a_file_are_listed(folder):
    body = link_body(fd.load_robot(ROD.format(modes=3)).link('rod'))
    write_modal_file(folder / 'rod.npz', body, [[0, 0, 0], [0.5, 0, 0], [1, 0, 0]])
    start, _, rest = ROD.partition('<beam')
    file = '<modal file="rod.npz" format="npz" modes="1 3"/>'
    (folder / 'filed.urdf').write_text(start + file + rest.partition('</beam>')[2])
    run = flexdyn('modes', 'filed.urdf', '--plot', 'filed.png', cwd=folder)
    assert 'dropped modes of the file of rod: 2' in run.stdout, run.stderr
    assert (folder / 'filed.png').stat().st_size > 5000
    nowhere = flexdyn('modes', 'filed.urdf', '--plot', '', cwd=folder)
    assert nowhere.returncode == 2 and 'must end in .png' in nowhere.stderr
    rigid = flexdyn('modes', 'arm.urdf', '--plot', 'arm.png', cwd=folder)
    assert rigid.returncode == 2 and 'needs a link with modes' in rigid.stderr


def column(tip_mass, down=True):
    """Return a beam that hangs or stands, its weight 1.5 times EI / L^2, and a mass at its tip."""
    sign = -1 if down else 1
    return ROD.replace('1 0 0', f'0 0 {sign}').format(modes=6).replace(
        'geometric_stiffening="false"', '').replace(
        'young="7e10"', f'y_axis="0 1 0" young="{2 * 9.81 / 1.5 / 1e-8}"').replace(
        '<bending', f'<point_mass at="1" mass="{2 * tip_mass}"/><bending')


@pytest.mark.parametrize('tip_mass', [0.0, 0.5])
def test_weight_stiffens_what_hangs_and_softens_what_stands(folder, tip_mass):
    """Finite elements of a beam under axial tension; more weight buckles the column."""
    for down in (True, False):
        (folder / 'column.urdf').write_text(column(tip_mass, down))
        run = flexdyn('modes', 'column.urdf', '--json', cwd=folder)
        assert (run.returncode, run.stderr) == (0, '')
        elastic, geometric, mass = rotating_beam.matrices(
            lambda x, sign=1.0 if down else -1.0: sign * 1.5 * (1.0 - x + tip_mass), tip_mass)
        rates = np.sqrt(eigh(elastic + geometric, mass, eigvals_only=True)[:2])
        found = [v['frequency_hz'] for v in json.loads(run.stdout)['locked'][:2]]
        unit = math.sqrt(9.81 / 1.5) / (2.0 * math.pi)
        assert found == pytest.approx((unit * rates).tolist(), rel=2e-3)
    (folder / 'column.urdf').write_text(column(5.0, down=False))
    run = flexdyn('modes', 'column.urdf', cwd=folder)
    assert 'unstable, grows by' in run.stdout


@pytest.mark.parametrize('angle', [0.0, math.pi])
def test_a_pendulum_swings_below_and_topples_above(folder, angle):
    """sqrt(m g c / I) about its pivot."""
    (folder / 'pendulum.urdf').write_text(
        '<robot name="pendulum"><link name="base"/><link name="rod"><inertial><origin '
        'xyz="0 0 -0.4"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><joint name="pivot" type="continuous"><parent '
        'link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>')
    run = flexdyn('modes', 'pendulum.urdf', '--at', f'pivot={angle}', '--json', cwd=folder)
    vibration, = json.loads(run.stdout)['free']
    rate = math.sqrt(2.0 * 9.81 * 0.4 / (0.1 + 2.0 * 0.4**2))
    expected = (rate / (2.0 * math.pi), 0.0) if not angle else (0.0, rate)
    assert (vibration['frequency_hz'], vibration['growth_rate_per_s']) == pytest.approx(expected)


def test_links_that_loads_stiffen_are_named(folder):
    text = FLEXIBLE_ARM.replace('geometric_stiffening="false"', '')
    (folder / 'stiffened.urdf').write_text(text)
    answer = json.loads(flexdyn('modes', 'stiffened.urdf', '--json', cwd=folder).stdout)
    assert answer['geometric_stiffening'] == ['upper_arm']
    terms = json.loads(flexdyn('info', 'stiffened.urdf', '--json', cwd=folder).stdout)
    assert 'geometric stiffening of upper_arm' in terms['torque_terms']


def test_a_prescribed_base_is_held_and_a_free_one_floats(folder):
    """Free joints: six more rigid motions on a free base, and none on a prescribed one."""
    answers = {}
    for motion in ('fixed', 'prescribed', 'free'):
        base = (f'<gravity xyz="0 0 0"/><base motion="{motion}"/><payload link="base" mass="5" '
                'ixx="1" iyy="1" izz="1"/>')
        text = FLEXIBLE_ARM.replace('</flexdyn>', f'{base}</flexdyn>')
        (folder / 'based.urdf').write_text(text)
        run = flexdyn('modes', 'based.urdf', '--json', cwd=folder)
        assert run.returncode == 0, run.stderr
        answers[motion] = [v['frequency_hz'] for v in json.loads(run.stdout)['free']]
    assert answers['prescribed'] == pytest.approx(answers['fixed'], rel=1e-6, abs=1e-6)
    assert sum(f == 0.0 for f in answers['free']) == 6 + sum(f == 0.0 for f in answers['fixed'])


def test_motion_without_inertia_has_no_frequency(folder):
    """The massless link is named, with exit code 1."""
    (folder / 'massless.urdf').write_text("""
        <robot name="massless"><link name="base"/><link name="ghost"/>
        <joint name="hinge" type="continuous"><parent link="base"/><child link="ghost"/>
        <axis xyz="0 0 1"/></joint>
        <flexdyn version="1.0"><joint_dynamics joint="hinge" stiffness="5"/></flexdyn></robot>""")
    run = flexdyn('modes', 'massless.urdf', cwd=folder)
    assert run.returncode == 1
    assert 'ghost' in run.stderr
    assert 'Traceback' not in run.stderr
