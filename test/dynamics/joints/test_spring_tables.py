# SPDX-License-Identifier: Apache-2.0
"""Elastic joints with nonlinear springs: closed forms, quadrature, particles, every backend."""

from functools import lru_cache
import re

from codegen.native import Native, need_compiler
import flexdyn_ros as fd
import numpy as np
from oracles.compare import assert_agree, assert_generalised_agree, reference_dynamics
from oracles.particle_model import ParticleModel
from oracles.particle_springs import SpringTable
from oracles.random_robots import inertial_xml, random_robot_urdf, random_state
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from validation.counts.c_source import count_c

HARDENING = [(-0.3, -90.0), (-0.1, -10.0), (0.0, 0.0), (0.1, 10.0), (0.3, 90.0)]
DEAD_ZONE = [(-0.05, -300.0), (-0.005, 0.0), (0.0, 0.0), (0.005, 0.0), (0.05, 300.0)]
MOTOR, LINK = 0.18, 0.3  # reflected rotor inertia and link inertia [kg m^2]


def spring_text(points):
    """Return points as the extension writes them."""
    return ', '.join(f'{x!r} {y!r}' for x, y in points)


def two_masses(points=None, axis='0 0 1', com=(0.0, 0.0, 0.0), damping='', stiffness=''):
    """Return a rotor and a link on a spring."""
    body = inertial_xml(1.0, com, np.diag([0.1, LINK, LINK]))
    spring = f'<spring points="{spring_text(points)}"/>' if points else ''
    return fd.load_robot(
        f'<robot name="two"><link name="a"/><link name="b">{body}</link>'
        f'<joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
        f'<axis xyz="{axis}"/></joint><flexdyn version="1.0"><joint_dynamics joint="j" {damping} '
        f'{stiffness} rotor_inertia="2e-4" gear_ratio="30">{spring}</joint_dynamics></flexdyn>'
        '</robot>'
    )


def test_two_points_are_a_linear_spring():
    """A straight table and a stiffness give the same numbers."""
    linear = reference_dynamics(two_masses(stiffness='stiffness="400"', damping='damping="0.5"'))
    table = reference_dynamics(two_masses([(-1.0, -400.0), (0.0, 0.0)], damping='damping="0.5"'))
    assert linear.robot.coordinate_names == table.robot.coordinate_names == ('j', 'j/elastic')
    for stretch in (-2.0, -0.3, 0.0, 0.7):
        state = [0.4, stretch], [1.0, -2.0], [0.5, 3.0]
        assert_agree(table.inverse_dynamics(*state), linear.inverse_dynamics(*state), 1e-14)
        assert table.potential_energy(state[0]) == pytest.approx(
            linear.potential_energy(state[0]), rel=1e-14, abs=1e-14
        )


@pytest.mark.parametrize('points', [HARDENING, DEAD_ZONE], ids=['hardening', 'dead zone'])
@pytest.mark.parametrize('backend', ['reference', 'python'])
def test_torque_and_energy_are_the_tables(points, backend):
    """The elastic force is the PCHIP interpolant, the energy its integral; damping on top."""
    dyn = fd.Dynamics(two_masses(points, damping='damping="0.5"'), backend=backend)
    law = SpringTable(points)
    for stretch in np.linspace(-0.4, 0.4, 33):
        force = law.force(stretch) + 0.5 * 3.0
        assert_agree(dyn.elastic_vector([0.2, stretch], [2.0, 3.0]), [0.0, force], 1e-13)
        assert dyn.potential_energy([0.2, stretch]) == pytest.approx(
            law.energy(stretch), rel=1e-12, abs=1e-14
        )
        area, _ = quad(lambda x: dyn.elastic_vector([0.0, x], [0.0, 0.0])[1], 0.0, stretch,
                       points=[x for x, _ in points if abs(x) < abs(stretch)], epsabs=1e-12)
        assert area == pytest.approx(law.energy(stretch), rel=1e-9, abs=1e-11)
    assert not np.any(dyn.friction_vector([2.0, 3.0]))


