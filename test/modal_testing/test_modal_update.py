# SPDX-License-Identifier: Apache-2.0
"""Stiffness and damping from measured modes: closed forms, known changes, universal files."""

import json

from flexdyn_ros.errors import ArgumentError, ModelError
from flexdyn_ros.modal_testing.adjustable_model import AdjustableModel
from flexdyn_ros.modal_testing.measured_modes import (
    fitted_modes,
    MeasuredMode,
    ModalTest,
    read_modal_test,
    Sensor,
)
from flexdyn_ros.modal_testing.modal_update import held_modes, mac_table, update_modes
from flexdyn_ros.model.beam.body import link_body
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.modal.files import write_modal_file
import numpy as np
import pytest

LENGTH, YOUNG, MASS = 1.5, 7e10, 2.0
BEAM = """<robot name="one"><link name="base"/><link name="boom"/>
<joint name="slew" type="revolute"><parent link="base"/><child link="boom"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="9" velocity="9"/></joint><flexdyn version="1.0">
<flexible_link link="boom"><beam tip="1.5 0 0" young="7e10" shear="2.6e10" area="1e-3" iy="2e-8"
iz="1e-8" j="3e-8" mass="2"><bending axis="y" modes="2" static_modes="1" damping_ratio="0.01"/>
<bending axis="z" modes="1"/><torsion modes="1"/></beam></flexible_link></flexdyn></robot>"""
ARM = """<robot name="two"><link name="base"/><link name="upper"/><link name="fore"/>
<link name="tool"><inertial><mass value="1.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0"
ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
<axis xyz="0 0 1"/></joint>
<joint name="elbow" type="continuous"><origin xyz="1 0 0"/><parent link="upper"/>
<child link="fore"/><axis xyz="0 1 0"/></joint>
<joint name="end" type="fixed"><origin xyz="0.8 0 0"/><parent link="fore"/><child link="tool"/>
</joint><flexdyn version="1.0">
<flexible_link link="upper"><beam tip="elbow" young="7e10" shear="2.6e10" area="1e-3" iy="3e-8"
iz="4e-8" j="6e-8" mass="3"><bending axis="y" modes="2" damping_ratio="0.01"/>
<bending axis="z" modes="2" damping_ratio="0.01"/></beam></flexible_link>
<flexible_link link="fore"><beam tip="end" young="7e10" area="1e-3" iy="1e-8" iz="1.5e-8"
mass="1.5"><bending axis="y" modes="2"/><bending axis="z" modes="2"/></beam></flexible_link>
<joint_dynamics joint="elbow" stiffness="9e3" damping="2" rotor_inertia="1e-4" gear_ratio="100"/>
</flexdyn></robot>"""
SENSORS = tuple(
    Sensor(link, np.array([x, 0.0, 0.0]), direction) for link, x in (
        ('upper', 0.5), ('upper', 1.0), ('fore', 0.4), ('tool', 0.0))
    for direction in np.eye(3)[1:])


def test_a_cantilever_against_closed_forms():
    """EI from the first frequency of one plane, and from the tip stiffness of the other."""
    robot = load_robot(BEAM)
    wanted, pushed = 1.3 * 700.0, 0.7 * 1400.0
    frequency = 1.8751040687**2 / LENGTH**2 * np.sqrt(wanted * LENGTH / MASS) / (2.0 * np.pi)
    tip = np.array([LENGTH, 0.0, 0.0])
    test = ModalTest(
        (MeasuredMode(frequency, 0.03, np.array([0.0, 1.0, 0.0])),),
        tuple(Sensor('boom', tip, axis) for axis in np.eye(3)),
        ((Sensor('boom', tip, np.eye(3)[2]), 3.0 * pushed / LENGTH**3 * 1.0 / 0.9707),))
    found = update_modes(AdjustableModel(robot, None), test, np.zeros(robot.nq))
    assert found.factors['boom/bending_y'] == pytest.approx(1.3, rel=1e-4)
    # One mode alone has 12 / 1.8751^4 = 0.9707 of the compliance L^3 / 3 EI.
    assert found.factors['boom/bending_z'] == pytest.approx(0.7, rel=1e-3)
    assert found.factors['boom/torsion'] == pytest.approx(1.0, rel=1e-3)  # not measured
    assert found.deviations['boom/torsion'] > 100.0
    assert found.deviations['boom/bending_y'] == pytest.approx(0.02, rel=0.02)  # EI follows f^2
    assert found.damping == {'boom/bending_y': pytest.approx(0.03, rel=1e-3)}
    assert found.after.stiffness[0] == pytest.approx(test.stiffness[0][1], rel=1e-3)
    assert not found.at_bound


