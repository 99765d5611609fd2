# SPDX-License-Identifier: Apache-2.0
"""The high stiffness, low mass mechanism of van der Merwe under its controller."""

from functools import lru_cache

import flexdyn_ros as fd
import numpy as np
from oracles.compare import load_data
from oracles.compare import reference_dynamics
from oracles.gimbal_chain import body
from oracles.gimbal_chain import Chain
from oracles.gimbal_chain import joint
from oracles.gimbal_chain import origin
from oracles.gimbal_chain import robot_text
from oracles.mechanisms import mechanism
import pytest

CONTROL = load_data('van_der_merwe')['hslm_control']


@lru_cache(maxsize=None)
def one_leg():
    """Return one leg with a third of the platform on a guide: the mechanism's symmetry."""
    data = load_data('van_der_merwe')['hslm']
    run = 1 / np.sqrt(3) - 0.15
    reach, tilt = np.hypot(1, run), -np.arctan2(1, run)
    links = [
        {**data['links'][0], 'gamma': [0, 0, tilt, reach, 0, 0], 'axes': [2, 3]},
        {**data['links'][1], 'gamma': [0, 0, -tilt, 0.1, 0, 0], 'axes': [2]},
    ]
    parts = body('third', data['member']['mass'] / 3, (0, 0, 0), (0.1, 0.1, 0.1))
    parts += joint('carried', 'fixed', 'tip', 'third', origin((0, 0, 0)))
    parts += '<link name="guide"/>'
    parts += joint('guide', 'fixed', 'base', 'guide', origin((run + 0.1, 0, 0)))
    loop = '<loop name="guide" frame1="tip" frame2="guide" constrain="rz tx"/>'
    text = robot_text([Chain(links, base=(0, 1, 0))], data['gravity'], loop, parts)
    dyn = fd.Dynamics(fd.load_robot(text), backend='python')
    return dyn, np.array([tilt, reach, -tilt])


def controlled(target, joints, t_end, start=(0.0, 0.0, 0.0), h=5e-3):
    """Return heights of the platform and forces under the work's PID control, by RK4."""
    dyn, q = one_leg()
    gains = [CONTROL['gains'][name] for name in ('proportional', 'integral', 'derivative')]
    chosen = np.zeros(3)
    chosen[joints] = 1.0

    def force(q, qd, integral):
        return chosen * (gains[0] * (target - q) + integral - gains[2] * qd)

    def rate(y):
        q, qd, integral = y[:3], y[3:6], y[6:]
        qdd = dyn.forward_dynamics(q, qd, force(q, qd, integral))
        return np.concatenate((qd, qdd, chosen * gains[1] * (target - q)))

    y = np.concatenate((q, np.zeros(3), start))
    heights, forces = [], []
    for _ in range(int(round(t_end / h)) + 1):
        heights.append(dyn.frame_pose(y[:3], 'tip')[1, 3])
        forces.append(force(y[:3], y[3:6], y[6:]))
        k1 = rate(y)
        k2 = rate(y + h / 2 * k1)
        k3 = rate(y + h / 2 * k2)
        k4 = rate(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        y[:3], y[3:6] = dyn.project(y[:3], y[3:6])
    return np.array(heights), np.array(forces)


@pytest.mark.parametrize('name, joints', [('sim1', [1, 2]), ('sim1_prismatic_only', [1])])
def test_the_controller_holds_the_mechanism(name, joints):
    """It drops, stops, and creeps back as the integral grows."""
    expected = CONTROL['expected'][name]
    heights, _ = controlled(one_leg()[1], joints, 1.0)
    lowest = int(np.argmin(heights))
    assert heights[lowest] == pytest.approx(expected['min_y'], rel=0.02)
    assert lowest * 5e-3 == pytest.approx(expected['at_t'], abs=0.011)
    if 'y_at_1s' in expected:
        assert heights[-1] == pytest.approx(expected['y_at_1s'], rel=0.02)
    assert heights[-1] > 0.3 * heights[lowest]


@pytest.mark.parametrize('name, joints, held', [
    ('sim2', [1, 2], 'sim1'), ('sim3', [1], 'sim1_prismatic_only'),
])
def test_the_controller_lifts_the_mechanism(name, joints, held):
    """A quarter of a metre up, with some overshoot."""
    expected, at_rest = CONTROL['expected'][name], CONTROL['expected'][held]
    points = CONTROL['setpoints']
    target = np.array([points['Rot_z1'], points['Disp_x1'], points['Rot_z2']])
    start = np.array([0.0, at_rest['final_prismatic_force'],
                      at_rest.get('final_rot_z2_moment', 0.0)])
    heights, forces = controlled(target, joints, 1.0, start)
    assert forces[0, 1] == pytest.approx(expected['initial_prismatic_force'], rel=1e-4)
    if 2 in joints:
        assert forces[0, 2] == pytest.approx(expected['initial_rot_z2_moment'], rel=1e-4)
    highest = int(np.argmax(heights))
    assert heights[highest] == pytest.approx(expected['max_y'], rel=0.02)
    assert highest * 5e-3 == pytest.approx(expected['at_t'], abs=0.011)
    assert heights[-1] == pytest.approx(expected['y_at_1s'], rel=0.02)


def test_set_points_that_contradict_each_other_make_forces_grow():
    """A thousandth of a radian, and the two integrals pull against each other without end."""
    wanted = CONTROL['expected']['sim2_with_rot_z2_setpoint_off_by_1e-3_rad']
    at_rest, points = CONTROL['expected']['sim1'], CONTROL['setpoints']
    target = np.array([points['Rot_z1'], points['Disp_x1'], points['Rot_z2'] + 1e-3])
    start = np.array([0.0, at_rest['final_prismatic_force'], at_rest['final_rot_z2_moment']])
    heights, forces = controlled(target, [1, 2], 3.5, start, h=1e-2)
    slope = (forces[-1] - forces[-51]) / 0.5
    assert slope[1] == pytest.approx(wanted['prismatic_force_slope_N_per_s'], rel=0.02)
    assert slope[2] == pytest.approx(wanted['rot_z2_moment_slope_Nm_per_s'], rel=0.02)
    assert heights[-1] == pytest.approx(wanted['y_final'], abs=1e-3)


def test_the_whole_mechanism_moves_as_one_leg():
    """The example robot under the same three forces falls as its symmetric third."""
    dyn = reference_dynamics(mechanism('hslm'))
    robot = dyn.robot
    tau = np.zeros(robot.nv)
    tau[[robot.joint_names.index(f'leg{k}/tx') for k in (1, 2, 3)]] = -30.0
    run = fd.simulate(dyn, np.zeros(15), np.zeros(15), tau, 0.1, 2e-2)
    leg, q = one_leg()
    third = fd.simulate(leg, q, np.zeros(3), [0.0, -30.0, 0.0], 0.1, 2e-2)
    height = dyn.frame_pose(run.q[-1], 'tip')[2, 3]
    assert height == pytest.approx(leg.frame_pose(third.q[-1], 'tip')[1, 3], abs=1e-8)
    assert np.abs(dyn.loop_gaps(run.q[-1])).max() < 1e-12
