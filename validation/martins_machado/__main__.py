# SPDX-License-Identifier: Apache-2.0
"""
`python -m validation.martins_machado`: the step-size study of section 4, on any arm.

Runs from rest with each method and each time step; a run by RK10 with half the least step is the
exact one. The output gives evaluations a second of motion, the largest error of a coordinate, and
the order between a step and the one before.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, Optional, Sequence

from flexdyn_ros.cli.main import CommandParser, run_command
from flexdyn_ros.cli.options import add_json, print_json
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation import simulate, SimulationDiverged
from flexdyn_ros.simulation.tableaus import find_tableau
from flexdyn_ros.terminal import table
import numpy as np
from validation.martins_machado.integrators import METHODS
from validation.martins_machado.segments import paper_arm

_SAMPLES = 5


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run the command with the words after its name; return its exit code."""
    parser = CommandParser(prog='python -m validation.martins_machado', description=__doc__,
                           formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('urdf', nargs='?', help="a description (default: the paper's arm)")
    parser.add_argument('--q0', nargs='+', type=float, metavar='Q', help='start; zeros by default')
    parser.add_argument('--duration', type=float, default=0.5, metavar='S', help='[s]')
    parser.add_argument('--steps', nargs='+', type=float, metavar='S',
                        default=[4e-4, 2e-4, 1e-4], help='time steps, parts of a fifth [s]')
    parser.add_argument('--methods', nargs='+', default=list(METHODS), metavar='NAME',
                        help='explicit Runge-Kutta methods')
    add_json(parser)
    parser.add_argument('--debug', action='store_true', help='show where an error arose')
    parser.set_defaults(run=_run)
    return run_command(parser, arguments)


def _run(call: argparse.Namespace) -> int:
    if call.urdf is None:
        dyn, start = paper_arm()
    else:
        robot = load_robot(call.urdf)
        dyn, start = Dynamics(robot), np.array(robot.neutral_configuration())
    if call.q0 is not None:
        if len(call.q0) != len(start):
            raise ArgumentError('--q0', f'has {len(call.q0)} numbers, not {len(start)}')
        start = np.array(call.q0)
    steps = sorted(call.steps, reverse=True)
    exact = _samples(dyn, start, call.duration, steps[-1] / 2.0, 'rk10')
    found: list[dict[str, Any]] = []
    for method in call.methods:
        before: Optional[dict[str, Any]] = None
        for step in steps:
            row: dict[str, Any] = {
                'method': method, 'step': step,
                'evaluations': find_tableau(method).stages / step, 'error': None, 'order': None,
            }
            samples = _samples(dyn, start, call.duration, step, method)
            if samples is not None and exact is not None:
                row['error'] = float(np.abs(samples - exact).max())
                if before is not None and before['error'] and row['error']:
                    row['order'] = float(np.log(before['error'] / row['error'])
                                         / np.log(before['step'] / step))
            found.append(row)
            before = row
    if call.json:
        print_json(found)
    else:
        print(table(('method', 'step [s]', 'evaluations a second', 'error', 'order'), [
            (row['method'], f'{row["step"]:g}', f'{row["evaluations"]:.0f}',
             'diverges' if row['error'] is None else f'{row["error"]:.1e}',
             '' if row['order'] is None else f'{row["order"]:.1f}')
            for row in found
        ]))
    return 0


def _samples(
    dyn: Dynamics, start: np.ndarray, duration: float, step: float, method: str
) -> Optional[np.ndarray]:
    """Return the configurations at fifths of the duration, None where the run diverges."""
    rest = np.zeros(dyn.robot.nv)
    try:
        run = simulate(
            dyn, start, rest, None, duration, step, method, progress=False, force=True
        )
    except SimulationDiverged:
        return None
    places = [
        int(np.argmin(np.abs(run.t - k * duration / _SAMPLES))) for k in range(1, _SAMPLES + 1)
    ]
    return run.q[places]


if __name__ == '__main__':
    sys.exit(main())
