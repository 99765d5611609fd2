# SPDX-License-Identifier: Apache-2.0
"""Corrected positions of a trajectory: limits, bounds and samples around the motors' motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional, Sequence

from flexdyn_ros.arguments import limited_number, names as names_of, one_of, real_vector
from flexdyn_ros.errors import ArgumentError, require_known
from flexdyn_ros.position_correction.motor_motion import ElasticArm, Motors
from flexdyn_ros.position_correction.reference_motion import (
    CorrectionRefused,
    joined,
    missing_smoothness,
    MOST_STEPS,
    ReferenceMotion,
    TrajectoryPoints,
)
from flexdyn_ros.robot_dynamics import Dynamics, require_dynamics
import numpy as np
from scipy.interpolate import BPoly

FINEST = 2.5e-3  # between the samples at which limits are checked [s]
ROUNDING = 1e-9  # of positions beside their limits [rad | m]
ATTEMPTS = 12  # at a time in which the limits hold
SHAPING = ('auto', 'always', 'never')
POSITIVE = ('max_correction', 'max_acceleration', 'sample_period', 'blend_time', 'max_duration')


@dataclass(frozen=True)
class CorrectionChoices:
    """
    Bounds of a correction, and the components that follow the path.

    Attributes:
        max_correction: Largest distance between motor and rigid arm's joint [rad | m].
        max_acceleration: Of the motors [rad/s^2 | m/s^2]; none without.
        sample_period: Of the points returned [s].
        start_tolerance: Distance of the first point from the present command [rad | m].
        blend_time: Time over which such a distance fades out [s].
        shaping: Whether moving averages shape the motion: auto where it is not smooth, always,
            or never, which refuses a motion that is not smooth.
        max_duration: Of the motion [s].
        frame: The frame that follows the path with flexible links; empty for the robot's only tip.
        outputs: Its components and joints; none to choose them.
    """

    max_correction: float = 0.05
    max_acceleration: Optional[float] = None
    sample_period: float = 0.01
    start_tolerance: float = 0.01
    blend_time: float = 0.5
    shaping: str = 'auto'
    max_duration: float = 600.0
    frame: str = ''
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class CorrectedMotion:
    """
    Positions of motors beside the motion of the rigid arm that the tip follows.

    Attributes:
        names: The joints.
        t: Times from zero, (T,) [s].
        positions: Of the motors, (T, n) [rad | m].
        velocities: Their velocities, (T, n) [rad/s | m/s].
        accelerations: Their accelerations, (T, n) [rad/s^2 | m/s^2].
        reference: Positions of the rigid arm at these times, (T, n) [rad | m].
        given: Times of the trajectory as given whose points are reached then, (T,) [s].
        scale: Factor on the time that keeps the limits [1].
        widths: Of the moving averages that shape the motion [s].
        lead: Time from the start of the motors to that of the rigid arm [s].
        outputs: With flexible links, the components of the tip, and joints, that follow.
    """

    names: tuple[str, ...]
    t: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    accelerations: np.ndarray
    reference: np.ndarray
    given: np.ndarray
    scale: float
    widths: tuple[float, ...]
    lead: float
    outputs: tuple[str, ...] = ()

    @property
    def correction(self) -> np.ndarray:
        """The distances of the motors from the rigid arm's joints, (T, n) [rad | m]."""
        return self.positions - self.reference

    def at(self, values: np.ndarray, t: float) -> np.ndarray:
        """Return values over `t`, (T, n), at a time, held beyond the ends, (n,)."""
        return np.array([np.interp(t, self.t, column) for column in values.T])

    @property
    def report(self) -> str:
        """Return the changes to the trajectory, in a sentence."""
        size = np.abs(self.correction)
        at, joint = np.unravel_index(int(size.argmax()), size.shape)
        parts = [f'corrected by up to {size[at, joint]:.4g} ({self.names[joint]} at '
                 f'{self.t[at]:.3f} s)']
        if self.outputs:
            parts.append(f'{", ".join(self.outputs)} follow')
        if self.scale > 1.0:
            parts.append(f'time stretched by {self.scale:.3f} to keep the limits')
        if self.widths:
            widths = ', '.join(f'{width:.3f}' for width in self.widths)
            parts.append(f'averaged over {widths} s')
        return '; '.join([*parts, f'{self.t[-1]:.3f} s instead of {self.given[-1]:.3f} s'])


