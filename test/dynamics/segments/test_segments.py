# SPDX-License-Identifier: Apache-2.0
"""Links in segments: bodies, statics, payloads, random robots, and generated code."""

from functools import lru_cache

from codegen.native import Native, need_compiler
import flexdyn_ros as fd
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.simulation.frequencies import stiffness_matrix
import numpy as np
from oracles.compare import (
    assert_agree,
    assert_generalised_agree,
    assert_matrices_agree,
    reference_dynamics,
)
from oracles.particle_model import ParticleModel
from oracles.particle_segments import in_segments
from oracles.random_robots import inertial_xml, random_robot_urdf, random_state
from oracles.segment_arms import boom, LENGTH, MASS, STIFFNESS, WRIST
from oracles.segment_robots import BOTH, RATE
import pytest
from scipy.linalg import eigh
from scipy.optimize import fsolve


def plain_body(robot):
    """Return the 6x6 inertia of all that a floating root joint moves, undeformed."""
    dyn, q = reference_dynamics(robot), robot.neutral_configuration()
    return dyn.mass_matrix(q)[:6, :6]


@BOTH
def test_names_and_order(placement):
    """Segment by segment outward, axes x y z; the joints come first."""
    robot = fd.load_robot(boom(3, 'x y z', placement, 'continuous', more=WRIST))
    assert robot.joint_names == ('root', 'wrist')
    assert robot.mode_names == tuple(
        f'boom/segment{k}_{axis}' for k in (2, 3) for axis in 'xyz'
    )
    assert robot.total_mass == pytest.approx(MASS + 0.8, rel=1e-14)


@BOTH
@pytest.mark.parametrize('count', [2, 5, 8])
@pytest.mark.parametrize('inertial', ['none', 'total', 'hub'])
def test_mass_centre_and_inertia_are_those_of_the_whole_link(count, placement, inertial):
    """Undeformed, the segments are the rigid beam and the hub, to 1e-12."""
    text, flexible = '', ''
    if inertial != 'none':
        text = inertial_xml(9.0, [0.5, 0.03, -0.02], np.diag([0.2, 2.0, 2.1]))
        flexible = f'inertial="{inertial}"'
    points = '<point_mass at="0.37" mass="0.6" ixx="0.01" iyy="0.02" izz="0.015"/>'
    given = {'joint': 'floating', 'inertial': text, 'flexible': flexible, 'inner': points}
    cut = fd.load_robot(boom(count, 'x y z', placement, **given))
    whole = boom(count, 'x y z', placement, **given)
    start, end = whole.index('<segments'), whole.index(' young=')
    whole = f'{whole[:start]}<beam tip="{LENGTH} 0 0"{whole[end:]}'.replace('/segments', '/beam')
    rigid = fd.load_robot(whole)
    assert rigid.n_modes == 0
    assert cut.total_mass == pytest.approx(rigid.total_mass, rel=1e-13)
    assert_agree(plain_body(cut), plain_body(rigid), 1e-12)


@BOTH
@pytest.mark.parametrize('count', [2, 3, 5, 9, 17])
def test_static_tip_deflection_has_the_stated_ratio(count, placement):
    """P L^3 / (3 E I) times 1 - 1/(4 (n-1)^2), or (2 n^2 - 3 n + 1) / (2 n^2) as the reference."""
    robot = fd.load_robot(boom(count, 'y z', placement))
    dyn, rest = reference_dynamics(robot), np.zeros(robot.nv)
    jacobian = dyn.jacobian(rest, 'tip')
    flexibility = jacobian @ np.linalg.solve(stiffness_matrix(dyn, rest), jacobian.T)
    ratio = (2 * count**2 - 3 * count + 1) / (2 * count**2)
    if placement == 'centred':
        ratio = 1.0 - 0.25 / (count - 1) ** 2
    expected = ratio * LENGTH**3 / (3.0 * STIFFNESS['z'])
    assert flexibility[1, 1] == pytest.approx(expected, rel=1e-9)
    assert flexibility[2, 2] == pytest.approx(expected, rel=1e-9)


def test_a_tip_moment_bends_the_boom_into_a_circle():
    """Each joint turns by M s / (E I), so that the tip turns by M L / (E I), however far."""
    robot = fd.load_robot(boom(9, 'z', gravity='0 0 0'))
    dyn, moment = reference_dynamics(robot), 0.4 * STIFFNESS['z']
    angle = moment * LENGTH / 8 / STIFFNESS['z']
    q, rest = np.full(8, angle), np.zeros(8)
    hold = dyn.inverse_dynamics(q, rest, rest, wrenches={'tip': [0, 0, 0, 0, 0, moment]})
    assert np.abs(hold).max() < 1e-9 * moment
    turned = dyn.frame_pose(q, 'tip')
    assert np.arctan2(turned[1, 0], turned[0, 0]) == pytest.approx(0.4 * LENGTH, rel=1e-12)
    ends = np.array([0.0, *((np.arange(8) + 0.5) * LENGTH / 8), LENGTH])
    place = sum(d * np.exp(1j * k * angle) for k, d in enumerate(np.diff(ends)))
    assert_agree(turned[:2, 3], [place.real, place.imag], 1e-13)


