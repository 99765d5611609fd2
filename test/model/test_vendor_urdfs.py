# SPDX-License-Identifier: Apache-2.0
"""Vendors' real URDF files: they load quietly and say what ROS's own parser reads in them."""

from importlib.metadata import distribution
from pathlib import Path
from xml.etree import ElementTree

from flexdyn_ros import load_robot
from flexdyn_ros.errors import ModelError
import numpy as np
import pytest

pytestmark = pytest.mark.oracle
core = pytest.importorskip('urdf_parser_py.xml_reflection.core')
urdf = pytest.importorskip('urdf_parser_py.urdf')

ROOT = Path(str(distribution('example-robot-data').locate_file('')))
FOLDER = ROOT / 'cmeel.prefix' / 'share' / 'example-robot-data' / 'robots'
FILES = {path.relative_to(FOLDER).as_posix(): path for path in sorted(FOLDER.rglob('*.urdf'))}
# Files that are wrong, and a word of the error.
WRONG = {
    'alex_description/urdf/alex_psyonic_hands.urdf': 'does not exist',
    'ur_description/urdf/ur3.urdf': 'has no name',
}
RIGHT = [name for name in FILES if name not in WRONG]


def _by_other_parser(path, monkeypatch):
    """Read links and joints only, as the parser stops at some of what it does not know."""
    monkeypatch.setattr(core, 'on_error', lambda message: None)
    root = ElementTree.parse(path).getroot()
    clean = ElementTree.Element('robot', name=root.get('name'))
    for element in root:
        if element.tag in ('link', 'joint'):
            for drop in ('visual', 'collision', 'limit'):
                for inner in element.findall(drop):
                    element.remove(inner)
            clean.append(element)
    return urdf.URDF.from_xml_string(ElementTree.tostring(clean))


def test_many_vendors_are_there():
    assert len(RIGHT) > 50


@pytest.mark.parametrize('name', RIGHT)
def test_loads_without_a_word(name, capfd, caplog):
    loaded = load_robot(FILES[name])
    assert capfd.readouterr() == ('', '')
    assert not caplog.records
    assert loaded.total_mass > 0.0


@pytest.mark.parametrize('name', WRONG)
def test_wrong_files_are_refused(name):
    with pytest.raises(ModelError, match=WRONG[name]):
        load_robot(FILES[name])


@pytest.mark.parametrize('name', RIGHT)
def test_agrees_with_the_other_parser(name, monkeypatch):
    loaded, other = load_robot(FILES[name]), _by_other_parser(FILES[name], monkeypatch)
    assert {link.name for link in loaded.links} == set(other.link_map)
    assert loaded.root == other.get_root()
    assert len(loaded.joints) == len(other.joints)
    masses = [link.inertial.mass for link in other.links if link.inertial]
    assert loaded.total_mass == pytest.approx(sum(masses), rel=1e-14)
    for joint in loaded.joints:
        theirs = other.joint_map[joint.name]
        assert (joint.type, joint.parent, joint.child) == (
            theirs.type, theirs.parent, theirs.child
        )
        position = theirs.origin.xyz if theirs.origin else [0.0] * 3
        assert joint.origin.position == tuple(position or [0.0] * 3)
        if theirs.axis and joint.type not in ('fixed', 'floating'):
            axis = np.array(theirs.axis)
            np.testing.assert_allclose(joint.axis, axis / np.linalg.norm(axis), atol=1e-15)
        if theirs.dynamics and joint.type != 'fixed':
            assert joint.dynamics.friction.viscous == (theirs.dynamics.damping or 0.0)
            assert joint.dynamics.friction.coulomb == (theirs.dynamics.friction or 0.0)


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
