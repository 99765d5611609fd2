# SPDX-License-Identifier: Apache-2.0
"""Inputs of nodes, without ROS: cache, watchdog, reference, limits, timing."""

from types import SimpleNamespace

from arms import rigid_arm
import flexdyn_ros as fd
from flexdyn_ros.nodes.arm.joint_motion import FilteredDifferentiator, JointSample
from flexdyn_ros.nodes.arm.joint_state_cache import JointStateCache
from flexdyn_ros.nodes.arm.reference import Reference, ReferenceRefused
from flexdyn_ros.nodes.arm.times import ComputeTimes, Watchdog
from flexdyn_ros.nodes.common.run_time_model import payload_problem
from flexdyn_ros.nodes.torque.driven_joints import EffortLimits, ZeroEffortLimit
import numpy as np
import pytest

NAN = float('nan')


def test_the_cache_keeps_each_joint_with_its_own_age():
    cache = JointStateCache(['a', 'b'])
    cache.update(['b', 'other'], [2.0, 9.0], [0.2, 9.0], received=10.0)
    assert cache.problems(10.0, 1.0) == {'a': 'never received'}
    assert cache.age(10.0) is None
    cache.update(['a'], [1.0], [0.1], received=10.5)
    assert cache.positions.tolist() == [1.0, 2.0]
    assert cache.velocities.tolist() == [0.1, 0.2]
    assert cache.age(10.8) == pytest.approx(0.8)
    assert cache.problems(10.8, 1.0) == {}
    assert list(cache.problems(11.2, 1.0)) == ['b']
    assert cache.unknown == {'other'}


@pytest.mark.parametrize(
    ('positions', 'velocities', 'problem'),
    [([NAN], [0.0], 'position is nan'), ([1.0], [NAN], 'velocity is nan'),
     ([], [0.0], 'position is missing'), ([1.0], [], 'velocity is missing')],
)
def test_the_cache_keeps_the_last_good_value_and_names_the_fault(positions, velocities, problem):
    cache = JointStateCache(['a'])
    cache.update(['a'], [5.0], [6.0], received=0.0)
    cache.update(['a'], positions, velocities, received=0.1)
    assert cache.problems(0.1, 1.0) == {'a': problem}
    assert (cache.positions[0], cache.velocities[0]) == (5.0, 6.0)
    cache.update(['a'], [7.0], [8.0], received=0.2)
    assert cache.problems(0.2, 1.0) == {}


def test_velocities_may_be_missing_where_they_are_not_needed():
    cache = JointStateCache(['a'], need_velocity=False)
    cache.update(['a'], [1.0], [], received=0.0)
    assert cache.problems(0.0, 1.0) == {}
    assert cache.velocities.tolist() == [0.0]


def test_a_message_with_arrays_of_other_lengths_changes_nothing():
    cache = JointStateCache(['a', 'b'])
    assert 'velocity has 1 elements for 2 names' in cache.update(['a', 'b'], [1, 2], [1], 0.0)
    assert not cache.complete


def test_a_preferred_name_takes_over_once_it_is_seen():
    cache = JointStateCache(['a'], preferred={'a': 'a_motor'})
    cache.update(['a'], [1.0], [0.0], received=0.0)
    assert cache.positions.tolist() == [1.0]
    cache.update(['a', 'a_motor'], [1.0, 2.0], [0.0, 0.0], received=0.1)
    assert cache.positions.tolist() == [2.0]
    cache.update(['a'], [3.0], [0.0], received=0.2)
    assert cache.positions.tolist() == [2.0]
    assert cache.unknown == set()


def test_the_watchdog_is_stale_only_after_a_first_input_and_its_timeout():
    dog = Watchdog(0.5)
    assert not dog.stale(100.0)
    dog.feed(100.0)
    assert not dog.stale(100.4)
    assert dog.stale(100.6)
    dog.clear()
    assert not dog.stale(200.0)
    patient = Watchdog(0.0)
    patient.feed(0.0)
    assert not patient.stale(1e9)


def message(names, **point):
    """Return an object with the fields of a JointTrajectory of one point."""
    fields = {'positions': [], 'velocities': [], 'accelerations': [], **point}
    return SimpleNamespace(joint_names=names, points=[SimpleNamespace(**fields)])


