# SPDX-License-Identifier: Apache-2.0
"""The equations of motion along a simulation: torque and acceleration at one instant."""

from __future__ import annotations

from typing import Any, Callable, Optional, Union

from flexdyn_ros.arguments import real_vector, refuse_signature, STATE
from flexdyn_ros.checked_arguments import Wrenches
from flexdyn_ros.closed_chains.stepping import LoopMotion
from flexdyn_ros.errors import ArgumentError, LoopsCannotClose, SingularMassMatrix
from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
from flexdyn_ros.simulation.configuration import ConfigurationMap
from flexdyn_ros.simulation.divergence import Diverged
from flexdyn_ros.simulation.prescribed import BaseAcceleration, PrescribedBase
from flexdyn_ros.simulation.quadratures import Quadratures
from flexdyn_ros.simulation.stability import find_limit, StepLimit
from flexdyn_ros.simulation.tableaus import Tableau
from flexdyn_ros.simulation.torque_laws import TorqueLaw
import numpy as np
from numpy.typing import ArrayLike

TorqueFunction = Callable[[float, np.ndarray, np.ndarray], ArrayLike]
Torque = Union[None, ArrayLike, TorqueFunction, TorqueLaw]

_HUGE = 1e8  # a coordinate or rate beyond it [m, rad, /s] means that the motion has diverged


