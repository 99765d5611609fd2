#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A flexible arm on a satellite that floats, and on one that is moved.

The floating one turns against its arm; the other takes a wrench.
Run: python3 satellite_base.py [PICTURE.png]
"""

from pathlib import Path
import sys

import flexdyn_ros as fd
import numpy as np

URDF = Path(__file__).resolve().parents[1] / 'urdf' / 'satellite_arm.urdf.xacro'


def main():
    # Free: the yaw motor swings the arm to and fro, nothing from outside acts.
    robot = fd.load_robot(URDF)
    torque = np.zeros(robot.nv)

    def swing(t, q, qd):
        torque[robot.joint_names.index('yaw')] = 2.0 * np.sin(2.0 * np.pi * t)
        return torque

    start = robot.neutral_configuration()
    free = fd.simulate(fd.Dynamics(robot), start, np.zeros(robot.nv), swing, 1.0, 2e-3)
    quaternion, yaw = free.q[-1, 3:7], free.coordinate('yaw')[-1]
    turned = 2.0 * np.arctan2(quaternion[2], quaternion[3])
    print(robot)
    print(f'yaw {yaw:.4f} rad, satellite {turned:.5f} rad, after {free.t[-1]:g} s')
    # Momentum is the part of M qd that belongs to the base.
    momentum = fd.Dynamics(robot).mass_matrix(free.q[-1])[:6] @ free.qd[-1]
    print(f'largest momentum: {np.max(np.abs(momentum)):.1e} N s, N m s')

    # Prescribed: the satellite is shaken along z; the wrench that this takes is a result.
    robot = fd.load_robot(URDF, xacro_arguments={'base_motion': 'prescribed'})

    def shaken(t, q, qd):
        return [0.0, 0.0, 0.1 * np.sin(2.0 * np.pi * t), 0.0, 0.0, 0.0]

    start, rest = robot.neutral_configuration(), np.zeros(robot.nv)
    moved = fd.simulate(
        fd.Dynamics(robot), start, rest, None, 1.0, 2e-3, base_acceleration=shaken)
    print(f'largest force along z: {np.max(np.abs(moved.tau[:, 2])):.3f} N')
    print(f'of all links without joints: {0.1 * robot.total_mass:.3f} N')
    if len(sys.argv) > 1:
        import matplotlib.pyplot as plt

        turn = 2.0 * np.arctan2(free.q[:, 5], free.q[:, 6])
        plt.plot(free.t, free.coordinate('yaw'), free.t, turn)
        plt.legend(['yaw of the arm', 'satellite'])
        plt.gca().set(xlabel='time [s]', ylabel='angle [rad]', title='A satellite that floats')
        plt.savefig(sys.argv[1])


if __name__ == '__main__':
    main()
