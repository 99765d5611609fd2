# SPDX-License-Identifier: Apache-2.0
"""The active damping of a written package computes the torques of the design in Python."""

from dataclasses import replace

import flexdyn_ros as fd
from flexdyn_ros.active_damping.modal_law import light_modes, modal_law
from flexdyn_ros.active_damping.sampled_arm import arm_at_rest, sampled_arm
from flexdyn_ros.model.records.sensor import MountedSensor
from flexdyn_ros.ros2_control.damping_fields import damping_fields, torque_caps
from flexdyn_ros.ros2_control.package import _filled, FILES
import numpy as np
import pytest
from test_controller_class import Controller, NO_REFERENCE, UNLIMITED
from written_package import compilers, CXX_FLAGS, HERE, objects, run

PERIOD = 1e-3
CENTRE = np.array([0.3, -0.4, 0.02])
INERTIA = np.array([0.015, 0.1, 0.19])  # of the joints with the modes free
KP = INERTIA * (8.0 * np.pi) ** 2 * np.array([4.0, 1.0, 1.0])
KD = 1.4 * np.sqrt(KP * INERTIA)


@pytest.fixture(scope='module', params=[1, pytest.param(2, marks=pytest.mark.slow)])
def design(dyn, request):
    """Return a design with an encoder on the link side of the elastic joint; a law of two."""
    names = dyn.robot.joint_names
    sensors = [MountedSensor(name, 'motor_position', name, 2e-5) for name in names]
    sensors.append(MountedSensor('elbow_link', 'link_position', 'elbow', 2e-5))
    found = fd.damping_controller(dyn, CENTRE, KP, KD, PERIOD, 2e-3, sensors)
    if request.param == 1:
        return found
    # Both modes have nearly one frequency, so that no design keeps the margins.
    arm = sampled_arm(arm_at_rest(dyn, CENTRE, (KP, KD), sensors), (0, 1), PERIOD, 2, False)
    modes, noise = light_modes(arm), np.full(len(sensors), 2e-5)
    assert len(modes.poles) == 2
    return replace(
        found, controller=modal_law(arm, modes, 1.0 / KP[:2], noise, 0.15, 0.25),
        actuators=names[:2], torque=np.repeat(found.torque, 2))


@pytest.fixture(scope='module')
def damped(package, dyn, design, tmp_path_factory):
    """Return the controller class of the package with the design, compiled."""
    c, cxx = compilers('gcc')
    folder = tmp_path_factory.mktemp('damped')
    header = FILES / 'include' / 'arm_dynamics' / 'active_damping.hpp'
    (folder / 'my_arm').mkdir()
    (folder / 'my_arm' / 'active_damping.hpp').write_text(
        _filled(header, damping_fields(dyn.robot, design), 'my_arm'))
    for path in (package / 'include' / 'my_arm').glob('*.hpp'):
        target = folder / 'my_arm' / path.name
        if not target.exists():
            target.write_text(path.read_text())
    run(*cxx, '-std=c++17', *CXX_FLAGS, '-shared', '-I', folder, '-I', package / 'include',
        HERE / 'harness.cpp', *objects(package, c), '-o', folder / 'harness.so')
    return Controller(folder / 'harness.so', dyn.robot.n_joints)


def begin(controller, on, caps, ramp=0.0):
    """Start without feed-forward, so that the torque is that of the PD and of the damping."""
    controller.set_models(0, 0, 0, 0)
    controller.set_gains(KP, KD, UNLIMITED, np.full(3, 50.0))
    controller.set_shaping(0.0, 0.0, ramp)
    controller.set_damping(int(on), caps)
    controller.apply()
    controller.begin()


def state(k):
    """Return joint positions and velocities about the centre, and the link-side reading."""
    phase = 0.03 * k + np.arange(3.0)
    q = CENTRE + 2e-3 * np.sin(phase)
    return np.concatenate((q, 0.06 * np.cos(phase))), q[1] + 1e-3 * np.cos(phase[0])


