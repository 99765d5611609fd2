# SPDX-License-Identifier: Apache-2.0
"""Every kind of beam modes in a moving arm, against particles with shapes found another way."""

from functools import lru_cache

from codegen.compiled import needs_compiler
import flexdyn_ros as fd
import numpy as np
from oracles.compare import (
    assert_agree,
    assert_generalised_agree,
    assert_matrices_agree,
    reference_dynamics,
)
from oracles.particle_model import ParticleModel
from oracles.small_robots import state_of
import pytest

TOLERANCE = 1e-10
SECTION = 'young="7e7" shear="2.6e7" area="1e-3" iy="1e-6" iz="2e-6" j="2.5e-6" polar="1e-2"'
STEP = (
    '<station at="0" {0} {1}/><station at="0.4" {0} {1}/>'
    '<station at="0.4" {2} {3}/><station at="1" {2} {3}/>'
).format(
    'area="1e-3" iy="1e-6" iz="2e-6" j="2.5e-6"', 'polar="1e-2" young="7e7"',
    'area="6e-4" iy="0.4e-6" iz="0.9e-6" j="1e-6"', 'polar="0.6e-2" young="5e7"',
)
MASS = '<point_mass at="0.55" mass="0.3" ixx="0.01" iyy="0.02" izz="0.025"/>'
# Attributes of <beam>, its content.
BEAMS = {
    'pinned-free': ('', '<bending axis="y" modes="2" boundary="pinned-free" '
                    'damping_ratio="0.1"/>'),
    'clamped-clamped': ('', '<bending axis="z" modes="2" boundary="clamped-clamped"/>'),
    'clamped-pinned': ('', '<bending axis="y" modes="1" boundary="clamped-pinned"/>'
                       '<torsion modes="1"/>'),
    'axial': ('', '<bending axis="y" modes="1"/><axial modes="2" damping_ratio="0.02"/>'),
    'polynomial': ('rayleigh_mass="0.3" rayleigh_stiffness="0.002"',
                   '<bending axis="y" modes="3" basis="polynomial"/>'
                   '<bending axis="z" modes="2" basis="polynomial" boundary="clamped-pinned"/>'
                   '<torsion modes="2" basis="polynomial"/>'
                   '<axial modes="1" basis="polynomial"/>'),
    'static': ('loss_factor="0.04"', '<bending axis="y" modes="1" static_modes="2"/>'
               '<bending axis="z" modes="0" static_modes="1"/><torsion modes="1" '
               'static_modes="1" damping_ratio="0.02 0.05"/>'),
    'craig_bampton': ('loss_factor="0.1"', '<bending axis="y" modes="2" static_modes="2" '
                      'boundary="clamped-clamped" damping_ratio="0.01"/>'),
    'timoshenko': ('rotary_inertia="true"', '<bending axis="y" modes="2" '
                   'shear_correction="0.8"/><bending axis="z" modes="1" static_modes="1" '
                   'shear_correction="0.7" boundary="pinned-free"/>'),
    'stepped': ('rotary_inertia="true"', STEP + '<bending axis="y" modes="2"/>'
                '<bending axis="z" modes="1" shear_correction="0.8"/><torsion modes="1"/>'),
    'loaded': ('loaded="true" loss_factor="0.02" rayleigh_mass="0.1"',
               MASS + '<bending axis="y" modes="2" damping_ratio="0.01"/><bending axis="z" '
               'modes="1" static_modes="1"/><torsion modes="1"/><axial modes="1"/>'),
    'loaded_steps': ('loaded="true" rotary_inertia="true"', STEP + MASS + '<bending axis="z" '
                     'modes="2" shear_correction="0.9" boundary="pinned-free"/>'),
}


# Of these the bent beam is drawn in along its axis, too.
STIFFENED = ('pinned-free', 'axial', 'polynomial', 'craig_bampton', 'timoshenko', 'stepped')


