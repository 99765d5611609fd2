# SPDX-License-Identifier: Apache-2.0
"""
Base parameters: the sums of parameters that torques depend on.

They and their regrouping are found by rank at random states (Gautier, Numerical calculation of
the base inertial parameters of robots, 1991).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Optional, Sequence

from flexdyn_ros.identification.friction import FrictionShape
from flexdyn_ros.identification.signals import Stretch
from flexdyn_ros.identification.torque_model import TorqueModel
from flexdyn_ros.model.records.link import Payload
import numpy as np

# Part of a column that makes a base parameter of its own: descriptions round pi / 2.
INDEPENDENT = 1e-4
RANDOM_STATES = 60
SLOWEST = 3e-3  # scale of their slowest velocities [rad/s | m/s]


@dataclass(frozen=True)
class Regrouping:
    """
    Base parameters: beta = matrix @ theta.

    Attributes:
        columns: The parameters of the robot that stand for the base parameters, (b,).
        matrix: Shape (b, p).
    """

    columns: np.ndarray
    matrix: np.ndarray

    @classmethod
    def of(
        cls, sample: np.ndarray, free: np.ndarray, last: slice = slice(0, 0)
    ) -> Regrouping:
        """
        Return the regrouping by rank.

        Args:
            sample: Regressor at random states, (N, p).
            free: Whether each parameter is unknown, (p,).
            last: Parameters that stand only for columns independent of all others.
        """
        scale = np.linalg.norm(sample, axis=0)
        basis: list[np.ndarray] = []
        columns: list[int] = []
        free = free & (scale > INDEPENDENT * scale.max())
        late = np.isin(np.arange(len(free)), np.r_[last])
        for k in np.concatenate([np.flatnonzero(free & ~late), np.flatnonzero(free & late)]):
            rest = sample[:, k] / scale[k]
            for _ in range(2):  # once more, against rounding
                for each in basis:
                    rest = rest - (each @ rest) * each
            size = np.linalg.norm(rest)
            if size > INDEPENDENT:
                basis.append(rest / size)
                columns.append(int(k))
        matrix = np.zeros((len(columns), sample.shape[1]))
        chosen = sample[:, columns] / scale[columns]
        found = np.linalg.lstsq(chosen, sample[:, free] / scale[free], rcond=None)[0]
        found = found * scale[free] / scale[columns][:, None]
        found[np.abs(found) < INDEPENDENT * scale[free] / scale[columns][:, None]] = 0.0
        matrix[:, free] = found
        return cls(np.array(columns, dtype=int), matrix)

    def name(self, k: int, names: Sequence[str]) -> str:
        """Return a base parameter as a sum of parameters of the robot."""
        row = self.matrix[k]
        others = [j for j in np.flatnonzero(row).tolist() if j != self.columns[k]]
        parts = [names[self.columns[k]]]
        parts += [f'{row[j]:+.4g} {names[j]}' for j in others]
        return ' '.join(parts)


def position_range(model: TorqueModel) -> tuple[np.ndarray, np.ndarray]:
    """Return least and greatest positions of the coordinates, pi where there is no limit."""
    low, high = -np.full(len(model.coordinates), np.pi), np.full(len(model.coordinates), np.pi)
    for joint in model.joints:
        at, limit = model.coordinates.index(joint.name), joint.limit
        if limit.lower is not None and limit.upper is not None and joint.type != 'continuous':
            low[at], high[at] = max(limit.lower, -2.0 * np.pi), min(limit.upper, 2.0 * np.pi)
    return low, high


def base_parameters(
    model: TorqueModel, shapes: Sequence[FrictionShape], values: np.ndarray, free: np.ndarray,
    loads: Iterable[Optional[Payload]] = (None,),
) -> Regrouping:
    """
    Return the base parameters of a model, by rank at random states within the limits.

    Args:
        model: The parameters.
        shapes: Shape of the friction of each joint.
        values: Parameters, (p,).
        free: Whether each is unknown, (p,).
        loads: Of the motions, which make gains of drives identifiable.
    """
    random = np.random.default_rng(0)
    low, high = position_range(model)
    q = low + (high - low) * random.random((RANDOM_STATES, len(low)))
    rates = random.normal(size=(2, *q.shape))
    # Slow ones too, which the terms of friction at low velocity need.
    rates[0] *= np.geomspace(SLOWEST, 1.0, len(q))[:, None]
    found = []
    for load in loads:
        columns = model.sampled(
            Stretch(np.arange(len(q)) * 1.0, q, rates[0], rates[1], q, 1, load))
        full = model.joined(columns.linear, model.friction(columns, shapes, values))
        full = model.with_gains(full, columns.known, values)[0]
        found.append(full.reshape(-1, full.shape[2]))
    return Regrouping.of(np.concatenate(found), free, model.gains)
