# SPDX-License-Identifier: Apache-2.0
"""The high stiffness, low mass mechanism: its checks, and its motion under control."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np
from validation.case import Picture, Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.registry import Code
from validation.studies import COLOURS, new_figure, reference, save_figure, turn
from validation.van_der_merwe.gimbal_chain import body, Chain, joint, origin, robot_text
from validation.van_der_merwe.spatial import angular_first, mobility

CHECKS, CONTROL = 'vm_hslm', 'vm_hslm_control'
# The table's seven digits, exactly: pivots on a circle of 1 / sqrt 3, joint 2 at 0.15 m.
RUN = 1 / np.sqrt(3) - 0.15
REACH, TILT = np.hypot(1, RUN), -np.arctan2(1, RUN)
LEG_TURNS = tuple(-np.pi / 6 - k * 2 * np.pi / 3 for k in range(3))


@lru_cache(maxsize=None)
def mechanism() -> tuple[Dynamics, np.ndarray, list[Chain]]:
    """Return the dynamics with the platform afloat, the configuration at rest, and the legs."""
    data = inputs(CHECKS)
    parts = body('member', data['member']['mass'], (0, 0, 0), data['member']['inertia_com'])
    parts += joint('floats', 'floating', 'base', 'member', origin((0, 0, 0)))
    chains, loops = [], ''
    links = [{**link, 'gamma': list(link['gamma'])} for link in data['links']]
    links[0]['gamma'][3] = REACH
    for number, (base, point) in enumerate(zip(data['pivots'], data['points']), 1):
        chains.append(Chain(links, base=base, prefix=f'c{number}_'))
        # The tip is tied to the member with the orientation that it has at the start.
        where = origin(point, turn(1, LEG_TURNS[number - 1]))
        parts += f'<link name="point{number}"/>'
        parts += joint(f'at{number}', 'fixed', 'member', f'point{number}', where)
        loops += (
            f'<loop name="tie{number}" frame1="point{number}" frame2="c{number}_tip" '
            'constrain="rx ry rz tx ty tz"/>'
        )
    dyn = reference(load_robot(robot_text(chains, data['gravity'], loops, parts)))
    q = dyn.robot.neutral_configuration()
    names = [name for each in dyn.robot.joints for name in each.position_names]
    for chain, turned in zip(chains, LEG_TURNS):
        q[[names.index(n) for n in chain.coordinates]] = [turned, TILT, REACH, 0, -TILT]
    return dyn, q, chains


def _places(dyn: Dynamics, chain: Chain) -> list[int]:
    return [dyn.robot.joint_names.index(name) for name in chain.coordinates]


def checks(progress: Progress) -> list[Row]:
    """Return the rows of the mechanism falling, standing, and under a side load."""
    dyn, q, chains = mechanism()
    rest = np.zeros(dyn.robot.nv)
    qdd, forces = dyn.forward_dynamics(q, rest, rest), dyn.constraint_forces(q, rest, rest)
    report = dyn.loop_report(q)
    side = dyn.forward_dynamics(q, rest, rest, wrenches={'member': [10, 0, 0, 0, 0, 0]})
    side_member = angular_first(dyn.jacobian(q, 'member') @ side)
    printed = np.zeros(dyn.robot.nv)
    hold = _holding_forces()
    for chain in chains:
        printed[_places(dyn, chain)] = np.round(hold, 7)
    return make_rows(CHECKS, {
        'fall': -(dyn.jacobian(q, 'member') @ qdd)[1], 'push': -forces[4],
        'leg': _alike([qdd[_places(dyn, chain)] for chain in chains]),
        'tip_force': _alike([forces[6 * k: 6 * k + 6] for k in range(3)]),
        'hold': hold, 'held': np.max(np.abs(dyn.forward_dynamics(q, rest, printed))),
        'freedoms': report.degrees_of_freedom, 'rank': _rank_of_a_leg(),
        'points': -inputs(CHECKS)['points'][2][2] * np.cos(np.pi / 6.0),
        'side': side_member, 'side_recipe': side_member,
        'side_legs': [side[_places(dyn, chain)] for chain in chains],
    })


def _alike(each: list[np.ndarray]) -> np.ndarray:
    """Return the common values of three legs, with the entries that differ replaced by NaN."""
    spread = np.max(each, axis=0) - np.min(each, axis=0)
    return np.where(spread < 1e-6, each[0], np.nan)


def _holding_forces() -> np.ndarray:
    """Return the forces of a leg that carries its third of the platform along link 1."""
    data, dyn = inputs(CHECKS), _open_leg()
    q, rest = np.array([LEG_TURNS[0], TILT, REACH, 0.0, -TILT]), np.zeros(5)
    along = dyn.frame_pose(q, 'link1')[:3, 0]
    weight = data['member']['mass'] / 3 * np.array(data['gravity'])
    force = along * weight[1] / along[1]
    # The member holds the tip so that the force passes through joint 2.
    arm = dyn.frame_pose(q, 'link2')[:3, 3] - dyn.frame_pose(q, 'tip')[:3, 3]
    wrench = {'tip': np.concatenate((force, np.cross(arm, force)))}
    return dyn.inverse_dynamics(q, rest, rest, wrenches=wrench)


def _open_leg() -> Dynamics:
    data = inputs(CHECKS)
    chain = Chain(data['links'], base=data['pivots'][0])
    return reference(load_robot(robot_text([chain], data['gravity'])))


def _rank_of_a_leg() -> int:
    q = np.array([LEG_TURNS[0], TILT, REACH, 0.0, -TILT])
    return int(np.linalg.matrix_rank(mobility(_open_leg(), q, 'tip'), tol=1e-6))


@lru_cache(maxsize=None)
def one_leg() -> tuple[Dynamics, np.ndarray]:
    """Return one leg with a third of the platform on a guide, by the mechanism's symmetry."""
    data = inputs(CHECKS)
    links = [
        {**data['links'][0], 'gamma': [0, 0, TILT, REACH, 0, 0], 'axes': [2, 3]},
        {**data['links'][1], 'gamma': [0, 0, -TILT, 0.1, 0, 0], 'axes': [2]},
    ]
    parts = body('third', data['member']['mass'] / 3, (0, 0, 0), (0.1, 0.1, 0.1))
    parts += joint('carried', 'fixed', 'tip', 'third', origin((0, 0, 0)))
    parts += '<link name="guide"/>'
    parts += joint('guide', 'fixed', 'base', 'guide', origin((RUN + 0.1, 0, 0)))
    loop = '<loop name="guide" frame1="tip" frame2="guide" constrain="rz tx"/>'
    text = robot_text([Chain(links, base=(0, 1, 0))], data['gravity'], loop, parts)
    return Dynamics(load_robot(text), backend='python'), np.array([TILT, REACH, -TILT])


