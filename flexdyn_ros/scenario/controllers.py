# SPDX-License-Identifier: Apache-2.0
"""The controllers of a scenario as torque laws; sampled_torque.py samples them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence

from flexdyn_ros.scenario.document import CheckedSection
from flexdyn_ros.scenario.trajectories import (
    MOST_JUMPS,
    read_columns,
    rows_over_time,
    ScenarioTrajectory,
)
from flexdyn_ros.simulation.computed_torque import ComputedTorque
from flexdyn_ros.simulation.joint_feed_forward import torques_along
from flexdyn_ros.simulation.torque_laws import PiecewisePolynomial, TorqueLaw, TrackingTorque
import numpy as np

# A jump of torques is put into their table by samples this long beside it [s].
JUMP = 1e-9


@dataclass
class ControlSetting:
    """
    The data that controllers are built from.

    Attributes:
        robot: The robot.
        new_model: Returns a `Dynamics` of it that a controller evaluates.
        start: Initial positions of the joints that are driven [rad | m].
        modes: Initial deflections and their rates, (2 n_modes,).
        trajectories: Those of the scenario.
        windows: Times between changes of payloads, and the function that puts the payloads of
            each window on the model.
        step: Time step [s].
    """

    robot: Any
    new_model: Callable[[], Any]
    start: dict[str, float]
    modes: np.ndarray
    trajectories: Mapping[str, ScenarioTrajectory]
    windows: Sequence[tuple[float, float, Callable[[Any], None]]]
    step: float


class ScenarioController:
    """
    A controller.

    Attributes:
        section: Its section.
        names: Joints that it drives.
        of_v: Their entries in v, (n,).
        law: Its torque, without gravity and saturation.
        gravity: Entries of q that carry the arm whose gravity is added at the state; None for no
            gravity.
        model: The `Dynamics` that the law or gravity evaluates; None for none.
        limits: Largest torques, (n,), infinite where there are none.
        trajectory: The motion that it follows, or None.
    """

    def __init__(self, section: CheckedSection, setting: ControlSetting):
        self.section, robot = section, setting.robot
        self.names = section.chosen('joints', tuple(setting.start), 'driven joint')
        self.of_v = np.array([robot.coordinate_names.index(n) for n in self.names], dtype=int)
        self.gravity: Optional[np.ndarray] = None
        self.model: Any = None
        self.trajectory: Optional[PiecewisePolynomial] = None
        with section.place.errors():
            self.law: TorqueLaw = _MAKERS[section['type']](self, setting)
        self.limits = self._limits(robot)
        self._refuse_without_rate()

    @property
    def continuous(self) -> bool:
        """Whether the law alone is the torque, at every instant."""
        return (
            self.section['rate'] is None and self.gravity is None
            and not np.isfinite(self.limits).any())

    def torque(
        self, t: float, q: np.ndarray, qd: np.ndarray, integral: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the torque, (nv,), and the one without saturation; see `TorqueLaw.torque`."""
        wanted = self.law.torque(t, q, qd, integral)
        if self.gravity is not None:
            at = self.model.robot.neutral_configuration()
            at[self.gravity] = q[self.gravity]
            wanted[self.of_v] += self.model.gravity_vector(at)[self.of_v]
        given = wanted.copy()
        given[self.of_v] = np.clip(wanted[self.of_v], -self.limits, self.limits)
        return given, wanted

    def _limits(self, robot: Any) -> np.ndarray:
        section, given = self.section, self.section['saturation']
        found = np.full(len(self.names), np.inf)
        if given == 'limits':
            for k, name in enumerate(self.names):
                if name in robot.mode_names:
                    continue
                limit = next((j.limit for j in robot.joints if j.name == name), None)
                if limit is None or not limit.effort:
                    raise section.error(
                        'saturation', f'is "limits", and "{name}" has no effort in its <limit>',
                        'Write the largest torque by joint.')
                found[k] = limit.effort
        elif given is not None:
            found = section.vector('saturation', self.names, 'driven joint', np.inf)
        return found

    def _refuse_without_rate(self) -> None:
        section = self.section
        if section['rate'] is not None:
            return
        noise = section['noise']
        for key, used in (('delay', section['delay'] > 0.0),
                          ('noise', noise['position'] > 0.0 or noise['velocity'] > 0.0),
                          ('saturation', np.isfinite(self.limits).any() and self.law.integrals)):
            if used:
                raise section.error(
                    key, 'is given, and the controller has no rate',
                    'Write the rate [Hz] at which it samples.')


