# SPDX-License-Identifier: Apache-2.0
"""The class of a written package computes the torques of inverse_dynamics_node."""

import ctypes

import flexdyn_ros as fd
from flexdyn_ros.nodes.arm.joint_motion import JointSample
from flexdyn_ros.nodes.torque.driven_joints import EffortLimits
from flexdyn_ros.nodes.torque.feed_forward import FeedForward, MODES
from flexdyn_ros.nodes.torque.torque_shaping import StaleEpisode, TorqueShaping
from flexdyn_ros.nodes.torque.torque_terms import TorqueTerms
import numpy as np
import pytest
from written_package import compilers, CXX_FLAGS, HERE, objects, run

QUASI_STATIC = 3
TRACKING, HOLDING, STALE, SILENT = range(4)
KP, KD = np.array([8.0, 4.0, 30.0]), np.array([1.0, 0.5, 3.0])
PD_LIMIT = np.array([3.0, np.inf, 2.0])
UNLIMITED = np.full(3, np.inf)
NAN = np.full(3, np.nan)
NO_REFERENCE = np.full(12, np.nan)


class Controller:
    """The class through its harness; vectors are arrays."""

    def __init__(self, library, n):
        """Take the compiled library, for n joints."""
        self._n = n
        self._call = ctypes.CDLL(str(library))
        self._call.update.restype = self._call.feed.restype = ctypes.c_int

    def __getattr__(self, name):
        """Return a function that takes numbers and vectors."""
        function = getattr(self._call, name)

        def call(*values):
            kept = [self._converted(value) for value in values]
            return function(*(each[0] for each in kept))

        return call

    @staticmethod
    def _converted(value):
        if isinstance(value, float):
            return ctypes.c_double(value), value
        if isinstance(value, (int, np.integer)):
            return ctypes.c_int(value), value
        if value is None:
            return ctypes.c_void_p(None), value
        array = value if isinstance(value, np.ndarray) else np.array(value, dtype=float)
        array = np.require(array, float, 'C')
        return ctypes.c_void_p(array.ctypes.data), array

    def torque(self, now, state, reference):
        """Return the result of a cycle, and the torque, NaN where it is not written."""
        torque = np.full(self._n, np.nan)
        return self.update(float(now), state, reference, torque), torque

    def fed_forward(self, time, *motion):
        """Return the feed-forward torque of a motion."""
        torque = np.zeros(self._n)
        assert self.feed(float(time), np.concatenate(motion), torque) == 1
        return torque


@pytest.fixture(scope='module')
def controller(package, dyn, tmp_path_factory):
    """Return the controller class, compiled."""
    c, cxx = compilers('gcc')
    folder = tmp_path_factory.mktemp('harness')
    library = folder / 'harness.so'
    run(
        *cxx, '-std=c++17', *CXX_FLAGS, '-shared', '-I', package / 'include', HERE / 'harness.cpp',
        *objects(package, c), '-o', library)
    return Controller(library, dyn.robot.n_joints)


@pytest.fixture
def fresh(controller):
    """Return the controller with plain settings and the loads of the description."""
    controller.set_models(2, 1, 1, 0)
    controller.set_loads([0.0, 0.0, -9.81], [0.2, 0.05, 0, 0, 0, 1e-4, 1e-4, 0, 0, 0])
    controller.set_gains(np.zeros(3), np.zeros(3), UNLIMITED, UNLIMITED)
    controller.set_shaping(0.0, 0.0, 0.0)
    controller.set_policy(0, 2.0, 2.0)
    controller.apply()
    controller.begin()
    controller.reset()
    return controller


def motion(time):
    """Return positions, velocities and accelerations of a smooth motion."""
    phase, rate = np.array([0.0, 1.0, 2.0]), np.array([2.0, 3.0, 1.5])
    size = np.array([0.5, 0.7, 0.05])
    angle = rate * time + phase
    return (
        size * np.sin(angle), size * rate * np.cos(angle), -size * rate**2 * np.sin(angle))


def close(found, expected):
    """Assert equality to 1e-12 of the largest entry."""
    assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max(), (found, expected)


@pytest.mark.parametrize('gravity', [True, False])
@pytest.mark.parametrize('friction', [True, False])
@pytest.mark.parametrize('mode', MODES)
def test_feed_forward_of_all_torque_models(fresh, dyn, mode, gravity, friction):
    """Cycle by cycle, over steps, long intervals and restarts of the modes."""
    if mode == 'gravity' and not gravity:
        return  # refused at configuring
    fresh.set_models(1 + MODES.index(mode), gravity, friction, 0)
    terms = TorqueTerms(gravity=gravity, friction=friction)
    python = FeedForward(dyn, mode, terms)
    times = np.cumsum([0.0, *[0.001] * 20, *[0.0055] * 5, 0.09, 0.15, *[0.001] * 5])
    for time in times:
        expected = python.torque(JointSample(time, *motion(time)))
        close(fresh.fed_forward(time, *motion(time)), expected)


