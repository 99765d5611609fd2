# SPDX-License-Identifier: Apache-2.0
"""Nonlinear stiffness of modes: Duffing's closed form, energies, particles, every backend."""

from dataclasses import replace
from functools import lru_cache
import re

from codegen.native import Native, need_compiler
import flexdyn_ros as fd
from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.dynamics.body_builder import without_own_stiffness
from flexdyn_ros.dynamics.internal_forces import elastic_energy, elastic_forces
from flexdyn_ros.model.beam.body import modal_body
from flexdyn_ros.model.check import check_robot
from flexdyn_ros.simulation.frequencies import stiffness_matrix
from flexdyn_ros.simulation.vibrations import analyse
import numpy as np
from oracles.compare import assert_agree, assert_generalised_agree, reference_dynamics
from oracles.particle_model import ParticleModel
from oracles.particle_segments import in_segments
from oracles.particle_springs import SpringTable
from oracles.random_robots import random_robot_urdf, random_state
import pytest
from scipy.special import ellipk

# A strip of aluminium, 1 m: modal mass m / 4 and stiffness 3.0905 E I / L^3 of the first mode.
YOUNG, SECOND, MASS = 7e10, 2e-10, 0.5
CUBIC = 5e4


def strip(springs='', modes=1, joint='fixed', gravity='0 0 0', stiffening='false', damping=''):
    """Return a strip with bending modes along y, clamped or on a joint."""
    return fd.load_robot(
        '<robot name="strip"><link name="wall"/><link name="strip"/>'
        f'<joint name="root" type="{joint}"><parent link="wall"/><child link="strip"/>'
        '<axis xyz="0 0 1"/></joint><flexdyn version="1.0">'
        f'<gravity xyz="{gravity}"/><flexible_link link="strip" '
        f'geometric_stiffening="{stiffening}"><beam tip="1 0 0" young="{YOUNG}" iz="{SECOND}" '
        f'iy="{SECOND}" mass="{MASS}"><bending axis="y" modes="{modes}" {damping}/>'
        f'<bending axis="z" modes="1"/></beam>{springs}</flexible_link></flexdyn></robot>'
    )


def spring(attributes, mode='bending_y1'):
    """Return a nonlinear spring of a mode."""
    return f'<mode_spring mode="{mode}" {attributes}/>'


def linear(robot):
    """Return the first mode's own mass and linear stiffness."""
    plain = reference_dynamics(strip())
    rest = np.zeros(plain.robot.nv)
    return plain.mass_matrix(rest)[0, 0], stiffness_matrix(plain, rest)[0, 0]


@pytest.mark.parametrize('amplitude', [0.02, 0.1, 0.3])
def test_duffings_period(amplitude):
    """Quarter period K(k^2) / w of m x'' + k x + c x^3 = 0 (Kovacic and Brennan 2011, 2.4)."""
    robot = strip(spring(f'polynomial="0 0 {CUBIC}"'))
    mass, stiffness = linear(robot)
    assert mass == pytest.approx(0.25 * MASS, rel=1e-9)
    assert stiffness == pytest.approx(3.09049 * YOUNG * SECOND, rel=1e-4)
    rate = np.sqrt((stiffness + CUBIC * amplitude**2) / mass)
    modulus = CUBIC * amplitude**2 / (2.0 * (stiffness + CUBIC * amplitude**2))
    quarter = ellipk(modulus) / rate
    run = fd.simulate(fd.Dynamics(robot), [amplitude, 0.0], [0.0, 0.0], None, 1.1 * quarter,
                      quarter / 300)
    at = int(np.argmax(run.q[:, 0] < 0.0))
    share = run.q[at - 1, 0] / (run.q[at - 1, 0] - run.q[at, 0])
    found = run.t[at - 1] + share * (run.t[at] - run.t[at - 1])
    assert found == pytest.approx(quarter, rel=1e-5)
    assert np.ptp(run.energy) < 1e-8 * run.energy[0]


