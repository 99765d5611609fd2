# SPDX-License-Identifier: Apache-2.0
"""
Command: python -m benchmarks.python_backend.

Calls both backends through `Dynamics`, in turns, and prints the ratio of the least times of one
call, those that no other process disturbed, and that of the generated one.
"""

from __future__ import annotations

from pathlib import Path
import sys
from time import perf_counter

import flexdyn_ros as fd
import numpy as np

URDF = Path(__file__).resolve().parents[2] / 'urdf'
ROBOTS = (
    ('stanford_arm', {}), ('puma560', {}), ('canadarm', {}),
    ('cobot7', {'flexible_forearm': 'false', 'friction': 'false'}), ('cobot7', {}),
)
FUNCTIONS = ('inverse_dynamics', 'forward_dynamics', 'mass_matrix')
ROUNDS = 60


def main() -> int:
    """Measure all robots and functions."""
    print('robot                   function           ratio   generated [us]')
    for name, arguments in ROBOTS:
        robot = fd.load_robot(URDF / f'{name}.urdf.xacro', xacro_arguments=arguments)
        state = 0.3 * np.random.default_rng(0).normal(size=(3, robot.nv))
        both = [fd.Dynamics(robot, backend=backend) for backend in ('python', 'reference')]
        label = f'{name}, {robot.nv} coordinates'
        for function in FUNCTIONS:
            inputs = state[:1] if function == 'mass_matrix' else state
            ratio, fast = _compare([getattr(dyn, function) for dyn in both], inputs)
            print(f'{label:22}  {function:17}  {ratio:5.1f}   {1e6 * fast:.1f}', flush=True)
    return 0


def _compare(calls: list, inputs: np.ndarray) -> tuple[float, float]:
    """Return the ratio of least times, second to first, and the least time of the first [s]."""
    for call in calls:
        call(*inputs)
    rounds = np.array([[_time(calls[0], inputs, 40), _time(calls[1], inputs, 4)]
                       for _ in range(ROUNDS)])
    fast, slow = rounds.min(axis=0)
    return float(slow / fast), float(fast)


def _time(call, inputs: np.ndarray, count: int) -> float:
    start = perf_counter()
    for _ in range(count):
        call(*inputs)
    return (perf_counter() - start) / count


if __name__ == '__main__':
    sys.exit(main())
