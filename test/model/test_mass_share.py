# SPDX-License-Identifier: Apache-2.0
"""The share of <inertial> that a beam without a mass takes, against bisection and by hand."""

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.beam.inertia import link_moments
from flexdyn_ros.model.beam.mass_share import fitted, largest_share, row_inertia, scaled
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.beam import Beam, Station
from flexdyn_ros.model.records.inertia import Inertia, MassMoments
from flexdyn_ros.model.records.joint import Pose
from flexdyn_ros.model.records.section import beam_inertia
from model_texts import arm_text_with_upper, beam, flexdyn, inertial
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

SECTION = 'young="7e10" iz="1e-7"'
THICK = inertial(2.0, (0.4, 0.0, 0.0), (0.02, 0.15, 0.15))


def _particles(random, count):
    """Return the inertia of random particles, which is a real body's."""
    masses = random.uniform(0.1, 1.0, count)
    points = random.normal(size=(count, 3)) * (0.6, 0.2, 0.2) + (0.5, 0.0, 0.0)
    com = masses @ points / masses.sum()
    rest = points - com
    matrix = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, rest))
    return Inertia(float(masses.sum()), tuple(com), tuple(map(tuple, matrix)))


def _by_bisection(body, rod):
    """Return the largest share whose remainder has neither a negative mass nor second moment."""
    whole, taken = MassMoments.of(body), MassMoments.of(rod)

    def real(share):
        mass = whole.mass - share * taken.mass
        first = whole.first - share * taken.first
        inertia = whole.inertia - share * taken.inertia
        # Second moments about the remainder's own centre of mass: no 4x4 matrix here.
        second = 0.5 * np.trace(inertia) * np.eye(3) - inertia - np.outer(first, first) / mass
        return np.linalg.eigvalsh(second)[0] >= 0.0

    low, high = 0.0, 1.0 - 1e-12
    if real(high):
        return 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if real(middle) else (low, middle)
    return low


def _full_beam(mass, turn, **named):
    axes = tuple(map(tuple, turn.as_matrix().tolist()))
    return Beam('tip', axes, 0.9, mass, **named)


@pytest.mark.parametrize('seed', range(30))
def test_largest_share_is_that_of_bisection(seed):
    random = np.random.default_rng(seed)
    body = _particles(random, 5)
    turn = Rotation.from_rotvec(0.2 * random.normal(size=3))
    polar = {'area': 1e-2, 'polar': 2e-5} if seed % 2 else {}
    rod = _full_beam(body.mass, turn, **polar)
    share = largest_share(body, rod)
    assert 0.0 < share <= 1.0
    assert share == pytest.approx(_by_bisection(body, beam_inertia(rod)), rel=1e-7)


def test_stations_keep_their_distribution():
    stations = (Station(at=0.0, linear_density=3.0), Station(at=1.0, linear_density=1.0))
    rod = _full_beam(1.8, Rotation.identity(), stations=stations)
    part = scaled(rod, 0.25)
    whole, quarter = beam_inertia(rod), beam_inertia(part)
    assert (part.share, quarter.mass) == (0.25, 0.45)
    np.testing.assert_allclose(quarter.com, whole.com, rtol=1e-14)
    np.testing.assert_allclose(quarter.matrix, 0.25 * np.array(whole.matrix), rtol=1e-13)


def _upper(inertial_text, attributes=SECTION):
    part = beam(attributes, '<bending axis="y" modes="1"/>')
    return load_robot(arm_text_with_upper(inertial_text), extension=flexdyn(part)).link('upper')


def test_link_keeps_mass_centre_and_inertia():
    link = _upper(THICK)
    whole = link_moments(load_robot(arm_text_with_upper(THICK)).link('upper'))
    together = link_moments(link)
    assert link.beam.mass == pytest.approx(link.beam.share * 2.0, rel=1e-15)
    assert 0.05 < link.beam.share < 1.0
    assert together.mass == pytest.approx(whole.mass, rel=1e-15)
    np.testing.assert_allclose(together.first, whole.first, atol=1e-15)
    np.testing.assert_allclose(together.inertia, whole.inertia, atol=1e-14)


