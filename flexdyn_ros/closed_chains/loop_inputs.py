# SPDX-License-Identifier: Apache-2.0
"""Accelerations and forces that are given for loops, by loop."""

from __future__ import annotations

from copy import copy
from typing import Mapping, Optional

from flexdyn_ros.arguments import real_matrix, real_numbers, real_vector, refuse_unmapped
from flexdyn_ros.errors import require_known
from flexdyn_ros.model.records.robot import Robot
import numpy as np


class LoopInputs:
    """
    Accelerations and forces that are given for loops.

    Attributes:
        accelerations: Of frame1 against frame2 in the constrained directions, (n,).
        forces: On frame1 in the free directions, (n_free,), or None for none.
        coupling: Forces in the free directions for unit constraint forces, (n_free, n), or None.
    """

    def __init__(
        self, robot: Robot, accelerations: Optional[Mapping], forces: Optional[Mapping]
    ):
        """
        Read both mappings from names of loops.

        Args:
            robot: The robot.
            accelerations: To accelerations in the loop's constrained directions.
            forces: To forces in its free directions: numbers, or a matrix that gives them from
                the constraint forces.

        Raises:
            ArgumentError: A value has the wrong shape.
            UnknownName: There is no such loop.
        """
        n = len(robot.constraint_names)
        self.accelerations = np.zeros(n)
        self.forces: Optional[np.ndarray] = None
        self.coupling: Optional[np.ndarray] = None
        prescribed = _checked_by_loop(robot, 'loop_accelerations', accelerations)
        applied = _checked_by_loop(robot, 'loop_forces', forces)
        row = column = 0
        n_free = 6 * len(robot.loops) - n
        for loop in robot.loops:
            size, free = len(loop.constrain), len(loop.free)
            if loop.name in prescribed:
                name = f'loop_accelerations["{loop.name}"]'
                values = real_vector(name, prescribed[loop.name], size)
                self.accelerations[row : row + size] = values
            if loop.name in applied:
                name, value = f'loop_forces["{loop.name}"]', applied[loop.name]
                if real_numbers(name, value, f'({free},) or ({free}, {size})').ndim == 2:
                    if self.coupling is None:
                        self.coupling = np.zeros((n_free, n))
                    block = real_matrix(name, value, (free, size))
                    self.coupling[column : column + free, row : row + size] = block
                else:
                    if self.forces is None:
                        self.forces = np.zeros(n_free)
                    self.forces[column : column + free] = real_vector(name, value, free)
            row, column = row + size, column + free

    def with_accelerations(self, accelerations: np.ndarray) -> LoopInputs:
        """Return the same with accelerations added, (n,)."""
        shifted = copy(self)
        shifted.accelerations = self.accelerations + accelerations
        return shifted


def _checked_by_loop(robot: Robot, argument: str, values: Optional[Mapping]) -> Mapping:
    refuse_unmapped(argument, values)
    if values is None:
        return {}
    require_known('loop', values, [loop.name for loop in robot.loops])
    return values
