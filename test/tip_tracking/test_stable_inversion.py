# SPDX-License-Identifier: Apache-2.0
"""Stable inversion against closed forms, other formulations and scipy's integrator."""

from functools import cache
import re

import flexdyn_ros as fd
from flexdyn_ros.dynamics.spring_law import TableLaw
from flexdyn_ros.linearisation import linearise
from flexdyn_ros.tip_tracking.boundary_value_problem import InversionFailed
from flexdyn_ros.tip_tracking.elastic_joints import ElasticJoints
from flexdyn_ros.tip_tracking.tip_zeros import NotInvertible
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import make_interp_spline, PPoly

BEAM = """<robot name="rotor"><link name="base"/><link name="arm"/>
<joint name="hub" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="100" velocity="10"/></joint>
<link name="tool"><inertial><mass value="0.2"/>
<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="mount" type="fixed"><parent link="arm"/><child link="tool"/>
<origin xyz="1.2 0 0"/></joint>
<flexdyn version="1.0"><gravity xyz="0 0 0"/><flexible_link link="arm">
<beam tip="tool" young="7e10" shear="2.6e10" area="8e-5" iy="8e-11" iz="8e-11" j="1.6e-10"
mass="0.4"><bending axis="y" modes="2" damping_ratio="{damping}"/></beam></flexible_link>
<joint_dynamics joint="hub" rotor_inertia="0.05" gear_ratio="1"/></flexdyn></robot>"""

ELASTIC = """<robot name="pendulum"><link name="base"/>
<link name="arm"><inertial><origin xyz="0.4 0 0"/><mass value="3"/>
<inertia ixx="0.01" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hub" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="100" velocity="10"/></joint>
<flexdyn version="1.0"><gravity xyz="0 -9.81 0"/>
<joint_dynamics joint="hub" rotor_inertia="1e-3" gear_ratio="10" stiffness="800"
damping="{damping}"/></flexdyn></robot>"""


@cache
def beam(damping='0.01'):
    return fd.Dynamics(fd.load_robot(BEAM.format(damping=damping)))


def test_small_motions_are_those_of_the_frequency_domain():
    """Bayo 1987: the torque is the inverse transform of Y(w) / G(w), also before the path."""
    dyn = beam()
    end, duration = 1e-3, 1.0
    path = fd.TipPath.between(dyn, 'tool', [0.0] * 3, [end, 0.0, 0.0], duration, ['y'])
    found = fd.stable_inversion(dyn, path, 1e-3)
    a, b = linearise(dyn, np.zeros(3), np.zeros(3), np.zeros(3))
    c = np.append(dyn.jacobian(np.zeros(3), 'tool')[1], np.zeros(3))
    count, h = 2**15, 1e-3
    t = h * np.arange(count) - 8.0
    # The second derivative of the path is a pulse, and has a transform.
    pulse = path(t, 2)[:, 0]
    frequency = 2.0 * np.pi * np.fft.rfftfreq(count, h)
    response = np.array([
        -w**2 * (c @ np.linalg.solve(1j * w * np.eye(6) - a, b))[0] for w in frequency[1:]])
    rigid = 1.0 / response[0].real
    ratio = np.append(rigid, 1.0 / response)
    tau = np.fft.irfft(np.fft.rfft(pulse) * ratio, count)
    wanted = np.interp(found.t, t, tau)
    assert found.tau[:, 0] == pytest.approx(wanted, abs=2e-3 * np.abs(wanted).max())
    before = found.t < 0.0
    assert abs(found.tau[0, 0]) < 1e-6 * np.abs(wanted).max()
    assert np.abs(found.tau[before, 0]).max() > 0.02 * np.abs(wanted).max()


def test_the_zeros_are_those_of_the_transfer_function():
    """The finite generalised eigenvalues of the Rosenbrock pencil of A, B and C."""
    from scipy.linalg import eigvals

    dyn = beam()
    path = fd.TipPath.between(dyn, 'tool', [0.0] * 3, [0.1, 0.0, 0.0], 1.0, ['y'])
    found = fd.stable_inversion(dyn, path).zeros[0]
    a, b = linearise(dyn, np.zeros(3), np.zeros(3), np.zeros(3))
    c = np.append(dyn.jacobian(np.zeros(3), 'tool')[1:2], np.zeros((1, 3)), axis=1)
    pencil = np.block([[a, b], [c, np.zeros((1, 1))]])
    mass = np.diag([1.0] * 6 + [0.0])
    every = eigvals(pencil, mass)
    wanted = every[np.isfinite(every) & (np.abs(every) < 1e6)]
    assert len(found) == len(wanted) == 4
    assert np.sort_complex(found) == pytest.approx(np.sort_complex(wanted), rel=1e-6)


@cache
def pendulum(damping):
    return fd.Dynamics(fd.load_robot(ELASTIC.format(damping=damping)))


