#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Let a flexible double pendulum swing and look at it: energy, deflection, a table and plots.

El-Rayyes's case 3 with one bending mode a link. Run: python3 simulate_a_swing.py [FOLDER]
With a FOLDER, it writes swing.csv there and, where Matplotlib is installed, pictures.
"""

from pathlib import Path
import sys

import flexdyn_ros as fd
import numpy as np

URDF = Path(__file__).resolve().parents[1] / 'urdf' / 'two_link_arm.urdf.xacro'


def main():
    robot = fd.load_robot(URDF)
    dyn = fd.Dynamics(robot)
    start = np.zeros(robot.nq)
    start[:2] = -1.75, -0.50  # [rad], El-Rayyes 1990
    swing = fd.simulate(dyn, start, np.zeros(robot.nv), None, 0.5, 0.001)

    drift = np.max(np.abs(swing.energy - swing.energy[0]))
    print(robot)
    print(f'joints after {swing.t[-1]:.3f} s: {swing.q[-1, 0]:.4f} {swing.q[-1, 1]:.4f} rad')
    for k, name in enumerate(robot.mode_names, start=robot.n_joints):
        print(f'largest {name}: {1e3 * np.max(np.abs(swing.q[:, k])):.2f} mm at the tip')
    print(f'energy drift: {drift:.1e} J of {swing.energy[0]:.4f} J')

    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        print('written:', swing.to_csv(folder / 'swing.csv'))
        try:
            from flexdyn_ros.simulation.plot import save_plots

            for picture in save_plots(swing, folder):
                print('written:', picture)
        except ImportError:
            print('no pictures: Matplotlib is not installed')


if __name__ == '__main__':
    main()
