# SPDX-License-Identifier: Apache-2.0
"""What is published while no torque can be computed: hold, zero, or gravity for a time."""

from __future__ import annotations

from typing import Optional

POLICIES = ('auto', 'gravity', 'zero', 'hold')


def policy_in_force(chosen: str, contains_gravity: bool) -> str:
    """
    Return the policy, "gravity", "zero" or "hold".

    Args:
        chosen: One of POLICIES; "auto" is gravity where the torque contains it, else zero.
        contains_gravity: Whether the torque contains gravity.
    """
    if chosen != 'auto':
        return chosen
    return 'gravity' if contains_gravity else 'zero'


class StaleEpisode:
    """
    The time since no torque can be computed.

    Attributes:
        gravity_time: How long gravity is held in full [s].
        ramp_time: How long it then takes to fall to zero [s].
    """

    def __init__(self, gravity_time: float = 2.0, ramp_time: float = 2.0):
        self.gravity_time = gravity_time
        self.ramp_time = ramp_time
        self._began: Optional[float] = None

    @property
    def on(self) -> bool:
        """Whether an episode lasts."""
        return self._began is not None

    def end(self) -> None:
        """Note that a torque has been computed."""
        self._began = None

    def weight(self, now: float) -> float:
        """
        Return the factor on gravity, 1 at first and 0 at the end; the first call begins.

        Args:
            now: Steady time [s].
        """
        if self._began is None:
            self._began = now
        over = now - self._began - self.gravity_time
        if over <= 0.0:
            return 1.0
        return max(0.0, 1.0 - over / self.ramp_time) if self.ramp_time > 0.0 else 0.0
