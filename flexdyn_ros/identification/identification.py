# SPDX-License-Identifier: Apache-2.0
"""The result of an identification: robot, parameters with deviations, torques, statistics."""

from __future__ import annotations

from dataclasses import dataclass, field
import os
from pathlib import Path
from typing import NamedTuple, Sequence, Union

from flexdyn_ros.identification.base_parameters import Regrouping
from flexdyn_ros.identification.friction import DESCRIBED, FrictionShape
from flexdyn_ros.identification.least_squares import Fit, least_squares, Rows
from flexdyn_ros.identification.motion import Motion, require_motion
from flexdyn_ros.identification.signals import resampled, SignalPath, stretches
from flexdyn_ros.identification.torque_model import TorqueModel
from flexdyn_ros.model.records.robot import Robot
import numpy as np

# A condition number, and a part of a parameter's size, beyond which excitation is poor.
POOR_CONDITION = 300.0
UNCERTAIN = 0.5
STANDSTILL = 1e-3  # [rad/s | m/s]


class Estimate(NamedTuple):
    """A parameter: its value, its standard deviation (zero where it was given), its unit."""

    value: float
    deviation: float
    unit: str = ''


@dataclass
class Statistics:
    """
    Quality of a fit.

    Attributes:
        condition: Condition number of the weighted regressor, columns scaled to one length.
        samples: Number of rows.
        torque_rms: Of the measured torque of each coordinate, (n,) [N m | N].
        residual_rms: Of the least-squares fit, filtered.
        physical_rms: Of the physical parameters.
        described_rms: Of the description.
        cross_validation: By motion: its residual after a fit without it, (n,) [N m | N]; empty
            for one motion.
    """

    condition: float
    samples: int
    torque_rms: np.ndarray
    residual_rms: np.ndarray
    physical_rms: np.ndarray
    described_rms: np.ndarray
    cross_validation: list[np.ndarray] = field(default_factory=list)

    @classmethod
    def of(
        cls, rows: Sequence[Rows], fit: Fit, values: np.ndarray, base: np.ndarray,
        described: np.ndarray,
    ) -> Statistics:
        """Return the statistics of a fit, of physical values, base parameters, description."""
        free = np.any([np.any(part.matrix != 0.0, axis=(0, 1)) for part in rows], axis=0)
        return cls(
            fit.condition, int(sum(part.sound.any(axis=1).sum() for part in rows)),
            _rms([part.measured * part.sound for part in rows], rows),
            _rms([part.residual(base) for part in rows], rows),
            _rms([part.residual(values * free) for part in rows], rows),
            _rms([part.residual(described * free) for part in rows], rows))

    def cross_validate(self, rows: Sequence[Rows], columns: np.ndarray) -> None:
        """Fit without each motion in turn, and keep the residual of that motion."""
        motions = sorted({part.motion for part in rows})
        for left in motions if len(motions) > 1 else ():
            fit = least_squares([part for part in rows if part.motion != left], columns)
            values = np.zeros(rows[0].matrix.shape[2])
            values[columns] = fit.base
            tested = [part for part in rows if part.motion == left]
            self.cross_validation.append(
                _rms([part.residual(values) for part in tested], tested))


