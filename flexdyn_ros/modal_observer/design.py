# SPDX-License-Identifier: Apache-2.0
"""
The gain of the modal observer in one configuration, and its error for each mode.

The noise of `held_modes` is taken times 1, 0.3 or 0.1. The smaller it is, the less the noise of
sensors enters, and the more an error of stiffness does. The factor with the smallest mean of the
predicted errors is chosen, of those with a stable estimate. The prediction for mode i, relative to
its amplitude a_i:

    by noise      sqrt(2) times the standard deviation under the noise of sensors, in steady state
    by stiffness  the response to the force stiffness_error w_i^2 a_i cos(w_i t) on the mode

Where the root of their squares exceeds 0.25, the mode is unobservable, and its rows of the gain
are zero. In the design, modes have at least the damping ratio stiffness_error^2 / pi: a mode that
no sensor observes then has the standard deviation a_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.modal_observer.held_modes import held_modes, HeldArmModes, ModelUncertainty
from flexdyn_ros.modal_observer.kalman_gain import sampled, steady_gain
from flexdyn_ros.modal_observer.sensor_equations import differences
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np
from scipy.linalg import expm, solve_discrete_lyapunov

UNOBSERVABLE = 0.25  # relative error from which a mode is not estimated
FACTORS = (1.0, 0.3, 0.1)


@dataclass(frozen=True)
class ModeObservability:
    """
    Error of the estimate of one mode of the arm with its joints held.

    Attributes:
        frequency: [Hz].
        by_noise: Error by the noise of the sensors, relative to the amplitude to be estimated.
        by_stiffness: The same by an error of the stiffness.
        made_of: The modal coordinate with the largest part in its kinetic energy.
    """

    frequency: float
    by_noise: float
    by_stiffness: float
    made_of: str

    @property
    def error(self) -> float:
        """Predicted error, relative to the amplitude."""
        return float(np.hypot(self.by_noise, self.by_stiffness))

    @property
    def observable(self) -> bool:
        """Whether the mode is estimated."""
        return self.error <= UNOBSERVABLE


@dataclass(frozen=True)
class ObserverDesign:
    """
    The observer in one configuration.

    Attributes:
        a: Derivative of the rate of the state by the state, (2 nv, 2 nv).
        phi1: h phi1(h A), (2 nv, 2 nv) [s].
        phi2: h phi2(h A), the same.
        gain: From innovations to corrections, (2 nv, sensors).
        modes: Observability of each mode, by ascending frequency.
    """

    a: np.ndarray
    phi1: np.ndarray
    phi2: np.ndarray
    gain: np.ndarray
    modes: tuple[ModeObservability, ...]


Function = Callable[[np.ndarray, np.ndarray], np.ndarray]


def design(
    dyn: Dynamics, state: np.ndarray, tau: np.ndarray, rate: Function, readings: Function,
    deviations: np.ndarray, period: float, uncertainty: ModelUncertainty,
) -> ObserverDesign:
    """
    Return the observer about a state.

    Args:
        dyn: The dynamics.
        state: q, then qd, (2 nv,).
        tau: Joint torques, then modal forces, (nv,).
        rate: From state and tau to the rate of the state, (2 nv,).
        readings: From state and tau to the readings, (sensors,).
        deviations: Standard deviations of the readings' noise, (sensors,).
        period: Of the updates [s].
        uncertainty: Of the model.

    Raises:
        FlexdynError: The estimate without the unobserved modes is unstable.
    """
    try:
        return _designed(dyn, state, tau, rate, readings, deviations, period, uncertainty)
    except np.linalg.LinAlgError as error:
        raise FlexdynError(
            f'The modal observer has no gain in this configuration: {error}. '
            'Add sensors, or reduce their noise.') from error


def _designed(
    dyn: Dynamics, state: np.ndarray, tau: np.ndarray, rate: Function, readings: Function,
    deviations: np.ndarray, period: float, uncertainty: ModelUncertainty,
) -> ObserverDesign:
    nv, n = dyn.robot.nv, dyn.robot.n_joints
    held = held_modes(dyn, state[:nv], uncertainty)
    # Forces on joints and held modes, as accelerations and in the readings.
    push = np.zeros((nv, nv))
    push[:n, :n], push[n:, n:] = np.eye(n), held.filters.T
    system = ObservedSystem(
        differences(lambda x: rate(x, tau), state),
        np.vstack((np.zeros((nv, nv)), np.linalg.solve(dyn.mass_matrix(state[:nv]), push))),
        differences(lambda x: readings(x, tau), state),
        differences(lambda force: readings(state, tau + force), np.zeros(nv), 1.0) @ push,
        np.hstack((np.zeros((nv - n, n)), held.filters)), period)
    found = []
    for factor in FACTORS:
        f, gain = _gain(system, held, factor, deviations, uncertainty.stiffness_error)
        errors = _errors(system, held, f, gain, deviations, uncertainty.stiffness_error)
        found.append((np.minimum(np.hypot(*errors), 1.0).mean(), f, gain, errors))
    found.sort(key=lambda each: each[0])
    largest = np.argmax(np.abs(held.filters * held.shapes.T), axis=1)
    for _, f, gain, errors in found:
        modes = tuple(
            ModeObservability(float(w) / (2.0 * np.pi), float(noise), float(lag),
                              dyn.robot.mode_names[k])
            for w, noise, lag, k in zip(held.rates, *errors, largest))
        unseen = [k for k, mode in enumerate(modes) if not mode.observable]
        left_out = held.shapes[:, unseen] @ held.filters[unseen]
        for rows in (slice(n, nv), slice(nv + n, 2 * nv)):
            gain[rows] -= left_out @ gain[rows]
        if np.abs(np.linalg.eigvals(f - gain @ system.h @ f)).max() < 1.0:
            return ObserverDesign(system.a, *_exponentials(system.a, period), gain, modes)
    named = ', '.join(
        f'{mode.frequency:.3g} Hz ({mode.made_of})' for mode in modes if not mode.observable)
    raise FlexdynError(
        'The modal observer is unstable without the modes that its sensors do not observe: '
        f'{named}. Add sensors, or reduce their noise.')


@dataclass(frozen=True)
class ObservedSystem:
    """
    The system x' = a x + g u, y = h x + d u, with the force u on each joint, then on each mode.

    Attributes:
        a: (2 nv, 2 nv).
        g: (2 nv, nv).
        h: (sensors, 2 nv).
        d: (sensors, nv).
        filters: Amplitudes of the m modes of q, or their rates of qd, (m, nv).
        period: Of the updates [s].
    """

    a: np.ndarray
    g: np.ndarray
    h: np.ndarray
    d: np.ndarray
    filters: np.ndarray
    period: float


def _gain(
    system: ObservedSystem, held: HeldArmModes, factor: float, deviations: np.ndarray,
    stiffness_error: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the transition matrix over a period and the gain, with a factor on the noise."""
    m, nv = system.filters.shape
    damped, intensity = system.a.copy(), factor**2 * np.diag(held.noise)
    drag = 2.0 / np.pi * stiffness_error**2 * held.rates
    damped[:, nv:] -= system.g[:, nv - m:] * drag @ system.filters
    f, q = sampled(damped, system.g @ intensity @ system.g.T, system.period)
    r = np.diag(deviations**2) + system.d @ intensity @ system.d.T / system.period
    return f, steady_gain(f, system.h, q, r)


