# SPDX-License-Identifier: Apache-2.0
"""Generalised-alpha: its order, the damping that it adds, long runs, and its errors."""

import math
from pathlib import Path

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.simulation import SimulationDiverged, TrackingTorque
import numpy as np
import pytest
from simulated_robots import FLEXIBLE_PENDULUM, PENDULUM, TUMBLER

URDF = Path(__file__).resolve().parents[2] / 'urdf'
METHOD = 'generalised_alpha'
INERTIA = 1e-4  # [kg m^2]
WHEEL = (
    '<robot name="wheel"><link name="base"/><link name="wheel"><inertial><mass value="1"/>'
    '<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="axle" type="continuous"><parent link="base"/><child link="wheel"/>'
    '<axis xyz="0 0 1"/>{}</joint></robot>'
)


def amplification(rho, angle):
    """
    Return the eigenvalues of the amplification matrix, (3,), of x'' = -w^2 x at w h = angle.

    In displacements, after Chung and Hulbert 1993, with alpha_m and alpha_f as there.
    """
    m, f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 - m + f
    beta = 0.25 * (1.0 - m + f)**2
    # Of displacement, h times velocity and h^2 times acceleration, at the end and at the start.
    left = np.array([
        [1.0, 0.0, -beta], [0.0, 1.0, -gamma], [(1.0 - f) * angle**2, 0.0, 1.0 - m]])
    right = np.array([
        [1.0, 1.0, 0.5 - beta], [0.0, 1.0, 1.0 - gamma], [-f * angle**2, 0.0, -m]])
    return np.linalg.eigvals(np.linalg.solve(left, right))


def spring(rho, angle, steps):
    """Return the amplitudes [rad] of a wheel on a spring, (steps + 1,)."""
    dyn, h = fd.Dynamics(fd.load_robot(WHEEL.format(''))), 1e-3
    law = TrackingTorque(dyn.robot, [0.0], [[0.0]], kp=INERTIA * (angle / h)**2)
    motion = fd.simulate(dyn, [1.0], [0.0], law, steps * h, h, METHOD, rho_infinity=rho,
                         energy_tolerance=None)
    return np.hypot(motion.q[:, 0], motion.qd[:, 0] * h / angle)


@pytest.mark.parametrize(('rho', 'angle'), [(0.0, 0.3), (0.5, 0.3), (0.9, 1.0), (0.5, 3.0)])
def test_the_damping_is_that_of_the_amplification_matrix(rho, angle):
    """The amplitude falls by the spectral radius a step, over whole periods."""
    radius = np.abs(amplification(rho, angle)).max()
    sizes = spring(rho, angle, 600)
    # The amplitude's own ripple within a period is the same at both ends.
    ripple = sizes[100:600].reshape(5, 100).max(axis=1)
    measured = (ripple[-1] / ripple[0])**(1.0 / 400.0)
    assert 1.0 - measured == pytest.approx(1.0 - radius, rel=0.02)


def test_what_people_simulate_is_not_damped():
    """At w h = 0.3 the usual radius adds 2e-6 of damping ratio, and unresolved modes decay."""
    values = amplification(0.9, 0.3)
    value = values[np.argmax(np.abs(values))]
    assert -math.log(abs(value)) / abs(np.angle(value)) == pytest.approx(1.9e-6, rel=0.05)
    assert np.abs(amplification(0.9, 1e6)).max() == pytest.approx(0.9, rel=1e-3)
    sizes = spring(None, 0.3, 1000)
    assert sizes.min() > 0.97 * sizes[0]
    assert spring(0.9, 300.0, 200)[-1] < 1e-6
    kept = spring(1.0, 0.3, 1000)
    assert np.ptp(kept) < 0.03 and kept[-50:].max() == pytest.approx(kept[:50].max(), 1e-9)


@pytest.mark.parametrize(('text', 'rho'), [
    (PENDULUM, 1.0), (TUMBLER, 0.9), (FLEXIBLE_PENDULUM, 0.0), (FLEXIBLE_PENDULUM, 0.9)])
def test_the_order_is_two(text, rho):
    """Errors against DOP853 fall by four with half the step, quaternions included."""
    dyn = fd.Dynamics(fd.load_robot(text.replace(
        '<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><dynamics damping="0.5"/>')))
    q = np.array(dyn.robot.neutral_configuration())
    q[dyn.robot.nq - dyn.robot.n_modes:] = 0.01
    run = dyn, q, np.linspace(0.5, 1.0, dyn.robot.nv), 0.3 * np.ones(dyn.robot.nv), 0.02
    exact = fd.simulate(*run, 0.02, 'DOP853', rtol=1e-12)
    motions = [
        fd.simulate(*run, dt, METHOD, rho_infinity=rho, energy_tolerance=None)
        for dt in (5e-5, 2.5e-5)
    ]
    errors = [np.abs(each.q[-1] - exact.q[-1]).max() for each in motions]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.08)
    works = [abs(each.work[-1] - exact.work[-1]) for each in motions]
    assert works[0] / works[1] == pytest.approx(4.0, rel=0.1)


