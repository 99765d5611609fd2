# SPDX-License-Identifier: Apache-2.0
"""Identification of simulated arms: parameters, deviations, choices, and the written files."""

from dataclasses import replace
import json

import flexdyn_ros as fd
from flexdyn_ros.cli.main import main
from flexdyn_ros.errors import ArgumentError, UnknownName
from flexdyn_ros.identification.regressor import known_forces
from flexdyn_ros.identification.torque_model import TorqueModel
from flexdyn_ros.model.check import check_robot
import numpy as np
import pytest
from simulated_arms import (
    arm_with_a_flexible_link,
    described_arm,
    fourier_motion,
    recorded,
    recorded_with_modes,
    true_arm,
)


def scores(found, robot):
    """Return the misses of base and of all parameters in standard deviations."""
    model = found.model
    true = TorqueModel(robot, model.coordinates, model.terms, model.payload).values
    base = found.regrouping.matrix @ true
    return ((found.base_values - base) / found.base_deviations,
            (found.values - true) / found.deviations)


@pytest.fixture(scope='module')
def arm():
    return described_arm()


@pytest.fixture(scope='module')
def case(arm):
    random = np.random.default_rng(1)
    true = true_arm(arm, random)
    motions = [recorded(true, random), recorded(true, random)]
    return true, motions, fd.identify(arm, motions)


def test_parameters_come_out_within_three_deviations(case):
    true, _, found = case
    base, every = scores(found, true)
    assert len(base) == 25
    assert np.abs(base).max() < 4.0
    assert np.sqrt(np.mean(base**2)) < 1.5
    assert np.abs(every).max() < 4.0
    # Identified parameters have smaller errors than the description's.
    assert found.parameters['joint2/coulomb'].deviation < 0.1
    assert found.statistics.condition < 50.0
    assert not found.warnings


@pytest.mark.slow
def test_deviations_are_honest_over_a_hundred_runs(arm):
    base, every = [], []
    for seed in range(100):
        random = np.random.default_rng(seed)
        true = true_arm(arm, random)
        motions = [recorded(true, random), recorded(true, random)]
        found = fd.identify(arm, motions, friction='default')
        for kept, score in zip((base, every), scores(found, true)):
            kept.append(score)
    assert 1.0 / 1.5 < np.sqrt(np.mean(np.square(base))) < 1.5
    per_parameter = np.sqrt(np.mean(np.square(base), axis=0))
    assert per_parameter.max() < 1.6
    assert np.mean(np.abs(base) > 3.0) < 0.01
    assert np.mean(np.abs(every) > 3.0) < 0.01


def test_predicted_torques_are_those_of_the_identified_robot(case):
    true, motions, found = case
    random = np.random.default_rng(5)
    other = recorded(true, random, noise=0.0)
    predicted = found.torque(other)
    assert predicted.shape == other.tau.shape
    inside = slice(40, -40)
    assert np.sqrt(np.mean((predicted - other.tau)[inside] ** 2)) < 0.1
    assert np.all(found.statistics.cross_validation[0] < 1.3 * found.statistics.residual_rms)
    # The robot gives the same torque but for the offset, which its description cannot hold.
    t, q, qd, qdd = fourier_motion(3, random)
    dyn = fd.Dynamics(found.robot, backend='reference')
    exact = np.array([dyn.inverse_dynamics(*each) for each in zip(q[::40], qd[::40], qdd[::40])])
    torque = found.torque(fd.Motion(t, q))[::40]
    offsets = [found.parameters[f'joint{k}/offset'].value for k in (1, 2, 3)]
    assert np.abs(torque - exact - offsets)[2:-2].max() < 0.1


def test_a_motion_names_its_columns_in_any_order(case):
    _, motions, found = case
    motion = motions[0]
    order = [2, 0, 1]
    names = [motion.names[k] for k in order]
    turned = fd.Motion(motion.t, motion.q[:, order], tau=motion.tau[:, order], names=names)
    assert np.array_equal(found.torque(turned), found.torque(motion)[:, order])
    again = fd.identify(found.model.robot, [turned, motions[1]])
    assert np.allclose(again.values, found.values)


