# SPDX-License-Identifier: Apache-2.0
"""Poles, transfer functions and controllers: a uniform beam in closed form, python-control."""

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.linearisation.linear_system import damping_ratio
import numpy as np
from oracles.compare import reference_dynamics
import pytest

# Of a uniform beam that turns about its end: length [m], mass [kg], EI [N m^2].
LENGTH, MASS, RIGIDITY = 1.2, 1.5, 300.0


def turning_beam(modes=8, damping=0.0):
    """Return a uniform beam on a motor in the horizontal plane."""
    return fd.load_robot(
        '<robot name="turning_beam"><link name="base"/><link name="beam"/><link name="tip"/>'
        '<joint name="motor" type="continuous"><parent link="base"/><child link="beam"/>'
        '<axis xyz="0 0 1"/></joint><joint name="end" type="fixed"><origin '
        f'xyz="{LENGTH} 0 0"/><parent link="beam"/><child link="tip"/></joint>'
        '<flexdyn version="1.0"><gravity xyz="0 0 0"/><flexible_link link="beam" '
        f'geometric_stiffening="false"><beam tip="end" young="{RIGIDITY}" iz="1" '
        f'mass="{MASS}"><bending axis="y" modes="{modes}" damping_ratio="{damping}"/></beam>'
        '</flexible_link></flexdyn></robot>')


def exact(rate):
    """
    Return angle of the root and deflection of the tip over the torque at the root, exactly.

    w'' '' = b^4 w with w(0) = 0, EI w''(0) = -u, w''(L) = w'''(L) = 0 in the inertial frame, where
    w'(0) is the angle of the motor (Book, Modeling, design and control of flexible manipulator
    arms, 1974).
    """
    b = (MASS / LENGTH * rate**2 / RIGIDITY) ** 0.25
    x = b * LENGTH
    c, s, ch, sh = np.cos(x), np.sin(x), np.cosh(x), np.sinh(x)
    # w = p cos + q sin + r cosh + t sinh of b x.
    conditions = np.array([
        [1.0, 0.0, 1.0, 0.0], [-1.0, 0.0, 1.0, 0.0], [-c, -s, ch, sh], [s, -c, sh, ch]])
    found = np.linalg.solve(conditions, [0.0, -1.0 / (RIGIDITY * b**2), 0.0, 0.0])
    return b * (found[1] + found[3]), np.array([c, s, ch, sh]) @ found


def test_transfer_functions_of_a_uniform_beam():
    """Motor and tip of a turning beam, below the second resonance."""
    dyn = reference_dynamics(turning_beam())
    system = fd.LinearSystem.about(dyn, np.zeros(9), outputs=['motor', 'tip/y', 'tip/ay'])
    unit = np.sqrt(RIGIDITY / (MASS / LENGTH)) / LENGTH**2
    for rate in (0.3 * unit, 8.0 * unit, 25.0 * unit, 40.0 * unit):
        angle, tip = exact(rate)
        motor, y, ay = system.response([rate])[0, :, 0]
        # The clamped modes of the beam meet the root's curvature slowly.
        assert y == pytest.approx(tip, rel=2e-3)
        assert motor == pytest.approx(angle, rel=0.02)
        assert ay == pytest.approx(-rate**2 * y, rel=1e-9)


def test_poles_of_a_uniform_beam_are_those_of_a_pinned_free_one():
    """Roots 3.9266 and 7.0686 of tan x = tanh x (Blevins 1979, table 8-1), and damping ratios."""
    system = fd.LinearSystem.about(reference_dynamics(turning_beam(12)), np.zeros(13))
    found = system.poles()[2:6:2]  # behind the motion of the rigid arm
    unit = np.sqrt(RIGIDITY / (MASS / LENGTH)) / LENGTH**2
    assert np.abs(found) / unit == pytest.approx([3.92660231**2, 7.06858275**2], rel=1e-3)
    held = turning_beam(1, 0.02)
    pole = fd.LinearSystem.about(reference_dynamics(held), [0.0, 0.0]).under_control(
        1e9, 1e6).poles()
    slow = pole[np.argmin(np.abs(pole - 1j * 3.51602 * unit))]
    assert abs(slow) == pytest.approx(3.51602 * unit, rel=1e-3)
    assert damping_ratio(slow) == pytest.approx(0.02, rel=0.02)


def test_controllers_close_the_loop():
    """A - B K and C - D K: the response to added torque, from that of the open loop."""
    dyn = reference_dynamics(turning_beam(2, 0.01))
    names = ['motor', 'motor/rate', 'tip/ay']
    system = fd.LinearSystem.about(dyn, np.zeros(3), outputs=names)
    closed, rate = system.under_control(50.0, 4.0), 7.0
    g = system.response([rate])[0]
    assert closed.response([rate])[0] == pytest.approx(
        g / (1.0 + 50.0 * g[0] + 4.0 * g[1]), rel=1e-9)
    one = closed.channel(outputs=['tip/ay'])
    assert (one.c.shape, one.d.shape, one.output_units) == ((1, 6), (1, 1), ('m/s^2',))
    with pytest.raises(ArgumentError, match='tip/az'):
        closed.channel(outputs=['tip/az'])


def test_python_control_gets_the_system():
    """Its frequency response and poles are ours, its signals have our names."""
    control = pytest.importorskip(
        'control', reason='python-control is not installed here: pip install control')
    dyn = reference_dynamics(turning_beam(2, 0.01))
    system = fd.LinearSystem.about(dyn, np.zeros(3), outputs=['tip/y', 'beam/strain@0.1,0.02,0'])
    made = system.under_control(50.0, 4.0).to_control()
    assert isinstance(made, control.StateSpace)
    assert made.input_labels == ['motor']
    assert made.output_labels == ['tip/y', 'beam/strain@0_1_0_02_0']
    assert made.state_labels[3] == 'motor/rate'
    for rate in (0.5, 30.0):
        assert control.evalfr(made, 1j * rate) == pytest.approx(
            system.under_control(50.0, 4.0).response([rate])[0], rel=1e-9)
    assert np.sort_complex(made.poles()) == pytest.approx(
        np.sort_complex(system.under_control(50.0, 4.0).poles()))
