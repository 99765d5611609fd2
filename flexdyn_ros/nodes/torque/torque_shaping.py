# SPDX-License-Identifier: Apache-2.0
"""Bounds on changes of a published torque: soft start, rate limit, ramps, and the stale policy."""

from __future__ import annotations

from typing import Optional

import numpy as np


class TorqueShaping:
    """
    Shapes computed torques; torques that stop the arm do not pass here.

    Without any of the three a torque passes bit for bit. A soft start or a ramp that has begun
    keeps its time.

    Attributes:
        soft_start: Time over which torques go from the last published one, zero at activation,
            to the computed one [s]; 0 for none.
        rate_limit: Largest change of a torque [N m/s | N/s]; 0 for none.
        change_time: Time over which the step that a changed model makes is spread [s].
        published: The last published torque, shape (n,) [N m | N]; None before the first.
    """

    def __init__(self, soft_start: float = 0.0, rate_limit: float = 0.0, change_time: float = 0.0):
        self.soft_start = soft_start
        self.rate_limit = rate_limit
        self.change_time = change_time
        self.begin()

    def begin(self) -> None:
        """Discard the whole state, as at activation."""
        self._changed = False
        self.published: Optional[np.ndarray] = None
        self._computed: Optional[np.ndarray] = None
        self._published_at = 0.0
        self.interrupt()

    def interrupt(self) -> None:
        """Note that no torque is computed; the next one starts softly from the published one."""
        self._interrupted = True
        # Begin [s], time [s], and torque at the begin.
        self._soft: Optional[tuple[float, float, np.ndarray]] = None
        self._ramp: Optional[tuple[float, float, np.ndarray]] = None

    def change(self) -> None:
        """Note that the next torque comes from a changed model."""
        self._changed = True

    def shaped(self, torque: np.ndarray, now: float) -> np.ndarray:
        """
        Return the torque to publish, before saturation.

        Args:
            torque: Computed torque, shape (n,) [N m | N].
            now: Steady time [s].
        """
        last = np.zeros(len(torque)) if self.published is None else self.published
        if self._interrupted:
            self._interrupted, self._computed = False, self.published
            self._published_at = now  # torques on hold have not changed meanwhile
            if self.soft_start > 0.0:
                self._soft = now, self.soft_start, last
        torque = self._over_change(torque, now)
        if self._soft is not None:
            began, time, start = self._soft
            if now - began < time:
                torque = start + (now - began) / time * (torque - start)
            else:
                self._soft = None
        if self.rate_limit > 0.0:
            step = self.rate_limit * (now - self._published_at)
            torque = np.clip(torque, last - step, last + step)
        return torque

    def _over_change(self, torque: np.ndarray, now: float) -> np.ndarray:
        if self._changed and self._computed is not None and self.change_time > 0.0:
            # The rest of an earlier ramp is part of the published torque.
            self._ramp = now, self.change_time, self._computed - torque
        self._changed = False
        if self._ramp is not None:
            began, time, offset = self._ramp
            left = 1.0 - (now - began) / time
            if left > 0.0:
                torque = torque + left * offset
            else:
                self._ramp = None
        self._computed = torque
        return torque

    def note(self, torque: np.ndarray, now: float) -> None:
        """
        Note the published torque, shaped or not.

        Args:
            torque: Shape (n,) [N m | N].
            now: Steady time [s].
        """
        self.published, self._published_at = torque, now


def policy_in_force(chosen: str, contains_gravity: bool) -> str:
    """
    Return the policy, "gravity", "zero" or "hold".

    Args:
        chosen: "gravity", "zero", "hold", or "auto", which is gravity where the torque contains
            it, else zero.
        contains_gravity: Whether the torque contains gravity.
    """
    if chosen != 'auto':
        return chosen
    return 'gravity' if contains_gravity else 'zero'


class StaleEpisode:
    """
    The time since no torque can be computed.

    Attributes:
        gravity_time: Time in which gravity is held in full [s].
        ramp_time: Time in which it then falls to zero [s].
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
