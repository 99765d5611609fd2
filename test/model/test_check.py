# SPDX-License-Identifier: Apache-2.0
"""Reports of `check_robot` on models that load, and errors of strict loading."""

from dataclasses import FrozenInstanceError

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.check import check_robot
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.inertia import MassMoments
from flexdyn_ros.model.records.joint import Pose
from model_texts import (
    ARM,
    arm_text_with_upper,
    arm_with,
    beam,
    flexdyn,
    INERTIAL,
    inertial,
    link,
    one_joint,
    robot,
)
import numpy as np
import pytest
from scipy.spatial.transform import Rotation


def _findings(text, **named):
    return check_robot(load_robot(text, **named)).findings


def _with_moments(xx, yy, zz, xy=0.0):
    return one_joint(inertial=inertial(1.0, (0.0, 0.1, 0.0), (xx, yy, zz), (xy, 0.0, 0.0)))


def test_table_of_links():
    report = check_robot(load_robot(ARM))
    assert [row.name for row in report.links] == list(load_robot(ARM).frame_names)
    row = report.links[1]
    assert (row.mass, row.failed, row.excess) == (2.0, (), 0.0)
    assert row.principal_moments == (0.01, 0.2, 0.2)
    assert report.errors == ()


@pytest.mark.parametrize(('moments', 'test', 'excess'), [
    ((0.1, 0.1, 0.5), 'triangle', 0.6),
    ((0.1, 0.1, 0.3, 0.2), 'positive', 1 / 3),
    ((0.1, 0.1, -0.1), 'positive', 1.0),
])
def test_moments_that_no_body_has(moments, test, excess):
    report = check_robot(load_robot(_with_moments(*moments)))
    row = report.links[1]
    assert row.failed == (test,)
    assert row.excess == pytest.approx(excess, rel=1e-12)
    finding = report.errors[0]
    assert (finding.severity, finding.element, finding.name) == ('error', 'link', 'b')
    with pytest.raises(ModelError) as caught:
        load_robot(_with_moments(*moments), strict=True)
    assert (caught.value.element, caught.value.name) == ('link', 'b')
    assert caught.value.problem == finding.message


@pytest.mark.parametrize('scale', [1e-9, 1.0, 1e6])
def test_tolerance_is_relative_to_the_largest_moment(scale):
    fine = _with_moments(0.5 * scale, 0.5 * scale, 1.00005 * scale)
    wrong = _with_moments(0.5 * scale, 0.5 * scale, 1.001 * scale)
    assert check_robot(load_robot(fine)).errors == ()
    assert [f.severity for f in check_robot(load_robot(wrong)).errors] == ['error']


@pytest.mark.parametrize(('mass', 'moment', 'words'), [
    (1.0, 4000.0, 'radius of gyration of 77.46 m. The whole robot reaches 0.1 m'),
    (1.0, 10.0, 'radius of gyration of 3.873 m'),
    (1.0, 5.0, None),
    (1e5, 4e5, None),
    (1.0, 1e-2, None),
    (1.0, 2e-4, None),
    (1.0, 1.5e-4, 'denser than any material'),
    (0.02, 2.5e-7, 'denser than any material'),
    (0.02, 4e-7, None),
])
def test_inertia_that_does_not_go_with_the_mass(mass, moment, words):
    """A ball of osmium of 1 kg has moments of 1.93e-4 kg m^2."""
    text = one_joint(inertial=inertial(mass, (0.0, 0.1, 0.0), 3 * (moment,)))
    found = _findings(text)
    assert [(f.severity, f.element, f.name) for f in found] == [('warning', 'link', 'b')] * bool(
        words)
    assert not words or words in found[0].message