def test_a_table_of_a_cubic_is_nearly_the_cubic():
    """With many points; its energy is the integral of the interpolant."""
    x = np.linspace(-0.3, 0.3, 61)
    points = ', '.join(f'{a!r} {CUBIC * a**3 + 0.0!r}' for a in np.round(x, 4).tolist())
    table = reference_dynamics(strip(spring(f'points="{points}"')))
    power = reference_dynamics(strip(spring(f'polynomial="0 0 {CUBIC}"')))
    law = SpringTable([(a, CUBIC * a**3) for a in np.round(x, 4)])
    _, stiffness = linear(None)
    for a in (-0.25, -0.013, 0.0, 0.111):
        q, rest = [a, 0.02], [0.0, 0.0]
        assert_agree(table.elastic_vector(q, rest), power.elastic_vector(q, rest), 1e-2)
        assert table.elastic_vector(q, rest)[0] == pytest.approx(
            stiffness * a + law.force(a), rel=1e-12, abs=1e-12)
        assert table.potential_energy([a, 0.0]) == pytest.approx(
            0.5 * stiffness * a * a + law.energy(a), rel=1e-11, abs=1e-14)


@pytest.mark.parametrize('kind', ['keep', 'replace'])
def test_linear_stiffness_is_kept_or_replaced(kind):
    """A straight law beside the linear stiffness, or in its place; other modes keep theirs."""
    _, stiffness = linear(None)
    for law in ('polynomial="80"', 'points="-1 -80, 0 0"'):
        robot = strip(spring(f'{law} linear="{kind}"'), modes=2, damping='damping_ratio="0.02"')
        plain = strip(modes=2, damping='damping_ratio="0.02"')
        ours, theirs = (stiffness_matrix(reference_dynamics(r), np.zeros(3))
                        for r in (robot, plain))
        expected = theirs.copy()
        expected[0, 0] = 80.0 + (stiffness if kind == 'keep' else 0.0)
        assert_agree(ours, expected, 1e-7)
        rates = [0.3, -0.2, 0.1]
        assert np.array_equal(
            reference_dynamics(robot).elastic_vector(np.zeros(3), rates),
            reference_dynamics(plain).elastic_vector(np.zeros(3), rates),
        )


def test_force_is_the_derivative_of_the_energy():
    """Of even and odd powers, a table and both in one link; by complex-free central steps."""
    robot = strip(
        spring('polynomial="3 200 4e4 -1e4 6e5"') + spring(
            'points="-0.1 -40, -0.02 0, 0 0, 0.05 0, 0.1 60" linear="replace"', 'bending_z1'),
        modes=2,
    )
    dyn = reference_dynamics(robot)
    for q in np.random.default_rng(2).normal(size=(5, 3)) * 0.08:
        slope = [(dyn.potential_energy(q + 1e-6 * e) - dyn.potential_energy(q - 1e-6 * e)) / 2e-6
                 for e in np.eye(3)]
        assert_agree(dyn.elastic_vector(q, np.zeros(3)), slope, 1e-6)
    assert dyn.potential_energy(np.zeros(3)) == 0.0


@pytest.mark.parametrize('stiffening', ['true', 'false'])
def test_energy_is_conserved_with_everything_coupled(stiffening):
    """A swinging strip under gravity whose modes are coupled by inertia and hardened."""
    robot = strip(
        spring(f'polynomial="0 0 {CUBIC}"')
        + spring('points="-0.05 -9, 0 0, 0.05 9, 0.1 60"', 'bending_z1'),
        joint='continuous', gravity='0 -9.81 0', stiffening=stiffening,
    )
    run = fd.simulate(fd.Dynamics(robot), [0.4, 0.1, 0.05], [2.0, 0.0, 0.0], None, 0.1, 1e-4)
    assert np.ptp(run.energy) < 1e-6 * np.ptp(run.kinetic)


def test_static_deflection_of_a_hardening_strip():
    """A tip force F: k x + c x^3 = F, solved by Cardano's formula."""
    robot = strip(spring(f'polynomial="0 0 {CUBIC}"'))
    dyn, force = reference_dynamics(robot), 100.0
    _, k = linear(robot)
    half, third = force / (2 * CUBIC), k / (3 * CUBIC)
    root = np.sqrt(half**2 + third**3)
    x = np.cbrt(half + root) + np.cbrt(half - root)
    rest = np.zeros(2)
    hold = dyn.elastic_vector([x, 0.0], rest)
    assert hold[0] == pytest.approx(force, rel=1e-9)
    assert_agree(dyn.forward_dynamics([x, 0.0], rest, [force, 0.0]), rest, 1e-7)