def controlled(
    target: np.ndarray, joints: list[int], t_end: float, start: Any = (0.0, 0.0, 0.0),
    h: float = 5e-3,
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return heights of the platform [m] and forces under the work's PID control, by RK4.

    Args:
        target: Set points of the leg's rotation, slide and second rotation, (3,).
        joints: Numbers of those that are controlled.
        t_end: End of the run [s].
        start: The integrals at the start.
        h: Time step [s].
    """
    dyn, q = one_leg()
    gains = inputs(CONTROL)['gains']
    chosen = np.zeros(3)
    chosen[joints] = 1.0

    def force(y: np.ndarray) -> np.ndarray:
        return chosen * (
            gains['proportional'] * (target - y[:3]) + y[6:] - gains['derivative'] * y[3:6]
        )

    def rate(y: np.ndarray) -> np.ndarray:
        qdd = dyn.forward_dynamics(y[:3], y[3:6], force(y))
        return np.concatenate((y[3:6], qdd, chosen * gains['integral'] * (target - y[:3])))

    y = np.concatenate((q, np.zeros(3), start))
    heights, forces = [], []
    for _ in range(int(round(t_end / h)) + 1):
        heights.append(dyn.frame_pose(y[:3], 'tip')[1, 3])
        forces.append(force(y))
        k1 = rate(y)
        k2 = rate(y + h / 2 * k1)
        k3 = rate(y + h / 2 * k2)
        k4 = rate(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        y[:3], y[3:6] = dyn.project(y[:3], y[3:6])
    return np.array(heights), np.array(forces)


@lru_cache(maxsize=None)
def _runs() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return heights and forces of the work's simulations."""
    data, default = inputs(CONTROL), one_leg()[1]
    points, held = data['setpoints'], data['held']
    raised = np.array([points['Rot_z1'], points['Disp_x1'], points['Rot_z2']])
    both, slides = [0.0, *held['both']], [0.0, *held['slides']]
    return {
        'sim1': controlled(default, [1, 2], 5.0),
        'sim1_slides': controlled(default, [1], 5.0),
        'sim2': controlled(raised, [1, 2], 5.0, both),
        'sim3': controlled(raised, [1], 5.0, slides),
        'drift': controlled(raised + [0.0, 0.0, 1e-3], [1, 2], 3.5, both, h=1e-2),
    }


def control(progress: Progress) -> list[Row]:
    """Return the rows of the mechanism held and lifted by its controller."""
    runs = _runs()
    heights = {name: run[0] for name, run in runs.items()}
    held, lifted, slides = heights['sim1'], heights['sim2'], heights['sim3']
    second = 200  # the sample after a second
    slope = (runs['drift'][1][-1] - runs['drift'][1][-51]) / 0.5
    calm = (runs['sim3'][1][-1] - runs['sim3'][1][-101]) / 0.5
    return make_rows(CONTROL, {
        'sim1': Verdict(
            held.min() < held[second] < held[-1] < 0.0,
            f'lowest {held.min():.4f} m, after a second {held[second]:.4f} m, after five '
            f'{held[-1]:.5f} m',
        ),
        'sim1_lowest': held.min(), 'sim1_second': held[second],
        'sim1_slides_lowest': heights['sim1_slides'].min(),
        'sim2': Verdict(
            lifted.max() > 0.26 and abs(lifted[-1] - 0.25) < 1e-3,
            f'highest {lifted.max():.4f} m, after five seconds {lifted[-1]:.5f} m',
        ),
        'sim2_start': runs['sim2'][1][0, 1:], 'sim2_highest': lifted.max(),
        'sim2_second': lifted[second],
        'sim3': Verdict(
            abs(slides[-1] - 0.25) < 1e-3 and abs(calm[1]) < 0.02,
            f'after 5 s {slides[-1]:.5f} m, the force changes by {calm[1]:.1e} N/s',
        ),
        'sim3_highest': slides.max(), 'sim3_second': slides[second],
        'drift': Verdict(
            abs(slope[1]) > 0.3 and abs(slope[2]) > 0.3,
            f'{slope[1]:.3f} N/s and {slope[2]:.3f} N m/s for 0.001 rad',
        ),
        'drift_slopes': slope[1:],
        'sim1_fifth': held[-1], 'sim1_forces': runs['sim1'][1][-1, 1:],
        'sim1_slides_force': runs['sim1_slides'][1][-1, 1],
        'sim2_fifth': lifted[-1], 'sim2_forces': runs['sim2'][1][-1, 1:],
        'sim3_fifth': slides[-1], 'sim3_force': runs['sim3'][1][-1, 1],
        'sim3_work': runs['sim3'][1][-1, 1],
    })


def draw_control(folder: Path) -> list[Picture]:
    """Draw the platform's height in the work's three simulations."""
    figure = new_figure(7.0)
    axes = figure.subplots()
    for k, (name, word) in enumerate((
        ('sim1', 'held'), ('sim2', 'lifted by 0.25 m'), ('sim3', 'lifted by the slides alone'),
    )):
        heights = _runs()[name][0][:201]
        axes.plot(5e-3 * np.arange(len(heights)), heights, color=COLOURS[k], label=word)
    axes.set(xlabel='time [s]', ylabel='height of the platform [m]',
             title='Three sliding legs under PID control')
    axes.legend(frameon=False)
    save_figure(figure, folder, f'{CONTROL}.png')
    return [Picture(
        f'{CONTROL}.png', 'The high stiffness, low mass mechanism under its controller (van der '
        'Merwe 1995, 8.2.2): held, it drops and creeps back; lifted, it overshoots and arrives.',
    )]


CODE = {
    CHECKS: Code(checks),
    CONTROL: Code(control, draw_control),
}
