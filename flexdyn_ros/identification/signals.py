# SPDX-License-Identifier: Apache-2.0
"""
From the samples of a motion to even samples of position, velocity, acceleration and torque.

Positions pass a Butterworth filter forwards and backwards, which shifts nothing in time, and are
differentiated as quintic splines. Torques and the columns of the regressor pass one and the same
filter and are taken at twice its cut-off ("parallel decimation": Gautier, 1997). White noise is
nearly white again there.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Iterator, Optional

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.identification.motion import Motion, SHORTEST
from flexdyn_ros.model.records.link import Payload
import numpy as np

ORDER = 4
# Samples on the way are taken at this many times the cut-off at most.
OVERSAMPLING = 20.0
# A step this many times the median is a gap, which the filters do not bridge.
GAP = 10.0
# Part of the rate that a cut-off may have at most.
LARGEST = 0.2
ROUNDING = 1e-6  # of ratios of rates


@dataclass(frozen=True)
class SignalPath:
    """
    The choices of the signal path.

    Attributes:
        cutoff: Of the filters [Hz].
        rate: Median rate of the motions [Hz].
        delay: Of the torques against positions [s].
        trimmed: Left out at each end of a motion and of a gap, and around saturation [s].
        saturation: Part of the effort limit beyond which a torque is left out, or None.
    """

    cutoff: float
    rate: float
    delay: float = 0.0
    trimmed: float = 0.0
    saturation: Optional[float] = 0.98

    @property
    def keep(self) -> int:
        """Number of even samples for each one that is computed with."""
        return max(1, int(self.rate / (OVERSAMPLING * self.cutoff) + ROUNDING))

    @property
    def decimation(self) -> int:
        """Number of those for each row of the regression."""
        return max(1, int(self.rate / self.keep / (2.0 * self.cutoff) + ROUNDING))

    @property
    def row_rate(self) -> float:
        """Rate of the regression's rows [Hz]."""
        return self.rate / (self.keep * self.decimation)

    def record(self) -> dict[str, object]:
        """Return the choices by name."""
        return {**asdict(self), 'filter': f'Butterworth of order {ORDER}, both ways',
                'row_rate': self.row_rate}

    def filtered(self, values: np.ndarray, rate: Optional[float] = None) -> np.ndarray:
        """Return even samples through the filter, along the first axis."""
        from scipy.signal import butter, sosfiltfilt

        sections = butter(ORDER, self.cutoff, fs=rate or self.rate, output='sos')
        return sosfiltfilt(sections, values, axis=0)

    def rows(self, values: np.ndarray) -> np.ndarray:
        """Return columns (T, ...) at the computed samples, filtered, at the rows."""
        return self.filtered(values, self.rate / self.keep)[:: self.decimation]


def signal_path(
    motions: list[Motion], cutoff: Optional[float], trim: Optional[float],
    saturation: Optional[float],
) -> SignalPath:
    """Return the choices for some motions; the delay is zero."""
    rate = float(np.median([1.0 / _step(motion.t) for motion in motions]))
    if cutoff is None:
        cutoff = min(10.0, LARGEST * rate)
    elif cutoff > LARGEST * rate:
        raise ArgumentError(
            'cutoff', f'is {cutoff:g} Hz, expected at most a fifth of the rate of samples, '
            f'{LARGEST * rate:.4g} Hz')
    return SignalPath(
        float(cutoff), rate, 0.0, 1.0 / cutoff if trim is None else trim, saturation)


@dataclass(frozen=True)
class Stretch:
    """
    Even samples of a motion without a gap.

    Attributes:
        t: Shape (T,) [s].
        q: Filtered positions, shape (T, n); velocities and accelerations alike.
        qd: Shape (T, n).
        qdd: Shape (T, n).
        places: Measured positions at the full rate, shape (k T, n).
        keep: Number of these for each sample.
        load: Body that a link carries, or None.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    places: np.ndarray
    keep: int
    load: Optional[Payload] = None


def stretches(motion: Motion, path: SignalPath) -> Iterator[Stretch]:
    """Iterate over the parts of a motion between gaps that are long enough."""
    from scipy.interpolate import make_interp_spline

    distinct = _distinct(motion.t)
    t, q = motion.t[distinct], motion.q[distinct]
    qd = None if motion.qd is None else motion.qd[distinct]
    ends = _gaps(t)
    found = False
    for part in np.split(np.arange(len(t)), ends):
        even = np.arange(t[part[0]], t[part[-1]], 1.0 / path.rate)
        if len(even) < SHORTEST * path.keep:
            continue
        found = True
        places = resampled(even, t[part], q[part])
        at = path.filtered(places)
        position = make_interp_spline(even, at, k=5)
        if qd is None:
            rate, change = position(even, 1), position(even, 2)
        else:
            rate = path.filtered(resampled(even, t[part], qd[part]))
            change = make_interp_spline(even, rate, k=5)(even, 1)
        kept = slice(None, None, path.keep)
        yield Stretch(
            even[kept], at[kept], rate[kept], change[kept], places, path.keep, motion.load)
    if not found:
        raise ArgumentError(
            'motions', f'has a motion without {SHORTEST} samples between gaps '
            f'at {path.rate / path.keep:.4g} Hz: record a longer one')


def _distinct(t: np.ndarray) -> np.ndarray:
    """Return whether each sample is kept, (T,): the first of those with one stamp."""
    return np.concatenate([[True], np.diff(t) > 1e-3 * _step(t)])


def _gaps(t: np.ndarray) -> np.ndarray:
    """Return the samples after gaps of times that differ."""
    return np.flatnonzero(np.diff(t) > GAP * _step(t)) + 1


def irregular_stamps(t: np.ndarray) -> tuple[int, int]:
    """Return the numbers of repeated stamps and of gaps in times (T,) [s]."""
    distinct = _distinct(t)
    return int(np.sum(~distinct)), len(_gaps(t[distinct]))


def torque_rows(motion: Motion, stretch: Stretch, path: SignalPath) -> np.ndarray:
    """Return the measured torques at the rows of a stretch, the delay taken off, (R, n)."""
    even = stretch.t[0] + np.arange(len(stretch.places)) / path.rate
    tau = resampled(even + path.delay, motion.t, motion.tau)
    return path.filtered(tau)[:: path.keep * path.decimation]


def sound_rows(
    motion: Motion, stretch: Stretch, path: SignalPath, limits: np.ndarray
) -> np.ndarray:
    """Return whether each row is away from ends, gaps and saturated torques, (R, n)."""
    t = stretch.t[:: path.decimation]
    inside = (t >= t[0] + path.trimmed) & (t <= t[-1] - path.trimmed)
    found = np.repeat(inside[:, None], motion.q.shape[1], axis=1)
    if path.saturation is None:
        return found
    for k, limit in enumerate(limits):
        beyond = motion.t[np.abs(motion.tau[:, k]) >= path.saturation * limit]
        for moment in np.unique(np.round(beyond * path.cutoff) / path.cutoff):
            found[np.abs(t + path.delay - moment) <= path.trimmed, k] = False
    return found


def resampled(at: np.ndarray, t: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the columns of values (T, n) at other times, linear between samples."""
    return np.stack([np.interp(at, t, column) for column in values.T], axis=1)


def _step(t: np.ndarray) -> float:
    """Return the median step between different stamps [s]."""
    steps = np.diff(t)
    steps = steps[steps > 0.0]
    if not len(steps):
        raise ArgumentError('t', 'holds one time alone, expected rising times [s]')
    return float(np.median(steps))
