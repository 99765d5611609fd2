# SPDX-License-Identifier: Apache-2.0
"""Links in pseudo-rigid segments: closed forms, printed example, particles."""

from functools import lru_cache
from pathlib import Path

from codegen.native import compiler
from codegen.native import Native
import flexdyn_ros as fd
from flexdyn_ros.model.link import Inertia
from flexdyn_ros.model.segment_shape import bent_segments
from flexdyn_ros.simulation.frequencies import damping_matrix
from flexdyn_ros.simulation.frequencies import natural_modes
from flexdyn_ros.simulation.frequencies import stiffness_matrix
import numpy as np
from oracles.compare import assert_agree
from oracles.compare import assert_generalised_agree
from oracles.compare import assert_matrices_agree
from oracles.compare import reference_dynamics
from oracles.particle_model import ParticleModel
from oracles.particle_segments import in_segments
from oracles.random_robots import inertial_xml
from oracles.random_robots import random_robot_urdf
from oracles.random_robots import random_state
from oracles.segment_arms import boom
from oracles.segment_arms import LENGTH
from oracles.segment_arms import MASS
from oracles.segment_arms import POLAR
from oracles.segment_arms import STIFFNESS
from oracles.segment_arms import WRIST
import pytest
from scipy.linalg import eigh
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation

URDF = Path(__file__).resolve().parents[2] / 'urdf'
BOTH = pytest.mark.parametrize('placement', ['centred', 'reference'])
# Clamped-free bending, (beta L)^2, and torsion, of a uniform beam (Blevins, Formulas for Natural
# Frequency and Mode Shape, 1979).
ROOTS = np.array([1.8751040687, 4.6940911330, 7.8547574382]) ** 2
RATE = np.sqrt(STIFFNESS['z'] / (MASS * LENGTH**3))


def frequencies(robot):
    """Return the natural frequencies of the straight robot, joints locked [rad/s]."""
    dyn, rest, n = reference_dynamics(robot), np.zeros(robot.nv), robot.n_joints
    return natural_modes(dyn.mass_matrix(rest)[n:, n:], stiffness_matrix(dyn, rest)[n:, n:])[0]


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


def test_first_frequencies_of_eight_centred_segments():
    """Within 0.5 percent of the beam's, in bending about y and z, and in torsion."""
    robot = fd.load_robot(boom(8, 'x y z'))
    found = frequencies(robot)
    bending = ROOTS[0] * RATE
    assert found[0] == pytest.approx(bending, rel=5e-3)
    assert found[1] == pytest.approx(bending, rel=5e-3)
    torsion = 0.5 * np.pi / LENGTH * np.sqrt(STIFFNESS['x'] / (2700.0 * POLAR))
    twist = found[np.argmin(np.abs(found / torsion - 1.0))]
    assert twist == pytest.approx(torsion, rel=5e-3)


def test_centred_segments_converge_with_second_order_and_the_references_with_first():
    """Halving the length divides the error of the first frequency by four, or by two."""
    for placement, order in (('centred', 4.0), ('reference', 2.0)):
        errors = []
        for count in (9, 17, 33):
            robot = fd.load_robot(boom(count, 'z', placement))
            errors.append(frequencies(robot)[0] / (ROOTS[0] * RATE) - 1.0)
        assert errors[0] > 0.0
        assert errors[0] / errors[1] == pytest.approx(order, rel=0.1)
        assert errors[1] / errors[2] == pytest.approx(order, rel=0.05)


def test_the_references_frequencies_of_five_segments():
    """Frequencies of an independent model of the paper's link; the third mode of nine is close."""
    found = frequencies(fd.load_robot(boom(5, 'z', 'reference'))) / (2.0 * np.pi)
    assert_agree(found, [26.2931, 169.4034, 478.4373, 861.8536], 1e-6)
    found = frequencies(fd.load_robot(boom(17)))
    assert_agree(found[:3], ROOTS * RATE, 6e-3)


@lru_cache(maxsize=None)
def paper_arm():
    """Return Martins and Machado's example and its start at -80 and -10 degrees."""
    dyn = fd.Dynamics(fd.load_robot(URDF / 'segmented_arm.urdf.xacro'))
    return dyn, np.array([*np.radians([-80.0, -10.0]), *np.zeros(8)])


