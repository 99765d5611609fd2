# SPDX-License-Identifier: Apache-2.0
"""Computed torques of a recorded motion beside the measured ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from flexdyn_ros.identification.bag import BagRecording
from flexdyn_ros.nodes.arm.joint_motion import JointSample
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
import numpy as np

ORDER = 2  # of the Butterworth filter, applied forwards and backwards
SHORTEST = 3 * (ORDER + 1) + 1  # number of samples that the filter needs


@dataclass(frozen=True)
class ReplayedTorques:
    """
    Computed and measured torques.

    Attributes:
        recording: The motion and the measured torques.
        computed: Shape (T, n) [N m | N].
    """

    recording: BagRecording
    computed: np.ndarray

    def summary(self) -> dict[str, dict[str, Optional[float]]]:
        """
        Return by joint the root mean squares of measured torque and difference, and the slope.

        The slope is that of the line through measured over computed torque (least squares, with
        an offset); None where the computed torque does not change. All are None without efforts.
        """
        found = {}
        for k, name in enumerate(self.recording.names):
            measured, computed = self.recording.effort[:, k], self.computed[:, k]
            known = np.isfinite(measured)
            values: dict[str, Optional[float]] = dict.fromkeys(
                ('measured_rms', 'difference_rms', 'slope'))
            if known.any():
                m, c = measured[known], computed[known]
                values['measured_rms'] = float(np.sqrt(np.mean(m**2)))
                values['difference_rms'] = float(np.sqrt(np.mean((m - c) ** 2)))
                spread = np.var(c)
                if spread > 1e-12 * max(1.0, float(np.mean(c**2))):
                    covariance = np.mean((c - c.mean()) * (m - m.mean()))
                    values['slope'] = float(covariance / spread)
            found[name] = values
        return found


def smoothed(values: np.ndarray, rate: float, cutoff: float) -> np.ndarray:
    """
    Return values through a low-pass filter that shifts nothing in time.

    Args:
        values: Evenly spaced samples, shape (T, n).
        rate: Of the samples [Hz].
        cutoff: Cut-off frequency [Hz].
    """
    from scipy.signal import butter, filtfilt

    if len(values) < SHORTEST or cutoff >= 0.5 * rate:
        return values
    b, a = butter(ORDER, cutoff, fs=rate)
    return filtfilt(b, a, values, axis=0)


def derivative(t: np.ndarray, values: np.ndarray, cutoff: float) -> np.ndarray:
    """
    Return the filtered derivative of samples, shape (T, n).

    Args:
        t: Times, shape (T,) [s].
        values: Shape (T, n).
        cutoff: Cut-off frequency of the filter [Hz].
    """
    even = np.linspace(t[0], t[-1], len(t))
    rate = (len(t) - 1) / (t[-1] - t[0])
    columns = [np.interp(even, t, column) for column in values.T]
    slopes = np.gradient(smoothed(np.array(columns).T, rate, cutoff), even, axis=0)
    return np.array([np.interp(t, even, column) for column in slopes.T]).T


def compare(recording: BagRecording, feed_forward: FeedForward, cutoff: float) -> ReplayedTorques:
    """
    Compute the torques of a recorded motion.

    Velocities that the bag lacks are differentiated positions; accelerations are differentiated
    velocities.

    Args:
        recording: The motion.
        feed_forward: Computes the torques, on the joints of the recording in their order.
        cutoff: Cut-off frequency of the filters [Hz].
    """
    velocities = recording.qd.copy()
    lacking = ~np.isfinite(velocities).all(axis=0)
    if lacking.any():
        velocities[:, lacking] = derivative(recording.t, recording.q[:, lacking], cutoff)
    accelerations = derivative(recording.t, velocities, cutoff)
    feed_forward.reset()
    samples: Any = zip(recording.t, recording.q, velocities, accelerations)
    computed = [feed_forward.torque(JointSample(*sample)) for sample in samples]
    return ReplayedTorques(recording, np.array(computed))