def truth():
    """Return an arm with known changes and measurements on it at a bent elbow."""
    model = AdjustableModel(load_robot(ARM), None)
    factors = {'upper/bending_y': 0.7, 'upper/bending_z': 1.4, 'fore/bending_y': 2.1,
               'fore/bending_z': 0.8, 'elbow/elastic': 1.6}
    damping = {'upper/bending_y': 0.02, 'upper/bending_z': 0.005, 'fore/bending_y': 0.03,
               'fore/bending_z': 0.01, 'elbow/elastic': 8.0}
    q = np.zeros(model.robot.nq)
    q[1] = 0.9
    sensors = ModalTest((), SENSORS)
    real = held_modes(model.changed(factors, damping), q, sensors)
    return model, factors, damping, q, real


def test_known_changes_are_found_again():
    model, factors, damping, q, real = truth()
    assert set(model.names) == set(factors)
    modes = tuple(MeasuredMode(*each) for each in zip(
        real.frequencies[:7], real.damping_ratios[:7], real.shapes[:7]))
    # In any order, and of any scale.
    modes = tuple(MeasuredMode(m.frequency, m.damping_ratio, -3.0 * m.shape) for m in modes[::-1])
    found = update_modes(model, ModalTest(modes, SENSORS), q)
    for name, factor in factors.items():
        assert found.factors[name] == pytest.approx(factor, rel=1e-3), name
        assert found.damping[name] == pytest.approx(damping[name], rel=0.01), name
    assert np.allclose(found.mac[range(7), [new for _, new in found.pairs]], 1.0, atol=1e-4)
    before = [abs(found.before.frequencies[k] / m.frequency - 1) for m, (k, _) in
              zip(modes, found.pairs)]
    assert max(before) > 0.05
    # Bounds hold.
    found = update_modes(model, ModalTest(modes, SENSORS), q, bound=1.5)
    assert 'fore/bending_y' in found.at_bound
    assert max(found.factors.values()) <= 1.5
    with pytest.raises(ArgumentError, match='known are'):
        update_modes(model, ModalTest(modes, SENSORS), q, fixed=['fore'])


def test_modes_that_cross_are_followed():
    """The softer plane of the model is measured as the stiffer one; shapes distinguish them."""
    robot, line = load_robot(BEAM), MASS / LENGTH
    factors = {'boom/bending_y': 2.6, 'boom/bending_z': 0.6}
    tip = np.array([LENGTH, 0.0, 0.0])
    sensors = tuple(Sensor('boom', tip, axis) for axis in np.eye(3)[1:])
    modes = tuple(
        MeasuredMode(1.8751040687**2 / LENGTH**2 * np.sqrt(factor * rigidity / line)
                     / (2.0 * np.pi), None, shape)
        for factor, rigidity, shape in zip(factors.values(), (700.0, 1400.0), np.eye(2)))
    assert modes[0].frequency > modes[1].frequency
    for sensed in (modes, (modes[0], MeasuredMode(modes[1].frequency))):
        found = update_modes(AdjustableModel(robot, None), ModalTest(sensed, sensors),
                             np.zeros(robot.nq))
        for name, factor in factors.items():
            assert found.factors[name] == pytest.approx(factor, rel=1e-3)
        ours = [found.after.frequencies[new] for _, new in found.pairs]
        assert ours == pytest.approx([mode.frequency for mode in modes], rel=1e-3)


def test_modes_of_a_file_change_one_by_one(tmp_path):
    body = link_body(load_robot(BEAM).link('boom'))
    write_modal_file(tmp_path / 'boom.npz', body, [[x, 0, 0] for x in np.linspace(0, LENGTH, 9)])
    start, _, rest = BEAM.partition('<beam')
    text = start.replace('link="boom">', 'link="boom" geometric_stiffening="false">')
    text += '<modal file="boom.npz" format="npz" damping_ratio="0.02"/>'
    text += rest.partition('</beam>')[2]
    robot = load_robot(text, base_dir=tmp_path)
    model = AdjustableModel(robot, tmp_path)
    q, nothing = np.zeros(robot.nq), ModalTest(())
    factors = {name: 1.0 + 0.1 * k for k, name in enumerate(model.names)}
    real = held_modes(model.changed(factors, dict.fromkeys(model.names, 0.05)), q, nothing)
    modes = tuple(MeasuredMode(*each) for each in zip(real.frequencies, real.damping_ratios))
    found = update_modes(model, ModalTest(modes), q)
    assert found.factors == pytest.approx(factors, rel=1e-4)
    files = model.written(found.robot, tmp_path / 'updated.urdf')
    assert [file.name for file in files] == ['updated.urdf', 'updated_boom.npz']
    again = held_modes(load_robot(files[0]), q, nothing)
    assert np.allclose(again.frequencies, real.frequencies, rtol=1e-4)
    assert np.allclose(again.damping_ratios, real.damping_ratios, rtol=1e-3)


