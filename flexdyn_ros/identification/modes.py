# SPDX-License-Identifier: Apache-2.0
"""
Modes of vibration from recorded signals: frequency, damping ratio and participation.

Signals are any that the vibration moves: joint positions or torques, strain gauges, an IMU at the
tip. Without an input they are free decays. Inputs are, for instance, a chirp or a step of a
torque. Each mode responds to them by (a s + b) / (s^2 + 2 zeta omega s + omega^2). Amplitudes are
linear, so that frequencies and dampings alone are sought (variable projection: Golub and Pereyra,
1973). Modes are added one by one, from a grid, and refined together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

from flexdyn_ros.arguments import real_numbers, real_vector, refuse_infinite, whole_number
from flexdyn_ros.errors import ArgumentError
import numpy as np
from numpy.typing import ArrayLike

FREQUENCIES, DAMPINGS = 400, (0.003, 0.01, 0.03, 0.1)  # of the grid
GAIN = 0.05  # part of the residual that a further mode must take away
MOST = 10  # modes that are tried where their number is not given
SHORTEST = 20  # samples


@dataclass(frozen=True)
class VibrationMode:
    """
    A mode with standard deviations.

    Attributes:
        frequency: Undamped [Hz].
        damping_ratio: [1].
        participation: Of each signal, complex, (m,): the part Re(p exp(lambda t)) of a free decay.
            With inputs it is the residue of each signal by each input, (m, k).
        frequency_deviation: [Hz].
        damping_deviation: [1].
    """

    frequency: float
    damping_ratio: float
    participation: np.ndarray
    frequency_deviation: float
    damping_deviation: float


def identify_modes(
    t: ArrayLike, signals: ArrayLike, inputs: Optional[ArrayLike] = None,
    count: Optional[int] = None, band: Optional[tuple[float, float]] = None,
) -> list[VibrationMode]:
    """
    Return the modes that signals contain, by rising frequency.

    Args:
        t: Even times, (T,) [s].
        signals: Shape (T, m) or (T,), each in its own unit.
        inputs: The excitation, (T, k) or (T,), constant between samples; None for free decays.
        count: Number of modes; by default each lowers the residual by 5 percent at least.
        band: Least and greatest frequency [Hz]; by default from 1.5 periods in the record to
            40 % of the rate.

    Raises:
        ArgumentError: Times are not even, shapes do not fit, or a value is not finite.
    """
    times = real_numbers('t', t, '(T,)')
    if times.ndim != 1:
        raise ArgumentError('t', f'has shape {times.shape}, expected (T,)')
    y, u = _columns('signals', signals, len(times)), _columns('inputs', inputs, len(times))
    steps = np.diff(times)
    if len(times) < SHORTEST or not np.ptp(steps) < 1e-3 * steps.mean():
        raise ArgumentError(
            't', f'is short or uneven, expected equal steps and {SHORTEST} samples')
    if not y.shape[1]:
        raise ArgumentError('signals', 'has no column, expected one a signal')
    if count is not None and whole_number('count', count) > len(times) // 10:
        raise ArgumentError('count', f'is {count!r}, expected 1 to {len(times) // 10}')
    rate = 1.0 / steps.mean()
    low, high = 1.5 / (times[-1] - times[0]), 0.4 * rate
    if band is not None:
        low, high = real_vector('band', band, 2)
    if not 0.0 < low < high <= 0.5 * rate:
        raise ArgumentError('band', f'is {(low, high)}, expected 0 < low < high <= {0.5 * rate:g}')
    if not np.ptp(y, axis=0).all():
        raise ArgumentError('signals', 'has a column that does not change. Remove it')
    fit = _Fit(y / np.std(y, axis=0), u, steps.mean())
    grid = np.geomspace(low, high, FREQUENCIES)
    found = np.zeros((0, 2))
    left = fit.residual(found)
    for _ in range(count or MOST):
        tried = fit.refined(np.vstack([found, fit.best(found, grid)]), low, high)
        rest = fit.residual(tried)
        enough = count is None and np.sum(rest**2) > (1.0 - GAIN) ** 2 * np.sum(left**2)
        if enough:
            break
        found, left = tried, rest
    found = found[np.argsort(found[:, 0])]
    return fit.modes(found, np.std(y, axis=0))


def _columns(argument: str, values: Optional[ArrayLike], count: int) -> np.ndarray:
    """Return values as columns, (T, m)."""
    if values is None:
        return np.zeros((count, 0))
    found = np.array(real_numbers(argument, values, '(T, m)'), dtype=float)
    found = found[:, None] if found.ndim == 1 else found
    if found.ndim != 2 or len(found) != count:
        raise ArgumentError(argument, f'has shape {found.shape}, expected {count} rows')
    refuse_infinite(argument, found)
    return found


class _Fit:
    """Least squares of signals (T, m) by modes of frequency [Hz] and damping ratio, (K, 2)."""

    def __init__(self, y: np.ndarray, u: np.ndarray, step: float):
        self._y, self._u, self._step = y, u, step
        # Rest positions, and the direct response to an input.
        self._still = np.column_stack([np.ones(len(y)), u])

    def _of(self, mode: Sequence[float]) -> np.ndarray:
        """Return the columns of one mode: free motion, then the response to each input."""
        from scipy.signal import lfilter

        omega, zeta = 2.0 * np.pi * mode[0], min(max(mode[1], 1e-6), 0.95)
        rate = omega * self._step * (-zeta + 1j * np.sqrt(1.0 - zeta**2))
        pole, decay = np.exp(rate), np.exp(rate * np.arange(len(self._y)))
        columns = [decay.real, decay.imag]
        for each in self._u.T:
            answer = lfilter([0.0, 1.0], [1.0, -pole], each.astype(complex))
            columns += [answer.real, answer.imag]
        return np.column_stack(columns)

    def _matrix(self, modes: np.ndarray) -> np.ndarray:
        return np.column_stack([self._still, *(self._of(mode) for mode in modes)])

    def residual(self, modes: np.ndarray) -> np.ndarray:
        """Return the part of the signals that the modes do not span, (T, m)."""
        basis = np.linalg.qr(self._matrix(modes))[0]
        return self._y - basis @ (basis.T @ self._y)

    def best(self, modes: np.ndarray, grid: np.ndarray) -> np.ndarray:
        """Return the mode of the grid that lowers the residual of some modes most, (2,)."""
        basis = np.linalg.qr(self._matrix(modes))[0]
        rest = self._y - basis @ (basis.T @ self._y)
        candidates = np.array([(f, z) for f in grid for z in DAMPINGS])
        scores = []
        for candidate in candidates:
            own = self._of(candidate)
            inner, right = basis.T @ own, own.T @ rest
            inverse = np.linalg.pinv(own.T @ own - inner.T @ inner, 1e-9, hermitian=True)
            scores.append(np.sum(right * (inverse @ right)))
        return candidates[int(np.argmax(scores))]

    def refined(self, modes: np.ndarray, low: float, high: float) -> np.ndarray:
        """Return the modes after nonlinear least squares on frequencies and dampings."""
        from scipy.optimize import least_squares

        ends = np.array([[np.log(low), 1e-5], [np.log(high), 0.9]])
        start = np.column_stack([np.log(modes[:, 0]), modes[:, 1]])
        start = np.clip(start, ends[0] + 1e-9, ends[1] - 1e-9)
        found = least_squares(
            lambda x: self.residual(self._modes(x)).ravel(), start.ravel(),
            bounds=np.tile(ends, (1, len(modes))), x_scale=np.tile([0.01, 0.01], len(modes)))
        return self._modes(found.x)

    @staticmethod
    def _modes(x: np.ndarray) -> np.ndarray:
        pairs = x.reshape(-1, 2)
        return np.column_stack([np.exp(pairs[:, 0]), pairs[:, 1]])

    def modes(self, found: np.ndarray, scale: np.ndarray) -> list[VibrationMode]:
        """Return the modes with participations, in units of signals, and deviations."""
        rest, x = self.residual(found), found.ravel()
        slopes = []
        for k, value in enumerate(x):
            step = 1e-6 * max(abs(value), 1e-3)
            moved = x.copy()
            moved[k] += step
            slopes.append((self.residual(moved.reshape(-1, 2)) - rest).ravel() / step)
        # Each signal has noise of its own.
        free = len(rest) - self._matrix(found).shape[1]
        noise = np.sqrt(np.sum(rest**2, axis=0) / max(free, 1)) + 1e-300
        jacobian = np.array(slopes).reshape(len(x), *rest.shape) / noise
        normal = np.einsum('atm,btm->ab', jacobian, jacobian)
        deviations = np.sqrt(np.diag(np.linalg.pinv(normal))).reshape(-1, 2)
        amplitudes = np.linalg.lstsq(self._matrix(found), self._y, rcond=None)[0] * scale
        own = amplitudes[self._still.shape[1] :].reshape(len(found), -1, 2, len(scale))
        shapes = own[:, :, 0] - 1j * own[:, :, 1]
        return [
            VibrationMode(
                float(mode[0]), float(mode[1]),
                shape[0] if shape.shape[0] == 1 else shape[1:].T, float(spread[0]),
                float(spread[1]))
            for mode, shape, spread in zip(found, shapes, deviations)]
