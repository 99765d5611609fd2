# SPDX-License-Identifier: Apache-2.0
"""
Observer-based feedback of modal amplitudes: LQG with two damping ratios to choose.

The poles l of the arm under its joint loop have amplitudes z with z+ = l z + b u. The law
minimises the sum of q |z|^2 over the modes to be damped, and of u^2 / kp over the actuators. For
one lightly damped mode, the average over a period of the Riccati equation gives the decay rate
|b| sqrt(q / 2) a sample, so that q is chosen by the ratio `feedback`. The estimate is the steady
Kalman filter under noise on these modes alone, chosen likewise by the ratio `estimate`. A random
walk added to each reading stands for its offset and for the sag; the law ignores both.
Source: Preumont, Vibration Control of Active Structures, 2011, sections 9.8 and 11.5.
"""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.active_damping.margins import Controller
from flexdyn_ros.active_damping.sampled_arm import SampledArm
from flexdyn_ros.modal_observer.kalman_gain import steady_gain
import numpy as np

LIGHT = 0.1  # damping ratio below which a pole counts as a vibration
_OFFSET = 0.1  # rate at which offsets are followed, relative to the lowest mode's
_SMALL = 1e-12  # noise on everything else, relative to the mean of that on the modes


@dataclass(frozen=True)
class ArmModes:
    """
    Lightly damped modes of a sampled arm under its joint loop, x = 2 Re(shapes z), z = filters x.

    Attributes:
        poles: Upper ones in continuous time, by frequency, (m,) [1/s].
        shapes: (n, m), complex.
        filters: (m, n), complex.
    """

    poles: np.ndarray
    shapes: np.ndarray
    filters: np.ndarray

    @property
    def rates(self) -> np.ndarray:
        """Angular frequencies [rad/s]."""
        return np.abs(self.poles)


def light_modes(arm: SampledArm) -> ArmModes:
    """Return all modes with a damping ratio below LIGHT."""
    values, right = np.linalg.eig(arm.f)
    lefts, left = np.linalg.eig(arm.f.T)
    poles = np.log(np.where(np.abs(values) > 1e-9, values, 1e-9).astype(complex)) / arm.period
    light = np.flatnonzero((poles.imag > 0.0) & (-poles.real < LIGHT * np.abs(poles)))
    light = light[np.argsort(np.abs(poles[light]))]
    rows = left[:, [int(np.argmin(np.abs(lefts - values[k]))) for k in light]].T
    shapes = right[:, light]
    rows = rows / np.einsum('ij,ji->i', rows, shapes)[:, None]
    return ArmModes(poles[light], shapes, rows)


def modal_law(
    arm: SampledArm, modes: ArmModes, weights: np.ndarray, deviations: np.ndarray,
    feedback: float, estimate: float,
) -> Controller:
    """
    Return the controller that damps all `modes`.

    Args:
        arm: The arm under its joint loop.
        modes: Those to be damped.
        weights: Costs of the squares of torques, (actuators,).
        deviations: Standard deviations of the readings' noise, (sensors,).
        feedback: Damping ratio that the feedback of exact amplitudes gives.
        estimate: Damping ratio of the error of the estimate.
    """
    n, (p, m) = len(arm.f), (len(arm.h), arm.g.shape[1])
    steps = modes.rates * arm.period
    moved = (np.abs(modes.filters @ arm.g) ** 2 / weights).sum(axis=1)
    sizes = np.sqrt(2.0 / moved) * feedback * steps
    rows = np.vstack((modes.filters.real, modes.filters.imag)) * np.tile(sizes, 2)[:, None]
    cost = rows.T @ rows
    # Dual to the filter, whose gain of the correction is multiplied by the transition matrix.
    gain = (arm.f.T @ steady_gain(
        arm.f.T, arm.g.T, cost + _SMALL * np.trace(cost) / n * np.eye(n), np.diag(weights))).T
    f = np.block([[arm.f, np.zeros((n, p))], [np.zeros((p, n)), np.eye(p)]])
    h = np.hstack((arm.h, np.eye(p)))
    seen = (np.abs(arm.h @ modes.shapes / deviations[:, None]) ** 2).sum(axis=0)
    sizes = np.sqrt(2.0 / seen) * estimate * steps
    columns = np.hstack((modes.shapes.real, modes.shapes.imag)) * np.tile(sizes, 2)
    noise = np.zeros((n + p, n + p))
    noise[:n, :n] = columns @ columns.T
    noise[:n, :n] += _SMALL * np.trace(noise) / n * np.eye(n)
    noise[n:, n:] = np.diag((deviations * _OFFSET * steps[0]) ** 2)
    filter_gain = steady_gain(f, h, noise, np.diag(deviations**2))
    law = np.hstack((gain, np.zeros((m, p))))
    # The state is the prediction for the next sample; its torque is known by then.
    g = np.vstack((arm.g, np.zeros((p, m))))
    moves = f - g @ law
    kept = np.eye(n + p) - filter_gain @ h
    return Controller(moves @ kept, moves @ filter_gain, -law @ kept, -law @ filter_gain, g)
