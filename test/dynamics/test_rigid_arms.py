# SPDX-License-Identifier: Apache-2.0
"""Pendulums by hand; the published rigid arms are validation cases."""

import flexdyn_ros as fd
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.random_robots import inertial_xml
import pytest


def pendulum(lengths, masses):
    """Return Dynamics of point masses on massless rods, joints about y, hanging at q = 0."""
    text = ['<robot name="pendulum"><link name="link0"/>']
    place = 0.0
    for k, (length, mass) in enumerate(zip(lengths, masses, strict=True), 1):
        body = inertial_xml(mass, [0, 0, -length], np.zeros((3, 3)))
        text.append(
            f'<link name="link{k}">{body}</link><joint name="joint{k}" type="continuous">'
            f'<origin xyz="0 0 {place}"/><parent link="link{k - 1}"/><child link="link{k}"/>'
            '<axis xyz="0 1 0"/></joint>'
        )
        place = -length
    return reference_dynamics(fd.load_robot(''.join([*text, '</robot>'])))


def test_pendulum():
    """M l^2 qdd + m g l sin q, and its energies."""
    dyn = pendulum([0.7], [1.3])
    q, qd, qdd = 0.6, 1.1, -2.0
    moment = 1.3 * 0.7**2
    expected = moment * qdd + 1.3 * 9.81 * 0.7 * np.sin(q)
    assert dyn.inverse_dynamics([q], [qd], [qdd])[0] == pytest.approx(expected, rel=1e-14)
    assert dyn.kinetic_energy([q], [qd]) == pytest.approx(0.5 * moment * qd**2, rel=1e-14)
    height = -0.7 * np.cos(q)
    assert dyn.potential_energy([q]) == pytest.approx(1.3 * 9.81 * height, rel=1e-14)


def test_double_pendulum():
    """The textbook's equations of two point masses, relative angles."""
    (l1, l2), (m1, m2), g = (0.8, 0.5), (1.2, 0.7), 9.81
    dyn = pendulum([l1, l2], [m1, m2])
    (q1, q2), (w1, w2), (a1, a2) = (0.4, -1.1), (0.9, -0.6), (1.5, 2.0)
    c, s = np.cos(q2), np.sin(q2)
    cross = m2 * l1 * l2
    m12 = m2 * l2**2 + cross * c
    m11 = (m1 + m2) * l1**2 + m2 * l2**2 + 2 * cross * c
    g2 = m2 * g * l2 * np.sin(q1 + q2)
    tau = [
        m11 * a1 + m12 * a2 - cross * s * (2 * w1 * w2 + w2**2)
        + (m1 + m2) * g * l1 * np.sin(q1) + g2,
        m12 * a1 + m2 * l2**2 * a2 + cross * s * w1**2 + g2,
    ]
    assert_agree(dyn.inverse_dynamics([q1, q2], [w1, w2], [a1, a2]), tau, 1e-13)


def test_a_free_body_falls_and_precesses():
    """A body on a floating joint: free fall, and Euler's equations in the body frame."""
    moments = np.array([0.1, 0.2, 0.25])
    body = inertial_xml(2.0, [0, 0, 0], np.diag(moments))
    text = (
        f'<robot name="r"><link name="world"/><link name="b">{body}</link><joint name="f" '
        'type="floating"><parent link="world"/><child link="b"/></joint></robot>'
    )
    dyn = reference_dynamics(fd.load_robot(text))
    half = 0.4
    q = [1.0, 2.0, 3.0, np.sin(half), 0.0, 0.0, np.cos(half)]
    v, w = np.array([0.3, -0.2, 0.5]), np.array([1.0, -2.0, 0.7])
    qdd = dyn.forward_dynamics(q, [*v, *w], np.zeros(6))
    turn = dyn.frame_pose(q, 'b')[:3, :3]
    assert_agree(qdd[:3], turn.T @ [0, 0, -9.81] - np.cross(w, v), 1e-12)
    assert_agree(qdd[3:], np.cross(moments * w, w) / moments, 1e-12)
