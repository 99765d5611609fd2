# SPDX-License-Identifier: Apache-2.0
"""Runs that lose energy warn and name the step that does not; steps beyond a limit are errors."""

from pathlib import Path
import warnings

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.simulation import EnergyNotKept, StepTooLarge
import numpy as np
import pytest
from simulated_robots import FLEXIBLE_PENDULUM, PENDULUM, TUMBLER

URDF = Path(__file__).resolve().parents[2] / 'urdf'


def joint(dynamics):
    """Return a wheel of 1e-4 kg m^2 on a joint."""
    return (
        '<robot name="wheel"><link name="base"/><link name="wheel"><inertial><mass value="1"/>'
        '<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="axle" type="continuous"><parent link="base"/><child link="wheel"/>'
        f'<axis xyz="0 0 1"/>{dynamics}</joint></robot>'
    )


def undamped(name):
    """Return the dynamics of an example robot, and a start with some energy in everything."""
    dyn = fd.Dynamics(fd.load_robot(URDF / f'{name}.urdf.xacro'))
    q = np.array(dyn.robot.neutral_configuration())
    q[:2] += 0.3
    return dyn, q


def test_a_violent_run_warns_and_the_proposed_step_mends_it():
    """Stiff modes with a large amplitude: the warning names one of them and a step."""
    dyn = fd.Dynamics(fd.load_robot(FLEXIBLE_PENDULUM))
    run = ([0.0, 0.0, 0.1, 0.1, 0.0], np.zeros(5), None, 0.2)
    with pytest.warns(EnergyNotKept, match='"arm/bending_z2", near t = .* dt=') as caught:
        motion = fd.simulate(dyn, *run, 1e-3)
    assert np.abs(motion.residual).max() > 1e-4 * motion.kinetic.max()
    step = proposed(caught)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        mended = fd.simulate(dyn, *run, step)
        fd.simulate(dyn, *run, 1e-3, energy_tolerance=None)
        chosen = fd.simulate(dyn, *run, None)
    assert np.abs(mended.residual).max() < 1e-4 * mended.kinetic.max()
    assert np.abs(chosen.residual).max() < 1e-4 * chosen.kinetic.max()


def proposed(caught):
    """Return the step that a warning proposes."""
    return float(str(caught[0].message).split('dt=')[1].split()[0].rstrip('.'))


