# SPDX-License-Identifier: Apache-2.0
"""Stepped and tapered beams against determinants, published roots and an equation."""

from flexdyn_ros.model.beam.body import modal_body
import numpy as np
from oracles.beam_states import family_samplers, natural_rates
from oracles.plain_beams import (
    AREA,
    beam_dynamics,
    beam_of,
    IZ,
    LENGTH,
    MASS,
    rates,
    UNIFORM,
    YOUNG,
)
import pytest


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
    # The part cut off the point lengthens the cone that it belongs to.
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