@dataclass(eq=False)
class Identification:
    """
    Results of `identify`.

    Attributes:
        model: The unknown parameters.
        values: Their values, (p,) [kg, m, N, N m, s; see `parameters`].
        deviations: Their standard deviations, (p,).
        shapes: Shape of the friction of each joint.
        path: The signal path.
        regrouping: From parameters to base parameters.
        base_values: Base parameters by least squares, (b,).
        base_deviations: Their standard deviations, infinite where nothing excites them.
        free: Whether each parameter was unknown, (p,).
        statistics: Residuals, conditions, cross validation.
        motions: The motions, in the order of the robot.
        solver: Solver of the physical parameters; empty where they need not be physical.
    """

    model: TorqueModel
    values: np.ndarray
    deviations: np.ndarray
    shapes: list[FrictionShape]
    path: SignalPath
    regrouping: Regrouping
    base_values: np.ndarray
    base_deviations: np.ndarray
    free: np.ndarray
    statistics: Statistics
    motions: Sequence[Motion]
    solver: str = ''

    def __post_init__(self) -> None:
        """Make the identified robot."""
        self._robot = self.model.identified(self.values, self.shapes)

    def __repr__(self) -> str:
        """Return the robot's name and the numbers of parameters and motions."""
        return (f'<Identification of "{self.robot.name}": {len(self.base_values)} base '
                f'parameters from {len(self.motions)} motions>')

    @property
    def robot(self) -> Robot:
        """The robot with identified values; offset, load, presliding are no part of it."""
        return self._robot

    @property
    def gains(self) -> dict[str, float]:
        """Factors on the measured torques of the joints, 1 where they were not unknown."""
        found = dict.fromkeys(self.model.coordinates, 1.0)
        names = self.model.names[self.model.gains]
        return {**found, **{name.rpartition('/')[0]: float(value) for name, value in zip(
            names, self.values[self.model.gains])}}

    @property
    def parameters(self) -> dict[str, Estimate]:
        """The unknown parameters by name; those that data leave open are the description's."""
        return {
            name: Estimate(float(value), float(deviation), unit)
            for name, value, deviation, unit, free in zip(
                self.model.names, self.values, self.deviations, self.model.units, self.free)
            if free
        }

    @property
    def base_parameters(self) -> dict[str, Estimate]:
        """The base parameters, by the sums of parameters that they are."""
        return {
            self.regrouping.name(k, self.model.names): Estimate(
                float(value), float(deviation), self.model.units[self.regrouping.columns[k]])
            for k, (value, deviation) in enumerate(zip(self.base_values, self.base_deviations))
        }

    def torque(self, motion: Motion) -> np.ndarray:
        """
        Return the predicted torques at the samples of a motion, (T, n) [N m | N].

        They contain the motion's load, and are those of the joints: measured ones times `gains`.
        The columns are those of the motion. Positions pass the signal path; torques do not. All
        terms of friction are part of it.

        Raises:
            ArgumentError: The motion lacks a coordinate, or has fewer than 50 samples in a row.
            UnknownName: It has a coordinate that the motions of the identification lack.
        """
        require_motion('motion', motion)
        known = motion.ordered(self.model.coordinates, self.model.coordinates)
        times, found = [], []
        for stretch in stretches(known, self.path):
            columns = self.model.sampled(stretch)
            losses = self.model.friction(columns, self.shapes, self.values)
            full = self.model.joined(columns.linear, losses)
            times.append(stretch.t + self.path.delay)
            found.append(columns.known + full @ self.values)
        torque = resampled(motion.t, np.concatenate(times), np.concatenate(found))
        order = motion.names or known.names or ()
        return torque[:, [(known.names or ()).index(name) for name in order]]

    @property
    def warnings(self) -> list[str]:
        """Parameters that stay uncertain, and motions that would help."""
        found = []
        condition = self.statistics.condition
        if condition > POOR_CONDITION:
            found.append(
                f'The condition number of the regressor is {condition:.3g}: the motions excite '
                'the parameters poorly. Record a motion from "flexdyn excite".')
        for joint in self.model.joints:
            at = self.model.coordinates.index(joint.name)
            speeds = np.concatenate([np.gradient(m.q[:, at], m.t + 1e-9 * np.arange(len(m.t)))
                                     for m in self.motions])
            top = np.quantile(np.abs(speeds), 0.99)
            slower = min(np.quantile(speeds, 0.98), -np.quantile(speeds, 0.02))
            if top < STANDSTILL or slower < 0.2 * top:
                found.append(f'Joint "{joint.name}" moves in one direction alone, or hardly. '
                             'Add a motion of it in both directions at several speeds.')
        for name, estimate in self.parameters.items():
            owner, _, term = name.rpartition('/')
            if term in DESCRIBED[:2] and estimate.deviation > UNCERTAIN * estimate.value:
                found.append(f'{name} is uncertain by {estimate.deviation:.3g}. Add a motion of '
                             f'"{owner}" at several constant speeds.')
        for link in self._uncertain_links():
            found.append(f'The inertia of link "{link}" is mostly that of the description. Add a '
                         f'motion that accelerates and turns "{link}" about several axes.')
        return found

    def _uncertain_links(self) -> list[str]:
        """Return the links of which most base parameters are lost in noise."""
        found = []
        for k, link in enumerate(self.model.bodies):
            rows = [row for row, column in enumerate(self.regrouping.columns)
                    if column // 10 == k and column < 10 * len(self.model.bodies)]
            lost = [row for row in rows
                    if self.base_deviations[row] > UNCERTAIN * self._size(row)]
            if len(lost) > 0.7 * len(rows) > 0:
                found.append(link)
        return found

    def _size(self, row: int) -> float:
        """Return the size of a base parameter in the description, without signs."""
        sizes = np.abs(self.regrouping.matrix[row]) @ np.abs(self.model.values)
        return float(max(sizes, abs(self.base_values[row])))

    @property
    def unidentified(self) -> dict[str, list[str]]:
        """The unknown parameters that the motions do not determine, by the reason."""
        matrix, names = self.regrouping.matrix, self.model.names
        alone = np.count_nonzero(matrix, axis=1) == 1
        lost = [self.base_deviations[row] > UNCERTAIN * self._size(row)
                for row in range(len(matrix))]
        found: dict[str, list[str]] = {
            'No torque depends on them': [], 'Torques depend on sums with others alone': [],
            'Noise hides them, as deviations exceed half their size': []}
        nothing, sums, poor = found.values()
        for j in np.flatnonzero(self.free):
            rows = np.flatnonzero(matrix[:, j])
            if not len(rows):
                nothing.append(names[j])
            elif not alone[rows].any():
                sums.append(names[j])
            elif np.all(np.array(lost)[rows]):
                poor.append(names[j])
        return {reason: each for reason, each in found.items() if each}

    def record(self) -> dict[str, object]:
        """Return the result as numbers and text, in the form of the JSON file."""
        statistics, names = self.statistics, self.model.coordinates

        def by_name(values: np.ndarray) -> dict[str, float]:
            return dict(zip(names, values.tolist()))

        return {
            'robot': self.robot.name,
            'signal_path': self.path.record(),
            'friction_terms': {
                joint.name: list(terms)
                for joint, terms in zip(self.model.joints, self.model.terms_of)},
            'friction_shapes': {
                joint.name: vars(shape) for joint, shape in zip(self.model.joints, self.shapes)},
            'parameters': {k: v._asdict() for k, v in self.parameters.items()},
            'base_parameters': {k: v._asdict() for k, v in self.base_parameters.items()},
            'unidentified': self.unidentified,
            'condition': statistics.condition,
            'rows': statistics.samples,
            'solver': self.solver,
            'torque_rms': by_name(statistics.torque_rms),
            'residual_rms': by_name(statistics.residual_rms),
            'residual_rms_physical': by_name(statistics.physical_rms),
            'residual_rms_described': by_name(statistics.described_rms),
            'cross_validation_rms': [by_name(each) for each in statistics.cross_validation],
            'warnings': self.warnings,
        }

    def write(self, folder: Union[str, 'os.PathLike[str]']) -> list[Path]:
        """
        Write the identified URDF, a report with pictures, and a JSON file.

        Args:
            folder: Folder; created if missing.

        Returns:
            The files: <robot>.urdf, report.md, torques_<motion>.png, identification.json.

        Raises:
            FileNotWritten: The folder or a file cannot be written.
            NotYetSupported: The robot does not come from a description.
        """
        from flexdyn_ros.identification.report import write_report

        return write_report(self, folder)


def _rms(residuals: Sequence[np.ndarray], rows: Sequence[Rows]) -> np.ndarray:
    """Return root mean squares over the rows that are used, (n,)."""
    counts = np.sum([part.sound.sum(axis=0) for part in rows], axis=0)
    squares = np.sum([(each**2).sum(axis=0) for each in residuals], axis=0)
    return np.sqrt(squares / np.maximum(counts, 1))
