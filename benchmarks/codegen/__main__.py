# SPDX-License-Identifier: Apache-2.0
"""
Command: python -m benchmarks.codegen.

Measures the compiled backend from Python against Pinocchio's Python calls in the same run, prints
each result beside its requirement, and writes docs/benchmarks.md. `--quick` leaves long chains
out and takes fewer rounds; `--print` writes nothing.
"""

from __future__ import annotations

import argparse
from functools import partial
import os
from pathlib import Path
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.codegen.measure import compare, compare_statements, Comparison, least
from benchmarks.codegen.page import Line, page
from benchmarks.codegen.robots import canadarm, chain, pinocchio_model, rigid_arm, URDF
import flexdyn_ros as fd
import numpy as np

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'benchmarks.md'
SAMPLES = 10_000
LOOP = 100
FUNCTIONS = ('inverse_dynamics', 'forward_dynamics', 'mass_matrix')

START = """
import os
import time
import flexdyn_ros as fd
from benchmarks.codegen.robots import rigid_arm
robot, _ = rigid_arm()
zero = [0.0] * robot.nv
fd.Dynamics
from flexdyn_ros.codegen.compile.extension import extension
extension()
start, used = time.perf_counter(), sum(os.times()[:4])
dyn = fd.Dynamics(robot, 'c')
dyn.inverse_dynamics(zero, zero, zero)
dyn.forward_dynamics(zero, zero, zero)
dyn.mass_matrix(zero)
print(time.perf_counter() - start, sum(os.times()[:4]) - used)
"""


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--quick', action='store_true', help='fewer rounds, short chains')
    parser.add_argument('--print', action='store_true', help='write no page', dest='only_print')
    options = parser.parse_args()
    rounds = 40 if options.quick else 200
    lines = [*single_calls(rounds), *batches(rounds), flexible(rounds), *loops(rounds)]
    lines += starts()
    lines += chains((5, 10, 20) if options.quick else (5, 10, 20, 40, 80), rounds)
    text = page(lines)
    print(text)
    if not options.only_print:
        PAGE.write_text(text, encoding='utf-8')
    return 0


def single_calls(rounds: int) -> list[Line]:
    """Return the calls of one sample, against Pinocchio."""
    import pinocchio as pin

    robot, text = rigid_arm()
    model, data = pinocchio_model(text)
    dyn = fd.Dynamics(robot, 'c')
    q, qd, qdd = 0.5 * np.random.default_rng(0).normal(size=(3, robot.nv))
    out, matrix = np.empty(robot.nv), np.empty((robot.nv, robot.nv))
    assert np.allclose(dyn.inverse_dynamics(q, qd, qdd), pin.rnea(model, data, q, qd, qdd))
    assert np.allclose(dyn.forward_dynamics(q, qd, qdd), pin.aba(model, data, q, qd, qdd))
    # The last link's wrench in root axes; Pinocchio takes forces in the axes of joints.
    wrenches = {robot.frame_names[-1]: np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])}
    forces = pin.StdVec_Force()
    forces.extend(pin.Force.Random() for _ in range(model.njoints))
    names = {
        'dyn': dyn, 'pin': pin, 'model': model, 'data': data, 'q': q, 'qd': qd, 'qdd': qdd,
        'out': out, 'matrix': matrix, 'wrenches': wrenches, 'forces': forces,
        'three': tuple(np.empty((3, robot.nv, robot.nv))),
    }
    inverse, forward = 'pin.computeRNEADerivatives', 'pin.computeABADerivatives'
    cases = (
        ('inverse dynamics, `out=`', 'dyn.inverse_dynamics(q, qd, qdd, out=out)',
         'pin.rnea', 'q, qd, qdd', 8.0),
        ('inverse dynamics, new array', 'dyn.inverse_dynamics(q, qd, qdd)',
         'pin.rnea', 'q, qd, qdd', 7.5),
        ('inverse dynamics with one wrench', 'dyn.inverse_dynamics(q, qd, qdd, wrenches)',
         'pin.rnea', 'q, qd, qdd, forces', 3.0),
        ('forward dynamics, `out=`', 'dyn.forward_dynamics(q, qd, qdd, out=out)',
         'pin.aba', 'q, qd, qdd', 9.0),
        ('mass matrix, `out=`', 'dyn.mass_matrix(q, out=matrix)', 'pin.crba', 'q', 6.0),
        ('inverse dynamics derivatives', 'dyn.inverse_dynamics_derivatives(q, qd, qdd)',
         inverse, 'q, qd, qdd', 5.0),
        ('inverse dynamics derivatives, `out=`',
         'dyn.inverse_dynamics_derivatives(q, qd, qdd, out=three)', inverse, 'q, qd, qdd', 5.0),
        ('forward dynamics derivatives', 'dyn.forward_dynamics_derivatives(q, qd, qdd)',
         forward, 'q, qd, qdd', 4.0),
    )
    for _, ours, _, _, _ in cases:
        eval(ours, names)  # generated and compiled before it is measured
    return [
        _line(name, compare_statements(
            ours, f'{peer}(model, data, {given})', names, (400, 60), rounds
        ), peer, wanted)
        for name, ours, peer, given, wanted in cases
    ]


