# SPDX-License-Identifier: Apache-2.0
"""A motion that stops before its end, on its own path and within the limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Optional

from flexdyn_ros.position_correction.correction import CorrectedMotion
from flexdyn_ros.position_correction.reference_motion import joined
from flexdyn_ros.tip_tracking.tip_path import rest_to_rest
import numpy as np

SHORTEST = 0.05  # time in which a motion stops [s]
LONGER = 1.1  # factor on it while accelerations are too large
MORE = 1.3  # acceleration without a limit, of the largest of the motion
SMOOTH = 2  # derivatives of the rate of time that are continuous


def stopped(
    motion: CorrectedMotion, at: float, max_acceleration: Optional[float] = None
) -> Optional[CorrectedMotion]:
    """
    Return the motion with the motors brought to rest on their path.

    It is None where the motion ends before the limits allow a stop. The rate at which the motion's
    time passes falls smoothly from one to zero. The stop lasts as long as accelerations need to
    stay below the limit.

    Args:
        motion: The motion.
        at: When the stop begins, in its time [s].
        max_acceleration: Limit of the motors [rad/s^2 | m/s^2]; None for 1.3 of the largest that
            each has in the motion itself.
    """
    path = joined(motion.t, motion.positions, motion.velocities, motion.accelerations)
    limits = MORE * np.abs(motion.accelerations).max(axis=0)
    if max_acceleration is not None:
        limits = np.full_like(limits, max_acceleration)
    step = motion.t[-1] / (len(motion.t) - 1)
    duration = SHORTEST
    # Half of the stop's time passes in the motion.
    while at + 0.5 * duration < motion.t[-1]:
        count = int(np.ceil(duration / step)) + 1
        t = np.linspace(0.0, duration, count)
        s, rate, change = _slowing(t, at, duration)
        rates = path(s, 1)
        accelerations = path(s, 2) * rate**2 + rates * change
        if (np.abs(accelerations) <= 1.001 * limits).all():
            before = motion.t < at
            times = np.append(motion.t[before], at + t)
            passed = np.append(motion.t[before], s)
            return replace(
                motion, t=times, positions=path(passed),
                velocities=np.vstack([motion.velocities[before], rates * rate]),
                accelerations=np.vstack([motion.accelerations[before], accelerations]),
                reference=np.stack(
                    [np.interp(passed, motion.t, each) for each in motion.reference.T], axis=1),
                given=np.interp(passed, motion.t, motion.given))
        duration *= LONGER
    return None


def _slowing(
    t: np.ndarray, at: float, duration: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the time that passes in the motion, (T,), its rate and second rate, (T, 1) each."""
    falling, share = np.polysub([1.0], rest_to_rest(SMOOTH)), t / duration
    rate, change = np.polyval(falling, share), np.polyval(np.polyder(falling), share) / duration
    passed = at + duration * np.polyval(np.polyint(falling), share)
    return passed, rate[:, np.newaxis], change[:, np.newaxis]
