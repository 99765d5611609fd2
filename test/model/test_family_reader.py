# SPDX-License-Identifier: Apache-2.0
"""Families of modes, stations and damping as they are read from the extension."""

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.check import check_robot
from flexdyn_ros.model.records.beam import ModeFamily
from model_texts import arm_with, beam, SECTION
import pytest

PLAIN = 'young="7e10" shear="2.6e10" area="1e-3" iz="2e-7" mass="1"'


def _read(*arguments, **named):
    return arm_with(beam(*arguments, **named)).link('upper').beam


def test_every_family_attribute_is_read():
    read = _read(inner=(
        '<bending axis="y" modes="2" damping_ratio="0.01 0.02 0.03" boundary="pinned-free" '
        'static_modes="1" shear_correction="0.83"/><axial modes="1" basis="polynomial"/>'
    ))
    assert read.families == (
        ModeFamily('bending_y', 2, (0.01, 0.02, 0.03), 'pinned-free', 'eigen', 1, 0.83),
        ModeFamily('axial', 1, 0.0, 'clamped-free', 'polynomial'),
    )
    assert read.mode_names == ('bending_y1', 'bending_y2', 'bending_y_static1', 'axial1')
    assert [f.damping_ratios for f in read.families] == [(0.01, 0.02, 0.03), (0.0,)]


def test_stations_fill_in_from_the_beam_and_spread_the_mass():
    read = _read('young="7e10" iz="2e-7" mass="1.5"', inner=(
        '<station at="0" area="2e-3"/><station at="0.5" area="1e-3" iz="1e-7"/>'
        '<station at="1" area="1e-3"/><bending axis="y" modes="1"/>'
    ))
    assert [s.iz for s in read.stations] == [2e-7, 1e-7, 2e-7]
    assert [s.linear_density for s in read.stations] == pytest.approx([2.4, 1.2, 1.2])
    assert read.mass == 1.5


def test_mass_of_stations_by_density_and_line_density():
    inner = '<station at="0" area="2e-3"/><station at="1" area="1e-3"/>'
    assert _read('density="500"', inner).mass == pytest.approx(0.75)
    assert _read('density="500" interpolation="conical"', inner).mass == pytest.approx(
        500e-3 * (2 + 2**0.5 + 1) / 3)
    inner = '<station at="0" linear_density="1"/><station at="1" linear_density="0.5"/>'
    assert _read('', inner).mass == pytest.approx(0.75)


@pytest.mark.parametrize(('attributes', 'inner', 'words'), [
    (PLAIN, '<bending axis="y" modes="2" damping_ratio="0.1 0.2 0.3"/>', 'holds 3 numbers'),
    (PLAIN, '<bending axis="y" modes="2" static_modes="3"/>', 'is more than 2'),
    (PLAIN, '<axial modes="2" static_modes="2"/>', 'is more than 1'),
    (PLAIN, '<bending axis="y" modes="0" basis="polynomial"/>', 'has no effect'),
    (PLAIN, '<bending axis="y" modes="0" boundary="clamped-clamped" static_modes="1"/>',
     'has no effect'),
    (PLAIN, '<bending axis="y" modes="0" shear_correction="0.8"/>', 'has no effect'),
    (PLAIN, '<bending axis="y" modes="1" basis="polynomial" shear_correction="0.8"/>', 'no shear'),
    (PLAIN, '<bending axis="y" modes="1" basis="polynomial" boundary="pinned-free"/>',
     'slope of a pinned root'),
    (PLAIN, '<bending axis="y" modes="2" basis="polynomial" static_modes="1"/>',
     'already describe any tip force'),
    (PLAIN.replace('shear="2.6e10"', ''), '<bending axis="y" modes="1" shear_correction="0.8"/>',
     'shear_correction needs shear'),
    ('young="7e10" mass="1"', '<axial modes="1"/>', 'axial need area'),
    (PLAIN + ' loss_factor="0.1"', '', 'has no effect'),
    (PLAIN + ' loaded="true"', '', 'has no effect'),
    (PLAIN + ' rayleigh_mass="0.1"', '<axial modes="0"/>', 'has no effect'),
    (PLAIN + ' interpolation="conical"', '<axial modes="1"/>', 'without stations'),
    (PLAIN, '<station at="0" iy="1"/>', 'Begin with one at="0"'),
    (PLAIN, '<station at="0.1" iy="1"/><station at="1" iy="1"/>', 'Begin with one at="0"'),
    (PLAIN, '<station at="0" iy="1"/><station at="0.9" iy="1"/>', 'Begin with one at="0"'),
    (PLAIN, '<station at="0"/><station at="0.6"/><station at="0.5"/><station at="1"/>',
     'from root to tip'),
    (PLAIN, '<station at="0"/><station at="0"/><station at="1"/>', '2 stations stand at="0"'),
    (PLAIN, '<station at="0" iy="1"/><station at="1"/>', 'omits iy'),
    (PLAIN, '<station at="0" area="1"/><station at="1" area="1"/>', 'every station gives it'),
    (PLAIN, '<station at="0" linear_density="1"/><station at="1" linear_density="1"/>',
     'given twice, by mass and linear_density'),
    ('density="1"', '<station at="0"/><station at="1"/>', 'density needs area'),
    ('mass="1"', '<station at="0" j="1e-7"/><station at="1" j="1e-7"/>', 'so needs area'),
    ('young="7e10" mass="1"', '<station at="0"/><station at="1"/><bending axis="y" modes="1"/>',
     'need iz'),
    ('mass="1" rotary_inertia="true"', '<station at="0" area="1"/><station at="1" area="1"/>',
     'needs iy'),
])
def test_mistakes(attributes, inner, words):
    with pytest.raises(ModelError) as caught:
        arm_with(beam(attributes, inner))
    assert words in str(caught.value)
    assert caught.value.element in ('beam', 'bending', 'axial', 'station')
    assert caught.value.name == 'upper'
    assert caught.value.advice


