# SPDX-License-Identifier: Apache-2.0
"""
Errors of accelerations by the recursive and by the dense solution, on one model.

The model's numbers are rounded to single precision first, and so are state and forces. Then single
precision is compared with double, and double with extended precision, by the recursive solution.
The remaining differences are the errors of each solution's arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flexdyn_ros.model.records.robot import Robot
import numpy as np
from validation.mohan_saha.two_solutions import DENSE, RECURSIVE, SOLUTIONS, TwoSolutions
from validation.studies import apart

SINGLE, DOUBLE = 'single', 'double'
_NUMBERS: dict[str, Any] = {SINGLE: np.float32, DOUBLE: float, 'extended': np.longdouble}


def precisions() -> list[str]:
    """Return the precisions that a higher one can judge on this machine."""
    extended = np.finfo(np.longdouble).eps < 0.01 * np.finfo(float).eps
    return [SINGLE, DOUBLE] if extended else [SINGLE]


@dataclass(frozen=True)
class Errors:
    """
    Errors of the accelerations, largest over largest acceleration.

    Attributes:
        errors: By precision and solution, one a sample.
        indefinite: By precision, the number of samples with a pivot of the dense solution that
            is not positive: there the mass matrix, as computed, is none.
        condition: Median condition number of the mass matrix.
    """

    errors: dict[tuple[str, str], np.ndarray]
    indefinite: dict[str, int]
    condition: float

    def median(self, precision: str, solution: str) -> float:
        """Return the median error."""
        return float(np.median(self.errors[precision, solution]))

    def ratio(self, precision: str) -> float:
        """Return the ratio of the dense solution's median error to the other's."""
        return self.median(precision, DENSE) / self.median(precision, RECURSIVE)


def solution_errors(robot: Robot, samples: int, seed: int = 1, bend: float = 0.05) -> Errors:
    """
    Return the errors in random states under random forces.

    Args:
        robot: A plane arm.
        samples: Number of states.
        seed: Of the random numbers.
        bend: Standard deviation of the modal coordinates [m].
    """
    judged = precisions()
    names = list(_NUMBERS)[: len(judged) + 1]
    parts = {name: TwoSolutions(robot, _NUMBERS[name], np.float32) for name in names}
    generator = np.random.default_rng(seed)
    errors: dict[tuple[str, str], list[float]] = {
        (name, solution): [] for name in judged for solution in SOLUTIONS
    }
    indefinite = dict.fromkeys(judged, 0)
    conditions = []
    joints = robot.n_joints
    for _ in range(samples):
        state = generator.normal(size=(2, robot.nv))
        state[0, :joints] = generator.uniform(-1.5, 1.5, size=joints)
        state[0, joints:] *= bend
        q, forces = state.astype(np.float32).astype(float).tolist()
        matrix = parts[DOUBLE].mass_matrix(q)
        conditions.append(np.linalg.cond(matrix))
        for name, higher in zip(names, names[1:]):
            number, judge = _NUMBERS[name], _NUMBERS[higher]
            truth = np.array(parts[higher].solve(
                RECURSIVE, [judge(x) for x in q], [judge(x) for x in forces]
            ))
            for solution in SOLUTIONS:
                with np.errstate(all='ignore'):
                    found = np.array(parts[name].solve(
                        solution, [number(x) for x in q], [number(x) for x in forces]
                    ))
                    error = apart(found, truth)
                errors[name, solution].append(float(error))
            try:
                np.linalg.cholesky(parts[name].mass_matrix([number(x) for x in q]))
            except np.linalg.LinAlgError:
                indefinite[name] += 1
    return Errors(
        {key: np.array(values) for key, values in errors.items()}, indefinite,
        float(np.median(conditions)),
    )
