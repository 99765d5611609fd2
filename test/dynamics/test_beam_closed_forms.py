# SPDX-License-Identifier: Apache-2.0
"""
Frequencies and deflections of assembled beams against closed forms and published values.

Frequency equations: Blevins, Formulas for Natural Frequency and Mode Shape, 1979, tables 8-1 and
8-8; tapered beams: Naguleswaran 1994, "A direct solution for the transverse vibration of
Euler-Bernoulli wedge and cone beams", J. Sound and Vibration 172.
"""

from itertools import pairwise

import flexdyn_ros as fd
from flexdyn_ros.model.beam import modal_body
from flexdyn_ros.simulation.frequencies import stiffness_matrix
import numpy as np
from numpy import cos
from numpy import cosh
from numpy import sin
from numpy import sinh
from oracles.beam_states import family_samplers
from oracles.beam_states import natural_rates
from oracles.compare import reference_dynamics
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

LENGTH, MASS, YOUNG, SHEAR, AREA, IY, IZ, J = 1.3, 0.7, 7e10, 2.6e10, 1e-3, 1e-7, 2e-7, 2.5e-7
UNIFORM = f'young="{YOUNG}" shear="{SHEAR}" area="{AREA}" iy="{IY}" iz="{IZ}" j="{J}"'
UNIT = np.sqrt(YOUNG * IZ / (MASS / LENGTH) / LENGTH**4)


def beam_dynamics(inside, section=UNIFORM, attributes='', joint='fixed', mass=MASS, child=''):
    """Return Dynamics of a beam along x with a frame `tip` at its end, gravity off."""
    text = (
        f'<robot name="b"><link name="base"/><link name="rod"/><link name="tip">{child}</link>'
        f'<joint name="root" type="{joint}"><parent link="base"/><child link="rod"/>'
        f'<axis xyz="0 0 1"/></joint><joint name="end" type="fixed"><origin xyz="{LENGTH} 0 0"/>'
        '<parent link="rod"/><child link="tip"/></joint><flexdyn version="1.0">'
        '<gravity xyz="0 0 0"/><flexible_link link="rod" geometric_stiffening="false">'
        f'<beam tip="end" {section} mass="{mass}" {attributes}>{inside}</beam></flexible_link>'
        '</flexdyn></robot>'
    )
    return reference_dynamics(fd.load_robot(text))


def rates(dyn):
    """Return the natural frequencies above zero [rad/s], ascending."""
    zero = np.zeros(dyn.robot.nq)
    squares = eigh(stiffness_matrix(dyn, zero), dyn.mass_matrix(zero), eigvals_only=True)
    return np.sqrt(squares[squares > 1e-3])


def beam_of(dyn):
    """Return the beam and its families."""
    beam = dyn.robot.link('rod').beam
    return beam, beam.families


def roots(equation, count, step=0.05):
    """Return the lowest positive roots above 0.5."""
    grid = np.arange(0.5, 60.0, step)
    values = np.sign([equation(b) for b in grid])
    brackets = [pair for pair, (one, two) in zip(pairwise(grid), pairwise(values)) if one != two]
    return np.array([brentq(equation, *pair, xtol=1e-14) for pair in brackets[:count]])


@pytest.mark.parametrize('boundary, joint, equation, printed', [
    ('clamped-free', 'fixed', lambda b: cos(b) + 1 / cosh(b), [1.87510407, 4.69409113]),
    ('clamped-clamped', 'fixed', lambda b: cos(b) - 1 / cosh(b), [4.73004074, 7.85320462]),
    ('clamped-pinned', 'fixed', lambda b: sin(b) - cos(b) * np.tanh(b), [3.92660231, 7.06858275]),
    ('pinned-free', 'continuous', lambda b: sin(b) - cos(b) * np.tanh(b),
     [3.92660231, 7.06858275]),
])
def test_natural_modes_of_each_boundary(boundary, joint, equation, printed):
    """With the root as the boundary has it, the modes alone give the exact frequencies."""
    expected = roots(equation, 8)
    assert expected[:2] == pytest.approx(printed, abs=1e-8)
    dyn = beam_dynamics(f'<bending axis="y" modes="8" boundary="{boundary}"/>', joint=joint)
    assert rates(dyn) == pytest.approx(expected**2 * UNIT, rel=1e-9)


