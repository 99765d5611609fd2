# SPDX-License-Identifier: Apache-2.0
"""The regression of a robot's torques over motions: delay, shapes of friction, base parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Optional, Sequence

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.identification.base_parameters import base_parameters
from flexdyn_ros.identification.friction import (
    FrictionShape,
    PRESLIDING_LENGTHS,
    STRIBECK_VELOCITIES,
)
from flexdyn_ros.identification.identification import Identification, Statistics
from flexdyn_ros.identification.least_squares import (
    Fit,
    information,
    least_squares,
    minimal_change,
    Rows,
)
from flexdyn_ros.identification.motion import Motion
from flexdyn_ros.identification.physical_problem import PhysicalProblem
from flexdyn_ros.identification.semidefinite import solved
from flexdyn_ros.identification.signals import SignalPath, sound_rows, stretches, torque_rows
from flexdyn_ros.identification.torque_model import Columns, TorqueModel
import numpy as np

ROUNDS = 5  # of fits, in which delay, shape of friction and load settle
LONGEST_DELAY = 0.2  # [s]


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
        loads = {motion.load for motion in motions}
        self.regrouping = base_parameters(model, self.shapes, values, free, loads)
        self._refuse_undetermined()
        self.fit: Fit = None  # type: ignore[assignment]
        self.rows: list[Rows] = []

    def _refuse_undetermined(self) -> None:
        """Raise ArgumentError where unknowns have no effect, or samples are too few."""
        columns, payload = self.regrouping.columns, self.model.payload
        if not len(columns):
            raise ArgumentError(
                'robot', 'has no unknown parameter that changes its torques. Fix fewer')
        if payload is not None and self._free[:10].any() and columns.min() >= 10:
            raise ArgumentError(
                'payload', f'is on link "{payload}", which does not move. Name another')
        gains = np.flatnonzero(self._free & np.isin(np.arange(len(self._free)), np.r_[
            self.model.gains]))
        if not np.isin(gains, columns).all():
            raise ArgumentError(
                'gains', 'leaves a common factor of gains and masses open. Add a motion with a '
                'known load, Motion(load=(link, mass, centre)), to one without')
        of_each = np.sum([sound.sum(axis=0) for *_, sound in self._parts], axis=0)
        if of_each.sum() <= len(columns):
            raise ArgumentError(
                'motions', f'leaves {of_each.sum()} equations for {len(columns)} base '
                'parameters: record longer motions, or reduce trim or saturated torques')
        if not of_each.all():
            name = self.model.coordinates[int(np.argmin(of_each))]
            raise ArgumentError(
                'motions', f'leaves no torque of "{name}" below its effort limit: correct the '
                'limit, pass saturation=None, or reduce trim')

    def settle(self, with_delay: bool, progress: Callable[[float], None]) -> None:
        """Fit repeatedly, until delay, shapes of friction and load have settled."""
        choose = not self._settled
        terms = self.model.terms
        shaped = [term for term in ('presliding', 'stribeck') if term in terms]
        gained = bool(np.any(self._free[self.model.gains]))
        rounds = ROUNDS if with_delay or shaped or gained or 'load' in terms else 1
        rounds = min(rounds, 3) if self._settled else rounds
        for number in range(rounds):
            self._fit_once()
            if 0 < number <= len(shaped) and choose:
                self._choose_shape(shaped[number - 1])
            if with_delay and number < rounds - 1:
                self._shift()
            progress((number + 1) / rounds)

    def _fit_once(self) -> None:
        """Fit base parameters with the delay, shapes and loads so far."""
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
        known = known + matrix @ (self._described * ~self._free)
        matrix, gains = self.model.with_gains(
            matrix * self._free, known, self.values, None if self.fit else measured)
        matrix, gained = matrix * self._free, self.model.gains
        right = gains * measured - known + matrix[:, :, gained] @ self.values[gained]
        return Rows(number, matrix, right, gains * measured, sound)

    def _shift(self) -> None:
        """Improve the delay by one Gauss-Newton step, less the part in the span of the columns."""
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
        self, limits: np.ndarray, physical: bool, weight: np.ndarray
    ) -> Identification:
        """Return the identification."""
        model, regrouping = self.model, self.regrouping
        inverse = information(
            self.rows, self._base_values(), self.fit, regrouping.columns, self.path.row_rate)
        covariance = np.linalg.pinv(inverse, hermitian=True)
        unseen = np.diag(inverse) <= 0.0
        deviations = np.where(unseen, np.inf, np.sqrt(np.maximum(np.diag(covariance), 0.0)))
        values, spread, solver = self.values, None, ''
        if physical:
            values, spread, solver = solved(PhysicalProblem(
                regrouping.matrix, self.fit.base, inverse, self._described,
                len(model.bodies), model.positive, self._free, weight, limits))
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
            self.motions, solver)