@pytest.mark.parametrize(('young', 'shear', 'message', 'advice'), [
    ('70', '2.6e10', "a Young's modulus of 70 Pa is below that of rubber", 'young="7e+10"'),
    ('7e10', '26', 'a shear modulus of 26 Pa is below', '26 GPa are shear="2.6e+10"'),
    ('210000', '8e10', "a Young's modulus of 210000 Pa", 'MPa are young="2.1e+11"'),
    ('2e14', '8e10', 'above that of diamond', 'in Pa'),
    ('1e7', '3e6', None, None),
    ('1.2e12', '5e11', None, None),
])
def test_moduli_that_no_material_has(young, shear, message, advice):
    text = beam(f'young="{young}" shear="{shear}" area="1e-4" iz="1e-9" j="2e-9" mass="1"')
    found = check_robot(arm_with(text)).findings
    assert [(f.severity, f.name) for f in found] == [('warning', 'upper')] * bool(message)
    assert not message or (message in found[0].message and advice in found[0].advice)


def test_moduli_of_stations_and_segments():
    stations = '<bending axis="y" modes="1"/><station at="0" young="7e10" iz="1e-9"/>' \
        '<station at="1" young="70" iz="1e-9"/>'
    cut = '<flexible_link link="upper"><segments tip="elbow" mass="1" young="70" iz="1e-9" ' \
        'directions="z" count="9"/></flexible_link>'
    for text in (beam('mass="1"', inner=stations), cut):
        finding, = check_robot(arm_with(text)).findings
        assert "Young's modulus of 70 Pa" in finding.message


def test_inertia_without_mass():
    row = check_robot(load_robot(one_joint(inertial=INERTIAL.replace('"1"', '"0"')))).links[1]
    assert row.failed == ('mass',)


def test_point_mass_is_a_warning():
    text = one_joint(inertial='<inertial><origin xyz="1 0 0"/><mass value="1"/></inertial>')
    finding, = _findings(text)
    assert (finding.severity, finding.name) == ('warning', 'b')
    assert load_robot(text, strict=True).total_mass == 1.0


@pytest.mark.parametrize('extension', [
    '<flexdyn><payload link="b" mass="1" ixx="0.1" iyy="0.1" izz="0.1"/></flexdyn>',
    '<flexdyn><joint_dynamics joint="j" rotor_inertia="1e-4"/></flexdyn>',
    '<flexdyn><flexible_link link="b"><beam tip="1 0 0" mass="1"/></flexible_link></flexdyn>',
])
def test_inertia_from_the_extension_counts(extension):
    assert check_robot(load_robot(one_joint(inertial=''), extension=extension)).errors == ()


@pytest.mark.parametrize(('moments', 'words'), [
    ('ixx="1" iyy="1" izz="2.1"', 'the largest principal moment exceeds the sum of the others by'),
    ('ixx="1" iyy="1" izz="2.0001"', None),  # within 1e-4 of the largest
    ('', None),  # a point mass
])
def test_payloads_are_tested_as_links_are(moments, words):
    extension = f'<flexdyn><payload link="b" mass="1" com="1 0 0" {moments}/></flexdyn>'
    report = check_robot(load_robot(one_joint(), extension=extension))
    assert [(f.element, f.name) for f in report.errors] == [('payload', 'b')] * bool(words)
    if words:
        assert words in report.errors[0].message
        with pytest.raises(ModelError, match=words):
            load_robot(one_joint(), extension=extension, strict=True)


def test_coarse_segments_are_a_warning():
    text = one_joint(inertial='')
    cut = '<flexdyn><flexible_link link="b"><segments tip="1 0 0" density="2700" area="1e-4" ' \
        'young="7e10" iz="1e-9" directions="z" count="{}" placement="{}"/></flexible_link>' \
        '</flexdyn>'
    finding, = _findings(text, extension=cut.format(5, 'reference'))
    assert (finding.severity, finding.element, finding.name) == ('warning', 'link', 'b')
    assert 'by 72 percent' in finding.message and 'centred' in finding.advice
    finding, = _findings(text, extension=cut.format(3, 'centred'))
    assert 'by 93.8 percent' in finding.message and 'more' in finding.advice
    assert _findings(text, extension=cut.format(5, 'centred')) == ()


