# SPDX-License-Identifier: Apache-2.0
"""Errors of the approximations of Graves's equations 25 and 27."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np
from validation.case import Picture, Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.graves.states import arm, by_influence, random_state
from validation.registry import Code
from validation.studies import apart, COLOURS, new_figure, reference, save_figure


def inertia(progress: Progress) -> list[Row]:
    """Return the rows about (25), the inertia of undeformed links."""
    start = inputs('gr_inertia')
    at_rest, small, larger = (_inertia_errors(a) for a in (0.0, *start['amplitudes']))
    grows = larger.mean() / small.mean()
    first, second = (f'{100.0 * amplitude:.0f} cm' for amplitude in start['amplitudes'])
    detail = f'{small.mean():.2%} at {first}, {larger.mean():.1%} at {second}'
    return make_rows('gr_inertia', {
        'at_rest': at_rest.max(),
        'small_deflections': Verdict(
            small.mean() < 0.01 and 3.5 < grows < 6.5, f'{detail}, {grows:.1f} times as much',
        ),
        'other_arm': Verdict(
            0.002 < small.mean() < 0.008 and 0.009 < larger.mean() < 0.036, detail,
        ),
        'kept': [small.mean(), larger.mean()],
    })


def nonlinear(progress: Progress) -> list[Row]:
    """Return the rows about (27), nonlinear accelerations, and the masses lumped after it."""
    robot, exact = arm(), reference(arm())
    complete = by_influence(robot)
    printed = by_influence(robot, 'lumped_mass', 'printed_recursion')
    joints, modes = _lumped_errors(1)
    literal, ours = [], []
    for q, qd in _states(robot, 0.0, 0.0):
        right = exact.coriolis_vector(q, qd)
        ours.append(apart(complete.coriolis_vector(q, qd), right))
        literal.append(apart(printed.coriolis_vector(q, qd), right))
    low, high = np.percentile(literal, (25, 75))
    detail = f'{np.mean(literal):.0%} in the mean, half of the states {low:.0%} to {high:.0%}'
    return make_rows('gr_nonlinear', {
        'complete': max(ours),
        'joints': max(joints),
        'modes': Verdict(bool(0.01 < np.mean(modes) < 0.08), f'{np.mean(modes):.1%}'),
        'printed': Verdict(bool(0.2 < np.mean(literal) < 0.9), detail),
        'sliding': _printed_coriolis_share(),
        'kept': [np.mean(modes), np.mean(literal), np.mean(_lumped_errors(2)[1])],
    })


def _lumped_errors(modes: int) -> tuple[list[float], list[float]]:
    """Return the errors of the joints' and the modes' rows with lumped masses, at rest shape."""
    robot = arm(modes)
    exact, lumped = reference(robot), by_influence(robot, 'lumped_mass')
    found: tuple[list[float], list[float]] = ([], [])
    for q, qd in _states(robot, 0.0, 0.0):
        right = exact.coriolis_vector(q, qd)
        off = np.abs(lumped.coriolis_vector(q, qd) - right) / np.abs(right).max()
        found[0].append(float(off[:robot.n_joints].max()))
        found[1].append(float(off[robot.n_joints:].max()))
    return found


_SLIDING = """
<robot name="rod"><link name="stand"/><link name="rod"/>
  <link name="slider"><inertial><mass value="2"/>
    <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="stand"/><child link="rod"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="slide" type="prismatic"><parent link="rod"/><child link="slider"/>
    <axis xyz="1 0 0"/><limit lower="0" upper="2" effort="1" velocity="1"/></joint></robot>
"""


def _printed_coriolis_share() -> float:
    """Return the torque by the print on a rod with a sliding mass, over 2 m r r' w."""
    reach, slide, spin, mass = 0.7, -0.8, 1.5, 2.0
    printed = by_influence(load_robot(_SLIDING), 'printed_recursion')
    torque, _ = printed.coriolis_vector([0.3, reach], [spin, slide])
    return float(torque / (2.0 * mass * reach * slide * spin))


def _states(
    robot: Robot, amplitude: float, modal_rate: float = 1.0
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return random q and qd."""
    rng = np.random.default_rng(inputs('gr_inertia')['seed'])
    count = inputs('gr_inertia')['states']
    return [random_state(robot, rng, amplitude, modal_rate)[:2] for _ in range(count)]


def _inertia_errors(amplitude: float) -> np.ndarray:
    """Return the error of the mass matrix, of its largest entry, at random states."""
    exact, constant = reference(arm()), by_influence(arm(), 'undeformed_inertia')
    return np.array([
        apart(constant.mass_matrix(q), exact.mass_matrix(q))
        for q, _ in _states(arm(), amplitude)
    ])


class ErrorCurve(NamedTuple):
    """
    The mean error of an approximation for each amplitude.

    Attributes:
        label: Name of the approximation.
        errors: Of the largest entry.
    """

    label: str
    errors: list[float]


AMPLITUDES = np.geomspace(1e-4, 0.1, 10)
APPROXIMATIONS = {
    'undeformed_inertia': 'inertia of undeformed links (25)',
    'lumped_mass': 'masses lumped at the centres',
    'printed_recursion': 'recursion (27) as printed',
}


@lru_cache(maxsize=None)
def _curves() -> tuple[list[ErrorCurve], list[ErrorCurve]]:
    """Return the curves of the mass matrix, and of the nonlinear forces."""
    robot, exact = arm(), reference(arm())
    models = {name: by_influence(robot, name) for name in APPROXIMATIONS}
    masses, forces = [], {name: [] for name in APPROXIMATIONS}  # type: ignore[var-annotated]
    for amplitude in AMPLITUDES:
        masses.append(float(_inertia_errors(amplitude).mean()))
        # Modal rates of a vibration at about 10 rad/s with this amplitude.
        states = _states(robot, amplitude, 10.0 * amplitude)[::4]
        for name, model in models.items():
            forces[name].append(_mean_force_error(model, exact, states))
    return (
        [ErrorCurve(APPROXIMATIONS['undeformed_inertia'], masses)],
        [ErrorCurve(label, forces[name]) for name, label in APPROXIMATIONS.items()],
    )


def _mean_force_error(
    model: Dynamics, exact: Dynamics, states: list[tuple[np.ndarray, np.ndarray]]
) -> float:
    return float(np.mean([
        apart(model.coriolis_vector(q, qd), exact.coriolis_vector(q, qd)) for q, qd in states
    ]))


def draw(folder: Path) -> list[Picture]:
    """Draw the errors against the amplitude."""
    figure = new_figure()
    for axes, curves, title in zip(
        figure.subplots(1, 2, sharey=True), _curves(), ('Mass matrix', 'Nonlinear forces'),
    ):
        for curve, colour in zip(curves, COLOURS):
            axes.loglog(100.0 * AMPLITUDES, curve.errors, 'o-', color=colour, label=curve.label)
        axes.set(xlabel='modal amplitude [cm]', title=title)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, loc='best')
    figure.axes[0].set_ylabel('mean error, of the largest entry')
    save_figure(figure, folder, 'gr_inertia.png')
    return [Picture(
        'gr_inertia.png', 'The approximations of the method of kinematic influence against the '
        'exact equations. Three links of 1, 0.8 and 0.6 m in space bend in both planes. The '
        'link of the inertia with the deflection is missed in proportion to it. Lumped '
        'masses and the printed recursion miss as much without any deflection.',
    )]


CODE = {
    'gr_inertia': Code(inertia, draw),
    'gr_nonlinear': Code(nonlinear),
}