def test_a_hardening_spring_rings_with_the_period_of_its_energy():
    """Quarter period: int_0^A dx / sqrt(2 (U(A) - U(x)) / m), 1/m = 1/rotor + 1/link."""
    dyn, law = fd.Dynamics(two_masses(HARDENING)), SpringTable(HARDENING)
    mass = 1.0 / (1.0 / MOTOR + 1.0 / LINK)

    def quarter(amplitude):
        def slowness(angle):
            x = amplitude * np.sin(angle)
            lost = 2.0 * (law.energy(amplitude) - law.energy(x)) / mass
            return amplitude * np.cos(angle) / np.sqrt(lost)

        knots = [np.arcsin(x / amplitude) for x, _ in HARDENING if 0.0 < x < amplitude]
        return quad(slowness, 0.0, 0.5 * np.pi - 1e-9, points=knots or None)[0]

    periods = []
    for amplitude in (0.05, 0.25, 0.4):
        expected = quarter(amplitude)
        run = fd.simulate(dyn, [0.0, amplitude], [0.0, 0.0], None, 1.2 * expected, expected / 400)
        stretch = run.q[:, 1]
        at = int(np.argmax(stretch < 0.0))
        share = stretch[at - 1] / (stretch[at - 1] - stretch[at])
        found = run.t[at - 1] + share * (run.t[at] - run.t[at - 1])
        assert found == pytest.approx(expected, rel=1e-5)
        assert np.ptp(run.energy) < 1e-8 * law.energy(amplitude)
        # No torque acts from outside: the angular momentum of rotor and link stays zero.
        momentum = MOTOR * run.qd[:, 0] + LINK * (run.qd[:, 0] + run.qd[:, 1])
        assert np.abs(momentum).max() < 1e-10
        periods.append(found)
    assert periods == sorted(periods, reverse=True)


def test_small_vibrations_follow_the_slope_of_the_table():
    """About a preload x0: w^2 = f'(x0) (1/rotor + 1/link)."""
    dyn, slope = fd.Dynamics(two_masses(HARDENING)), 1e-6
    for x0 in (0.0, 0.2):
        step = dyn.elastic_vector([0, x0 + slope], [0, 0]) - dyn.elastic_vector(
            [0, x0 - slope], [0, 0])
        mass = dyn.mass_matrix([0.0, x0])
        values = np.linalg.eigvals(np.linalg.solve(mass, np.diag([0.0, step[1] / (2 * slope)])))
        law = SpringTable(HARDENING)
        stiffness = (law.force(x0 + slope) - law.force(x0 - slope)) / (2 * slope)
        expected = stiffness * (1.0 / MOTOR + 1.0 / LINK)
        assert max(values.real) == pytest.approx(expected, rel=1e-7)


def test_dead_zone_hangs_at_its_far_side():
    """Gravity pulls the link through the dead zone until the table holds it."""
    com = (0.5, 0.0, 0.0)
    robot = two_masses(DEAD_ZONE, axis='0 1 0', com=com)
    dyn, law = reference_dynamics(robot), SpringTable(DEAD_ZONE)

    def unbalanced(stretch):
        return 9.81 * 0.5 * np.cos(stretch) - law.force(stretch)

    stretch = brentq(unbalanced, 0.0, 0.05, xtol=1e-15)
    assert stretch > 0.005
    hold = [-law.force(stretch), 0.0]
    assert_agree(dyn.forward_dynamics([0.0, stretch], [0.0, 0.0], hold), [0.0, 0.0], 1e-9)
    # Inside the dead zone the link falls freely, for any motion of the motor.
    free = dyn.forward_dynamics([0.0, 0.002], [0.0, 0.0], [0.0, 0.0])
    inertia = LINK + 0.25
    assert sum(free) == pytest.approx(9.81 * 0.5 * np.cos(0.002) / inertia, rel=1e-12)


def test_link_side_is_motor_plus_deflection():
    """Frames, Jacobians and rates follow the sum; the motor alone carries the rotor."""
    robot = two_masses(HARDENING, com=(0.5, 0.0, 0.0))
    dyn = reference_dynamics(robot)
    for motor, stretch in ((0.4, 0.0), (0.0, 0.4), (0.7, -0.3)):
        pose = dyn.frame_pose([motor, stretch], 'b')
        assert np.arctan2(pose[1, 0], pose[0, 0]) == pytest.approx(motor + stretch, abs=1e-14)
    jacobian = dyn.jacobian([0.1, 0.2], 'b')
    assert np.array_equal(jacobian[:, 0], jacobian[:, 1])
    assert_agree(dyn.mass_matrix([0.1, 0.2]), [
        [MOTOR + LINK + 0.25, LINK + 0.25], [LINK + 0.25, LINK + 0.25],
    ], 1e-13)


