# SPDX-License-Identifier: Apache-2.0
"""
The modes integrated along a given joint motion: hybrid dynamics with an implicit step.

Modes are often faster than the rate of the messages, where an explicit step would blow up. The
generalised-alpha method of Chung and Hulbert (1993), in the form of Arnold and Bruels (2007) for
nonlinear equations, is stable at any step and of second order; it fulfils the modal rows of the
equations of motion at the end of every step, so that modal positions, rates and accelerations
agree there with hybrid dynamics.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Iterator, Optional

from flexdyn_ros.nodes.arm.deflection import ModalEquations, QuasiStaticArm
from flexdyn_ros.nodes.arm.joint_motion import JointMotion, JointSample, linear_motion, ModalState
import numpy as np

MAX_ITERATIONS = 10
RELATIVE_TOLERANCE = 1e-9
SMALLEST_DEFLECTION = 1e-9


@dataclass(frozen=True)
class StepWeights:
    """Weights of the generalised-alpha method for one spectral radius at infinite frequency."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float

    @classmethod
    def of(cls, spectral_radius: float) -> StepWeights:
        """Return the weights, Chung and Hulbert (1993), equations 17, 20 and 25."""
        alpha_m = (2.0 * spectral_radius - 1.0) / (spectral_radius + 1.0)
        alpha_f = spectral_radius / (spectral_radius + 1.0)
        gamma = 0.5 - alpha_m + alpha_f
        return cls(alpha_m, alpha_f, 0.25 * (1.0 - alpha_m + alpha_f) ** 2, gamma)


class VibratingArm:
    """
    Modal state integrated from sample to sample of the joint motion.

    The first sample, a step back in time and a gap longer than `maximum_gap` put the modes at the
    quasi-static deflection at rest.
    """

    def __init__(
        self,
        equations: ModalEquations,
        step: float = 0.002,
        maximum_gap: float = 0.1,
        spectral_radius: float = 0.9,
    ):
        """
        Start without a state.

        Args:
            equations: The modal equations.
            step: Longest step [s].
            maximum_gap: Longest time between two samples that is integrated over [s].
            spectral_radius: Amplitude that a step leaves of very fast vibrations, 0 to 1.
        """
        self._equations = equations
        self._quasi_static = QuasiStaticArm(equations)
        self._step = step
        self._maximum_gap = maximum_gap
        self._weights = StepWeights.of(spectral_radius)
        self._sample: Optional[JointSample] = None
        self._state = ModalState.zero(0)
        self._averaged = np.zeros(0)

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
        if previous is not None and 0.0 < sample.time - previous.time <= self._maximum_gap:
            return self.advance(linear_motion(previous, sample), sample.time)
        if previous is None or sample.time != previous.time:
            self._restart(sample)
        self._sample = sample
        self._state = self._with_accelerations(sample)
        return self._state

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
        for k in range(count):
            self._take_step(motion(start + (k + 1) * h), h)
            yield count - k - 1
        self._sample = motion(end)

    def _restart(self, sample: JointSample) -> None:
        self._quasi_static.reset()
        self._state = self._quasi_static.at(sample)
        self._averaged = self._state.acceleration

    def _with_accelerations(self, sample: JointSample) -> ModalState:
        """Return the state with the accelerations of hybrid dynamics (linear, so one solve)."""
        state = ModalState(self._state.delta, self._state.rate, np.zeros(len(self._state.delta)))
        force = self._equations.residual(sample, state)
        mass = self._equations.mass(sample, state.delta)
        return ModalState(state.delta, state.rate, -np.linalg.solve(mass, force))

    def _take_step(self, sample: JointSample, h: float) -> None:
        w = self._weights
        old = self._state
        scale = (1.0 - w.alpha_f) / (1.0 - w.alpha_m)
        slope_rate = h * w.gamma * scale
        slope_delta = h * h * w.beta * scale
        matrix = (
            self._equations.mass(sample, old.delta)
            + slope_rate * self._equations.damping
            + slope_delta * self._equations.stiffness
        )
        acceleration = old.acceleration
        for _ in range(MAX_ITERATIONS):
            averaged = (
                (1.0 - w.alpha_f) * acceleration
                + w.alpha_f * old.acceleration
                - w.alpha_m * self._averaged
            ) / (1.0 - w.alpha_m)
            delta = old.delta + h * old.rate + h * h * (
                (0.5 - w.beta) * self._averaged + w.beta * averaged
            )
            rate = old.rate + h * ((1.0 - w.gamma) * self._averaged + w.gamma * averaged)
            state = ModalState(delta, rate, acceleration)
            change = np.linalg.solve(matrix, self._equations.residual(sample, state))
            acceleration = acceleration - change
            moved = slope_delta * np.abs(change).max(initial=0.0)
            size = max(np.abs(delta).max(initial=0.0), SMALLEST_DEFLECTION)
            if moved <= RELATIVE_TOLERANCE * size:
                break
        self._state = ModalState(delta, rate, acceleration)
        self._averaged = averaged
