# SPDX-License-Identifier: Apache-2.0
"""The linear state space: resonances in closed form, natural modes, and motions of the robot."""

import math

from codegen import cases
import flexdyn_ros as fd
from flexdyn_ros.simulation.frequencies import natural_modes, stiffness_matrix
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.displaced import departure, displaced
from oracles.random_robots import random_robot_urdf
import pytest

STIFFNESS, DAMPING, LINK, ROTOR, GEAR = 120.0, 0.4, 0.03, 2e-4, 10.0


def two_masses(damping):
    """Return a rotor and a link about a vertical axis with a spring between them."""
    return fd.load_robot(
        '<robot name="two_masses"><link name="base"/><link name="arm"><inertial><mass value="1"/>'
        f'<inertia ixx="{LINK}" iyy="{LINK}" izz="{LINK}" ixy="0" ixz="0" iyz="0"/></inertial>'
        '</link><joint name="pivot" type="continuous"><parent link="base"/><child link="arm"/>'
        '<axis xyz="0 0 1"/></joint><flexdyn version="1.0"><joint_dynamics joint="pivot" '
        f'stiffness="{STIFFNESS}" damping="{damping}" rotor_inertia="{ROTOR}" '
        f'gear_ratio="{GEAR}"/></flexdyn></robot>'
    )


@pytest.mark.parametrize('backend', ['reference', 'python'])
def test_resonance_and_antiresonance_of_two_masses(backend):
    """Poles at sqrt(k (1/J + 1/I)), zeros of the motor's motion at sqrt(k / I)."""
    motor = GEAR**2 * ROTOR
    dyn = fd.Dynamics(two_masses(0.0), backend)
    a, b = fd.linearise(dyn, [0.3, 0.1], [0.0, 0.0], [0.0, 0.0])
    assert a.shape == (4, 4)
    assert b.shape == (4, 1)
    resonance = math.sqrt(STIFFNESS * (1.0 / motor + 1.0 / LINK))
    # The double pole of the rigid motion is found to the square root of round-off.
    assert np.sort(np.abs(np.linalg.eigvals(a))) == pytest.approx(
        [0.0, 0.0, resonance, resonance], rel=1e-9, abs=1e-5
    )
    antiresonance = math.sqrt(STIFFNESS / LINK)

    def motion(rate):
        return np.linalg.solve(1j * rate * np.eye(4) - a, b)[0, 0]

    # To the motor's coordinate: (k - I w^2) / (w^2 (J I w^2 - k (J + I))).
    for rate in (0.5 * antiresonance, 0.9 * resonance, 2.0 * resonance):
        expected = (STIFFNESS - LINK * rate**2) / (
            rate**2 * (motor * LINK * rate**2 - STIFFNESS * (motor + LINK))
        )
        assert motion(rate) == pytest.approx(expected, rel=1e-9)
    assert abs(motion(antiresonance)) < 1e-9 * abs(motion(0.9 * antiresonance))


def test_damping_of_two_masses():
    """Poles of s^2 + d (1/J + 1/I) s + k (1/J + 1/I)."""
    a, _ = fd.linearise(reference_dynamics(two_masses(DAMPING)), [0.0, 0.0], [0, 0], [0, 0])
    inverse = 1.0 / (GEAR**2 * ROTOR) + 1.0 / LINK
    found = np.linalg.eigvals(a)
    expected = np.roots([1.0, DAMPING * inverse, STIFFNESS * inverse])
    found = found[np.argsort(np.abs(found))][2:]
    assert np.sort_complex(found) == pytest.approx(np.sort_complex(expected), rel=1e-9)


def test_poles_of_a_flexible_arm_are_its_natural_frequencies():
    """At rest without gravity and damping: those of K x = w^2 M x."""
    robot = fd.load_robot('urdf/two_link_arm.urdf.xacro')
    dyn = reference_dynamics(robot)
    dyn.set_gravity([0.0, 0.0, 0.0])
    q, rest = np.array(cases.state(robot)[0]), np.zeros(robot.nv)
    q[robot.n_joints:] = 0.0
    a, _ = fd.linearise(dyn, q, rest, dyn.gravity_vector(q))
    expected, _ = natural_modes(dyn.mass_matrix(q), stiffness_matrix(dyn, q))
    found = np.sort(np.abs(np.linalg.eigvals(a).imag))[::2]
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-2)


@pytest.mark.parametrize('name', ['floating', 'planar', 'mimic', 'multi axis'])
def test_departures_of_two_motions(name):
    """Rate at which two motions from neighbouring states part, quaternions turning fast."""
    kinds = ('multi_axis', 'quaternion', 'revolute')
    robot = fd.load_robot(random_robot_urdf(20, 4, kinds=kinds, max_modes=1)) if (
        name == 'multi axis'
    ) else cases.robot(name)
    dyn = reference_dynamics(robot)
    q, qd, _, tau = (np.array(v) for v in cases.state(robot))
    nv = robot.nv
    a, b = fd.linearise(dyn, q, qd, tau)
    rng = np.random.default_rng(2)
    change = rng.normal(size=2 * nv)
    push = np.zeros(nv)
    push[: robot.n_joints] = rng.normal(size=robot.n_joints)
    small, time = 1e-5, 1e-4

    def start(scale):
        return displaced(robot, q, scale * change[:nv]), qd + scale * change[nv:]

    def after(scale, duration):
        at, rate = start(scale)
        # Along the velocity alone: its change moves the place by the square of the time.
        return displaced(robot, at, duration * rate)

    rates = []
    for scale in (small, -small):
        ends = [departure(robot, after(0.0, t), after(scale, t)) for t in (time, -time)]
        at, rate = start(scale)
        faster = dyn.forward_dynamics(at, rate, tau + scale * push)
        rates.append([*(ends[0] - ends[1]) / (2.0 * time), *faster])
    found = (np.array(rates[0]) - np.array(rates[1])) / (2.0 * small)
    expected = a @ change + b @ push[: robot.n_joints]
    assert_agree(found[:nv], expected[:nv], 1e-6, 'displacement')
    assert_agree(found[nv:], expected[nv:], 1e-6, 'velocity')
