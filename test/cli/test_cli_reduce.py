# SPDX-License-Identifier: Apache-2.0
"""`flexdyn reduce`: matrices of a rod to a file of modes, files of modes converted."""

import json

from command import flexdyn_many
import flexdyn_ros as fd
import numpy as np
import pytest
from scipy import io, sparse

ROBOT = """<robot name="r"><link name="base"/><link name="rod"/><link name="hand"/>
<joint name="root" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 0 1"/>
</joint><joint name="end" type="fixed"><origin xyz="0.4 0 0"/><parent link="rod"/>
<child link="hand"/></joint><flexdyn version="1.0"><flexible_link link="rod"
geometric_stiffening="false"><modal file="rod.SID_FEM" format="sid"><attach joint="end" node="5"/>
</modal></flexible_link></flexdyn></robot>"""


@pytest.fixture
def rod(tmp_path):
    """Write a rod of five point masses on springs across it, in mm, t and s."""
    stiffness = np.zeros((15, 15))
    for e in range(4):
        for a, k in enumerate((1000.0, 10.0, 20.0)):
            at = np.ix_([3 * e + a, 3 * e + 3 + a], [3 * e + a, 3 * e + 3 + a])
            stiffness[at] += k * np.array([[1, -1], [-1, 1]])
    io.mmwrite(str(tmp_path / 'k.mtx'), sparse.coo_matrix(stiffness))
    io.mmwrite(str(tmp_path / 'm.mtx'), sparse.coo_matrix(1e-4 * np.eye(15)))
    (tmp_path / 'nodes.csv').write_text(
        'id,x,y,z\n' + '\n'.join(f'{n},{100 * n},50,0' for n in range(1, 6)))
    return tmp_path


def test_matrices_to_a_robot(rod):
    """0.5 kg; the chain of masses and springs across it has closed frequencies."""
    words = ['reduce', '--stiffness', 'k.mtx', '--mass', 'm.mtx', '--nodes', 'nodes.csv',
             '--units', 'mm-t-s', '--root', '1', '--interface', '5']
    answers = flexdyn_many([
        [*words, '-o', 'rod.npz', '--keep', '3', '--json'],
        ['reduce', '--modal', 'rod.npz', '-o', 'rod.SID_FEM'],
        [*words[:-6], '-o', 'x.npz', '--root', '1'], [*words, '-o', 'x.npz', '--rows', 'k.mtx'],
        [*words, '-o', 'x.npz', '--normal-modes', '-1'],
        ['reduce', '--modal', 'nodes.csv', '-o', 'x.npz'],
        [word.replace('mm-t-s', 'm-kg-s') for word in words] + ['-o', 'x.npz'],
        [*words, '-o', 'x.npz', '--preload', 'torque', '1', 'k.mtx'],
        [*words, '-o', 'x.npz', '--preload', 'rotation', '1', 'k.mtx'],
    ], rod)
    assert [answer[0] for answer in answers] == [0, 0, 2, 1, 2, 1, 0, 2, 1], answers
    assert 'check the units' in answers[6][1]
    assert 'none of acceleration' in answers[7][2] and 'rotation' in answers[8][2]
    record = json.loads(answers[0][1])
    assert record['mass_kg'] == pytest.approx(0.5)
    assert record['com_m'] == pytest.approx([0.2, 0.0, 0.0])
    # Clamped-free chain of n equal masses: 2 sqrt(k / m) sin((2 j - 1) pi / (2 (2 n + 1))).
    lowest = 2.0 * np.sqrt(1e4 / 0.1) * np.sin(np.pi / 18.0) / (2.0 * np.pi)
    assert record['frequencies_hz'][0] == pytest.approx(lowest, rel=1e-6)
    assert '--units' in answers[2][2] and 'k.mtx' in answers[3][2]
    assert 'first line' in answers[5][2]
    robot = fd.load_robot(ROBOT, base_dir=rod)
    assert robot.total_mass == pytest.approx(0.5)
    mass = fd.Dynamics(robot, backend='reference').mass_matrix(np.zeros(robot.nv))
    assert mass[0, 0] == pytest.approx(0.1 * sum((0.1 * n)**2 for n in range(5)))
    # With all modes nothing but the mass at the axis would be left to turn.
    assert np.linalg.eigvalsh(mass)[0] > 1e-5


def test_solids_to_files(tmp_path):
    """A tube along z with a picture; an error names a missing option."""
    pytest.importorskip('skfem', reason='the extra "solids" is not installed')
    tube = ['reduce', '--tube', '0.05', '0.004', '--length', '0.4', '--along', 'z']
    mesh = ['reduce', '--mesh', 'none.stl', '--material', 'steel', '-o', 'x.npz',
            '--units', 'mm-t-s']
    answers = flexdyn_many([
        [*tube, '--material', 'steel', '--stiffening', '--keep', '6', '--plot', 'a.png',
         '--interface-at', '0', '0', '0.2', '0.0255', '-o', 'a.npz', '--json'],
        [*tube, '--material', 'steel', '-o', 'b.npz'],
        [*tube, '-o', 'x.npz'], [*tube, '--material', 'steel', '--box', '1', '1', '.1', '-o', 'x'],
        [*mesh, '--root-at', '0', '0', '0', '1'], mesh,
    ], tmp_path)
    assert [answer[0] for answer in answers] == [0, 0, 2, 2, 1, 2], answers
    record = json.loads(answers[0][1])
    area = np.pi / 4.0 * (0.05**2 - 0.042**2)
    assert record['mass_kg'] == pytest.approx(7850 * 0.4 * area, rel=1e-3)
    assert record['com_m'] == pytest.approx([0.0, 0.0, 0.2], abs=1e-9)
    shown = record['convergence']
    assert shown['other_frequency_hz'] == pytest.approx(shown['frequency_hz'], rel=0.01)
    assert (tmp_path / 'a.png').read_bytes().startswith(b'\x89PNG')
    with np.load(tmp_path / 'a.npz') as found:
        assert found['node_positions'][:3].tolist() == [[0, 0, 0], [0, 0, 0.4], [0, 0, 0.2]]
        assert found['stiffening_direction'] == pytest.approx([0, 0, 1])
    assert 'convergence: ' in answers[1][1] and 'percent' in answers[1][1]
    for answer, word in zip(answers[2:], ('--material', 'contradicts', 'is no file', '--root-at')):
        assert word in answer[2]