@pytest.mark.parametrize(('name', 'dt'), [
    ('puma560', 1e-3), ('stanford_arm', 1e-3), ('two_link_arm', 1e-3), ('spinning_beam', 1e-3),
    ('segmented_arm', None), ('telescopic_boom', None),
])
def test_benign_runs_of_arms_do_not_warn(name, dt):
    """At rest, away from it and under a constant torque, half a second each."""
    dyn, q = undamped(name)
    rest = np.zeros(dyn.robot.nv)
    push = np.where(np.arange(dyn.robot.nv) < dyn.robot.n_joints, 0.5, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        for start, torque in ((dyn.robot.neutral_configuration(), None), (q, None), (q, push)):
            motion = fd.simulate(dyn, start, rest, torque, 0.5, dt)
            assert np.abs(motion.residual).max() <= 1e-4 * motion.kinetic.max()


@pytest.mark.parametrize('text', [PENDULUM, TUMBLER, joint('<dynamics damping="1e-3"/>')])
def test_benign_runs_do_not_warn(text):
    """Also at rest, where there is no kinetic energy to compare with."""
    dyn = fd.Dynamics(fd.load_robot(text))
    rest, q = np.zeros(dyn.robot.nv), dyn.robot.neutral_configuration()
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        fd.simulate(dyn, q, rest, None, 0.1, 1e-3)
        fd.simulate(dyn, q, rest + 0.5, None, 0.1, 1e-3)
        fd.simulate(dyn, q, rest, rest + 0.1, 0.1, None)


@pytest.mark.parametrize('name', ['canadarm', 'segmented_arm', 'puma560', 'stanford_arm'])
def test_undamped_arms_keep_their_energy(name):
    """Ten seconds without a warning, a millisecond or half of the stability limit a step."""
    dyn, q = undamped(name)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        qd = np.where(np.arange(dyn.robot.nv) < dyn.robot.n_joints, 0.05, 0.0)
        motion = fd.simulate(dyn, q, qd, None, 10.0, None)
    assert motion.kinetic.max() > 1.0
    assert np.abs(motion.residual).max() < 1e-6 * motion.kinetic.max()


def test_a_loss_that_comes_late_is_seen():
    """
    Most of the kinetic energy is lost after two quiet seconds; the proposed step mends it.

    The motion is chaotic, so that rounding shifts the time at which most of it is lost.
    """
    dyn = fd.Dynamics(fd.load_robot(URDF / 'two_link_arm.urdf.xacro'))
    run = ([0.4, 0.4, 0.0, 0.0], np.zeros(4), None)
    with pytest.warns(EnergyNotKept, match='"link./bending_y1", near t = .* dt=') as caught:
        lost = fd.simulate(dyn, *run, 10.0, 1e-3)
    worst = lost.t[1 + np.abs(np.diff(lost.residual)).argmax()]
    assert worst > 2.0 and f'near t = {worst:.4g} s' in str(caught[0].message)
    assert np.abs(lost.residual).max() > 0.5 * lost.kinetic.max()
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        quiet = fd.simulate(dyn, *run, 2.0, 1e-3)
        mended = fd.simulate(dyn, *run, 10.0, proposed(caught))
        chosen = fd.simulate(dyn, *run, 10.0, None)
    for motion in (quiet, mended, chosen):
        assert np.abs(motion.residual).max() < 1e-4 * motion.kinetic.max()


@pytest.mark.parametrize('method', ['rk4', 'implicit', 'DOP853'])
@pytest.mark.parametrize('backend', ['c', 'python'])
def test_what_moves_a_base_works(backend, method):
    """An arm that bends, rubs and is pushed on a base that turns and rises: balanced."""
    text = FLEXIBLE_PENDULUM.replace(
        '<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><dynamics friction="0.2" damping="0.1"/>'
    ).replace('</flexdyn>', '<base motion="prescribed"/><payload link="base" mass="1" ixx="1" '
              'iyy="1" izz="1"/></flexdyn>')
    dyn = fd.Dynamics(fd.load_robot(text), backend)
    q, qd = np.array(dyn.robot.neutral_configuration()), np.zeros(dyn.robot.nv)
    qd[:7] = [0.3, 0.0, -0.2, 0.1, 0.2, 0.3, 1.0]
    step, t_end = (5e-5, 0.02) if backend == 'python' else (5e-5, 0.2)
    motion = fd.simulate(
        dyn, q, qd, None, t_end, step, method, base_acceleration=[1.0, -0.5, 2.0, 0.3, 0.1, -0.2],
        wrenches={'tip': [0.5, 0.0, -1.0, 0.0, 0.1, 0.0]}, energy_tolerance=None, rtol=(
            1e-8 if method == 'DOP853' else None))
    assert np.ptp(motion.work) > 1e-2 and np.ptp(motion.dissipated) > 1e-4
    assert np.abs(motion.residual).max() < 2e-6 * motion.kinetic.max()


@pytest.mark.parametrize('drift', ['projection', 'force', 'baumgarte', 'none'])
def test_what_moves_a_loop_works(drift):
    """The pin of a four-bar is driven: its force along its motion, and the energy balanced."""
    dyn = fd.Dynamics(fd.load_robot(URDF / 'four_bar.urdf.xacro'), loop_tolerance=0.1)
    q, qd = dyn.project(np.zeros(3), [6.0, 0.0, 0.0], hold=['crank'])
    driven = {'pin': np.array([2.0, -1.0])}
    motion = fd.simulate(
        dyn, q, qd, None, 0.2, 1e-3, 'rk4', drift=drift, loop_accelerations=driven)
    assert np.abs(motion.residual).max() < 1e-7 * motion.kinetic.max()
    powers = np.array([
        t * driven['pin'] @ dyn.constraint_forces(*state, np.zeros(3), loop_accelerations=driven)
        for t, *state in zip(motion.t, motion.q, motion.qd)])
    work = 1e-3 * (powers.sum() - 0.5 * powers[-1])
    assert abs(work) > 0.01
    assert motion.work[-1] == pytest.approx(work, rel=1e-4)


def test_the_mode_that_a_jump_excites_is_named():
    """A torque from rest: at the first sample nothing moves yet."""
    dyn, q = undamped('canadarm')
    with pytest.warns(EnergyNotKept, match='"hand/bending_y1", near t = 0.001'):
        fd.simulate(dyn, q, np.zeros(9), [0.5, 0.5, 0.5, *np.zeros(6)], 0.5, 1e-3)


@pytest.mark.parametrize(('dynamics', 'cause', 'limit'), [
    ('<dynamics friction="1"/>', 'friction of joint "axle"', 2.785e-4 * 1e-2),
    ('<dynamics damping="1"/>', 'damping of joint "axle"', 2.785e-4),
])
def test_a_step_beyond_the_limit_names_what_bounds_it(dynamics, cause, limit):
    """And runs when it is forced."""
    dyn = fd.Dynamics(fd.load_robot(joint(dynamics)))
    with pytest.raises(StepTooLarge) as caught:
        fd.simulate(dyn, [0.0], [1.0], None, 0.01, 1e-3, 'rk4')
    assert isinstance(caught.value, ArgumentError)
    assert caught.value.limit.step == pytest.approx(limit, rel=1e-2)
    assert cause in str(caught.value) and 'frequency' not in str(caught.value)
    with pytest.warns(EnergyNotKept):
        fd.simulate(dyn, [0.0], [1.0], None, 0.002, 2.0 * limit, 'rk4', force=True)


def test_a_spring_and_a_mode_are_named():
    """By the coordinate with the largest strain in the fastest vibration."""
    beam = fd.Dynamics(fd.load_robot(FLEXIBLE_PENDULUM))
    with pytest.raises(StepTooLarge, match='mode "arm/torsion1" at .* Hz'):
        fd.simulate(beam, np.zeros(5), np.zeros(5), None, 0.1, 0.01)
    spring = joint('').replace('</robot>', (
        '<flexdyn version="1.0"><joint_dynamics joint="axle" stiffness="1e3" '
        'rotor_inertia="1e-4"/></flexdyn></robot>'
    ))
    dyn = fd.Dynamics(fd.load_robot(spring))
    with pytest.raises(StepTooLarge, match='spring of joint "axle" at .* Hz'):
        fd.simulate(dyn, np.zeros(2), np.zeros(2), None, 0.1, 0.01, 'rk4')
