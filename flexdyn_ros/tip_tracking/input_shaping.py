# SPDX-License-Identifier: Apache-2.0
"""
Input shapers: impulses that a reference is convolved with, so that one vibration is left at rest.

With the damped period T_d = 2 pi / (w sqrt(1 - z^2)) and K = exp(-z pi / sqrt(1 - z^2)), impulses
lie half a damped period apart. ZV has (1, K) / (1 + K), ZVD its square (N. Singer and W. Seering,
Preshaping command inputs to reduce system vibration, 1990). EI leaves a vibration V at the
modelled frequency for a wider band. Without damping it is ((1 + V) / 4, (1 - V) / 2, (1 + V) / 4)
(W. Singhose, W. Seering and N. Singer, Residual vibration reduction using vector diagrams, 1994).
Damping scales the impulses by powers of K.
"""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.errors import ArgumentError
import numpy as np

KINDS = ('ZV', 'ZVD', 'EI')
TOLERATED = 0.05  # vibration of EI at the modelled frequency [1]


@dataclass(frozen=True)
class Shaper:
    """
    Impulses of a sum of one.

    Attributes:
        times: When, the first at zero, (n,) [s].
        amplitudes: Sizes, (n,).
    """

    times: np.ndarray
    amplitudes: np.ndarray

    @classmethod
    def of(cls, kind: str, pole: complex) -> Shaper:
        """
        Return the shaper for a pole of the closed loop.

        Args:
            kind: One of KINDS.
            pole: With a positive imaginary part [1/s].

        Raises:
            ArgumentError: The kind is unknown, or the pole does not vibrate.
        """
        if kind not in KINDS:
            raise ArgumentError('kind', f'is "{kind}", expected one of {KINDS}')
        if pole.imag <= 0.0:
            raise ArgumentError('pole', f'is {pole}, expected a positive imaginary part')
        half = np.pi / pole.imag
        k = float(np.exp(pole.real * half))
        zv = np.array([1.0, k])
        shape = {
            'ZV': zv, 'ZVD': np.convolve(zv, zv),
            'EI': np.array([1.0 + TOLERATED, 2.0 * (1.0 - TOLERATED) * k,
                            (1.0 + TOLERATED) * k**2]),
        }[kind]
        return cls(half * np.arange(len(shape)), shape / shape.sum())

    def vibration(self, pole: complex) -> float:
        """Return the vibration that it leaves at a pole, of that of one impulse [1]."""
        return float(abs(np.sum(self.amplitudes * np.exp(-pole * self.times)))
                     * np.exp(pole.real * self.times[-1]))

    def shaped(self, t: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
        """
        Return the convolution with samples, held beyond their ends.

        Args:
            t: Ascending times of the samples, (T,) [s].
            values: Samples, (T, n).
            at: Times of the result, (S,) [s].
        """
        shifted = at[:, np.newaxis] - self.times
        return np.stack(
            [np.interp(shifted, t, column) @ self.amplitudes for column in values.T], axis=1)
