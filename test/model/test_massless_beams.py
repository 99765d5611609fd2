# SPDX-License-Identifier: Apache-2.0
"""Massless beams: closed forms of a cantilever with a tip body, and modes that move no mass."""

import math

import flexdyn_ros as fd
from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.beam import tip_inertia
from model_texts import flexdyn, inertial, joint, link, robot
import numpy as np
import pytest

LENGTH, YOUNG, SECOND, TIP_MASS, TIP_INERTIA = 1.2, 7e10, 2e-9, 3.0, 0.05
# A ball of 1 kg at the link's origin: a beam of 1.2 m cannot be part of it.
BALL = inertial(1.0, (0.0, 0.0, 0.0), (0.004, 0.004, 0.004))
TIP = inertial(TIP_MASS, (0.0, 0.0, 0.0), (TIP_INERTIA,) * 3)
SECTION = f'young="{YOUNG}" shear="2.6e10" area="1e-4" iy="{SECOND}" iz="{SECOND}" j="4e-9"'


def _arm(modes, tip=TIP, wrist='fixed', axis='0 0 1', own=BALL, section=SECTION, more=''):
    text = robot(
        link('base', ''), link('boom', own), link('hand', tip),
        joint('slew', 'base', 'boom', 'continuous'),
        joint('wrist', 'boom', 'hand', wrist,
              f'<origin xyz="{LENGTH} 0 0"/><axis xyz="{axis}"/>'
              '<limit lower="-3" upper="3" effort="1" velocity="1"/>'),
    )
    part = (
        f'<flexible_link link="boom"><beam tip="wrist" {section}>{modes}</beam></flexible_link>'
    )
    return fd.load_robot(text, extension=flexdyn(part, more))


ONE, TWO = '<bending axis="y" modes="1"/>', '<bending axis="y" modes="2"/>'


def _stiffness(dyn):
    """Return the stiffness of the modes, from the forces of unit-like small deflections."""
    n, joints = dyn.robot.n_modes, dyn.robot.n_joints
    rows = []
    for k in range(n):
        q = np.zeros(dyn.robot.nq)
        q[joints + k] = 1e-6
        rows.append(np.asarray(dyn.elastic_vector(q, np.zeros(dyn.robot.nv)))[joints:] / 1e-6)
    return np.array(rows)


def test_beam_is_massless_and_the_link_keeps_its_inertia():
    loaded = _arm(ONE)
    boom = loaded.link('boom')
    assert (boom.beam.mass, boom.mass) == (0.0, 1.0)
    assert 0.0 < boom.beam.share < 0.05
    assert boom.inertia.com == (0.0, 0.0, 0.0)
    assert np.array_equal(boom.inertia.matrix, 0.004 * np.eye(3))


def test_one_mode_is_the_shape_of_a_tip_force():
    dyn = fd.Dynamics(_arm(ONE), backend='reference')
    assert _stiffness(dyn)[0, 0] == pytest.approx(3 * YOUNG * SECOND / LENGTH**3, rel=1e-9)
    # Of x^2 (3 - x) / 2 the tip turns by 3/2 over the length.
    mass = TIP_MASS + TIP_INERTIA * (1.5 / LENGTH) ** 2
    assert dyn.mass_matrix(np.zeros(2))[1, 1] == pytest.approx(mass, rel=1e-12)


def test_two_modes_are_the_frequencies_of_a_tip_body():
    """Cantilever with a force F and a moment M at the tip: its 2x2 flexibility, by textbook."""
    dyn = fd.Dynamics(_arm(TWO), backend='reference')
    rigidity = YOUNG * SECOND
    flexibility = np.array([
        [LENGTH**3 / 3, LENGTH**2 / 2], [LENGTH**2 / 2, LENGTH],
    ]) / rigidity
    rates = 1.0 / np.linalg.eigvals(flexibility @ np.diag([TIP_MASS, TIP_INERTIA]))
    mass = np.asarray(dyn.mass_matrix(np.zeros(3)))[1:, 1:]
    found = np.linalg.eigvals(np.linalg.solve(mass, _stiffness(dyn)))
    np.testing.assert_allclose(np.sort(found.real), np.sort(rates), rtol=1e-7)