class EquationsOfMotion:
    """
    A robot with the torque that drives it, its base and its loops.

    Every method raises `Diverged` where the motion has grown beyond the range of numbers.

    Attributes:
        dyn: The dynamics.
        map: The configuration beside the velocity.
        loops: The stabilisation of the robot's loops; None where it has none.
        reduction: Reduced forms that a motion's method adds to its name.
        law: The torque where it needs no Python; None where it is constant or a function.
        held: Whether a torque function is evaluated by `hold` alone.
        constant: The constant torque, or the one that is held, (nv,); a law is added to it.
        quadratures: Integrals beside the motion.
        wrenches: Constant wrenches on frames, or None.
        on_base: Whether the base's motion is prescribed.
        slides: Whether the implicit method may take explicit steps between friction events.
        stops: Whether joints have stops, which the implicit method takes.
        mean_acceleration: Of that method's last step, (nv,), None before it and by other methods.
    """

    def __init__(
        self, dyn: Any, torque: Torque, base_acceleration: BaseAcceleration, held: bool = False,
        wrenches: Wrenches = None,
    ):
        """
        Check the arguments, which are those of `simulate`.

        Args:
            dyn: The dynamics.
            torque: The torque.
            base_acceleration: The acceleration of a prescribed base.
            held: Whether a torque function is evaluated by `hold` alone.
            wrenches: Constant wrenches on frames.

        Raises:
            ArgumentError: A constant torque or acceleration does not fit the robot.
        """
        self.map = ConfigurationMap.of(dyn)
        self.reduction = ''.join(f', {form}' for form in dyn.robot.reduced_forms)
        self.loops: Optional[LoopMotion] = None
        self.slides, self.stops = False, False
        self.mean_acceleration: Optional[np.ndarray] = None
        self.dyn = dyn
        self.wrenches = wrenches or None
        self._base = PrescribedBase.of(dyn, base_acceleration)
        self.on_base = self._base is not None
        self.law = torque if isinstance(torque, TorqueLaw) else None
        self.function: Optional[TorqueFunction] = torque if callable(torque) else None
        if self.function is not None:
            refuse_signature('torque', self.function, STATE)
        self.held = held and self.function is not None
        self.constant = np.zeros(self.map.nv)
        if self.law is not None:
            self._check_law(self.law)
        elif torque is not None and self.function is None:
            self.constant = self._checked(torque)
        self.constant.setflags(write=False)
        self.quadratures = Quadratures(
            dyn, self.law, wrenches=self.wrenches, driven=self.on_base)

    def load(self, wrenches: Wrenches) -> None:
        """Put other constant wrenches on frames."""
        self.wrenches = self.quadratures.wrenches = wrenches or None

    def _check_law(self, law: TorqueLaw) -> None:
        if law.width != self.map.nv:
            raise ArgumentError(
                'torque', f'gives {law.width} generalised forces, expected {self.map.nv}'
            )
        if self._base is not None:
            for k in law.of_v.tolist():
                self._base.refuse_torque(np.eye(self.map.nv)[k])
            if law.table is not None:
                for row in law.table.coefficients.reshape(-1, self.map.nv):
                    self._base.refuse_torque(row)

    def torque(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the generalised forces, (nv,), at one instant."""
        if self.law is not None:
            return self.constant + self.law.torque(t, q, qd, self.quadratures.integral)
        if self.function is None or self.held:
            return self.constant
        return self._evaluated(t, q, qd)

    def hold(self, t: float, q: np.ndarray, qd: np.ndarray) -> None:
        """Evaluate a torque function and hold the result."""
        self.constant = self._evaluated(t, q, qd)

    def _evaluated(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        assert self.function is not None
        self.require_finite(q, qd)
        q.setflags(write=False)
        qd.setflags(write=False)
        try:
            return self._checked(self.function(t, q, qd))
        except ArgumentError as error:
            if error.argument != 'torque':
                raise
            raise ArgumentError(
                'torque', f'{error.problem}, as returned at t = {t:.6g} s'
            ) from error

    def _checked(self, torque: Any) -> np.ndarray:
        tau = np.array(real_vector('torque', torque, self.map.nv, self.dyn.robot.n_modes))
        if self._base is not None:
            self._base.refuse_torque(tau)
        return tau

    def begin_step(self, t: float, h: float, tableau: Tableau) -> None:
        """Prepare a step of a method from t to t + h [s]."""
        if self.loops is not None:
            self.loops.begin_step(t, h, tableau)

    def acceleration(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, stage: int
    ) -> np.ndarray:
        """
        Return the accelerations, (nv,), at one instant.

        Args:
            t: Time [s].
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
            tau: Generalised forces, (nv,).
            stage: Stage of the step that was begun last, from 0.
        """
        self.require_finite(q, qd)
        try:
            with np.errstate(over='ignore', invalid='ignore'):
                if self.wrenches:
                    tau = tau - self.dyn.external_force_vector(q, self.wrenches)
                if self.loops is not None:
                    base = None if self._base is None else self._base.given(t, q, qd)
                    return self.loops.acceleration(q, qd, tau, stage, base)
                if self._base is not None:
                    return self._base.acceleration(t, q, qd, tau)
                return np.asarray(self.dyn.forward_dynamics(q, qd, tau))
        except SingularMassMatrix as error:
            if np.max(np.abs(np.concatenate((q, qd))), initial=0.0) > _HUGE:
                raise self.divergence(q, qd) from error
            raise
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            raise self.divergence(q, qd) from error

    def sample(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return configuration, velocity and forces at one instant, as they are recorded."""
        return q, qd, self.with_base_wrench(t, q, qd, tau)

    def step_limit(self, q: np.ndarray, tableau: Tableau) -> Optional[StepLimit]:
        """Return the largest stable time step about q, None where unknown."""
        return find_limit(self.dyn, q, tableau)

    def with_base_wrench(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
    ) -> np.ndarray:
        """Return tau, (nv,), of a prescribed base with the wrench that moves it."""
        if self._base is None:
            return tau
        if self.loops is not None:
            base, n = self._base.given(t, q, qd), BASE_COORDINATES
            loads = np.zeros(len(tau))
            if self.wrenches:
                loads -= self.dyn.external_force_vector(q, self.wrenches)
            wrench = self.loops.reaction(t, q, qd, tau + loads, base) - loads[:n]
            return np.concatenate((wrench, tau[n:]))
        qdd = self.mean_acceleration
        qdd = self.acceleration(t, q, qd, tau, 0) if qdd is None else qdd
        wrench = self.dyn.inverse_dynamics(q, qd, qdd, self.wrenches)[:BASE_COORDINATES]
        return np.concatenate((wrench, tau[BASE_COORDINATES:]))

    @property
    def held_coordinates(self) -> int:
        """Number of velocities at the start of v whose rates are given."""
        return BASE_COORDINATES if self.on_base else 0

    @property
    def constant_base(self) -> Optional[list[float]]:
        """The acceleration of a prescribed base, (6,), where it is constant, or None."""
        return None if self._base is None else self._base.constant

    def base_acceleration(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the given acceleration of a prescribed base, (6,)."""
        assert self._base is not None
        return np.array(self._base.given(t, q, qd))

    def end_step(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest state that may follow a step, its loops closed."""
        self.require_finite(q, qd)
        if self.loops is None:
            return q, qd
        try:
            return self.loops.end_step(q, qd)
        except (LoopsCannotClose, np.linalg.LinAlgError) as error:
            raise self.divergence(q, qd) from error

    def require_finite(self, q: np.ndarray, qd: np.ndarray) -> None:
        """Refuse a state that is not finite."""
        if not (np.isfinite(q).all() and np.isfinite(qd).all()):
            raise self.divergence(q, qd)

    def divergence(self, q: np.ndarray, qd: np.ndarray) -> Diverged:
        """Return the error with the coordinate whose rate, or value, is not finite or largest."""
        if np.isfinite(qd).all() and not np.isfinite(q).all():
            return Diverged(self.map.names[int(np.argmin(np.isfinite(q)))])
        size = np.abs(np.where(np.isfinite(qd), qd, np.inf))
        return Diverged(self.map.velocity_names[int(np.argmax(size))])
