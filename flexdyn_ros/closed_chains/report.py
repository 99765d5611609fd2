# SPDX-License-Identifier: Apache-2.0
"""What the loops of a robot do at one configuration, in numbers and words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LoopReport:
    """
    The loops of a robot at one configuration.

    Attributes:
        constraints: Names of the constraints, `<loop>/tx` and so on.
        rank: Number of independent ones here.
        usual_rank: The same at closed configurations near by.
        degrees_of_freedom: Independent motions that the loops leave, modes counted.
        actuated: Number of actuated joint coordinates.
        dependent: Names of the constraints that take part in a dependence.
        largest_gap: Largest gap of a constraint [m | rad].
    """

    constraints: tuple[str, ...]
    rank: int
    usual_rank: int
    degrees_of_freedom: int
    actuated: int
    dependent: tuple[str, ...]
    largest_gap: float

    @property
    def redundant(self) -> int:
        """Number of constraints that repeat others, near by too."""
        return len(self.constraints) - self.usual_rank

    @property
    def singular(self) -> bool:
        """Whether constraints are dependent here that are independent near by."""
        return self.rank < self.usual_rank

    def __str__(self) -> str:
        """Return a sentence or two."""
        text = (
            f'{len(self.constraints)} constraints of rank {self.rank}, '
            f'{self.degrees_of_freedom} degrees of freedom, {self.actuated} of the joint '
            'coordinates actuated'
        )
        if self.redundant:
            text += (
                f'; {self.redundant} of them are redundant, and constraint forces are the '
                'smallest possible'
            )
        if self.singular:
            text += f'; singular here: the rank is {self.usual_rank} at nearby configurations'
        return text