def cycle(controller, k, fresh=True):
    """Return the commands of a cycle that holds the position of the first one."""
    given, link = state(k)
    controller.set_readings([0.0, 0.0, 0.0, link])
    return controller.torque(PERIOD * k, given if fresh else None, NO_REFERENCE)[1]


def test_the_class_is_the_design_to_rounding(damped, dyn, design):
    """With a ramp at the start, a cap that is met, and the state that takes note of it."""
    law, ramp = design.controller, 0.05
    begin(damped, False, design.torque)
    plain = [cycle(damped, k) for k in range(600)]
    begin(damped, True, np.full(len(design.actuators), np.inf))
    free = np.array([cycle(damped, k) for k in range(600)]) - plain
    joints = [dyn.robot.joint_names.index(name) for name in design.actuators]
    caps = 0.5 * np.abs(free).max(axis=0)[joints]
    assert caps.min() > 0.0
    begin(damped, True, caps, ramp)
    found = [cycle(damped, k) for k in range(600)]
    x, hold, origin, met = np.zeros(len(law.a)), state(0)[0][:3], None, 0
    for k in range(600):
        given, link = state(k)
        y = np.concatenate((given[:3] - hold, [link]))
        origin = y if origin is None else origin
        u = law.c @ x + law.d @ (y - origin)
        v = min(PERIOD * k / ramp, 1.0) * np.clip(u, -caps, caps)
        met += (np.abs(u) > caps).any()
        x = law.a @ x + law.b @ (y - origin) + law.g @ (v - u)
        expected = plain[k].copy()
        expected[joints] += v
        assert np.abs(found[k] - expected).max() <= 1e-12 * np.abs(plain).max()
    assert 0 < met < 600
    assert np.abs(np.array(found) - plain).max() == pytest.approx(caps.max(), rel=1e-9)


def test_damping_is_off_unless_asked_for_and_where_the_design_does_not_hold(damped, design):
    """Off by default, with a state that is not of this cycle, out of range, after a gap."""
    begin(damped, False, design.torque)
    plain = [cycle(damped, k) for k in range(40)]
    assert damped.damps() == 0
    begin(damped, True, design.torque)
    for k in range(20):
        cycle(damped, k)
    assert damped.damps() == 1
    # The last state counts for the PD; the damping is off at once.
    assert np.array_equal(cycle(damped, 20, fresh=False), damped.torque(
        0.0205, None, NO_REFERENCE)[1])
    assert damped.damps() == 0
    # It begins anew, at a torque of zero as no reading has moved yet.
    assert np.abs(cycle(damped, 21) - plain[21]).max() < 1e-12
    assert damped.damps() == 1
    assert np.abs(cycle(damped, 22) - plain[22]).max() > 1e-12
    # Cycles were missed.
    assert np.abs(cycle(damped, 30) - plain[30]).max() < 1e-12
    # A reading that is not finite.
    damped.set_readings([0.0, 0.0, 0.0, np.nan])
    damped.torque(0.031, state(31)[0], NO_REFERENCE)
    assert damped.damps() == 0
    cycle(damped, 32)
    assert damped.damps() == 1
    far = state(33)[0] + np.array([design.reach + 0.01, 0.0, 0.0, 0.0, 0.0, 0.0])
    damped.torque(0.033, far, NO_REFERENCE)
    assert damped.damps() == 0


def test_the_torque_stays_within_the_effort_limit(damped, design):
    """Damping takes the rest below the limit of the joint."""
    begin(damped, True, design.torque)
    damped.set_gains(KP, KD, UNLIMITED, np.full(3, 1e-3))
    damped.apply()
    for k in range(50):
        assert np.abs(cycle(damped, k)).max() <= 1e-3


def test_caps_are_a_tenth_of_the_effort_at_most(dyn, design):
    """And no more than a vibration of 2 mm needs."""
    for name, torque, cap in zip(
            design.actuators, design.torque, torque_caps(dyn.robot, design)):
        assert cap == pytest.approx(min(0.1 * dyn.robot.joint(name).limit.effort, torque))