def test_modes_that_stiffness_couples_keep_their_coupling():
    """Only a mode's own entry gives way to its spring; the energy stays that of the forces."""
    law = spring('polynomial="0 0 5e4" linear="replace"')
    plain, robot = strip(modes=2), strip(law, modes=2)
    body = modal_body(plain.link('strip'))
    coupled = body.stiffness + 7.0 * (np.ones((3, 3)) - np.eye(3))
    gone = robot.link('strip').replaced_modes
    kept = without_own_stiffness(replace(body, stiffness=coupled), gone)
    expected = coupled.copy()
    expected[0, 0] = 0.0
    assert np.array_equal(kept.stiffness, expected)
    tree = assemble(robot, {})
    bodies = [
        replace(b, modal=replace(b.modal, stiffness=tuple(map(tuple, expected)))) if b.n_modes
        else b for b in tree.bodies
    ]
    tree, q = replace(tree, bodies=tuple(bodies)), np.array([0.1, -0.02, 0.05])
    force = elastic_forces(tree, q.tolist(), [0.0] * 3)
    assert_agree(force, expected @ q + [5e4 * 0.1**3, 0.0, 0.0], 1e-12)
    ends = [[elastic_energy(tree, (q + s * e).tolist()) for s in (1e-6, -1e-6)] for e in np.eye(3)]
    slope = [(high - low) / 2e-6 for high, low in ends]
    assert_agree(force, slope, 1e-7)


@pytest.mark.parametrize('kind', ['keep', 'replace'])
def test_polynomial_shapes_are_coupled_by_stiffness(kind):
    """A robot whose stiffness matrix is full: the coupling stays, and the energy is conserved."""
    basis = 'basis="polynomial"'
    robot = strip(spring(f'polynomial="900 0 {CUBIC}" linear="{kind}"'), modes=2, damping=basis)
    plain = reference_dynamics(strip(modes=2, damping=basis))
    full = stiffness_matrix(plain, np.zeros(3))
    assert abs(full[0, 1]) > 1e-3 * full[0, 0]
    expected = full.copy()
    expected[0, 0] = 900.0 + (full[0, 0] if kind == 'keep' else 0.0)
    dyn, q = reference_dynamics(robot), np.array([0.1, -0.02, 0.05])
    force = expected @ q + [CUBIC * q[0] ** 3, 0.0, 0.0]
    assert_agree(dyn.elastic_vector(q, np.zeros(3)), force, 1e-7)
    energy = 0.5 * q @ expected @ q + 0.25 * CUBIC * q[0] ** 4
    assert dyn.potential_energy(q) == pytest.approx(energy, rel=1e-7)
    run = fd.simulate(dyn, q, np.zeros(3), None, 0.02, 2e-4)
    assert np.ptp(run.energy) < 1e-6 * energy


@lru_cache(maxsize=None)
def random_case(seed):
    """Return a random robot, beams and segments, with springs on some modes, and a state."""
    text = random_robot_urdf(seed, 4, flexible=0.9, max_modes=1)
    text = in_segments(text, ((3, 'y z', 'centred'),), 2)
    plain = fd.load_robot(text)
    laws = ('polynomial="1 -5 40"', 'points="-0.2 -7, 0 0, 0.1 1, 0.3 40"',
            'polynomial="0 0 90" linear="replace"', 'points="-0.2 -7, 0 0" linear="replace"')
    for link in plain.links:
        inner = ''.join(
            spring(law, name.rpartition('/')[2]) for name, law in zip(link.mode_names, laws)
        )
        pattern = rf'(<flexible_link link="{link.name}".*?)(</flexible_link>)'
        text = re.sub(pattern, rf'\g<1>{inner}\g<2>', text, flags=re.DOTALL)
    robot = fd.load_robot(text)
    return robot, random_state(robot, np.random.default_rng(seed), 0.2)


SEEDS = (12, 13, 37)


@pytest.mark.parametrize('seed', SEEDS)
def test_random_robots_against_particles(seed):
    """Beams and segments with several springs, by the second formulation."""
    robot, (q, qd, qdd) = random_case(seed)
    assert sum(len(link.mode_springs) for link in robot.links) >= 4
    dyn, particles = reference_dynamics(robot), ParticleModel(robot)
    for name, given in {'elastic_vector': (q, qd), 'inverse_dynamics': (q, qd, qdd)}.items():
        ours, theirs = (getattr(model, name)(*given) for model in (dyn, particles))
        assert_generalised_agree(robot, ours, theirs, 1e-10, name)
    assert dyn.potential_energy(q) == pytest.approx(particles.potential_energy(q), rel=1e-9)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    assert_agree(dyn.forward_dynamics(q, qd, tau), qdd, 1e-6)


