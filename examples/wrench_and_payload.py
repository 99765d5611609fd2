#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Torques that hold an arm: alone, with a payload, and with the payload's weight as a wrench instead.

The last two agree, since a payload at rest is its weight.
Run: python3 wrench_and_payload.py [PICTURE.png]
"""

from pathlib import Path
import sys

import flexdyn_ros as fd
import numpy as np

URDF = Path(__file__).resolve().parents[1] / 'urdf' / 'cobot7.urdf.xacro'
POSE = (0.0, 0.4, 0.0, -1.8, 0.0, 2.0, 0.8)  # [rad]
MASS = 2.0  # [kg]


def main():
    robot = fd.load_robot(URDF)
    dyn = fd.Dynamics(robot)
    q = np.concatenate([POSE, np.zeros(robot.n_modes)])
    rest = np.zeros(robot.nv)

    alone = dyn.inverse_dynamics(q, rest, rest)
    # The wrench of the environment on the robot at the tool, in the root frame: a force, no
    # moment.
    weight = [*(MASS * robot.gravity), 0.0, 0.0, 0.0]
    with_wrench = dyn.inverse_dynamics(q, rest, rest, wrenches={'tool': weight})
    dyn.set_payload('tool', MASS, (0.0, 0.0, 0.0), np.zeros((3, 3)))
    with_payload = dyn.inverse_dynamics(q, rest, rest)
    dyn.clear_payload()
    again = dyn.inverse_dynamics(q, rest, rest)

    print('joint       alone  payload   wrench  [N m]')
    for k, name in enumerate(robot.joint_names):
        print(f'{name:8s} {alone[k]:8.3f} {with_payload[k]:8.3f} {with_wrench[k]:8.3f}')
    print(f'largest difference: {np.max(np.abs(with_payload - with_wrench)):.1e}')
    print(f'cleared payload leaves no trace: {np.array_equal(alone, again)}')
    if len(sys.argv) > 1:
        import matplotlib.pyplot as plt

        places = np.arange(robot.n_joints)
        for k, (name, tau) in enumerate((('arm alone', alone), ('with 2 kg', with_payload))):
            plt.bar(places + 0.4 * k, tau[:robot.n_joints], 0.4, label=name)
        plt.xticks(places + 0.2, robot.joint_names, rotation=30)
        plt.ylabel('torque that holds the arm [N m]')
        plt.legend()
        plt.savefig(sys.argv[1])


if __name__ == '__main__':
    main()
