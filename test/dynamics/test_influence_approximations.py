# SPDX-License-Identifier: Apache-2.0
"""The approximations of Graves's paper: exact cases, and errors elsewhere."""

import flexdyn_ros as fd
from flexdyn_ros.dynamics.influence.model import Approximations
import numpy as np
from oracles.compare import assert_agree, assert_matrices_agree, reference_dynamics
import pytest
from validation.beam_arms import beam_arm_urdf

ARM = {
    'lengths': (1.0, 0.8, 0.6), 'masses': (3.0, 2.0, 1.0), 'rigidity': (140.0,) * 3, 'modes': 1,
    'out_of_plane_modes': 1, 'twists': (0.0, 1.5, 0.7), 'gravity': (1.0, -2.0, -9.0),
}


def approximating(robot, *names):
    """Return the dynamics with approximations."""
    return fd.Dynamics(robot, formulation='kinematic_influence', approximations=names)


@pytest.fixture(scope='module')
def arm():
    """Return three links in space."""
    return fd.load_robot(beam_arm_urdf(**ARM))


def state(robot, amplitude=0.0, modal_rate=0.0, seed=1):
    """Return q and qd."""
    rng = np.random.default_rng(seed)
    n, m = robot.n_joints, robot.n_modes
    q = np.concatenate((rng.uniform(-3.0, 3.0, n), amplitude * rng.uniform(-1.0, 1.0, m)))
    return q, np.concatenate((rng.normal(size=n), modal_rate * rng.normal(size=m)))


def test_undeformed_inertia_is_exact_at_rest_and_misses_linearly(arm):
    """M is exact without deflection; its error grows with the first power of the amplitude."""
    exact, constant = reference_dynamics(arm), approximating(arm, 'undeformed_inertia')

    def error(amplitude):
        q, _ = state(arm, amplitude)
        matrix = exact.mass_matrix(q)
        return np.abs(constant.mass_matrix(q) - matrix).max() / np.abs(matrix).max()

    assert error(0.0) < 1e-14
    assert error(2e-4) / error(1e-4) == pytest.approx(2.0, rel=0.01)
    assert 0.001 < error(0.01) < 0.01


def test_undeformed_inertia_does_not_know_the_links_own_deflection():
    """With one link nothing else depends on it: M and the nonlinear terms are constant."""
    one = {name: value[:1] for name, value in ARM.items() if isinstance(value, tuple)}
    robot = fd.load_robot(beam_arm_urdf(**{**ARM, **one, 'gravity': (0.0, 0.0, 0.0)}))
    constant, exact = approximating(robot, 'undeformed_inertia'), reference_dynamics(robot)
    bent, qd = state(robot, 0.1)
    straight = np.where(np.arange(robot.nv) < robot.n_joints, bent, 0.0)
    assert_matrices_agree(constant.mass_matrix(bent), exact.mass_matrix(straight), 1e-13)
    found = constant.coriolis_vector(bent, qd)
    assert_agree(found, exact.coriolis_vector(straight, qd), 1e-13)
    assert np.abs(exact.coriolis_vector(bent, qd) - found).max() > 1e-3


def test_lumped_mass_keeps_the_joints_rows_without_deflection(arm):
    """Joint rows exact at zero deflection and modal rates, modal rows off by percents."""
    exact, lumped = reference_dynamics(arm), approximating(arm, 'lumped_mass')
    for seed in range(3):
        q, qd = state(arm, seed=seed)
        right = exact.coriolis_vector(q, qd)
        error = np.abs(lumped.coriolis_vector(q, qd) - right) / np.abs(right).max()
        assert error[:arm.n_joints].max() < 1e-13
        assert 0.005 < error[arm.n_joints:].max() < 0.1


def test_lumped_mass_is_a_rigid_body_on_the_cross_section():
    """The same nonlinear loads from massless beams that carry these bodies, by recursion."""
    robot = fd.load_robot(beam_arm_urdf(**ARM))
    light = fd.load_robot(beam_arm_urdf(**{**ARM, 'masses': (1e-11,) * 3}))
    carried = reference_dynamics(light)
    for k, (length, mass) in enumerate(zip(ARM['lengths'], ARM['masses']), 1):
        about = mass / 12.0 * length**2
        carried.set_payload(
            f'link{k}', mass, (0.5 * length, 0.0, 0.0), np.diag([0.0, about, about])
        )
    lumped = approximating(robot, 'lumped_mass')
    q, qd = state(robot, 0.05, 1.0)
    found = lumped.coriolis_vector(q, qd)
    assert_agree(found, carried.coriolis_vector(q, qd), 1e-9)
    assert np.abs(found - reference_dynamics(robot).coriolis_vector(q, qd)).max() > 1e-3


