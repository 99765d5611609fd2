# SPDX-License-Identifier: Apache-2.0
"""Input shapers and feed-forward methods side by side."""

from pathlib import Path
import xml.etree.ElementTree as ET

import flexdyn_ros as fd
from flexdyn_ros.cli.main import main
from flexdyn_ros.tip_tracking.comparison import compare, MethodComparison, METHODS
from flexdyn_ros.tip_tracking.input_shaping import Shaper
from flexdyn_ros.tip_tracking.wrong_models import wrong_descriptions
import numpy as np
import pytest

CANADARM = Path(__file__).parents[2] / 'urdf' / 'canadarm.urdf.xacro'
# Gains of the demonstration, times 100 and 10.
KP, KD = (2e5, 1e5, 1e4), (3e4, 1.5e4, 1.5e3)
START, END = [0.3, -0.8, 0.4] + [0.0] * 6, [0.8, -1.2, 0.6] + [0.0] * 6


def canadarm(**arguments):
    return fd.Dynamics(fd.load_robot(CANADARM, xacro_arguments={
        'damping_ratio': '0.01', **arguments}))


@pytest.mark.parametrize(('kind', 'most'), [('ZV', 1e-12), ('ZVD', 1e-12), ('EI', 0.051)])
def test_shapers_leave_the_vibration_that_they_are_made_for(kind, most):
    pole = complex(-0.4, 20.0)
    shaper = Shaper.of(kind, pole)
    assert shaper.amplitudes.sum() == pytest.approx(1.0)
    assert shaper.vibration(pole) <= most


def test_more_impulses_are_more_robust():
    """Singer and Seering 1990, Singhose 1994: ZVD and EI bear frequency errors better than ZV."""
    left = {kind: Shaper.of(kind, 20.0j).vibration(22.0j) for kind in ('ZV', 'ZVD', 'EI')}
    assert left['ZV'] == pytest.approx(np.cos(np.pi / 2 * 1.1) * -1.0, abs=1e-9)
    assert left['ZVD'] == pytest.approx(left['ZV'] ** 2, abs=1e-9)
    assert left['EI'] < left['ZV']


def test_shaped_samples_end_where_they_should():
    shaper = Shaper.of('ZVD', 10.0j)
    t = np.linspace(0.0, 1.0, 101)
    at = np.array([0.0, 5.0])
    assert shaper.shaped(t, t[:, np.newaxis], at)[:, 0] == pytest.approx([0.0, 1.0])


def test_inversion_leaves_the_canadarm_at_rest():
    """Residual vibration at least 200 times below that of rigid feed-forward."""
    dyn = canadarm()
    path = fd.TipPath.between(dyn, 'tool', START, END, 5.5, ['x', 'y', 'rz'])
    rigid, inverted = compare(dyn, path, KP, KD, ('rigid', 'inversion'))
    assert rigid.residual_vibration > 200.0 * inverted.residual_vibration
    assert rigid.tip_error > 200.0 * inverted.tip_error
    assert inverted.largest_torque < 2500.0


@pytest.mark.slow
def test_inversion_of_a_wrong_model_is_better_than_a_rigid_one():
    """Here the plant carries 5 kg more than the model, and its modes are damped differently."""
    path = fd.TipPath.between(canadarm(), 'tool', START, END, 5.5, ['x', 'y', 'rz'])
    comparison = MethodComparison(canadarm(), path, KP, KD)
    plant = canadarm(payload_mass='5', damping_ratio='0.0105')
    rigid, inverted = (
        comparison.run(comparison.reference(method, 1e-3), plant, method)
        for method in ('rigid', 'inversion'))
    assert rigid.residual_vibration > 4.0 * inverted.residual_vibration


def test_the_command_compares_methods(tmp_path, capsys):
    methods = ('rigid', 'quasi-static', 'ZV', 'inversion')
    code = main([
        'track-tip', str(CANADARM), 'damping_ratio:=0.01', '--frame', 'tool',
        '--outputs', 'x', 'y', 'rz', '--start', 'shoulder=0.3', 'elbow=-0.8', 'wrist=0.4',
        '--end', 'shoulder=0.8', 'elbow=-1.2', 'wrist=0.6', '--duration', '5.5',
        '--kp', *map(str, KP), '--kd', *map(str, KD), '--methods', *methods, '--dt', '0.005',
        '--out', str(tmp_path / 'run')])
    printed = capsys.readouterr().out
    assert code == 0
    assert all(method in printed for method in methods)
    assert 'zeros at 0 s' in printed
    assert {file.name for file in (tmp_path / 'run').iterdir()} == {
        'tip_motion.csv', 'zeros.csv', 'comparison.csv', 'tip_error.png'}
    heads = (tmp_path / 'run' / 'tip_motion.csv').read_text().partition('\n')[0].split(',')
    assert heads[:2] == ['t', 'shoulder']
    assert heads[-1] == 'wrist/effort'


@pytest.mark.slow
def test_prescribed_joints_let_the_links_vibrate():
    """Joints that are held do not damp the links; shapers excite them less."""
    dyn = canadarm()
    path = fd.TipPath.between(dyn, 'tool', START, END, 5.5, ['x', 'y', 'rz'])
    found = {each.method: each for each in compare(dyn, path, KP, KD)}
    assert set(found) == set(METHODS)
    assert found['ZV'].residual_vibration < 0.1 * found['rigid'].residual_vibration
    assert found['joints'].residual_vibration > found['ZV'].residual_vibration


def test_the_command_refuses_one_gain_alone(capsys):
    assert main(['track-tip', str(CANADARM), '--frame', 'tool', '--kp', '10']) == 2
    assert '--kd' in capsys.readouterr().err


def test_wrong_descriptions_have_seeded_factors():
    """One factor for the moduli of a beam, others for masses; foreign prefixes are no error."""
    text = ('<robot name="a"><drake:joint/><link name="b"><inertial><mass value="2"/><inertia '
            'ixx="4"/></inertial></link><flexdyn><beam young="10" shear="4"/></flexdyn></robot>')
    (found,), (other,) = (wrong_descriptions([text], seed) for seed in (1, 2))
    assert found == wrong_descriptions([text], 1)[0] != other
    root = ET.fromstring(found)
    mass, inertia = (
        float(root.find(f'.//{tag}').get(name)) / value
        for tag, name, value in (('mass', 'value', 2.0), ('inertia', 'ixx', 4.0)))
    assert mass == pytest.approx(inertia) and 0.0 < abs(mass - 1.0) <= 0.05
    beam = root.find('.//beam')
    assert float(beam.get('young')) / float(beam.get('shear')) == pytest.approx(2.5)
    assert 0.0 < abs(float(beam.get('young')) / 10.0 - 1.0) <= 0.05
