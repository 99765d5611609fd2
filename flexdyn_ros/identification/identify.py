# SPDX-License-Identifier: Apache-2.0
"""`identify`: from a robot and recorded motions to a robot with identified parameters."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Callable, Mapping, Optional, Sequence, Union

from flexdyn_ros.errors import ArgumentError, UnknownName
from flexdyn_ros.identification.estimation import (
    base_parameters,
    Fit,
    information,
    least_squares,
    minimal_change,
    PhysicalProblem,
    Rows,
    unbounded,
)
from flexdyn_ros.identification.friction import (
    ALL,
    checked_terms,
    FrictionShape,
    PRESLIDING_LENGTHS,
    STRIBECK_VELOCITIES,
)
from flexdyn_ros.identification.identification import Identification, Statistics
from flexdyn_ros.identification.motion import Motion
from flexdyn_ros.identification.signals import (
    signal_path,
    SignalPath,
    sound_rows,
    stretches,
    torque_rows,
)
from flexdyn_ros.identification.term_selection import chosen_terms
from flexdyn_ros.identification.torque_model import Columns, TorqueModel
from flexdyn_ros.model.records.robot import require_robot, Robot
import numpy as np

ROUNDS = 5  # of fits, in which delay, shape of friction and load settle
LONGEST_DELAY = 0.2  # [s]
Terms = Union[Sequence[str], Mapping[str, Sequence[str]]]


def identify(
    robot: Robot,
    motions: Union[Motion, Sequence[Motion]],
    *,
    friction: Union[str, Terms] = 'auto',
    cutoff: Optional[float] = None,
    trim: Optional[float] = None,
    delay: Union[str, float] = 'estimate',
    saturation: Optional[float] = 0.98,
    smoothing_velocity: Optional[float] = None,
    inertia: bool = True,
    rotors: bool = True,
    payload: Optional[str] = None,
    gravity: bool = False,
    fixed: Union[Sequence[str], Mapping[str, Optional[float]]] = (),
    bounds: Optional[Mapping[str, tuple[float, float]]] = None,
    physical: bool = True,
    weight: float = 1.0,
    progress: Optional[Callable[[float], None]] = None,
) -> Identification:
    """
    Identify the parameters of a robot from recorded motions.

    Args:
        robot: The robot as described.
        motions: Recorded motions with torques, of all joints. Columns of coordinates
            "<joint>/elastic" (link side less motor side) make stiffness and damping of elastic
            joints unknown; their torque is zero. Without them all modes are at rest.
        friction: Terms of joint friction: "auto" (by cross validation), "default" (viscous,
            coulomb, offset), "all", "none", or some of viscous, coulomb, stribeck, load,
            presliding, offset, quadratic, viscous_asymmetry, coulomb_asymmetry; or these by joint.
            Without any, friction is that of the description.
        cutoff: Of the filters [Hz]; default 10 Hz, or a fifth of a lower rate.
        trim: Left out at ends, gaps and around saturated samples [s]; default 1 / cutoff.
        delay: By which torques lag positions [s], or "estimate".
        saturation: Part of the effort limit beyond which a torque is left out, or None.
        smoothing_velocity: Of the sign in Coulomb friction [rad/s | m/s]; default that of the
            description, or 0.02.
        inertia: Whether the inertia of links is unknown.
        rotors: Whether the inertia of rotors is unknown.
        payload: Link whose payload is unknown, the arm being known.
        gravity: Whether the direction of gravity is unknown, the arm being known.
        fixed: Parameters that keep the value of the description, or names with values; names may
            have wildcards, as "*/viscous".
        bounds: Least and greatest value of parameters by name.
        physical: Whether inertias are those of real bodies, and losses not negative.
        weight: Of the description beside the data: 1 takes a parameter of it to be right within
            about its own size. It decides what the data leave open.
        progress: Called with the fraction done.

    Returns:
        The identified robot, its parameters with deviations, and statistics.

    Raises:
        ArgumentError: A motion or a choice does not fit the robot.
        UnknownName: There is no coordinate, link or parameter of a name.
        NotYetSupported: The robot has loops or quaternions.
    """
    require_robot(robot)
    ordered = _checked_motions(robot, motions)
    path = signal_path(ordered, cutoff, trim, saturation)
    if delay != 'estimate':
        path = replace(path, delay=_checked_delay(delay))
    automatic = isinstance(friction, str) and friction == 'auto'

    def model_with(terms: Terms) -> TorqueModel:
        return TorqueModel(
            robot, ordered[0].names or (), terms, payload, gravity, inertia, rotors)

    model = model_with(ALL if automatic else _checked_friction(robot, friction))
    if not model.names:
        raise ArgumentError('friction', 'leaves no unknown parameter')
    values, free = _held(model, fixed)
    limits = _checked_bounds(model, bounds)
    if not isinstance(weight, (int, float)) or not weight > 0.0:
        raise ArgumentError('weight', f'is {weight!r}, expected a positive number')
    report = progress or (lambda fraction: None)
    regression = Regression(model, ordered, path, free, values, smoothing_velocity)
    regression.settle(delay == 'estimate', report)
    if automatic and model.joints:
        fewer = model_with(chosen_terms(
            model, regression.rows, regression.fit, regression.regrouping.columns))
        kept = [model.names.index(name) for name in fewer.names]
        limits = limits[kept]
        regression = Regression(
            fewer, ordered, path, free[kept], values[kept], smoothing_velocity, regression)
        regression.settle(delay == 'estimate', report)
    return regression.result(limits, physical, float(weight))


class Regression:
    """
    The regression of a robot's torques over motions.

    Attributes:
        model: The unknown parameters.
        path: The signal path, with the delay so far.
        shapes: Shapes of friction so far.
        values: Parameters so far, (p,).
    """

    def __init__(
        self, model: TorqueModel, motions: Sequence[Motion], path: SignalPath,
        free: np.ndarray, values: np.ndarray, smoothing: Optional[float],
        before: Optional[Regression] = None,
    ):
        """Compute the columns, or take those of a regression with other terms of friction."""
        self.model, self.path, self.motions = model, path, motions
        self.values, self._free, self._described = values.copy(), free, values
        self.shapes = model.shapes(smoothing)
        efforts = {joint.name: joint.limit.effort for joint in model.joints}
        limits = np.array([efforts.get(name) or np.inf for name in model.coordinates])
        self._parts: list[tuple[int, Columns, np.ndarray, np.ndarray, np.ndarray]] = []
        self._settled = before is not None
        if before is not None:
            self._parts, self.shapes, self.path = before._parts, before.shapes, before.path
        for k, motion in enumerate(motions if before is None else ()):
            for stretch in stretches(motion, path):
                columns = model.sampled(stretch)
                self._parts.append((k, columns, path.rows(columns.linear),
                                    path.rows(columns.known),
                                    sound_rows(motion, stretch, path, limits)))
        self.regrouping = base_parameters(model, self.shapes, values, free)
        self.fit: Fit = None  # type: ignore[assignment]
        self.rows: list[Rows] = []

    def settle(self, with_delay: bool, progress: Callable[[float], None]) -> None:
        """Fit repeatedly, until delay, shapes of friction and load have settled."""
        choose = not self._settled
        terms = self.model.terms
        shaped = [term for term in ('presliding', 'stribeck') if term in terms]
        rounds = ROUNDS if with_delay or shaped or 'load' in terms else 1
        rounds = min(rounds, 3) if self._settled else rounds
        for number in range(rounds):
            self._fit_once()
            if 0 < number <= len(shaped) and choose:
                self._choose_shape(shaped[number - 1])
            if with_delay and number < rounds - 1:
                self._shift()
            progress((number + 1) / rounds)

    def _fit_once(self) -> None:
        self.rows = [self._rows_of(*part) for part in self._parts]
        self.fit = least_squares(self.rows, self.regrouping.columns)
        self.values = minimal_change(self._described, self.regrouping.matrix, self.fit.base)

    def _rows_of(
        self, number: int, columns: Columns, linear: np.ndarray, known: np.ndarray,
        sound: np.ndarray,
    ) -> Rows:
        """Return the rows of a stretch: its columns, and their linear part at the rows."""
        losses = self.model.friction(columns, self.shapes, self.values)
        matrix = self.model.joined(linear, [self.path.rows(each) for each in losses])
        measured = torque_rows(self.motions[number], columns.stretch, self.path)
        right = measured - known - matrix @ (self._described * ~self._free)
        return Rows(number, matrix * self._free, right, measured, sound)

    def _shift(self) -> None:
        """Improve the delay by one step of Gauss and Newton, what columns can follow taken off."""
        columns, noise = self.regrouping.columns, self.fit.noise
        along, size, moment = 0.0, 0.0, np.zeros(len(columns))
        for part in self.rows:
            residual = part.residual(self._base_values())
            slope = np.gradient(part.measured - residual, axis=0) * self.path.row_rate
            slope = slope * part.sound / noise
            along += float(np.sum(slope * residual / noise))
            size += float(np.sum(slope**2))
            moment += np.einsum('tn,tnb->b', slope / noise, part.matrix[:, :, columns])
        scaled = self.fit.normal / np.outer(self.fit.scale, self.fit.scale)
        moment = moment / self.fit.scale
        size -= float(moment @ np.linalg.pinv(scaled, 1e-10, hermitian=True) @ moment)
        step = -along / max(size, 1e-300)
        delay = min(max(self.path.delay + step, -LONGEST_DELAY), LONGEST_DELAY)
        self.path = replace(self.path, delay=delay)

    def _choose_shape(self, term: str) -> None:
        """Choose of each joint's friction the shape that lowers the residual most."""
        candidates = {'presliding': PRESLIDING_LENGTHS, 'stribeck': STRIBECK_VELOCITIES}[term]
        model = self.model
        for k, joint in enumerate(model.joints):
            if f'{joint.name}/{term}' not in np.array(model.names)[self._free]:
                continue
            at = model.coordinates.index(joint.name)
            scores = []
            for candidate in candidates:
                shape = replace(self.shapes[k], **{term: candidate})
                scores.append(self._residual_with(k, at, shape))
            best = candidates[int(np.argmin(scores))]
            self.shapes[k] = replace(self.shapes[k], **{term: best})

    def _residual_with(self, k: int, at: int, shape: FrictionShape) -> float:
        """Return the square of a coordinate's residual, its friction fitted again by itself."""
        own, values = self.model.places[k], self._base_values()
        width = own.stop - own.start
        shapes = [*self.shapes[:k], shape, *self.shapes[k + 1 :]]
        normal, moment, square = np.zeros((width, width)), np.zeros(width), 0.0
        for (_, columns, *_), part in zip(self._parts, self.rows):
            matrix = self.path.rows(self.model.friction(columns, shapes, self.values, k)[0])
            rest = part.residual(values)[:, at] + part.matrix[:, at, own] @ values[own]
            used = part.sound[:, at]
            normal += matrix[used].T @ matrix[used]
            moment += matrix[used].T @ rest[used]
            square += rest[used] @ rest[used]
        return float(square - moment @ np.linalg.pinv(normal, hermitian=True) @ moment)

    def _base_values(self) -> np.ndarray:
        """Return the base parameters in their columns, zero elsewhere, (p,)."""
        found = np.zeros(len(self.model.names))
        found[self.regrouping.columns] = self.fit.base
        return found

    def result(
        self, limits: np.ndarray, physical: bool, weight: float
    ) -> Identification:
        """Return the identification."""
        model, regrouping = self.model, self.regrouping
        inverse = information(
            self.rows, self._base_values(), self.fit, regrouping.columns, self.path.row_rate)
        covariance = np.linalg.pinv(inverse, hermitian=True)
        unseen = np.diag(inverse) <= 0.0
        deviations = np.where(unseen, np.inf, np.sqrt(np.maximum(np.diag(covariance), 0.0)))
        values, spread = self.values, None
        if physical:
            values, spread = PhysicalProblem(
                regrouping.matrix, self.fit.base, inverse, self._described,
                len(model.bodies), model.positive, self._free, weight, limits).solve()
        else:
            alone = np.count_nonzero(regrouping.matrix, axis=1) == 1
            spread = np.full((len(values),) * 2, 0.0)
            spread[np.diag_indices(len(values))] = np.where(self._free, np.inf, 0.0)
            for row in np.flatnonzero(alone):
                j = regrouping.columns[row]
                spread[j, j] = deviations[row] ** 2
        statistics = Statistics.of(
            self.rows, self.fit, values, self._base_values(), self._described)
        statistics.cross_validate(self.rows, regrouping.columns)
        return Identification(
            model, values, np.sqrt(np.maximum(np.diag(spread), 0.0)), list(self.shapes),
            self.path, regrouping, self.fit.base, deviations, self._free, statistics,
            self.motions)