@pytest.mark.parametrize(('changed', 'words'), [
    ({'t': np.zeros(3)}, '"t" has 3 samples'),
    ({'t': -np.arange(100.0)}, '"t" falls after sample 0'),
    ({'q': np.full((100, 3), np.nan)}, 'not finite'),
    ({'q': np.zeros(100)}, r'expected \(T, n\)'),
    ({'tau': np.zeros((100, 2))}, r'"tau" has shape \(100, 2\), expected \(100, 3\)'),
    ({'names': ['a', 'a', 'b']}, 'must be 3 different names'),
])
def test_a_wrong_motion_is_an_error_that_names_the_argument(changed, words):
    arguments = {'t': np.arange(100.0), 'q': np.zeros((100, 3)), 'tau': np.zeros((100, 3))}
    with pytest.raises(ArgumentError, match=words):
        fd.Motion(**{**arguments, **changed})


def test_wrong_choices_are_errors(arm, case):
    motions = case[1]
    with pytest.raises(UnknownName, match='Did you mean "joint1/viscous"'):
        fd.identify(arm, motions, fixed=['joint1/viscos'])
    with pytest.raises(ArgumentError, match='cutoff'):
        fd.identify(arm, motions, cutoff=90.0)
    with pytest.raises(ArgumentError, match='friction'):
        fd.identify(arm, motions, friction=['sticky'])
    with pytest.raises(UnknownName, match='joint9'):
        fd.identify(arm, fd.Motion(motions[0].t, motions[0].q, tau=motions[0].tau,
                                   names=['joint1', 'joint2', 'joint9']))
    with pytest.raises(ArgumentError, match='without torques'):
        fd.identify(arm, fd.Motion(motions[0].t, motions[0].q))


def test_fixed_and_bounded_parameters_keep_to_it(arm, case):
    found = fd.identify(
        arm, case[1], fixed={'joint1/viscous': 2.5, 'link3/*': None},
        bounds={'joint2/viscous': (0.0, 3.0)}, friction='default')
    assert 'joint1/viscous' not in found.parameters
    assert found.robot.joint('joint1').dynamics.friction.viscous == 2.5
    link = found.robot.link('link3').inertia
    assert link.mass == pytest.approx(arm.link('link3').inertia.mass)
    assert 0.0 < found.parameters['joint2/viscous'].value < 3.0


def test_a_delay_is_found(arm, case):
    motions = [fd.Motion(m.t + 0.0, m.q, tau=np.array([
        np.interp(m.t - 0.012, m.t, column) for column in m.tau.T]).T) for m in case[1]]
    found = fd.identify(arm, motions)
    assert found.path.delay == pytest.approx(0.012, abs=5e-4)
    assert np.abs(scores(found, case[0])[0]).max() < 6.0


def test_jitter_repeats_gaps_and_saturation_do_little_harm(arm, case):
    true = case[0]
    random = np.random.default_rng(9)
    motion = recorded(true, random, seconds=40.0)
    t = motion.t + random.uniform(-4e-4, 4e-4, len(motion.t))
    q = np.array([np.interp(t, motion.t, column) for column in motion.q.T]).T
    kept = np.ones(len(t), dtype=bool)
    kept[3000:3400] = False  # two seconds are missing
    t[1000] = t[999]
    limit = np.quantile(np.abs(motion.tau[:, 1]), 0.9)
    tau = np.clip(motion.tau, -limit, limit)
    weak = replace(arm, joints=tuple(
        replace(j, limit=replace(j.limit, effort=limit)) for j in arm.joints))
    rough = fd.Motion(t[kept], q[kept], tau=tau[kept])
    found = fd.identify(weak, rough, friction='default')
    spoiled = fd.identify(arm, rough, friction='default')
    miss, spoiled_miss = (
        np.sqrt(np.mean(scores(each, true)[0] ** 2)) for each in (found, spoiled))
    assert miss < 1.8 and spoiled_miss > 1.5 * miss


def test_terms_of_friction_are_chosen_by_cross_validation(arm, case):
    assert all(terms == ('viscous', 'coulomb', 'offset') for terms in case[2].model.terms_of)
    random = np.random.default_rng(12)
    true = replace(arm, joints=tuple(
        replace(j, dynamics=replace(j.dynamics, friction=replace(
            j.dynamics.friction, stribeck=1.8 * j.dynamics.friction.coulomb,
            stribeck_velocity=0.1))) if j.name == 'joint2' else j for j in arm.joints))
    found = fd.identify(arm, [recorded(true, random, top=0.6) for _ in range(2)])
    assert 'stribeck' in found.model.terms_of[1]
    assert 'stribeck' not in found.model.terms_of[0]
    law = true.joint('joint2').dynamics.friction
    estimate = found.parameters['joint2/stribeck']
    assert estimate.value == pytest.approx(law.stribeck, rel=0.1)