@pytest.mark.parametrize('damping', [0.0, 4.0])
def test_an_elastic_joint_has_the_closed_form(damping):
    """Spong 1987: the torque from the motion of the link and its derivatives."""
    dyn = pendulum(damping)
    path = fd.TipPath.between(dyn, 'arm', [-1.5, 0.0], [0.4, 0.0], 0.8, ['rz'], 5)
    found = fd.stable_inversion(dyn, path, 1e-3)
    inertia, rotor, stiffness = 0.2 + 3 * 0.4**2, 0.1, 800.0
    start = found.q[0].sum()
    s = start + path(found.t)[:, 0]
    rate, second, third, fourth = (path(found.t, order)[:, 0] for order in range(1, 5))
    load = inertia * second + 3 * 9.81 * 0.4 * np.cos(s)
    if damping:
        # e' = -(f + k e) / d, by an integrator of its own.
        through = make_interp_spline(found.t, load, k=3)
        run = solve_ivp(lambda t, e: -(through(t) + stiffness * e) / damping,
                        (found.t[0], found.t[-1]), [-load[0] / stiffness], 'LSODA', found.t,
                        rtol=1e-10, atol=1e-13)
        e = run.y[0]
        assert found.q[:, 1] == pytest.approx(e, abs=1e-7)
        return
    gravity = 3 * 9.81 * 0.4
    curvature = inertia * fourth - gravity * (
        np.cos(s) * rate**2 + np.sin(s) * second)
    e, e2 = -load / stiffness, -curvature / stiffness
    assert found.q[:, 1] == pytest.approx(e, abs=2e-9)
    tau = rotor * (second - e2) + load
    assert found.tau[:, 0] == pytest.approx(tau, abs=1e-4 * np.abs(tau).max())


def test_rates_of_a_nonlinear_spring_are_those_of_its_deflection():
    """A table that is cubic where the load holds the joint."""
    text = ELASTIC.replace('stiffness="800"', '').replace(
        'damping="{damping}"/>', '><spring points="-0.1 -400, 0 0, 0.1 200"/></joint_dynamics>')
    dyn = fd.Dynamics(fd.load_robot(text))
    path = fd.TipPath.between(dyn, 'arm', [-1.0, 0.0], [0.4, 0.0], 3.0, ['rz'], 5)
    found = fd.stable_inversion(dyn, path, 2e-3)
    motion = make_interp_spline(found.t, found.q, k=5)
    assert found.qd == pytest.approx(motion(found.t, 1), abs=1e-6)
    assert found.qdd == pytest.approx(motion(found.t, 2), abs=2e-4)
    assert found.residual < 1e-9


@pytest.mark.parametrize('damping', [0.5, 20.0])
def test_a_damped_nonlinear_spring_has_the_deflection_of_scipy(damping):
    """Time constants from a tenth of the samples' distance to many of it, slopes 4000 and 2000."""
    text = ELASTIC.format(damping=damping)
    text = re.sub(r'stiffness="[^"]*"', '', text).replace(
        f'damping="{damping}"/>', f'damping="{damping}">'
        '<spring points="-0.1 -400, 0 0, 0.1 200"/></joint_dynamics>')
    joints = ElasticJoints(fd.load_robot(text))
    law = TableLaw.through([(-0.1, -400.0), (0.0, 0.0), (0.1, 200.0)])
    t = np.linspace(0.0, 1.0, 401)

    def force(time):
        return 150.0 * np.sin(np.pi * time)**4 * np.sin(9.0 * time)

    rows = np.array([[force(x), (force(x + 1e-6) - force(x - 1e-6)) / 2e-6] for x in t])
    e, rate, _ = joints.follow(t, t, lambda at: (rows[:, :1], rows[:, 1:]))
    run = solve_ivp(lambda time, x: [-(force(time) + law.force(float(x[0]))) / damping],
                    (0.0, 1.0), [0.0], 'Radau', t, rtol=1e-9, atol=1e-12)
    assert np.abs(e).max() > 0.03 and e.min() < -0.01
    assert e[:, 0] == pytest.approx(run.y[0], abs=2e-6)
    assert rate[:, 0] == pytest.approx(np.gradient(run.y[0], t), abs=0.02)


def test_torques_alone_move_the_tip_along_the_path():
    """Through forward dynamics and an adaptive integrator, without feedback."""
    dyn = beam()
    path = fd.TipPath.between(dyn, 'tool', [-0.3, 0.0, 0.0], [0.7, 0.0, 0.0], 1.5, ['y'])
    found = fd.stable_inversion(dyn, path, 5e-4)
    tau = make_interp_spline(found.t, found.tau[:, 0], k=3)

    def rate(t, x):
        forces = [float(tau(t)), 0.0, 0.0]
        return np.append(x[3:], dyn.forward_dynamics(x[:3], x[3:], forces))

    run = solve_ivp(rate, (found.t[0], found.t[-1]), np.append(found.q[0], np.zeros(3)), 'DOP853',
                    found.t[::20], rtol=1e-9, atol=1e-11)
    tip = np.array([dyn.frame_pose(q, 'tool')[1, 3] for q in run.y[:3].T])
    assert tip == pytest.approx(path(run.t)[:, 0], abs=2e-6)
    assert np.abs(run.y[3:, -1]).max() < 1e-4
    assert found.residual < 1e-6
    assert found.tip_error < 1e-9
    assert found.q[[0, -1], 1:] == pytest.approx(np.zeros((2, 2)), abs=1e-7)