def _checked_motions(
    robot: Robot, motions: Union[Motion, Sequence[Motion]]
) -> list[Motion]:
    given = [motions] if isinstance(motions, Motion) else list(motions)
    if not given:
        raise ArgumentError('motions', 'is empty, expected at least one Motion')
    ordered = []
    for motion in given:
        if not isinstance(motion, Motion):
            raise ArgumentError('motions', f'holds a {type(motion).__name__}, expected Motions')
        if motion.tau is None:
            raise ArgumentError('motions', 'has a motion without torques')
        ordered.append(motion.ordered(robot.joint_names, robot.coordinate_names))
    if len({motion.names for motion in ordered}) > 1:
        raise ArgumentError('motions', 'has motions of different coordinates')
    return ordered


def _checked_friction(
    robot: Robot, friction: Union[str, Terms]
) -> Union[tuple[str, ...], dict[str, tuple[str, ...]]]:
    if not isinstance(friction, Mapping):
        return checked_terms(friction)
    for name in friction:
        if name not in robot.joint_names:
            raise UnknownName('joint', name, robot.joint_names)
    return {name: checked_terms(terms) for name, terms in friction.items()}


def _checked_delay(delay: object) -> float:
    if not isinstance(delay, (int, float)) or not abs(delay) <= LONGEST_DELAY:
        raise ArgumentError(
            'delay', f'is {delay!r}, expected "estimate" or at most {LONGEST_DELAY} s')
    return float(delay)


