# SPDX-License-Identifier: Apache-2.0
"""
Slow motion beside fast modes: adaptive and implicit methods against `rk4` at its limit.

A beam on a hinge with an elastic joint swings at up to 5 Hz. Torsion modes of up to 7.6 kHz rest,
but for the 1e-9 rad that an eccentric gram twists them.

Command: python -m benchmarks.simulation.stiff prints evaluations by error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional
from unittest.mock import patch

from benchmarks.codegen.measure import compare, Comparison
from benchmarks.codegen.page import Line
from benchmarks.codegen.robots import URDF
import flexdyn_ros as fd
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.stability import step_limit
from flexdyn_ros.simulation.state_jacobian import StateJacobian
from flexdyn_ros.simulation.tableaus import TABLEAUS
import numpy as np

_ERROR = 1e-4  # [rad], of a swing of 0.1 rad
_JOINT = (
    '<flexdyn version="1.0">'
    '<joint_dynamics joint="hinge" stiffness="80" rotor_inertia="0.15"/></flexdyn>'
)
_DURATION, _SAMPLE = 2.0, 0.01  # [s]
# Evaluations that one of the Jacobian counts as: as many operations.
_OF_JACOBIAN = 8
# Tolerances and, for a fixed step, steps that are tried, from the loosest.
METHODS = ('rk4', 'rk10', 'implicit', 'RK45', 'DOP853', 'Radau', 'BDF', 'LSODA', 'CVODE')
_TOLERANCES = tuple(10.0 ** (-0.5 * k) for k in range(6, 25))
_STEPS = (10e-3, 5e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1e-4, 5e-5, 2.5e-5, 1e-5)


@dataclass(frozen=True)
class MethodSetting:
    """
    A method with the loosest setting that meets an error.

    Attributes:
        options: Further arguments of `simulate`.
        error: Largest error of a position at the samples [rad | m].
        evaluations: Of the accelerations; those of the Jacobian count as 8.
    """

    options: dict[str, Any]
    error: float
    evaluations: int


class Problem:
    """A motion with its reference, by rk10 or DOP853."""

    def __init__(self, dyn: fd.Dynamics, q: np.ndarray, exact: dict[str, Any]):
        """Take a robot, its start at rest and the method of the reference."""
        self.dyn, self.q, self.rest = dyn, q, np.zeros(dyn.robot.nv)
        self.exact = self.run(exact).q

    def run(self, options: dict[str, Any]) -> Any:
        """Return the motion, sampled every 10 ms."""
        given = dict(options)
        step = given.pop('dt', _SAMPLE)
        every = round(_SAMPLE / step)
        return fd.simulate(
            self.dyn, self.q, self.rest, None, _DURATION, _SAMPLE / every, sample_every=every,
            progress=False, energy_tolerance=None, **given,
        )

    def setting(self, method: str, error: float) -> Optional[MethodSetting]:
        """Return the loosest setting of a method that meets an error; None where none does."""
        fixed = method in TABLEAUS or method == 'implicit'
        for choice in _STEPS if fixed else _TOLERANCES:
            options = {'method': method, 'dt' if fixed else 'rtol': choice}
            if method in TABLEAUS and choice > step_limit(self.dyn, self.q, method):
                continue
            evaluations, motion = self.counted(options)
            found = float(np.abs(motion.q - self.exact).max())
            if found <= error:
                if fixed:
                    stages = TABLEAUS[method].stages if method in TABLEAUS else 5
                    evaluations = stages * round(_DURATION / choice)
                return MethodSetting(options, found, evaluations)
        return None

    def compared(
        self, ours: dict[str, Any], theirs: dict[str, Any], rounds: int
    ) -> Comparison:
        """Return the times of two settings."""
        return compare(lambda: self.run(ours), lambda: self.run(theirs), (1, 1), rounds)

    def counted(self, options: dict[str, Any]) -> tuple[int, Any]:
        """Return evaluations of an adaptive method, and the motion."""
        with (
            counting(EquationsOfMotion, 'acceleration') as values,
            counting(StateJacobian, '__call__') as slopes,
        ):
            motion = self.run(options)
        return values.call_count + _OF_JACOBIAN * slopes.call_count, motion


def counting(owner: type, name: str) -> Any:
    """Return a context that counts the calls of a method."""
    return patch.object(owner, name, autospec=True, side_effect=getattr(owner, name))


def beam() -> Problem:
    """Return the beam on an elastic joint."""
    robot = fd.load_robot(
        URDF / 'flexible_beam.urdf.xacro', extension=_JOINT, xacro_arguments={
            'hinged': 'true', 'modes': '0', 'torsion_modes': '4', 'gravity': '0 -9.81 0',
        },
    )
    dyn = fd.Dynamics(robot, 'c')
    # Without it rk4 damps the torsion to numbers below 1e-308, with which processors are slow.
    dyn.set_payload('tip', 1e-3, [0.0, 0.0, 1e-5], np.zeros((3, 3)))
    start = np.zeros(robot.nq)
    start[:2] = 0.1, 0.005
    return Problem(dyn, start, {'method': 'rk4', 'dt': 2e-5})


def rigid_arm() -> Problem:
    """Return the rigid Puma 560, which falls from 0.3 rad."""
    robot = fd.load_robot(URDF / 'puma560.urdf.xacro')
    start = np.full(robot.nq, 0.3)
    return Problem(fd.Dynamics(robot, 'c'), start, {'method': 'rk10', 'dt': 1e-3})


def stiff(rounds: int) -> list[Line]:
    """Return the cost of an error of 1e-4 rad: evaluations, and time of the compiled method."""
    problem = beam()
    limit = step_limit(problem.dyn, problem.q)
    explicit = {'method': 'rk4', 'dt': _SAMPLE / np.ceil(_SAMPLE / limit)}
    evaluations = 4 * round(_DURATION / explicit['dt'])
    name = f'swing of 0.1 rad beside 7.6 kHz, {_DURATION:g} s, error {_ERROR:g} rad: '
    peer = f'`rk4` at its limit, {explicit["dt"] * 1e6:.0f} us'
    lines = []
    for method in ('Radau', 'BDF'):
        found = problem.setting(method, _ERROR)
        assert found is not None
        least = evaluations / found.evaluations
        taken = problem.compared(found.options, explicit, 5)
        lines.append(Line(
            f'{name}`{method}`, {found.evaluations} evaluations', taken.ours, taken.ours_least,
            least, None, f'{peer}, {evaluations} evaluations', taken.theirs, least >= 20.0,
            'at least 20 times fewer evaluations',
        ))
    found = problem.setting('implicit', _ERROR)
    assert found is not None
    taken = problem.compared(found.options, explicit, rounds)
    lines.append(Line(
        f'{name}`implicit`, {found.options["dt"] * 1e3:g} ms', taken.ours, taken.ours_least,
        taken.ratio, (taken.low, taken.high), peer, taken.theirs, taken.ratio >= 5.0,
        'at least 5 times',
    ))
    return lines


def work_precision(problem: Problem, methods: tuple[str, ...], errors: tuple[float, ...]) -> str:
    """Return a table of evaluations a second by method and error."""
    rows = ['| largest error | ' + ' | '.join(f'`{name}`' for name in methods) + ' |',
            '|---|' + '---|' * len(methods)]
    for error in errors:
        cells = []
        for method in methods:
            found = problem.setting(method, error)
            cells.append('-' if found is None else _rounded(found.evaluations / _DURATION))
        rows.append(f'| {error:.0e} | ' + ' | '.join(cells) + ' |')
    return '\n'.join(rows)


def _rounded(number: float) -> str:
    return f'{float(f"{number:.2g}"):,.0f}'.replace(',', ' ')


if __name__ == '__main__':
    print(work_precision(rigid_arm(), METHODS, (1e-4, 1e-6, 1e-8)) + '\n')
    print(work_precision(beam(), ('rk4', 'implicit', 'Radau', 'BDF', 'CVODE'), (1e-4, 1e-5)))
