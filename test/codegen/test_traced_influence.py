# SPDX-License-Identifier: Apache-2.0
"""The method of kinematic influence runs on symbols as it does on floats."""

from evaluated_program import evaluate_program
import flexdyn_ros as fd
from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.dynamics.influence.equations import generalised_forces, mass_matrix
from flexdyn_ros.dynamics.influence.model import Approximations, EXACT, InfluenceModel, lumps
from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.program import Program
import numpy as np
from oracles.compare import assert_agree
from oracles.random_robots import random_robot_urdf, random_state
import pytest

ROBOTS = {
    'flexible': {'seed': 12, 'n_joints': 2, 'flexible': 1.0, 'max_modes': 1, 'tree': False},
    'joints': {'seed': 20, 'n_joints': 3, 'kinds': ('multi_axis', 'quaternion', 'planar')},
    'floating': {'seed': 17, 'n_joints': 2, 'kinds': ('floating', 'prismatic'), 'max_modes': 1},
}


@pytest.mark.parametrize('approximations', [EXACT, Approximations(True, True, True)])
@pytest.mark.parametrize('name', ROBOTS)
def test_symbols_give_the_numbers(name, approximations):
    """Mass matrix and all forces traced into one graph, evaluated at a state."""
    robot = fd.load_robot(random_robot_urdf(**ROBOTS[name]))
    tree = assemble(robot, {payload.link: payload.inertia for payload in robot.payloads})
    model = InfluenceModel.of(tree, approximations, lumps(robot, tree))
    state = [list(map(float, x)) for x in random_state(robot, np.random.default_rng(2))]
    graph = Graph()
    symbols = [
        [graph.symbol(f'{letter}{k}') for k in range(len(values))]
        for letter, values in zip('qvw', state)
    ]

    def both(q, qd, qdd):
        forces = generalised_forces(model, q, qd, qdd, robot.gravity_vector)
        return [x for row in mass_matrix(model, q) for x in row] + forces

    traced = [graph.lift(x) for x in both(*symbols)]
    values = {
        symbol.value: value
        for own, numbers in zip(symbols, state) for symbol, value in zip(own, numbers)
    }
    found = evaluate_program(Program(graph, tuple(traced)), values)
    assert_agree(found, both(*state), 1e-12)