def test_twenty_modes_of_a_clamped_clamped_beam():
    b = (np.arange(1, 21) + 0.5) * np.pi
    dyn = beam_dynamics('<bending axis="y" modes="20" boundary="clamped-clamped"/>')
    assert rates(dyn)[3:] == pytest.approx(b[3:] ** 2 * UNIT, rel=1e-6)


@pytest.mark.parametrize('boundary', ['pinned-free', 'clamped-clamped', 'clamped-pinned'])
def test_shapes_are_those_of_the_tables_scaled(boundary):
    """Blevins's shapes; root slope taken off; unit at the tip, or at the largest deflection."""
    def equation(b):
        if boundary == 'clamped-clamped':
            return cos(b) - 1 / cosh(b)
        return sin(b) - cos(b) * np.tanh(b)

    x = np.linspace(0.0, 1.0, 4001)
    dyn = beam_dynamics(f'<bending axis="y" modes="3" boundary="{boundary}"/>')
    node_at = modal_body(dyn.robot.link('rod')).node_at
    for k, b in enumerate(roots(equation, 3)):
        if boundary == 'pinned-free':
            shape = sin(b * x) + sin(b) / sinh(b) * sinh(b * x)
            shape -= b * (1 + sin(b) / sinh(b)) * x
            shape /= shape[-1]
        else:
            s = (cosh(b) - cos(b)) / (sinh(b) - sin(b))
            shape = cosh(b * x) - cos(b * x) - s * (sinh(b * x) - sin(b * x))
            shape /= np.abs(shape).max()
        for n in (0, 800, 2500, 3999):
            node = node_at(np.array([x[n] * LENGTH, 0.0, 0.0]))
            assert node.translation[k, 1] == pytest.approx(shape[n], abs=2e-6)
        assert np.all(node_at(np.zeros(3)).rotation == 0.0)


def test_tip_mass_and_inertia_in_one_loaded_mode():
    """One loaded mode has the exact frequency, which six clamped-free modes only approach."""
    mass, inertia = 1.1, 0.06
    r, s = mass / MASS, inertia / (MASS * LENGTH**2)

    def equation(b):
        return (
            1 + cos(b) * cosh(b) + r * b * (cos(b) * sinh(b) - sin(b) * cosh(b))
            - s * b**3 * (cosh(b) * sin(b) + sinh(b) * cos(b))
            + r * s * b**4 * (1 - cos(b) * cosh(b))
        )

    expected = roots(equation, 3, 0.01) ** 2 * UNIT
    child = (
        f'<inertial><mass value="{mass}"/><inertia ixx="0.1" iyy="0.1" izz="{inertia}" ixy="0" '
        'ixz="0" iyz="0"/></inertial>'
    )
    for modes in (1, 3):
        inside = f'<bending axis="y" modes="{modes}"/>'
        loaded = rates(beam_dynamics(inside, attributes='loaded="true"', child=child))
        assert loaded == pytest.approx(expected[:modes], rel=1e-10)
        bare = rates(beam_dynamics(inside, child=child))
        assert np.all(bare > loaded)
        assert bare[0] > 1.0005 * expected[0]


