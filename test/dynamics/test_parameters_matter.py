# SPDX-License-Identifier: Apache-2.0
"""Every accepted parameter of the extension, and of the URDF's physics, changes some output."""

import xml.etree.ElementTree as ElementTree

from changed_parameters import (
    BASE,
    BEAM,
    CHANGES,
    LOOP,
    MODAL,
    MULTI_AXIS,
    NAMES,
    SEGMENT_CHANGES,
    SEGMENTED,
    SEGMENTS,
    STATION_CHANGES,
    TAPERED,
    URDF_CHANGES,
)
import flexdyn_ros as fd
from flexdyn_ros.model.extension.elements import FLEXDYN
import numpy as np
from oracles.compare import reference_dynamics
import pytest


def changed(path=None, attribute=None, value=None, also=(), base=BASE):
    """Return the base text with one attribute changed, set or (None) removed."""
    root = ElementTree.fromstring(base)
    for where, name, text in ((path, attribute, value), *also):
        if where is None:
            continue
        element = root.find(where)
        assert element is not None, where
        if text is None:
            del element.attrib[name]
        else:
            assert element.get(name) != text
            element.set(name, text)
    if attribute == 'axis' and 'bending' in path:  # one family a direction: exchange the two
        root.findall(f'{BEAM}/bending')[1].set('axis', 'y')
    return ElementTree.tostring(root, encoding='unicode')


def outputs(text):
    """Return names and the numbers that the robot gives at a fixed state."""
    robot = fd.load_robot(text)
    dyn = reference_dynamics(robot)
    rng = np.random.default_rng(1)
    q, qd, qdd = (np.abs(rng.normal(size=robot.nv)) for _ in range(3))
    q[robot.n_joints:] *= 0.05
    values = [dyn.inverse_dynamics(q, qd, qdd), dyn.mass_matrix(q).ravel()]
    values += [dyn.friction_vector(qd), dyn.elastic_vector(q, qd), dyn.gravity_vector(q)]
    return robot.coordinate_names, np.concatenate(values)


BEFORE, SEGMENTED_BEFORE = outputs(BASE), outputs(SEGMENTED)


def assert_differs(text, what, before=BEFORE):
    """Assert that the changed text gives other numbers."""
    names, values = outputs(text)
    assert np.all(np.isfinite(values))
    if names == before[0]:
        effect = np.max(np.abs(values - before[1]) / np.maximum(1.0, np.abs(before[1])))
        assert effect > 1e-9, f'{what} has no effect'


@pytest.mark.parametrize('path, attribute, value', CHANGES + URDF_CHANGES)
def test_changing_it_changes_the_dynamics(path, attribute, value):
    """One attribute at a time."""
    assert_differs(changed(path, attribute, value), f'{path} {attribute}')


@pytest.mark.parametrize('path, attribute, value', SEGMENT_CHANGES)
def test_changing_segments_and_springs_changes_the_dynamics(path, attribute, value):
    """One attribute at a time."""
    text = changed(path, attribute, value, base=SEGMENTED)
    assert_differs(text, f'{path} {attribute}', SEGMENTED_BEFORE)


@pytest.mark.parametrize('name, one, other', [
    ('density', '800', '900'), ('linear_density', '0.8', '0.9'),
])
def test_the_other_ways_to_give_the_mass_matter(name, one, other):
    """Density and mass per length, in the place of mass."""
    for path, base in ((BEAM, BASE), (SEGMENTS, SEGMENTED)):
        without = ((path, 'mass', None),)
        before = outputs(changed(path, name, one, without, base))
        assert_differs(changed(path, name, other, without, base), name, before)


@pytest.mark.parametrize('name, value', STATION_CHANGES)
def test_stations_matter(name, value):
    """One property of one station at a time."""
    root = ElementTree.fromstring(TAPERED)
    station = root.findall(f'{BEAM}/station')[1 if name == 'at' else 0]
    assert float(station.get(name)) != float(value)
    station.set(name, value)
    assert_differs(ElementTree.tostring(root, encoding='unicode'), name, outputs(TAPERED))


def test_interpolation_matters():
    text = TAPERED.replace('rotary_inertia="false"', 'interpolation="conical"')
    assert_differs(text, 'interpolation', outputs(TAPERED))


@pytest.mark.parametrize(('name', 'usual', 'other'), [
    ('distribution', 'uniform', 'fit'),
    ('remainder', 'root', 'tip'),
    ('remainder', 'root', 'both'),
])
def test_shares_of_inertial_matter(name, usual, other):
    """Distribution of the mass that a beam takes of <inertial>, and place of the rest."""
    text = changed(BEAM, name, usual, ((BEAM, 'mass', None),))
    assert_differs(text.replace(f'{name}="{usual}"', f'{name}="{other}"'), name, outputs(text))


def test_the_two_joint_types_of_elastic_and_stiff_damping_differ():
    """Damping of a stiff joint is friction, that of an elastic joint acts across the spring."""
    robot = fd.load_robot(BASE)
    dyn = reference_dynamics(robot)
    rate = np.zeros(robot.nv)
    rate[robot.coordinate_names.index('joint2/elastic')] = 1.0
    assert dyn.friction_vector(rate)[1] == 0.0
    assert dyn.elastic_vector(0 * rate, rate) @ rate == pytest.approx(0.6)


