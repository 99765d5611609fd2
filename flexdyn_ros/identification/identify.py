# SPDX-License-Identifier: Apache-2.0
"""`identify`: from a robot and recorded motions to a robot with identified parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Mapping, Optional, Sequence, Union

from flexdyn_ros.arguments import limited_number
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.identification.choices import (
    bounded,
    checked_delay,
    checked_friction,
    checked_motions,
    held,
    refuse_mixed_choices,
    Terms,
    weights,
)
from flexdyn_ros.identification.friction import ALL
from flexdyn_ros.identification.identification import Identification
from flexdyn_ros.identification.motion import Motion
from flexdyn_ros.identification.regression import Regression
from flexdyn_ros.identification.signals import signal_path
from flexdyn_ros.identification.term_selection import chosen_terms
from flexdyn_ros.identification.torque_model import TorqueModel
from flexdyn_ros.model.records.robot import require_robot, Robot


def identify(
    robot: Robot,
    motions: Union[Motion, Sequence[Motion]],
    *,
    friction: Union[str, Terms] = 'auto',
    cutoff: Optional[float] = None,
    trim: Optional[float] = None,
    delay: Union[str, float] = 'estimate',
    saturation: Optional[float] = 0.98,
    smoothing_velocity: Optional[float] = None,
    inertia: bool = True,
    rotors: bool = True,
    payload: Optional[str] = None,
    gravity: bool = False,
    gains: bool = False,
    fixed: Union[Sequence[str], Mapping[str, Optional[float]]] = (),
    bounds: Optional[Mapping[str, tuple[float, float]]] = None,
    physical: bool = True,
    weight: Union[float, Mapping[str, float]] = 1.0,
    progress: Optional[Callable[[float], None]] = None,
) -> Identification:
    """
    Identify the parameters of a robot from recorded motions.

    Args:
        robot: The robot as described.
        motions: Recorded motions with torques, of all joints. Columns of coordinates
            "<joint>/elastic" (link side less motor side) make stiffness and damping of elastic
            joints unknown; their torque is zero. Without them all modes are at rest.
        friction: Terms of joint friction: "auto" (by cross validation), "default" (viscous,
            coulomb, offset), "all", "none". Or some of viscous, coulomb, stribeck, load,
            presliding, offset, quadratic, viscous_asymmetry, coulomb_asymmetry; or these by joint.
            Without any, friction is that of the description.
        cutoff: Of the filters [Hz]; default 10 Hz, or a fifth of a lower rate.
        trim: Left out at ends, gaps and around saturated samples [s]; default 1 / cutoff.
        delay: Of the torques against positions [s], or "estimate".
        saturation: Part of the effort limit beyond which a torque is left out, or None.
        smoothing_velocity: Of the sign in Coulomb friction [rad/s | m/s]; default that of the
            description, or 0.02.
        inertia: Whether the inertia of links is unknown.
        rotors: Whether the inertia of rotors is unknown.
        payload: Link whose payload is unknown, the arm being known.
        gravity: Whether the direction of gravity is unknown, the arm being known.
        gains: Whether gains of drives are unknown, as factors on the torques of the motions. It
            takes a motion with a known load (`Motion.load`) beside one without.
        fixed: Parameters that keep the value of the description, or names with values; names may
            have wildcards, as `*/viscous`.
        bounds: Least and greatest value of parameters by name.
        physical: Whether inertias are those of real bodies, and losses not negative.
        weight: Of the description beside the data: 1 takes a parameter of it to be right within
            about its own size. It decides those that the data leave open. Or weights by name of
            parameters, with wildcards; others have 1, and a body has that of its mass.
        progress: Called with the fraction done.

    Returns:
        The identified robot, its parameters with deviations, and statistics.

    Raises:
        ArgumentError: A motion or a choice does not fit the robot.
        UnknownName: There is no coordinate, link or parameter of a name.
        NotYetSupported: The robot has loops or quaternions.
    """
    require_robot(robot)
    ordered = checked_motions(robot, motions)
    refuse_mixed_choices(
        payload, progress, gravity=gravity, inertia=inertia, rotors=rotors, gains=gains,
        physical=physical)
    if smoothing_velocity is not None:
        smoothing_velocity = limited_number('smoothing_velocity', smoothing_velocity)
    path = signal_path(
        ordered, None if cutoff is None else limited_number('cutoff', cutoff),
        None if trim is None else limited_number('trim', trim, or_zero=True),
        None if saturation is None else limited_number('saturation', saturation))
    estimated = isinstance(delay, str) and delay == 'estimate'
    if not estimated:
        path = replace(path, delay=checked_delay(delay))
    automatic = isinstance(friction, str) and friction == 'auto'

    def model_with(terms: Terms) -> TorqueModel:
        return TorqueModel(
            robot, ordered[0].names or (), terms, payload, gravity, inertia, rotors, gains)

    model = model_with(ALL if automatic else checked_friction(robot, friction))
    if not model.names:
        raise ArgumentError('friction', 'leaves no unknown parameter. Fix fewer')
    values, free = held(model, fixed, physical)
    limits, ties = bounded(model, bounds, physical), weights(model, weight)
    report = progress or (lambda fraction: None)
    regression = Regression(model, ordered, path, free, values, smoothing_velocity)
    regression.settle(estimated, report)
    if automatic and model.joints:
        fewer = model_with(chosen_terms(
            model, regression.rows, regression.fit, regression.regrouping.columns))
        kept = [model.names.index(name) for name in fewer.names]
        limits, ties = limits[kept], ties[kept]
        regression = Regression(
            fewer, ordered, path, free[kept], values[kept], smoothing_velocity, regression)
        regression.settle(estimated, report)
    return regression.result(limits, physical, ties)
