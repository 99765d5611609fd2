# SPDX-License-Identifier: Apache-2.0
"""
The modes integrated along a given joint motion: hybrid dynamics with an implicit step.

Modes are often faster than the rate of the messages, where an explicit step would blow up;
`Dynamics.hybrid_step` is stable at any step.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Iterator, Optional

from flexdyn_ros.nodes.arm.deflection import ModalEquations
from flexdyn_ros.nodes.arm.joint_motion import JointMotion, JointSample, linear_motion, ModalState
import numpy as np


@dataclass(frozen=True)
class ModalSettings:
    """
    Settings of the modal integration.

    Attributes:
        step: Longest step [s].
        longest_interval: Longest time between two samples that is integrated over [s].
        spectral_radius: Amplitude that a step leaves of very fast vibrations, 0 to 1.
    """

    step: float = 0.002
    longest_interval: float = 0.1
    spectral_radius: float = 0.9


class VibratingArm:
    """
    Modal state integrated from sample to sample of the joint motion.

    The first sample, a step back in time and an interval longer than `longest_interval` put the
    modes at the quasi-static deflection at rest.

    Attributes:
        state: The modal state at the last sample.
    """

    def __init__(self, equations: ModalEquations, settings: ModalSettings):
        """
        Start without a state.

        Args:
            equations: The modal equations.
            settings: Step, longest interval and numerical damping.
        """
        self._equations = equations
        self._settings = settings
        self._sample: Optional[JointSample] = None
        self.state = ModalState.zero(0)
        self._vector = np.zeros(0)  # see `Dynamics.hybrid_step`

    def reset(self) -> None:
        """Discard the state; the next sample starts anew."""
        self._sample = None

    def at(self, sample: JointSample) -> ModalState:
        """
        Integrate to a sample, the joint motion interpolated linearly since the last one.

        Args:
            sample: Joint motion at its time.

        Returns:
            The modal state at that time; its accelerations follow from hybrid dynamics.
        """
        previous, longest = self._sample, self._settings.longest_interval
        interval = 0.0 if previous is None else sample.time - previous.time
        if 0.0 < interval <= min(self._settings.step, longest):
            self._take_step(sample, interval)
            self._sample = sample
            return self.state
        if previous is not None and 0.0 < interval <= longest:
            for _ in self.stepwise(linear_motion(previous, sample), sample.time):
                pass
            return self.state
        if previous is None or sample.time != previous.time:
            self._equations.reset()
            self.state = self._equations.at(sample)
            self._vector = np.zeros(4 * len(self.state.delta))
        self._sample = sample
        self.state = state = self._equations.accelerated(sample, self.state)
        averaged = self._vector[3 * len(state.delta) :]
        self._vector = np.concatenate((state.delta, state.rate, state.acceleration, averaged))
        return state

    def take(self, delta: np.ndarray, rate: np.ndarray) -> None:
        """Go on from an estimate of deflections and rates, (m,) each, once there is a state."""
        if self._sample is None:
            return
        self.state = state = self._equations.accelerated(
            self._sample, ModalState(delta, rate, np.zeros_like(rate)))
        self._vector = np.concatenate((delta, rate, state.acceleration, state.acceleration))

    def stepwise(self, motion: JointMotion, end: float) -> Iterator[int]:
        """
        Integrate along a motion, from the last sample's time, yielding after each step.

        Args:
            motion: Joint motion as a function of time.
            end: Time to stop at [s].

        Yields:
            The number of steps left.
        """
        if self._sample is None:
            raise RuntimeError('The modes have no state yet: call at() with the first sample.')
        start = self._sample.time
        count = max(1, math.ceil((end - start) / self._settings.step - 1e-9))
        h = (end - start) / count
        last = motion(end)
        for left in reversed(range(count)):
            self._take_step(motion(end - left * h) if left else last, h)
            yield left
        self._sample = last

    def _take_step(self, sample: JointSample, h: float) -> None:
        step = h, self._settings.spectral_radius
        torque, self._vector = self._equations.step(sample, self._vector, step)
        delta, rate, acceleration, _ = self._vector.reshape(4, -1)
        self.state = ModalState(delta, rate, acceleration, torque)
