# SPDX-License-Identifier: Apache-2.0
"""Controllers that sample: hold, delay, noise and anti-windup; and several at every instant."""

from __future__ import annotations

from math import gcd
from typing import Optional, Sequence

from flexdyn_ros.scenario.controllers import ScenarioController
import numpy as np

_NANOSECONDS = 1e9
# Shortest time for which torques are held, part of the shortest period.
_FINEST = 1000
_LONGEST = 1e6  # period or delay [s]


class ContinuousTorque:
    """
    The sum of controllers that act at every instant.

    Attributes:
        offset: Time at which the run starts [s].
        constant: Torques beside them, (nv,).
    """

    def __init__(self, controllers: Sequence[ScenarioController], width: int):
        self._controllers = controllers
        self.offset, self.constant = 0.0, np.zeros(width)

    def __call__(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the torque, (nv,)."""
        found = self.constant.copy()
        for each in self._controllers:
            found += each.torque(self.offset + t, q, qd, np.zeros(0))[0]
        return found


class SampledTorque:
    """
    The sum of controllers that sample the state and hold their torques.

    Noise, integrals and delays advance once a sample, in the order of time. Until the first
    delayed torque arrives, that of the first sample acts.

    Attributes:
        offset: Time at which the run starts [s].
        constant: Torques beside them, (nv,).
        period: Time for which the sum is held [s].
    """

    def __init__(self, controllers: Sequence[ScenarioController], width: int):
        self.offset, self.constant = 0.0, np.zeros(width)
        periods = [_nanoseconds(each, 'rate', 1.0 / each.section['rate'])
                   for each in controllers]
        delays = [_nanoseconds(each, 'delay', each.section['delay']) for each in controllers]
        hold = gcd(*periods, *delays)
        if hold * _FINEST < min(periods):
            raise controllers[0].section.error(
                'rate', 'and delays of the controllers have no common period',
                'Write delays and periods that are multiples of one time.')
        self.period = hold / _NANOSECONDS
        self._samplers = [
            _Sampler(each, period // hold, delay // hold)
            for each, period, delay in zip(controllers, periods, delays)]
        self._tick = -1
        self._sum = np.zeros(width)

    def __call__(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the torque at the start of a period, (nv,)."""
        now = self.offset + t
        tick = round(now / self.period)
        if tick > self._tick:
            self._tick = tick
            self._sum = np.sum(
                [each.advance(tick, now, q, qd) for each in self._samplers], axis=0)
        return self._sum + self.constant

    @property
    def held(self) -> np.ndarray:
        """The torque that is held now, (nv,)."""
        return np.asarray(self._sum + self.constant)

    def next_sample(self, t: float) -> float:
        """Return the first time at which a period begins, not before t [s]."""
        return float(np.ceil(t / self.period - 1e-6) * self.period)


class _Sampler:
    """One controller with its memory."""

    def __init__(self, controller: ScenarioController, every: int, delay: int):
        self._controller, self._every, self._delay = controller, every, delay
        section = controller.section
        noise = section['noise']
        self._deviations = noise['position'], noise['velocity']
        self._random = np.random.default_rng(noise['seed'])
        self._period = 1.0 / section['rate']
        self._integral = start_integral(controller)
        self._waiting: list[tuple[int, np.ndarray]] = []
        self._value: Optional[np.ndarray] = None

    def advance(self, tick: int, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the torque from a tick on, (nv,)."""
        if tick % self._every == 0:
            torque = self._sample(t, q, qd)
            if self._value is None:
                self._value = torque
            self._waiting.append((tick + self._delay, torque))
        while self._waiting and self._waiting[0][0] <= tick:
            self._value = self._waiting.pop(0)[1]
        assert self._value is not None
        return self._value

    def _sample(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        law, controller = self._controller.law, self._controller
        q, qd = q.copy(), qd.copy()
        for values, places, deviation in zip(
                (q, qd), (law.of_q, law.of_v), self._deviations):
            if deviation:
                values[places] += deviation * self._random.standard_normal(len(places))
        given, wanted = controller.torque(t, q, qd, self._integral)
        if law.integrals:
            self._integrate(law.errors(t, q), (given - wanted)[law.of_v])
        return given

    def _integrate(self, errors: np.ndarray, cut: np.ndarray) -> None:
        """Advance the integrals; `cut` is the torque that saturation removes, (n,)."""
        section, ki = self._controller.section, self._controller.law.ki
        if section['anti_windup'] == 'conditional':
            errors = np.where(cut * errors < 0.0, 0.0, errors)
        elif section['anti_windup'] == 'back_calculation':
            back = np.divide(cut, ki, out=np.zeros_like(cut), where=ki > 0.0)
            errors = errors + back / section['tracking_time']
        self._integral = self._integral + self._period * errors


def start_integral(controller: ScenarioController) -> np.ndarray:
    """Return the integrals of position errors at the start, (integrals,)."""
    law, section = controller.law, controller.section
    if not law.integrals:
        return np.zeros(0)
    torque = section.vector('integral_torque', controller.names, 'driven joint')
    return np.divide(torque, law.ki, out=np.zeros_like(torque), where=law.ki > 0.0)


def _nanoseconds(controller: ScenarioController, key: str, seconds: float) -> int:
    found = seconds * _NANOSECONDS
    if not (found >= 1.0 or key == 'delay') or found > _LONGEST * _NANOSECONDS:
        raise controller.section.error(
            key, f'stands for {seconds:g} s', f'Expected 1e-9 to {_LONGEST:g} s.')
    return round(found)