def test_robot_without_motion_is_a_warning():
    finding, = _findings(robot(link('a')))
    assert (finding.severity, finding.element, finding.name) == ('warning', 'robot', 'r')


def test_clamped_beam_moves_without_a_joint():
    clamped = '<flexdyn>' + beam(link='a', tip='1 0 0') + '</flexdyn>'
    assert _findings(robot(link('a', '')), extension=clamped) == ()


def test_notes_are_reported():
    findings = _findings(one_joint('planar', '<dynamics damping="1"/>'))
    note, = [f for f in findings if f.severity == 'note']
    assert '<dynamics> is ignored' in note.message
    assert note.advice == 'Model friction by joints with one coordinate'


def test_stout_beam_is_a_warning():
    stout = beam('young="7e10" area="1e-2" iz="4e-4" mass="1"')
    finding, = check_robot(arm_with(stout)).findings
    assert (finding.severity, finding.name) == ('warning', 'upper')
    assert '5 radii of gyration' in finding.message
    slender = beam('young="7e10" area="1e-2" iz="4e-4" mass="1"', inner='')
    assert check_robot(arm_with(slender)).findings == ()


def test_beam_counts_in_the_row_of_its_link():
    whole = check_robot(arm_with(beam(inner='<point_mass at="1" mass="2"/>'))).links[1]
    plain = check_robot(load_robot(ARM)).links[1]
    assert whole.mass == 4.0
    assert whole.principal_moments[2] == pytest.approx(
        plain.principal_moments[2] + 2.0 * 2.0 / 4.0 * 0.5**2, rel=1e-12
    )


def test_findings_are_frozen_and_print_one_line():
    finding, = _findings(robot(link('a')))
    with pytest.raises(FrozenInstanceError):
        finding.severity = 'error'
    assert str(finding) == 'warning: <robot> "r": nothing moves. Check the joint types.'


def test_moving_moments_keeps_the_body():
    """Moments of point masses about another frame, summed point by point."""
    random = np.random.default_rng(1)
    masses, points = random.uniform(0.1, 1.0, 5), random.normal(size=(5, 3))

    def moments(at):
        square = np.einsum('ni,ni->n', at, at)
        matrix = np.einsum('n,n,ij->ij', masses, square, np.eye(3))
        matrix -= np.einsum('n,ni,nj->ij', masses, at, at)
        return MassMoments(masses.sum(), masses @ at, matrix)

    turn = Rotation.from_euler('xyz', (0.4, -1.0, 2.0)).as_matrix()
    offset = np.array([0.3, -0.7, 1.2])
    pose = Pose(tuple(offset.tolist()), tuple(map(tuple, turn.tolist())))
    moved, expected = moments(points).in_parent(pose), moments(points @ turn.T + offset)
    assert moved.mass == expected.mass
    np.testing.assert_allclose(moved.first, expected.first, rtol=1e-13)
    np.testing.assert_allclose(moved.inertia, expected.inertia, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(('inertial_text', 'words'), [
    (inertial(2.0, (0.4, 0.0, 0.0), (0.02, 0.15, 0.15)), 'takes 63.3 percent of the mass'),
    (inertial(2.0, (0.0, 0.0, 0.0), (0.02, 0.02, 0.02)), 'massless and bends by static shapes'),
], ids=['share', 'massless'])
def test_share_of_a_beam_without_mass_is_a_note(inertial_text, words):
    part = beam('young="7e10" iz="1e-7"', flexible='')
    loaded = load_robot(arm_text_with_upper(inertial_text), extension=flexdyn(part))
    report = check_robot(loaded)
    note, = (f for f in report.findings if f.name == 'upper')
    assert note.severity == 'note'
    assert words in note.message
    row, = (link for link in report.links if link.name == 'upper')
    assert row.beam_share == loaded.link('upper').beam.share