def batches(rounds: int) -> list[Line]:
    """Return batches of samples, against a Python loop over Pinocchio."""
    import pinocchio as pin

    robot, text = rigid_arm()
    model, data = pinocchio_model(text)
    dyn = fd.Dynamics(robot, 'c')
    samples = np.random.default_rng(1).normal(size=(3, SAMPLES, robot.nv))
    rows = list(zip(*samples[:, :LOOP]))
    out = np.empty((SAMPLES, robot.nv))
    wanted = {'1': 35.0, None: 50.0}
    lines = []
    for name, batch, theirs in (
        ('inverse dynamics', dyn.batch.inverse_dynamics, pin.rnea),
        ('forward dynamics', dyn.batch.forward_dynamics, pin.aba),
    ):
        def loop(call: Any = theirs) -> None:
            for q, qd, last in rows:
                call(model, data, q, qd, last)

        for threads in ('1', None):
            if threads is None:
                os.environ.pop('FLEXDYN_THREADS', None)
            else:
                os.environ['FLEXDYN_THREADS'] = threads
            found = compare(
                lambda call=batch: call(*samples, out=out), loop, (1, 1), rounds, (SAMPLES, LOOP),
            )
            label = f'{name}, batch of {SAMPLES}, {threads or len(os.sched_getaffinity(0))} thread'
            required = wanted[threads] if name == 'inverse dynamics' else None
            lines.append(_line(
                label + ('' if threads else 's'), found, f'loop of pin.{theirs.__name__}', required
            ))
    return lines


def flexible(rounds: int) -> Line:
    """Return the inverse dynamics of the flexible Canadarm."""
    robot = canadarm()
    dyn = fd.Dynamics(robot, 'c')
    q, qd, qdd = 0.01 * np.random.default_rng(0).normal(size=(3, robot.nv))
    out = np.empty(robot.nv)
    dyn.inverse_dynamics(q, qd, qdd)
    found = compare(
        lambda: dyn.inverse_dynamics(q, qd, qdd, out=out), lambda: None, (400, 400), rounds
    )
    return Line(
        f'inverse dynamics of the flexible Canadarm, {robot.nv} coordinates', found.ours,
        found.ours_least, met=found.ours < 1e-6, wanted='below 1 us',
    )


def loops(rounds: int) -> list[Line]:
    """Return the forward dynamics of mechanisms, whose loops are solved at each call."""
    lines = []
    for name, limit in (('four_bar', 2e-6), ('hslm', 8e-6)):
        robot = fd.load_robot(URDF / f'{name}.urdf.xacro')
        dyn = fd.Dynamics(robot, 'c')
        q, qd = dyn.project(robot.neutral_configuration(), 0.1 * np.ones(robot.nv))
        tau, out = np.zeros(robot.nv), np.empty(robot.nv)
        dyn.forward_dynamics(q, qd, tau)
        found = compare(
            partial(dyn.forward_dynamics, q, qd, tau, out=out), lambda: None, (400, 400), rounds,
        )
        lines.append(Line(
            f'forward dynamics of `{name}`, {robot.nv} coordinates, '
            f'{len(robot.constraint_names)} constraints', found.ours, found.ours_least,
            met=found.ours < limit, wanted=f'below {1e6 * limit:g} us',
        ))
    return lines


def starts() -> list[Line]:
    """Return the time from a loaded robot to three functions, without and with the cache."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, 'FLEXDYN_CACHE_DIR': folder}
        for name, limit in (('cold', 5.0), ('warm', 0.05)):
            times = []
            for _ in range(1 if name == 'cold' else 7):
                done = subprocess.run(
                    [sys.executable, '-c', START], capture_output=True, text=True, check=True,
                    env=environment,
                )
                times.append([float(word) for word in done.stdout.split()])
            found, used = np.median(times, axis=0).tolist()
            lines.append(Line(
                f'{name} start of three functions of the arm (processor time {used:.2g} s)',
                found, min(time for time, _ in times), met=found < limit,
                wanted=f'below {limit:g} s',
            ))
    return lines


def chains(counts: tuple[int, ...], rounds: int) -> list[Line]:
    """
    Return forward dynamics against the number of links; doubling may cost 2.3 times.

    The first and the last links take fewer operations than those between them: five links take
    1404, ten 4669. Growth is therefore required from ten links on.
    """
    lines, before = [], 0.0
    for count in counts:
        found = _chain_time(count, rounds)
        growth = found / before if before else None
        required = growth is not None and count >= 20
        lines.append(Line(
            f'forward dynamics of a chain of {count} links', found, found,
            ratio=growth, peer='half as many links',
            met=growth <= 2.3 if required else None,
            wanted='at most 2.3 times' if required else '',
        ))
        before = found
    return lines


def _chain_time(count: int, rounds: int) -> float:
    dyn = fd.Dynamics(chain(count), 'c')
    q, qd, tau = 0.3 * np.random.default_rng(0).normal(size=(3, count))
    out = np.empty(count)

    def call() -> Any:
        return dyn.forward_dynamics(q, qd, tau, out=out, method='recursive')

    call()
    return least(call, 5, 40 * rounds)


def _line(name: str, found: Comparison, peer: str, wanted: float | None) -> Line:
    return Line(
        name, found.ours, found.ours_least, found.ratio, (found.low, found.high), peer,
        found.theirs, None if wanted is None else found.ratio >= wanted,
        '' if wanted is None else f'at least {wanted:g}',
    )


if __name__ == '__main__':
    sys.exit(main())
