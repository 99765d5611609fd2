# SPDX-License-Identifier: Apache-2.0
"""The path that a tip follows: outputs that are prescribed over time, from rest to rest."""

from __future__ import annotations

from math import comb, factorial
from typing import Mapping, Optional, Sequence

from flexdyn_ros.arguments import limited_number, real_matrix, whole_number
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.tip_tracking.static_tracking import equilibrium
from flexdyn_ros.tip_tracking.tip_outputs import COMPONENTS, Outputs
import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline, PPoly

# Highest derivative whose continuity is looked at.
MOST_SMOOTH = 6
# Jump of a derivative, of its largest value, that counts as continuous.
JUMP = 1e-6


class TipPath:
    """
    A motion of a frame from rest to rest.

    Attributes:
        frame: Name of the frame.
        outputs: Prescribed outputs by name: components x, y, z [m] and rx, ry, rz [rad] in the
            root frame, then joints [rad | m].
        polynomial: Their values over time, a `scipy.interpolate.PPoly` of width n [s].
        start: Configuration near which the motion starts, (nq,).
        duration: Of the motion, which starts at zero [s].
        smoothness: Highest order to which derivatives are continuous, rest before and after
            included, at most MOST_SMOOTH.
    """

    def __init__(
        self, frame: str, outputs: Sequence[str], polynomial: PPoly, start: ArrayLike
    ):
        """
        Take a piecewise polynomial of the outputs; see the attributes.

        Raises:
            ArgumentError: The polynomial does not start at zero, or has another width.
        """
        self.frame, self.outputs = str(frame), tuple(outputs)
        self.polynomial, self.start = polynomial, np.array(start, dtype=float)
        at = polynomial.x
        if at[0] != 0.0 or polynomial.c.shape[2:] != (len(self.outputs),):
            raise ArgumentError(
                'polynomial', f'starts at {at[0]:.3g} s with values of shape '
                f'{polynomial.c.shape[2:]}, expected 0 s and ({len(self.outputs)},)')
        self.duration = float(at[-1])
        self._jumps = [_largest_jump(polynomial, order) for order in range(1, MOST_SMOOTH + 1)]
        self.smoothness = next(
            (k for k, jump in enumerate(self._jumps) if jump is not None), MOST_SMOOTH)

    @classmethod
    def between(
        cls, dyn: Dynamics, frame: str, start: ArrayLike, end: ArrayLike, duration: float,
        outputs: Optional[Sequence[str]] = None, smoothness: int = 4,
    ) -> TipPath:
        """
        Return a straight line between the poses of two configurations at static equilibrium.

        The rotation is about a fixed axis. Values follow the polynomial of least degree whose
        derivatives up to `smoothness` vanish at both ends.

        Args:
            dyn: Dynamics of the robot.
            frame: Name of the frame.
            start: Configuration at the start, (nq,); deflections are those at equilibrium.
            end: Configuration at the end, (nq,).
            duration: Of the motion [s].
            outputs: Components and joints that are prescribed, as many as driven joints; all
                components for None.
            smoothness: From 2 to MOST_SMOOTH.

        Raises:
            ArgumentError: A value is out of range, or has another shape.
            UnknownName: The robot has no frame, component or joint of a name.
        """
        if not 2 <= whole_number('smoothness', smoothness) <= MOST_SMOOTH:
            raise ArgumentError('smoothness', f'is {smoothness}, expected 2 to {MOST_SMOOTH}')
        limited_number('duration', duration)
        found = Outputs.of(dyn.robot, frame, COMPONENTS if outputs is None else outputs)
        ends = np.array([equilibrium(dyn, start, 'start'), equilibrium(dyn, end, 'end')])
        values = found.values(dyn, ends, dyn.frame_pose(ends[0], frame))
        shape = rest_to_rest(smoothness) * duration ** -np.arange(2.0 * smoothness + 1, -1, -1)
        c = shape[:, np.newaxis, np.newaxis] * (values[1] - values[0])
        c[-1] += values[0]
        return cls(frame, found.names, PPoly(c, [0.0, duration]), ends[0])

    @classmethod
    def through(
        cls, t: ArrayLike, values: Mapping[str, ArrayLike], frame: str, start: ArrayLike
    ) -> TipPath:
        """
        Return the spline of degree 9 through samples, at rest at both ends.

        Args:
            t: Ascending times from zero, (T,) with T at least 2 [s].
            values: By component or joint, values there, (T,); rotations as rotation vectors from
                the start.
            frame: Name of the frame.
            start: Configuration near which the motion starts, (nq,).

        Raises:
            ArgumentError: Times do not ascend from zero, or shapes do not fit.
        """
        times = np.asarray(t, dtype=float)
        if times.ndim != 1 or len(times) < 2 or times[0] != 0.0 or np.any(np.diff(times) <= 0.0):
            raise ArgumentError('t', 'must ascend from zero, at least two times')
        order = [name for name in COMPONENTS if name in values]
        order += [name for name in values if name not in COMPONENTS]
        rows = [np.asarray(values[name], dtype=float) for name in order]
        if not rows or any(row.shape != times.shape for row in rows):
            raise ArgumentError('values', f'must hold samples of shape {times.shape} by output')
        samples = real_matrix('values', np.column_stack(rows), (len(times), len(order)))
        rest = [(k, np.zeros(len(order))) for k in range(1, 5)]
        spline = make_interp_spline(times, samples, k=9, bc_type=(rest, rest))
        inner = np.unique(spline.t)
        powers = [spline(inner[:-1], nu=k) / factorial(k) for k in range(9, -1, -1)]
        return cls(frame, order, PPoly(np.stack(powers), inner), start)

    def __call__(self, t: np.ndarray, order: int = 0) -> np.ndarray:
        """Return the outputs or a derivative of them at times, (T, n), at rest beyond the ends."""
        inside = np.clip(t, 0.0, self.duration)
        found = np.asarray(self.polynomial(inside, order))
        return found if order == 0 else found * (inside == t)[:, np.newaxis]

    @property
    def breaks(self) -> np.ndarray:
        """Times at which a derivative may jump [s]."""
        inner = [0.0, self.duration]
        jumps = [each for each in self._jumps if each is not None]
        return np.unique([*inner, *(x for each in jumps for x in each)])

    def require_smoothness(self, order: int, reason: str) -> None:
        """
        Raise an ArgumentError unless derivatives are continuous up to an order.

        Args:
            order: The order.
            reason: The need for it, for the error.
        """
        if self.smoothness < order:
            jumps = self._jumps[self.smoothness]
            raise ArgumentError(
                'path', f'has a jump of derivative {self.smoothness + 1} at {jumps[0]:.4g} s, and '
                f'{reason} need derivatives up to {order} continuous. Use TipPath.through for a '
                'smooth path through samples')


def rest_to_rest(order: int) -> np.ndarray:
    """Return coefficients of the polynomial from 0 to 1 whose `order` derivatives vanish there."""
    c = np.zeros(2 * order + 2)
    for k in range(order + 1):
        c[order - k] = comb(order + k, k) * comb(2 * order + 1, order - k) * (-1) ** k
    return c


def _largest_jump(polynomial: PPoly, order: int) -> Optional[list[float]]:
    """Return the times at which a derivative jumps, rest beyond the ends included."""
    derivative = polynomial.derivative(order)
    x, c = derivative.x, derivative.c
    at_start = c[-1]
    width = np.diff(x)[:, np.newaxis]
    at_end = np.zeros_like(at_start)
    for row in c:
        at_end = at_end * width + row
    inside = [derivative(x[:-1] + share * np.diff(x)) for share in (0.0, 0.21, 0.5, 0.83)]
    scale = max(float(np.abs(each).max()) for each in (*inside, at_end))
    rest = np.zeros((1, c.shape[2]))
    jumps = np.abs(np.vstack([at_start, rest]) - np.vstack([rest, at_end])).max(axis=1)
    found = [float(time) for time, jump in zip(x, jumps) if jump > JUMP * scale]
    return found or None
