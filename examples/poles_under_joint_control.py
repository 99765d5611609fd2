#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Poles of the flexible Canadarm under a joint PD, from its linear state space.

With soft gains the joints give way to the bending links and damp them. With stiff ones the arm
bends as if its brakes were on, without damping.
Run: python3 poles_under_joint_control.py [PICTURE.png]
"""

from pathlib import Path
import sys

import flexdyn_ros as fd
import numpy as np

URDF = Path(__file__).resolve().parents[1] / 'urdf' / 'canadarm.urdf.xacro'
GAINS = (1e4, 1e6, 1e10)  # [N m/rad]


def main():
    robot = fd.load_robot(URDF)
    dyn = fd.Dynamics(robot)
    q = np.zeros(robot.nq)
    system = fd.LinearSystem.about(dyn, q)
    inertia = np.diag(dyn.mass_matrix(q))[: robot.n_joints]
    print(f'{robot}\nlowest bending frequencies [Hz] and their damping ratios:')
    found = {}
    for stiffness in GAINS:
        # Critically damped for the stiff arm.
        poles = system.under_control(stiffness, 2.0 * np.sqrt(stiffness * inertia)).poles()
        found[stiffness] = poles = sorted(poles[poles.imag > 1e-3], key=abs)[:4]
        shown = '  '.join(
            f'{abs(pole) / (2 * np.pi):.4g} ({-pole.real / abs(pole):.4f})' for pole in poles
        )
        print(f'kp = {stiffness:.0e}: {shown}')
    if len(sys.argv) > 1:
        import matplotlib.pyplot as plt

        for stiffness, poles in found.items():
            plt.plot(np.real(poles), np.imag(poles), 'x', ms=9, label=f'kp = {stiffness:.0e}')
        plt.gca().set(xlabel='real part [1/s]', ylabel='imaginary part [1/s]', title='Poles')
        plt.legend()
        plt.savefig(sys.argv[1])


if __name__ == '__main__':
    main()
