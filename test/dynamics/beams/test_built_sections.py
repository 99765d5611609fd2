# SPDX-License-Identifier: Apache-2.0
"""
Sections as they are built: products of inertia, and shear centres beside the centroid.

Closed forms: unsymmetric bending E (iz v'' + iyz w'') = M, E (iyz v'' + iy w'') = N, such as in
Megson, Aircraft Structures, section 16.2.2. Coupled vibration of bending and torsion has w and
theta of the shear centre and the centroid e beside it (Timoshenko, Young and Weaver 1974, section
5.19):

    E I w'''' = m p^2 (w - e theta),    -G J theta'' = p^2 (J_s theta - m e w).

A cantilever follows by its boundary determinant, and Goland's wing as printed (Banerjee, Explicit
frequency equation and mode shapes of a cantilever beam coupled in bending and torsion, Journal of
Sound and Vibration 224, 1999).
"""

from codegen.compiled import QUICK
import flexdyn_ros as fd
from flexdyn_ros.errors import ModelError
from flexdyn_ros.simulation.tip_deflections import tip_deflections
from flexdyn_ros.simulation.vibrations import analyse
import numpy as np
from oracles.compare import assert_agree, assert_slope_in_q
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq
from thinned import thinned

# A Z-section, 60 x 40 x 3 mm, of aluminium.
YOUNG, IY, IZ, IYZ, LENGTH = 7e10, 2.1e-7, 1.2e-7, 1.1e-7, 1.5
# Small vibrations are the same without it, and sooner computed.
PLAIN = 'geometric_stiffening="false"'
BENDING = '<bending axis="y" {0}/><bending axis="z" {0}/>'


def strip(beam, modes, kind='fixed', link='', more=''):
    """Return a beam along x with a light tool at its tip."""
    tool = '<inertial><mass value="1e-9"/><inertia ixx="1e-12" iyy="1e-12" izz="1e-12" ixy="0" ' \
           'ixz="0" iyz="0"/></inertial>'
    return fd.load_robot(
        f'<robot name="r"><link name="base"/><link name="strip"/><link name="tool">{tool}</link>'
        f'<joint name="root" type="{kind}"><parent link="base"/><child link="strip"/><axis '
        f'xyz="0 0 1"/></joint><joint name="wrist" type="fixed"><parent link="strip"/><child '
        f'link="tool"/><origin xyz="{LENGTH} 0 0"/></joint><flexdyn version="1.0"><gravity xyz='
        f'"0 0 0"/><flexible_link link="strip" {link}><beam tip="{LENGTH} 0 0" {beam}>{modes}'
        f'</beam></flexible_link>{more}</flexdyn></robot>')


Z_SECTION = f'young="{YOUNG}" iy="{IY}" iz="{IZ}" iyz="{IYZ}" mass="1.2" area="4e-4"'


@pytest.mark.parametrize('masses', [
    'linear_density="0.8"',  # natural modes, and static ones
    'mass="1e-3" loaded="true"',
])
def test_a_z_section_bends_out_of_the_plane_of_its_load(masses):
    """The tip goes sideways by -iyz / iz of its way along the force, to 1e-9."""
    beam = Z_SECTION.replace('mass="1.2"', masses)
    robot = strip(beam, BENDING.format('modes="2" static_modes="1"'), link=PLAIN)
    dyn, static = fd.Dynamics(robot), fd.QuasiStatic(fd.Dynamics(robot))
    none = np.zeros(0)
    wrench = {'tool': [0.0, 0.0, 1e-3, 0.0, 0.0, 0.0]}
    deflection = static.inverse_dynamics(none, none, none, wrench)[1]
    tip = dyn.frame_pose(deflection, 'tool')[1:3, 3]
    unit = 1e-3 * LENGTH**3 / (3.0 * YOUNG * (IY * IZ - IYZ**2))
    assert tip == pytest.approx([-IYZ * unit, IZ * unit], rel=1e-8)
    assert tip_deflections(dyn, deflection[None])[2][0] == pytest.approx(tip, rel=1e-8)


def test_it_vibrates_as_its_principal_axes_do():
    """Frequencies of the same beam in axes without a product, with rotary inertia; 1e-9."""
    modes = BENDING.format('modes="3"')
    for extra in ('', ' rotary_inertia="true"'):
        skew = strip(Z_SECTION + extra, modes, link=PLAIN)
        rates = [v['frequency'] for v in analyse(skew, np.zeros(skew.nv))['locked']]
        tensor = np.array([[IY, -IYZ], [-IYZ, IZ]])
        moments, axes = np.linalg.eigh(tensor)
        y, z = axes[:, 0]
        straight = strip(
            f'young="{YOUNG}" iy="{moments[0]}" iz="{moments[1]}" y_axis="0 {y} {z}" mass="1.2" '
            f'area="4e-4"{extra}', modes, link=PLAIN)
        found = [v['frequency'] for v in analyse(straight, np.zeros(skew.nv))['locked']]
        assert rates == pytest.approx(found, rel=1e-9)
        q = np.array([0.02, 0.003, -0.001, 0.01, 0.004, 0.002])
        masses = [fd.Dynamics(each, backend='reference').mass_matrix(0 * q) for each in
                  (skew, straight)]
        assert np.linalg.eigvalsh(masses[0]) == pytest.approx(
            np.linalg.eigvalsh(masses[1]), rel=1e-9)


