# SPDX-License-Identifier: Apache-2.0
"""
Splines of degree 5 whose coefficients are found by collocation.

Source: C. de Boor, A Practical Guide to Splines, 2001, chapters IX and XV. The splines are twice
continuously differentiable at given breaks and four times elsewhere. Intervals shrink towards the
breaks, where fast parts of a solution begin.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline
from scipy.sparse import csr_matrix, diags, identity

DEGREE = 5
AT_BREAKS = 3  # knots: two derivatives are continuous there
# Growth of an interval's length with its distance from the nearest break.
GROWTH = 0.15


class CollocationSpline:
    """
    A spline basis and its collocation points.

    Attributes:
        points: Greville abscissae, as many as basis functions, (n,) [s].
        span: First and last time [s].
    """

    def __init__(self, ends: np.ndarray, shortest: float, longest: float):
        """
        Take the breaks and the lengths of intervals.

        Args:
            ends: Start, breaks and end, ascending [s].
            shortest: Length of intervals beside breaks [s].
            longest: Length far from them [s].
        """
        at_break = [False, *(True for _ in ends[1:-1]), False]
        inner = [
            _graded(a, b, shortest, longest, fine)
            for a, b, fine in zip(ends, ends[1:], zip(at_break, at_break[1:]))]
        knots = [np.repeat(ends[0], DEGREE + 1)]
        for at, interval in zip(ends[1:], inner):
            last = at == ends[-1]
            knots += [interval, np.repeat(at, DEGREE + 1 if last else AT_BREAKS)]
        self._knots = np.concatenate(knots)
        count = len(self._knots) - DEGREE - 1
        self.points = np.array(
            [self._knots[k + 1:k + DEGREE + 1].mean() for k in range(count)])
        self.points[0], self.points[-1] = ends[0], ends[-1]
        self.span = float(ends[0]), float(ends[-1])

    def matrix(self, t: np.ndarray, order: int) -> csr_matrix:
        """Return the matrix from coefficients to a derivative at times, (T, n), sparse."""
        knots, rates = self._knots, identity(len(self.points), format='csr')
        for k in range(order):
            degree = DEGREE - k
            count = rates.shape[0]
            inner = knots[k:len(knots) - k]
            width = inner[degree + 1:degree + count] - inner[1:count]
            factor = np.divide(degree, width, out=np.zeros_like(width), where=width > 0.0)
            difference = diags([-factor, factor], [0, 1], shape=(count - 1, count))
            rates = (difference @ rates).tocsr()
        inner = knots[order:len(knots) - order]
        return (BSpline.design_matrix(t, inner, DEGREE - order) @ rates).tocsr()

    def halved(self) -> np.ndarray:
        """Return the collocation points and the times halfway between them [s]."""
        return np.sort(np.append(self.points, 0.5 * (self.points[1:] + self.points[:-1])))

    def between_points(self) -> np.ndarray:
        """Return times between neighbouring collocation points, two in each gap [s]."""
        width = np.diff(self.points)
        return np.sort(np.concatenate(
            [self.points[:-1] + 0.31 * width, self.points[:-1] + 0.73 * width]))


def _graded(
    start: float, end: float, shortest: float, longest: float, at_break: tuple[bool, bool]
) -> np.ndarray:
    """Return ascending times inside an interval, closest at the ends that are breaks."""
    fine = np.linspace(start, end, 4001)
    far = np.full_like(fine, end - start)
    distance = np.minimum(
        fine - start if at_break[0] else far, end - fine if at_break[1] else far)
    density = 1.0 / np.clip(shortest + GROWTH * distance, None, longest)
    count = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(fine))])
    intervals = max(int(np.ceil(count[-1])), 4)
    return np.interp(np.linspace(0.0, count[-1], intervals + 1)[1:-1], count, fine)