def _followed(
    controller: ScenarioController, setting: ControlSetting
) -> tuple[PiecewisePolynomial, bool]:
    """Return the motion of a controller, and whether its acceleration is continuous."""
    section, known = controller.section, setting.trajectories
    name, smooth = section['trajectory'], True
    if name is not None and section['setpoint'] is not None:
        raise section.error('setpoint', 'is given beside a trajectory', 'Keep one of them.')
    if name is None and section['setpoint'] is None and len(known) > 1:
        raise section.error(
            'trajectory', 'is missing, and the scenario has several',
            f'Write one of {", ".join(known)}.')
    if section['setpoint'] is not None or (name is None and not known):
        row = np.array([setting.start[joint] for joint in controller.names])
        if section['setpoint'] is not None:
            row = section.vector('setpoint', controller.names, 'driven joint', row)
        followed = PiecewisePolynomial(np.array([0.0, 1.0]), row[np.newaxis, np.newaxis])
    else:
        name = next(iter(known)) if name is None else name
        section.known('trajectory', name, tuple(known), 'trajectory')
        followed, smooth = known[name].of(controller.names, setting.start), known[name].smooth
    controller.trajectory = followed
    return followed, smooth


def _tracking(controller: ScenarioController, setting: ControlSetting) -> TrackingTorque:
    section, names = controller.section, controller.names
    gains = {key: section.complete(key, names, 'driven joint') for key in ('kp', 'kd', 'ki')
             if key in section}
    law = TrackingTorque(
        setting.robot, [0.0], np.zeros((1, len(names))), joints=names, **gains)
    law.reference = _followed(controller, setting)[0]
    return law


def _pd_gravity(controller: ScenarioController, setting: ControlSetting) -> TrackingTorque:
    law, robot = _tracking(controller, setting), setting.robot
    model = controller.model = setting.new_model()
    every = TrackingTorque(robot, [0.0], np.zeros((1, len(setting.start))),
                           joints=tuple(setting.start))
    if controller.section['gravity_at'] == 'state':
        controller.gravity = every.of_q
        return law
    reference, smooth = _followed(controller, setting)

    def gravity(t: np.ndarray) -> np.ndarray:
        found = np.zeros((len(t), robot.nv))
        for row, time in zip(found, t.tolist()):
            at = robot.neutral_configuration()
            at[every.of_q] = list(setting.start.values())
            at[law.of_q] = reference(time)[0]
            row[controller.of_v] = model.gravity_vector(at)[controller.of_v]
        return found

    law.table = _table(setting, controller, reference, smooth, lambda t, _: (gravity(t), _))
    return law


def _computed_torque(controller: ScenarioController, setting: ControlSetting) -> TrackingTorque:
    section = controller.section
    if set(controller.names) != set(setting.start):
        raise section.error(
            'joints', 'omits joints that are driven', 'Name all of them, or omit joints.')
    controller.names = names = tuple(setting.start)
    controller.of_v = np.array([setting.robot.coordinate_names.index(n) for n in names])
    controller.model = setting.new_model()
    kp, kd = (section.complete(key, names, 'driven joint') for key in ('kp', 'kd'))
    law = ComputedTorque(
        setting.robot, controller.model, [0.0], np.zeros((1, len(names))), kp=kp, kd=kd)
    law.reference = _followed(controller, setting)[0]
    return law