def test_share_by_hand():
    """A rod's second moment along itself, m L^2 / 12, in a link that is half as long."""
    link = _upper(inertial(1.0, (0.5, 0.0, 0.0), (0.01, 0.05, 0.05)))
    along = 0.5 * (0.05 + 0.05 - 0.01)
    assert link.beam.share == pytest.approx(along / (1.0 / 12.0), rel=1e-9)


def test_remainder_is_a_real_body_at_the_edge():
    link = _upper(THICK)
    pseudo = MassMoments.of(link.inertia).pseudo_inertia()
    smallest = np.linalg.eigvalsh(pseudo)[0]
    assert -1e-10 < smallest < 1e-7


def test_a_mass_of_its_own_is_no_share():
    link = _upper(THICK, SECTION + ' mass="0.3"')
    assert (link.beam.mass, link.beam.share) == (0.3, None)


def test_inertial_that_is_no_real_body_is_refused():
    with pytest.raises(ModelError, match='not physical') as caught:
        _upper(inertial(2.0, (0.4, 0.0, 0.0), (0.5, 0.15, 0.15)))
    assert (caught.value.element, caught.value.name) == ('beam', 'upper')


def test_segments_take_a_share_too():
    part = (
        '<flexible_link link="upper"><segments tip="elbow" count="4" directions="z" '
        f'{SECTION}/></flexible_link>'
    )
    link = load_robot(arm_text_with_upper(THICK), extension=flexdyn(part)).link('upper')
    assert link.segments.beam.share == _upper(THICK).beam.share
    assert link.mass == pytest.approx(2.0, rel=1e-15)


FIT = SECTION + ' distribution="fit"'


@pytest.mark.parametrize('seed', range(6))
def test_fitted_share_is_the_best_of_many_slopes(seed):
    """Against the share of beams with every slope of a fine grid, found by bisection."""
    random = np.random.default_rng(seed)
    body = _particles(random, 5)
    rod = _full_beam(body.mass, Rotation.identity())
    best = 0.0
    for slope in np.linspace(-1.0, 1.0, 201):
        ends = [Station(at=at, linear_density=body.mass / 0.9 * (1.0 + slope * (2.0 * at - 1.0)))
                for at in (0.0, 1.0)]
        best = max(best, _by_bisection(body, beam_inertia(_full_beam(
            body.mass, Rotation.identity(), stations=tuple(ends),
        ))))
    share = largest_share(body, fitted(body, rod))
    assert share >= best - 1e-9
    assert share == pytest.approx(best, rel=1e-3)
    assert share >= largest_share(body, rod)


def test_fitted_link_keeps_mass_centre_and_inertia():
    near_the_root = inertial(2.0, (0.35, 0.0, 0.0), (0.02, 0.15, 0.15))
    link, plain = _upper(near_the_root, FIT), _upper(near_the_root)
    assert link.beam.share > 1.05 * plain.beam.share
    root, tip = (station.linear_density for station in link.beam.stations)
    assert 0.0 <= tip < root <= 2.0 * link.beam.mass * (1.0 + 1e-12)
    whole = link_moments(load_robot(arm_text_with_upper(near_the_root)).link('upper'))
    together = link_moments(link)
    assert together.mass == pytest.approx(whole.mass, rel=1e-15)
    np.testing.assert_allclose(together.first, whole.first, atol=1e-14)
    np.testing.assert_allclose(together.inertia, whole.inertia, atol=1e-14)