def test_damping_acts_across_the_spring_alone():
    """Energy falls by the damper's power, and a motor turning with its link loses nothing."""
    dyn = fd.Dynamics(two_masses(HARDENING, damping='damping="2"'))
    run = fd.simulate(dyn, [0.0, 0.2], [0.0, 0.0], None, 0.2, 2e-4)
    power = 2.0 * run.qd[:, 1] ** 2
    lost = np.sum(0.5 * (power[1:] + power[:-1]) * np.diff(run.t))
    assert run.energy[0] - run.energy[-1] == pytest.approx(lost, rel=1e-4)
    assert not np.any(dyn.elastic_vector([0.3, 0.0], [5.0, 0.0]))


@lru_cache(maxsize=None)
def random_case(seed):
    """Return a random robot with its springs as tables, and a state."""
    count = 4 if seed % 2 else 5
    text = random_robot_urdf(seed, count, flexible=0.5, max_modes=1, mimic=seed % 3 == 0)

    def table(match):
        stiffness = float(match[2])
        points = [(-0.2, -0.5 * stiffness), (-0.05, -0.05 * stiffness), (0.0, 0.0),
                  (0.05, 0.05 * stiffness), (0.3, 1.1 * stiffness)]
        head, tail = match[1] + match[3], match[4]
        return f'{head}><spring points="{spring_text(points)}"/>{tail}</joint_dynamics>'

    pattern = r'(<joint_dynamics [^>]*?) stiffness="([^"]*)"([^>]*)>(.*?)</joint_dynamics>'
    text, changed = re.subn(pattern, table, text)
    robot = fd.load_robot(text)
    return robot, changed, random_state(robot, np.random.default_rng(seed), 0.2)


SEEDS = (30, 33, 36, 42)


@pytest.mark.parametrize('seed', SEEDS)
def test_random_robots_against_particles(seed):
    """Trees with beams, mimics and several tables, by the second formulation."""
    robot, changed, (q, qd, qdd) = random_case(seed)
    assert changed
    dyn, particles = reference_dynamics(robot), ParticleModel(robot)
    for name, given in {
        'elastic_vector': (q, qd), 'inverse_dynamics': (q, qd, qdd), 'bias_vector': (q, qd),
    }.items():
        ours, theirs = (getattr(model, name)(*given) for model in (dyn, particles))
        assert_generalised_agree(robot, ours, theirs, 1e-10, name)
    assert dyn.potential_energy(q) == pytest.approx(particles.potential_energy(q), rel=1e-10)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    assert_agree(dyn.forward_dynamics(q, qd, tau), qdd, 1e-7)


@pytest.mark.usefixtures('simplified_once')
@pytest.mark.parametrize('language', ['c', 'python', 'fortran'])
def test_generated_code_in_every_language(language, tmp_path):
    """Torques and energies of generated code equal the reference's."""
    robot = two_masses(DEAD_ZONE, '0 1 0', (0.5, 0.0, 0.0), 'damping="0.5"')
    dyn, qd, qdd = reference_dynamics(robot), [0.3, -0.7], [1.0, 2.0]
    code = fd.generate(robot, 'inverse_dynamics+potential_energy', language)
    need_compiler(language)
    run = Native(code, tmp_path) if language != 'python' else None
    for stretch in np.linspace(-0.07, 0.07, 29):
        state = [0.4, stretch]
        if run is None:
            torque, energy = code.compile_python()(state, qd, qdd)
        else:
            *torque, energy = run(state, qd, qdd)
        assert_generalised_agree(robot, torque, dyn.inverse_dynamics(state, qd, qdd), 1e-11)
        assert energy == pytest.approx(dyn.potential_energy(state), rel=1e-11)


def test_a_table_costs_its_costliest_piece():
    """One cubic by Horner's rule with its shift, one damper: 4 and 5 operations."""
    code = fd.generate(two_masses(HARDENING, damping='damping="0.5"'), 'elastic_vector')
    assert count_c(code.source) == {'mul': 4, 'add': 5, 'trig': 0}
    assert code.counts == count_c(code.source)