def test_each_damping_ratio_is_a_fraction():
    with pytest.raises(ModelError, match='must lie between 0 and 1'):
        arm_with(beam(PLAIN, '<bending axis="y" modes="2" damping_ratio="0.1 1.2"/>'))


def test_loaded_beam_that_carries_nothing():
    with pytest.raises(ModelError, match='has no load'):
        arm_with(beam(SECTION + ' loaded="true"', link='tool', tip='0.1 0 0',
                      flexible='inertial="hub" geometric_stiffening="false"'))


# --- flexdyn check ----------------------------------------------------------------------------


def _messages(part):
    return [str(f) for f in check_robot(arm_with(part)).findings]


def test_tip_that_no_mode_moves_is_a_warning():
    held = '<bending axis="y" modes="1" boundary="clamped-{}"{}/>'
    for tip in ('clamped', 'pinned'):
        message, = [m for m in _messages(beam(inner=held.format(tip, ''))) if 'no mode' in m]
        assert 'joint "elbow"' in message and 'static_modes="2"' in message
    assert not any('no mode' in m for m in _messages(
        beam(inner=held.format('clamped', ' static_modes="2"'))))
    assert not any('no mode' in m for m in _messages(beam(inner=held.format('free', ''))))


def test_pinned_root_on_a_joint_that_is_fixed_is_a_note():
    inner = '<bending axis="y" modes="1" boundary="pinned-free"/>'
    assert not any('pinned root' in m for m in _messages(beam(inner=inner)))
    welded = beam(inner=inner, link='tool', tip='0.2 0 0',
                  flexible='inertial="hub" geometric_stiffening="false"')
    message, = [m for m in _messages(welded) if 'pinned root' in m]
    assert message.startswith('note') and 'joint "wrist" does not turn' in message


def test_shear_takes_the_warning_of_a_stout_beam_away():
    stout = 'young="7e10" shear="2e10" area="1e-2" iz="4e-4" mass="1"'
    bending = '<bending axis="y" modes="1"{}/>'
    assert any('short for 1' in m for m in _messages(beam(stout, bending.format(''))))
    shear = bending.format(' shear_correction="0.8"')
    assert not any('short for' in m for m in _messages(beam(stout, shear)))
    stations = '<station at="0" area="1e-2"/><station at="1" area="2e-2"/>'
    stout = 'young="7e10" iz="4e-4" mass="1"'
    assert any('short for 1' in m for m in _messages(beam(stout, stations + bending.format(''))))