def test_segments_with_a_product_bend_as_their_beam():
    """The tip of 60 segments under a small force, within their own error 1 / 4 (n - 1)^2."""
    text = (
        f'<segments count="60" directions="y z" tip="{LENGTH} 0 0" {Z_SECTION}/>')
    robot = fd.load_robot(
        '<robot name="r"><link name="base"/><link name="strip"/><joint name="root" type="fixed">'
        '<parent link="base"/><child link="strip"/></joint><link name="tool"/><joint name="wrist" '
        f'type="fixed"><parent link="strip"/><child link="tool"/><origin xyz="{LENGTH} 0 0"/>'
        '</joint><flexdyn version="1.0"><gravity xyz="0 0 0"/><flexible_link link="strip">'
        f'{text}</flexible_link></flexdyn></robot>')
    dyn = fd.Dynamics(robot, backend='reference')
    zero = np.zeros(robot.nv)
    loads = -dyn.external_force_vector(zero, {'tool': [0, 0, 1e-3, 0, 0, 0]})
    stiffness = np.array([dyn.elastic_vector(e, zero) for e in np.eye(robot.nv)])
    tip = dyn.jacobian(zero, 'tool')[1:3] @ np.linalg.solve(stiffness, loads)
    unit = 1e-3 * LENGTH**3 / (3.0 * YOUNG * (IY * IZ - IYZ**2))
    assert tip == pytest.approx([-IYZ * unit, IZ * unit], rel=1.1 / (4 * 59**2))


def coupled_rates(bending, torsion, mass, inertia, arm, length, count):
    """Return the lowest frequencies of a cantilever coupled in bending and torsion [rad/s]."""

    def determinant(p):
        # State w, w', w'', w''', theta, theta'.
        system = np.zeros((6, 6))
        system[[0, 1, 2, 4], [1, 2, 3, 5]] = 1.0
        system[3, [0, 4]] = np.array([1.0, -arm]) * mass * p * p / bending
        system[5, [0, 4]] = -np.array([-mass * arm, inertia]) * p * p / torsion
        # Scaled so that the numbers stay of one size.
        scale = length ** np.array([0.0, 1.0, 2.0, 3.0, 1.0, 2.0])
        moved = scale[:, None] * expm(system * length) / scale
        return np.linalg.det(moved[np.ix_([2, 3, 5], [2, 3, 5])])

    found, before = [], 1.0
    while len(found) < count:
        after = before * 1.01
        if determinant(before) * determinant(after) < 0.0:
            found.append(brentq(determinant, before, after, xtol=1e-10))
        before = after
    return np.array(found)


def wing(arm, modes=8):
    """Return Goland's wing: EI and GJ by moduli of one, the centroid behind the elastic axis."""
    bending, torsion, mass, inertia = 9.75e6, 9.88e5, 35.75, 8.65
    polar = inertia - mass * arm**2
    area = mass  # of a density of one
    beam = (
        f'young="1" shear="1" iy="{bending}" iz="{bending}" j="{torsion}" polar="{polar}" '
        f'area="{area}" linear_density="{mass}" shear_centre="{arm} 0"')
    return strip(
        beam, f'<bending axis="z" modes="{modes}"/><torsion modes="{modes}"/>', link=PLAIN)


def test_goland_s_wing_has_its_published_frequencies():
    """The uniform wing of 6 m, printed in rad/s; and the boundary determinant."""
    robot = fd.load_robot(wing(0.18).descriptions[0].replace('1.5', '6.0'))
    found = [2 * np.pi * v['frequency'] for v in analyse(robot, np.zeros(robot.nv))['locked']]
    assert np.round(found[:5], 1) == pytest.approx([49.6, 97.0, 248.9, 355.6, 451.5], abs=0.11)
    exact = coupled_rates(9.75e6, 9.88e5, 35.75, 8.65, 0.18, 6.0, 4)
    assert found[:4] == pytest.approx(exact, rel=2e-4)


