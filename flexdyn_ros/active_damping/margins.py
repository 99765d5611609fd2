# SPDX-License-Identifier: Apache-2.0
"""Damping ratio, sensitivity and delay margin of an arm under a controller of its torques."""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.active_damping.sampled_arm import SampledArm
import numpy as np

BAND = 0.7, 1.4  # around a mode's frequency: poles there count as the mode's
_FREQUENCIES = 150
_LOWEST = 0.02  # of the frequencies, relative to the lowest mode


@dataclass(frozen=True)
class Controller:
    """
    x+ = a x + b y + g (v - u), u = c x + d y a sample, where v acts in place of u.

    Attributes:
        a: (n, n).
        b: (n, p).
        c: (m, n).
        d: (m, p).
        g: (n, m): the state stays an estimate where u exceeds its bound.
    """

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    d: np.ndarray
    g: np.ndarray

    def response(self, z: np.ndarray) -> np.ndarray:
        """Return c (z - a)^-1 b + d at numbers z, (k, 1, 1), as (k, m, p)."""
        return np.asarray(self.c @ np.linalg.solve(z * np.eye(len(self.a)) - self.a, self.b[None])
                          + self.d)

    def around(self, arm: SampledArm) -> np.ndarray:
        """Return the transition matrix of the closed loop."""
        return np.block([
            [arm.f + arm.g @ self.d @ arm.h, arm.g @ self.c], [self.b @ arm.h, self.a]])


def is_stable(f: np.ndarray) -> bool:
    """Return whether all eigenvalues of a transition matrix lie within the unit circle."""
    return bool(np.abs(np.linalg.eigvals(f)).max() < 1.0)


def least_ratios(poles: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return the least damping ratio of poles about each angular frequency, 1 where none is."""
    found = np.ones(len(rates))
    for k, rate in enumerate(rates):
        near = poles[(np.abs(poles) > BAND[0] * rate) & (np.abs(poles) < BAND[1] * rate)]
        found[k] = min(-near.real / np.abs(near), default=1.0)
    return found


def peak_sensitivity(arm: SampledArm, controller: Controller, lowest: float) -> float:
    """
    Return the largest singular value of S = (1 - C P)^-1 over all frequencies.

    S is the input sensitivity: from torques that disturb the actuators to the torques that act.
    Source: Skogestad and Postlethwaite, Multivariable Feedback Control, 2005, section 6.4.

    Args:
        arm: P, from torques to readings, with the joint loop closed.
        controller: C.
        lowest: Angular frequency of the lowest mode [rad/s].
    """
    m = arm.g.shape[1]
    poles = np.abs(arm.poles(controller.around(arm)).imag)
    grid = np.geomspace(_LOWEST * lowest, np.pi / arm.period, _FREQUENCIES)
    z = np.exp(1j * arm.period * np.concatenate((grid, poles[poles > 0.0])))[:, None, None]
    # NumPy 1 takes a matrix beside a stack for a stack of vectors.
    plant = arm.h @ np.linalg.solve(z * np.eye(len(arm.f)) - arm.f, arm.g[None])
    difference = np.eye(m) - controller.response(z) @ plant
    return float(1.0 / np.linalg.svd(difference, compute_uv=False)[:, -1].min())
