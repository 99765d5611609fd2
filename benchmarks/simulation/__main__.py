# SPDX-License-Identifier: Apache-2.0
"""
Command: python -m benchmarks.simulation.

Measures simulated motions on the backend "c", prints each result beside its requirement, and
writes docs/simulation_speed.md. Other codes take part where they are installed. `--quick` takes
fewer rounds and shorter runs; `--print` writes nothing.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
import resource
import sys
from time import perf_counter
from typing import Callable

from benchmarks.codegen.measure import compare
from benchmarks.codegen.page import Line
from benchmarks.codegen.robots import canadarm, chain, URDF
from benchmarks.simulation.page import page
from benchmarks.simulation.stiff import stiff
from benchmarks.simulation.three_links import three_links
import flexdyn_ros as fd
from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.simulation import TorqueTable
import numpy as np

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'simulation_speed.md'
STEP = 1e-3  # [s]
EVALUATIONS = 4000  # of RK4 in a second of such steps
LINKS = (10, 20, 40)
MIB = 1024.0  # kilobytes


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--quick', action='store_true', help='fewer rounds, shorter runs')
    parser.add_argument('--print', action='store_true', help='write no page', dest='only_print')
    options = parser.parse_args()
    rounds = 20 if options.quick else 60
    lines = [*arm(rounds), rubbing(rounds)]
    lines += [four_bar(rounds, method) for method in ('rk4', 'implicit')]
    lines += [*hour(360.0 if options.quick else 3600.0), *stiff(rounds // 4)]
    lines += [*three_links(max(3, rounds // 6)), *chains(rounds // 4)]
    text = page(lines)
    print(text)
    if not options.only_print:
        PAGE.write_text(text, encoding='utf-8')
    return 0


def arm(rounds: int) -> list[Line]:
    """Return a second of the flexible Canadarm against its forward dynamics."""
    dyn = fd.Dynamics(canadarm(), 'c')
    rest, out = np.zeros(dyn.robot.nv), np.empty(dyn.robot.nv)
    times = np.linspace(0.0, 1.0, 11)
    tau = np.zeros((len(times), dyn.robot.nv))
    tau[:, :3] = 20.0 * np.sin(np.outer(times, (2.0, 3.0, 4.0)))
    table = TorqueTable(times, tau)

    def second() -> object:
        return fd.simulate(dyn, rest, rest, table, 1.0, STEP, progress=False)

    def dynamics() -> None:
        for _ in range(EVALUATIONS):
            dyn.forward_dynamics(rest, rest, rest, out=out)

    first = once(second)
    found = compare(second, dynamics, (1, 1), rounds)
    factor = 1.0 / found.ratio
    return [
        Line('first call of a simulation of the Canadarm', first, first),
        Line(
            f'one second of the flexible Canadarm, {dyn.robot.nv} coordinates, torque table',
            found.ours, found.ours_least, factor, (1.0 / found.high, 1.0 / found.low),
            f'{EVALUATIONS} forward dynamics', found.theirs, factor < 2.5, 'below 2.5 times',
        ),
    ]


def rubbing(rounds: int) -> Line:
    """Return a second of a rigid arm of seven joints with dry friction, implicitly, and MuJoCo."""
    path, arguments = URDF / 'cobot7.urdf.xacro', {'flexible_forearm': 'false'}
    robot = fd.load_robot(path, xacro_arguments=arguments)
    dyn, rest = fd.Dynamics(robot, 'c'), np.zeros(robot.nv)

    def second() -> object:
        return fd.simulate(
            dyn, rest + 0.1, rest, None, 1.0, STEP, 'implicit', progress=False,
            energy_tolerance=None,
        )

    first = once(second)
    name = f'one second of `cobot7`, rigid, dry friction, `implicit` (first call {first:.2g} s)'
    if find_spec('mujoco') is None:
        taken = [once(second) for _ in range(rounds)]
        return Line(name, float(np.median(taken)), min(taken))
    found = compare(second, mujoco_second(robot, path, arguments), (1, 1), rounds)
    return Line(
        name, found.ours, found.ours_least, found.ratio, (found.low, found.high),
        'MuJoCo `implicitfast`, its friction soft', found.theirs,
    )


def mujoco_second(
    robot: Robot, path: Path, arguments: dict[str, str]
) -> Callable[[], object]:
    """Return a function that moves the same arm by MuJoCo, under the same levels of friction."""
    import mujoco
    import xacro

    text = xacro.process_file(str(path), mappings=arguments).toxml()
    model = mujoco.MjModel.from_xml_string(text)
    for term in assemble(robot, {}).friction:
        model.dof_frictionloss[term.index] = term.coulomb
        model.dof_damping[term.index] = term.viscous
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT

    def second() -> object:
        data = mujoco.MjData(model)
        data.qpos[:] = 0.1
        mujoco.mj_step(model, data, nstep=round(1.0 / STEP))
        return data

    return second


def four_bar(rounds: int, method: str) -> Line:
    """Return a second of a turning four-bar linkage, its loop closed after each step."""
    robot = fd.load_robot(URDF / 'four_bar.urdf.xacro')
    dyn = fd.Dynamics(robot, 'c')
    q, qd = dyn.project(np.zeros(robot.nv), [6.0, 0.0, 0.0], hold=['crank'])

    def second() -> object:
        return fd.simulate(dyn, q, qd, None, 1.0, STEP, method, progress=False)

    first = once(second)
    taken = [once(second) for _ in range(rounds)]
    return Line(
        f'one second of `four_bar`, its loop closed at each step, `{method}` (first call '
        f'{first:.2g} s)',
        float(np.median(taken)), min(taken), met=float(np.median(taken)) < 0.01,
        wanted='below 10 ms',
    )


def hour(duration: float) -> list[Line]:
    """Return a long run with one sample a second: its time and the memory that it adds."""
    dyn = fd.Dynamics(canadarm(), 'c')
    start = np.array([0.0, 0.5, -0.3] + [0.0] * (dyn.robot.nv - 3))
    rest = np.zeros(dyn.robot.nv)
    fd.simulate(dyn, start, rest, None, 1.0, STEP, progress=False)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken = once(lambda: fd.simulate(
        dyn, start, rest, None, duration, STEP, progress=False, sample_every=1000
    ))
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / MIB
    return [Line(
        f'{duration:g} s of it, one sample a second: {more:.1f} MiB more memory', taken, taken,
        met=more < 16.0, wanted='below 16 MiB',
    )]


def chains(rounds: int) -> list[Line]:
    """Return a fifth of a second of chains; twice the links may cost 2.3 times."""
    runs = []
    for count in LINKS:
        dyn = fd.Dynamics(chain(count), 'c')
        rest = np.zeros(count)

        def run(dyn: fd.Dynamics = dyn, rest: np.ndarray = rest) -> object:
            return fd.simulate(dyn, rest, rest, None, 0.2, STEP, progress=False)

        runs.append((count, run, once(run)))
    lines = []
    for k, (count, run, first) in enumerate(runs):
        name = f'0.2 s of a chain of {count} links (first call {first:.2g} s)'
        if not k:
            taken = [once(run) for _ in range(rounds)]
            lines.append(Line(name, float(np.median(taken)), min(taken)))
            continue
        found = compare(run, runs[k - 1][1], (1, 1), rounds)
        growth = 1.0 / found.ratio
        lines.append(Line(
            name, found.ours, found.ours_least, growth, (1.0 / found.high, 1.0 / found.low),
            f'{LINKS[k - 1]} links', found.theirs, growth <= 2.3, 'at most 2.3 times',
        ))
    return lines


def once(call) -> float:
    """Return the wall time of a call [s]."""
    start = perf_counter()
    call()
    return perf_counter() - start


if __name__ == '__main__':
    sys.exit(main())