def test_fit_of_a_distribution_that_is_given_is_refused():
    with pytest.raises(ModelError, match='mass of its own'):
        _upper(THICK, FIT + ' mass="1"')
    stations = '<station at="0" area="2e-3"/><station at="1" area="1e-3"/>'
    part = beam(FIT, stations + '<bending axis="y" modes="1"/>')
    with pytest.raises(ModelError, match='contradicts the stations'):
        load_robot(arm_text_with_upper(THICK), extension=flexdyn(part))


def _row(attributes, points=((0.45, 0.0, 0.0), (0.8, 0.15, 0.0), (1.0, 0.1, 0.05)), stations=''):
    """Return the upper arm as a row of beams without a mass, and its <inertial>."""
    beams = ''.join(
        f'<beam tip="{x} {y} {z}" young="7e10" iz="1e-7" {more}>{stations if k == 1 else ""}'
        '<bending axis="y" modes="1"/></beam>'
        for k, ((x, y, z), more) in enumerate(zip(points, attributes)))
    row = f'<flexible_link link="upper">{beams}</flexible_link>'
    robot = load_robot(arm_text_with_upper(THICK), extension=flexdyn(row))
    return robot, [robot.link(f'upper/beam{k}') for k in (1, 2, 3)]


AREAS = ('area="1e-3"', 'area="4e-3"', 'area="2e-3"')


@pytest.mark.parametrize(('attributes', 'stations', 'areas'), [
    (('', '', ''), '', (1.0, 1.0, 1.0)),
    (AREAS, '', (1.0, 4.0, 2.0)),
    ((*AREAS[:2], ''), '', (1.0, 1.0, 1.0)),
    ((AREAS[0], '', AREAS[2]),
     '<station at="0" area="2e-3"/><station at="1" area="4e-3"/>', (1.0, 3.0, 2.0)),
    ((*AREAS[:2], AREAS[2] + ' remainder="tip"'), '', (1.0, 4.0, 2.0)),
    ((*AREAS[:2], AREAS[2] + ' remainder="both"'), '', (1.0, 4.0, 2.0)),
])
def test_a_row_takes_the_largest_common_share(attributes, stations, areas):
    """One density or mass per length; the whole link is unchanged; the share by bisection."""
    robot, pieces = _row(attributes, stations=stations)
    lengths = np.array([piece.beam.length for piece in pieces])
    masses = np.array([piece.beam.mass for piece in pieces])
    share, = {piece.beam.share for piece in pieces}
    assert 0.05 < share < 1.0
    np.testing.assert_allclose(masses, 2.0 * share * lengths * areas / (lengths @ areas))
    starts = np.array([(0.0, 0.0, 0.0), (0.45, 0.0, 0.0), (0.8, 0.15, 0.0)])
    rod = row_inertia([piece.beam for piece in pieces], starts).rigid_body(0.0)
    original = load_robot(arm_text_with_upper(THICK)).link('upper')
    best = _by_bisection(original.inertia, rod.times(1.0 / share))
    assert share == pytest.approx(best, rel=1e-7)
    whole = link_moments(robot.link('upper'))
    for piece, start in zip(pieces, starts):
        whole += link_moments(piece).in_parent(Pose(tuple(start.tolist())))
    alone = link_moments(original)
    assert whole.mass == pytest.approx(alone.mass, rel=1e-13)
    np.testing.assert_allclose(whole.first, alone.first, atol=1e-14)
    np.testing.assert_allclose(whole.inertia, alone.inertia, atol=1e-14)
    at_tip = pieces[-1].tip_inertia
    assert (at_tip is None) == ('remainder' not in attributes[-1])
    assert at_tip is None or at_tip.mass == pytest.approx(
        (2.0 - masses.sum()) * (0.5 if 'both' in attributes[-1] else 1.0))


def test_a_row_of_one_line_has_the_share_of_one_beam():
    points = ((0.2, 0.0, 0.0), (0.7, 0.0, 0.0), (1.0, 0.0, 0.0))
    share = _row(('', '', ''), points)[1][0].beam.share
    assert share == pytest.approx(_upper(THICK).beam.share, rel=1e-12)