def _errors(
    system: ObservedSystem, held: HeldArmModes, f: np.ndarray, gain: np.ndarray,
    deviations: np.ndarray, stiffness_error: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the relative errors of each mode by noise and by stiffness, (m,) each."""
    m, nv = system.filters.shape
    kept = f - gain @ system.h @ f
    spread = solve_discrete_lyapunov(kept, gain * deviations**2 @ gain.T)[:nv, :nv]
    variances = np.einsum('ij,jk,ik->i', system.filters, spread, system.filters)
    force = system.g[:, nv - m:] * system.period
    enters = force - gain @ (system.h @ force + system.d[:, nv - m:])
    by_stiffness = [
        stiffness_error * w**2 * abs(system.filters[k] @ np.linalg.solve(
            np.exp(1j * w * system.period) * np.eye(2 * nv) - kept, enters[:, k])[:nv])
        for k, w in enumerate(held.rates)]
    # Unobserved modes have variances of rounding, of either sign.
    return np.sqrt(2.0 * np.maximum(variances, 0.0)) / held.amplitudes, np.array(by_stiffness)


def _exponentials(a: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray]:
    """Return h phi1(h A) and h phi2(h A), with phi1(z) = (e^z - 1)/z, phi2 = (phi1 - 1)/z."""
    n = len(a)
    block = np.zeros((3 * n, 3 * n))
    block[:n, :n], block[:n, n:2 * n], block[n:2 * n, 2 * n:] = period * a, np.eye(n), np.eye(n)
    both = period * expm(block)[:n]
    return both[:, n:2 * n], both[:, 2 * n:]