def corrected_positions(
    dyn: Dynamics, names: Sequence[str], points: TrajectoryPoints,
    command: Optional[np.ndarray] = None, choices: CorrectionChoices = CorrectionChoices(),
    progress: Callable[[float], None] = lambda fraction: None,
) -> CorrectedMotion:
    """
    Return motor positions with which an elastic arm follows a trajectory of the rigid arm.

    Args:
        dyn: `Dynamics` of the arm, motor coordinates and deflections.
        names: Joints of the trajectory. Others stand, and have no springs.
        points: The trajectory, from rest to rest.
        command: Present positions of all motors, (n_joints,) [rad | m], where the result begins;
            None for the static positions of the first point, other joints at zero.
        choices: Bounds.
        progress: Receives the fraction done of each part of the work. Its exceptions end this.

    Raises:
        CorrectionRefused: A bound does not hold, naming joint and time.
        ArgumentError: The robot, the trajectory or a choice is not supported, naming the reason.
        UnknownName: A joint is none of the robot's.
        FlexdynError: See `stable_inversion`, with flexible links.
    """
    require_dynamics(dyn)
    for argument, value, kind in (
        ('points', points, TrajectoryPoints), ('choices', choices, CorrectionChoices),
    ):
        if not isinstance(value, kind):
            raise ArgumentError(
                argument, f'is of type {type(value).__name__}, expected {kind.__name__}')
    _require_ranges(choices)
    columns = names_of('names', names)
    points.require_shapes(len(columns))
    return _Correction(dyn, columns, points, command, choices).found(progress)


def _require_ranges(choices: CorrectionChoices) -> None:
    """Refuse choices that bound nothing, such as numbers that are not finite."""
    one_of('shaping', choices.shaping, SHAPING)
    for name in POSITIVE:
        if getattr(choices, name) is not None:
            limited_number(name, getattr(choices, name))
    limited_number('start_tolerance', choices.start_tolerance, or_zero=True)


