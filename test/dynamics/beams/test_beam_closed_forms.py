# SPDX-License-Identifier: Apache-2.0
"""Natural, loaded and stout modes of uniform beams against closed forms."""

from itertools import pairwise

from flexdyn_ros.model.beam.body import modal_body
import numpy as np
from numpy import cos, cosh, sin, sinh
from oracles.beam_states import natural_rates
from oracles.plain_beams import (
    AREA,
    beam_dynamics,
    beam_of,
    IZ,
    J,
    LENGTH,
    MASS,
    rates,
    SHEAR,
    UNIFORM,
    UNIT,
    YOUNG,
)
import pytest
from scipy.optimize import brentq


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
    assert (beam.carried[0].mass, beam.carried[0].ahead) == pytest.approx((0.9, 0.18))
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