def test_the_papers_example():
    """Coordinates, energy, hanging frequencies and motion of an independent model."""
    dyn, start = paper_arm()
    assert dyn.robot.nv == 10
    assert dyn.potential_energy(start) == pytest.approx(-130.926011, abs=1e-6)
    run = fd.simulate(dyn, start, np.zeros(10), None, 0.5, 4e-4)
    assert np.degrees(run.q[-1, :2]) == pytest.approx([-91.8855, 13.4505], abs=1e-3)
    hand = dyn.frame_pose(run.q[-1], 'tip')[:2, 3] - [1.25, 0.0]
    assert hand == pytest.approx([0.20957, -2.47393], abs=2e-5)
    assert np.ptp(run.energy) < 1e-4
    assert np.abs(run.q[:, 2:]).max() < np.radians(0.0025)
    assert run.tip_names == ('link2/tip_y', 'link3/tip_y') and run.tip_units == ('m', 'm')
    hanging = np.array([-0.5 * np.pi, *np.zeros(9)])
    pull = [
        (dyn.gravity_vector(hanging + 1e-6 * e) - dyn.gravity_vector(hanging - 1e-6 * e)) / 2e-6
        for e in np.eye(10)
    ]
    stiffness = stiffness_matrix(dyn, hanging) + 0.5 * (np.array(pull) + np.array(pull).T)
    squares = eigh(stiffness, dyn.mass_matrix(hanging), eigvals_only=True)
    expected = [0.3815, 1.0233, 68.9685, 119.2383, 255.7331, 342.024, 548.3937, 653.2915,
                877.3741, 935.7031]
    assert np.sqrt(squares) / (2.0 * np.pi) == pytest.approx(expected, rel=2e-4)


@pytest.mark.parametrize('directions, size', [('z', 11), ('y z', 19), ('x y z', 27)])
def test_the_papers_numbers_of_coordinates(directions, size):
    """Three links give n [tip (nseg - 1) + 1] - tip (nseg - 1) , the first rigid (eq. 1)."""
    arguments = {'directions': directions, 'first_joint': 'continuous'}
    robot = fd.load_robot(URDF / 'segmented_arm.urdf.xacro', xacro_arguments=arguments)
    assert robot.nv == size


@pytest.mark.parametrize('axis', ['x', 'y', 'z'])
def test_the_first_vibration_has_the_damping_ratio(axis):
    """Complex eigenvalues: -zeta w of the first vibration, more of the faster ones."""
    robot = fd.load_robot(boom(5, axis, attributes='damping_ratio="0.03"'))
    dyn, rest = reference_dynamics(robot), np.zeros(robot.nv)
    mass, stiffness = dyn.mass_matrix(rest), stiffness_matrix(dyn, rest)
    damping = damping_matrix(dyn, rest)
    assert not np.any(dyn.friction_vector(np.ones(robot.nv)))
    n = robot.nv
    system = np.block([[np.zeros((n, n)), np.eye(n)],
                       [-np.linalg.solve(mass, stiffness), -np.linalg.solve(mass, damping)]])
    values = np.linalg.eigvals(system)
    values = values[values.imag > 0]
    ratios = -values.real / np.abs(values)
    order = np.argsort(np.abs(values))
    assert ratios[order][0] == pytest.approx(0.03, rel=1e-6)
    assert np.all(np.diff(ratios[order]) > 0.0)


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
    """Three directions, gravity, a child on a joint: without losses nothing is lost."""
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


@pytest.mark.parametrize('language', ['c', 'python', 'fortran'])
def test_generated_code_in_every_language(language, tmp_path):
    """Torques, a payload argument on the last segment, and stiffness and damping as arguments."""
    robot = fd.load_robot(boom(3, 'y z', attributes='damping_ratio="0.02"', joint='continuous'))
    names = ('payload:boom', 'boom/segment3_z/stiffness', 'boom/segment2_y/damping')
    code = fd.generate(robot, 'inverse_dynamics', language, arguments=names)
    if language != 'python' and compiler(language) is None:
        pytest.skip(f'NO COMPILER for {language}: its code is not tested')
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