@pytest.mark.parametrize('mode', MODES[:3])
def test_references_of_the_link_side(fresh, dyn, mode):
    """The springs set motors apart from links; the node finds the same by another iteration."""
    fresh.set_models(1 + MODES.index(mode), 1, 1, 1)
    python = FeedForward(dyn, mode, measured_side='link')
    for time in (0.0, 0.4, 0.9):
        expected = python.torque(JointSample(time, *motion(time)))
        found = fresh.fed_forward(time, *motion(time))
        assert np.abs(found - expected).max() <= 1e-7 * np.abs(expected).max()


def test_other_loads_at_run_time(fresh, dyn):
    """Gravity and payload act at the next cycle."""
    gravity, payload = [1.0, -2.0, -9.0], [0.5, 0.0, 0.1, 0.02, 1e-3, 2e-3, 3e-3, 1e-4, 0, 0]
    fresh.set_models(QUASI_STATIC, 1, 1, 0)
    before = fresh.fed_forward(0.0, *motion(0.3))
    fresh.set_loads(gravity, payload)
    loaded = fd.Dynamics(dyn.robot)
    loaded.set_gravity(gravity)
    loaded.set_payload('tool', 0.5, payload[1:4], [
        [1e-3, 1e-4, 0.0], [1e-4, 2e-3, 0.0], [0.0, 0.0, 3e-3]])
    expected = FeedForward(loaded, 'flexible_quasi_static').torque(JointSample(0.0, *motion(0.3)))
    found = fresh.fed_forward(0.0, *motion(0.3))
    close(found, expected)
    assert np.abs(found - before).max() > 0.1


def test_a_run_with_faults_as_the_node_shapes_it(fresh, dyn):
    """Soft start, rate limit, saturation, a payload ramp, stale states and references."""
    limits = EffortLimits(dyn.robot, dyn.robot.joint_names)
    limits.limits = 0.4 * limits.limits
    fresh.set_models(QUASI_STATIC, 1, 1, 0)
    fresh.set_gains(KP, KD, PD_LIMIT, limits.limits)
    fresh.set_shaping(0.2, 60.0, 0.1)
    fresh.set_policy(0, 0.05, 0.1)
    fresh.apply()
    fresh.begin()
    loaded = fd.Dynamics(dyn.robot)
    shaping, episode = TorqueShaping(0.2, 60.0, 0.1), StaleEpisode(0.05, 0.1)
    python, seen, saturated = FeedForward(loaded, 'flexible_quasi_static'), [], 0
    hold, tracking, state = None, None, None
    for k in range(1200):
        now = 0.001 * k
        q, qd, qdd = motion(now)
        measured = q + 0.05 * np.sin(7.0 * now), qd - 0.1
        stale, missing = 400 <= k < 600, 700 <= k < 800
        if k == 900:
            payload = [0.4, 0.05, 0, 0, 0, 1e-4, 1e-4, 0, 0, 0]
            fresh.set_loads([0.0, 0.0, -9.81], payload)
            fresh.apply()
            loaded.set_payload('tool', 0.4, payload[1:4], np.diag([0.0, 1e-4, 1e-4]))
            shaping.change()
        reference = np.concatenate((NAN if missing else q, qd, qdd, 0.1 * q))
        given = np.concatenate((NAN if stale else measured[0], measured[1]))
        cycle, torque = fresh.torque(now, given, reference)
        seen.append(cycle)
        if stale:
            tracking = hold = None
            shaping.interrupt()
            expected = episode.weight(now) * python.gravity_torque(state[0])
        else:
            state = measured
            if tracking is not (not missing):
                tracking, hold = not missing, measured[0]
                shaping.change()
            if missing:
                target, expected = (hold, 0.0 * qd), python.gravity_torque(state[0])
            else:
                target = q, qd
                expected = python.torque(JointSample(now, q, qd, qdd)) + 0.1 * q
            pd = KP * (target[0] - state[0]) + KD * (target[1] - state[1])
            expected = shaping.shaped(expected + np.clip(pd, -PD_LIMIT, PD_LIMIT), now)
            episode.end()
        expected, names = limits.saturate(expected)
        saturated += bool(names)
        shaping.note(expected, now)
        close(torque, expected) if expected.any() else np.testing.assert_array_equal(torque, 0.0)
    assert seen[:400] == [TRACKING] * 400 and seen[400:600] == [STALE] * 200
    assert seen[700:800] == [HOLDING] * 100 and seen[800:] == [TRACKING] * 400
    assert saturated


