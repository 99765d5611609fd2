# SPDX-License-Identifier: Apache-2.0
"""
Torques that follow from the time and the state alone, and so need no Python in compiled steps.

`steps/stepping.c` evaluates the same formulas from the same numbers.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

from flexdyn_ros.arguments import real_matrix
from flexdyn_ros.errors import ArgumentError, require_known
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.simulation.configuration import ConfigurationMap
import numpy as np
from numpy.typing import ArrayLike

INTERPOLATIONS = ('linear', 'cubic', 'hold')


class PiecewisePolynomial:
    """
    A vector that is a polynomial of the time in each interval, held beyond the ends.

    Attributes:
        at: Ends of the intervals, (n + 1,) [s].
        coefficients: From the highest power of (t - at[k]) down, (n, degree + 1, width).
    """

    def __init__(self, at: np.ndarray, coefficients: np.ndarray):
        self.at = np.ascontiguousarray(at, dtype=float)
        self.coefficients = np.ascontiguousarray(coefficients, dtype=float)

    @classmethod
    def through(
        cls, t: np.ndarray, values: np.ndarray, slopes: Optional[np.ndarray], interpolation: str
    ) -> PiecewisePolynomial:
        """
        Return the polynomials through samples.

        Args:
            t: Ascending times, (n,) [s].
            values: Samples, (n, width).
            slopes: Their rates, (n, width), for "cubic"; None for those of the spline that is
                twice continuously differentiable (`scipy.interpolate.CubicSpline`).
            interpolation: One of INTERPOLATIONS.
        """
        if len(t) == 1 or interpolation == 'hold':
            return cls(np.append(t, t[-1] + 1.0), values[:, np.newaxis, :])
        if interpolation == 'linear':
            rate = np.diff(values, axis=0) / np.diff(t)[:, np.newaxis]
            return cls(t, np.stack((rate, values[:-1]), axis=1))
        if slopes is None:
            return cls.spline(t, values, at_rest=False)
        from scipy.interpolate import CubicHermiteSpline

        found = CubicHermiteSpline(t, values, slopes)
        return cls(found.x, found.c.transpose(1, 0, 2))

    @classmethod
    def spline(cls, t: np.ndarray, values: np.ndarray, at_rest: bool) -> PiecewisePolynomial:
        """Return the cubic spline through samples, as `through`, with ends at rest or free."""
        from scipy.interpolate import CubicSpline

        found = CubicSpline(t, values, bc_type='clamped' if at_rest else 'not-a-knot')
        return cls(found.x, found.c.transpose(1, 0, 2))

    def __call__(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the value and its rate at a time, (width,) each; beyond the ends it is zero."""
        return self.with_curvature(t)[:2]

    def with_curvature(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the value with its first and second rate, as a call returns them."""
        at = self.at
        inside = bool(at[0] <= t <= at[-1])
        t = min(max(t, at[0]), at[-1])
        place = min(max(int(np.searchsorted(at, t, side='right')) - 1, 0), len(at) - 2)
        x = t - at[place]
        rows = self.coefficients[place]
        value, rate, curvature = rows[0], np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
        for row in rows[1:]:
            curvature = curvature * x + rate
            rate = rate * x + value
            value = value * x + row
        return value, rate * inside, 2.0 * curvature * inside


class TorqueLaw:
    """
    A torque that `simulate` takes: a table, feedback about a reference, or both.

    Attributes:
        table: Generalised forces over time, width nv; None for none.
        reference: Positions to follow, width n; None for none.
        of_q: Entries of q that follow them, (n,).
        of_v: Their entries in v, (n,).
        kp: Gains on position errors, (n,) [N m/rad | N/m].
        kd: Gains on velocity errors, (n,).
        ki: Gains on the integrals of position errors, (n,).
        of_accelerations: Whether gains give accelerations, which a model converts.
        takes_rest: Whether that model has coordinates that do not follow, as modes.
    """

    of_accelerations = takes_rest = False

    def __init__(self, width: int):
        """Take no table and no reference yet; `width` is the number of velocities."""
        self.width = width
        self.table: Optional[PiecewisePolynomial] = None
        self.reference: Optional[PiecewisePolynomial] = None
        self.of_q = self.of_v = np.zeros(0, dtype=int)
        self.kp = self.kd = self.ki = np.zeros(0)

    @property
    def integrals(self) -> int:
        """Number of position errors whose integrals are part of the state."""
        return len(self.ki) if self.ki.any() else 0

    def torque(
        self, t: float, q: np.ndarray, qd: np.ndarray, integral: np.ndarray
    ) -> np.ndarray:
        """
        Return the generalised forces, (nv,).

        Args:
            t: Time [s].
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
            integral: Integrals of the position errors, (integrals,).
        """
        tau = np.zeros(self.width)
        if self.table is not None:
            tau += self.table(t)[0]
        if self.reference is not None:
            wanted = self.reference.with_curvature(t)
            position, rate, _ = wanted
            force = self.kp * (position - q[self.of_q]) + self.kd * (rate - qd[self.of_v])
            if self.integrals:
                force = force + self.ki * integral
            tau[self.of_v] += self.applied(force, wanted, q, qd)
        return tau

    def applied(
        self, force: np.ndarray, wanted: Sequence[np.ndarray], q: np.ndarray, qd: np.ndarray
    ) -> np.ndarray:
        """
        Return the forces on the coordinates that follow, (n,).

        Args:
            force: Forces of the gains, (n,).
            wanted: Position, velocity and acceleration of the reference, (n,) each.
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
        """
        return force

    def errors(self, t: float, q: np.ndarray) -> np.ndarray:
        """Return the rates of the integrals, (integrals,): the position errors."""
        if not self.integrals or self.reference is None:
            return np.zeros(0)
        return self.reference(t)[0] - q[self.of_q]


class TorqueTable(TorqueLaw):
    """Generalised forces given at times."""

    def __init__(self, t: ArrayLike, tau: ArrayLike, interpolation: str = 'linear'):
        """
        Take a table.

        Args:
            t: Ascending times, (n,) [s]. Beyond them the first and last forces are held.
            tau: Generalised forces there, (n, nv) [N m | N].
            interpolation: "linear", "cubic" (a spline) or "hold" (each up to the next time).
                Where it jumps inside a step, the method is of first order in that step.

        Raises:
            ArgumentError: The shapes do not fit, or times do not ascend.
        """
        times = checked_times(t, 't')
        values = _rows(tau, len(times), 'tau')
        super().__init__(values.shape[1])
        self.table = _through(times, values, None, interpolation)


class TrackingTorque(TorqueLaw):
    """
    Joint controllers along a reference, and feed-forward.

    tau = feed_forward(t) + kp (q_ref - q) + kd (qd_ref - qd) + ki int (q_ref - q) dt. The
    integrals are part of the state that the method integrates. Beyond the reference's ends its
    position is held.
    """

    def __init__(
        self,
        robot: Robot,
        t: ArrayLike,
        q: ArrayLike,
        qd: Optional[ArrayLike] = None,
        feed_forward: Optional[ArrayLike] = None,
        *,
        kp: ArrayLike = 0.0,
        kd: ArrayLike = 0.0,
        ki: ArrayLike = 0.0,
        joints: Optional[Sequence[str]] = None,
    ):
        """
        Take a reference.

        Args:
            robot: The robot.
            t: Ascending times, (n,) [s].
            q: Positions of the joints there, (n, n_followed) [rad | m], cubic in between.
            qd: Their velocities there, of the same shape; None for those of a spline.
            feed_forward: Generalised forces there, (n, nv) [N m | N], linear in between.
            kp: Gains on position errors, one for all or (n_followed,) [N m/rad | N/m].
            kd: Gains on velocity errors [N m s/rad | N s/m].
            ki: Gains on the integrals of position errors [N m/(rad s), N/(m s)].
            joints: Names of the coordinates that follow; None for all joint coordinates.

        Raises:
            ArgumentError: The shapes do not fit, or times do not ascend; a gain is negative; a
                coordinate belongs to a quaternion.
            UnknownName: The robot has no coordinate of a name.
        """
        super().__init__(robot.nv)
        times = checked_times(t, 't')
        names = tuple(robot.joint_names if joints is None else joints)
        require_known('coordinate', names, robot.coordinate_names)
        self.of_v = np.array([robot.coordinate_names.index(name) for name in names], dtype=int)
        self.of_q = _positions(robot, self.of_v)
        shape = (len(times), len(names))
        rates = None if qd is None else real_matrix('qd', qd, shape)
        self.reference = _through(times, real_matrix('q', q, shape), rates, 'cubic')
        if feed_forward is not None:
            forces = real_matrix('feed_forward', feed_forward, (len(times), robot.nv))
            self.table = _through(times, forces, None, 'linear')
        self.kp, self.kd, self.ki = (
            _gains(value, len(names), name)
            for name, value in (('kp', kp), ('kd', kd), ('ki', ki))
        )


def checked_times(t: ArrayLike, argument: str) -> np.ndarray:
    """
    Return times, (n,) [s].

    Raises:
        ArgumentError: They are not finite numbers that ascend.
    """
    try:
        times = np.array(t, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(argument, 'must be a vector of times [s]') from None
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all():
        raise ArgumentError(argument, 'must be a vector of finite times [s]')
    if not (np.diff(times) > 0.0).all():
        raise ArgumentError(argument, 'must ascend')
    return times


def _rows(values: Any, count: int, argument: str) -> np.ndarray:
    width = np.shape(values)[1] if np.ndim(values) == 2 else 1
    return real_matrix(argument, values, (count, width))


def _through(
    t: np.ndarray, values: np.ndarray, slopes: Optional[np.ndarray], interpolation: str
) -> PiecewisePolynomial:
    if interpolation not in INTERPOLATIONS:
        raise ArgumentError(
            'interpolation', f'is {interpolation!r}, expected one of {INTERPOLATIONS}'
        )
    return PiecewisePolynomial.through(t, values, slopes, interpolation)


def _positions(robot: Robot, of_v: np.ndarray) -> np.ndarray:
    """Return the entries of q of velocity coordinates, (n,)."""
    configuration = ConfigurationMap(robot)
    at = dict(zip(configuration.plain_v.tolist(), configuration.plain_q.tolist()))
    for k in of_v.tolist():
        if k not in at:
            raise ArgumentError(
                'joints', f'names "{robot.coordinate_names[k]}", whose joint has a quaternion; '
                'choose coordinates whose rate is their velocity',
            )
    return np.array([at[k] for k in of_v.tolist()], dtype=int)


def _gains(value: Union[float, ArrayLike], count: int, argument: str) -> np.ndarray:
    row = [value] * count if np.ndim(value) == 0 else value
    gains = real_matrix(argument, [row], (1, count))[0]
    if (gains < 0.0).any():
        raise ArgumentError(argument, 'has a negative gain, expected zero or more')
    return gains