def test_torsion_and_stretch_are_linear_along_the_beam():
    dyn = fd.Dynamics(_arm('<torsion modes="1"/><axial modes="1"/>'), backend='reference')
    np.testing.assert_allclose(
        _stiffness(dyn), np.diag([2.6e10 * 4e-9 / LENGTH, YOUNG * 1e-4 / LENGTH]), rtol=1e-7
    )


def test_a_taper_bends_as_the_force_and_its_rigidity_demand():
    """Against int (1 - x)^2 / EI dx by many trapezoids."""
    stations = '<station at="0" iz="4e-9"/><station at="1" iz="1e-9"/>'
    section = f'young="{YOUNG}" area="1e-4"'
    dyn = fd.Dynamics(_arm(stations + ONE, section=section), backend='reference')
    x = (np.arange(20000) + 0.5) / 20000
    flexibility = LENGTH**3 * np.mean((1 - x) ** 2 / (YOUNG * (4e-9 - 3e-9 * x)))
    assert _stiffness(dyn)[0, 0] == pytest.approx(1.0 / flexibility, rel=1e-7)


def test_forward_dynamics_inverts_inverse_dynamics():
    loaded = _arm(ONE + '<bending axis="z" modes="2"/><torsion modes="1"/>', wrist='revolute')
    random = np.random.default_rng(4)
    q, qd, qdd = random.uniform(-0.3, 0.3, (3, loaded.nv))
    q[loaded.n_joints:] *= 0.01
    reference = fd.Dynamics(loaded, backend='reference')
    tau = reference.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(reference.forward_dynamics(q, qd, tau), qdd, atol=1e-8)
    python = fd.Dynamics(loaded, backend='python')
    np.testing.assert_allclose(python.inverse_dynamics(q, qd, qdd), tau, rtol=1e-10, atol=1e-9)


def test_damping_ratio_is_against_what_the_tip_carries():
    dyn = fd.Dynamics(_arm('<bending axis="y" modes="1" damping_ratio="0.02"/>'),
                      backend='reference')
    rest = np.zeros(2)
    mass = dyn.mass_matrix(rest)[1, 1]
    damping = dyn.elastic_vector(rest, np.array([0.0, 1.0]))[1]
    assert damping == pytest.approx(2 * 0.02 * math.sqrt(_stiffness(dyn)[0, 0] * mass), rel=1e-9)


def _refused(words, *arguments, **named):
    with pytest.raises(ModelError, match=words) as caught:
        _arm(*arguments, **named)
    assert (caught.value.element, caught.value.name) == ('beam', 'boom')
    assert 'mass="..."' in caught.value.advice


