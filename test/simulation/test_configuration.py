# SPDX-License-Identifier: Apache-2.0
"""The mapping from velocities to configuration rates, names and units."""

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.records.base import IDENTITY
from flexdyn_ros.model.records.beam import Beam, ModeFamily
from flexdyn_ros.model.records.joint import Joint, JointDynamics, Mimic
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.simulation.configuration import ConfigurationMap, quaternion_matrix
import numpy as np
import pytest
from scipy.spatial.transform import Rotation


@pytest.fixture
def robot() -> Robot:
    """Return a slide, a floating body, an elastic joint and a beam, a follower, a table."""
    beam = Beam(
        tip='1 0 0', axes=IDENTITY, length=1.0, mass=1.0,
        families=(ModeFamily('bending_y', 1), ModeFamily('torsion', 1)),
    )
    return Robot(
        'mixed',
        links=(Link('base'), Link('a'), Link('b'), Link('c', beam=beam), Link('d'), Link('e')),
        joints=(
            Joint('slide', 'prismatic', 'base', 'a'),
            Joint('free', 'floating', 'a', 'b'),
            Joint('hinge', 'revolute', 'b', 'c', dynamics=JointDynamics(stiffness=10.0)),
            Joint('follower', 'revolute', 'c', 'd', mimic=Mimic('hinge')),
            Joint('table', 'planar', 'd', 'e'),
        ),
    )


def test_names_and_units_follow_the_coordinates(robot):
    """Joints come first, then modes; a floating joint has seven entries for six velocities."""
    configuration = ConfigurationMap(robot)
    assert configuration.names == (
        'slide', 'free/tx', 'free/ty', 'free/tz', 'free/qx', 'free/qy', 'free/qz', 'free/qw',
        'hinge', 'table/x', 'table/y', 'table/theta', 'hinge/elastic', 'c/bending_y1',
        'c/torsion1',
    )
    assert configuration.units == (
        'm', 'm', 'm', 'm', '1', '1', '1', '1', 'rad', 'm', 'm', 'rad', 'rad', 'm', 'rad',
    )
    assert configuration.velocity_names == robot.coordinate_names
    assert configuration.velocity_units == (
        'm/s', 'm/s', 'm/s', 'm/s', 'rad/s', 'rad/s', 'rad/s', 'rad/s', 'm/s', 'm/s', 'rad/s',
        'rad/s', 'm/s', 'rad/s',
    )
    assert configuration.effort_units[:2] == ('N', 'N')
    assert configuration.effort_units[4] == 'N m'
    assert (configuration.nq, configuration.nv) == (15, 14)


def test_rate_is_the_derivative_of_the_motion(robot):
    """Follow constant body velocities for a moment and compare, by an independent rotation."""
    rng = np.random.default_rng(1)
    configuration = ConfigurationMap(robot)
    q = configuration.normalise(rng.normal(size=15))
    v = rng.normal(size=14)

    def moved(h: float) -> np.ndarray:
        start = Rotation.from_quat(q[4:8])
        turned = start * Rotation.from_rotvec(h * v[4:7])
        quaternion = turned.as_quat()
        quaternion *= np.sign(quaternion @ q[4:8])
        after = np.concatenate((
            q[:1] + h * v[:1], q[1:4] + h * start.apply(v[1:4]), quaternion, q[8:] + h * v[7:],
        ))
        return after

    numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5
    assert np.allclose(configuration.rate(q, v), numeric, atol=1e-9)


def test_quaternion_matrix_agrees_with_scipy():
    """The quaternion's order is x, y, z, w, and its length does not count."""
    p = np.array([0.3, -0.4, 0.2, 0.7])
    assert np.allclose(quaternion_matrix(p), Rotation.from_quat(p).as_matrix(), atol=1e-15)


def test_normalise_touches_quaternions_only(robot):
    """Other coordinates keep their bits."""
    q = np.arange(1.0, 16.0)
    after = ConfigurationMap(robot).normalise(q.copy())
    assert np.linalg.norm(after[4:8]) == pytest.approx(1.0, abs=1e-15)
    assert (np.delete(after, range(4, 8)) == np.delete(q, range(4, 8))).all()


def test_a_quaternion_that_is_no_rotation_is_refused(robot):
    """A configuration of zeros is the usual mistake; the joint is named."""
    with pytest.raises(ArgumentError, match='"q0".*"free".*length 0.*0 0 0 1'):
        ConfigurationMap(robot).checked(np.zeros(15), 'q0')
