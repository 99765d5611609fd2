# SPDX-License-Identifier: Apache-2.0
"""A recorded motion: joint positions, and velocities and torques where they were measured."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

from flexdyn_ros.arguments import names as checked_names, real_numbers, refuse_infinite
from flexdyn_ros.checked_arguments import payload_body
from flexdyn_ros.errors import ArgumentError, require_known
from flexdyn_ros.model.records.link import Payload
import numpy as np
from numpy.typing import ArrayLike

SHORTEST = 50  # samples that the filters need


class Motion:
    """
    A recorded motion of n coordinates over T samples.

    Attributes:
        t: Times, shape (T,) [s]; stamps may jitter or repeat, and do not fall.
        q: Positions, shape (T, n) [rad | m].
        qd: Velocities, shape (T, n) [rad/s | m/s], or None where there are none.
        tau: Torques on the joints, shape (T, n) [N m | N], or None.
        names: Coordinates in the order of the columns, or None for the order of the robot.
        load: Body of known mass that a link carries in this motion, or None.
    """

    def __init__(
        self,
        t: ArrayLike,
        q: ArrayLike,
        qd: Optional[ArrayLike] = None,
        tau: Optional[ArrayLike] = None,
        names: Optional[Sequence[str]] = None,
        load: Union[None, Payload, Sequence[object]] = None,
    ):
        """
        Take the samples.

        Args:
            t: As the attributes.
            q: As the attributes.
            qd: As the attributes.
            tau: As the attributes.
            names: As the attributes.
            load: Link, mass [kg], and if known centre of mass [m] and inertia about it
                [kg m^2], both in the link's axes. It replaces a payload of that link.

        Raises:
            ArgumentError: A shape is wrong, a value is not finite, or times fall. A name comes
                twice, q has no column, or there are fewer than 50 samples.
        """
        self.t = _samples('t', t, 1)
        if len(self.t) < SHORTEST:
            raise ArgumentError('t', f'has {len(self.t)} samples, at least {SHORTEST} are needed')
        falls = np.flatnonzero(np.diff(self.t) < 0.0)
        if len(falls):
            raise ArgumentError('t', f'falls after sample {falls[0]}, expected rising times [s]')
        self.q = _samples('q', q, 2)
        shape = (len(self.t), self.q.shape[1])
        self.qd = None if qd is None else _samples('qd', qd, 2)
        self.tau = None if tau is None else _samples('tau', tau, 2)
        for argument in ('q', 'qd', 'tau'):
            value = getattr(self, argument)
            if value is not None and value.shape != shape:
                raise ArgumentError(argument, f'has shape {value.shape}, expected {shape}')
        if not shape[1]:
            raise ArgumentError('q', 'has no column, expected one for each coordinate')
        self.names = None if names is None else _names(names, shape[1])
        self.load = load if load is None or isinstance(load, Payload) else _load(load)

    def __repr__(self) -> str:
        """Return number of samples, duration and coordinates."""
        return (f'<Motion: {len(self.t)} samples over {self.t[-1] - self.t[0]:.4g} s, '
                f'{self.q.shape[1]} coordinates>')

    def ordered(
        self, joints: Sequence[str], known: Sequence[str], argument: str = 'motion'
    ) -> Motion:
        """
        Return the motion in the order of a robot's coordinates.

        Args:
            joints: Names of the joint coordinates, all of which the motion must have.
            known: Names of all coordinates; further ones that the motion has follow the joints.
            argument: Name of the motion in errors.

        Raises:
            ArgumentError: A joint is missing, or without names the number of columns differs.
            UnknownName: The robot has no such coordinate.
        """
        names = self.names
        if names is None:
            if self.q.shape[1] not in (len(joints), len(known)):
                raise ArgumentError(
                    argument, f'has {self.q.shape[1]} columns without names, expected '
                    f'{len(joints)}: {", ".join(joints)}')
            names = tuple(known[: self.q.shape[1]])
        require_known('coordinate', names, known)
        missing = [name for name in joints if name not in names]
        if missing:
            raise ArgumentError(argument, f'has no column of {", ".join(missing)}. Add it')
        wanted = [name for name in known if name in names]
        places = [names.index(name) for name in wanted]

        def taken(values: Optional[np.ndarray]) -> Optional[np.ndarray]:
            return None if values is None else values[:, places]

        return Motion(self.t, self.q[:, places], taken(self.qd), taken(self.tau), wanted,
                      self.load)


def require_motion(argument: str, value: object) -> None:
    """Raise ArgumentError unless this is a motion."""
    if not isinstance(value, Motion):
        raise ArgumentError(argument, f'is of type {type(value).__name__}, expected a Motion')


def _load(load: Any) -> Payload:
    """Return a body on a link from its name, mass, centre and inertia."""
    values = tuple(load) if isinstance(load, (list, tuple)) else ()
    if not 2 <= len(values) <= 4 or not isinstance(values[0], str):
        raise ArgumentError('load', f'is {load!r}, expected (link, mass, centre, inertia)')
    rest = (np.zeros(3), np.zeros((3, 3)))[len(values) - 2 :]
    return Payload(values[0], payload_body(*values[1:], *rest))


def _names(names: Any, count: int) -> tuple[str, ...]:
    """Return names of columns that differ."""
    try:
        found = checked_names('names', names)
    except ArgumentError:
        found = ()
    if len(found) != count or len(set(found)) != count:
        raise ArgumentError('names', f'must be {count} different names, one a column')
    return found


def _samples(argument: str, value: Any, dimensions: int) -> np.ndarray:
    """Return a copy of samples, (T,) or (T, n), all finite."""
    wanted = '(T,)' if dimensions == 1 else '(T, n)'
    found = np.array(real_numbers(argument, value, wanted))
    if found.ndim != dimensions:
        raise ArgumentError(argument, f'has shape {found.shape}, expected {wanted}')
    refuse_infinite(argument, found)
    return found