def test_a_reference_keeps_measured_values_where_it_says_nothing():
    measured = JointSample(1.0, *(np.array([i, i + 0.5]) for i in (1.0, 2.0, 3.0)))
    reference = Reference(message(['b'], positions=[9.0]), {'a': (0, 0), 'b': (1, 1)})
    found = reference.over(measured)
    assert found.q.tolist() == [1.0, 9.0]
    assert found.qd.tolist() == [2.0, 2.5]
    assert found.qdd.tolist() == [3.0, 0.0]  # without accelerations the reference means zero
    assert measured.q.tolist() == [1.0, 1.5]


@pytest.mark.parametrize(
    ('names', 'point'),
    [(['c'], {}), (['a'], {'positions': [1.0, 2.0]}), (['a'], {'accelerations': [NAN]})],
)
def test_a_reference_that_does_not_fit_is_refused(names, point):
    with pytest.raises(ReferenceRefused):
        Reference(message(names, **point), {'a': (0, 0), 'b': (1, 1)})


def test_effort_limits_saturate_and_name_the_joints():
    robot = fd.load_robot(rigid_arm(efforts=(5, 50)))
    limits = EffortLimits(robot, ('elbow', 'shoulder'))
    torque, saturated = limits.saturate(np.array([10.0, -7.0]))
    assert torque.tolist() == [10.0, -5.0]
    assert saturated == ('shoulder',)


def test_a_zero_effort_limit_is_no_silent_choice():
    robot = fd.load_robot(rigid_arm(efforts=(0, 50)))
    names = ('shoulder', 'elbow')
    with pytest.raises(ZeroEffortLimit) as refused:
        EffortLimits(robot, names)
    assert refused.value.joints == ('shoulder',)
    for choice, expected in (('as_declared', 0.0), ('unlimited', 8.0)):
        torque, _ = EffortLimits(robot, names, choice).saturate(np.array([8.0, 0.0]))
        assert torque[0] == expected


def test_a_link_without_limit_is_unlimited():
    robot = fd.load_robot(rigid_arm(limits=False))
    torque, saturated = EffortLimits(robot, ('elbow',)).saturate(np.array([1e9]))
    assert torque[0] == 1e9
    assert saturated == ()


def test_the_differentiator_finds_a_constant_acceleration_and_filters_noise():
    steady = FilteredDifferentiator(20.0)
    for k in range(500):
        found = steady.acceleration(0.001 * k, np.array([3.0 * 0.001 * k]))
    assert found[0] == pytest.approx(3.0, rel=1e-9)
    noise = 1e-3 * np.random.default_rng(1).standard_normal(2000)
    noisy = FilteredDifferentiator(20.0)
    values = [noisy.acceleration(0.001 * k, np.array([v]))[0] for k, v in enumerate(noise)]
    assert np.std(values[500:]) < 0.2 * np.std(np.diff(noise) / 0.001)


def test_compute_times_count_overruns_of_budget_and_interval():
    times = ComputeTimes(budget=0.01)
    assert times.summary()['compute_time_max'] == 0.0
    times.add(0.005, interval=0.004)
    times.add(0.02)
    assert (times.over_budget, times.missed) == (1, 1)
    assert times.summary()['compute_time_max'] == 0.02
    assert times.summary()['compute_time_mean'] == pytest.approx(0.0125)


def test_payloads_that_no_body_has_are_refused():
    values = {'payload.link': '', 'payload.mass': 1.0, 'payload.inertia': []}
    assert payload_problem(values, None) is None
    values['payload.inertia'] = [1.0, 0.0, 0.0, 1.0, 0.0, 3.0]
    assert 'exceeds the sum of the others' in payload_problem(values, None)
    values['payload.inertia'] = [1.0, 2.0, 0.0, 1.0, 0.0, 1.0]
    assert 'principal moment is negative' in payload_problem(values, None)
    values = {'payload.link': 'nowhere', 'payload.mass': 1.0, 'payload.inertia': []}
    assert 'nowhere' in payload_problem(values, fd.load_robot(rigid_arm()))
