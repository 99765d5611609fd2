#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Torque for a motion of the flexible Canadarm: with stiff links, and with links that bend.

The joints follow the manoeuvre of Mohan and Saha. The modes answer it freely; they are integrated
along the motion, so that each torque belongs to the bent arm. The links lag at first (the slowest
mode takes 6 s), so the torque builds up late. Run: python3 torque_of_a_motion.py
"""

from pathlib import Path

import flexdyn_ros as fd
import numpy as np

URDF = Path(__file__).resolve().parents[1] / 'urdf' / 'canadarm.urdf.xacro'
RATE = np.array([0.075, 0.05, 0.1])  # [rad/s], Mohan and Saha
PERIOD = np.array([10.0, 5.0, 5.0])  # [s], Mohan and Saha
STEP = 0.002  # [s], a ninth of the period of the fastest mode (55 Hz)


def motion(t):
    """Return angle, rate and acceleration of the joints, theta = k (t - T/pi sin(pi t/T))."""
    phase = np.pi * t / PERIOD
    return (
        RATE * (t - PERIOD / np.pi * np.sin(phase)),
        RATE * (1 - np.cos(phase)),
        RATE * np.pi / PERIOD * np.sin(phase),
    )


def main():
    robot = fd.load_robot(URDF)
    dyn = fd.Dynamics(robot)
    n = robot.n_joints
    still = np.zeros(robot.n_modes)
    modes, rates = still.copy(), still.copy()
    print(robot)
    print(' time [s]   torque with stiff links [N m]        torque with flexible links [N m]')
    for step in range(1251):
        q, qd, qdd = motion(step * STEP)
        flexible, accelerations = dyn.hybrid_dynamics(
            np.concatenate([q, modes]), np.concatenate([qd, rates]), qdd
        )
        if step % 250 == 0:
            stiff = dyn.inverse_dynamics(*(np.concatenate([part, still]) for part in (q, qd, qdd)))
            columns = ' '.join(f'{value:11.3f}' for value in [*stiff[:n], *flexible])
            print(f'{step * STEP:8.2f} {columns}')
        rates = rates + STEP * accelerations  # semi-implicit Euler: rates first, then modes
        modes = modes + STEP * rates


if __name__ == '__main__':
    main()