def test_more_modes_converge_to_the_determinant():
    """From above, as those of Ritz do."""
    exact = coupled_rates(9.75e6, 9.88e5, 35.75, 8.65, -0.25, 6.0, 3)
    errors = []
    for modes in (2, 4, 9):
        robot = fd.load_robot(wing(-0.25, modes).descriptions[0].replace('1.5', '6.0'))
        rates = [2 * np.pi * v['frequency'] for v in analyse(robot, np.zeros(robot.nv))['locked']]
        errors.append(np.array(rates[:3]) / exact - 1.0)
    assert np.all(errors[-1] > -1e-9) and np.all(errors[-1] < 1e-4)
    assert np.all(errors[0] > errors[1]) and np.all(errors[1] > errors[2])


def test_a_force_through_the_centroid_twists_the_channel():
    """By F e L / G J; through the shear centre it twists nothing."""
    arm, force = 0.02, 3.0
    beam = (f'young="{YOUNG}" shear="2.6e10" iy="{IY}" iz="{IZ}" j="3e-9" polar="3.3e-7" '
            f'area="4e-4" mass="1.2" shear_centre="{arm} 0.01"')
    robot = strip(beam, '<bending axis="z" modes="2" static_modes="1"/>'
                  '<torsion modes="2" static_modes="1"/>')
    static, none = fd.QuasiStatic(fd.Dynamics(robot)), np.zeros(0)
    names = tip_deflections(static.dyn, np.zeros((1, robot.nq)))[0]
    for moment, twist in ((0.0, -force * arm * LENGTH / (2.6e10 * 3e-9)), (force * arm, 0.0)):
        wrench = {'tool': [0.0, 0.0, 1e-6 * force, 1e-6 * moment, 0.0, 0.0]}
        deflection = static.inverse_dynamics(none, none, none, wrench)[1]
        tip = dict(zip(names, tip_deflections(static.dyn, deflection[None])[2][0]))
        bent = force * LENGTH**3 / (3.0 * YOUNG * IY)
        assert tip['strip/tip_twist'] == pytest.approx(1e-6 * twist, rel=1e-7, abs=1e-15)
        # The axis of centroids moves with the twist.
        assert tip['strip/tip_z'] == pytest.approx(1e-6 * (bent - arm * twist), rel=1e-7)


@pytest.mark.parametrize('backend', thinned(['reference', 'python', 'c'], {'reference', 'c'}))
def test_swinging_channel(backend, monkeypatch):
    """Inversion, energy slopes, derivatives, batch, kinematic influence, energy balance."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    beam = (f'{Z_SECTION} shear="2.6e10" j="3e-8" polar="3.3e-7" shear_centre="0.02 -0.01" '
            'rotary_inertia="true"')
    robot = strip(
        beam, '<bending axis="y" modes="1"/><bending axis="z" modes="1"/><torsion modes="1"/>',
        'continuous', more='<payload link="strip" mass="0.5" com="1.5 0.02 0.03"/>')
    dyn = fd.Dynamics(robot, backend=backend)
    rng = np.random.default_rng(5)
    q, qd, qdd = rng.normal(scale=[[0.5], [1.0], [2.0]], size=(3, robot.nv))
    q[1:] *= 0.05
    tau = dyn.inverse_dynamics(q, qd, qdd)
    assert_agree(dyn.forward_dynamics(q, qd, tau), qdd, 1e-8)
    influence = fd.Dynamics(robot, backend='reference', formulation='kinematic_influence')
    assert_agree(influence.inverse_dynamics(q, qd, qdd), tau, 1e-10)
    assert dyn.kinetic_energy(q, qd) == pytest.approx(0.5 * qd @ influence.mass_matrix(q) @ qd)
    slope = [(dyn.potential_energy(q + d) - dyn.potential_energy(q - d)) / 2e-6
             for d in 1e-6 * np.eye(robot.nv)]
    assert_agree(dyn.elastic_vector(q, 0 * q) + dyn.gravity_vector(q), np.array(slope), 1e-6)
    assert_slope_in_q(dyn, dyn.inverse_dynamics_derivatives(q, qd, qdd)[0], q, qd, qdd, 1e-5)
    assert_agree(dyn.batch.inverse_dynamics(q[None], qd[None], qdd[None])[0], tau, 1e-11)
    if backend == 'c':
        motion = fd.simulate(dyn, q, qd, None, 0.2, 2e-5, method='rk4')
        assert np.ptp(motion.energy) < 1e-6 * motion.energy[0]


@pytest.mark.parametrize(('beam', 'modes', 'words'), [
    (Z_SECTION, '<bending axis="y" modes="1"/>', 'iyz has no effect'),
    (Z_SECTION.replace(f'{IYZ}', '1.7e-7'), BENDING.format('modes="1"'), 'no product of inertia'),
    (Z_SECTION + ' shear_centre="0.1 0"', BENDING.format('modes="1"'), 'without torsion modes'),
    (Z_SECTION + ' shear_centre="0.1"', BENDING.format('modes="1"'), 'shear_centre="0.1"'),
])
def test_refusals(beam, modes, words):
    with pytest.raises(ModelError, match=words):
        strip(beam, modes)