def test_a_wrist_that_can_follow_leaves_one_mode():
    """About z it takes back the tip's rotation by bending along y; about x it does not."""
    _arm(ONE, wrist='revolute')
    _arm(TWO, wrist='revolute', axis='1 0 0')
    _refused('moves no mass', TWO, wrist='revolute')
    _refused('moves no mass', '<torsion modes="1"/>', wrist='revolute', axis='1 0 0')
    point = inertial(TIP_MASS, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    _refused('moves no mass', ONE, point, wrist='prismatic', axis='0 1 0')


def test_a_rotor_or_a_point_mass_resists_where_the_wrist_follows():
    rotor = '<joint_dynamics joint="wrist" rotor_inertia="1e-4" gear_ratio="50"/>'
    drive = _arm(TWO, wrist='revolute', more=rotor)
    mass = np.asarray(fd.Dynamics(drive, backend='reference').mass_matrix(np.zeros(drive.nv)))
    assert np.linalg.eigvalsh(mass)[0] > 1e-6
    _arm('<torsion modes="1"/><point_mass at="0.5" mass="1" ixx="0.1"/>',
         wrist='revolute', axis='1 0 0')


def test_a_point_at_the_tip_leaves_one_mode():
    point = inertial(TIP_MASS, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    _arm(ONE, point)
    _refused('moves no mass', TWO, point)


def test_modes_that_static_shapes_are_not():
    _refused('3 modes are requested', '<bending axis="y" modes="3"/>')
    _refused('2 modes are requested', '<torsion modes="2"/>')
    _refused('holds the tip', '<bending axis="y" modes="1" boundary="clamped-pinned"/>')
    _refused('nothing with mass hangs on it', ONE, '')


def test_segments_need_mass():
    text = robot(link('base', ''), link('boom', BALL), joint('slew', 'base', 'boom'))
    part = (
        f'<flexible_link link="boom"><segments tip="1 0 0" count="4" directions="z" {SECTION}/>'
        '</flexible_link>'
    )
    with pytest.raises(ModelError, match='segments need mass'):
        fd.load_robot(text, extension=flexdyn(part))


@pytest.mark.parametrize('kind', ['revolute', 'prismatic', 'planar', 'fixed', 'elastic', 'rotor'])
def test_inertia_that_modes_meet_is_a_schur_complement(kind, monkeypatch):
    """Of the full mass matrix at zero: joints beyond the link eliminated, those before it held."""
    met = []
    monkeypatch.setattr(tip_inertia, '_check_modes', lambda link, modal, *_: met.append(modal))
    drives = {
        'elastic': '<joint_dynamics joint="k" stiffness="9" rotor_inertia="1"/>',
        'rotor': '<joint_dynamics joint="k" rotor_inertia="0.02" gear_ratio="2"/>',
    }
    joint_type = 'revolute' if kind in drives else kind
    limit = '<limit lower="-3" upper="3" effort="1" velocity="1"/>'
    heavy = inertial(2.0, (0.1, 0.05, -0.1), (0.05, 0.06, 0.07), (0.001, 0.002, -0.003))
    text = robot(
        link('base', ''), link('boom', BALL), link('a', heavy), link('b', heavy), link('c', heavy),
        joint('slew', 'base', 'boom', 'continuous'),
        joint('k', 'boom', 'a', joint_type, f'<origin xyz="{LENGTH} 0.1 0" rpy="0.3 -0.5 0.7"/>'
              f'<axis xyz="0 0.6 0.8"/>{limit}'),
        joint('l', 'a', 'b', 'revolute', f'<origin xyz="0.2 0 0.3" rpy="1 0 0.2"/>{limit}'),
        joint('m', 'boom', 'c', 'revolute',
              f'<origin xyz="0.6 0 0.1"/><axis xyz="0 1 0"/>{limit}'),
    )
    modes = ONE + '<bending axis="z" modes="1"/><torsion modes="1"/>'
    part = (
        '<flexible_link link="boom" geometric_stiffening="false">'
        f'<beam tip="k" {SECTION}>{modes}<point_mass at="0.5" mass="0.3" ixx="0.01"/></beam>'
        '</flexible_link><payload link="boom" mass="0.4" com="0.9 0.2 0" ixx="0.1" iyy="0.1" '
        'izz="0.1"/>'
    )
    loaded = fd.load_robot(text, extension=flexdyn(part, drives.get(kind, '')))
    mass = np.asarray(fd.Dynamics(loaded, backend='reference').mass_matrix(np.zeros(loaded.nq)))
    names = loaded.coordinate_names
    of_boom = [k for k, name in enumerate(names) if name.startswith('boom/')]
    beyond = [k for k, name in enumerate(names) if k not in of_boom and name != 'slew']
    coupling = mass[np.ix_(of_boom, beyond)]
    schur = mass[np.ix_(of_boom, of_boom)] - coupling @ np.linalg.solve(
        mass[np.ix_(beyond, beyond)], coupling.T
    )
    np.testing.assert_allclose(met[-1], schur, rtol=1e-9, atol=1e-12)
