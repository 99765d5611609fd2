# SPDX-License-Identifier: Apache-2.0
"""Static deflections and residual-static modes against closed forms."""

from flexdyn_ros.simulation.frequencies import stiffness_matrix
import numpy as np
from oracles.plain_beams import (
    AREA,
    beam_dynamics,
    IZ,
    J,
    LENGTH,
    rates,
    SHEAR,
    UNIFORM,
    UNIT,
    YOUNG,
)
import pytest


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
