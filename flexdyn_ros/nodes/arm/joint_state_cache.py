# SPDX-License-Identifier: Apache-2.0
"""The last known state of each joint, by name, with its own time of arrival."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
import math
from typing import Any, Mapping, Optional, Sequence

from flexdyn_ros.nodes.arm.plausibility import Bound
import numpy as np

# Kinds of faults.
WRONG_LENGTH, DUPLICATE_NAMES = 'wrong_length', 'duplicate_names'
NOT_FINITE, MISSING, IMPLAUSIBLE = 'not_finite', 'missing_value', 'implausible'

MOST_UNKNOWN = 200  # names that are kept for the log


@dataclass(kw_only=True)
class StateEntry:
    """
    The state of one joint, as far as messages have given it.

    Attributes:
        received: Steady time of arrival of the last valid state [s]; None before the first.
        problem: The fault of the newest message on this joint, or None.
        left_out: Number of implausible states in a row that have been left out.
    """

    received: Optional[float] = None
    problem: Optional[str] = None
    left_out: int = 0

    def accept(self, received: float) -> None:
        """Note that a valid state has arrived, at a steady time [s]."""
        self.received, self.problem, self.left_out = received, None, 0

    def leave_out(self, why: str, patience: int) -> None:
        """Note that an implausible state is left out; after `patience` it is a problem."""
        self.left_out += 1
        if self.left_out > patience:
            self.problem = why

    def unusable(self, now: float, timeout: float) -> Optional[str]:
        """Return the fault of the state, or None; see `JointStateCache.problems`."""
        if self.problem:
            return self.problem
        if self.received is None:
            return 'never received'
        age = now - self.received
        return f'stale for {age:.3g} s' if age > timeout else None


@dataclass
class JointEntry(StateEntry):
    """
    The state of one joint with one coordinate.

    Attributes:
        position: [rad | m].
        velocity: [rad/s | m/s].
    """

    position: float = math.nan
    velocity: float = math.nan


class JointStateCache:
    """
    Collects joint states from any number of publishers, each with its own time of arrival.

    Attributes:
        names: The needed joints.
        entries: The newest state of each joint with one coordinate.
        unknown: The first MOST_UNKNOWN names met in messages that are not needed.
        touched: Number of needed joints that the last message named.
        faults: Number of faults by kind.
    """

    def __init__(
        self,
        names: Sequence[str],
        need_velocity: bool = True,
        preferred: Optional[Mapping[str, str]] = None,
        optional: Sequence[str] = (),
        bounds: Optional[Mapping[str, Bound]] = None,
        patience: int = 5,
        others: Optional[Mapping[str, StateEntry]] = None,
    ):
        """
        Make an empty cache.

        Args:
            names: The needed joints.
            need_velocity: Whether a joint without velocity is unusable.
            preferred: For some joints, another name in the messages that takes precedence once
                it has been seen, such as {'elbow': 'elbow_motor'}.
            optional: Joints whose state may be missing.
            bounds: Bounds of plausible motion, by joint; others have none.
            patience: Number of implausible states of a joint in a row that are left out; the
                next one is a problem.
            others: States of needed joints that a subclass takes, by name.
        """
        self.entries = {name: JointEntry() for name in names}
        self._states: dict[str, StateEntry] = {**self.entries, **(others or {})}
        self.names = tuple(self._states)
        self._optional = frozenset(optional)
        self._needed = {
            name: state for name, state in self._states.items() if name not in self._optional}
        self.unknown: set[str] = set()
        self.touched = 0
        self.faults: Counter[str] = Counter()
        self._bounds = bounds or {}
        self._patience = patience
        self._need_velocity = need_velocity
        self._owner = {name: name for name in self.entries}
        self._preferred = dict(preferred or {})
        # Of the last message: its names, and place, state and bound of each joint.
        self._order: list[str] = []
        self._places: list[tuple[int, JointEntry, Bound]] = []

    def problems(self, now: float, timeout: float) -> dict[str, str]:
        """
        Return, for each joint that is needed and cannot be used now, the reason.

        Args:
            now: Steady time [s].
            timeout: Age from which a state is stale [s].
        """
        found = {}
        for name, state in self._needed.items():
            if state.problem or state.received is None or now - state.received > timeout:
                found[name] = state.unusable(now, timeout) or ''
        return found

    def left_out(self, now: float, timeout: float) -> tuple[str, ...]:
        """Return the optional joints that cannot be used now; see `problems`."""
        if not self._optional:
            return ()
        return tuple(
            name for name, state in self._states.items()
            if name in self._optional and state.unusable(now, timeout)
        )

    @property
    def complete(self) -> bool:
        """Whether a valid state of every needed joint has been received at some time."""
        return all(state.received is not None for state in self._needed.values())

    def age(self, now: float) -> Optional[float]:
        """Return the age of the oldest needed state [s], or None while one is missing."""
        if not self.complete:
            return None
        return now - min((state.received for state in self._needed.values()), default=now)

    def update(
        self,
        names: Sequence[str],
        positions: Sequence[float],
        velocities: Sequence[float],
        received: float,
        topic: str = 'joint_states',
    ) -> Optional[str]:
        """
        Take over one message.

        Args:
            names: Joint names in the message.
            positions: Empty or one for each name [rad | m].
            velocities: Empty or one for each name [rad/s | m/s].
            received: Steady time of arrival [s].
            topic: Its topic, for the reason.

        Returns:
            The fault for which the whole message was dropped, or None.
        """
        if self._take_plausible(names, positions, velocities, received):
            return None
        self.touched = 0
        self._order = []
        dropped = self.misshapen(topic, names, position=positions, velocity=velocities)
        if dropped:
            return dropped
        for joint, other in self._preferred.items():
            if other in names and joint in self._owner:
                del self._owner[joint]
                self._owner[other] = joint
        for index, name in enumerate(names):
            if name not in self._owner:
                self.ignore(name)
                continue
            joint = self._owner[name]
            self.touched += 1
            position = positions[index] if len(positions) else None
            velocity = velocities[index] if len(velocities) else None
            self._store(joint, position, velocity, received)
        self._order = list(names)
        self._places = [
            (k, self.entries[joint], self._bounds.get(joint, Bound()))
            for k, joint in enumerate(map(self._owner.get, names)) if joint is not None
        ]
        return None

    def misshapen(
        self, topic: str, names: Sequence[str], **arrays: Sequence[Any]
    ) -> Optional[str]:
        """
        Return the fault of a message to drop, and count it; None where its shape is right.

        Args:
            topic: Its topic.
            names: Joint names, which must differ.
            arrays: By name; each must be empty or have an entry for each joint.
        """
        for label, values in arrays.items():
            if len(values) not in (0, len(names)):
                self.faults[WRONG_LENGTH] += 1
                return (f'{topic} dropped: {label} has {len(values)} elements for {len(names)} '
                        'names')
        if names == self._order or len(set(names)) == len(names):
            return None
        self.faults[DUPLICATE_NAMES] += 1
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        return f'{topic} dropped: it names {", ".join(twice)} more than once'

    def ignore(self, name: str) -> None:
        """Note a joint that is not needed; names without end must not fill the memory."""
        if name not in self._states and len(self.unknown) < MOST_UNKNOWN:
            self.unknown.add(name)

    def _take_plausible(
        self, names: Sequence[str], positions: Sequence[float], velocities: Sequence[float],
        received: float,
    ) -> bool:
        """Take over a message with the names of the last one, unless it needs the full check."""
        if names != self._order or not len(positions) == len(velocities) == len(names):
            return False
        for k, _, bound in self._places:
            fits = bound.lower <= positions[k] <= bound.upper
            if not (fits and abs(velocities[k]) <= bound.velocity < math.inf):
                return False
        for k, entry, _ in self._places:
            entry.position, entry.velocity, entry.received = positions[k], velocities[k], received
            entry.problem, entry.left_out = None, 0
        self.touched = len(self._places)
        return True

    def _store(self, joint: str, position, velocity, received: float) -> None:
        entry = self.entries[joint]
        problem = _problem('position', position)
        if problem is None and self._need_velocity:
            problem = _problem('velocity', velocity)
        if problem is not None:
            self.faults[NOT_FINITE if 'missing' not in problem else MISSING] += 1
            entry.problem = problem
            return
        speed = 0.0 if _problem('velocity', velocity) else velocity
        bound = self._bounds.get(joint)
        implausible = None if bound is None else bound.problem(position, speed)
        if implausible is not None:
            self.faults[IMPLAUSIBLE] += 1
            entry.leave_out(implausible, self._patience)
            return
        entry.position, entry.velocity = position, speed
        entry.accept(received)

    @property
    def positions(self) -> np.ndarray:
        """Last valid positions in the order of `names`, shape (n,) [rad | m]."""
        return np.array([entry.position for entry in self.entries.values()])

    @property
    def velocities(self) -> np.ndarray:
        """Last valid velocities in the order of `names`, shape (n,) [rad/s | m/s]."""
        return np.array([entry.velocity for entry in self.entries.values()])


def _problem(label: str, value: Optional[float]) -> Optional[str]:
    if value is None:
        return f'{label} is missing'
    return None if math.isfinite(value) else f'{label} is {value}'
