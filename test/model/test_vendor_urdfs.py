# SPDX-License-Identifier: Apache-2.0
"""Vendors' real URDF files: they load without warnings and agree with Pinocchio."""

from importlib.metadata import distribution
from pathlib import Path
from xml.etree import ElementTree

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.check import check_robot
from flexdyn_ros.model.load import load_robot
import numpy as np
import pytest

pytestmark = pytest.mark.oracle

ROOT = Path(str(distribution('example-robot-data').locate_file('')))
FOLDER = ROOT / 'cmeel.prefix' / 'share' / 'example-robot-data' / 'robots'
FILES = {path.relative_to(FOLDER).as_posix(): path for path in sorted(FOLDER.rglob('*.urdf'))}
# Files that are wrong, and a word of the error.
WRONG = {
    'alex_description/urdf/alex_psyonic_hands.urdf': 'does not exist',
    'ur_description/urdf/ur3.urdf': 'has no name',
}
RIGHT = [name for name in FILES if name not in WRONG]


def test_many_vendors_are_there():
    assert len(RIGHT) > 50


# Links whose mass and inertia together are denser than any material, or of 0.1 kg and 1 kg m^2.
DENSE = {
    'anymal_b_simple_description/robots/anymal-kinova.urdf': {
        'jaco_front_hatch_support_v2', 'jaco_mounting_block'},
    'baxter_description/urdf/baxter.urdf': {
        'left_gripper_base_link', 'right_gripper_base_link'},
    'double_pendulum_description/urdf/double_pendulum_simple.urdf': {'base_link'},
    'finger_edu_description/robots/finger_edu.urdf': {'base_link'},
    **{f'tiago_description/robots/tiago{kind}.urdf': {'xtion_link'}
       for kind in ('', '_dual', '_no_hand')},
}


@pytest.mark.parametrize('name', RIGHT)
def test_loads_without_a_word(name, capfd, caplog):
    """Only links that no material makes are called implausible."""
    loaded = load_robot(FILES[name])
    assert capfd.readouterr() == ('', '')
    assert not caplog.records
    assert loaded.total_mass > 0.0
    implausible = {
        finding.name for finding in check_robot(loaded).findings
        if any(words in finding.message for words in ('denser than', 'radius of gyration', ' Pa '))
    }
    assert implausible == DENSE.get(name, set())


def test_links_that_are_too_dense_are_there():
    assert set(DENSE) <= set(RIGHT)


@pytest.mark.parametrize('name', WRONG)
def test_wrong_files_are_refused(name):
    with pytest.raises(ModelError, match=WRONG[name]):
        load_robot(FILES[name])


def _world_poses(loaded):
    """Return {link: (position, rotation)} in the root frame with every joint at zero."""
    poses = {loaded.root: (np.zeros(3), np.eye(3))}
    for joint in loaded.joints:
        at, turn = poses[joint.parent]
        poses[joint.child] = (
            at + turn @ joint.origin.position, turn @ np.array(joint.origin.rotation)
        )
    return poses


@pytest.mark.parametrize('name', RIGHT)
def test_agrees_with_pinocchio(name):
    """Masses, placements, axes and damping are those that urdfdom, in C++, reads."""
    pin = pytest.importorskip(
        'pinocchio', reason='the oracle Pinocchio is not installed here: `make test` installs it'
    )
    loaded = load_robot(FILES[name])
    model = pin.buildModelFromUrdf(str(FILES[name]))
    data = model.createData()
    q = pin.neutral(model)
    pin.framesForwardKinematics(model, data, q)
    pin.computeJointJacobians(model, data, q)
    total = sum(inertia.mass for inertia in model.inertias)
    assert loaded.total_mass == pytest.approx(total, rel=1e-13)
    bodies = {f.name: k for k, f in enumerate(model.frames) if f.type == pin.FrameType.BODY}
    assert set(bodies) == {link.name for link in loaded.links}
    poses = _world_poses(loaded)
    for link, k in bodies.items():
        np.testing.assert_allclose(data.oMf[k].translation, poses[link][0], atol=1e-12)
        np.testing.assert_allclose(data.oMf[k].rotation, poses[link][1], atol=1e-12)
    for joint in loaded.joints:
        if joint.type not in ('revolute', 'continuous', 'prismatic'):
            continue
        column = model.joints[model.getJointId(joint.name)].idx_v
        axis = poses[joint.child][1] @ joint.axis
        rows = slice(0, 3) if joint.type == 'prismatic' else slice(3, 6)
        jacobian = pin.getFrameJacobian(
            model, data, bodies[joint.child], pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )
        np.testing.assert_allclose(jacobian[rows, column], axis, atol=1e-12)
        assert joint.dynamics.friction.viscous == model.damping[column]


@pytest.mark.parametrize('name', RIGHT)
def test_order_is_depth_first_with_children_in_file_order(name):
    loaded = load_robot(FILES[name])
    in_file = [e.get('name') for e in ElementTree.parse(FILES[name]).getroot().findall('joint')]
    at = {joint.name: k for k, joint in enumerate(loaded.joints)}
    seen = {loaded.root}
    for joint in loaded.joints:
        assert joint.parent in seen
        seen.add(joint.child)
    for link in loaded.links:
        children = [j.name for j in loaded.joints if j.parent == link.name]
        assert children == sorted(children, key=in_file.index)
    for joint in loaded.joints:
        # All below a joint follow it directly, before the next joint of its parent.
        below = {joint.child}
        for other in loaded.joints[at[joint.name] + 1:]:
            if other.parent not in below:
                break
            below.add(other.child)
        assert not any(j.parent in below and j.child not in below for j in loaded.joints)