def _held(
    model: TorqueModel, fixed: Union[Sequence[str], Mapping[str, Optional[float]]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return described values, with those that are given, and which parameters are unknown."""
    patterns: Mapping[str, Optional[float]] = (
        fixed if isinstance(fixed, Mapping)
        else dict.fromkeys((fixed,) if isinstance(fixed, str) else fixed))
    values, free = model.values.copy(), np.ones(len(model.names), dtype=bool)
    for pattern, value in patterns.items():
        met = [k for k, name in enumerate(model.names) if fnmatchcase(name, pattern)]
        if not met:
            raise UnknownName('parameter', pattern, model.names)
        free[met] = False
        if value is not None:
            values[met] = float(value)
    if not free.any():
        raise ArgumentError('fixed', 'leaves no unknown parameter')
    return values, free


def _checked_bounds(
    model: TorqueModel, bounds: Optional[Mapping[str, tuple[float, float]]]
) -> np.ndarray:
    found = unbounded(len(model.names))
    for name, pair in (bounds or {}).items():
        if name not in model.names:
            raise UnknownName('parameter', name, model.names)
        low, high = (float(value) for value in pair)
        if not low < high:
            raise ArgumentError('bounds', f'has [{low}, {high}] for "{name}", expected low < high')
        found[model.names.index(name)] = low, high
    return found
