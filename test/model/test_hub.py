# SPDX-License-Identifier: Apache-2.0
"""The hub, <inertial> minus beam, against inertias integrated by hand."""

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.beam.inertia import link_moments
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.beam import Beam
from flexdyn_ros.model.records.section import beam_inertia
from model_texts import arm_text_with_upper, beam, flexdyn, inertial
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

LENGTH, MASS, AREA, IY, IZ, POLAR = 1.5, 2.0, 1e-2, 3e-5, 4e-5, 7e-5


def _dense_beam(rotary):
    """Sum the inertia of many short prisms along the beam, about its centre, in beam axes."""
    n = 2000
    x = (np.arange(n) + 0.5) / n * LENGTH - LENGTH / 2
    rho = MASS / (AREA * LENGTH)
    bend_y, bend_z = (IY, IZ) if rotary else (0.0, 0.0)
    across = np.sum(x**2) * MASS / n
    return np.diag([rho * POLAR * LENGTH, across + rho * bend_y * LENGTH,
                    across + rho * bend_z * LENGTH])


@pytest.mark.parametrize('rotary', [False, True])
def test_beam_inertia_is_that_of_many_slices(rotary):
    axes = Rotation.from_euler('xyz', (0.3, -0.7, 1.1)).as_matrix()
    read = beam_inertia(Beam(
        'tip', tuple(map(tuple, axes.tolist())), LENGTH, MASS, area=AREA, iy=IY, iz=IZ,
        polar=POLAR, rotary_inertia=rotary,
    ))
    assert read.mass == MASS
    np.testing.assert_allclose(read.com, axes[:, 0] * LENGTH / 2, atol=1e-15)
    np.testing.assert_allclose(read.matrix, axes @ _dense_beam(rotary) @ axes.T, rtol=1e-6,
                               atol=1e-7)


def test_beam_without_area_is_a_thin_rod():
    rod = beam_inertia(Beam('tip', ((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0)), LENGTH, MASS))
    np.testing.assert_allclose(
        rod.matrix, np.diag([0.0, 1.0, 1.0]) * MASS * LENGTH**2 / 12, rtol=1e-15
    )


ROD = 'young="7e10" iz="1e-7" mass="1"'


def _upper(inertial_text, attributes=ROD, flexible='geometric_stiffening="false"', inner=None):
    part = beam(attributes, inner or '<bending axis="y" modes="1"/>', flexible=flexible)
    return load_robot(arm_text_with_upper(inertial_text), extension=flexdyn(part))


def test_hub_and_beam_together_are_the_inertial():
    whole = inertial(3.0, (0.4, 0.1, -0.05), (0.2, 0.5, 0.6), (0.01, -0.02, 0.03), '0.1 0.2 0.3')
    loaded = _upper(whole)
    link = loaded.link('upper')
    assert link.inertia.mass == pytest.approx(2.0, rel=1e-15)
    assert link.mass == pytest.approx(3.0, rel=1e-15)
    rigid = load_robot(arm_text_with_upper(whole)).link('upper')
    together, alone = link_moments(link), link_moments(rigid)
    np.testing.assert_allclose(together.first, alone.first, atol=1e-15)
    np.testing.assert_allclose(together.inertia, alone.inertia, atol=1e-15)
    assert loaded.notes == ()


def test_inertial_that_is_the_beam_leaves_no_hub():
    rod = inertial(1.0, (0.5, 0.0, 0.0), (0.0, 1 / 12, 1 / 12))
    loaded = _upper(rod)
    assert loaded.link('upper').inertia is None
    assert loaded.notes == ()


def test_mass_left_to_inertial_with_a_thick_link_keeps_its_moments():
    loaded = _upper(inertial(1.0, (0.5, 0.0, 0.0), (0.01, 0.1, 0.1)), 'young="7e10" iz="1e-7"')
    hub = loaded.link('upper').inertia
    assert hub.mass == 0.0
    np.testing.assert_allclose(hub.matrix, np.diag([0.01, 0.1 - 1 / 12, 0.1 - 1 / 12]), atol=1e-15)


@pytest.mark.parametrize('text', [
    inertial(0.995, (0.5, 0.0, 0.0), (0.0, 1 / 12, 1 / 12)),
    inertial(1.0, (0.497, 0.0, 0.0), (0.0, 1 / 12, 1 / 12)),
    inertial(1.0, (0.5, 0.0, 0.0), (0.0, 0.083, 0.083)),
], ids=['mass', 'first moment', 'moment of inertia'])
def test_within_one_percent_the_beam_wins_and_it_is_noted(text):
    loaded = _upper(text)
    assert loaded.link('upper').inertia is None
    assert loaded.link('upper').mass == 1.0
    note, = loaded.notes
    assert '"upper"' in note
    assert '1 percent' in note


@pytest.mark.parametrize('text', [
    inertial(0.95, (0.5, 0.0, 0.0), (0.0, 1 / 12, 1 / 12)),
    inertial(1.0, (0.47, 0.0, 0.0), (0.0, 1 / 12, 1 / 12)),
    inertial(1.0, (0.5, 0.0, 0.0), (0.0, 0.07, 0.07)),
    inertial(1.2, (0.5, 0.0, 0.0), (0.0, 0.07, 0.07)),
], ids=['mass', 'first moment', 'moment of inertia', 'heavier but too slim'])
def test_beyond_one_percent_is_an_error_with_both_values(text):
    with pytest.raises(ModelError) as caught:
        _upper(text)
    assert (caught.value.element, caught.value.name) == ('beam', 'upper')
    assert '1 kg at' in caught.value.problem
    assert '<inertial>:' in caught.value.problem
    assert 'beam:' in caught.value.problem
    assert 'inertial="hub"' in caught.value.advice


def test_hub_only_keeps_the_inertial_and_adds_the_beam():
    text = inertial(0.2, (0.0, 0.0, 0.0), (0.01, 0.01, 0.01))
    link = _upper(text, flexible='inertial="hub" geometric_stiffening="false"').link('upper')
    assert link.inertia == load_robot(arm_text_with_upper(text)).link('upper').inertia
    assert link.mass == 1.2


def test_without_inertial_the_beam_gives_everything():
    link = _upper('').link('upper')
    assert link.inertia is None
    assert link.mass == 1.0


def test_point_masses_come_on_top():
    rod = inertial(1.0, (0.5, 0.0, 0.0), (0.0, 1 / 12, 1 / 12))
    loaded = _upper(rod, inner='<point_mass at="1" mass="5"/>')
    assert loaded.link('upper').inertia is None
    assert loaded.link('upper').mass == 6.0
    assert link_moments(loaded.link('upper')).first[0] == pytest.approx(0.5 + 5.0)


def test_polar_inertia_of_the_beam_is_part_of_what_is_taken_away():
    section = 'young="7e10" shear="2.6e10" area="1e-3" iz="1e-7" j="2e-6" mass="1"'
    hub = _upper(inertial(2.0, (0.5, 0.0, 0.0), (0.01, 0.3, 0.3)), section).link('upper').inertia
    assert hub.matrix[0][0] == pytest.approx(0.01 - 1.0 / 1e-3 * 2e-6, rel=1e-12)