def test_derivatives_know_the_springs():
    """Of inverse dynamics by positions: beams, segments, tables and polynomials together."""
    robot, (q, qd, qdd) = random_case(SEEDS[-1])
    dyn = reference_dynamics(robot)
    assert robot.nq == robot.nv
    found = dyn.inverse_dynamics_derivatives(q, qd, qdd)[0]
    steps = 1e-6 * np.eye(robot.nv)
    expected = [
        (dyn.inverse_dynamics(q + s, qd, qdd) - dyn.inverse_dynamics(q - s, qd, qdd)) / 2e-6
        for s in steps
    ]
    assert_agree(found, np.array(expected).T, 1e-8)


@pytest.mark.usefixtures('simplified_once')
@pytest.mark.parametrize('language', ['c', 'python', 'fortran'])
def test_generated_code_in_every_language(language, tmp_path):
    """Forces and energy of a polynomial and a table; a replaced stiffness is no parameter."""
    robot = strip(
        spring('polynomial="3 200 4e4"') + spring(
            'points="-0.1 -40, 0 0, 0.05 0, 0.1 60" linear="replace"', 'bending_z1'),
    )
    code = fd.generate(robot, 'elastic_vector+potential_energy', language,
                       arguments=('strip/bending_y1/stiffness',))
    with pytest.raises(fd.FlexdynError, match='bending_z1/stiffness'):
        fd.generate(robot, 'elastic_vector', arguments=('strip/bending_z1/stiffness',))
    need_compiler(language)
    _, stiffness = linear(robot)
    dyn = reference_dynamics(robot)
    run = Native(code, tmp_path) if language != 'python' else None
    for y, z in ((0.1, -0.2), (-0.3, 0.02), (0.0, 0.07), (0.02, 0.3)):
        q, qd = [y, z], [0.3, 0.1]
        given = (q, qd, 2.0 * stiffness)
        if run is None:
            force, energy = code.compile_python()(*given)
        else:
            *force, energy = run(*given)
        expected = dyn.elastic_vector(q, qd) + [stiffness * y, 0.0]
        assert_agree(force, expected, 1e-9)
        assert energy == pytest.approx(dyn.potential_energy(q) + 0.5 * stiffness * y * y, rel=1e-9)


def test_the_mode_table_takes_the_slope_where_it_is():
    """`flexdyn modes`: k + 3 c x^2 about a bent strip."""
    robot = strip(spring(f'polynomial="0 0 {CUBIC}"'))
    mass, stiffness = linear(robot)
    for bent in (0.0, 0.1):
        answer = analyse(robot, np.array([bent, 0.0]))
        row = answer['coordinates'][0]
        slope = stiffness + 3.0 * CUBIC * bent**2
        assert row['kind'] == 'bending_y, nonlinear'
        assert row['stiffness'] == pytest.approx(slope, rel=1e-7)
        rates = [v['frequency'] for v in answer['locked']]
        assert np.sqrt(slope / mass) / (2.0 * np.pi) == pytest.approx(row['frequency'], rel=1e-7)
        assert min(abs(rate / row['frequency'] - 1.0) for rate in rates) < 1e-7


def test_check_speaks_of_laws_that_give_way():
    """Even or negative highest powers, and tables that end flat where nothing else holds."""
    for attributes, words in (
        ('polynomial="0 0 5"', []), ('polynomial="0 0 5 0 0"', []), ('polynomial="-3"', []),
        ('polynomial="0 7"', ['highest power is 7 x^2']),
        ('polynomial="0 7 -4"', ['highest power is -4 x^3']),
        ('points="-1 -1, 0 0, 1 0"', []),
        ('points="-1 -1, 0 0, 1 1, 2 1" linear="replace"', ['"bending_y1" grows no stiffer']),
    ):
        found = check_robot(strip(spring(attributes))).findings
        assert len(found) == len(words)
        assert all(word in finding.message for word, finding in zip(words, found, strict=True))