def test_static_deflection_under_its_own_weight():
    """Equilibrium solved with the true geometry; small loads give q L^4 / (8 E I)."""
    robot = fd.load_robot(boom(17, 'z', gravity='0 -0.01 0'))
    dyn, rest = reference_dynamics(robot), np.zeros(robot.nv)
    q = fsolve(lambda q: dyn.bias_vector(q, rest), rest, xtol=1e-14)
    assert np.abs(dyn.bias_vector(q, rest)).max() < 1e-12
    expected = -0.01 * MASS * LENGTH**3 / (8.0 * STIFFNESS['z'])
    assert dyn.frame_pose(q, 'tip')[1, 3] == pytest.approx(expected, rel=3e-3)
    run = fd.simulate(dyn, q, rest, None, 2e-4, 2e-5)
    assert np.abs(run.q - q).max() < 1e-12


def test_friction_acts_in_every_passive_joint():
    """The law of joint friction, in friction_vector, about each direction."""
    law = '<friction viscous="0.4" coulomb="0.6" smoothing_velocity="0.1"/>'
    robot = fd.load_robot(boom(3, 'x z', inner=law, joint='continuous'))
    rate = np.array([0.5, 0.1, -0.2, 0.0, 2.0])
    dyn = reference_dynamics(robot)
    expected = 0.4 * rate + 0.6 * np.tanh(rate / 0.1)
    expected[0] = 0.0
    assert_agree(dyn.friction_vector(rate), expected, 1e-14)
    assert not np.any(dyn.elastic_vector(np.zeros(5), rate))
    run = fd.simulate(dyn, [0.0, 0.0, 0.05, 0.0, 0.05], np.zeros(5), None, 0.002, 2e-5)
    assert np.all(np.diff(run.energy) <= 1e-9)


def test_energy_is_conserved():
    """Three directions, gravity, a child on a joint: without losses energy is constant."""
    robot = fd.load_robot(boom(3, 'x y z', joint='continuous', more=WRIST))
    start = np.array([0.3, -0.5, *np.full(6, 0.02)])
    run = fd.simulate(fd.Dynamics(robot), start, np.ones(8), None, 0.004, 1e-5)
    assert np.ptp(run.energy) < 1e-6 * np.ptp(run.kinetic)


def test_a_turning_boom_stiffens():
    """Flapping of a rotating cantilever, Wright and others 1982: 1 percent with 17 segments."""
    robot = fd.load_robot(boom(17, 'y', joint='continuous', gravity='0 0 0'))
    dyn, rest = reference_dynamics(robot), np.zeros(robot.nv)
    mass = dyn.mass_matrix(rest)[1:, 1:]
    elastic = stiffness_matrix(dyn, rest)[1:, 1:]
    for speed, expected in ((0.0, 3.5160), (1.0, 3.6817), (4.0, 5.5850), (10.0, 11.2023)):
        rate = np.zeros(robot.nv)
        rate[0] = speed * RATE
        steps = 1e-5 * np.eye(robot.nv)[1:]
        pull = [
            (dyn.coriolis_vector(s, rate) - dyn.coriolis_vector(-s, rate))[1:] / 2e-5
            for s in steps
        ]
        first = eigh(elastic + np.array(pull).T, mass, eigvals_only=True)[0]
        assert np.sqrt(first) / RATE == pytest.approx(expected, rel=1e-2)


CUTS = ((3, 'x y z', 'centred'), (4, 'z', 'reference'), (2, 'y z', 'centred'),
        (3, 'x', 'reference'))
RANDOM = {'chain of segments': (12, 1, {}), 'beams and segments': (13, 2, {}),
          'at the root': (60, 1, {}), 'mimics': (36, 1, {'mimic': True}),
          'planar and floating': (17, 2, {'kinds': ('floating', 'revolute', 'planar')})}


@lru_cache(maxsize=None)
def random_case(name):
    """Return a random robot with segments, our dynamics, the particles and a state."""
    seed, every, options = RANDOM[name]
    text = random_robot_urdf(seed, 4, flexible=0.9, max_modes=1, **options)
    robot = fd.load_robot(in_segments(text, CUTS, every))
    state = random_state(robot, np.random.default_rng(seed), 0.3)
    return robot, reference_dynamics(robot), ParticleModel(robot), state


