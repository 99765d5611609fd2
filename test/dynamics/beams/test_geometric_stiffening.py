# SPDX-License-Identifier: Apache-2.0
"""Geometric stiffening: rotating blades, columns that buckle, and cases without an effect."""

from functools import lru_cache

import flexdyn_ros as fd
from flexdyn_ros.model.beam.body import modal_body
from flexdyn_ros.model.modal.foreshortening import axial_shapes
from flexdyn_ros.visualization.centre_lines import centre_lines
import numpy as np
from oracles.compare import reference_dynamics
from oracles.rotating_beam import flap_frequencies, matrices, WRIGHT
from oracles.textbook_shapes import bending_shape
import pytest
from scipy.linalg import eigh

MODES = 3
STEP = 1e-6


@lru_cache(maxsize=None)
def blade(tip='', stiffening='', modes=MODES):
    """Return a beam of unit length, mass and EI that turns about z, `tip` inside its <beam>."""
    return fd.load_robot(
        '<robot name="rotor"><link name="hub"/><link name="blade"/>'
        '<joint name="spin" type="continuous"><parent link="hub"/><child link="blade"/>'
        '<axis xyz="0 0 1"/></joint><flexdyn version="1.0"><gravity xyz="0 0 0"/>'
        f'<flexible_link link="blade" {stiffening}><beam tip="1 0 0" mass="1" young="1" iy="1" '
        f'iz="1"><bending axis="y" modes="{modes}"/><bending axis="z" modes="{modes}"/>{tip}'
        '</beam></flexible_link></flexdyn></robot>'
    )


def stiffness(robot, velocity, force):
    """Return the derivative of the modal rows of force(q, qd) by the modes, at q = 0."""
    dyn, start = reference_dynamics(robot), robot.n_joints
    columns = []
    for k in range(start, robot.nv):
        step = np.zeros(robot.nv)
        step[k] = STEP
        ahead, behind = (force(dyn, q, velocity)[start:] for q in (step, -step))
        columns.append((ahead - behind) / (2.0 * STEP))
    return np.array(columns).T


def blade_frequencies(robot, speed):
    """Return the squares of the first lagging and flapping frequencies at a hub speed."""
    velocity = np.zeros(robot.nv)
    velocity[0] = speed
    held = stiffness(robot, velocity, lambda dyn, q, qd: dyn.bias_vector(q, qd))
    mass = reference_dynamics(robot).mass_matrix(np.zeros(robot.nv))[1:, 1:]
    half = robot.n_modes // 2
    planes = (slice(0, half), slice(half, None))
    return [eigh(held[p, p], mass[p, p], eigvals_only=True)[0] for p in planes]


@pytest.mark.parametrize('speed', WRIGHT)
def test_rotating_cantilever(speed):
    """Wright et al. 1982 within 1 percent; lag^2 = flap^2 - speed^2 on a hub of radius 0."""
    lag, flap = blade_frequencies(blade(), speed)
    assert np.sqrt(flap) == pytest.approx(WRIGHT[speed], rel=0.01)
    assert lag == pytest.approx(flap - speed**2, abs=1e-6 * flap)


def test_finite_elements_are_those_of_the_published_table():
    """The oracle itself gives Wright's figures to all digits."""
    for speed, published in WRIGHT.items():
        assert flap_frequencies(speed)[0] == pytest.approx(published, abs=6e-5)


@pytest.mark.parametrize('speed', [0.0, 2.0, 6.0, 10.0])
@pytest.mark.parametrize('tip_mass', [0.1, 1.0])
def test_tip_mass_stiffens_too(tip_mass, speed):
    """Within 1 percent of finite elements; pulled by the beam's own mass alone it would be off."""
    _, flap = blade_frequencies(blade(f'<point_mass at="1.0" mass="{tip_mass}"/>'), speed)
    exact = flap_frequencies(speed, tip_mass)[0]
    assert np.sqrt(flap) == pytest.approx(exact, rel=0.01)
    if speed:
        assert flap_frequencies(speed, tip_mass, felt_mass=0.0)[0] < 0.96 * exact