def sliding(kind):
    """Return a point mass that slides on a turning rod (RP), or a rigid arm in the plane."""
    second = {
        'slide': '<joint name="s" type="prismatic"><parent link="a"/><child link="b"/>'
                 '<axis xyz="1 0 0"/><limit lower="0" upper="9" effort="1" velocity="1"/></joint>',
        'turn': '<joint name="s" type="continuous"><origin xyz="0.7 0 0"/><parent link="a"/>'
                '<child link="b"/><axis xyz="0 0 1"/></joint>',
    }[kind]
    body = (
        '<inertial><origin xyz="0.2 0 0"/><mass value="2"/><inertia ixx="0" ixy="0" ixz="0" '
        'iyy="0" iyz="0" izz="0"/></inertial>'
    )
    return fd.load_robot(
        f'<robot name="r"><link name="w"/><link name="a"/><link name="b">{body}</link>'
        '<joint name="t" type="continuous"><parent link="w"/><child link="a"/>'
        f'<axis xyz="0 0 1"/></joint>{second}</robot>'
    )


def test_printed_recursion_has_half_of_a_sliding_joints_coriolis_force():
    """A mass m at r on a rod that turns by w: 2 m r r' w in full, m r r' w as printed."""
    robot = sliding('slide')
    q, qd = [0.3, 0.5], [1.5, -0.8]
    reach = q[1] + 0.2  # of the point mass
    centrifugal = -2.0 * reach * qd[0] ** 2
    full = approximating(robot).coriolis_vector(q, qd)
    assert_agree(full, [2.0 * 2.0 * reach * qd[1] * qd[0], centrifugal], 1e-13)
    printed = approximating(robot, 'printed_recursion').coriolis_vector(q, qd)
    assert_agree(printed, [2.0 * reach * qd[1] * qd[0], centrifugal], 1e-13)


def test_printed_recursion_is_exact_for_rigid_arms_in_the_plane():
    """All angular accelerations vanish there, and with them the terms missing in print."""
    robot = sliding('turn')
    q, qd = [0.3, 0.5], [1.5, -0.8]
    printed = approximating(robot, 'printed_recursion').coriolis_vector(q, qd)
    assert_agree(printed, reference_dynamics(robot).coriolis_vector(q, qd), 1e-13)


@pytest.mark.parametrize('names', [('printed_recursion',), ('lumped_mass', 'printed_recursion')])
def test_printed_recursion_is_far_off_in_space(arm, names):
    """By tens of percent of the largest entry."""
    exact, printed = reference_dynamics(arm), approximating(arm, *names)
    errors = []
    for seed in range(8):
        q, qd = state(arm, seed=seed)
        right = exact.coriolis_vector(q, qd)
        errors.append(np.abs(printed.coriolis_vector(q, qd) - right).max() / np.abs(right).max())
    assert 0.2 < max(errors) < 1.0


def test_the_rest_stays_exact(arm):
    """Kinematics, gravity, springs, wrenches and potential energy under all approximations."""
    exact, all_of_them = reference_dynamics(arm), approximating(arm, *Approximations._fields)
    q, qd = state(arm, 0.05, 1.0)
    wrench = {'tip': [1.0, 2.0, 3.0, 0.4, 0.5, 0.6]}
    for name, given in {
        'gravity_vector': (q,), 'elastic_vector': (q, qd), 'potential_energy': (q,),
        'external_force_vector': (q, wrench), 'jacobian': (q, 'tip'), 'frame_pose': (q, 'tip'),
        'jacobian_rate_qd': (q, qd, 'tip'),
    }.items():
        found = [getattr(model, name)(*given) for model in (all_of_them, exact)]
        assert_agree(*found, 1e-12, name)


def test_each_is_consistent_in_itself(arm):
    """M qdd + bias is the torque, forward dynamics undoes it, T is qd M qd / 2."""
    q, qd = state(arm, 0.05, 1.0)
    qdd = np.linspace(-1.0, 1.0, arm.nv)
    for name in Approximations._fields:
        dyn = approximating(arm, name)
        tau = dyn.inverse_dynamics(q, qd, qdd)
        matrix = dyn.mass_matrix(q)
        assert_matrices_agree(matrix, matrix.T, 1e-14)
        assert_agree(matrix @ qdd + dyn.bias_vector(q, qd), tau, 1e-12, name)
        assert_agree(dyn.forward_dynamics(q, qd, tau), qdd, 1e-9, name)
        assert dyn.kinetic_energy(q, qd) == pytest.approx(0.5 * qd @ matrix @ qd, rel=1e-12)


def test_lumped_mass_has_no_derivatives_by_parameters(arm):
    """The error names it; derivatives by the state exist."""
    q, qd = state(arm, 0.05)
    dyn = approximating(arm, 'lumped_mass')
    assert np.all(np.isfinite(dyn.inverse_dynamics_derivatives(q, qd, qd)[0]))
    with pytest.raises(fd.FlexdynError, match='excludes derivatives by parameters'):
        dyn.inverse_dynamics_parameter_derivatives(q, qd, qd, ['joint1/viscous'])