def test_stribeck_levels_and_velocity_are_found(arm):
    random = np.random.default_rng(3)
    true = replace(arm, joints=tuple(
        replace(j, dynamics=replace(j.dynamics, friction=replace(
            j.dynamics.friction, stribeck=1.8 * j.dynamics.friction.coulomb,
            stribeck_velocity=0.1))) for j in arm.joints))
    motions = [recorded(true, random, top=0.4) for _ in range(2)]
    found = fd.identify(arm, motions, friction=['viscous', 'coulomb', 'stribeck'])
    for k, joint in enumerate(true.joints):
        law = joint.dynamics.friction
        estimate = found.parameters[f'{joint.name}/stribeck']
        assert estimate.value == pytest.approx(law.stribeck, rel=0.05)
        assert found.shapes[k].stribeck == pytest.approx(0.1, rel=0.2)
    assert found.robot.joint('joint1').dynamics.friction.stribeck is not None


def test_payload_alone_and_gravity_alone(arm):
    random = np.random.default_rng(4)
    dyn_arm = replace(arm, payloads=())
    com, mass = (0.05, 0.02, 0.1), 1.3
    body = fd.load_robot(
        arm.descriptions[0], extension=[arm.descriptions[1], (
            f'<flexdyn version="1.0"><payload link="link3" mass="{mass}" com="0.05 0.02 0.1" '
            'ixx="0.004" iyy="0.003" izz="0.002"/></flexdyn>')])
    found = fd.identify(dyn_arm, recorded(body, random), payload='link3', friction='none')
    payload = found.robot.payloads[0].inertia
    assert payload.mass == pytest.approx(mass, abs=0.05)
    assert np.allclose(payload.com[:2], com[:2], atol=0.01)
    moment = found.parameters['link3/payload/mz']
    assert abs(moment.value - mass * com[2]) < 3.0 * moment.deviation
    assert found.robot.link('link3') == arm.link('link3')
    tilted = replace(arm, gravity_vector=(1.2, -0.6, -9.7))
    found = fd.identify(arm, recorded(tilted, random), gravity=True, friction='default')
    along = np.array(tilted.gravity_vector) / np.linalg.norm(tilted.gravity_vector)
    assert found.robot.gravity @ along / np.linalg.norm(found.robot.gravity) > np.cos(0.005)


def test_gains_of_drives_from_a_run_with_a_known_load(arm):
    factors, scores = np.array([1.2, 0.8, 1.1]), []
    for seed in range(2):
        random = np.random.default_rng(seed)
        true = true_arm(arm, random)
        body = ('link3', 3.0, (0.1, 0.0, 0.1))
        loaded = fd.Motion([*range(50)], np.zeros((50, 3)), load=body).load
        motions = []
        for robot, load in ((true, None), (replace(true, payloads=(loaded,)), body)):
            motion = recorded(robot, random)
            motions.append(fd.Motion(
                motion.t, motion.q, tau=motion.tau / factors, names=motion.names, load=load))
        found = fd.identify(arm, motions, gains=True, friction='default')
        estimates = [found.parameters[f'joint{k}/gain'] for k in (1, 2, 3)]
        scores += [(each.value - factor) / each.deviation
                   for each, factor in zip(estimates, factors)]
        assert np.allclose([found.gains[name] for name in arm.joint_names], factors, rtol=0.03)
        # Predicted torques are those of the joints, with the load of the motion.
        error = found.torque(motions[1]) - motions[1].tau * list(found.gains.values())
        assert np.sqrt(np.mean(error[40:-40] ** 2)) < 0.5
        assert found.statistics.residual_rms.max() < 0.12
    assert np.abs(scores).max() < 3.5 and np.sqrt(np.mean(np.square(scores))) < 1.5
    with pytest.raises(ArgumentError, match='a common factor of gains and masses open'):
        fd.identify(arm, motions[0], gains=True, friction='default')
    fixed = fd.identify(
        arm, motions[0], gains=True, friction='default', fixed={'joint1/gain': 1.2})
    estimate = fixed.parameters['joint2/gain']
    assert abs(estimate.value - 0.8) < 3.5 * estimate.deviation < 0.2


