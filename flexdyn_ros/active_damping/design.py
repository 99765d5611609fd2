# SPDX-License-Identifier: Apache-2.0
"""
Active damping of an arm's first modes by torques of few joints, with its margins.

Each mode is damped by the joint whose loop holds the largest share of its elastic energy,
kp |dq|^2: the least torque moves it. `design_search.py` states the bounds of a design. A delay of
more than a tenth of a mode's period is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Optional, Sequence
from xml.etree import ElementTree

from flexdyn_ros.active_damping.design_search import (
    best_controller,
    delay_margin,
    DesignSearch,
    range_of,
    REACHES,
)
from flexdyn_ros.active_damping.margins import Controller, is_stable, least_ratios
from flexdyn_ros.active_damping.modal_law import ArmModes, light_modes
from flexdyn_ros.active_damping.sampled_arm import SampledArm
from flexdyn_ros.arguments import (
    limited_number,
    names as names_of,
    one_of,
    real_vector,
    whole_number,
)
from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.modal_observer.observer import chosen_sensors, refuse_unsuitable
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.records.sensor import MountedSensor
from flexdyn_ros.robot_dynamics import Dynamics, require_dynamics
import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_discrete_lyapunov

LEAST_SAMPLES = 20  # in a period of each mode
MOST_DELAY = 0.1  # of the period of each mode
MOST_STEPS = 200  # of the controller in the delay
AMPLITUDE = 2e-3  # of the vibration whose torque is printed [m]


@dataclass(frozen=True)
class DampedMode:
    """
    One mode under active damping.

    Attributes:
        frequency: Under the joint loop [Hz].
        actuator: The joint that damps it.
        before: Damping ratio under the joint loop alone.
        after: Damping ratio with active damping, exact model.
        least_rise: Smallest rise of the ratio with stiffnesses exact and wrong.
    """

    frequency: float
    actuator: str
    before: float
    after: float
    least_rise: float


@dataclass(frozen=True)
class ActiveDamping:
    """
    A controller of joint torques that damps an arm's first modes.

    With the readings y less those at rest, x+ = a x + b y and u = c x + d y a sample. Positions of
    joints count from the desired ones.

    Attributes:
        controller: a, b, c and d.
        actuators: Joints of u.
        sensors: Of y, in their order.
        joint_q: Joint positions of the design, (n_joints,) [rad | m].
        reach: Range of each joint about these, within which the bounds hold [rad | m].
        kp: Of the joint loop, (n_joints,) [N m/rad | N/m].
        kd: Of the joint loop, (n_joints,) [N m s/rad | N s/m].
        in_drives: Whether the joint loop acts without the delay.
        period: Of sampling [s].
        delay: From a sample to its torque [s].
        modes: Each damped mode.
        peak_sensitivity: Largest singular value of the input sensitivity, over all stiffnesses.
        delay_margin: Extra delay up to which all stiffnesses stay stable [s].
        noise_torque: Standard deviation of u under the sensors' noise, (actuators,) [N m | N].
        torque: Amplitude of u for a vibration of 2 mm at the tip, (actuators,) [N m | N].
    """

    controller: Controller
    actuators: tuple[str, ...]
    sensors: tuple[MountedSensor, ...]
    joint_q: np.ndarray
    reach: float
    kp: np.ndarray
    kd: np.ndarray
    in_drives: bool
    period: float
    delay: float
    modes: tuple[DampedMode, ...]
    peak_sensitivity: float
    delay_margin: float
    noise_torque: np.ndarray
    torque: np.ndarray

    def __str__(self) -> str:
        """Return modes and margins as text."""
        modes = [
            f'  {mode.frequency:.3g} Hz by {mode.actuator}: damping ratio {mode.before:.3g}, '
            f'damped {mode.after:.3g}; at least {mode.least_rise:.3g} times as much with wrong '
            'stiffness'
            for mode in self.modes]
        torques = [
            f'  {name}: {torque:.3g} for 2 mm at the tip, {noise:.2g} by noise of the sensors'
            for name, torque, noise in zip(self.actuators, self.torque, self.noise_torque)]
        return '\n'.join([
            'Active damping of', *modes, 'Torques [N m | N]', *torques,
            f'With a loop delay of {1e3 * self.delay:.3g} ms: peak input sensitivity '
            f'{self.peak_sensitivity:.3g}; stable with {1e3 * self.delay_margin:.3g} ms more.',
            f'Within {self.reach:g} rad or m of each joint about the design.'])


def damping_controller(
    dyn: Dynamics,
    joint_q: ArrayLike,
    kp: ArrayLike,
    kd: ArrayLike,
    period: float,
    delay: float,
    sensors: Optional[Sequence[MountedSensor]] = None,
    *,
    modes: int = 1,
    actuators: Optional[Sequence[str]] = None,
    in_drives: bool = False,
    stiffness_error: float = 0.1,
) -> ActiveDamping:
    """
    Return the controller that damps the first modes about a configuration, and its margins.

    Args:
        dyn: Dynamics of a tree of joints with one axis each on a fixed base, with its loads.
        joint_q: Joint positions, (n_joints,) [rad | m].
        kp: Gains of the joint loop on the motor side, (n_joints,) [N m/rad | N/m].
        kd: The same for velocities, (n_joints,) [N m s/rad | N s/m].
        period: Of the controller [s].
        delay: Measured, from a reading to the torque that it makes [s]; counted in whole periods.
        sensors: The sensors; None takes the <sensor> elements, or encoders on all motors.
        modes: Number of the lowest lightly damped modes to damp.
        actuators: Joint that damps each mode; None chooses them.
        in_drives: Whether the joint loop acts in the drives, without the delay.
        stiffness_error: Relative error of all stiffnesses up to which the bounds hold.

    Raises:
        ArgumentError: An argument has the wrong shape or range, or an actuator is no joint.
        NotYetSupported: The robot has loops, a moving base, or joints of several axes.
        FlexdynError: An actuator has no effort interface, or no mode is lightly damped. Or no
            design keeps the bounds of `design_search.py` within 0.05 rad or m of each joint.
    """
    require_dynamics(dyn)
    robot = dyn.robot
    refuse_unsuitable(robot, 'Active damping')
    n = robot.n_joints
    if not n:
        raise ArgumentError('dyn', 'has no joints, whose torques could damp. Add one')
    at, gains = (np.array(real_vector('joint_q', joint_q, n)), [
        np.array(real_vector(name, values, n)) for name, values in (('kp', kp), ('kd', kd))])
    for name, value in (('period', period), ('delay', delay)):
        limited_number(name, value)
    if delay > MOST_STEPS * period:
        raise ArgumentError(
            'delay', f'is {delay} s, more than {MOST_STEPS} periods of {period} s. Check units')
    one_of('in_drives', in_drives, (True, False))
    if limited_number('stiffness_error', stiffness_error, or_zero=True) >= 1.0:
        raise ArgumentError('stiffness_error', f'is {stiffness_error}, expected 0 to below 1')
    if min(gains[0]) <= 0.0:
        raise ArgumentError('kp', f'is {min(gains[0]):g} for a joint, expected positive numbers')
    read = chosen_sensors(robot, sensors)
    steps = max(1, math.ceil(delay / period - 1e-9))
    search = DesignSearch(dyn, gains, read, (period, steps, in_drives), stiffness_error)
    (free, *others) = search.arms(at, ())
    if not all(is_stable(arm.f) for arm in (free, *others)):
        raise FlexdynError(
            'The joint loop is unstable with this delay, without active damping. Reduce kp and '
            'kd, or set in_drives where the drives close this loop.')
    damped = _first(light_modes(free), modes, period, delay)
    names = _actuators(robot, damped, gains[0], actuators)
    _refuse_without_effort(robot, names)
    used = tuple(dict.fromkeys(names))
    places = [robot.joint_names.index(name) for name in used]
    controller, peak = best_controller(search, at, places, damped, gains[0])
    arms = search.arms(at, places)
    rises = search.rises(arms, controller, damped.rates)
    after = least_ratios(arms[0].poles(controller.around(arms[0])), damped.rates)
    noise, torque = _torques(dyn, arms[0], controller, search.deviations, damped, at)
    reach = range_of(search, at, places, controller, damped.rates)
    if reach == 0.0:
        raise FlexdynError(
            f'The margins of active damping hold within no {REACHES[-1]:g} rad or m of each joint '
            'about joint_q. Damp fewer modes, or make the joint loop stiffer.')
    return ActiveDamping(
        controller, used, read, at, reach,
        gains[0], gains[1], in_drives, period, search.delay * period, tuple(
            DampedMode(float(rate / (2.0 * np.pi)), name, float(-pole.real / abs(pole)),
                       float(ratio), float(rise))
            for rate, pole, name, ratio, rise in zip(
                damped.rates, damped.poles, names, after, rises.min(axis=0))),
        peak, delay_margin(search, at, places, controller), noise, torque)


def _first(found: ArmModes, count: int, period: float, delay: float) -> ArmModes:
    if not found.poles.size:
        raise ArgumentError(
            'modes', f'is {count}, and no mode of the robot has a damping ratio below 0.1. Give '
            'the extension with its flexible links')
    if whole_number('modes', count) > len(found.poles):
        raise ArgumentError(
            'modes', f'is {count}, expected from one to {len(found.poles)}. Under this joint loop '
            'other modes have a damping ratio above 0.1')
    chosen = ArmModes(found.poles[:count], found.shapes[:, :count], found.filters[:count])
    highest = float(chosen.rates[-1] / (2.0 * np.pi))
    if highest * period * LEAST_SAMPLES > 1.0:
        raise FlexdynError(
            f'The mode of {highest:.3g} Hz has fewer than {LEAST_SAMPLES} periods of the '
            'controller in one of its own. Raise the rate, or damp fewer modes.')
    if highest * delay > MOST_DELAY:
        raise FlexdynError(
            f'The loop delay of {1e3 * delay:.3g} ms is more than {MOST_DELAY:g} periods of the '
            f'mode of {highest:.3g} Hz. Reduce the delay, or damp fewer modes.')
    return chosen


def _actuators(
    robot: Robot, modes: ArmModes, kp: np.ndarray, chosen: Optional[Sequence[str]]
) -> tuple[str, ...]:
    if chosen is None:
        shares = kp[:, None] * np.abs(modes.shapes[:robot.n_joints]) ** 2
        return tuple(robot.joint_names[k] for k in np.argmax(shares, axis=0))
    chosen = names_of('actuators', chosen)
    if len(chosen) != len(modes.poles):
        raise ArgumentError('actuators', f'has {len(chosen)} names, expected one for each mode')
    for name in chosen:
        if name not in robot.joint_names:
            raise ArgumentError('actuators', f'names "{name}", expected some of '
                                             f'{", ".join(robot.joint_names)}')
    return chosen


def _torques(
    dyn: Dynamics, arm: SampledArm, controller: Controller, deviations: np.ndarray,
    modes: ArmModes, joint_q: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the torque's standard deviation by noise, and its amplitude for 2 mm at the tip."""
    n, nv = len(arm.f), dyn.robot.nv
    closed = controller.around(arm)
    enters = np.vstack((arm.g @ controller.d, controller.b)) * deviations
    spread = solve_discrete_lyapunov(closed, enters @ enters.T)
    shown = np.hstack((controller.d @ arm.h, controller.c))
    direct = controller.d * deviations
    noise = np.sqrt(np.diag(shown @ spread @ shown.T + direct @ direct.T))
    rest = np.zeros(len(joint_q))
    q = np.concatenate((joint_q, dyn.quasi_static_torque(joint_q, rest, rest)[1]))
    torque = np.zeros(len(noise))
    for rate, shape in zip(modes.rates, modes.shapes.T):
        (law,) = controller.response(np.full((1, 1, 1), np.exp(1j * rate * arm.period)))
        size = max(np.linalg.norm(dyn.jacobian(q, tip)[:3] @ shape[:nv])
                   for tip in dyn.robot.tip_names)
        torque = np.maximum(torque, np.abs(law @ arm.h @ shape[:n]) * AMPLITUDE / size)
    return noise, torque


def _refuse_without_effort(robot: Robot, names: Sequence[str]) -> None:
    """Refuse joints whose <ros2_control> element has no command interface for effort."""
    for text in robot.descriptions[:1]:
        for joint in ElementTree.fromstring(text).iterfind('ros2_control/joint'):
            commands = [each.get('name') for each in joint.iterfind('command_interface')]
            if joint.get('name') in names and 'effort' not in commands:
                raise FlexdynError(
                    f'Joint "{joint.get("name")}" has no effort interface: its <ros2_control> '
                    f'element commands {", ".join(map(str, commands)) or "nothing"}. Active '
                    'damping needs torques; corrected_positions leaves little vibration instead.')
