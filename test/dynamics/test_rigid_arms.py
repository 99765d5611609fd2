# SPDX-License-Identifier: Apache-2.0
"""Printed and independently computed numbers of rigid arms, and pendulums by hand."""

import flexdyn_ros as fd
import numpy as np
from oracles.compare import assert_agree
from oracles.compare import load_data
from oracles.compare import reference_dynamics
from oracles.dh_urdf import chain_urdf
from oracles.random_robots import inertial_xml
import pytest

ARMS = load_data('rigid_arms')


def about_centre(link):
    """Return the diagonal inertia about the centre of mass, given it or that at the origin."""
    if 'J_cm' in link:
        return np.array(link['J_cm'], float)
    com = np.array(link['com'], float)
    return np.array(link['J_origin'], float) - link['m'] * (com @ com - com**2)


def arm(name):
    """Return the data and Dynamics of `stanford` or `puma`."""
    links = [
        {**link, 'alpha': np.radians(link['alpha_deg']), 'J_cm': about_centre(link)}
        for link in ARMS[name]['links']
    ]
    return ARMS[name], reference_dynamics(fd.load_robot(chain_urdf(links, name)))


@pytest.fixture(params=['stanford', 'puma'])
def case(request):
    """Return an arm with its reference vectors."""
    return arm(request.param)


def test_torque_and_its_terms(case):
    """Inverse dynamics, gravity, Coriolis and inertia vectors."""
    data, dyn = case
    q, qd, qdd = (np.array(data[name]) for name in ('q', 'qd', 'qdd'))
    assert_agree(dyn.inverse_dynamics(q, qd, qdd), data['torque'], 1e-9)
    assert_agree(dyn.gravity_vector(q), data['gravity'], 1e-9)
    assert_agree(dyn.coriolis_vector(q, qd), data['coriolis'], 1e-9)
    assert_agree(dyn.inertia_vector(q, qdd), data['inertia'], 1e-9)
    assert_agree(dyn.mass_matrix(q), data['mass_matrix'], 1e-9)


def test_forward_dynamics_returns_the_motion(case):
    """The reference torque causes the reference accelerations."""
    data, dyn = case
    ours = dyn.forward_dynamics(data['q'], data['qd'], data['torque'])
    assert_agree(ours, data['qdd'], 1e-9)


def test_payload_wrench(case):
    """What the last link exerts on the environment, in its frame, adds its torque."""
    data, dyn = case
    q, qd, qdd = (np.array(data[name]) for name in ('q', 'qd', 'qdd'))
    turn = dyn.frame_pose(q, 'tip')[:3, :3]
    on_robot = -np.concatenate((turn @ np.full(3, 5.0), turn @ np.full(3, 5.0)))
    change = dyn.inverse_dynamics(q, qd, qdd, wrenches={'tip': on_robot})
    change = change - dyn.inverse_dynamics(q, qd, qdd)
    assert_agree(change, data['payload_5_newton_5_newton_metre'], 1e-9)


def test_pumas_published_gravity_torque():
    """The figures printed for Corke's model, to their printed digits."""
    data, dyn = arm('puma')
    published = data['published_gravity']
    assert dyn.gravity_vector(published['q']) == pytest.approx(published['torque'], abs=5e-5)


def test_stanfords_second_joint_is_balanced_upright():
    """Gravity torque of joint 2 vanishes at the zero position."""
    _, dyn = arm('stanford')
    assert dyn.gravity_vector(np.zeros(6))[1] == pytest.approx(0.0, abs=1e-12)


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
