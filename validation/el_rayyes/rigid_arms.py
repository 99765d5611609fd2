# SPDX-License-Identifier: Apache-2.0
"""The thesis's rigid arms: constants of its listings, terms of the equations, closure."""

from __future__ import annotations

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
from validation.case import Progress, Row
from validation.case_file import inputs, make_rows
from validation.registry import Code
from validation.robots import example_robot
from validation.studies import reference


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
    """Return the torque, its terms, and what the thesis verifies its generators by."""
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
        'mass': bodies[0].mass, 'com': bodies[0].com[1],
        'j11': first[0], 'j31': first[1], 'j32_j22': second[1] - second[2],
        'balance': reference(robot).gravity_vector(np.zeros(6))[1],
    })


def puma_gravity(progress: Progress) -> list[Row]:
    """Return the rows of the published gravity torque of the Puma 560."""
    dyn = reference(example_robot('puma560'))
    q = inputs('er_puma_gravity')['q']
    return make_rows('er_puma_gravity', {'gravity': dyn.gravity_vector(q)})


CODE = {
    'er_stanford_constants': Code(constants),
    'er_stanford_vectors': Code(stanford),
    'er_puma_vectors': Code(puma),
    'er_puma_gravity': Code(puma_gravity),
}