def test_a_load_ahead_of_the_tip_counts_with_its_lever():
    child = (
        '<inertial><origin xyz="0.2 0 0"/><mass value="0.9"/><inertia ixx="0.1" iyy="0.02" '
        'izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    dyn = beam_dynamics('<bending axis="z" modes="2"/>', attributes='loaded="true"', child=child)
    beam, (family,) = beam_of(dyn)
    assert (beam.loads[0].mass, beam.loads[0].ahead) == pytest.approx((0.9, 0.18))
    assert rates(dyn) == pytest.approx(natural_rates(beam, family, 2), rel=1e-10)


@pytest.mark.parametrize('kind', ['axial', 'torsion'])
def test_rods_with_a_tip_body(kind):
    """Rods: b tan b = 1 / r in loaded modes, b = (k - 1/2) pi without a load."""
    own = MASS if kind == 'axial' else MASS * J / AREA
    unit = np.sqrt((YOUNG * AREA if kind == 'axial' else SHEAR * J) / LENGTH / own)
    free = rates(beam_dynamics(f'<{kind} modes="3"/>'))
    assert free == pytest.approx((np.arange(3) + 0.5) * np.pi * unit, rel=1e-12)
    ratio = 0.8
    values = (f'{ratio * MASS}', '0') if kind == 'axial' else ('0.001', f'{ratio * own}')
    child = (
        '<inertial><mass value="{}"/><inertia ixx="{}" iyy="0.1" izz="0.1" ixy="0" ixz="0" '
        'iyz="0"/></inertial>'.format(*values)
    )
    dyn = beam_dynamics(f'<{kind} modes="2"/>', attributes='loaded="true"', child=child)
    expected = roots(lambda b: b * sin(b) * ratio - cos(b), 2)
    assert rates(dyn) == pytest.approx(expected * unit, rel=1e-10)


@pytest.mark.parametrize('shear, rotary', [(True, False), (True, True)])
def test_timoshenko_against_its_state_equations(shear, rotary):
    """A stout beam, as the transfer matrix has it; shear and rotary inertia lower it."""
    section = UNIFORM.replace(f'iz="{IZ}"', 'iz="3e-6"').replace(f'area="{AREA}"', 'area="3e-4"')
    attributes = 'rotary_inertia="true"' if rotary else ''
    dyn = beam_dynamics('<bending axis="y" modes="4" shear_correction="0.85"/>', section,
                        attributes)
    beam, (family,) = beam_of(dyn)
    found = rates(dyn)
    assert found == pytest.approx(natural_rates(beam, family, 4), rel=1e-10)
    slender = rates(beam_dynamics('<bending axis="y" modes="4"/>', section))
    assert np.all(found < 0.99 * slender)
    if rotary:
        without = rates(beam_dynamics('<bending axis="y" modes="4" shear_correction="0.85"/>',
                                      section))
        assert np.all(found < without)


def test_rotary_inertia_of_euler_bernoulli_modes_approaches_rayleighs_beam():
    """Rayleigh 1877: to first order w falls by the share of rotary energy."""
    dyn = beam_dynamics('<bending axis="y" modes="8"/>', attributes='rotary_inertia="true"')
    bare = rates(beam_dynamics('<bending axis="y" modes="8"/>'))
    body = modal_body(dyn.robot.link('rod'))
    share = body.rotary_mass[0, 0] / (body.modal_mass[0, 0] - body.rotary_mass[0, 0])
    assert share > 1e-4
    assert rates(dyn)[0] == pytest.approx(bare[0] / np.sqrt(1.0 + share), rel=1e-6)


def deflection(dyn, wrench):
    """Return deflection along y and turn about z of the tip under a static wrench."""
    zero = np.zeros(dyn.robot.nv)
    jacobian = dyn.jacobian(zero, 'tip')
    delta = np.linalg.solve(stiffness_matrix(dyn, zero), jacobian.T @ wrench)
    return (jacobian @ delta)[[1, 5]]


@pytest.mark.parametrize('boundary', ['clamped-free', 'clamped-clamped', 'pinned-free'])
def test_static_modes_make_the_tip_exact(boundary):
    """P L^3 / 3 EI with one natural and one static mode; a moment too with two (Craig-Bampton)."""
    rigidity = YOUNG * IZ
    force, moment = np.eye(6)[1] * 10.0, np.eye(6)[5] * 3.0
    one, two = (
        beam_dynamics(f'<bending axis="y" modes="1" boundary="{boundary}" static_modes="{n}"/>')
        for n in (1, 2)
    )
    expected = 10.0 * LENGTH**3 / (3 * rigidity), 10.0 * LENGTH**2 / (2 * rigidity)
    assert deflection(one, force) == pytest.approx(expected, rel=1e-10)
    assert deflection(two, force) == pytest.approx(expected, rel=1e-10)
    expected = 3.0 * LENGTH**2 / (2 * rigidity), 3.0 * LENGTH / rigidity
    assert deflection(two, moment) == pytest.approx(expected, rel=1e-10)
    assert rates(two)[0] == pytest.approx(1.87510407**2 * UNIT, rel={
        'clamped-free': 1e-8, 'clamped-clamped': 1e-3, 'pinned-free': 2e-3}[boundary])


def test_static_deflection_with_shear():
    """P L^3 / 3 EI + P L / kGA, also of a stepped beam through its compliance."""
    dyn = beam_dynamics('<bending axis="y" modes="1" static_modes="1" shear_correction="0.8"/>')
    force = np.eye(6)[1]
    expected = LENGTH**3 / (3 * YOUNG * IZ) + LENGTH / (0.8 * SHEAR * AREA)
    assert deflection(dyn, force)[0] == pytest.approx(expected, rel=1e-10)
    half = IZ / 3
    sections = ((0, IZ), (0.5, IZ), (0.5, half), (1, half))
    steps = ''.join(f'<station at="{at}" iz="{iz}"/>' for at, iz in sections)
    dyn = beam_dynamics(steps + '<bending axis="y" modes="1" static_modes="1"/>',
                        UNIFORM.replace(f'iz="{IZ}"', ''))
    near, far = (1 - 0.5**3) / 3, 0.5**3 / 3
    expected = LENGTH**3 / YOUNG * (near / IZ + far / half)
    assert deflection(dyn, force)[0] == pytest.approx(expected, rel=1e-10)


def test_axial_and_torsional_static_modes():
    dyn = beam_dynamics('<torsion modes="1" static_modes="1"/><axial modes="1" static_modes="1"/>')
    zero = np.zeros(dyn.robot.nv)
    jacobian = dyn.jacobian(zero, 'tip')
    delta = np.linalg.solve(stiffness_matrix(dyn, zero), jacobian.T @ [5.0, 0, 0, 2.0, 0, 0])
    expected = 5.0 * LENGTH / (YOUNG * AREA), 2.0 * LENGTH / (SHEAR * J)
    assert (jacobian @ delta)[[0, 3]] == pytest.approx(expected, rel=1e-11)


def test_stepped_beam_against_its_determinant():
    steps = (
        '<station at="0" area="1e-3" iz="2e-7"/><station at="0.35" area="1e-3" iz="2e-7"/>'
        '<station at="0.35" area="4e-4" iz="0.4e-7"/><station at="1" area="4e-4" iz="0.4e-7"/>'
    )
    dyn = beam_dynamics(steps + '<bending axis="y" modes="4"/>', f'young="{YOUNG}"')
    beam, (family,) = beam_of(dyn)
    assert rates(dyn) == pytest.approx(natural_rates(beam, family, 4), rel=1e-9)
    assert dyn.robot.total_mass == pytest.approx(MASS, rel=1e-14)
    x = np.linspace(0.0, 1.0, 8)
    node_at = modal_body(dyn.robot.link('rod')).node_at
    for k, sample in enumerate(family_samplers(beam, family)):
        ours = [node_at(np.array([z * LENGTH, 0.0, 0.0])).translation[k, 1] for z in x]
        assert ours == pytest.approx(sample(x * LENGTH, 'value'), abs=1e-9)


def test_cone_and_wedge_against_published_roots():
    """Pointed cone 8.7193, 21.1457, wedge 5.3151, 15.2072, 30.0198 times sqrt(EI/rho A)/L^2."""
    tip = 1e-3
    line = MASS / LENGTH / ((1 + tip + tip**2) / 3)
    # What is cut off the point lengthens the cone that it belongs to.
    unit = np.sqrt(YOUNG * IZ / line) / (LENGTH / (1 - tip)) ** 2
    cone = (
        f'<station at="0" area="{AREA}" iz="{IZ}"/>'
        f'<station at="1" area="{AREA * tip**2}" iz="{IZ * tip**4}"/>'
    )
    dyn = beam_dynamics(cone + '<bending axis="y" modes="2"/>', f'young="{YOUNG}"',
                        'interpolation="conical"')
    assert rates(dyn) / unit == pytest.approx([8.71926, 21.1457], rel=2e-6)
    # The wedge's second moment falls with the cube: pieces of it run linearly, which is stiffer.
    sizes = np.linspace(1.0, 0.005**0.5, 41) ** 2
    at = (1.0 - sizes) / 0.995
    wedge = ''.join(
        f'<station at="{place}" area="{AREA * size}" iz="{IZ * size**3}"/>'
        for place, size in zip(at, sizes)
    )
    dyn = beam_dynamics(wedge + '<bending axis="y" modes="3"/>', f'young="{YOUNG}"')
    unit = np.sqrt(YOUNG * IZ / (MASS / LENGTH / 0.5025)) / (LENGTH / 0.995) ** 2
    assert rates(dyn) / unit == pytest.approx([5.31510, 15.2072, 30.0198], rel=6e-3)


def test_linear_taper_against_its_differential_equation():
    """A truncated taper, (EI w'')'' = rho A w^2 w integrated by scipy and shot at the tip."""
    from scipy.integrate import solve_ivp

    stations = (
        f'<station at="0" area="{AREA}" iz="{IZ}"/>'
        f'<station at="1" area="{0.3 * AREA}" iz="{0.1 * IZ}"/>'
    )
    dyn = beam_dynamics(stations + '<bending axis="y" modes="2"/>', f'young="{YOUNG}"')
    line = MASS / LENGTH / 0.65

    def conditions(rate):
        def derivative(x, y):
            s = x / LENGTH
            rigidity, density = YOUNG * IZ * (1 - 0.9 * s), line * (1 - 0.7 * s)
            w, t, m, v = y.reshape(4, 2)
            return np.concatenate((t, m / rigidity, -v, -density * rate**2 * w))

        start = np.zeros((4, 2))
        start[2, 0], start[3, 1] = 1e4, 1e4
        end = solve_ivp(derivative, (0, LENGTH), start.ravel(), rtol=1e-10, atol=1e-10).y[:, -1]
        return np.linalg.det(end.reshape(4, 2)[2:])

    for rate in rates(dyn):
        assert conditions(0.9999999 * rate) * conditions(1.0000001 * rate) < 0.0


def test_stations_of_a_uniform_beam_change_nothing():
    plain = beam_dynamics('<bending axis="y" modes="3"/><torsion modes="1"/>')
    section = f'area="{AREA}" iz="{IZ}"'
    stations = f'<station at="0" {section}/><station at="0.3" {section}/>'
    stations += f'<station at="1" {section}/>'
    rest = UNIFORM.replace(section.split()[0], '').replace(section.split()[1], '')
    same = beam_dynamics(stations + '<bending axis="y" modes="3"/><torsion modes="1"/>', rest)
    q = np.array([0.02, 0.01, 0.005, 0.1])
    assert same.mass_matrix(q) == pytest.approx(plain.mass_matrix(q), rel=1e-9, abs=1e-11)
    assert same.elastic_vector(q, q) == pytest.approx(plain.elastic_vector(q, q), rel=1e-9)


def test_polynomials_converge_from_above_and_fast():
    """Ritz: each added polynomial lowers the frequencies; seven give the first to rounding."""
    exact = 1.875104068711961**2 * UNIT
    first = [rates(beam_dynamics(f'<bending axis="y" modes="{n}" basis="polynomial"/>'))[0]
             for n in range(1, 8)]
    errors = np.array(first) / exact - 1.0
    assert errors[0] == pytest.approx(np.sqrt(20.0) / 1.875104068711961**2 - 1.0, rel=1e-9)
    assert np.all(errors[:5] > 0.0) and np.all(np.diff(errors[:5]) < 0.0)
    assert abs(errors[6]) < 1e-10


def test_more_natural_modes_lower_a_loaded_beams_frequency():
    """Clamped-free modes with a heavy tip converge slowly; one static mode does it at once."""
    child = (
        '<inertial><mass value="7"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" '
        'iyz="0"/></inertial>'
    )
    found = [
        rates(beam_dynamics(f'<bending axis="y" modes="{n}"/>', child=child))[0]
        for n in (1, 2, 4, 8)
    ]
    assert np.all(np.diff(found) < 0.0)
    loaded = rates(beam_dynamics('<bending axis="y" modes="1"/>', child=child,
                                 attributes='loaded="true"'))[0]
    static = rates(beam_dynamics('<bending axis="y" modes="1" static_modes="2"/>', child=child))[0]
    assert found[-1] > static >= loaded * (1 - 1e-12)
    assert static == pytest.approx(loaded, rel=1e-4)
