#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Natural frequencies of the stretched Canadarm, from its mass matrix and stiffness.

Brakes on (joints locked) and brakes off (joints free) differ by a factor of twenty. The command
`flexdyn modes` prints more. Run: python3 modes_of_an_arm.py [PICTURE.png]
"""

from pathlib import Path
import sys

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
    found = {}
    for label, kept in (('locked', slice(n, None)), ('free', slice(None))):
        values = frequencies(mass[kept, kept], stiffness[kept, kept])
        found[label] = values[values > 1e-3]
        shown = ' '.join(f'{value:.4g}' for value in found[label])
        print(f'joints {label}: {shown} Hz')
    if len(sys.argv) > 1:
        import matplotlib.pyplot as plt

        for label, values in found.items():
            plt.semilogy(range(1, len(values) + 1), values, 'o-', label=f'joints {label}')
        plt.gca().set(xlabel='vibration', ylabel='frequency [Hz]', title='The stretched Canadarm')
        plt.legend()
        plt.savefig(sys.argv[1])


if __name__ == '__main__':
    main()
