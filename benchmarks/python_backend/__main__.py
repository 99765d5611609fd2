# SPDX-License-Identifier: Apache-2.0
"""
Command: python -m benchmarks.python_backend.

Calls the backend "python" in each of its ways (machine code, called by the extension or by
machine code of arrays; the extension's interpreter; CPython) and the reference, through
`Dynamics` and in turns. Prints the least time of one call, which no other process disturbed, and
how many times faster than the reference each way is; then the same for samples of batches, and
how long each takes to make. With --rows it prints rows of a Markdown table.
"""

from __future__ import annotations

from argparse import ArgumentParser
from contextlib import contextmanager
import os
from pathlib import Path
import sys
from time import perf_counter
from time import process_time
from typing import Callable
from typing import Iterator
from typing import NamedTuple

import flexdyn_ros as fd
from flexdyn_ros.codegen.backends import without_compiler
from flexdyn_ros.codegen.backends.variants import traced
from flexdyn_ros.codegen.emitting.emit_python import emit_python
from flexdyn_ros.codegen.emitting.instructions import instructions_of
from flexdyn_ros.codegen.emitting.registers import with_registers
from flexdyn_ros.codegen.emitting.schedule import schedule
from flexdyn_ros.codegen.emitting.sse2_code import machine_code_of
from flexdyn_ros.codegen.generate import compile_python
from flexdyn_ros.codegen.native import extension
from flexdyn_ros.codegen.native import machine_program
from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.codegen.tracing.interface import Trace
from flexdyn_ros.codegen.tracing.loads import Loads
import numpy as np

URDF = Path(__file__).resolve().parents[2] / 'urdf'
# Hardly more than the call itself.
PENDULUM = """\
<robot name="pendulum">
  <link name="ground"/>
  <link name="rod">
    <inertial>
      <origin xyz="0.1 0.02 0.3"/>
      <mass value="2"/>
      <inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0" iyz="0.02"/>
    </inertial>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="ground"/>
    <child link="rod"/>
    <axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="10" velocity="2"/>
  </joint>
</robot>
"""
ROBOTS = (
    ('pendulum', {}), ('two_link_arm', {}),
    ('stanford_arm', {}), ('puma560', {}), ('canadarm', {}),
    ('cobot7', {'flexible_forearm': 'false', 'friction': 'false'}), ('cobot7', {}),
)
FUNCTIONS = ('inverse_dynamics', 'forward_dynamics', 'mass_matrix')
ROUNDS = 60
SAMPLES = 2000
REFERENCE = 'reference'


class Way(NamedTuple):
    """
    A way to compute.

    Attributes:
        name: What it is called.
        variables: Environment that chooses it.
        calls: Calls in a row, so that the clock does not count.
        batches: Whether batches are another thing than calls.
    """

    name: str
    variables: dict[str, str]
    calls: int
    batches: bool


def ways() -> list[Way]:
    """Return those that there are here."""
    alone, choose = {extension.VARIABLE: 'ctypes'}, without_compiler.VARIABLE
    found = []
    if machine_program.problem() is None:
        code = {choose: without_compiler.MACHINE_CODE}
        if extension.extension() is not None:
            found.append(Way('code/ext', code, 200, True))
        found.append(Way('code alone', {**code, **alone}, 200, False))
    if extension.extension() is not None:
        found.append(Way('interpreter', {choose: without_compiler.INTERPRETER}, 200, True))
    found.append(Way('CPython', {choose: without_compiler.CPYTHON, **alone}, 40, False))
    return [*found, Way(REFERENCE, {}, 4, False)]


@contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """Set variables for a while."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def main() -> int:
    """Measure all robots and functions."""
    parser = ArgumentParser(prog='python -m benchmarks.python_backend', description=__doc__)
    parser.add_argument('--rows', action='store_true', help='print rows of a Markdown table')
    options = parser.parse_args()
    found = ways()
    print(f'load averages {", ".join(f"{x:.1f}" for x in os.getloadavg())}')
    names = [way.name for way in found]
    _print('robot', 'function', [f'{name}, times' for name in names[:-1]],
           [f'{name} [us]' for name in names], options.rows)
    for name, arguments in ROBOTS:
        robot = _robot(name, arguments)
        label = f'{name}, {robot.nv} coordinates'
        for function in FUNCTIONS:
            times = _calls(robot, function, found)
            _print(label, function, [f'{times[-1] / each:.0f}' for each in times[:-1]],
                   [f'{1e6 * each:.2f}' for each in times], options.rows)
    print('\nA sample of a batch, one thread')
    batches = [way for way in found if way.batches]
    for name, arguments in ROBOTS:
        robot = _robot(name, arguments)
        times = _batches(robot, batches)
        _print(f'{name}, {robot.nv} coordinates', 'inverse_dynamics', [],
               [f'{way.name} {1e6 * time:.2f}' for way, time in zip(batches, times)],
               options.rows)
    print('\nMaking a function after its trace, processor time [ms]')
    for name, arguments in ROBOTS[-2:]:
        robot = _robot(name, arguments)
        trace = traced(robot, Request('inverse_dynamics'), Loads(), '')
        made = [f'{label} {1e3 * _making(make, trace):.1f}' for label, make in MAKERS.items()]
        _print(f'{name}, {robot.nv} coordinates', 'inverse_dynamics', [], made, options.rows)
    return 0


def _robot(name: str, arguments: dict) -> fd.Robot:
    if name == 'pendulum':
        return fd.load_robot(PENDULUM)
    return fd.load_robot(URDF / f'{name}.urdf.xacro', xacro_arguments=arguments)


MAKERS: dict[str, Callable[[Trace], object]] = {
    'code': machine_code_of, 'interpreter': instructions_of,
    'CPython': lambda trace: compile_python(
        emit_python(with_registers(schedule(trace))), trace.name
    ),
}


def _print(robot: str, function: str, ratios: list[str], times: list[str], rows: bool) -> None:
    if rows:
        print(f'| {" | ".join((robot, f"`{function}`", *ratios, *times))} |', flush=True)
    else:
        cells = ''.join(f'{each:>20}' for each in (*ratios, *times))
        print(f'{robot:28}{function:18}{cells}', flush=True)


def _calls(robot: fd.Robot, function: str, found: list[Way]) -> list[float]:
    """Return the least time of a call in each way [s], measured in turns after a first call."""
    state = list(0.3 * np.random.default_rng(0).normal(size=(3, robot.nv)))
    inputs = state[:1] if function == 'mass_matrix' else state
    calls, results = [], []
    for way in found:
        with environment(way.variables):
            dyn = fd.Dynamics(robot, REFERENCE if way.name == REFERENCE else 'python')
            results.append(getattr(dyn, function)(*inputs))
            # The first call makes the direct one.
            calls.append(getattr(dyn, function))
    assert all(np.array_equal(each, results[0]) for each in results[:-1])
    rounds = [[_time(call, inputs, way.calls) for call, way in zip(calls, found)]
              for _ in range(ROUNDS)]
    return np.min(rounds, axis=0).tolist()


def _batches(robot: fd.Robot, found: list[Way]) -> list[float]:
    """Return the least time of a sample in each way [s], in one thread."""
    rows = list(0.3 * np.random.default_rng(0).normal(size=(3, SAMPLES, robot.nv)))
    calls = []
    with environment({'FLEXDYN_THREADS': '1'}):
        for way in found:
            with environment(way.variables):
                dyn = fd.Dynamics(robot, 'python')
                dyn.batch.inverse_dynamics(*rows)
                calls.append(dyn.batch.inverse_dynamics)
        rounds = [[_time(call, rows, 1) for call in calls] for _ in range(ROUNDS // 3)]
    return (np.min(rounds, axis=0) / SAMPLES).tolist()


def _making(make: Callable[[Trace], object], trace: Trace) -> float:
    """Return the least processor time [s]."""
    times = []
    for _ in range(5):
        start = process_time()
        make(trace)
        times.append(process_time() - start)
    return min(times)


def _time(call: Callable, inputs: list, count: int) -> float:
    start = perf_counter()
    for _ in range(count):
        call(*inputs)
    return (perf_counter() - start) / count


if __name__ == '__main__':
    sys.exit(main())
