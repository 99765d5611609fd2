# SPDX-License-Identifier: Apache-2.0
"""
Loops along a simulated motion: accelerations that meet them, and what holds the drift.

Integration leaves the constraints, which are met in accelerations only. Three ways hold them:

- "projection" brings the state of every step back to the nearest one that meets the loops;
- "force" pushes frame1 back with f = -kp gap - kd rate, beside the constraint forces, which take
  no account of it (van der Merwe, Multi-body dynamics of robotic structures, 1995, eq. 5.75; it
  acts on the tip, so that it counts against the force that the tip exerts);
- "baumgarte" asks for relative accelerations of -kp gap - kd rate (J. Baumgarte, Stabilization of
  constraints and integrals of motion in dynamical systems, 1972).

"none" lets them drift.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional, Protocol, Sequence, Union

from flexdyn_ros.closed_chains.driven_gaps import DrivenGaps
from flexdyn_ros.errors import ArgumentError
import numpy as np

# Gains kp and kd: [N/m, N s/m] (the reference's) and [1/s^2, 1/s].
GAINS = {'projection': None, 'force': (60.0, 40.0), 'baumgarte': (100.0, 20.0), 'none': None}
# A start that is further from closed than this [m | rad] is refused.
OPEN = 1e-3

LoopAccelerations = Union[None, Mapping[str, Any], Callable[[float], Mapping[str, Any]]]


class RungeKuttaMethod(Protocol):
    """The coefficients of an explicit Runge-Kutta method."""

    @property
    def a(self) -> Sequence[Sequence[float]]:
        """Return the coefficients, a row a stage."""

    @property
    def b(self) -> Sequence[float]:
        """Return the weights of the stages."""

    @property
    def c(self) -> Sequence[float]:
        """Return the times of the stages as fractions of the step."""


class LoopMotion:
    """
    The loops of one simulation.

    Attributes:
        drift: How drift is held.
    """

    def __init__(
        self,
        dyn: Any,
        drift: str,
        gains: Optional[tuple[float, float]],
        accelerations: LoopAccelerations,
        forces: Optional[Mapping[str, Any]],
    ):
        """
        Check what is given.

        Args:
            dyn: The dynamics of a robot with loops.
            drift: "projection", "force", "baumgarte" or "none".
            gains: kp and kd of "force" or "baumgarte", None for the usual ones.
            accelerations: By loop, of frame1 in its constrained directions; or a function of
                the time that returns them.
            forces: By loop, on frame1 in its free directions.

        Raises:
            ArgumentError: If there is no such way, or gains do not fit.
        """
        if drift not in GAINS:
            raise ArgumentError('drift', f'is {drift!r}, and must be one of {", ".join(GAINS)}')
        self.drift = drift
        self._gains = self._checked_gains(gains)
        self._dyn, self._closed = dyn, dyn.closed_chains
        self._forces = forces
        self._accelerations = accelerations
        self._driven = DrivenGaps(len(dyn.robot.constraint_names))
        self._rank: Optional[int] = None
        self._loadings = [self._loading(0.0)]

    def _checked_gains(self, gains: Any) -> Optional[tuple[float, float]]:
        usual = GAINS[self.drift]
        if gains is None:
            return usual
        if usual is None:
            raise ArgumentError('drift_gains', f'has no effect with drift="{self.drift}"')
        try:
            kp, kd = (float(gain) for gain in gains)
        except (TypeError, ValueError):
            raise ArgumentError('drift_gains', 'must be two numbers, kp and kd') from None
        if not (0.0 <= kp < np.inf and 0.0 <= kd < np.inf):
            raise ArgumentError('drift_gains', f'are {kp} and {kd}, expected zero or more')
        return kp, kd

    def start(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the state to start from.

        Raises:
            ArgumentError: If the state does not meet the loops.
        """
        if self.drift == 'none':
            return q, qd
        names = self._dyn.robot.constraint_names
        for argument, values, unit in (
            ('q0', self._dyn.loop_gaps(q), 'm | rad'),
            ('qd0', self._dyn.loop_jacobian(q) @ qd, 'm/s | rad/s'),
        ):
            worst = int(np.argmax(np.abs(values)))
            if abs(values[worst]) > OPEN * max(1.0, np.abs(qd).max(initial=0.0)):
                raise ArgumentError(
                    argument,
                    f'leaves loop constraint "{names[worst]}" open by {values[worst]:.3g} '
                    f'[{unit}]; start from dyn.project(q0, qd0)',
                )
        return self._dyn.project(q, qd)

    def _loading(self, t: float) -> Any:
        given = self._accelerations
        return self._closed.loading(given(t) if callable(given) else given, self._forces)

    def begin_step(self, t: float, h: float, method: RungeKuttaMethod) -> None:
        """Prepare a step from t to t + h [s]: what is prescribed at its stages."""
        if self._accelerations is None:
            self._loadings = [self._loadings[0]] * len(method.c)
            return
        self._loadings = [self._loading(t + c * h) for c in method.c]
        self._driven.begin_step(
            h, method.a, method.b, [loading.accelerations for loading in self._loadings]
        )

    def acceleration(
        self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, stage: int,
        base: Optional[Sequence[float]] = None,
    ) -> np.ndarray:
        """
        Return qdd, (nv,), at a stage of a step, counted from 0.

        The rank is found at the step's first stage, a closed state, and kept: states inside a
        step are a little open, which makes repeated constraints look independent.
        """
        loading, backend = self._loadings[stage], self._dyn.equations
        if stage == 0:
            self._rank = None
        push = None
        if self._gains is not None:
            kp, kd = self._gains
            offset, rate = self._driven.at(stage)
            gap = self._closed.gaps(backend, q) - offset
            gap_rate = self._closed.jacobian(backend, q) @ qd - rate
            push = -kp * gap - kd * gap_rate
        if push is not None and self.drift == 'baumgarte':
            loading = loading.faster(push)
            push = None
        found = self._closed.motion(
            backend, list(q), list(qd), tau, (), loading, self._rank, push, base
        )
        if stage == 0:
            self._rank = found.rank
        return found.qdd

    def reaction(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, base: Sequence[float]
    ) -> np.ndarray:
        """Return the wrench that moves a prescribed base, (6,), in its axes [N, N m]."""
        return self._closed.motion(
            self._dyn.equations, list(q), list(qd), tau, (), self._loading(t), base=base
        ).reaction

    def end_step(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the state at the end of the step, brought back where asked."""
        if self._accelerations is not None:
            self._driven.end_step()
        if self.drift != 'projection':
            return q, qd
        rank = 0 if self._rank is None else self._rank
        driven = self._driven
        return self._closed.corrected(
            self._dyn.equations, q, qd, rank, driven.offset, driven.rate
        )
