# SPDX-License-Identifier: Apache-2.0
"""The planar arm of three slender links beside MuJoCo and Exudyn."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter
from typing import Any, Callable, Optional
import warnings

from benchmarks.codegen.page import Line
import flexdyn_ros as fd
from flexdyn_ros.simulation.energy_balance import EnergyNotKept
import numpy as np
from validation.case_file import inputs
from validation.other_codes import exudyn_cables, exudyn_solids, mujoco_segments
from validation.other_codes.arm import Arm, read_arm
from validation.other_codes.ours import Modes, urdf

TURN = 0.02  # [s]
CLOSE = 1e-3  # [m] at the end, for settings of equal error
OURS = tuple(
    (modes, dt, boundary) for boundary in ('clamped-free', 'pinned-free') for modes in (1, 2)
    for dt in (12.5e-3, 1e-2, 8e-3, 5e-3, 4e-3, 2.5e-3, 2e-3, 1e-3)
)
# Longer steps are unstable, which MuJoCo writes to a file of its own.
MUJOCO = ((3, 5e-3), (3, 4e-3), (3, 2e-3), (5, 1e-3), (5, 5e-4))
IMPLICITFAST = tuple((3, dt, 'implicitfast') for dt in (2e-3, 1e-3, 5e-4, 2.5e-4))
CABLES = tuple((elements, dt) for elements in (2, 4) for dt in (1e-2, 5e-3, 2e-3, 1e-3))
SOLIDS = tuple((2, dt) for dt in (1e-2, 5e-3, 2e-3))


@dataclass(frozen=True)
class Scheme:
    """
    A code with a discretisation and a step.

    Attributes:
        name: Its name, with the discretisation and the step.
        run: Moves the arm once; returns the wall time [s] and the tip's place at the end (3,).
    """

    name: str
    run: Callable[[], tuple[float, np.ndarray]]


def three_links(rounds: int) -> list[Line]:
    """Return our time beside each code's: at 1 ms, and at equal error."""
    arm = read_arm(inputs('codes_three_links'))
    truth = ours(arm, 3, 2.5e-4).run()[1]
    at_step, best = ours(arm, 2, 1e-3), fastest([ours(arm, *each) for each in OURS], truth)
    lines = []
    for needed, code, at, settings, wanted in (
        (['mujoco'], mujoco, (5, 1e-3), MUJOCO, (8.0, 8.0)),
        (['mujoco'], mujoco, None, IMPLICITFAST, (8.0, 8.0)),
        (['exudyn'], cables, (4, 1e-3), CABLES, (20.0, 4.0)),
        (['exudyn', 'ngsolve'], solids, (2, 1e-3), SOLIDS, (200.0, 40.0)),
    ):
        if not all(map(find_spec, needed)):
            continue
        few = rounds if code is not solids else 3
        if at is not None:
            lines.append(beside(at_step, code(arm, *at), few, wanted[0], 'at the same step: '))
        other = fastest([code(arm, *each) for each in settings], truth)
        if best is not None and other is not None:
            lines.append(beside(best, other, few, wanted[1], 'at equal error: '))
    return lines


def beside(mine: Scheme, other: Scheme, rounds: int, wanted: float, start: str) -> Line:
    """Return a line of both, run in turns."""
    times = np.array([[turn(mine), turn(other)] for _ in range(rounds)])
    ratios = times[:, 1] / times[:, 0]
    low, high = np.percentile(ratios, (25, 75))
    ratio = float(np.median(ratios))
    return Line(
        f'three-link arm, 2 s, {start}{mine.name}', float(np.median(times[:, 0])),
        float(times[:, 0].min()), ratio, (float(low), float(high)), other.name,
        float(np.median(times[:, 1])), ratio >= wanted, f'at least {wanted:g} times',
    )


def turn(scheme: Scheme) -> float:
    """Return the mean time of the runs that one turn holds [s]."""
    taken: list[float] = []
    while sum(taken) < TURN:
        taken.append(scheme.run()[0])
    return float(np.mean(taken))


def fastest(settings: list[Scheme], truth: np.ndarray) -> Optional[Scheme]:
    """Return the fastest setting whose tip ends near the truth, or None."""
    found = []
    for setting in settings:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore', EnergyNotKept)
                tip = setting.run()[1]
                taken = turn(setting)
        except (fd.FlexdynError, ValueError):  # the step is too large
            continue
        if np.linalg.norm(tip - truth) < CLOSE:
            found.append((taken, setting))
    return min(found, key=lambda each: each[0])[1] if found else None


def ours(arm: Arm, modes: int, dt: float, boundary: str = 'clamped-free') -> Scheme:
    """Return this package with modes of bending a link."""
    form = Modes(modes, boundary=boundary)
    dyn = fd.Dynamics(fd.load_robot(urdf(arm, form)), 'c')
    q = np.concatenate((arm.angles, np.zeros(dyn.robot.n_modes)))
    wrenches = {'tip': [*arm.tip_force, 0.0, 0.0, 0.0]}

    def run() -> tuple[float, np.ndarray]:
        start = perf_counter()
        motion = fd.simulate(
            dyn, q, np.zeros(dyn.robot.nv), None, arm.t_end, dt, progress=False, wrenches=wrenches
        )
        taken = perf_counter() - start
        return taken, dyn.frame_pose(motion.q[-1], 'tip')[:3, 3]

    return Scheme(f'{modes} {boundary} modes a link, {1e3 * dt:g} ms', run)


def mujoco(arm: Arm, count: int, dt: float, integrator: str = 'RK4') -> Scheme:
    """Return MuJoCo with rigid pieces."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mujoco_segments.mjcf(arm, count, dt, integrator))
    joints = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, bar.name) for bar in arm.bars]
    tip = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, 'tip')

    def run() -> tuple[float, np.ndarray]:
        data = mujoco.MjData(model)
        for joint, angle in zip(joints, arm.angles):
            data.qpos[model.jnt_qposadr[joint]] = angle
        data.xfrc_applied[tip, :3] = arm.tip_force
        start = perf_counter()
        mujoco.mj_step(model, data, nstep=round(arm.t_end / dt))
        taken = perf_counter() - start
        mujoco.mj_kinematics(model, data)
        return taken, data.xpos[tip].copy()

    return Scheme(f'MuJoCo `{integrator}`, {count} pieces a link, {1e3 * dt:g} ms', run)


def cables(arm: Arm, elements: int, dt: float) -> Scheme:
    """Return Exudyn with cables in absolute coordinates."""
    return exudyn(
        exudyn_cables, f'{elements} cables a link, {1e3 * dt:g} ms', arm, elements, dt
    )


def solids(arm: Arm, modes: int, dt: float) -> Scheme:
    """Return Exudyn with reduced solids in floating frames."""
    mesh = inputs('codes_three_links')['solids']['mesh']
    return exudyn(
        exudyn_solids, f'FFRF, {modes} modes a link, {1e3 * dt:g} ms', arm, modes, dt, mesh
    )


def exudyn(module: Any, name: str, *arguments: Any) -> Scheme:
    """Return Exudyn with one of the models of the arm; the time is that of its solver."""
    solve = module.run

    def run() -> tuple[float, np.ndarray]:
        taken = []

        def timed(*given: object) -> None:
            start = perf_counter()
            solve(*given)
            taken.append(perf_counter() - start)

        module.run = timed
        try:
            motion = module.tip_motion(*arguments)
        finally:
            module.run = solve
        return taken[0], motion.tip[-1]

    return Scheme(f'Exudyn, {name}', run)