def test_a_long_undamped_run_keeps_its_energy():
    """The Canadarm for ten seconds: no drift beside the kinetic energy, and no warning."""
    dyn = fd.Dynamics(fd.load_robot(URDF / 'canadarm.urdf.xacro'))
    q = np.array(dyn.robot.neutral_configuration())
    q[:2] += 0.3
    qd = np.where(np.arange(dyn.robot.nv) < dyn.robot.n_joints, 0.05, 0.0)
    motion = fd.simulate(dyn, q, qd, None, 10.0, 5e-3, METHOD)
    assert np.abs(motion.residual).max() < 1e-6 * motion.kinetic.max()
    exact = fd.simulate(dyn, q, qd, None, 10.0, 1e-3, sample_every=5)
    assert np.abs(motion.q - exact.q).max() < 1e-2 * np.ptp(exact.q)


def test_controllers_and_held_torques_keep_the_motion():
    """Integrals of a controller, and a torque that jumps between steps, against rk4."""
    dyn = fd.Dynamics(fd.load_robot(PENDULUM))
    law = TrackingTorque(dyn.robot, [0.0, 0.5], [[0.3], [0.6]], kp=200.0, kd=20.0, ki=100.0)
    exact = fd.simulate(dyn, [0.3], [0.0], law, 0.5, 1e-3, 'rk4')
    motion = fd.simulate(dyn, [0.3], [0.0], law, 0.5, 1e-3, METHOD)
    assert np.abs(motion.q - exact.q).max() < 1e-4
    assert motion.work[-1] == pytest.approx(exact.work[-1], rel=1e-3)
    held = {'torque_period': 0.05, 'energy_tolerance': None}

    def torque(t, q, qd):
        return [0.5 if int(20.0 * t + 0.5) % 2 else -0.5]

    wheel = fd.Dynamics(fd.load_robot(WHEEL.format('')))
    exact = fd.simulate(wheel, [0.0], [0.0], torque, 0.3, 1e-2, 'rk4', **held)
    motion = fd.simulate(wheel, [0.0], [0.0], torque, 0.3, 1e-2, METHOD, **held)
    assert np.abs(motion.qd - exact.qd).max() < 1e-9 * np.abs(exact.qd).max()


@pytest.mark.parametrize('damping', [0.1, 1e3])
def test_stiff_damping_is_passed(damping):
    """A joint whose velocity decays in 1e-3 to 1e-7 s, at a step of 10 ms."""
    dyn = fd.Dynamics(fd.load_robot(WHEEL.format(f'<dynamics damping="{damping}"/>')))
    motion = fd.simulate(dyn, [0.0], [1.0], None, 1.0, 1e-2, METHOD, energy_tolerance=None)
    assert abs(motion.qd[-1, 0]) < 1e-3


def test_friction_beyond_the_iterations_is_an_error():
    """A smoothed joint that rk4 resolves in steps of 3e-6 s; the set-valued law is not taken."""
    dyn = fd.Dynamics(fd.load_robot(WHEEL.format('<dynamics friction="1"/>')))
    with pytest.raises(SimulationDiverged, match='"axle" is not found by the iterations'):
        fd.simulate(dyn, [0.0], [1.0], None, 0.1, 1e-3, METHOD)


def test_a_motion_without_bound_is_an_error_with_the_samples():
    """With qd' = qd^2 the rate is infinite at t = 1 s for qd(0) = 1 rad/s."""
    dyn = fd.Dynamics(fd.load_robot(WHEEL.format('')))
    with pytest.raises(SimulationDiverged, match='"axle"') as caught:
        fd.simulate(dyn, [0.0], [1.0], lambda t, q, qd: INERTIA * qd**2, 2.0, 0.01, METHOD)
    motion = caught.value.trajectory
    assert motion.qd[:90, 0] == pytest.approx(1.0 / (1.0 - motion.t[:90]), rel=1e-2)


def test_what_does_not_fit_is_refused():
    """Loops, a prescribed base, radii beyond 0 to 1 and of other methods."""
    dyn = fd.Dynamics(fd.load_robot(PENDULUM))
    run = dyn, [0.1], [0.0], None, 0.1, 0.01
    for rho in (-0.1, 1.1, True, 'x'):
        with pytest.raises(ArgumentError, match='"rho_infinity" must be a number from 0 to 1'):
            fd.simulate(*run, METHOD, rho_infinity=rho)
    with pytest.raises(ArgumentError, match='"rho_infinity" needs method="generalised_alpha"'):
        fd.simulate(*run, 'rk4', rho_infinity=0.5)
    with pytest.raises(ArgumentError, match='"stops" need'):
        fd.simulate(*run, METHOD, stops=True)
    loop = fd.Dynamics(fd.load_robot(URDF / 'four_bar.urdf.xacro'))
    with pytest.raises(ArgumentError, match='neither loops nor a prescribed base'):
        fd.simulate(loop, loop.robot.neutral_configuration(), np.zeros(loop.robot.nv), None,
                    0.1, 0.01, METHOD)
