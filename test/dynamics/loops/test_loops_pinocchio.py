# SPDX-License-Identifier: Apache-2.0
"""Mechanisms with loops against Pinocchio's constrained dynamics."""

from pathlib import Path

import flexdyn_ros as fd
import numpy as np
from oracles.compare import reference_dynamics
import pytest
import xacro

pin = pytest.importorskip(
    'pinocchio', reason='the oracle Pinocchio is not installed here: `make test` installs it'
)
pytestmark = pytest.mark.oracle
URDF = Path(__file__).resolve().parents[3] / 'urdf'
CASES = {
    'four_bar': ({'constrain': 'tx ty tz'}, 'rocker_pin'),
    'delta': ({'modes': '0', 'payload_mass': '0'}, None),
}


def constrained(model, robot):
    """Return Pinocchio's models of the loops; all six directions or the three of a point."""
    found = pin.StdVec_RigidConstraintModel()
    for loop in robot.loops:
        kind = pin.ContactType.CONTACT_6D if len(loop.constrain) == 6 else (
            pin.ContactType.CONTACT_3D)
        ends = []
        for name in (loop.frame1, loop.frame2):
            frame = model.frames[model.getFrameId(name, pin.FrameType.BODY)]
            parent = getattr(frame, 'parentJoint', None)
            ends += [frame.parent if parent is None else parent, frame.placement]
        found.append(pin.RigidConstraintModel(kind, model, *ends, pin.ReferenceFrame.LOCAL))
    return found


@pytest.mark.parametrize('name', CASES)
@pytest.mark.parametrize('seed', [1, 2])
def test_accelerations(name, seed):
    """At random closed states, under random torques; the four-bar's loop repeats itself."""
    arguments, _ = CASES[name]
    text = xacro.process_file(str(URDF / f'{name}.urdf.xacro'), mappings=arguments).toprettyxml()
    robot = fd.load_robot(text)
    dyn = reference_dynamics(robot)
    rng = np.random.default_rng(seed)
    q, qd = dyn.project(0.1 * rng.normal(size=robot.nv), rng.normal(size=robot.nv))
    tau = rng.normal(size=robot.nv)
    model = pin.buildModelFromXML(text)
    model.gravity = pin.Motion(np.array(robot.gravity_vector), np.zeros(3))
    assert tuple(model.names)[1:] == robot.joint_names
    data = model.createData()
    loops = constrained(model, robot)
    loop_data = pin.StdVec_RigidConstraintData()
    for each in loops:
        loop_data.append(each.createData())
    pin.initConstraintDynamics(model, data, loops, loop_data)
    settings = pin.ProximalSettings(1e-14, 1e-9, 200)
    theirs = pin.constraintDynamics(model, data, q, qd, tau, loops, loop_data, settings)
    ours = dyn.forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6 * np.abs(theirs).max())