@pytest.mark.parametrize('name', RANDOM)
def test_random_robots_against_particles(name):
    """Every term, energies, Jacobians; hubs, point masses, payloads, beams, mimics."""
    robot, dyn, particles, (q, qd, qdd) = random_case(name)
    assert any(link.segments for link in robot.links)
    if name == 'beams and segments':
        assert any(link.beam and link.mode_names for link in robot.links)
    assert_matrices_agree(dyn.mass_matrix(q), particles.mass_matrix(q), 1e-10)
    for term, given in {
        'gravity_vector': (q,), 'coriolis_vector': (q, qd), 'friction_vector': (qd,),
        'elastic_vector': (q, qd), 'inverse_dynamics': (q, qd, qdd),
    }.items():
        ours, theirs = (getattr(model, term)(*given) for model in (dyn, particles))
        assert_generalised_agree(robot, ours, theirs, 1e-10, term)
    for frame in robot.frame_names:
        ours, theirs = (model.jacobian(q, frame) for model in (dyn, particles))
        assert_agree(ours, theirs, 1e-10, frame)
        ours, theirs = (model.jacobian_rate_qd(q, qd, frame) for model in (dyn, particles))
        assert_agree(ours, theirs, 1e-10, frame)
    ours, theirs = (model.kinetic_energy(q, qd) for model in (dyn, particles))
    assert ours == pytest.approx(theirs, rel=1e-10)
    ours, theirs = (model.potential_energy(q) for model in (dyn, particles))
    assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    assert_agree(dyn.forward_dynamics(q, qd, tau), qdd, 1e-6)
    _, modal = dyn.hybrid_dynamics(q, qd, qdd[:robot.n_joints])
    full = dyn.inverse_dynamics(q, qd, [*qdd[:robot.n_joints], *modal])
    assert np.abs(full[robot.n_joints:]).max() < 1e-9 * np.abs(tau).max()


PAYLOADS = ((0.1, 0.02, 0.0), (0.7, 0.1, -0.1), (0.72, 0.0, 0.0), (1.25, 0.0, 0.3))


@pytest.mark.parametrize('backend', ['reference', 'python'])
def test_a_payload_rides_on_the_segment_that_holds_it(backend):
    """Set at run time, moved from segment to segment, taken off again bit for bit."""
    robot = fd.load_robot(boom(3, 'y z', joint='continuous', more=WRIST))
    dyn = fd.Dynamics(robot, backend=backend)
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, robot.nv)) * 0.4
    before = dyn.inverse_dynamics(q, qd, qdd)
    inertia = ((0.02, 0.001, 0.0), (0.001, 0.03, 0.002), (0.0, 0.002, 0.025))
    for com in PAYLOADS:
        dyn.set_payload('boom', 1.3, com, inertia)
        body = Inertia(1.3, com, inertia)
        particles = ParticleModel(robot, payloads={'boom': body})
        theirs = particles.inverse_dynamics(q, qd, qdd)
        assert_agree(dyn.inverse_dynamics(q, qd, qdd), theirs, 1e-10)
    assert_matrices_agree(dyn.mass_matrix(q), particles.mass_matrix(q), 1e-10)
    dyn.clear_payload('boom')
    assert np.array_equal(dyn.inverse_dynamics(q, qd, qdd), before)


@pytest.mark.usefixtures('simplified_once')
@pytest.mark.parametrize('language', ['c', 'python', 'fortran'])
def test_generated_code_in_every_language(language, tmp_path):
    """Torques, a payload argument on the last segment, and stiffness and damping as arguments."""
    robot = fd.load_robot(boom(3, 'y z', attributes='damping_ratio="0.02"', joint='continuous'))
    names = ('payload:boom', 'boom/segment3_z/stiffness', 'boom/segment2_y/damping')
    code = fd.generate(robot, 'inverse_dynamics', language, arguments=names)
    need_compiler(language)
    dyn = reference_dynamics(robot)
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, robot.nv)) * 0.4
    dyn.set_payload('boom', 1.3, (1.1, 0.2, 0.1), np.diag([0.02, 0.03, 0.025]))
    expected = dyn.inverse_dynamics(q, qd, qdd)
    stiffness = STIFFNESS['z'] / (LENGTH / 2)
    damper = robot.link('boom').segments.damping('y')
    expected[4] += 0.5 * stiffness * q[4]
    expected[1] += 2.0 * damper * qd[1]
    load = [1.3, 1.1, 0.2, 0.1, 0.02, 0.03, 0.025, 0.0, 0.0, 0.0]
    given = (q, qd, qdd, load, 1.5 * stiffness, 3.0 * damper)
    assert [each.name for each in code.inputs][3:] == [
        'payload_boom', 'boom_segment3_z_stiffness', 'boom_segment2_y_damping']
    if language == 'python':
        found = code.compile_python()(*(np.asarray(each).tolist() for each in given))
    else:
        found = Native(code, tmp_path)(*given)
    assert_agree(found, expected, 1e-12)
