# SPDX-License-Identifier: Apache-2.0
"""
Loops along a simulated motion: accelerations that meet them, and control of the drift.

The equations meet the constraints in accelerations alone, so that positions drift apart. Three
ways keep the loops closed:

- "projection" brings the state of every step back to the nearest one that meets the loops;
- "force" pushes frame1 back with f = -kp error - kd rate, beside the constraint forces (van der
  Merwe, Multi-body dynamics of robotic structures, 1995, eq. 5.75). It acts on the tip, and so
  reduces the force that the tip exerts;
- "baumgarte" prescribes relative accelerations of -kp error - kd rate (J. Baumgarte, Stabilization
  of constraints and integrals of motion in dynamical systems, 1972).

"none" lets them drift.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional, Protocol, Sequence, Union

from flexdyn_ros.arguments import one_of
from flexdyn_ros.closed_chains.solve import spaces, tolerance_of
from flexdyn_ros.errors import ArgumentError
import numpy as np

# Gains kp and kd: [N/m, N s/m] (the reference's) and [1/s^2, 1/s].
GAINS = {'projection': None, 'force': (60.0, 40.0), 'baumgarte': (100.0, 20.0), 'none': None}
# A start that opens loops faster than this, of the largest velocity, is refused [m/s | rad/s].
OPENING = 1e-3

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


class PrescribedErrors:
    """
    Constraint errors and their rates that follow from prescribed accelerations of loops.

    They are the double integral of these accelerations by the Runge-Kutta method of the motion.
    The gains that hold the drift therefore keep the method's order.

    Attributes:
        offset: Errors at the start of the step, or after `end_step` at its end, (n,) [m | rad].
        rate: Their rates there, (n,) [m/s | rad/s].
    """

    def __init__(self, size: int):
        """Start with `size` closed constraints at rest."""
        self.offset, self.rate = np.zeros(size), np.zeros(size)
        self._stages: list[tuple[np.ndarray, np.ndarray]] = []
        self._end = (self.offset, self.rate)

    def begin_step(
        self,
        h: float,
        a: Sequence[Sequence[float]],
        b: Sequence[float],
        accelerations: Sequence[np.ndarray],
    ) -> None:
        """
        Prepare the stages of a step.

        Args:
            h: Length of the step [s].
            a: Coefficients of the method, a row a stage.
            b: Weights of the stages.
            accelerations: The prescribed quantities at each stage's time, (n,) each.
        """
        self._stages = []
        for row in (*a, b):
            rate = self.rate + h * sum(w * g for w, g in zip(row, accelerations))
            offset = self.offset + h * sum(w * r for w, (_, r) in zip(row, self._stages))
            self._stages.append((offset, rate))
        self._end = self._stages.pop()

    def at(self, stage: int) -> tuple[np.ndarray, np.ndarray]:
        """Return errors and their rates at a stage, (n,) each; zero without prescribed motion."""
        return self._stages[stage] if self._stages else (self.offset, self.rate)

    def end_step(self) -> None:
        """Move on to the end of the step."""
        self.offset, self.rate = self._end


class LoopMotion:
    """
    The loops of one simulation.

    Attributes:
        drift: The stabilisation of the drift.
        rank: Rank of the constraints at the last closed state where it was found.
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
        Check the arguments.

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
        one_of('drift', drift, tuple(GAINS))
        self.drift = drift
        self._gains = self._checked_gains(gains)
        self._dyn, self._closed = dyn, dyn.closed_chains
        self._forces = forces
        self._accelerations = accelerations
        self._prescribed = PrescribedErrors(len(dyn.robot.constraint_names))
        self.rank = 0
        self._inputs = [self._inputs_at(0.0)]

    @property
    def is_plain(self) -> bool:
        """Whether the loops have neither inputs nor gains that hold them."""
        given = self._accelerations is not None or self._forces is not None
        return self._gains is None and not given

    def _checked_gains(self, gains: Any) -> Optional[tuple[float, float]]:
        usual = GAINS[self.drift]
        if gains is None:
            return usual
        if usual is None:
            raise ArgumentError(
                'drift_gains', f'has no effect with drift="{self.drift}". Remove it')
        try:
            kp, kd = (float(gain) for gain in gains)
        except (TypeError, ValueError, OverflowError):
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
        self._closed.require_closed(self._dyn.loop_gaps(q), 'q0')
        names, rates = self._dyn.robot.constraint_names, self._dyn.loop_jacobian(q) @ qd
        worst = int(np.argmax(np.abs(rates)))
        if abs(rates[worst]) > OPENING * max(1.0, np.abs(qd).max(initial=0.0)):
            raise ArgumentError(
                'qd0',
                f'opens loop constraint "{names[worst]}" by {rates[worst]:.3g} [m/s | rad/s]; '
                'start from dyn.project(q0, qd0)',
            )
        return self._dyn.project(q, qd)

    def _inputs_at(self, t: float) -> Any:
        given = self._accelerations
        return self._closed.inputs(given(t) if callable(given) else given, self._forces)

    def begin_step(self, t: float, h: float, method: RungeKuttaMethod) -> None:
        """Prepare a step from t to t + h [s]: the inputs prescribed at its stages."""
        if self._accelerations is None:
            return
        self._inputs = [self._inputs_at(t + c * h) for c in method.c]
        self._prescribed.begin_step(
            h, method.a, method.b, [inputs.accelerations for inputs in self._inputs]
        )

    def acceleration(
        self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, stage: int,
        base: Optional[Sequence[float]] = None,
    ) -> np.ndarray:
        """
        Return qdd, (nv,), at a stage of a step, counted from 0.

        The rank is found at the step's first stage, a closed state, and kept. States inside a
        step are a little open, and repeated constraints look independent there.
        """
        inputs, backend = self._inputs[stage if len(self._inputs) > 1 else 0], self._dyn.equations
        state = q.tolist(), qd.tolist()
        correction = None
        if self._gains is not None:
            kp, kd = self._gains
            offset, rate = self._prescribed.at(stage)
            error = self._closed.constraint_errors(backend, q) - offset
            error_rate = self._closed.jacobian(backend, q) @ qd - rate
            correction = -kp * error - kd * error_rate
        if correction is not None and self.drift == 'baumgarte':
            inputs = inputs.with_accelerations(correction)
            correction = None
        if stage and base is None and self.is_plain:
            settings = np.inf, self.rank + 1.0
            compiled = backend.closed('forward_dynamics', (*state, tau.tolist()), settings)
            if compiled is not None:
                return compiled
        found = self._closed.motion(
            backend, *state, tau, (), inputs, self.rank if stage else None, correction, base
        )
        self.rank = found.rank
        return found.qdd

    def find_rank(self, q: np.ndarray) -> None:
        """Take the rank at a closed configuration, (nq,)."""
        tolerance = tolerance_of(self._dyn.loop_gaps(q))
        self.rank = spaces(self._dyn.loop_jacobian(q), None, tolerance).rank

    def free_motions(self, q: np.ndarray) -> np.ndarray:
        """Return orthonormal motions that loops of the last rank leave free, (nv, n)."""
        return spaces(self._dyn.loop_jacobian(q), self.rank).free

    def reaction(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, base: Sequence[float]
    ) -> np.ndarray:
        """Return the wrench that moves a prescribed base, (6,), in its axes [N, N m]."""
        return self._closed.motion(
            self._dyn.equations, q.tolist(), qd.tolist(), tau, (), self._inputs_at(t), base=base
        ).reaction

    def end_step(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the state at the end of the step, projected under drift="projection"."""
        if self._accelerations is not None:
            self._prescribed.end_step()
        if self.drift != 'projection':
            return q, qd
        errors = self._prescribed
        driven = self._accelerations is not None
        targets, rates = (errors.offset, errors.rate) if driven else (None, None)
        return self._closed.corrected(self._dyn.equations, q, qd, self.rank, targets, rates)
