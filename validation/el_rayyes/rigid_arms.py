# SPDX-License-Identifier: Apache-2.0
"""The thesis's rigid arms: constants of its listings, terms of the equations, closure."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.dynamics.mass_matrix import (
    mass_matrix,
    mass_matrix_by_columns,
    mass_matrix_by_outer_links,
)
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np
from validation.case import Picture, Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.counts.dh_chain import turn_about_x
from validation.counts.robots import STANFORD, stanford_arm
from validation.registry import Code
from validation.robots import example_robot
from validation.studies import COLOURS, new_figure, reference, save_figure


def stanford(progress: Progress) -> list[Row]:
    """Return the rows of the Stanford arm."""
    return make_rows('er_stanford_vectors', _vectors('er_stanford_vectors', _stanford()))


def puma(progress: Progress) -> list[Row]:
    """Return the rows of the Puma 560, in the model of Armstrong and others."""
    robot = example_robot('puma560', link1='published')
    return make_rows('er_puma_vectors', _vectors('er_puma_vectors', robot))


def _stanford() -> Robot:
    return example_robot('stanford_arm')


def _vectors(name: str, robot: Robot) -> dict[str, Any]:
    """Return the torque, its terms, and the thesis's checks of its generators."""
    data, dyn = inputs(name), reference(robot)
    q, qd, qdd = (np.array(data[key]) for key in ('q', 'qd', 'qdd'))
    torque = dyn.inverse_dynamics(q, qd, qdd)
    terms = (dyn.gravity_vector(q), dyn.coriolis_vector(q, qd), dyn.inertia_vector(q, qdd))
    tree = assemble(robot, {})
    methods: list[np.ndarray] = [
        np.array(method(tree, list(q)))
        for method in (mass_matrix_by_columns, mass_matrix_by_outer_links, mass_matrix)
    ]
    return {
        'torque': torque, 'gravity': terms[0], 'coriolis': terms[1], 'inertia': terms[2],
        'payload': _payload(dyn, q, qd, qdd) - torque, 'mass_matrix': dyn.mass_matrix(q),
        'sum': np.max(np.abs(sum(terms) - torque)),
        'closure': np.max(np.abs(dyn.forward_dynamics(q, qd, torque) - qdd)),
        'methods': max(np.max(np.abs(matrix - methods[0])) for matrix in methods),
    }


