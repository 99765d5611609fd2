# SPDX-License-Identifier: Apache-2.0
"""
Modes of an arm with its joints held, from recorded signals.

Free decays have no input. Where a joint moves, its motion is the input. The modes of signals by
that motion are those with the joint held. Signals and input are alike then: deflections or strains
by positions, rates of turn by velocities, accelerations by accelerations.
"""

from __future__ import annotations

from typing import Mapping, Optional, Sequence

from flexdyn_ros.errors import ArgumentError, require_known
from flexdyn_ros.identification.modes import identify_modes
from flexdyn_ros.modal_testing.measured_modes import MeasuredMode, ModalTest, real_shape, Sensor
import numpy as np

UNEVEN = 1e-3  # part of a step by which steps differ before signals are interpolated


def recorded_test(
    t: np.ndarray, signals: Mapping[str, np.ndarray], sensors: Sequence[Sensor] = (),
    chosen: Sequence[str] = (), inputs: Sequence[str] = (), count: Optional[int] = None,
    band: Optional[tuple[float, float]] = None,
) -> ModalTest:
    """
    Return the modes that signals contain; those that sensors name give their shapes.

    Args:
        t: Rising times; stamps may jitter or repeat, (T,) [s].
        signals: By name, (T,) each.
        sensors: Where signals of one kind are measured, those of one log.
        chosen: Names of signals; without any all that are no input and change.
        inputs: Names of signals that excite the others.
        count: Number of modes; see `identify_modes`.
        band: Least and greatest frequency [Hz]; see `identify_modes`.

    Raises:
        UnknownName: There is no signal of a name.
        ArgumentError: Times fall, or signals do not suit `identify_modes`.
    """
    named = [sensor.name for sensor in sensors]
    require_known('signal', (*chosen, *inputs, *named), signals)
    used = dict.fromkeys([*named, *(chosen or (
        name for name, values in signals.items() if name not in inputs and np.ptp(values) > 0.0))])
    t, table = _even(t, np.column_stack([signals[name] for name in (*used, *inputs)]))
    modes = identify_modes(
        t, table[:, : len(used)], table[:, len(used) :] if inputs else None, count, band)
    if not modes:
        raise ArgumentError('signals', 'contains no mode of vibration. Record a free vibration')
    found = []
    for mode in modes:
        shape = None
        if sensors:
            parts = mode.participation[: len(sensors)].reshape(len(sensors), -1)
            strongest = np.argmax(np.linalg.norm(parts, axis=0))
            shape = real_shape(parts[:, strongest])
        found.append(MeasuredMode(mode.frequency, mode.damping_ratio, shape))
    return ModalTest(tuple(found), tuple(sensors))


def _even(t: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return even times and values (T, n) at them, by cubic splines where steps differ."""
    from scipy.interpolate import make_interp_spline

    if np.any(np.diff(t) < 0.0):
        raise ArgumentError('t', 'falls, expected rising times [s]')
    kept = np.concatenate([[True], np.diff(t) > 0.0])
    t, values = t[kept], values[kept]
    step = float(np.median(np.diff(t))) if len(t) > 1 else 0.0
    if len(t) < 4 or np.ptp(np.diff(t)) < UNEVEN * step:
        return t, values
    even = np.arange(t[0], t[-1], step)
    return even, make_interp_spline(t, values, k=3)(even)
