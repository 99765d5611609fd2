# SPDX-License-Identifier: Apache-2.0
"""
The modes integrated along a given joint motion: hybrid dynamics with an implicit step.

Modes are often faster than the rate of the messages, where an explicit step would blow up;
`Dynamics.hybrid_step` is stable at any step.
"""

from __future__ import annotations

import math
from typing import Iterator, Optional

from flexdyn_ros.nodes.arm.deflection import ModalEquations
from flexdyn_ros.nodes.arm.joint_motion import JointMotion, JointSample, linear_motion, ModalState
import numpy as np


class VibratingArm:
    """
    Modal state integrated from sample to sample of the joint motion.

    The first sample, a step back in time and an interval longer than `longest_interval` put the
    modes at the quasi-static deflection at rest.
    """

    def __init__(
        self,
        equations: ModalEquations,
        step: float = 0.002,
        longest_interval: float = 0.1,
        spectral_radius: float = 0.9,
    ):
        """
        Start without a state.

        Args:
            equations: The modal equations.
            step: Longest step [s].
            longest_interval: Longest time between two samples that is integrated over [s].
            spectral_radius: Amplitude that a step leaves of very fast vibrations, 0 to 1.
        """
        self._equations = equations
        self._step = step
        self._longest_interval = longest_interval
        self._radius = spectral_radius
        self._sample: Optional[JointSample] = None
        self._state = ModalState.zero(0)
        self._vector = np.zeros(0)  # see `Dynamics.hybrid_step`

    def reset(self) -> None:
        """Forget the state; the next sample starts anew."""
        self._sample = None

    def at(self, sample: JointSample) -> ModalState:
        """
        Integrate to a sample, the joint motion interpolated linearly since the last one.

        Args:
            sample: Joint motion at its time.

        Returns:
            The modal state at that time; its accelerations follow from hybrid dynamics.
        """
        previous = self._sample
        interval = 0.0 if previous is None else sample.time - previous.time
        if 0.0 < interval <= self._step and interval <= self._longest_interval:
            self._take_step(sample, interval)
            self._sample = sample
            return self._state
        if previous is not None and 0.0 < interval <= self._longest_interval:
            return self.advance(linear_motion(previous, sample), sample.time)
        if previous is None or sample.time != previous.time:
            self._equations.reset()
            self._state = self._equations.at(sample)
            self._vector = np.zeros(4 * len(self._state.delta))
        self._sample = sample
        self._state = state = self._equations.accelerated(sample, self._state)
        averaged = self._vector[3 * len(state.delta) :]
        self._vector = np.concatenate((state.delta, state.rate, state.acceleration, averaged))
        return state

    def advance(self, motion: JointMotion, end: float) -> ModalState:
        """
        Integrate along a motion, from the last sample's time.

        Args:
            motion: Joint motion as a function of time.
            end: Time to stop at [s].

        Returns:
            The modal state at `end`.
        """
        for _ in self.stepwise(motion, end):
            pass
        return self.state

    @property
    def state(self) -> ModalState:
        """The modal state at the last sample."""
        return self._state

    def stepwise(self, motion: JointMotion, end: float) -> Iterator[int]:
        """
        Integrate as `advance` does, yielding after each step.

        Args:
            motion: Joint motion as a function of time.
            end: Time to stop at [s].

        Yields:
            The number of steps left.
        """
        if self._sample is None:
            raise RuntimeError('The modes have no state yet: call at() with the first sample.')
        start = self._sample.time
        count = max(1, math.ceil((end - start) / self._step - 1e-9))
        h = (end - start) / count
        last = motion(end)
        for left in reversed(range(count)):
            self._take_step(motion(end - left * h) if left else last, h)
            yield left
        self._sample = last

    def _take_step(self, sample: JointSample, h: float) -> None:
        torque, self._vector = self._equations.step(sample, self._vector, (h, self._radius))
        delta, rate, acceleration, _ = self._vector.reshape(4, -1)
        self._state = ModalState(delta, rate, acceleration, torque)
