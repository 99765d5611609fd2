# SPDX-License-Identifier: Apache-2.0
"""Explicit steps between friction events: RK4's numbers while a joint slides, or sticks."""

from pathlib import Path

from codegen.compiled import needs_compiler
import flexdyn_ros as fd
from flexdyn_ros.simulation import TorqueTable, TrackingTorque
from flexdyn_ros.simulation.implicit_midpoint import ImplicitMidpoint
import numpy as np
import pytest
from simulated_robots import FLEXIBLE_PENDULUM

URDF = Path(__file__).resolve().parents[2] / 'urdf'
LEVEL = 0.4  # [N m]


def rubbing(level=LEVEL, damping=0.1):
    """Return the flexible pendulum with dry friction that rk4 does not resolve."""
    dry = f'coulomb="{level}" smoothing_velocity="1e-6"' if level else ''
    return fd.load_robot(FLEXIBLE_PENDULUM, extension=(
        f'<flexdyn version="1.0"><joint_dynamics joint="shoulder"><friction viscous="{damping}" '
        f'{dry}/></joint_dynamics></flexdyn>'))


def test_a_joint_that_slides_moves_as_under_a_constant_torque():
    """The numbers of rk4 for the arm without dry friction and its level as a torque."""
    q, qd = [0.1, 2e-3, -2e-3, 1e-3, 0.0], [2.0, 0.1, 0.0, 0.2, 0.0]
    motion = fd.simulate(fd.Dynamics(rubbing()), q, qd, None, 0.1, 2e-4)
    assert motion.method == 'implicit'
    assert motion.qd[:, 0].min() > 0.5
    push = -LEVEL * np.eye(5)[0]
    exact = fd.simulate(fd.Dynamics(rubbing(0.0)), q, qd, push, 0.1, 2e-4, 'rk4')
    assert motion.q == pytest.approx(exact.q, abs=1e-12)
    assert motion.energy == pytest.approx(exact.energy, rel=1e-12)
    turned = exact.q[:, 0] - exact.q[0, 0]
    assert motion.dissipated == pytest.approx(exact.dissipated + LEVEL * turned, abs=1e-6)


def test_a_joint_that_sticks_lets_its_arm_vibrate_as_one_that_is_clamped():
    """The numbers of rk4 for the arm on a fixed joint, over a hundred periods."""
    q = np.array([0.0, 2e-3, -2e-3, 1e-3, 1e-3])
    motion = fd.simulate(fd.Dynamics(rubbing(50.0)), q, np.zeros(5), None, 1.0, 2e-4)
    fixed = fd.load_robot(FLEXIBLE_PENDULUM.replace('type="revolute"', 'type="fixed"'))
    exact = fd.simulate(fd.Dynamics(fixed), q[1:], np.zeros(4), None, 1.0, 2e-4, 'rk4')
    assert not motion.q[:, 0].any()
    assert motion.q[:, 1:] == pytest.approx(exact.q, abs=1e-12)
    assert np.ptp(exact.q[:, 1]) > 3e-3


def test_the_order_between_events_is_four():
    """Errors of a damped slide fall by sixteen with half the step."""
    ends = [
        fd.simulate(fd.Dynamics(rubbing()), np.zeros(5), [3.0, 0, 0, 0, 0], [1.0, 0, 0, 0, 0],
                    0.1, dt, energy_tolerance=None).q[-1, 0]
        for dt in (2.5e-5, 4e-4, 2e-4)
    ]
    errors = np.abs(np.array(ends[1:]) - ends[0])
    assert errors[0] / errors[1] > 12.0


@needs_compiler
@pytest.mark.parametrize('name', ['pendulum', 'arm'])
def test_compiled_steps_give_the_numbers_of_python(name, monkeypatch):
    """Slides, stops, breaks away and turns; feedback with integrals, and stops of joints."""
    if name == 'pendulum':
        robot = rubbing()
        torque = TrackingTorque(robot, [0.0, 0.02, 0.06], [[0.0], [0.1], [-0.1]], kp=30.0, kd=1.0,
                                ki=20.0)
        q, qd, dt = np.zeros(5), np.array([0.5, 0.0, 0.0, 0.0, 0.0]), 5e-4
    else:
        robot = fd.load_robot(URDF / 'cobot7.urdf.xacro')
        torque = TorqueTable([0.0, 0.05], np.outer([1.0, -1.0], np.linspace(1.0, 20.0, robot.nv)))
        q, qd, dt = np.zeros(robot.nv), np.linspace(0.1, 0.5, robot.nv), 2e-4
        q[3] = -0.2  # inside its limits
    runs, events = [], []
    whole = ImplicitMidpoint._divided
    for backend in ('reference', 'c'):
        if backend == 'c':
            monkeypatch.setattr(ImplicitMidpoint, 'step', lambda *_: pytest.fail('in Python'))
        else:
            monkeypatch.setattr(
                ImplicitMidpoint, '_divided', lambda *a: events.append(a[1]) or whole(*a))
        runs.append(fd.simulate(fd.Dynamics(robot, backend), q, qd, torque, 0.0602, dt,
                                stops=True, energy_tolerance=None))
    assert 0 < len(events) < 0.5 * len(runs[0].t)
    for each in ('q', 'qd', 'work', 'dissipated', 'tau', 'kinetic'):
        theirs, ours = (getattr(run, each) for run in runs)
        assert np.abs(ours - theirs).max() <= 1e-11 * np.abs(theirs).max(), each
