# SPDX-License-Identifier: Apache-2.0
"""Pinocchio, which ignores <flexdyn>, loads the example robots as the rigid arms they contain."""

from example_robots import (
    CANADARM_MASS_MATRIX,
    expand,
    PUMA_GRAVITY_CASE,
    REFERENCES,
    STATE,
    VARIANTS,
)
import numpy as np
import pytest

pin = pytest.importorskip(
    'pinocchio', reason='the oracle Pinocchio is not installed here: `make test` installs it'
)
pytestmark = pytest.mark.oracle

# Pinocchio merges resting links into the universe, whose mass it does not count.
FIXED_MASS = {'cobot7': 0.629769, 'satellite_arm': 120.0}


def fixed_mass(variant):
    """Return the mass of an example robot that does not move [kg]."""
    if variant.robot == 'segmented_arm' and 'joint1' not in variant.joints:
        return variant.mass / 3.0  # the first of three equal links
    return FIXED_MASS.get(variant.robot, 0.0)


def build(robot, arguments=None):
    """Return Pinocchio's model of an example robot, and data."""
    model = pin.buildModelFromXML(expand(robot, arguments))
    return model, model.createData()


def mass_matrix(model, data, q):
    """Return the full joint-space mass matrix (crba fills the upper half)."""
    upper = np.triu(pin.crba(model, data, q))
    return upper + np.triu(upper, 1).T


# Joints of several axes are floating joints to Pinocchio, with six velocities.
SINGLE = [variant for variant in VARIANTS if not any('/' in name for name in variant.joints)]


@pytest.mark.parametrize('variant', SINGLE, ids=str)
def test_loads_rigidly(variant):
    model, _ = build(variant.robot, variant.arguments)
    joints = tuple(name for name in variant.joints if not name.startswith('base_motion/'))
    assert tuple(model.names)[1:] == joints
    assert model.nq == model.nv == len(joints)
    moving = variant.mass - fixed_mass(variant)
    if not variant.joints:
        moving = 0.0
    assert pin.computeTotalMass(model) == pytest.approx(moving, rel=1e-12)


@pytest.mark.parametrize(
    'robot, arguments',
    [('stanford_arm', {}), ('puma560', {}), ('puma560', {'link1': 'published'})],
    ids=['stanford', 'puma', 'puma_published_link1'],
)
def test_classical_arms_equal_their_denavit_hartenberg_tables(robot, arguments):
    model, data = build(robot, arguments)
    q, qd, qdd = (np.array(STATE[name]) for name in ('q', 'qd', 'qdd'))
    expected = REFERENCES[robot]
    np.testing.assert_allclose(
        pin.rnea(model, data, q, qd, qdd), expected['torque'], rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        pin.computeGeneralizedGravity(model, data, q), expected['gravity'], rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        mass_matrix(model, data, q), expected['mass_matrix'], rtol=0, atol=1e-9)


def test_published_gravity_torque_of_the_puma():
    model, data = build('puma560')
    q, expected = PUMA_GRAVITY_CASE
    gravity = pin.computeGeneralizedGravity(model, data, np.array(q))
    np.testing.assert_allclose(gravity, expected, rtol=0, atol=6e-5)


def test_canadarm_has_the_mass_matrix_of_slender_rods():
    model, data = build('canadarm')
    np.testing.assert_allclose(
        mass_matrix(model, data, np.zeros(3)), CANADARM_MASS_MATRIX, rtol=1e-12)


def test_cobot_hand_stands_where_the_published_table_puts_it():
    # Denavit-Hartenberg table of the Panda at zero: x = a4 - a5 + a7, z = d1 + d3 + d5 - flange.
    model, data = build('cobot7')
    pin.framesForwardKinematics(model, data, np.zeros(7))
    tool = data.oMf[model.getFrameId('tool')]
    expected = [0.0825 - 0.0825 + 0.088, 0.0, 0.333 + 0.316 + 0.384 - 0.107]
    np.testing.assert_allclose(tool.translation, expected, atol=1e-12)
    np.testing.assert_allclose(tool.rotation, np.diag([1.0, -1.0, -1.0]), atol=1e-12)