def _payload(dyn: Dynamics, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Return the torque with 5 N and 5 N m on the environment, in axes of the last link."""
    turn = dyn.frame_pose(q, 'tool')[:3, :3]
    on_robot = -np.concatenate((turn @ np.full(3, 5.0), turn @ np.full(3, 5.0)))
    return dyn.inverse_dynamics(q, qd, qdd, wrenches={'tool': on_robot})


def constants(progress: Progress) -> list[Row]:
    """Return the rows of the constants in the thesis's sample listings."""
    robot = _stanford()
    bodies = [robot.link(f'link{k}').inertia for k in (1, 2)]
    # Frames of the thesis stand at the far ends, turned about x by -90 and 90 degrees.
    first, second = (np.diag(np.array(body.matrix)) for body in bodies)
    return make_rows('er_stanford_constants', {
        'j11': first[0], 'j31': first[1], 'j32_j22': second[1] - second[2],
    })


def puma_gravity(progress: Progress) -> list[Row]:
    """Return the rows of the published gravity torque of the Puma 560."""
    dyn = reference(example_robot('puma560'))
    q = inputs('er_puma_gravity')['q']
    return make_rows('er_puma_gravity', {'gravity': dyn.gravity_vector(q)})


@lru_cache(maxsize=None)
def _motion() -> dict[str, np.ndarray]:
    """Return times, joint 2's state, torques, their terms, and the torques by matrices."""
    given = inputs('er_stanford_motion')
    dyn = reference(stanford_arm())
    times = np.linspace(0.0, given['duration'], given['samples'])
    share, end = times[:, None] / given['duration'], np.array(given['end'])
    wave, rate = 2.0 * np.pi * share, 1.0 / given['duration']
    q = end * (share - np.sin(wave) / (2.0 * np.pi))
    qd = rate * end * (1.0 - np.cos(wave))
    qdd = 2.0 * np.pi * rate**2 * end * np.sin(wave)
    states = list(zip(q, qd, qdd))
    torque = np.array([dyn.inverse_dynamics(*state) for state in states])
    return {
        't': times, 'q': q, 'qd': qd, 'qdd': qdd, 'torque': torque,
        'matrices': np.array([_by_matrices(*state) for state in states]),
        'inertia': np.array([dyn.inertia_vector(q, qdd) for q, _, qdd in states]),
        'Coriolis': np.array([dyn.coriolis_vector(q, qd) for q, qd, _ in states]),
        'gravity': np.array([dyn.gravity_vector(q) for q, _, _ in states]),
        'payload': np.array([_payload(dyn, *state) for state in states]) - torque,
        'whole': np.array([_payload(dyn, *state) for state in states]),
    }


def _by_matrices(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """
    Return the Stanford arm's torques by Hollerbach's recursion of 4 x 4 matrices.

    Links are given by their moments about the origin of their frames, as in Paul's table. J. M.
    Hollerbach, IEEE Trans. Systems, Man, and Cybernetics 10(11), 1980.
    """
    one, rate, change = np.eye(4), np.zeros((4, 4)), np.zeros((4, 4))
    change[2, 3] = 9.81
    kept = []
    for k, (alpha, offset, mass, com, moments, slides) in enumerate(STANFORD):
        step, first, second = _matrix(alpha, q[k] if slides else offset, slides, q[k])
        speed, speedup = first * qd[k], second * qd[k]**2 + first * qdd[k]
        before = one
        one, rate, change = one @ step, rate @ step + one @ speed, (
            change @ step + 2.0 * rate @ speed + one @ speedup
        )
        inertia = np.zeros((4, 4))
        place = np.array(com)
        # Moments about the origin; products are those of a link without any about its centre.
        inertia[:3, :3] = mass * (np.outer(place, place) - np.diag(place**2)) + np.diag(
            0.5 * np.sum(moments) - np.array(moments)
        )
        inertia[3, :3] = inertia[:3, 3] = mass * place
        inertia[3, 3] = mass
        kept.append((before @ first, step, inertia @ change.T))
    torques, outer = np.zeros(len(q)), np.zeros((4, 4))
    for k in reversed(range(len(q))):
        moved, step, own = kept[k]
        torques[k] = np.trace(moved @ (own + outer))
        outer = step @ (own + outer)
    return torques


def _matrix(alpha: float, offset: float, slides: bool, angle: float) -> tuple:
    """Return a joint's matrix (2.1) with its offset, and both derivatives."""
    angle = 0.0 if slides else angle
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    lift, twist, change = np.eye(4), np.eye(4), np.zeros((4, 4))
    lift[2, 3] = offset
    twist[:3, :3] = turn_about_x(alpha)
    if slides:
        change[2, 3] = 1.0
    else:
        change[0, 1], change[1, 0] = -1.0, 1.0
    whole = turn @ lift @ twist
    return whole, change @ whole, change @ change @ whole


def stanford_motion(progress: Progress) -> list[Row]:
    """Return the rows of figures 4.2 to 4.6: a motion of all joints from the upright arm."""
    run = _motion()
    terms = ('inertia', 'Coriolis', 'gravity', 'payload')
    second = {name: np.abs(run[name][:, 1]) for name in terms}
    angle = np.abs(run['q'][:, 1])
    latest, flattest = int(np.argmax(second['gravity'])), int(np.argmax(np.sin(angle)))
    strongest, fastest = (
        float(run['t'][int(np.argmax(values))])
        for values in (run['inertia'][:, 1], run['qdd'][:, 1])
    )
    largest = {name: float(values.max()) for name, values in second.items()}
    return make_rows('er_stanford_motion', {
        'matrices': np.max(np.abs(run['torque'] - run['matrices'])),
        'sum': np.max(np.abs(sum(run[name] for name in terms) - run['whole'])),
        'upright': run['gravity'][0, 1],
        'horizontal': Verdict(
            abs(latest - flattest) <= 0.05 * len(angle) and largest['gravity'] > 0.0,
            f'largest at {run["t"][latest]:.2f} s, link 2 flattest at {run["t"][flattest]:.2f} s',
        ),
        'accelerated': Verdict(
            abs(strongest - fastest) < 0.1 * run['t'][-1],
            f'largest at {strongest:.2f} s, the acceleration at {fastest:.2f} s',
        ),
        'payload': Verdict(
            largest['payload'] < 0.5 * largest['gravity'],
            f'{largest["payload"]:.1f} N m against {largest["gravity"]:.1f} N m',
        ),
        'coriolis': Verdict(
            largest['Coriolis'] < 0.5 * largest['gravity'],
            f'{largest["Coriolis"]:.1f} N m against {largest["gravity"]:.1f} N m',
        ),
    })


def draw_motion(folder: Path) -> list[Picture]:
    """Draw the curves of figures 4.2 to 4.6."""
    run, figure = _motion(), new_figure(11.0, 6.5)
    state, matrices, recursion, parts = figure.subplots(2, 2).flat
    for k, (key, word) in enumerate((('q', 'angle'), ('qd', 'rate'), ('qdd', 'acceleration'))):
        state.plot(run['t'], run[key][:, 1], color=COLOURS[k], label=word)
    state.set(title='4.2: joint 2', ylabel='[rad], [rad/s], [rad/s$^2$]')
    for axes, key, title in (
        (matrices, 'matrices', '4.3: by 4 x 4 matrices'),
        (recursion, 'torque', '4.4: by Newton and Euler'),
    ):
        for joint in range(6):
            axes.plot(run['t'], run[key][:, joint], color=COLOURS[joint], label=f'{joint + 1}')
        axes.set(title=title, ylabel='torque [N m], force [N]')
    for k, name in enumerate(('inertia', 'Coriolis', 'gravity', 'payload')):
        parts.plot(run['t'], run[name][:, 1], color=COLOURS[k], label=name)
    parts.plot(run['t'], run['whole'][:, 1], color=COLOURS[6], linestyle='--',
               label='inverse dynamics')
    parts.set(title='4.5 and 4.6: terms of joint 2', ylabel='torque [N m]')
    for axes in (state, matrices, recursion, parts):
        axes.set_xlabel('time [s]')
        axes.legend(frameon=False, fontsize=8)
    save_figure(figure, folder, 'er_stanford_motion.png')
    return [Picture(
        'er_stanford_motion.png', 'Figures 4.2 to 4.6 of El-Rayyes on a motion of our own, since '
        'his is not printed: the Stanford arm moves from the upright position. Torques by two '
        'formulations, and the terms of joint 2 with their sum.',
    )]


CODE = {
    'er_stanford_constants': Code(constants),
    'er_stanford_vectors': Code(stanford),
    'er_puma_vectors': Code(puma),
    'er_stanford_motion': Code(stanford_motion, draw_motion),
    'er_puma_gravity': Code(puma_gravity),
}
