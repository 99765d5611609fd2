# SPDX-License-Identifier: Apache-2.0
"""Output of the subcommands on loops and on joints of several axes."""

import json
from pathlib import Path

from flexdyn_ros.cli.main import main
from flexdyn_ros.simulation.record import load_npz
import numpy as np
import pytest

URDF = Path(__file__).resolve().parents[2] / 'urdf'


def answer(capsys, *words):
    """Return the JSON that a subcommand prints; it must succeed."""
    assert main([*map(str, words), '--json']) == 0
    return json.loads(capsys.readouterr().out)


def test_check_says_rank_and_freedoms(capsys):
    report = answer(capsys, 'check', URDF / 'four_bar.urdf.xacro', 'constrain:=rx rz tx ty tz')
    notes = ' '.join(f['message'] for f in report['findings'] if f['severity'] == 'note')
    assert '5 constraints of rank 2, 1 degrees of freedom, 1 of the joint coordinates' in notes
    assert '3 of them are redundant' in notes


def test_check_of_loops_that_do_not_close(capsys, tmp_path):
    text = (URDF / 'four_bar.urdf.xacro').read_text()
    (tmp_path / 'shapes.macro.xacro').write_text((URDF / 'shapes.macro.xacro').read_text())
    open_bars = text.replace('xyz="${coupler} 0 0"', 'xyz="0.1 0 0"')
    open_bars = open_bars.replace('xyz="${rocker} 0 0"', 'xyz="0.1 0 0"')
    (tmp_path / 'open.urdf.xacro').write_text(open_bars)
    report = answer(capsys, 'check', tmp_path / 'open.urdf.xacro')
    (found,) = [f for f in report['findings'] if f['severity'] == 'warning']
    assert (found['element'], found['name']) == ('loop', 'pin')
    assert 'its error is' in found['message']
    moved = text.replace('rpy="0 ${-angle} 0"', 'rpy="0 ${-angle + 0.05} 0"')
    (tmp_path / 'moved.urdf.xacro').write_text(moved)
    report = answer(capsys, 'check', tmp_path / 'moved.urdf.xacro')
    assert any('open by' in f['message'] for f in report['findings'])


def test_check_counts_the_motors(capsys, tmp_path):
    extra = tmp_path / 'limp.xml'
    text = (URDF / 'hslm.urdf.xacro').read_text().replace('leg1/tx leg2/tx leg3/tx', 'leg1/tx')
    (tmp_path / 'shapes.macro.xacro').write_text((URDF / 'shapes.macro.xacro').read_text())
    (tmp_path / 'limp.urdf.xacro').write_text(text)
    report = answer(capsys, 'check', extra.with_name('limp.urdf.xacro'))
    assert any('1 actuated coordinates cannot make 3' in f['message'] for f in report['findings'])


def test_info_lists_loops_and_axes(capsys):
    info = answer(capsys, 'info', URDF / 'hslm.urdf.xacro')
    assert [loop['name'] for loop in info['loops']] == ['tie2', 'tie3']
    assert info['loops'][0]['constrain'] == ['rx', 'ry', 'rz', 'tx', 'ty', 'tz']
    assert info['actuated'] == ['leg1/tx', 'leg2/tx', 'leg3/tx']
    joints = {joint['name']: joint for joint in info['joints']}
    assert joints['leg1']['axes'] == ['ry', 'rz', 'tx']
    assert main(['info', str(URDF / 'hslm.urdf.xacro')]) == 0
    text = capsys.readouterr().out
    assert 'ry rz tx' in text and 'actuated: leg1/tx, leg2/tx, leg3/tx' in text
    assert 'constraint forces of loops' in text


def test_simulate_starts_closed(capsys, tmp_path):
    """The crank stays at its given position; the others follow."""
    words = ('simulate', URDF / 'four_bar.urdf.xacro', '--q0', 'crank=0.5', '--t-end', '0.02')
    summary = answer(capsys, *words, '--no-plots', '--out', tmp_path / 'run')
    motion = load_npz(tmp_path / 'run' / 'trajectory.npz')
    assert motion.q[0, 0] == pytest.approx(0.5)
    assert np.abs(motion.q[0, 1:]).min() > 0.05
    assert summary['energy_change_largest'] < 1e-6
    for drift in ('force', 'baumgarte', 'none'):
        answer(capsys, *words, '--no-plots', '--out', tmp_path / drift, '--drift', drift)


def test_modes_of_a_mechanism(capsys):
    """Three rigid motions are free but for gravity, and the bending is stiffer in the loop."""
    found = answer(capsys, 'modes', URDF / 'delta.urdf.xacro')
    free = [vibration['frequency'] for vibration in found['free']]
    assert max(free[:3]) < 1.0 and len(free) == 5
    assert found['gravity_stiffness_included'] and found['free'][0]['growth_rate'] > 1.0
    held = [vibration['frequency'] for vibration in found['locked']]
    assert len(held) == 2
    # Holding three motors takes three motions away: frequencies interlace.
    for k, frequency in enumerate(held):
        assert free[k] <= frequency <= free[k + 3]