def test_an_arm_without_inertia_and_with_impossible_noise_stays_physical(arm):
    random = np.random.default_rng(6)
    bare = replace(arm, links=tuple(replace(link, inertia=None) for link in arm.links))
    motion = recorded(arm, random, noise=8.0, seconds=10.0)
    found = fd.identify(bare, motion, friction='default')
    assert not check_robot(found.robot).errors
    for link in found.robot.links[1:]:
        assert link.inertia.mass > 0.0
    assert all(j.dynamics.friction.viscous > 0.0 for j in found.robot.joints)


def test_poor_motions_are_named(arm):
    random = np.random.default_rng(7)
    motion = recorded(arm, random)
    still = motion.q.copy()
    still[:, 2] = 0.3
    tau = known_forces(arm, still, 0.0 * still, 0.0 * still) + random.normal(size=still.shape)
    found = fd.identify(arm, fd.Motion(motion.t, still, tau=tau))
    text = ' '.join(found.warnings)
    assert 'Joint "joint3" moves in one direction alone, or hardly' in text
    assert 'condition number' in text


def test_written_files_pass_the_check(case, tmp_path, capsys):
    true, motions, found = case
    files = found.write(tmp_path / 'out')
    assert [file.name for file in files] == [
        'arm3.urdf', 'torques_1.png', 'torques_2.png', 'report.md', 'identification.json']
    assert all(file.stat().st_size > 500 for file in files)
    robot = fd.load_robot(files[0])
    for link in found.robot.links[1:]:
        again = robot.link(link.name).inertia
        assert again.mass == pytest.approx(link.inertia.mass)
        assert np.allclose(again.matrix, link.inertia.matrix)
    for joint in found.robot.joints:
        assert robot.joint(joint.name).dynamics.friction == joint.dynamics.friction
    assert main(['check', str(files[0]), '--strict']) == 0
    record = json.loads(files[-1].read_text())
    assert record['parameters']['joint1/coulomb']['value'] == pytest.approx(
        found.parameters['joint1/coulomb'].value)
    report = files[-2].read_text()
    assert 'joint2/viscous' in report and 'torques_2.png' in report and 'offset' in report


def test_elastic_joints_from_positions_on_both_sides():
    elastic = described_arm('stiffness="3000" damping="2"')
    random = np.random.default_rng(8)
    true = true_arm(elastic, random)
    motion = recorded_with_modes(true, random)
    found = fd.identify(elastic, motion, trim=0.5, delay=0.0, friction='default')
    for joint in true.joints:
        estimate = found.parameters[f'{joint.name}/stiffness']
        assert estimate.value == pytest.approx(joint.dynamics.stiffness, rel=0.02)
        assert found.robot.joint(joint.name).dynamics.stiffness == estimate.value


def test_a_weight_ties_parameters_to_the_description(arm, case):
    found = fd.identify(
        arm, case[1], friction='default', weight={'link3/*': 1e9, 'joint2/viscous': 1e9})
    assert found.robot.link('link3').inertia.mass == pytest.approx(2.0, rel=1e-3)
    assert found.parameters['joint2/viscous'].value == pytest.approx(4.0, rel=1e-2)
    assert case[2].parameters['joint2/viscous'].value != pytest.approx(4.0, rel=0.05)
    with pytest.raises(UnknownName, match='link9'):
        fd.identify(arm, case[1], weight={'link9/*': 2.0})


def misses_with_modes(described, seeds, step):
    """Return the misses of base parameters of arms whose deflections are measured, (runs, b)."""
    found = []
    for seed in seeds:
        random = np.random.default_rng(seed)
        true = true_arm(described, random)
        motion = recorded_with_modes(true, random, step=step, seconds=10.0)
        found.append(scores(fd.identify(described, motion, friction='default', trim=0.5), true)[0])
    return np.array(found)


def test_an_arm_with_a_flexible_link_whose_deflections_are_measured():
    misses = misses_with_modes(arm_with_a_flexible_link(), range(3), 1e-6)
    assert misses.shape[1] == 22
    assert np.sqrt(np.mean(misses**2)) < 1.7 and np.abs(misses).max() < 4.5


@pytest.mark.slow
@pytest.mark.parametrize('described', [
    described_arm('stiffness="3000" damping="20"'), arm_with_a_flexible_link()],
    ids=['elastic joints', 'flexible link'])
def test_deviations_with_deflections_are_honest_over_a_hundred_runs(described):
    misses = misses_with_modes(described, range(100), 1e-7)
    spread = np.sqrt(np.mean(np.square(misses)))
    assert 1.0 / 1.5 < spread < 1.5
    assert np.mean(np.abs(misses) > 3.0) < 0.04
