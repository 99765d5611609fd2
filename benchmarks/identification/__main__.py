# SPDX-License-Identifier: Apache-2.0
"""
Command: python -m benchmarks.identification URDF --fit LOG ... --test LOG [--gains K ...].

It chooses the terms of friction by cross validation on the logs to fit, and prints the residuals
on the log to test as a Markdown table: all samples, and those where the joint itself moves or
stands. Torques are compared behind the filter of the fit. Logs are not part of this repository.
"""

from __future__ import annotations

import argparse
import sys

import flexdyn_ros as fd
from flexdyn_ros.cli.recordings import read_motion
from flexdyn_ros.identification import Identification, identify, Motion
from flexdyn_ros.identification.signals import resampled, stretches
import numpy as np

PLAIN = ('viscous', 'coulomb', 'offset')
CANDIDATES = (
    PLAIN,
    (*PLAIN, 'stribeck'),
    (*PLAIN, 'load'),
    (*PLAIN, 'presliding'),
    (*PLAIN, 'presliding', 'load'),
    (*PLAIN, 'presliding', 'load', 'quadratic'),
    (*PLAIN, 'presliding', 'load', 'stribeck'),
    (*PLAIN, 'presliding', 'load', 'quadratic', 'stribeck'),
)
MOVING = 0.02  # [rad/s]


def main() -> int:
    """Choose, fit, test, print."""
    call = parser().parse_args()
    robot = fd.load_robot(call.urdf)
    gains = dict(zip(robot.joint_names, map(float, call.gains)))

    def read(log: str) -> Motion:
        return read_motion(log, robot.joint_names, gains)

    fitted, tested = [read(log) for log in call.fit], read(call.test)
    plain = identify(robot, fitted, friction=PLAIN, physical=False, delay=0.0, cutoff=call.cutoff)
    print('| terms of friction | mean log10 of cross validation |', '|---|---:|', sep='\n')
    scores = []
    for terms in CANDIDATES:
        found = identify(robot, fitted, friction=terms, cutoff=call.cutoff)
        scores.append((cross_validation(found), found))
        print(f'| {" ".join(terms)} | {scores[-1][0]:.4f} |', flush=True)
    best = min(scores, key=lambda pair: pair[0])[1]
    print(f'\nChosen: {" ".join(best.model.terms)}, cut-off {best.path.cutoff:g} Hz, delay '
          f'{1e3 * best.path.delay:.2g} ms.\n')
    print('|', ' | '.join(['residual rms [N m]', *robot.joint_names]), '|')
    print('|---' + '|---:' * robot.n_joints + '|')
    for label, found in (('plain least squares', plain), ('chosen', best)):
        for where, row in residuals(found, tested).items():
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


def cross_validation(found: Identification) -> float:
    """Return the mean over motions and joints of log10 of the residual of cross validation."""
    return float(np.mean(np.log10(found.statistics.cross_validation)))


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