class _Correction:
    """One trajectory on its way to corrected positions."""

    def __init__(
        self, dyn: Dynamics, names: tuple[str, ...], points: TrajectoryPoints,
        command: Optional[np.ndarray], choices: CorrectionChoices,
    ):
        robot = dyn.robot
        require_known('joint', names, robot.joint_names)
        if len(set(names)) != len(names):
            raise ArgumentError('names', f'{names} has a joint twice. Keep one')
        self._names, self._choices = names, choices
        joints = {joint.name: joint for joint in robot.joints}
        self._joints = [joints.get(name) for name in names]  # None: a component of one
        self._columns = [robot.joint_names.index(name) for name in names]
        rest = np.zeros(robot.n_joints)
        if command is not None:
            rest = np.array(real_vector('command', command, robot.n_joints))
        first = rest.copy()
        first[self._columns] = points.positions[0]
        self._arm = ElasticArm(
            dyn, choices.frame, choices.outputs, first if command is None else rest)
        left_out = np.setdiff1d(np.flatnonzero(self._arm.elastic), self._columns)
        if len(left_out):
            raise ArgumentError('names', 'leaves out ' + ', '.join(
                robot.joint_names[k] for k in left_out) + ', whose elasticity it would move. '
                'Name it too')
        self._command = None if command is None else rest
        self._start = first if command is None else self._arm.rigid_positions(rest)
        points = points.after(self._start[self._columns])
        self._offset = np.zeros(robot.n_joints)
        self._offset[self._columns] = self._start[self._columns] - points.positions[0]
        self._require_start(points.positions[0], rest)
        self._polynomial = self._of_all_joints(points.polynomial())

    def _require_start(self, first: np.ndarray, command: np.ndarray) -> None:
        """Refuse a start away from the command, as motor positions and as rigid arm's."""
        if self._command is None:
            return
        by_motor = np.abs(first - command[self._columns])
        away = np.minimum(by_motor, np.abs(self._offset[self._columns]))
        k = int(away.argmax())
        if away[k] > self._choices.start_tolerance:
            raise CorrectionRefused(
                f'{self._names[k]} starts {away[k]:.4g} from the present command, more than '
                f'start_tolerance {self._choices.start_tolerance:g}. Start where it stands')

    def _of_all_joints(self, polynomial: BPoly) -> BPoly:
        """Return the motion of all joints, those that are left out standing."""
        c = np.tile(self._start, (*polynomial.c.shape[:2], 1))
        c[:, :, self._columns] = polynomial.c
        return BPoly(c, polynomial.x)

    def found(self, progress: Callable[[float], None]) -> CorrectedMotion:
        """Return the corrected positions, stretched in time until the limits hold."""
        choices, scale = self._choices, 1.0
        given, widths = float(self._polynomial.x[-1]), self._widths()
        step = choices.sample_period / np.ceil(choices.sample_period / FINEST)
        for _ in range(ATTEMPTS):
            self._require_plausible(scale * given + sum(widths), step)
            reference = ReferenceMotion(
                self._polynomial, scale, widths, self._offset, choices.blend_time,
                self._arm.settling)
            motors = self._arm.motors(reference, step, progress)
            if not np.isfinite(np.hstack(motors[1:])).all():
                raise CorrectionRefused('its forces are not finite. Check its times and positions')
            excess = self._excess(motors)
            if excess <= 1.0:
                self._require_bounds(motors, reference)
                return self._resampled(motors, reference)
            # Averages last as long as before: the rest takes the missing time of the whole motion.
            scale = (1.002 * excess * reference.duration - sum(widths)) / given
        raise CorrectionRefused(
            f'velocity and acceleration limits do not hold with {scale:.3g} times the time. '
            'Plan a slower motion')

    def _require_plausible(self, duration: float, step: float) -> None:
        """Refuse a duration that takes too many samples."""
        whole = duration + self._arm.settling
        if not whole <= self._choices.max_duration:
            raise CorrectionRefused(
                f'it lasts {whole:.4g} s with its end, more than max_duration '
                f'{self._choices.max_duration:g}. Divide it, or raise max_duration')
        if whole > MOST_STEPS * step:
            raise CorrectionRefused(
                f'it has more than {MOST_STEPS} samples of {step:.3g} s. Raise sample_period')

    def _widths(self) -> list[float]:
        """Return the widths of moving averages that the motion needs."""
        choices = self._choices
        missing = missing_smoothness(self._polynomial)
        if missing and choices.shaping == 'never':
            raise CorrectionRefused(
                f'derivative {5 - missing} of the trajectory jumps. Choose shaping "auto"')
        if choices.shaping == 'always':
            missing = max(missing, 1)
        half = 0.5 * float(self._polynomial.x[-1])
        periods = self._arm.periods(self._polynomial(half)) if missing else np.zeros(0)
        if not len(periods):
            return []
        return [float(periods[min(k, len(periods) - 1)]) for k in range(missing)]

    def _excess(self, motors: Motors) -> float:
        """Return the factor on time that the motion needs for velocities and accelerations [1]."""
        largest = self._choices.max_acceleration
        found = 1.0
        for joint, k in zip(self._joints, self._columns):
            if joint is not None and joint.limit.velocity:
                found = max(found, float(np.abs(motors.qd[:, k]).max()) / joint.limit.velocity)
            if largest is not None:
                found = max(found, float(np.abs(motors.qdd[:, k]).max() / largest) ** 0.5)
        return found

    def _require_bounds(self, motors: Motors, reference: ReferenceMotion) -> None:
        """Refuse positions beyond their limits and corrections that are too large."""
        correction = np.abs(motors.q - reference(np.clip(motors.t, 0.0, reference.duration)))
        for name, joint, k in zip(self._names, self._joints, self._columns):
            if joint is not None and joint.type != 'continuous':
                low, high = (
                    each if each is not None else np.inf * sign
                    for sign, each in ((-1.0, joint.limit.lower), (1.0, joint.limit.upper)))
                beyond = np.maximum(low - motors.q[:, k], motors.q[:, k] - high)
                if beyond.max() > ROUNDING:
                    self._refuse(name, motors, beyond, ROUNDING, 'beyond its position limits',
                                 'Keep the trajectory farther from them')
            if correction[:, k].max() > self._choices.max_correction:
                self._refuse(
                    name, motors, correction[:, k], self._choices.max_correction,
                    f'corrected, more than max_correction {self._choices.max_correction:g}',
                    'Plan a slower motion, or check payload and stiffness of the model')

    def _refuse(
        self, name: str, motors: Motors, values: np.ndarray, bound: float, what: str, advice: str
    ) -> None:
        at = motors.t[int((values > bound).argmax())] - motors.t[0]
        raise CorrectionRefused(
            f'{name} is {values.max():.4g} {what}, from {at:.3f} s on. {advice}')

    def _resampled(self, motors: Motors, reference: ReferenceMotion) -> CorrectedMotion:
        """Return the points; the first is the command, the last at rest."""
        end = motors.t[-1] - motors.t[0]
        count = max(2, int(np.ceil(end / self._choices.sample_period)) + 1)
        t = np.linspace(0.0, end, count)
        through = joined(
            motors.t - motors.t[0], *(each[:, self._columns] for each in motors[1:]))
        states = [through(t), through(t, 1), through(t, 2)]
        for each in states[1:]:
            each[[0, -1]] = 0.0
        if self._command is not None:
            states[0][0] = self._command[self._columns]
        at = t + motors.t[0]
        rigid = reference(np.clip(at, 0.0, reference.duration))[:, self._columns]
        return CorrectedMotion(
            self._names, t, states[0], states[1], states[2], rigid, reference.given_times(at),
            reference.scale, reference.widths, float(-motors.t[0]),
            () if self._arm.outputs is None else self._arm.outputs.names)