def test_a_joint_as_output_has_vibrating_zeros_and_is_refused():
    """The zeros of a collocated output are the frequencies with the joint held."""
    dyn = beam('0')
    path = fd.TipPath.between(dyn, 'tool', [0.0] * 3, [1.0, 0.0, 0.0], 0.3, ['hub'], 2)
    with pytest.raises(NotInvertible, match='imaginary axis'):
        fd.stable_inversion(dyn, path)


def test_a_slow_path_does_not_excite_a_vibrating_zero():
    dyn = beam('0')
    path = fd.TipPath.between(dyn, 'tool', [0.0] * 3, [0.5, 0.0, 0.0], 12.0, ['hub'], 6)
    found = fd.stable_inversion(dyn, path)
    assert found.q[:, 0] == pytest.approx(path(found.t)[:, 0], abs=1e-9)
    assert found.residual < 1e-5


@pytest.mark.parametrize(('smoothness', 'damping', 'accepted'), [
    (3, 0.0, False), (4, 0.0, True), (2, 4.0, False), (3, 4.0, True),
])
def test_elastic_joints_need_smooth_paths(smoothness, damping, accepted):
    dyn = pendulum(damping)
    path = fd.TipPath.between(dyn, 'arm', [0.0, 0.0], [0.4, 0.0], 0.8, ['rz'], smoothness)
    if accepted:
        assert fd.stable_inversion(dyn, path).residual < 1e-5
    else:
        with pytest.raises(fd.FlexdynError, match='derivative'):
            fd.stable_inversion(dyn, path)


def test_a_path_through_samples_is_smooth_and_at_rest():
    values = np.array([0.0, 0.1, 0.35, 0.5])
    path = fd.TipPath.through([0.0, 0.4, 0.9, 1.3], {'y': values}, 'tool', [0.0] * 3)
    assert path.smoothness >= 4
    assert path(np.array([0.0, 0.4, 0.9, 1.3]))[:, 0] == pytest.approx(values)
    for order in range(1, 5):
        assert np.abs(path(np.array([0.0, 1.3]), order)).max() < 1e-6


def test_a_rough_path_is_refused_by_time():
    dyn = beam()
    ramp = PPoly(np.array([[[0.5]], [[0.0]]]), [0.0, 1.0])
    path = fd.TipPath('tool', ['y'], ramp, [0.0] * 3)
    assert path.smoothness == 0
    with pytest.raises(fd.FlexdynError, match='jump of derivative 1 at 0 s'):
        fd.stable_inversion(dyn, path)


@pytest.mark.parametrize(('outputs', 'match'), [
    (['x', 'y'], 'expected 1'), (['x'], 'singular'), (['w'], 'No output is called'),
    (['y', 'y'], 'twice'),
])
def test_outputs_that_the_arm_cannot_follow_are_refused(outputs, match):
    dyn = beam()
    with pytest.raises(fd.FlexdynError, match=match):
        path = fd.TipPath.between(dyn, 'tool', [0.0] * 3, [0.4, 0.0, 0.0], 1.0, outputs)
        fd.stable_inversion(dyn, path)


def test_arguments_of_a_wrong_type_are_named():
    dyn, rest = beam(), [0.0] * 3
    path = fd.TipPath.between(dyn, 'tool', rest, [0.1, 0.0, 0.0], 1.0, ['y'])
    for name, call in (
        ('path', lambda: fd.stable_inversion(dyn, 'path')),
        ('dt', lambda: fd.stable_inversion(dyn, path, '1 ms')),
        ('tolerance', lambda: fd.stable_inversion(dyn, path, tolerance=None)),
        ('duration', lambda: fd.TipPath.between(dyn, 'tool', rest, rest, 'long', ['y'])),
        ('smoothness', lambda: fd.TipPath.between(
            dyn, 'tool', rest, rest, 1.0, ['y'], smoothness=2.5)),
    ):
        with pytest.raises(fd.FlexdynError, match=f'"{name}"'):
            call()


def test_a_path_out_of_reach_is_refused_by_time():
    dyn = beam()
    path = fd.TipPath.through([0.0, 1.0], {'y': [0.0, 5.0]}, 'tool', [0.0] * 3)
    with pytest.raises(fd.FlexdynError, match=r'at 0\.\d+ s'):
        fd.stable_inversion(dyn, path)


def test_errors_share_the_base():
    assert issubclass(InversionFailed, fd.FlexdynError)
