#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A moving picture of a two-link arm that follows a motion under gravity, and bends.

Blue to red: the deflection. Grey: path of the tip. Run: python3 animate_a_swing.py [PICTURE.gif]
"""

from pathlib import Path
import sys

import flexdyn_ros as fd
from flexdyn_ros.simulation import TrackingTorque
from flexdyn_ros.visualization.centre_lines import centre_lines
from flexdyn_ros.visualization.colours import Legend
import numpy as np

URDF = Path(__file__).resolve().parents[1] / 'urdf' / 'two_link_arm.urdf.xacro'
TIMES, FRAMES = (0.0, 1.0, 2.0, 3.0), 60  # [s], number
POINTS = ((-0.7, 0.4), (0.5, -0.5), (-0.3, 0.8), (-0.7, 0.4))  # [rad]
FACTOR, RED = 3.0, 0.06  # of the deflection as drawn; deflection drawn red [m]


def main():
    robot = fd.load_robot(URDF, xacro_arguments={'ei_factor': 1.0})
    dyn = fd.Dynamics(robot)
    law = TrackingTorque(robot, TIMES, POINTS, kp=(60.0, 25.0), kd=(12.0, 5.0))
    swing = fd.simulate(dyn, [*POINTS[0], 0, 0], np.zeros(robot.nv), law, TIMES[-1], 2.5e-4)
    shapes = centre_lines(robot, 16)

    def links(q):
        drawn = np.concatenate((q[:2], FACTOR * q[2:]))
        return [s.deformed(dyn.frame_pose(drawn, s.link), drawn[2:], q[2:]) for s in shapes]
    rows = np.linspace(0, len(swing.t) - 1, FRAMES).astype(int)
    frames = [links(swing.q[row]) for row in rows]
    largest = 1e3 * max(link.deflection.max() for frame in frames for link in frame)
    print(f'{robot}\nlargest deflection of a link: {largest:.1f} mm')
    if len(sys.argv) > 1:
        from matplotlib.animation import FuncAnimation
        from matplotlib.collections import LineCollection
        import matplotlib.pyplot as plt

        tips = np.array([frame[-1].line[-1] for frame in frames])
        figure, axes = plt.subplots(figsize=(3.8, 4.0), constrained_layout=True)

        def draw(k):
            axes.cla()
            axes.set(xlim=(-0.3, 2.3), ylim=(-1.9, 0.9), aspect='equal', xlabel='x [m]',
                     ylabel='y [m]', title=f'{swing.t[rows[k]]:.2f} s, bending drawn {FACTOR:g}x')
            axes.plot(tips[:k + 1, 0], tips[:k + 1, 1], color='0.7', lw=1)
            for link in frames[k]:
                parts = np.stack([link.line[:-1], link.line[1:]], axis=1)[:, :, :2]
                colours = Legend('deflection', 0.0, RED).colours(link.deflection[1:])
                axes.add_collection(LineCollection(parts, colors=colours, linewidths=4))

        FuncAnimation(figure, draw, FRAMES).save(sys.argv[1], writer='pillow', fps=12, dpi=80)


if __name__ == '__main__':
    main()
