# SPDX-License-Identifier: Apache-2.0
"""Joint states from a bag, by the library rosbags."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

from flexdyn_ros.errors import ArgumentError, FlexdynError
import numpy as np

JOINT_STATE = 'sensor_msgs/msg/JointState'
NANOSECONDS = 1e9


@dataclass(frozen=True)
class BagRecording:
    """
    The joint states of a bag.

    Attributes:
        topic: The topic they come from.
        names: The joints.
        t: Times from the first sample on, shape (T,) [s], rising.
        q: Positions, shape (T, n) [rad | m].
        qd: Velocities, shape (T, n) [rad/s | m/s]; NaN where there are none.
        effort: Torques, shape (T, n) [N m | N]; NaN where there are none.
    """

    topic: str
    names: tuple[str, ...]
    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    effort: np.ndarray


def read_joint_states(
    bag: str, names: Sequence[str], preferred: Mapping[str, str], topic: Optional[str] = None
) -> BagRecording:
    """
    Return the joint states of a bag, partial messages joined.

    Args:
        bag: See `read_messages`.
        names: The joints.
        preferred: Other names that go before a joint's own where the bag has them.
        topic: Topic of sensor_msgs/JointState; None where the bag has one alone.

    Raises:
        ArgumentError: There is no such bag or topic, or the bag cannot be read.
        FlexdynError: The library rosbags is missing, or the bag holds no sample of all joints.
    """
    return joined(*read_messages(bag, (JOINT_STATE,), topic), names, preferred)


def read_messages(
    bag: str, kinds: Sequence[str], topic: Optional[str] = None
) -> tuple[str, list[tuple[int, Any]]]:
    """
    Return the messages of one topic of a bag, with their times of recording [ns].

    Args:
        bag: Folder of a ROS 2 bag, MCAP file, or file of a ROS 1 bag.
        kinds: Types of messages.
        topic: The topic; None where the bag has one of these types alone.

    Raises:
        ArgumentError: There is no such bag or topic, or the bag cannot be read.
        FlexdynError: The library rosbags is missing, or the topic holds no message.
    """
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import get_typestore, Stores
    except ImportError:
        raise FlexdynError(
            'Reading bags needs the library rosbags. Install it with: pip install rosbags.'
        ) from None
    if not Path(bag).exists():
        raise ArgumentError('BAG', f'is "{bag}", which does not exist. Correct the path')
    try:
        # Bags of older releases do not carry the definitions of their messages.
        with AnyReader([Path(bag)], default_typestore=get_typestore(Stores.LATEST)) as reader:
            connections = [each for each in reader.connections
                           if each.msgtype in kinds and topic in (None, each.topic)]
            found = sorted({each.topic for each in connections})
            if len(found) != 1:
                every = sorted({
                    each.topic for each in reader.connections if each.msgtype in kinds})
                words = ' or '.join(kind.replace('/msg/', '/') for kind in kinds)
                raise ArgumentError('--topic', f'must name one topic of {words}; the bag has '
                                    f'{", ".join(every) or "none"}')
            messages = [(time, reader.deserialize(raw, connection.msgtype))
                        for connection, time, raw in reader.messages(connections)]
    except FlexdynError:
        raise
    except Exception as error:  # of a reader, a database or a decompressor
        raise ArgumentError(
            'BAG', f'is "{bag}", which cannot be read: {error}. Check it by ros2 bag info'
        ) from None
    if not messages:
        raise FlexdynError(f'{found[0]} holds no message. Record it again, or name another.')
    return found[0], messages


def joined(
    topic: str, messages: Sequence[tuple[int, Any]], names: Sequence[str],
    preferred: Mapping[str, str],
) -> BagRecording:
    """
    Return the samples at which every joint is known, each value the newest.

    Args:
        topic: The topic.
        messages: Times of recording [ns] and messages with fields as sensor_msgs/JointState.
        names: The joints.
        preferred: See `read_joint_states`.

    Raises:
        FlexdynError: There are fewer than two such samples.
    """
    met = {name for _, message in messages for name in message.name}
    owner = {
        (preferred[name] if preferred.get(name) in met else name): k
        for k, name in enumerate(names)
    }
    missing = sorted(set(owner) - met)
    if missing:
        raise FlexdynError(
            f'{topic} has no joint {", ".join(missing)}; it has {", ".join(sorted(met))}. '
            'Record them, or name another topic.')
    state = np.full((3, len(names)), np.nan)
    times: list[float] = []
    rows: list[np.ndarray] = []
    for recorded, message in messages:
        when = time_of(recorded, message)
        for place, name in enumerate(message.name):
            if name not in owner:
                continue
            for row, values in zip(
                state, (message.position, message.velocity, message.effort)
            ):
                if len(values) == len(message.name):
                    row[owner[name]] = values[place]
        if np.isfinite(state[0]).all() and (not times or when > times[-1]):
            times.append(when)
            rows.append(state.copy())
    if len(times) < 2:
        raise FlexdynError(f'{topic} holds {len(times)} samples of all joints, two are needed.')
    samples = np.array(rows)
    return BagRecording(
        topic, tuple(names), np.array(times) - times[0],
        samples[:, 0], samples[:, 1], samples[:, 2],
    )


def time_of(recorded: int, message: Any) -> float:
    """Return the time stamp of a message, or that of recording [ns] where it has none, [s]."""
    stamp = message.header.stamp
    return float(stamp.sec + stamp.nanosec / NANOSECONDS or recorded / NANOSECONDS)
