# SPDX-License-Identifier: Apache-2.0
"""
Command: python -m benchmarks.identification URDF --fit LOG ... --test LOG [--gains K ...].

It fits the parameters to some logs, and prints the residuals on another as a Markdown table. The
rows are all samples, and those where the joint itself moves or stands. Beside them are those of
plain least squares. Torques are compared behind the filter of the fit. Logs are not part of this
repository.
"""

from __future__ import annotations

import argparse
import sys

import flexdyn_ros as fd
from flexdyn_ros.identification import Identification, identify, Motion
from flexdyn_ros.identification.recordings import read_motion
from flexdyn_ros.identification.signals import resampled, stretches
import numpy as np

PLAIN = ('viscous', 'coulomb', 'offset')
MOVING = 0.02  # [rad/s]


def main() -> int:
    """Fit, test, print."""
    call = parser().parse_args()
    robot = fd.load_robot(call.urdf)
    gains = dict(zip(robot.joint_names, map(float, call.gains)))

    def read(log: str) -> Motion:
        return read_motion(log, robot.joint_names, gains)

    fitted, tested = [read(log) for log in call.fit], read(call.test)
    plain = identify(robot, fitted, friction=PLAIN, physical=False, delay=0.0, cutoff=call.cutoff)
    found = identify(robot, fitted, cutoff=call.cutoff)
    print(f'Cut-off {found.path.cutoff:g} Hz, delay {1e3 * found.path.delay:.2g} ms. Friction:')
    for joint, terms in zip(found.model.joints, found.model.terms_of):
        print(f'- {joint.name}: {" ".join(terms)}')
    print()
    print('|', ' | '.join(['residual rms [N m]', *robot.joint_names]), '|')
    print('|---' + '|---:' * robot.n_joints + '|')
    for label, each in (('plain least squares', plain), ('identified', found)):
        for where, row in residuals(each, tested).items():
            print(f'| {label}, {where} |', ' | '.join(f'{x:.3g}' for x in row), '|')
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    made = argparse.ArgumentParser(prog='python -m benchmarks.identification')
    made.add_argument('urdf')
    made.add_argument('--fit', nargs='+', required=True)
    made.add_argument('--test', required=True)
    made.add_argument('--gains', nargs='+', default=[])
    made.add_argument('--cutoff', type=float, default=10.0)
    return made


def residuals(found: Identification, motion: Motion) -> dict[str, np.ndarray]:
    """Return root mean squares by joint of the difference, filtered: all, moving, standing."""
    differences, moving = [], []
    error = motion.tau - found.torque(motion)
    for stretch in stretches(motion, found.path):
        even = stretch.t[0] + np.arange(len(stretch.places)) / found.path.rate
        own = found.path.filtered(resampled(even, motion.t, error))[:: stretch.keep]
        differences.append(own)
        moving.append(np.abs(stretch.qd) > MOVING)
    squares, moves = np.concatenate(differences) ** 2, np.concatenate(moving)
    every = np.ones_like(moves)
    return {
        name: np.sqrt((squares * where).sum(axis=0) / np.maximum(where.sum(axis=0), 1))
        for name, where in (('all samples', every), ('moving', moves), ('standing', ~moves))
    }


if __name__ == '__main__':
    sys.exit(main())
