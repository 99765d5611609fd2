# SPDX-License-Identifier: Apache-2.0
"""
Mechanisms with loops against MuJoCo's equality constraints, at rest.

MuJoCo leaves out the bias acceleration of loops, so that accelerations are compared where nothing
moves. Its constraints are soft too: accelerations are taken for three softnesses and extrapolated
to none.
"""

from pathlib import Path

import flexdyn_ros as fd
import numpy as np
from oracles.compare import reference_dynamics
from oracles.mujoco_oracle import COMPILER
import pytest
import xacro

mujoco = pytest.importorskip(
    'mujoco', reason='the oracle MuJoCo is not installed here: `make test` installs it'
)
pytestmark = pytest.mark.oracle
URDF = Path(__file__).resolve().parents[3] / 'urdf'


def model_of(text, robot, softness):
    """Return MuJoCo's model of a URDF text with the robot's loops as connects and welds."""
    impedance = 1.0 / (1.0 + softness)
    spec = mujoco.MjSpec.from_string(text.replace('</robot>', COMPILER + '</robot>'))
    for loop in robot.loops:
        weld = len(loop.constrain) == 6
        equality = spec.add_equality()
        equality.type = mujoco.mjtEq.mjEQ_WELD if weld else mujoco.mjtEq.mjEQ_CONNECT
        equality.objtype = mujoco.mjtObj.mjOBJ_BODY
        equality.name1, equality.name2 = loop.frame1, loop.frame2
        data = np.zeros(len(equality.data))
        if weld:
            data[6], data[10] = 1.0, 1.0  # frames that coincide, turns weighted by 1 m
        equality.data = data
        equality.solimp = [impedance, impedance, 0.001, 0.5, 2]
    model = spec.compile()
    model.opt.gravity[:] = robot.gravity_vector
    model.opt.tolerance, model.opt.iterations = 1e-15, 500
    for losses in ('dof_damping', 'dof_frictionloss', 'dof_armature', 'jnt_limited'):
        getattr(model, losses)[:] = 0
    return model


@pytest.mark.parametrize('name, arguments', [
    ('four_bar', {'constrain': 'tx ty tz'}), ('delta', {'modes': '0'}),
])
def test_accelerations_at_rest(name, arguments):
    text = xacro.process_file(str(URDF / f'{name}.urdf.xacro'), mappings=arguments).toprettyxml()
    # Its softness grows with the lightest body: the delta's crosses get a larger inertia.
    text = text.replace('"2e-6"', '"5e-3"')
    robot = fd.load_robot(text)
    dyn = reference_dynamics(robot)
    rng = np.random.default_rng(3)
    rest = np.zeros(robot.nv)
    q, _ = dyn.project(0.1 * rng.normal(size=robot.nv), rest)
    tau = rng.normal(size=robot.nv)
    found = []
    for softness in (1.2e-4, 2.4e-4, 4.8e-4):
        model = model_of(text, robot, softness)
        data = mujoco.MjData(model)
        order = [
            model.jnt_dofadr[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)]
            for joint in robot.joint_names
        ]
        data.qpos[order], data.qfrc_applied[order] = q, tau
        mujoco.mj_forward(model, data)
        found.append(data.qacc[order].copy())
    theirs = (8.0 * found[0] - 6.0 * found[1] + found[2]) / 3.0
    ours = dyn.forward_dynamics(q, rest, tau)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-3 * np.abs(ours).max())
