#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Natural frequencies of the stretched Canadarm, from its mass matrix and stiffness.

Brakes on (joints locked) and brakes off (joints free) differ by a factor of twenty. The command
`flexdyn modes` prints more. Run: python3 modes_of_an_arm.py
"""

from pathlib import Path

import flexdyn_ros as fd
import numpy as np

URDF = Path(__file__).resolve().parents[1] / 'urdf' / 'canadarm.urdf.xacro'


def frequencies(mass, stiffness):
    """Return the natural frequencies [Hz] of M x'' + K x = 0, rising."""
    lower = np.linalg.cholesky(mass)
    half = np.linalg.solve(lower, stiffness)
    squares = np.linalg.eigvalsh(np.linalg.solve(lower, half.T))
    return np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi)


def main():
    robot = fd.load_robot(URDF)
    dyn = fd.Dynamics(robot)
    n = robot.n_joints
    q = np.zeros(robot.nq)
    mass = dyn.mass_matrix(q)
    stiffness = np.array([dyn.elastic_vector(row, 0 * row) for row in np.eye(robot.nv)])
    print(robot)
    for label, kept in (('locked', slice(n, None)), ('free', slice(None))):
        values = frequencies(mass[kept, kept], stiffness[kept, kept])
        shown = ' '.join(f'{value:.4g}' for value in values if value > 1e-3)
        print(f'joints {label}: {shown} Hz')


if __name__ == '__main__':
    main()
