# SPDX-License-Identifier: Apache-2.0
"""
The search for a controller that keeps its margins with a wrong stiffness and more delay.

A grid over the two ratios of `modal_law.py` is searched. The design with the smallest peak of the
sensitivity is taken, among those that keep all bounds with stiffnesses exact, too low and too
high:

    the damping ratio of each mode rises RISE times, or to 0.1
    the peak input sensitivity is below 3.5, or 2 where a sensor besides motor encoders is read
    twice the delay, at least 4 ms, is added and leaves the loop stable
"""

from __future__ import annotations

from itertools import product
import math
from typing import Optional, Sequence

from flexdyn_ros.active_damping.margins import (
    Controller,
    is_stable,
    least_ratios,
    peak_sensitivity,
)
from flexdyn_ros.active_damping.modal_law import ArmModes, modal_law
from flexdyn_ros.active_damping.sampled_arm import arm_at_rest, sampled_arm, SampledArm
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.model.records.sensor import MountedSensor
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np

RISE, ENOUGH = 7.0, 0.1  # of the damping ratio; 5 with a reserve for errors of the model
PEAK_BY_MOTORS, PEAK_BY_LINKS = 3.5, 2.0
EXTRA_DELAY = 4e-3  # [s]
KEPT_RISE = 2.0  # within the range of joint positions
REACHES = (0.4, 0.3, 0.2, 0.1, 0.05)  # ranges that are tried [rad | m]
_FEEDBACK, _ESTIMATE = (0.1, 0.15, 0.25, 0.4), (0.1, 0.15, 0.25, 0.4, 0.8)
_EXTRA = 64  # longest delay that is tried, in periods


class DesignSearch:
    """Arms at joint positions under a joint loop, and the designs that keep the bounds there."""

    def __init__(
        self, dyn: Dynamics, gains: Sequence[np.ndarray], sensors: Sequence[MountedSensor],
        steps: tuple[float, int, bool], stiffness_error: float,
    ):
        self._dyn, self._gains, self._sensors = dyn, gains, sensors
        self._period, self.delay, self._in_drives = steps
        self.extra = max(self.delay, math.ceil(0.5 * EXTRA_DELAY / self._period)) * 2
        self.factors = (1.0, 1.0 - stiffness_error, 1.0 + stiffness_error)
        by_motors = all(each.measures == 'motor_position' for each in sensors)
        self.bound = PEAK_BY_MOTORS if by_motors else PEAK_BY_LINKS
        self.deviations = np.array([each.noise for each in sensors])

    def arms(
        self, joint_q: np.ndarray, actuators: Sequence[int], extra: int = 0
    ) -> list[SampledArm]:
        """Return the arm with each stiffness."""
        return [
            sampled_arm(
                arm_at_rest(self._dyn, joint_q, self._gains, self._sensors, factor), actuators,
                self._period, self.delay + extra, self._in_drives)
            for factor in self.factors]

    def rises(
        self, arms: Sequence[SampledArm], controller: Controller, rates: np.ndarray
    ) -> np.ndarray:
        """Return the factor by which each ratio rises with each stiffness, (factors, modes)."""
        return np.array([
            least_ratios(arm.poles(controller.around(arm)), rates)
            / np.maximum(least_ratios(arm.poles(arm.f), rates), 1e-9) for arm in arms])

    def keeps(
        self, arms: Sequence[SampledArm], controller: Controller, rates: np.ndarray, rise: float
    ) -> bool:
        """Return whether each ratio rises enough with each stiffness."""
        ratios = [least_ratios(arm.poles(controller.around(arm)), rates) for arm in arms]
        enough = (self.rises(arms, controller, rates) >= rise) | (np.array(ratios) >= ENOUGH)
        return bool(enough.all())

    def peak(
        self, joint_q: np.ndarray, actuators: Sequence[int], controller: Controller,
        rates: np.ndarray, rise: float,
    ) -> Optional[float]:
        """Return the peak of the sensitivity at joint positions; None where a bound is broken."""
        arms = self.arms(joint_q, actuators)
        late = self.arms(joint_q, actuators, self.extra)
        return self.peak_of(arms, late, controller, rates, rise)

    def peak_of(
        self, arms: Sequence[SampledArm], late: Sequence[SampledArm], controller: Controller,
        rates: np.ndarray, rise: float,
    ) -> Optional[float]:
        """Return the same of given arms, and of these with the extra delay."""
        if not all(is_stable(controller.around(arm)) for arm in (*arms, *late)):
            return None
        if not self.keeps(arms, controller, rates, rise):
            return None
        peak = max(peak_sensitivity(arm, controller, rates[0]) for arm in arms)
        return peak if peak < self.bound else None


def best_controller(
    search: DesignSearch, at: np.ndarray, places: Sequence[int], modes: ArmModes, kp: np.ndarray
) -> tuple[Controller, float]:
    """Return the controller with the lowest peak of the sensitivity, and this peak."""
    arms, late = search.arms(at, places), search.arms(at, places, search.extra)
    found = []
    for feedback, estimate in product(_FEEDBACK, _ESTIMATE):
        controller = modal_law(
            arms[0], modes, 1.0 / kp[places], search.deviations, feedback, estimate)
        peak = search.peak_of(arms, late, controller, modes.rates, RISE)
        if peak is not None:
            found.append((peak, controller))
    if not found:
        raise FlexdynError(
            f'No controller raises the damping ratio {RISE:g} times with a peak sensitivity '
            f'below {search.bound:g}. It must stay stable with '
            f'{1e3 * search.extra * arms[0].period:.3g} ms more than the delay of '
            f'{1e3 * search.delay * arms[0].period:.3g} ms. Reduce the '
            'delay, add a sensor on the link side, or damp fewer modes.')
    peak, controller = min(found, key=lambda each: each[0])
    return controller, peak


def range_of(
    search: DesignSearch, at: np.ndarray, places: Sequence[int], controller: Controller,
    rates: np.ndarray,
) -> float:
    """Return the largest range of each joint alone in which the bounds hold; 0 for none."""
    for reach in REACHES:
        if all(
            search.peak(at + sign * reach * unit, places, controller, rates, KEPT_RISE) is not None
            for unit in np.eye(len(at)) for sign in (-1.0, 1.0)
        ):
            return reach
    return 0.0


def delay_margin(
    search: DesignSearch, at: np.ndarray, places: Sequence[int], controller: Controller
) -> float:
    """Return the longest extra delay that was found stable [s]."""
    longest, step = search.extra, search.extra
    while longest < _EXTRA and all(
        is_stable(controller.around(arm)) for arm in search.arms(at, places, longest + step)
    ):
        longest += step
    return longest * search.arms(at, places)[0].period
