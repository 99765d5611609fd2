# SPDX-License-Identifier: Apache-2.0
"""
A trajectory of a rigid arm as a smooth motion from rest to rest.

Points are joined as joint_trajectory_controller joins them: by quintics where they have
velocities and accelerations, by cubics with velocities alone, else by straight lines. A motion
with jumps up to its third derivative passes through moving averages. Each makes one more
derivative continuous, and leaves no vibration whose period is its width (L. Biagiotti and
C. Melchiorri, FIR filters for online trajectory planning with time- and frequency-domain
specifications, Control Engineering Practice 20, 2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.tip_tracking.tip_path import rest_to_rest
import numpy as np
from scipy.interpolate import BPoly, BSpline, make_interp_spline

SMOOTH = 4  # derivatives that the motor positions of undamped elastic joints need
JUMP = 0.02  # of a derivative, of its largest value, that counts as continuous
STEPS = 2000  # samples of a motion, at least
MOST_STEPS = 400_000  # those with the times before and after it, at most
LONGEST_STEP = 2e-3  # between samples [s]
DEGREE = 7
AT_REST = 1e-4  # largest velocity [rad/s | m/s]
LARGEST = (1e4, 1e4, 1e6)  # plausible position, velocity, acceleration


class CorrectionRefused(FlexdynError):
    """
    A trajectory has no corrected positions within the bounds.

    The message names joint, value [rad | m], time [s] and remedy.
    """


@dataclass(frozen=True)
class TrajectoryPoints:
    """
    Points of a trajectory, as its sender gives them.

    Attributes:
        t: Ascending times, (T,) [s].
        positions: (T, n) [rad | m].
        velocities: (T, n) [rad/s | m/s], or None.
        accelerations: (T, n) [rad/s^2 | m/s^2], or None; only with velocities.
    """

    t: np.ndarray
    positions: np.ndarray
    velocities: Optional[np.ndarray] = None
    accelerations: Optional[np.ndarray] = None

    def require_shapes(self, joints: int) -> None:
        """
        Refuse points whose times do not ascend, and rows without a number for each joint.

        Raises:
            ArgumentError: Naming the fault.
        """
        t = np.asarray(self.t)
        if t.ndim != 1 or not len(t) or not (
                np.isfinite(t).all() and t[0] >= 0.0 and (np.diff(t) > 0.0).all()):
            raise ArgumentError('points', 'has times that do not ascend from zero on. Order them')
        for name in ('positions', 'velocities', 'accelerations'):
            shape, expected = np.shape(getattr(self, name)), (len(t), joints)
            if getattr(self, name) is not None and shape != expected:
                raise ArgumentError(
                    name, f'has shape {shape}, expected {expected}: a row for each time, a column '
                    'for each joint')
        if self.velocities is None and self.accelerations is not None:
            raise ArgumentError('points', 'has accelerations without velocities. Give both')

    def after(self, start: np.ndarray) -> TrajectoryPoints:
        """Return the points behind one at rest at time zero, where they begin later than it."""
        if self.t[0] <= 0.0:
            return self
        rest = np.zeros_like(start)
        rows = [
            None if each is None else np.vstack([first, each]) for first, each in (
                (start, self.positions), (rest, self.velocities), (rest, self.accelerations))]
        return TrajectoryPoints(np.append(0.0, self.t), rows[0], *rows[1:])

    def polynomial(self) -> BPoly:
        """
        Return the motion through the points.

        Raises:
            CorrectionRefused: The first or the last point is not at rest, there is one point
                alone, or a number is not plausible.
        """
        given = [each for each in (self.positions, self.velocities, self.accelerations)
                 if each is not None]
        for row, largest in zip(given, LARGEST):
            if not (np.abs(row) <= largest).all():
                raise CorrectionRefused(f'its numbers exceed {largest:g}. Check their units')
        for k, which in ((0, 'first'), (-1, 'last')):
            if self.velocities is not None and np.abs(self.velocities[k]).max() > AT_REST:
                raise CorrectionRefused(
                    f'the {which} point has the velocities {self.velocities[k].tolist()}. '
                    'Begin and end at rest')
        if len(self.t) < 2:
            raise CorrectionRefused('it has one point at time zero. Add later points')
        return joined(self.t, *given)


def joined(t: np.ndarray, *rows: np.ndarray) -> BPoly:
    """
    Return the polynomials of least degree through points, as `BPoly.from_derivatives` does.

    Args:
        t: Ascending times, (T,) [s].
        rows: Positions and up to two derivatives, (T, n) each.
    """
    h, degree = np.diff(t)[:, np.newaxis], 2 * len(rows) - 1
    left, right = [rows[0][:-1]], [rows[0][1:]]
    if len(rows) > 1:
        left.append(left[0] + h / degree * rows[1][:-1])
        right.append(right[0] - h / degree * rows[1][1:])
    if len(rows) > 2:
        curved = h**2 / (degree * (degree - 1))
        left.append(2.0 * left[1] - left[0] + curved * rows[2][:-1])
        right.append(2.0 * right[1] - right[0] + curved * rows[2][1:])
    return BPoly(np.stack([*left, *reversed(right)]), t)


def missing_smoothness(polynomial: BPoly) -> int:
    """Return the number of derivatives up to SMOOTH that a motion lacks; rest is around it."""
    t = polynomial.x
    width = 1e-9 * np.diff(t)
    scale = np.diff(t)[:, np.newaxis] * np.linspace(0.0, 1.0, 5)
    for order in range(1, SMOOTH):
        derivative = polynomial.derivative(order)
        largest = np.abs(derivative(t[:-1, np.newaxis] + scale)).max()
        rest = np.zeros((1, polynomial.c.shape[2]))
        jumps = np.vstack([derivative(t[:-1] + width), rest]) - np.vstack(
            [rest, derivative(t[1:] - width)])
        if largest > 0.0 and np.abs(jumps).max() > JUMP * largest:
            return SMOOTH + 1 - order
    return 0


class ReferenceMotion:
    """
    A smooth motion of the joints of a rigid arm, at rest before zero and after its duration.

    Attributes:
        scale: Factor on its time [1].
        duration: Of the whole motion [s].
        widths: Of the moving averages [s].
        delay: Of the motion by these, half the sum of the widths [s].
    """

    def __init__(
        self, polynomial: BPoly, scale: float, widths: Sequence[float], offset: np.ndarray,
        blend_time: float, margin: float,
    ):
        """
        Sample and average.

        Args:
            polynomial: The motion through the points, from time zero.
            scale: Factor on its times [1].
            widths: Of moving averages [s].
            offset: Of the start from the first point, (n,); it fades out smoothly.
            blend_time: Time over which it does, before the stretch [s].
            margin: Time before and after the motion that can be evaluated too [s].

        Raises:
            CorrectionRefused: It takes more than MOST_STEPS samples.
        """
        self.scale, self.widths = scale, tuple(widths)
        self._given = scale * float(polynomial.x[-1])
        self.duration = self._given + sum(widths)
        self.delay = 0.5 * sum(widths)
        h = min(LONGEST_STEP, self.duration / STEPS)
        # Samples from before the motion, where averages begin, to after its end.
        before = margin + 10.0 * h
        if self.duration + 2.0 * before > MOST_STEPS * h:
            raise CorrectionRefused(
                f'it lasts {self.duration:.3g} s, and damped joints settle in {margin:.3g} s: '
                f'that takes more than {MOST_STEPS} samples. Check its times, and the damping')
        t = np.arange(-before, self.duration + before + h, h)
        samples = polynomial(np.clip(t / scale, 0.0, polynomial.x[-1]))
        for width in widths:
            samples = _averaged(samples, width / h)
        share = np.clip(t / min(scale * blend_time, self.duration), 0.0, 1.0)
        fade = 1.0 - np.polyval(rest_to_rest(SMOOTH), share)
        samples = samples + fade[:, np.newaxis] * offset
        self._splines: list[BSpline] = [make_interp_spline(t, samples, k=DEGREE)]
        for _ in range(SMOOTH):
            self._splines.append(self._splines[-1].derivative())

    def __call__(self, t: np.ndarray, order: int = 0) -> np.ndarray:
        """Return positions or a derivative of them at times, (T, n)."""
        return np.asarray(self._splines[order](t))

    def given_times(self, t: np.ndarray) -> np.ndarray:
        """Return the times of the trajectory as given whose points are reached at t, (T,) [s]."""
        return np.asarray(np.clip(t - self.delay, 0.0, self._given) / self.scale)


def _averaged(samples: np.ndarray, width: float) -> np.ndarray:
    """Return means over the last `width` steps, (T, n); before the first sample it stands."""
    integral = np.cumsum(0.5 * (samples[1:] + samples[:-1]), axis=0)
    integral = np.vstack([np.zeros((1, samples.shape[1])), integral])
    at = np.arange(len(samples)) - width
    low = np.clip(np.floor(at).astype(int), 0, len(samples) - 2)
    share = np.clip(at - low, 0.0, 1.0)[:, np.newaxis]
    # The integral of the line between two samples.
    start = integral[low] + share * (
        samples[low] + 0.5 * share * (samples[low + 1] - samples[low]))
    outside = np.clip(-at, 0.0, None)[:, np.newaxis] * samples[0]
    return np.asarray((integral - start + outside) / width)
