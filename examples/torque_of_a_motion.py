#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Torque for a motion of the flexible Canadarm: with stiff links, and with links that bend.

The joints follow the manoeuvre of Mohan and Saha, and the modes are integrated along it. The
slowest takes 6 s, so that torque builds up late. Run: torque_of_a_motion.py [PICTURE.png]
"""

from pathlib import Path
import sys

import flexdyn_ros as fd
import numpy as np

URDF = Path(__file__).resolve().parents[1] / 'urdf' / 'canadarm.urdf.xacro'
RATE, PERIOD = np.array([[0.075, 0.05, 0.1], [10.0, 5.0, 5.0]])  # [rad/s], [s], Mohan and Saha
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
    modes = rates = still = np.zeros(robot.n_modes)
    samples = []
    print(robot)
    print(' time [s]   torque with stiff links [N m]        with flexible links [N m]')
    for step in range(1251):
        q, qd, qdd = motion(step * STEP)
        flexible, accelerations = dyn.hybrid_dynamics([*q, *modes], [*qd, *rates], qdd)
        stiff = dyn.inverse_dynamics(*([*part, *still] for part in (q, qd, qdd)))
        samples.append([step * STEP, *stiff[:n], *flexible])
        if step % 250 == 0:
            print(f'{step * STEP:8.2f}', *(f'{value:11.3f}' for value in samples[-1][1:]))
        rates = rates + STEP * accelerations  # semi-implicit Euler: rates first, then modes
        modes = modes + STEP * rates
    if len(sys.argv) > 1:
        import matplotlib.pyplot as plt

        time, *torques = np.transpose(samples)
        for k, name in enumerate(robot.joint_names):
            plt.plot(time, torques[k], f'C{k}--', time, torques[n + k], f'C{k}', label=name)
        plt.gca().set(xlabel='time [s]', ylabel='torque [N m]', title='Dashed: stiff links')
        plt.legend()
        plt.savefig(sys.argv[1])


if __name__ == '__main__':
    main()
