# SPDX-License-Identifier: Apache-2.0
"""Digits of generated forward dynamics where links are long beside the bodies on them."""

import re

from evaluated_program import evaluate_program
import flexdyn_ros as fd
from flexdyn_ros.codegen.tracing.trace import ROUND_OFF, trace
from flexdyn_ros.dynamics.base_parameters import regroup
from flexdyn_ros.dynamics.joints import AxisTerm, JointMotion
from flexdyn_ros.dynamics.multibody import Body, Multibody
from flexdyn_ros.dynamics.spatial import about_axis
import numpy as np
from oracles.compare import reference_dynamics
from oracles.vendor_robots import frictionless, robots_folder, without_geometry
import pytest

KINOVA = 'kinova_description/robots/kinova.urdf'
FAR = 20.0
STATES = 8
# Joints of the arm, and the direction in which their origin is moved.
CASES = {
    'joint 2 along x': ('j2s6s200_joint_2', 0),
    'joint 4 along z': ('j2s6s200_joint_4', 2),
    'joint 5 along z': ('j2s6s200_joint_5', 2),
    'joint 6 along y': ('j2s6s200_joint_6', 1),
    'joint 6 along z': ('j2s6s200_joint_6', 2),
}


def stretched(joint, axis):
    """Return the arm with the origin of a joint further away along an axis."""
    text = without_geometry((robots_folder() / KINOVA).read_text(encoding='utf-8'))
    pattern = rf'<joint name="{joint}".*?<origin[^>]*xyz="([^"]*)"'
    found = re.search(pattern, text, flags=re.DOTALL)
    place = [float(x) for x in found[1].split()]
    place[axis] += FAR
    text = text[: found.start(1)] + ' '.join(map(repr, place)) + text[found.end(1) :]
    return frictionless(fd.load_robot(text))


def residual(dyn, forward):
    """Return the error of inverse dynamics against the forces of forward dynamics [N m]."""
    rng, worst = np.random.default_rng(3), 0.0
    for _ in range(STATES):
        q, qd = rng.uniform(-1.0, 1.0, (2, dyn.robot.nv))
        tau = rng.uniform(-20.0, 20.0, dyn.robot.nv)
        back = dyn.inverse_dynamics(q, qd, np.ravel(forward(q, qd, tau)))
        worst = max(worst, np.abs(back - tau).max())
    return worst


def traced(robot, method):
    """Return forward dynamics as it is traced, before any pass, in base parameters."""
    program = trace(robot, 'forward_dynamics', method=method, rotation_tolerance=ROUND_OFF).program

    def forward(*vectors):
        return evaluate_program(program, {
            f'{name}[{k}]': float(x)
            for name, vector in zip(('q', 'qd', 'tau'), vectors) for k, x in enumerate(vector)
        })

    return forward


@pytest.mark.parametrize('name', list(CASES))
def test_base_parameters_keep_the_digits(name):
    """As far as the reference does, and nearly so where the mass matrix is formed."""
    robot = stretched(*CASES[name])
    dyn = reference_dynamics(robot)
    assert np.linalg.cond(dyn.mass_matrix(np.full(robot.nq, 0.3))) > 1e5
    wanted = residual(dyn, dyn.forward_dynamics)
    for method, loss in (('articulated bodies', 5.0), ('mass matrix and LDL^T', 20.0)):
        assert residual(dyn, traced(robot, method)) < loss * wanted, method


def test_generated_code_keeps_the_digits():
    """After all passes, too."""
    robot = stretched(*CASES['joint 6 along z'])
    dyn = reference_dynamics(robot)
    code = fd.generate(robot, 'forward_dynamics', language='python', rotation_tolerance=ROUND_OFF)
    assert residual(dyn, code.compile_python()) < 20.0 * residual(dyn, dyn.forward_dynamics)


def chain(own, position, moments):
    """Return two bodies on a root, the inner one about x and the outer one about z."""
    inner = Body(
        ('inner',), 0, joint=JointMotion('revolute', (1.0, 0.0, 0.0), terms=((AxisTerm(0, 0),),)),
        mass=2.0, second_moment=own,
    )
    outer = Body(
        ('outer',), 1, position=position, rotation=about_axis((0.6, 0.0, 0.8), 1.0), mass=1.0,
        joint=JointMotion('revolute', (0.0, 0.0, 1.0), terms=((AxisTerm(1, 1),),)),
        second_moment=moments,
    )
    return Multibody((Body(('root',)), inner, outer), ('inner', 'outer'), 2, {})


def test_moments_beside_a_far_child_are_kept():
    """A link's own moments are no rounding error, at any distance of its child."""
    own = ((0.02, 2e-10, 0.0), (2e-10, 0.03, 0.0), (0.0, 0.0, 0.01))
    grouped = regroup(chain(own, (0.0, 0.0, FAR), ((0.0,) * 3,) * 3))
    moments = grouped.bodies[1].second_moment
    assert moments[2][2] == pytest.approx(FAR**2, rel=1e-3)
    assert moments[0][1] == 2e-10
    assert moments[0][2] == moments[1][2] == 0.0


def test_rounding_errors_are_dropped():
    """A ball in skew axes is a ball in all axes: its link has one moment of inertia left."""
    ball = ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))
    _, inner, outer = regroup(chain(ball, (0.0, 0.0, 0.0), ball)).bodies
    assert not any(x for body in (inner, outer) for row in body.second_moment for x in row)
    assert outer.polar_inertia == pytest.approx(0.2, rel=1e-15)
    assert inner.polar_inertia == pytest.approx(0.4, rel=1e-15)