def _feed_forward(controller: ScenarioController, setting: ControlSetting) -> TrackingTorque:
    section, robot = controller.section, setting.robot
    joints = robot.joint_names
    if robot.loops or len(joints) != len(setting.start):
        raise section.error(
            'type', 'is "feed_forward", and the robot has loops, passive joints or a moving base',
            'Use computed_torque, or write torques from another source by type: torque.')
    law = _tracking(controller, setting)
    reference, smooth = _followed(controller, setting)
    places = [list(joints).index(name) for name in controller.names]
    rest = np.array([setting.start[name] for name in joints])

    def motion(time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = [rest.copy(), np.zeros(len(joints)), np.zeros(len(joints))]
        for row, own in zip(found, reference.with_curvature(time)):
            row[places] = own
        return found[0], found[1], found[2]

    def along(t: np.ndarray, modes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tau, after = torques_along(controller.model, motion, t, section['model'], modes)
        kept = np.zeros_like(tau)
        kept[:, controller.of_v] = tau[:, controller.of_v]
        return kept, after

    controller.model = setting.new_model()
    law.table = _table(setting, controller, reference, smooth, along)
    return law


Along = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def _table(
    setting: ControlSetting, controller: ScenarioController, reference: PiecewisePolynomial,
    smooth: bool, along: Along,
) -> PiecewisePolynomial:
    """
    Return torques over the whole run, sampled at half steps, the stages of rk4.

    They jump at changes of the payload of a model, and at jumps of accelerations.
    """
    known = controller.section['payload_known']
    end = setting.windows[-1][1]
    windows = setting.windows if known else [(0.0, end, lambda model: model.clear_payload())]
    breaks = [] if smooth or len(reference.at) > MOST_JUMPS else reference.at.tolist()
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    modes = setting.modes
    for begin, stop, load in windows:
        load(controller.model)
        count = max(4, int(np.ceil((stop - begin) / (0.5 * setting.step))))
        grid = np.linspace(begin, stop if stop == end else stop - JUMP, count + 1)
        jumps = [t for t in breaks if begin < t < stop]
        t = np.unique([*grid, *(t + side for t in jumps for side in (-JUMP, JUMP))])
        tau, modes = along(t, modes)
        parts.append((t, tau))
    times, torques = (np.concatenate(each) for each in zip(*parts))
    controller.model.clear_payload()
    continuous = smooth and len(windows) == 1
    return PiecewisePolynomial.through(
        times, torques, None, 'cubic' if continuous else 'linear')


def _torque(controller: ScenarioController, setting: ControlSetting) -> TorqueLaw:
    section, robot = controller.section, setting.robot
    names = robot.coordinate_names
    law = TorqueLaw(robot.nv)
    given = [key for key in ('points', 'file') if section[key]]
    if len(given) > 1:
        raise section.error('file', 'is given beside points', 'Keep one of them.')
    constant = section.vector('constant', names, 'coordinate')
    rest = np.zeros(robot.nv)
    if section['points']:
        t, tau = rows_over_time(section, 'torques', names, 'coordinate', rest)
    elif section['file']:
        t, _, (columns,) = read_columns(section, names, ('tau',))
        if all(column is None for column in columns):
            raise section.error(
                'file', f'is {section["file"]}, expected a column <joint>/effort')
        tau = np.column_stack([
            np.zeros(len(t)) if column is None else column for column in columns])
    elif section['constant']:
        t, tau = np.zeros(1), rest[np.newaxis]
    else:
        raise section.place.error('has no torque', 'Write constant, points or file.')
    law.table = PiecewisePolynomial.through(t, tau + constant, None, section['interpolation'])
    controller.of_v = np.arange(robot.nv)
    controller.names = names
    return law


_MAKERS: dict[str, Callable[[ScenarioController, ControlSetting], TorqueLaw]] = {
    'torque': _torque,
    'pd': _tracking,
    'pid': _tracking,
    'pd_gravity': _pd_gravity,
    'computed_torque': _computed_torque,
    'feed_forward': _feed_forward,
}