def carriers(mass):
    """Return blades that carry a tip mass in each way there is, with its inertia none."""
    urdf = (
        '<robot name="rotor"><link name="hub"/><link name="blade"/><link name="tip">{}</link>'
        '<joint name="spin" type="continuous"><parent link="hub"/><child link="blade"/>'
        '<axis xyz="0 0 1"/></joint><joint name="end" type="fixed"><origin xyz="1 0 0"/>'
        '<parent link="blade"/><child link="tip"/></joint><flexdyn version="1.0">'
        '<gravity xyz="0 0 0"/><flexible_link link="blade"><beam tip="end" mass="1" young="1" '
        'iy="1" iz="1"><bending axis="y" modes="2"/><bending axis="z" modes="2"/></beam>'
        '</flexible_link>{}</flexdyn></robot>'
    )
    inertial = f'<inertial><mass value="{mass}"/><inertia {{}}/></inertial>'.format(
        ' '.join(f'i{m}="0"' for m in ('xx', 'yy', 'zz', 'xy', 'xz', 'yz'))
    )
    return {
        'child link': urdf.format(inertial, ''),
        'payload on the child': urdf.format('', f'<payload link="tip" mass="{mass}"/>'),
        'payload on the blade': urdf.format(
            '', f'<payload link="blade" mass="{mass}" com="1 0 0"/>'
        ),
    }


@pytest.mark.parametrize('way', carriers(1.0))
def test_every_way_to_carry_a_mass_stiffens_alike(way):
    """A child link, a payload on it or on the blade: as a point mass of the beam."""
    own = blade_frequencies(blade('<point_mass at="1.0" mass="0.7"/>', modes=2), 5.0)
    carried = blade_frequencies(fd.load_robot(carriers(0.7)[way]), 5.0)
    assert carried == pytest.approx(own, rel=1e-6)


def test_without_stiffening_the_blade_gives_way_beyond_its_first_frequency():
    """The need for stiffening: the lag stiffness of the plain model turns negative."""
    lag, _ = blade_frequencies(blade(stiffening='geometric_stiffening="false"'), 4.0)
    assert lag == pytest.approx(3.5160**2 - 4.0**2, rel=1e-4)
    assert blade_frequencies(blade(), 40.0)[0] > 0.0


# --- columns ---------------------------------------------------------------------------------


def column(load, modes=4):
    """Return a clamped upright beam of unit length and EI, light or with the mass of one."""
    mass = 1.0 if load == 'weight' else 1e-9
    tip = '' if load == 'weight' else '<point_mass at="1.0" mass="1"/>'
    return fd.load_robot(
        '<robot name="column"><link name="column"/><flexdyn version="1.0">'
        f'<flexible_link link="column"><beam tip="0 0 1" y_axis="0 1 0" mass="{mass}" young="1" '
        f'iy="1" iz="1"><bending axis="y" modes="{modes}"/><bending axis="z" modes="{modes}"/>'
        f'{tip}</beam></flexible_link></flexdyn></robot>'
    )


@pytest.mark.parametrize(('load', 'critical'), [('weight', 7.837), ('tip', np.pi**2 / 4.0)])
def test_a_column_buckles_at_the_closed_form_load(load, critical):
    """Critical q L^3 / EI = 7.837 (Greenhill), P L^2 / EI = pi^2 / 4 (Euler), in both planes."""
    robot = column(load)
    rest = np.zeros(robot.nv)
    elastic = stiffness(robot, rest, lambda dyn, q, qd: dyn.elastic_vector(q, qd))
    weight = stiffness(robot, rest, lambda dyn, q, qd: dyn.gravity_vector(q)) / 9.80665
    assert np.allclose(weight, weight.T, atol=1e-7)
    # K + g K_g is singular at the critical g; the largest of -K^-1 K_g is 1 / g.
    inverse = eigh(-weight, elastic, eigvals_only=True)
    assert 1.0 / inverse[-1] == pytest.approx(critical, rel=0.01)
    assert 1.0 / inverse[-2] == pytest.approx(critical, rel=0.01)


def test_a_hanging_beam_gets_stiffer():
    """The same load the other way: finite elements with the tension of the weight, within 1 %."""
    robot = column('weight')
    load, rest = 5.0, np.zeros(robot.nv)

    def force(dyn, q, qd):
        dyn.set_gravity((0.0, 0.0, load))
        return dyn.bias_vector(q, qd)

    squares = eigh(
        stiffness(robot, rest, force), reference_dynamics(robot).mass_matrix(rest),
        eigvals_only=True,
    )
    bending, geometric, mass = matrices(lambda x: load * (1.0 - x))
    exact = eigh(bending + geometric, mass, eigvals_only=True)[0]
    assert squares[:2] == pytest.approx([exact, exact], rel=0.01)
    assert exact > 1.2 * 3.516**2


# --- the field itself ------------------------------------------------------------------------