def arm_urdf(attributes, inside, stiffening):
    """Return an arm whose first link is the beam; a hub, a branch beside the axis, a payload."""
    inertial = (
        '<inertial><origin xyz="0.1 0.02 0"/><mass value="{}"/>'
        '<inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial>'
    )
    section = 'shear="2.6e7"' if '<station' in inside else SECTION
    joint = (
        '<joint name="joint{0}" type="revolute"><origin xyz="{2}" rpy="0.3 0.2 0.1"/>'
        '<parent link="link{1}"/><child link="link{0}"/><axis xyz="0 0.6 0.8"/>'
        '<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
    )
    return (
        '<robot name="r"><link name="link0"/>'
        f'<link name="link1">{inertial.format(0.5)}</link>'
        f'<link name="link2">{inertial.format(0.4)}</link>'
        f'<link name="link3">{inertial.format(0.2)}</link>'
        f'{joint.format(1, 0, "0 0 0.2")}{joint.format(2, 1, "0.9 0.2 0.1")}'
        f'{joint.format(3, 1, "0.5 0.2 -0.1")}<flexdyn version="1.0">'
        f'<flexible_link link="link1" inertial="hub" geometric_stiffening="{stiffening}">'
        f'<beam tip="joint2" mass="0.7" {section} {attributes}>{inside}</beam></flexible_link>'
        '<payload link="link1" mass="0.2" com="0.7 0.2 0.2" ixx="0.01" iyy="0.01" izz="0.01"/>'
        '</flexdyn></robot>'
    )


@lru_cache(maxsize=None)
def build(name):
    """Return robot, our dynamics, the particles and a state."""
    stiffening = 'true' if name in STIFFENED else 'false'
    robot = fd.load_robot(arm_urdf(*BEAMS[name], stiffening))
    return robot, reference_dynamics(robot), ParticleModel(robot), state_of(robot)


@pytest.mark.parametrize('name', BEAMS)
def test_against_particles(name):
    robot, dyn, particles, (q, qd, qdd) = build(name)
    assert_matrices_agree(dyn.mass_matrix(q), particles.mass_matrix(q), TOLERANCE)
    ours, theirs = (model.inverse_dynamics(q, qd, qdd) for model in (dyn, particles))
    assert_generalised_agree(robot, ours, theirs, TOLERANCE)
    ours, theirs = (model.elastic_vector(q, qd) for model in (dyn, particles))
    assert_generalised_agree(robot, ours, theirs, TOLERANCE, 'elastic')
    for energy in ('kinetic_energy', 'potential_energy'):
        given = (q, qd) if energy == 'kinetic_energy' else (q,)
        ours, theirs = (getattr(model, energy)(*given) for model in (dyn, particles))
        assert_agree(ours, theirs, TOLERANCE, energy)


@pytest.mark.parametrize('name', BEAMS)
def test_forward_and_hybrid_dynamics_invert_inverse_dynamics(name):
    robot, dyn, _, (q, qd, qdd) = build(name)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    assert_agree(dyn.forward_dynamics(q, qd, tau), qdd, 1e-8)
    joints, modes = dyn.hybrid_dynamics(q, qd, qdd[:robot.n_joints])
    whole = dyn.inverse_dynamics(q, qd, np.concatenate((qdd[:robot.n_joints], modes)))
    assert_agree(whole[:robot.n_joints], joints, 1e-9)
    assert np.abs(whole[robot.n_joints:]).max() < 1e-9 * np.abs(tau).max()


@pytest.mark.parametrize('name, backend', [
    ('craig_bampton', 'python'), ('axial', 'python'),
    pytest.param('craig_bampton', 'c', marks=[needs_compiler, pytest.mark.slow]),
])
def test_generated_code(name, backend):
    """Full modal matrices and stretch, as generated for "auto"."""
    robot, dyn, _, (q, qd, qdd) = build(name)
    generated = fd.Dynamics(robot, backend=backend)
    for method in ('inverse_dynamics', 'forward_dynamics'):
        ours, theirs = (getattr(model, method)(q, qd, qdd) for model in (generated, dyn))
        assert_agree(ours, theirs, TOLERANCE, method)


def test_loads_are_what_the_beam_carries():
    """Child links as rigid bodies at zero, with the payload and point masses."""
    beam = build('loaded')[0].link('link1').beam
    assert sum(load.mass for load in beam.carried) == pytest.approx(0.3 + 0.2 + 0.4 + 0.2)
    assert {load.at for load in beam.carried if load.mass == 0.4} == {1.0}
    assert len(beam.carried) == 4


def test_names_and_order():
    robot = build('static')[0]
    assert robot.mode_names == (
        'link1/bending_y1', 'link1/bending_y_static1', 'link1/bending_y_static2',
        'link1/bending_z_static1', 'link1/torsion1', 'link1/torsion_static1',
    )
    assert build('axial')[0].mode_names[1:] == ('link1/axial1', 'link1/axial2')
