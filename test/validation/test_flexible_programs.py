# SPDX-License-Identifier: Apache-2.0
"""King's equations as a listing, and as 4 x 4 matrices, compute this package's numbers."""

from math import cos, prod, sin

import flexdyn_ros as fd
import numpy as np
import pytest
from validation.counts.published import published
from validation.counts.robots import flexible_arm
from validation.el_rayyes import flexible_programs
from validation.el_rayyes.transforms import Rod, RodArm


@pytest.mark.parametrize('case', ['A', 'K'])
def test_the_listing_of_direct_dynamics(case):
    """The statements of FLEXHB give the bias and the lower triangle of the mass matrix."""
    entry = published()['flexible'][case]
    robot = flexible_arm(case, entry['links'], entry['modes'], 0.0, entry['gravity'])
    dyn = fd.Dynamics(robot, backend='reference')
    q, qd = np.random.default_rng(3).normal(size=(2, robot.nv))
    q[robot.n_joints:] *= 0.05
    listing, values = flexible_programs.direct_dynamics(entry)
    order = []
    for number, kind in enumerate(entry['links'].split('-'), 1):
        places = {f'joint{number}': ''} if kind == 'R' else {
            f'joint{number}': '', f'link{number}/bending_y1': f'y1_{number}',
            f'link{number}/bending_z1': f'z1_{number}',
        }
        for name, tag in places.items():
            at = robot.coordinate_names.index(name)
            order.append(at)
            if tag:
                values |= {f'D{tag}': q[at], f'DD{tag}': qd[at]}
            else:
                values |= {f'C{number}': cos(q[at]), f'S{number}': sin(q[at])}
                values[f'QD{number}'] = qd[at]
    for statement in (*listing.statements, *listing.results):
        values[statement.name] = sum(
            term.sign * prod(values[name] for name in term.atoms) for term in statement.terms
        )
    bias = [values[f'B{k}'] for k in range(robot.nv)]
    assert bias == pytest.approx(dyn.bias_vector(q, qd)[order], rel=1e-8, abs=1e-8)
    mass = dyn.mass_matrix(q)[np.ix_(order, order)]
    found = [[values[f'H{i}_{k}'] for k in range(i + 1)] for i in range(robot.nv)]
    for row, expected in zip(found, mass):
        np.testing.assert_allclose(row, expected[:len(row)], rtol=1e-8, atol=1e-9)


def test_transformation_matrices_of_rigid_rods():
    """Two rods without modes are a double pendulum: closed form of its mass matrix."""
    arm = RodArm([Rod(1.0, 0.6, 1.0), Rod(0.5, 0.4, 1.0, tip_mass=0.3)], (0.0, -9.81, 0.0))
    q, rest = np.array([0.4, -0.9]), np.zeros(2)
    bias, *columns = arm.inverse_dynamics(q, rest, np.vstack((rest, np.eye(2))))
    outer = 0.4 * 0.5**2 / 3.0 + 0.3 * 0.5**2
    lever = (0.4 * 0.25 + 0.3 * 0.5) * cos(q[1])
    first = 0.6 / 3.0 + 0.4 + 0.3 + outer + 2.0 * lever
    mass = np.array(columns) - bias
    assert mass == pytest.approx(np.array([[first, outer + lever], [outer + lever, outer]]))
    assert bias[1] == pytest.approx(9.81 * (0.4 * 0.25 + 0.3 * 0.5) * cos(q.sum()))