def test_axes_and_rotation_of_a_multi_axis_joint_matter():
    """Other axes, and a quaternion's spin in the place of the rates of angles."""
    text = BASE.replace('type="revolute"><origin xyz="0.8', 'type="floating"><origin xyz="0.8')
    text = text.replace('stiffness="300"', '').replace('joint="joint2"', 'joint="joint3"')

    def spin(axes):
        element = f'<multi_axis_joint joint="joint2" axes={axes}/></flexdyn>'
        robot = fd.load_robot(text.replace('</flexdyn>', element))
        q = robot.neutral_configuration()
        turned = {'/ry': 0.5, '/qy': np.sin(0.25), '/qw': np.cos(0.25)}
        names = [name for joint in robot.joints for name in joint.position_names]
        for ending, value in turned.items():
            q[[k for k, name in enumerate(names) if name.endswith(ending)]] = value
        return robot.joint_names, reference_dynamics(robot).jacobian(q, 'link2')

    names, by_angles = spin('"rx ry rz"')
    same, by_quaternion = spin('"rx ry rz" rotation="quaternion"')
    others, _ = spin('"rx ry tz"')
    assert names == same != others
    assert np.abs(by_angles - by_quaternion).max() > 0.1


def test_what_a_general_axis_is_matters():
    """Direction, place, pitch and kind of an axis, and the order of two."""
    text = BASE.replace('type="revolute"><origin xyz="0.8', 'type="floating"><origin xyz="0.8')
    text = text.replace('stiffness="300"', '').replace('joint="joint2"', 'joint="joint3"')
    axis = '<axis name="a" xyz="{}" through="{}"{}/>'
    fixed = '<axis name="b" xyz="1 0 0"/>'
    found = []
    for inner in (
        axis.format('0 1 0', '0 0 0.1', '') + fixed, fixed + axis.format('0 1 0', '0 0 0.1', ''),
        axis.format('0 1 1', '0 0 0.1', '') + fixed, axis.format('0 1 0', '0 0 0.2', '') + fixed,
        axis.format('0 1 0', '0 0 0.1', ' pitch="0.1"') + fixed,
        '<axis name="a" xyz="0 1 0" motion="slide"/>' + fixed,
    ):
        element = f'<multi_axis_joint joint="joint2">{inner}</multi_axis_joint></flexdyn>'
        robot = fd.load_robot(text.replace('</flexdyn>', element))
        q = np.full(robot.nq, 0.3)
        found.append(reference_dynamics(robot).frame_pose(q, 'link2'))
    for k, one in enumerate(found):
        for other in found[:k]:
            assert np.abs(one - other).max() > 1e-3


def test_the_directions_of_a_loop_matter():
    """Each direction that is held changes the motion."""
    found = []
    for constrain in ('tx', 'ty', 'tx ty', 'rz', 'rx ry'):
        loop = f'<loop name="l" frame1="link2" frame2="link0" constrain="{constrain}"/></flexdyn>'
        robot = fd.load_robot(BASE.replace('</flexdyn>', loop))
        q, dyn = np.full(robot.nv, 0.1), reference_dynamics(robot)
        dyn.loop_tolerance = np.inf
        found.append(dyn.forward_dynamics(q, 0 * q, 0 * q))
    for k, one in enumerate(found):
        for other in found[:k]:
            assert np.abs(one - other).max() > 1e-3


def test_the_table_covers_the_schema():
    """Every attribute that the reader accepts is perturbed above, or named as not physical."""
    def walk(element, path):
        yield from ((path, attribute.name) for attribute in element.attributes)
        for child in element.children:
            yield from walk(child, f'{path}/{child.name}')

    def bare(path):
        return '/'.join(part.split('[')[0] for part in path.split('/'))

    tested = {(bare(path), attribute) for path, attribute, _ in CHANGES + SEGMENT_CHANGES}
    tested |= {(path, f'{what}density') for path in (BEAM, SEGMENTS) for what in ('', 'linear_')}
    tested |= {(f'{BEAM}/station', name) for name, _ in STATION_CHANGES}
    tested |= {(BEAM, 'interpolation'), (BEAM, 'distribution'), (BEAM, 'remainder')}
    tested |= {('flexdyn/joint_dynamics/friction', a) for p, a, _ in CHANGES if 'friction' in p}
    tested |= {(f'{MULTI_AXIS}/axis', name) for name in ('xyz', 'through', 'pitch', 'motion')}
    tested |= {(MULTI_AXIS, 'axes'), (MULTI_AXIS, 'rotation'), (LOOP, 'constrain')}
    tested |= {(MODAL, name) for name in (
        'file', 'format', 'modes', 'damping_ratio', 'tolerance', 'body_frame',
    )}
    tested |= {(f'{MODAL}/attach', name) for name in ('joint', 'node')}
    # Sensors take no part in the dynamics: see test/modal_observer.
    walked = {pair for pair in walk(FLEXDYN, 'flexdyn') if pair[0] != 'flexdyn/sensor'}
    assert walked == tested | NAMES