@BOTH
def test_the_bent_line_is_where_the_frames_are(placement):
    """Places and axes along the boom equal the poses of frames that hang there."""
    fractions = (0.0, 0.2, 0.45, 0.8, 1.0)
    more = ''.join(
        f'<link name="f{k}"/><joint name="j{k}" type="fixed"><parent link="boom"/>'
        f'<child link="f{k}"/><origin xyz="{f * LENGTH!r} 0 0"/></joint>'
        for k, f in enumerate(fractions)
    )
    robot = fd.load_robot(boom(4, 'x y z', placement, more=more))
    dyn, q = reference_dynamics(robot), np.random.default_rng(1).normal(size=9) * 0.5
    segments = robot.link('boom').segments
    places, rotations = bent_segments(segments, q, LENGTH * np.array(fractions))
    assert places.shape == (5, 3) and rotations.shape == (5, 3, 3)
    for k in range(5):
        pose = dyn.frame_pose(q, f'f{k}')
        assert_agree(pose[:3, 3], places[k], 1e-13)
        assert_agree(pose[:3, :3], rotations[k], 1e-13)
    batch, _ = bent_segments(segments, np.array([q, 0 * q]), np.array([LENGTH]))
    assert_agree(batch[0, 0], places[-1], 1e-14)
    assert_agree(batch[1, 0], [LENGTH, 0.0, 0.0], 1e-14)


def test_tip_deflections_of_a_run():
    """Exact tips: one column a direction, the twist about the beam."""
    robot = fd.load_robot(boom(3, 'x y z', gravity='0 0 0'))
    dyn, start = reference_dynamics(robot), np.array([0.2, 0.0, 0.0, 0.3, 0.0, 0.0])
    run = fd.simulate(dyn, start, np.zeros(6), None, 1e-6, 1e-6)
    assert run.tip_names == ('boom/tip_y', 'boom/tip_z', 'boom/tip_twist')
    assert run.tip_units == ('m', 'm', 'rad')
    assert run.tips[0] == pytest.approx([0.0, 0.0, 0.5], abs=1e-12)
    bent = np.array([0.0, 0.1, 0.2, 0.0, -0.3, 0.1])
    run = fd.simulate(dyn, bent, np.zeros(6), None, 1e-6, 1e-6)
    pose = dyn.frame_pose(bent, 'tip')
    twist = Rotation.from_matrix(pose[:3, :3]).as_rotvec()[0]
    assert run.tips[0] == pytest.approx([pose[1, 3], pose[2, 3], twist], abs=1e-12)


def test_the_page_of_errors_is_true():
    """Every number of the table in docs/segments_and_springs.md."""
    page = (URDF.parent / 'docs' / 'segments_and_springs.md').read_text()
    lines = [line.strip('| ') for line in page.splitlines() if line[:3].strip('| ').isdigit()]
    rows = [line.split('|') for line in lines]
    assert len(rows) == 6
    for count, *printed in ([float(cell) for cell in row] for row in rows):
        found = []
        for placement in ('centred', 'reference'):
            robot = fd.load_robot(boom(int(count), 'z', placement))
            dyn, rest = reference_dynamics(robot), np.zeros(robot.nv)
            pull = dyn.jacobian(rest, 'tip')[1]
            bent = pull @ np.linalg.solve(stiffness_matrix(dyn, rest), pull)
            found.append(bent / (LENGTH**3 / (3.0 * STIFFNESS['z'])) - 1.0)
            found += (frequencies(robot)[:2] / (ROOTS[:2] * RATE) - 1.0).tolist()
        assert [round(100.0 * x, 2) for x in found] == printed


def test_a_link_in_segments_is_named_once_in_errors():
    """A spring without a rotor in front of the boom: its bodies are one link."""
    spring = '<joint_dynamics joint="root" stiffness="50"/>'
    robot = fd.load_robot(boom(3, 'y z', joint='continuous', extension=spring))
    rest = np.zeros(robot.nv)
    with pytest.raises(fd.FlexdynError, match=r'links: boom, tip\)'):
        reference_dynamics(robot).forward_dynamics(rest, rest, rest)