def test_activation_is_bounded(fresh, dyn):
    """The first torque is zero with a soft start; no reference holds with gravity alone."""
    fresh.set_gains(KP, KD, UNLIMITED, UNLIMITED)
    fresh.set_shaping(0.5, 0.0, 0.5)
    fresh.apply()
    fresh.begin()
    q = np.array([0.3, -0.2, 0.05])
    state = np.concatenate((q, np.zeros(3)))
    cycle, torque = fresh.torque(0.0, state, NO_REFERENCE)
    assert cycle == HOLDING and not torque.any()
    gravity = FeedForward(dyn).gravity_torque(q)
    close(fresh.torque(0.25, state, NO_REFERENCE)[1], 0.5 * gravity)
    close(fresh.torque(0.5, state, NO_REFERENCE)[1], gravity)
    # A reference far away makes no step: it comes in over the change ramp.
    far = np.concatenate((q + 0.5, np.zeros(6), NAN))
    _, torque = fresh.torque(0.501, state, far)
    close(torque, gravity)


def test_no_torque_before_the_first_state(fresh):
    """No torque is commanded until a whole state has been measured."""
    for state in (None, NO_REFERENCE[:6]):
        cycle, torque = fresh.torque(0.0, state, NO_REFERENCE)
        assert cycle == SILENT and np.isnan(torque).all()


def test_missing_and_implausible_states(fresh):
    """They keep the last state for the timeout, or for `patience` cycles; then the policy acts."""
    q = np.array([0.3, -0.2, 0.05])
    state = np.concatenate((q, np.zeros(3)))
    fresh.torque(0.0, state, NO_REFERENCE)
    cycles = [fresh.torque(0.01 * k, None, NO_REFERENCE)[0] for k in range(1, 12)]
    assert cycles == [HOLDING] * 10 + [STALE]
    assert fresh.torque(0.2, state, NO_REFERENCE)[0] == HOLDING
    fast = np.concatenate((q, [0.0, 150.0, 0.0]))
    cycles = [fresh.torque(0.2 + 0.001 * k, fast, NO_REFERENCE)[0] for k in range(1, 8)]
    assert cycles == [HOLDING] * 5 + [STALE] * 2
    far = np.concatenate(([0.3, 99.0, 0.05], np.zeros(3)))
    assert fresh.torque(0.21, far, NO_REFERENCE)[0] == STALE
    assert fresh.torque(0.22, state, NO_REFERENCE)[0] == HOLDING


@pytest.mark.parametrize('policy', ['zero', 'hold', 'gravity'])
def test_stale_policies(fresh, dyn, policy):
    """Zeros at once; the last torque; gravity, then a ramp to zero."""
    fresh.set_policy(['auto', 'gravity', 'zero', 'hold'].index(policy), 1.0, 1.0)
    fresh.apply()
    q = np.array([0.3, -0.2, 0.05])
    reference = np.concatenate((q, [0.1, 0.2, 0.0], [1.0, 2.0, 0.5], NAN))
    _, last = fresh.torque(0.0, np.concatenate((q, np.zeros(3))), reference)
    gravity = FeedForward(dyn).gravity_torque(q)
    for now, weight in ((0.01, 1.0), (1.0, 1.0), (1.51, 0.5), (3.0, 0.0)):
        cycle, torque = fresh.torque(now, NO_REFERENCE[:6], reference)
        assert cycle == STALE
        expected = {'zero': 0.0 * last, 'hold': last, 'gravity': weight * gravity}[policy]
        np.testing.assert_allclose(torque, expected, atol=1e-12)


@pytest.mark.parametrize('part', [1, 2])
def test_implausible_references_hold(fresh, part):
    """A velocity or acceleration beyond the bounds is no reference; NaN counts as zero."""
    q = np.array([0.3, -0.2, 0.05])
    state = np.concatenate((q, np.zeros(3)))
    reference = np.concatenate((q, NAN, NAN, NAN))
    assert fresh.torque(0.0, state, reference)[0] == TRACKING
    reference[3 * part + 1] = 1e6
    assert fresh.torque(0.001, state, reference)[0] == HOLDING


def test_simulated_arm(fresh, dyn):
    """The states of fd.simulate with the same steps, from the deflection at rest."""
    start, torque = np.array([0.3, -0.2, 0.05]), np.array([6.0, 0.5, 1.0])
    modes = dyn.robot.n_modes
    _, deflection, _ = dyn.quasi_static_torque(start, np.zeros(3), np.zeros(3))
    expected = fd.simulate(
        dyn, np.concatenate((start, deflection)), np.zeros(3 + modes),
        np.concatenate((torque, np.zeros(modes))), 0.1, 5e-4, method='rk4')
    end = np.zeros(2 * (3 + modes))
    fresh.simulate(start, torque, 0.1, 5e-4, end)
    wanted = np.concatenate((expected.q[-1], expected.qd[-1]))
    np.testing.assert_allclose(end, wanted, rtol=1e-9, atol=1e-10)
