# SPDX-License-Identifier: Apache-2.0
"""<segments>: their data, ends of bodies, and the division of <inertial>."""

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.records.inertia import MassMoments, NO_MASS
from flexdyn_ros.model.records.joint import Friction, Pose
from flexdyn_ros.model.records.section import beam_inertia
from model_texts import arm_with
import numpy as np
import pytest

DATA = 'young="7e10" shear="2.6e10" area="1e-3" iy="1e-7" iz="2e-7" j="2.5e-7"'


def cut(count=4, directions='z', attributes='mass="1"', inner='', flexible='', tip='elbow'):
    """Return the arm with its upper link in segments, and the segments."""
    arm = arm_with(
        f'<flexible_link link="upper" {flexible}><segments tip="{tip}" count="{count}" '
        f'directions="{directions}" {DATA} {attributes}>{inner}</segments></flexible_link>'
    )
    return arm, arm.link('upper').segments


def test_everything_is_read():
    arm, segments = cut(
        5, 'y z', 'mass="1" damping_ratio="0.02" placement="reference" y_axis="0 0 1"',
        '<friction viscous="1" coulomb="2"/><point_mass at="0.5" mass="0.3" izz="0.1"/>',
    )
    assert (segments.count, segments.directions) == (5, ('y', 'z'))
    assert (segments.placement, segments.damping_ratio) == ('reference', 0.02)
    assert segments.friction == Friction(viscous=1.0, coulomb=2.0)
    assert segments.beam.axes == ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
    assert segments.beam.point_masses[0].inertia == (0.0, 0.0, 0.1)
    assert arm.link('upper').beam is None
    assert arm.mode_names == tuple(f'upper/segment{k}_{a}' for k in (2, 3, 4, 5) for a in 'yz')
    assert arm.total_mass == pytest.approx(arm_with().total_mass + 0.3)
    assert arm.notes == ()


@pytest.mark.parametrize('attributes, mass', [
    ('mass="1.5"', 1.5), ('density="1000"', 1.0), ('linear_density="1.2"', 1.2),
])
def test_mass_in_three_ways(attributes, mass):
    length = cut()[1].beam.length
    expected = mass if 'mass' in attributes else mass * length
    assert cut(attributes=attributes)[1].beam.mass == pytest.approx(expected)


def test_mass_of_the_inertial_where_none_is_written():
    text = '<flexible_link link="upper" inertial="hub"><segments tip="elbow" count="3" '
    text += f'directions="z" {DATA}/></flexible_link>'
    with pytest.raises(ModelError, match='<inertial> is the hub alone'):
        arm_with(text)


@pytest.mark.parametrize('placement, places', [
    ('centred', [1 / 6, 3 / 6, 5 / 6]), ('reference', [1 / 4, 2 / 4, 3 / 4]),
])
def test_where_the_bodies_are(placement, places):
    _, segments = cut(4, attributes=f'mass="1" placement="{placement}"')
    length = segments.beam.length
    assert np.array(segments.places) / length == pytest.approx(places)
    ends = np.array([0.0, *places, 1.0])
    x = np.array(segments.beam.axes)[:, 0] * length
    for number in range(4):
        assert segments.body(number).mass == pytest.approx(np.diff(ends)[number])
        middle = 0.5 * (ends[number] + ends[number + 1])
        assert np.allclose(segments.middle(number), middle * x)
        assert segments.holder(middle * x) == number
        assert segments.holder(ends[number + 1] * x) == number  # an end hangs on its own body
    assert segments.holder(-0.1 * x) == 0 and segments.holder(1.2 * x + (0.0, 5.0, 0.0)) == 3
    assert segments.stiffness('z') == pytest.approx(7e10 * 2e-7 / segments.spacing)
    assert segments.stiffness('y') == pytest.approx(7e10 * 1e-7 / segments.spacing)
    assert segments.stiffness('x') == pytest.approx(2.6e10 * 2.5e-7 / segments.spacing)


@pytest.mark.parametrize('placement', ['centred', 'reference'])
def test_the_bodies_together_are_the_beam(placement):
    _, segments = cut(7, 'x y z', f'mass="1" placement="{placement}"')
    total = NO_MASS
    for number in range(7):
        at = (segments.ends[number], 0.0, 0.0)
        total = total + MassMoments.of(segments.body(number)).in_parent(Pose(at))
    axes = Pose(rotation=segments.beam.axes)
    whole, total = MassMoments.of(beam_inertia(segments.beam)), total.in_parent(axes)
    assert total.mass == pytest.approx(whole.mass, rel=1e-14)
    assert np.allclose(total.first, whole.first, rtol=1e-13, atol=1e-14)
    assert np.allclose(total.inertia, whole.inertia, rtol=1e-12, atol=1e-13)


def test_hub_and_beam_share_the_inertial():
    total, _ = cut(attributes='mass="0.5"')
    hub, _ = cut(attributes='mass="0.5"', flexible='inertial="hub"')
    assert total.link('upper').inertia.mass == pytest.approx(1.5)
    assert hub.link('upper').inertia.mass == 2.0
    assert total.link('upper').mass == pytest.approx(2.0)
    assert hub.link('upper').mass == pytest.approx(2.5)


def test_stiffening_is_inherent_and_may_be_given():
    assert cut(flexible='geometric_stiffening="true" rotation="exact"')[0] == cut()[0]
