# SPDX-License-Identifier: Apache-2.0
"""
Command: python -m benchmarks.python_backend.

Calls the backend "python" in both of its ways, run by the extension's interpreter and by
CPython, and the reference, through `Dynamics` and in turns. Prints the least time of one call,
which no other process disturbed, and how many times faster than the reference each way is.
"""

from __future__ import annotations

import os
from pathlib import Path
import sys
from time import perf_counter
from typing import Callable

import flexdyn_ros as fd
from flexdyn_ros.codegen.native.extension import extension
from flexdyn_ros.codegen.native.extension import VARIABLE
import numpy as np

URDF = Path(__file__).resolve().parents[2] / 'urdf'
ROBOTS = (
    ('stanford_arm', {}), ('puma560', {}), ('canadarm', {}),
    ('cobot7', {'flexible_forearm': 'false', 'friction': 'false'}), ('cobot7', {}),
)
FUNCTIONS = ('inverse_dynamics', 'forward_dynamics', 'mass_matrix')
ROUNDS = 60
# Calls in a row, so that the clock does not count.
INTERPRETED, CPYTHON, REFERENCE = 200, 40, 4
HEAD = (
    f'{"":28}{"":18}{"times the reference":>22}{"time of a call [us]":>36}\n'
    f'{"robot":28}{"function":18}{"interpreter":>12}{"CPython":>10}'
    f'{"interpreter":>14}{"CPython":>10}{"reference":>12}'
)


def main() -> int:
    """Measure all robots and functions."""
    if extension() is None:
        print('There is no extension, and so no interpreter: sudo apt-get install -y python3-dev')
        return 1
    print(f'load averages {", ".join(f"{x:.1f}" for x in os.getloadavg())}')
    print(HEAD)
    for name, arguments in ROBOTS:
        robot = fd.load_robot(URDF / f'{name}.urdf.xacro', xacro_arguments=arguments)
        state = list(0.3 * np.random.default_rng(0).normal(size=(3, robot.nv)))
        all_three = [fd.Dynamics(robot, 'python'), _by_cpython(robot),
                     fd.Dynamics(robot, 'reference')]
        label = f'{name}, {robot.nv} coordinates'
        for function in FUNCTIONS:
            inputs = state[:1] if function == 'mass_matrix' else state
            fast, plain, slow = _least([getattr(dyn, function) for dyn in all_three], inputs)
            print(f'{label:28}{function:18}{slow / fast:12.0f}{slow / plain:10.1f}'
                  f'{1e6 * fast:14.2f}{1e6 * plain:10.1f}{1e6 * slow:12.0f}', flush=True)
    return 0


def _by_cpython(robot: fd.Robot) -> fd.Dynamics:
    """Return the dynamics by straight-line Python, which runs without the extension."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = 'ctypes'
    try:
        return fd.Dynamics(robot, 'python')
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def _least(calls: list[Callable], inputs: list) -> list[float]:
    """Return the least time of each call [s], measured in turns after a first call."""
    results = [call(*inputs) for call in calls]
    assert np.array_equal(results[0], results[1])
    # The first call makes the direct one.
    calls = [getattr(call.__self__, call.__name__) for call in calls]
    counts = (INTERPRETED, CPYTHON, REFERENCE)
    rounds = [[_time(call, inputs, count) for call, count in zip(calls, counts)]
              for _ in range(ROUNDS)]
    return np.min(rounds, axis=0).tolist()


def _time(call: Callable, inputs: list, count: int) -> float:
    start = perf_counter()
    for _ in range(count):
        call(*inputs)
    return (perf_counter() - start) / count


if __name__ == '__main__':
    sys.exit(main())
