# SPDX-License-Identifier: Apache-2.0
"""
The gain of the modal observer in one configuration, and how well it estimates each mode.

The noise of `held_modes` is taken times 1, 0.3 or 0.1: the smaller it is, the less the noise of
sensors enters, and the more an error of stiffness does. The factor with the smallest mean of the
predicted errors is chosen. The prediction for mode i, relative to its amplitude a_i:

    by noise      sqrt(2) times the standard deviation under the noise of sensors, in steady state
    by stiffness  the response to the force stiffness_error w_i^2 a_i cos(w_i t) on the mode

Where the root of their squares exceeds 0.25, the mode is unobservable, and its rows of the gain
are zero. In the design, modes have at least the damping ratio stiffness_error^2 / pi: a mode that
no sensor observes then has the standard deviation a_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.modal_observer.held_modes import HeldModes, held_modes, ModelUncertainty
from flexdyn_ros.modal_observer.kalman_gain import sampled, steady_gain
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np
from scipy.linalg import expm, solve_discrete_lyapunov

UNOBSERVABLE = 0.25  # relative error from which a mode is not estimated
FACTORS = (1.0, 0.3, 0.1)
_STEP = 1e-6  # of differences


@dataclass(frozen=True)
class ModeObservability:
    """
    How well one mode of the arm with its joints held is estimated.

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
        deviations: Standard deviations of the readings' noise, (sensors,).
        modes: Observability of each mode, by ascending frequency.
    """

    a: np.ndarray
    phi1: np.ndarray
    phi2: np.ndarray
    gain: np.ndarray
    deviations: np.ndarray
    modes: tuple[ModeObservability, ...]


Rate = Callable[[np.ndarray, np.ndarray], np.ndarray]


def design(
    dyn: Dynamics, state: np.ndarray, tau: np.ndarray, rate: Rate, readings: Rate,
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
        FlexdynError: The estimate of what is observed is unstable.
    """
    robot, nv, n = dyn.robot, dyn.robot.nv, dyn.robot.n_joints
    a = _differences(lambda x: rate(x, tau), state)
    h = _differences(lambda x: readings(x, tau), state)
    held = held_modes(dyn, state[:nv], uncertainty)
    # Forces on joints and held modes, as accelerations and in the readings.
    push = np.zeros((nv, nv))
    push[:n, :n], push[n:, n:] = np.eye(n), held.filters.T
    g = np.vstack((np.zeros((nv, nv)), np.linalg.solve(dyn.mass_matrix(state[:nv]), push)))
    d = _differences(lambda force: readings(state, tau + force), np.zeros(nv), 1.0) @ push
    damped = a - 2.0 / np.pi * uncertainty.stiffness_error**2 * (
        g[:, n:] * held.rates @ np.hstack((np.zeros((len(held.rates), nv + n)), held.filters)))
    found = []
    for factor in FACTORS:
        intensity = factor**2 * np.diag(held.noise)
        f, q = sampled(damped, g @ intensity @ g.T, period)
        r = np.diag(deviations**2) + d @ intensity @ d.T / period
        gain = steady_gain(f, h, q, r)
        errors = _errors(f, h, gain, g[:, n:] * period, d[:, n:], held, deviations, period,
                         uncertainty.stiffness_error, n)
        found.append((np.minimum(np.hypot(*errors), 1.0).mean(), factor, gain, errors))
    _, _, gain, errors = min(found, key=lambda each: each[:2])
    made_of = [robot.mode_names[k] for k in np.argmax(np.abs(held.filters * held.shapes.T), axis=1)]
    modes = tuple(
        ModeObservability(float(w) / (2.0 * np.pi), float(noise), float(lag), name)
        for w, noise, lag, name in zip(held.rates, *errors, made_of))
    unseen = [k for k, mode in enumerate(modes) if not mode.observable]
    left_out = held.shapes[:, unseen] @ held.filters[unseen]
    gain[n:nv] -= left_out @ gain[n:nv]
    gain[nv + n:] -= left_out @ gain[nv + n:]
    if np.abs(np.linalg.eigvals(f - gain @ h @ f)).max() >= 1.0:
        raise FlexdynError(
            'The modal observer is unstable without the modes that its sensors do not observe. '
            'Add sensors, or reduce their noise.')
    phi1, phi2 = _exponentials(a, period)
    return ObserverDesign(a, phi1, phi2, gain, deviations, modes)


def _errors(
    f: np.ndarray, h: np.ndarray, gain: np.ndarray, force: np.ndarray, direct: np.ndarray,
    held: HeldModes, deviations: np.ndarray, period: float, stiffness_error: float, n: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the relative errors of each mode by noise and by stiffness, (m,) each."""
    m = len(held.rates)
    kept = f - gain @ h @ f
    rows = np.zeros((m, len(f)))
    rows[:, n:n + m] = held.filters
    spread = solve_discrete_lyapunov(kept, gain * deviations**2 @ gain.T)
    by_noise = np.sqrt(2.0 * np.einsum('ij,jk,ik->i', rows, spread, rows)) / held.amplitudes
    enters = force - gain @ (h @ force + direct)
    by_stiffness = []
    for k, w in enumerate(held.rates):
        response = np.linalg.solve(
            np.exp(1j * w * period) * np.eye(len(f)) - kept, enters[:, k])
        by_stiffness.append(stiffness_error * w**2 * abs(rows[k] @ response))
    return by_noise, np.array(by_stiffness)


def _differences(
    function: Callable[[np.ndarray], np.ndarray], at: np.ndarray, step: float = _STEP
) -> np.ndarray:
    """Return the derivative of a vector by central differences."""
    return np.transpose([
        (function(at + move) - function(at - move)) / (2.0 * step)
        for move in step * np.eye(len(at))])


def _exponentials(a: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray]:
    """Return h phi1(h A) and h phi2(h A), with phi1(z) = (e^z - 1)/z, phi2 = (phi1 - 1)/z."""
    n = len(a)
    block = np.zeros((3 * n, 3 * n))
    block[:n, :n], block[:n, n:2 * n], block[n:2 * n, 2 * n:] = period * a, np.eye(n), np.eye(n)
    both = period * expm(block)[:n]
    return both[:, n:2 * n], both[:, 2 * n:]
