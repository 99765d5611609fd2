#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A vendor's untouched URDF, made flexible by a file beside it.

Run: python3 vendor_urdf_with_extension.py [UR5_URDF] [PICTURE.png]; without a URDF the UR5 of the
PyPI package example-robot-data is used (pip install example-robot-data).
"""

from pathlib import Path
import sys
import sysconfig

import flexdyn_ros as fd
import numpy as np

EXTENSION = Path(__file__).resolve().parents[1] / 'urdf' / 'ur5_extension.flexdyn.xml'
UR5 = 'cmeel.prefix/share/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf'
POSE = (0.0, -0.3, 0.5, -0.2, 0.0, 0.0)  # [rad], arm stretched forward, so that it sags


def find_description():
    """Return the URDF named on the command line, or example-robot-data's UR5."""
    given = [word for word in sys.argv[1:] if not word.endswith('.png')]
    path = Path(given[0]) if given else Path(sysconfig.get_path('purelib')) / UR5
    if not path.exists():
        sys.exit(f'{path} is missing: give a UR5 URDF, or run "pip install example-robot-data"')
    return path


def main():
    robot = fd.load_robot(find_description(), extension=EXTENSION)
    dyn = fd.Dynamics(robot)
    n = robot.n_joints
    print(robot)

    # At rest the modes balance gravity: stiffness * deflection = - gravity's modal force.
    rigid = np.concatenate([POSE, np.zeros(robot.n_modes)])
    stiffness = np.array([dyn.elastic_vector(row, 0 * row)[n:] for row in np.eye(robot.nv)[n:]])
    bent = rigid.copy()
    for _ in range(10):
        bent[n:] = np.linalg.solve(stiffness, -dyn.gravity_vector(bent)[n:])
    for name, value in zip(robot.mode_names, bent[n:], strict=True):
        print(f'{name:32s} {value: .3e} (m at the tip, or rad)')
    sag = dyn.frame_pose(rigid, 'tool0')[2, 3] - dyn.frame_pose(bent, 'tool0')[2, 3]
    print(f'the tool sags by {1e3 * sag:.2f} mm')
    if sys.argv[-1].endswith('.png'):
        import matplotlib.pyplot as plt

        for label, q in (('rigid', rigid), ('bent, 20 times', rigid + 20 * (bent - rigid))):
            points = np.array([dyn.frame_pose(q, name)[:3, 3] for name in robot.frame_names[1:-1]])
            plt.plot(points[:, 0], points[:, 2], 'o-', label=label)
        plt.gca().set(aspect='equal', xlabel='x [m]', ylabel='z [m]', title='UR5 under gravity')
        plt.legend()
        plt.savefig(sys.argv[-1])


if __name__ == '__main__':
    main()
