#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Positions of motors with which the tip of an arm on elastic joints follows the rigid arm's path.

Ideal motors follow it as given, then corrected. Run: python3 corrected_positions.py [PICTURE.png]
"""

from pathlib import Path
import sys

import flexdyn_ros as fd
import numpy as np
from scipy.interpolate import CubicSpline

URDF = Path(__file__).resolve().parents[1] / 'urdf' / 'two_link_arm.urdf.xacro'
SPRINGS = """<flexdyn version="1.0"><joint_dynamics joint="joint1" stiffness="3000" damping="3"
rotor_inertia="0.05"/><joint_dynamics joint="joint2" stiffness="1500" damping="1"
rotor_inertia="0.02"/></flexdyn>"""
STEP = 5e-4  # [s]


def tip_errors(dyn, t, motors, rigid):
    """Return the distances of the tip from the rigid arm's, with motors on a spline [m]."""
    rates, found = np.zeros(2), []
    _, springs, _ = dyn.quasi_static_torque(motors(t[0]), rates, rates)
    for time in t:
        q, bent = motors(time), dyn.frame_pose([*motors(time), *springs], 'tip')
        found.append(np.linalg.norm((bent - dyn.frame_pose([*rigid(time), 0, 0], 'tip'))[:3, 3]))
        _, accelerations = dyn.hybrid_dynamics(
            [*q, *springs], [*motors(time, 1), *rates], motors(time, 2))
        rates = rates + STEP * accelerations  # semi-implicit Euler: rates first
        springs = springs + STEP * rates
    return np.array(found)


def main():
    robot = fd.load_robot(URDF, extension=SPRINGS, xacro_arguments={'modes': '0'})
    dyn = fd.Dynamics(robot)
    points = fd.TrajectoryPoints(np.array([0.0, 1.0]), np.array([[-1.2, 0.6], [-0.5, -0.5]]))
    motion = fd.corrected_positions(dyn, robot.joint_names, points)
    rigid, corrected = (CubicSpline(motion.t, q) for q in (motion.reference, motion.positions))
    t = np.arange(0.0, motion.t[-1], STEP)
    print(robot, motion.report, sep='\n')
    errors = {name: tip_errors(dyn, t, motors, rigid)
              for name, motors in (('as given', rigid), ('corrected', corrected))}
    for name, error in errors.items():
        print(f'{name}: tip off by up to {1e3 * error.max():.3f} mm')
    if len(sys.argv) > 1:
        import matplotlib.pyplot as plt

        for name, error in errors.items():
            plt.plot(t, 1e3 * error, label=f'positions {name}')
        plt.gca().set(xlabel='time [s]', ylabel='distance of the tip from its path [mm]')
        plt.legend()
        plt.savefig(sys.argv[1])


if __name__ == '__main__':
    main()
