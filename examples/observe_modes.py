#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Deflections of a vibrating arm, estimated from joint torques and encoders on its motors.

Joint PD holds the arm, which starts 2 mm away from its deflection at rest. The observer has links
that are 5 percent too soft. Run: python3 observe_modes.py [PICTURE.png]
"""

from pathlib import Path
import sys

import flexdyn_ros as fd
from flexdyn_ros.simulation import TrackingTorque
import numpy as np

URDF = Path(__file__).resolve().parents[1] / 'urdf' / 'two_link_arm.urdf.xacro'
PERIOD, END, NOISE = 1e-3, 1.0, 2e-5  # [s], [s], [rad]
POSE, STILL = np.array([[0.3, -0.6], [0.0, 0.0]])  # [rad], [rad/s]


def dynamics(stiffness):
    """Return the arm with bending stiffnesses times a factor."""
    arguments = {'ei_factor': str(20.0 * stiffness), 'damping_ratio': '0.01'}
    return fd.Dynamics(fd.load_robot(URDF, xacro_arguments=arguments))


def main():
    true, model = dynamics(1.0), dynamics(0.95)
    robot, n = true.robot, true.robot.n_joints
    torque, sag, _ = true.quasi_static_torque(POSE, STILL, STILL)
    inertia = np.diag(true.mass_matrix([*POSE, *sag]))[:n]
    law = TrackingTorque(
        robot, [0.0, END], [POSE, POSE], [STILL, STILL], [[*torque, 0, 0]] * 2,
        kp=4e4 * inertia, kd=280.0 * inertia)
    start = [*POSE, *(sag + [0.002, 0.0])]
    motion = fd.simulate(true, start, np.zeros(robot.nv), law, END, PERIOD, 'implicit')

    observer, random = fd.ModalObserver(model, PERIOD), np.random.default_rng(1)
    for mode in observer.observability(POSE):
        print(f'{mode.frequency:.2f} Hz: predicted error {100.0 * mode.error:.1f} %')
    applied = 0.5 * (motion.tau + np.roll(motion.tau, 1, axis=0))[:, :n]
    readings = motion.q[:, :n] + NOISE * random.standard_normal((len(motion), n))
    estimated = np.array([observer.update(*each)[0][n:] for each in zip(applied, readings)])
    late = motion.t > 0.5  # [s], when the first estimate has decayed
    for k, name in enumerate(robot.mode_names):
        bent = motion.q[late, n + k]
        error = 100.0 * (estimated[late, k] - bent).std() / bent.std()
        print(f'{name}: {1e3 * np.ptp(bent):.2f} mm, error {error:.1f} %')
    if len(sys.argv) > 1:
        import matplotlib.pyplot as plt

        plt.plot(motion.t, 1e3 * motion.q[:, n], motion.t, 1e3 * estimated[:, 0], '--')
        plt.gca().set(xlabel='time [s]', ylabel='link1/bending_y1 [mm]')
        plt.legend(['true', 'estimated'])
        plt.savefig(sys.argv[1])


if __name__ == '__main__':
    main()
