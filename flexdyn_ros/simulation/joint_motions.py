# SPDX-License-Identifier: Apache-2.0
"""Motions of joints over time, as polynomials in each interval; each kind stands here once."""

from __future__ import annotations

from typing import Optional, Sequence

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.simulation.torque_laws import PiecewisePolynomial
import numpy as np
from numpy.typing import ArrayLike

# Intervals of a cycloid; its acceleration is then off by 1e-9 of the largest.
_INTERVALS = 512


def quintic_coefficients(
    start: Sequence[np.ndarray], end: Sequence[np.ndarray], span: ArrayLike
) -> list[np.ndarray]:
    """
    Return the coefficients, of s^5 down to s^0, of the polynomial of fifth degree between states.

    Args:
        start: Position, velocity and acceleration at s = 0.
        end: The same at s = 1.
        span: Time from s = 0 to s = 1 [s].
    """
    p0, v0, a0 = start[0], start[1] * span, start[2] * np.square(span)
    p1, v1, a1 = end[0], end[1] * span, end[2] * np.square(span)
    offset, slope, bend = p1 - p0 - v0 - a0 / 2, v1 - v0 - a0, a1 - a0
    return [
        6 * offset - 3 * slope + bend / 2, -15 * offset + 7 * slope - bend,
        10 * offset - 4 * slope + bend / 2, a0 / 2, v0, p0,
    ]


def quintic(
    t: ArrayLike, q: ArrayLike, qd: Optional[ArrayLike] = None, qdd: Optional[ArrayLike] = None
) -> PiecewisePolynomial:
    """
    Return the motion of fifth degree between states.

    Args:
        t: Ascending times, (T,) [s].
        q: Positions there, (T, n) [rad | m].
        qd: Velocities there, (T, n); None for rest.
        qdd: Accelerations there, (T, n); None for none.
    """
    times, places = np.asarray(t, dtype=float), np.asarray(q, dtype=float)
    rest = np.zeros_like(places)
    states = [places, *(rest if x is None else np.asarray(x, dtype=float) for x in (qd, qdd))]
    span = np.diff(times)[:, np.newaxis]
    scaled = quintic_coefficients([x[:-1] for x in states], [x[1:] for x in states], span)
    rows = [c / span**power for c, power in zip(scaled, range(5, -1, -1))]
    return PiecewisePolynomial(times, np.stack(rows, axis=1))


def cycloidal(start: ArrayLike, end: ArrayLike, duration: ArrayLike) -> PiecewisePolynomial:
    """
    Return the cycloidal motion, q0 + (q1 - q0) (s - sin(2 pi s) / (2 pi)), s = t / duration.

    Source: Mohan and Saha, equation 44, whose motion over T is the first half of one over 2 T.

    Args:
        start: Positions at time zero, (n,) [rad | m].
        end: Positions at the end, (n,).
        duration: One for all joints or (n,) [s].
    """
    first, last = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    spans = np.broadcast_to(np.asarray(duration, dtype=float), first.shape)
    t = np.unique(np.concatenate(
        [np.linspace(0.0, span, _INTERVALS + 1) for span in np.unique(spans)]))
    s = np.minimum(t[:, np.newaxis] / spans, 1.0)
    turn, way = 2.0 * np.pi * s, last - first
    return quintic(
        t, first + way * (s - np.sin(turn) / (2.0 * np.pi)), way / spans * (1.0 - np.cos(turn)),
        way / spans**2 * 2.0 * np.pi * np.sin(turn))


def trapezoidal(
    start: ArrayLike, end: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
) -> PiecewisePolynomial:
    """
    Return the motion from rest to rest at bounded velocity and acceleration.

    All joints share one profile, of which the joint that needs longest sets the times; a short way
    has no part at constant velocity (Biagiotti and Melchiorri 2008, section 3.2).

    Args:
        start: Positions at time zero, (n,) [rad | m].
        end: Positions at the end, (n,).
        velocity: Largest velocities, one or (n,) [rad/s | m/s].
        acceleration: Largest accelerations, one or (n,) [rad/s^2 | m/s^2].

    Raises:
        ArgumentError: No joint moves.
    """
    first, way = np.asarray(start, dtype=float), np.asarray(end, dtype=float) - start
    moves = way != 0.0
    if not moves.any():
        raise ArgumentError('end', 'equals the start: no joint moves. Name other positions')
    fastest, strongest = (
        float((np.broadcast_to(np.asarray(x, dtype=float), way.shape)[moves]
               / np.abs(way[moves])).min()) for x in (velocity, acceleration))
    ramp = min(fastest / strongest, 1.0 / np.sqrt(strongest))
    speed = strongest * ramp
    brake = 1.0 / speed  # start of the last ramp
    t = np.array([0.0, ramp, brake, brake + ramp])
    shape = [(0.5 * strongest, 0.0, 0.0), (0.0, speed, 0.5 * speed * ramp),
             (-0.5 * strongest, speed, 1.0 - 0.5 * speed * ramp)]
    if brake - ramp <= 1e-12 * brake:
        t, shape = np.delete(t, 2), [shape[0], shape[2]]
    rows = np.array(shape)[:, :, np.newaxis] * way
    rows[:, 2] += first
    return PiecewisePolynomial(t, rows)


def shifted(motion: PiecewisePolynomial, delay: float) -> PiecewisePolynomial:
    """Return a motion that is later by a delay [s]."""
    return PiecewisePolynomial(motion.at + delay, motion.coefficients)


def sampled(
    motion: PiecewisePolynomial, t: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions, velocities and accelerations at times, (T, n) each; rest beyond ends."""
    rows = [motion.with_curvature(time) for time in t.tolist()]
    q, qd, qdd = (np.array(each) for each in zip(*rows))
    return q, qd, qdd