def responses(frequencies):
    """Return receptances at three sensors of three damped modes, their rates and shapes."""
    rates, ratios = 2 * np.pi * np.array([20.0, 24.0, 61.0]), np.array([0.01, 0.02, 0.005])
    shapes = np.array([[1.0, -0.5, 0.3], [0.4, 1.0, -0.7], [-0.2, 0.6, 1.0]])
    w = 2 * np.pi * frequencies
    found = sum(np.outer(x, x[0] / (rate**2 - w**2 + 2j * z * rate * w))
                for x, rate, z in zip(shapes, rates, ratios))
    return found, rates, ratios, shapes


def test_modes_of_frequency_responses():
    f = np.arange(2.0, 90.0, 0.05)
    found, rates, ratios, shapes = responses(f)
    noise = np.random.default_rng(3).normal(size=(2, *found.shape))
    found += 1e-3 * np.abs(found).mean() * (noise[0] + 1j * noise[1])
    modes = fitted_modes(f, found)
    assert len(modes) == 3
    for mode, rate, ratio, shape in zip(modes, rates, ratios, shapes):
        assert 2 * np.pi * mode.frequency == pytest.approx(rate, rel=1e-3)
        assert mode.damping_ratio == pytest.approx(ratio, rel=0.03)
        assert mac_table(mode.shape[None], shape[None])[0, 0] > 0.99
    with pytest.raises(ValueError, match='without peaks'):
        fitted_modes(f, np.ones((2, len(f)), complex))


def test_universal_files(tmp_path):
    """Datasets 15, 55 and 58, as pyuff writes them."""
    pyuff = pytest.importorskip('pyuff', reason='the extra "modal-tests" is not installed')
    f = np.arange(2.0, 90.0, 0.05)
    found, rates, ratios, shapes = responses(f)
    nodes = pyuff.prepare_15([1, 2, 3], [0] * 3, [0] * 3, [0] * 3, [0.1, 0.2, 0.3], [0.0] * 3,
                             [0.0] * 3)
    shaped = [pyuff.prepare_55(
        model_type=1, id1='a', id2='a', id3='a', id4='a', id5='a', analysis_type=2, data_ch=2,
        spec_data_type=8, data_type=2, r1=np.zeros(3), r2=shape, r3=np.zeros(3), n_data_per_node=3,
        node_nums=np.array([1, 2, 3]), load_case=1, mode_n=k, modal_m=1.0,
        freq=float(rate / (2 * np.pi)), modal_damp_vis=float(ratio), modal_damp_his=0.0)
        for k, (rate, ratio, shape) in enumerate(zip(rates, ratios, shapes))]
    measured = [pyuff.prepare_58(
        func_type=4, rsp_node=k + 1, rsp_dir=-2 if k == 2 else 2, ref_node=1, ref_dir=2,
        ordinate_spec_data_type=12, orddenom_spec_data_type=13, x=f, abscissa_min=f[0],
        abscissa_inc=0.05, num_pts=len(f),
        data=(-1 if k == 2 else 1) * row * -(2 * np.pi * f)**2)
        for k, row in enumerate(found)]
    for name, sets, places in (('a.unv', shaped, 1e-4), ('b.uff', measured, 0.03)):
        pyuff.UFF(str(tmp_path / name)).write_sets([nodes, *sets])
        test = read_modal_test(tmp_path / name, 'boom')
        assert [mode.frequency for mode in test.modes] == pytest.approx(
            (rates / (2 * np.pi)).tolist(), rel=1e-3)
        assert [m.damping_ratio for m in test.modes] == pytest.approx(ratios.tolist(), rel=places)
        assert np.diag(mac_table(np.array([m.shape for m in test.modes]), shapes)).min() > 0.99
        assert [s.at[0] for s in test.sensors] == pytest.approx([0.1, 0.2, 0.3])
        assert all(s.direction.tolist() == [0, 1, 0] for s in test.sensors)
    with pytest.raises(ModelError, match='--link'):
        read_modal_test(tmp_path / 'a.unv')
    (tmp_path / 'c.uff').write_text('nothing')
    with pytest.raises(ModelError, match='positions of nodes|no universal'):
        read_modal_test(tmp_path / 'c.uff', 'boom')


@pytest.mark.parametrize(('given', 'words'), [
    ({}, 'neither modes nor stiffness'), ([], 'by name'), ({'mode': []}, 'unknown names'),
    ({'modes': [{'frequency_hz': -1}]}, 'positive'), ({'modes': [{}]}, 'frequency_hz'),
    ({'modes': [{'frequency_hz': 1, 'shape': [1]}]}, '0 finite numbers'),
    ({'stiffness': [{'link': 'a', 'direction': [0, 0, 0], 'stiffness_n_per_m': 1}]}, 'zeros'),
])
def test_wrong_files_of_tests(tmp_path, given, words):
    (tmp_path / 'a.yaml').write_text(json.dumps(given))
    with pytest.raises(ModelError, match=words):
        read_modal_test(tmp_path / 'a.yaml')
