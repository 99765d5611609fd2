# SPDX-License-Identifier: Apache-2.0
"""Checks of the choices of `identify` and of the motions that it is given."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any, Mapping, Optional, Sequence, Union

from flexdyn_ros.arguments import limited_number, names, real_number
from flexdyn_ros.errors import ArgumentError, require_known, UnknownName
from flexdyn_ros.identification.friction import checked_terms
from flexdyn_ros.identification.motion import Motion, require_motion
from flexdyn_ros.identification.regression import LONGEST_DELAY
from flexdyn_ros.identification.torque_model import TorqueModel
from flexdyn_ros.model.records.robot import Robot
import numpy as np

Terms = Union[Sequence[str], Mapping[str, Sequence[str]]]


def checked_motions(robot: Robot, motions: object) -> list[Motion]:
    """Return the motions in the order of the robot's coordinates; all have torques."""
    if isinstance(motions, Motion):
        motions = [motions]
    try:
        given = list(motions)  # type: ignore[call-overload]
    except TypeError:
        raise ArgumentError(
            'motions', f'is of type {type(motions).__name__}, expected a Motion or several'
        ) from None
    if not robot.joint_names:
        raise ArgumentError('robot', 'has no joint that moves, expected at least one')
    ordered = []
    for number, motion in enumerate(given):
        place = f'motions[{number}]'
        require_motion(place, motion)
        if motion.tau is None:
            raise ArgumentError(place, 'is a motion without torques: give its tau=')
        ordered.append(motion.ordered(robot.joint_names, robot.coordinate_names, place))
    if not ordered:
        raise ArgumentError('motions', 'is empty, expected at least one Motion')
    if len({motion.names for motion in ordered}) > 1:
        raise ArgumentError('motions', 'has motions of different coordinates. Give all the same')
    if not any(np.any(motion.tau) for motion in ordered):
        raise ArgumentError('motions', 'has torques that are all zero. Record them as well')
    return ordered


def refuse_mixed_choices(payload: Optional[str], progress: object, **switches: object) -> None:
    """Raise ArgumentError for a switch that is no bool, and for choices that exclude another."""
    for name, value in switches.items():
        if not isinstance(value, (bool, np.bool_)):
            raise ArgumentError(name, f'is {value!r}, expected True or False')
    if payload is not None and switches['gravity']:
        raise ArgumentError(
            'gravity', 'cannot be unknown together with a payload: identify one after the other')
    if progress is not None and not callable(progress):
        raise ArgumentError('progress', f'is {progress!r}, expected a function of one number')


def checked_delay(delay: object) -> float:
    """Return a delay [s] within the longest that is supported."""
    try:
        found = real_number('delay', delay)
    except ArgumentError:
        found = np.inf
    if abs(found) > LONGEST_DELAY:
        raise ArgumentError(
            'delay', f'is {delay!r}, expected "estimate" or at most {LONGEST_DELAY} s')
    return found


def checked_friction(
    robot: Robot, friction: Union[str, Terms]
) -> Union[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Return terms of friction, or those of each joint, in a fixed order."""
    if not isinstance(friction, Mapping):
        return checked_terms(friction)
    require_known('joint', friction, robot.joint_names)
    return {name: checked_terms(terms) for name, terms in friction.items()}


def held(
    model: TorqueModel, fixed: object, physical: bool
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return described values (p,), with the given ones, and whether each is unknown, (p,).

    Args:
        model: The parameters.
        fixed: A name, names, or names with values; names may have wildcards.
        physical: Whether masses are positive, and losses not negative.
    """
    patterns: Mapping[Any, Any] = (
        fixed if isinstance(fixed, Mapping) else dict.fromkeys(names('fixed', fixed)))
    values, free = model.values.copy(), np.ones(len(model.names), dtype=bool)
    for pattern, value in patterns.items():
        met = _matching(model, pattern)
        free[met] = False
        if value is not None:
            values[met] = real_number('fixed', value)
            for k in met:
                _refuse_impossible('fixed', model, k, values[k], physical)
    if not free.any():
        raise ArgumentError('fixed', 'leaves no unknown parameter. Fix fewer')
    return values, free


def weights(model: TorqueModel, weight: Union[float, Mapping[str, float]]) -> np.ndarray:
    """Return the weight of the description for each parameter, (p,); see `held`."""
    found = np.ones(len(model.names))
    for pattern, value in (weight if isinstance(weight, Mapping) else {'*': weight}).items():
        found[_matching(model, pattern)] = limited_number('weight', value)
    return found


def _matching(model: TorqueModel, pattern: object) -> list[int]:
    """Return places of the parameters whose names match a pattern, at least one."""
    met = [k for k, name in enumerate(model.names) if fnmatchcase(name, str(pattern))]
    if not met:
        raise UnknownName('parameter', pattern, model.names)
    return met


def bounded(
    model: TorqueModel, bounds: Optional[Mapping[str, tuple[float, float]]], physical: bool
) -> np.ndarray:
    """Return least and greatest values, (p, 2), infinite where there are none; see `held`."""
    found = np.tile([-np.inf, np.inf], (len(model.names), 1))
    if bounds is not None and not isinstance(bounds, Mapping):
        raise ArgumentError('bounds', f'is {bounds!r:.60}, expected names with (low, high)')
    if bounds and not physical:
        raise ArgumentError('bounds', 'limits physical parameters, and physical is False. Omit it')
    for name, pair in (bounds or {}).items():
        if name not in model.names:
            raise UnknownName('parameter', name, model.names)
        try:
            low, high = (float(value) for value in pair)
        except (TypeError, ValueError):
            raise ArgumentError(
                'bounds', f'has {pair!r} for "{name}", expected (low, high)') from None
        if not low < high:
            raise ArgumentError('bounds', f'has [{low}, {high}] for "{name}", expected low < high')
        _refuse_impossible('bounds', model, model.names.index(name), high, physical)
        found[model.names.index(name)] = low, high
    return found


def _refuse_impossible(
    argument: str, model: TorqueModel, k: int, value: float, physical: bool
) -> None:
    """Raise ArgumentError where a mass is to be zero or less, or a loss negative."""
    mass = k < 10 * len(model.bodies) and k % 10 == 0
    if physical and (value <= 0.0 if mass else model.positive[k] and value < 0.0):
        wanted = 'a positive one' if mass else 'zero or more'
        raise ArgumentError(
            argument, f'has {value:g} for "{model.names[k]}", expected {wanted} or physical=False')
