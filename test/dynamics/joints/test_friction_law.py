# SPDX-License-Identifier: Apache-2.0
"""Friction of every kind: odd, zero at rest, dissipative; coasting against closed forms."""

import flexdyn_ros as fd
from hypothesis import given, settings, strategies as st
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.random_robots import inertial_xml
import pytest

INERTIA = 0.3
LEVEL = st.floats(0.0, 50.0)
WIDTH = st.floats(1e-3, 2.0)
KINDS = {
    'viscous': '<friction viscous="0.4"/>',
    'coulomb': '<friction coulomb="0.6"/>',
    'stribeck': '<friction viscous="0.1" coulomb="0.3" stribeck="0.9" stribeck_velocity="0.2"/>',
    'rising': '<friction coulomb="0.9" stribeck="0.3" stribeck_velocity="0.2"/>',
}


def wheel(friction, kind='continuous', drive='', follower=''):
    """Return a wheel on an upright axis, with the losses of its joint."""
    body = inertial_xml(1.0, [0.0, 0.0, 0.0], np.diag([0.1, 0.1, INERTIA]))
    limit = '<limit lower="-9" upper="9" effort="9" velocity="9"/>' if kind == 'prismatic' else ''
    joint = '<joint name="{}" type="{}"><parent link="a"/><child link="{}"/>{}'
    joint += '<axis xyz="0 0 1"/>{}</joint>'
    text = f'<robot name="wheel"><link name="a"/><link name="b">{body}</link>'
    text += joint.format('j', kind, 'b', '', limit)
    dynamics = f'<joint_dynamics joint="j" {drive}>{friction}</joint_dynamics>'
    if follower:
        text += f'<link name="c">{body}</link>' + joint.format('k', kind, 'c', follower, limit)
        dynamics += f'<joint_dynamics joint="k">{friction}</joint_dynamics>'
    return fd.load_robot(f'{text}<flexdyn version="1.0">{dynamics}</flexdyn></robot>')


@settings(deadline=None, max_examples=60)
@given(viscous=LEVEL, coulomb=LEVEL, stribeck=LEVEL, decay=WIDTH, smooth=WIDTH,
       rate=st.floats(-5.0, 5.0))
def test_odd_zero_at_rest_and_never_giving_energy(viscous, coulomb, stribeck, decay, smooth, rate):
    """For any numbers, a Stribeck level below Coulomb's included."""
    smoothing = f'smoothing_velocity="{smooth!r}"' if coulomb or stribeck else ''
    dyn = reference_dynamics(wheel(
        f'<friction viscous="{viscous!r}" coulomb="{coulomb!r}" stribeck="{stribeck!r}" '
        f'stribeck_velocity="{decay!r}" {smoothing}/>'
    ))
    loss, = dyn.friction_vector([rate])
    assert dyn.friction_vector([-rate])[0] == -loss
    assert dyn.friction_vector([0.0])[0] == 0.0
    assert loss * rate >= 0.0
    assert abs(loss) <= viscous * abs(rate) + max(coulomb, stribeck) * (1.0 + 1e-12)


@pytest.mark.parametrize('friction', KINDS.values(), ids=KINDS)
@pytest.mark.parametrize('backend', ['reference', 'python'])
def test_the_same_on_every_backend(friction, backend):
    """Term and torque, of joints that turn and that slide."""
    for kind in ('continuous', 'prismatic'):
        dyn = fd.Dynamics(wheel(friction, kind), backend=backend)
        for rate in (-1.3, -0.02, 0.0, 0.004, 0.7):
            loss = dyn.friction_vector([rate])
            rest = dyn.inverse_dynamics([0.0], [0.0], [0.0])
            assert_agree(dyn.inverse_dynamics([0.0], [rate], [0.0]) - rest, loss, 1e-12)
            assert_agree(loss, -dyn.friction_vector([-rate]), 0.0)
            assert loss[0] * rate >= 0.0


@pytest.mark.parametrize('multiplier', [1.7, -0.6])
def test_a_follower_brakes_its_leader(multiplier):
    """A mimic joint's loss acts on the leader by the ratio, and still takes energy."""
    mimic = f'<mimic joint="j" multiplier="{multiplier}"/>'
    alone = reference_dynamics(wheel(KINDS['stribeck']))
    both = reference_dynamics(wheel(KINDS['stribeck'], follower=mimic))
    for rate in (-0.8, -0.01, 0.0, 0.3):
        expected = alone.friction_vector([rate])
        expected = expected + multiplier * alone.friction_vector([multiplier * rate])
        assert_agree(both.friction_vector([rate]), expected, 1e-14)
        assert both.friction_vector([rate])[0] * rate >= 0.0


def test_viscous_friction_slows_down_exponentially():
    """A wheel's rate is w0 exp(-b t / J)."""
    dyn = fd.Dynamics(wheel(KINDS['viscous']))
    run = fd.simulate(dyn, [0.0], [2.0], None, 1.0, 0.01)
    assert_agree(run.qd[:, 0], 2.0 * np.exp(-0.4 * run.t / INERTIA), 1e-7)
    assert np.all(np.diff(run.energy) < 0.0)


def test_coulomb_friction_stops_in_the_printed_time():
    """Smoothed by tanh(w / v): sinh(w / v) falls as exp(-c t / (J v)); a straight line."""
    level, width = 0.6, 0.01
    dyn = fd.Dynamics(wheel(KINDS['coulomb']))
    run = fd.simulate(dyn, [0.0], [0.5], None, 0.4, 2e-4)
    decay = np.exp(-level * run.t / (INERTIA * width))
    expected = width * np.arcsinh(np.sinh(0.5 / width) * decay)
    assert np.abs(run.qd[:, 0] - expected).max() < 1e-6
    straight = 0.5 - level / INERTIA * run.t
    at_speed = straight > 5 * width
    assert np.abs(run.qd[at_speed, 0] - straight[at_speed]).max() < 1e-5
    assert abs(run.qd[-1, 0]) < 1e-12 and np.all(run.qd[:, 0] > 0.0)


@pytest.mark.parametrize('friction', KINDS.values(), ids=KINDS)
def test_energy_only_falls(friction):
    """A driven-off wheel with each law, and with a spring behind its motor."""
    drive = 'stiffness="50" rotor_inertia="0.1" damping="0.2"'
    for given_drive, start in (('', [2.0]), (drive, [2.0, -1.0])):
        dyn = fd.Dynamics(wheel(friction, drive=given_drive))
        run = fd.simulate(dyn, [0.0] * len(start), start, None, 0.5, 5e-4)
        assert np.all(np.diff(run.energy) <= 1e-9)
        assert run.energy[-1] < run.energy[0]


def test_friction_of_an_elastic_joint_is_on_the_motor_side():
    """The motor's rate loses, the deflection's does not."""
    dyn = reference_dynamics(wheel(KINDS['stribeck'], drive='stiffness="50" rotor_inertia="0.1"'))
    stiff = reference_dynamics(wheel(KINDS['stribeck']))
    for motor, stretch in ((0.4, -3.0), (0.0, 2.0)):
        expected = [stiff.friction_vector([motor])[0], 0.0]
        assert_agree(dyn.friction_vector([motor, stretch]), expected, 1e-14)