def test_points_are_drawn_in_by_half_the_integral_of_the_squared_slope():
    """The pose of a frame on the tip, against quadrature of a cantilever's own shape."""
    robot = fd.load_robot(carriers(1.0)['child link'])
    dyn = reference_dynamics(robot)
    q = np.array([0.0, 0.02, -0.01, 0.03, 0.015])
    x, weight = np.polynomial.legendre.leggauss(60)
    x, weight = 0.5 * (x + 1.0), 0.5 * weight
    slopes = [sum(q[at + k] * bending_shape(k + 1, x, 1.0, 1) for k in range(2)) for at in (1, 3)]
    expected = 1.0 - 0.5 * weight @ (slopes[0] ** 2 + slopes[1] ** 2)
    assert dyn.frame_pose(q, 'tip')[0, 3] == pytest.approx(expected, abs=1e-14)


def test_a_drawn_beam_ends_where_its_tip_is():
    """The shape in RViz is drawn in too, and keeps its length where the bending is magnified."""
    robot = fd.load_robot(carriers(1.0)['child link'])
    q = np.array([0.0, 0.02, -0.01, 0.03, 0.015])
    shape, = centre_lines(robot, 200)
    drawn = shape.deformed(np.eye(4), q[1:])
    assert drawn.line[-1] == pytest.approx(reference_dynamics(robot).frame_pose(q, 'tip')[:3, 3])
    line = shape.deformed(np.eye(4), 4.0 * q[1:]).line
    length = np.sum(np.linalg.norm(np.diff(line, axis=0), axis=1))
    assert length == pytest.approx(1.0, abs=2e-3)
    assert line[-1, 0] < 0.99


def test_planes_of_one_shape_share_their_axial_shapes():
    """With m modes in each of two planes there are m (m + 1) / 2 axial shapes, not twice that."""
    for modes, count in ((1, 1), (2, 3), (3, 6)):
        assert len(modal_body(blade(modes=modes).links[1]).foreshortening.terms) == count


def test_slopes_with_a_kink_are_integrated_between_knots():
    """|w'| = 1 up to one third, then 2: drawn in by the pieces' own integrals."""

    def slopes(x):
        return np.stack([np.zeros_like(x), np.where(x < 1.0 / 3.0, 1.0, 2.0), 0.0 * x], -1)[None]

    shapes = axial_shapes(slopes, 3.0, 6, (0.0, 1.0 / 3.0, 1.0))
    found = shapes.at(np.array([0.0, 1.0 / 6.0, 1.0 / 3.0, 0.5, 1.0]))[0]
    assert found == pytest.approx([0.0, -0.5, -1.0, -3.0, -9.0])


def test_the_mass_matrix_stays_positive():
    """Symmetric and positive definite far beyond small deflections."""
    robot = blade('<point_mass at="1.0" mass="0.5" ixx="0.1" iyy="0.1" izz="0.1"/>')
    dyn, rng = reference_dynamics(robot), np.random.default_rng(2)
    for size in (0.01, 0.3, 3.0):
        q = size * rng.normal(size=robot.nv)
        mass = dyn.mass_matrix(q)
        assert np.array_equal(mass, mass.T)
        assert np.linalg.eigvalsh(mass)[0] > 0.0


# --- where it must do nothing ----------------------------------------------------------------


def twisting(attribute):
    """Return a bar that only twists."""
    return fd.load_robot(
        '<robot name="bar"><link name="a"/><link name="bar"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="bar"/><axis xyz="0 1 0"/></joint><flexdyn version="1.0">'
        f'<flexible_link link="bar" {attribute}><beam tip="1 0 0" mass="1" shear="1" j="1" '
        'area="1"><torsion modes="2"/></beam></flexible_link></flexdyn></robot>'
    )


@pytest.mark.usefixtures('simplified_once')
@pytest.mark.parametrize(('make', 'expected'), [
    (lambda attribute: blade('', attribute, 1), False), (twisting, True),
])
def test_it_costs_nothing_where_nothing_bends(make, expected):
    """A bar that only twists counts the same operations with and without; a blade does not."""
    counts = [
        fd.generate(make(attribute), 'inverse_dynamics', language='c').counts
        for attribute in ('', 'geometric_stiffening="false"')
    ]
    assert (counts[0] == counts[1]) is expected


def test_kings_equations_have_none():
    """rotation="linear" is exactly King's form; both together are refused."""
    linear = blade(stiffening='rotation="linear"')
    assert not linear.links[1].stiffens
    q = np.array([0.3, 0.1, 0.0, 0.02, -0.1, 0.0, 0.03])
    off = blade(stiffening='rotation="linear" geometric_stiffening="false"')
    ours, theirs = (reference_dynamics(robot).mass_matrix(q) for robot in (linear, off))
    assert np.array_equal(ours, theirs)
    with pytest.raises(fd.FlexdynError, match='contradicts rotation="linear"'):
        blade(stiffening='rotation="linear" geometric_stiffening="true"')
