# SPDX-License-Identifier: Apache-2.0
"""
Damping matrix of a beam's modes: modal ratios, Rayleigh and loss factor, which add up.

- A damping ratio z damps a coordinate by 2 z sqrt(k m), its own stiffness and modal mass.
- Rayleigh: D = a M + b K, so that a natural mode w has the ratio a / 2 w + b w / 2.
- A loss factor h stands for the complex stiffness (1 + i h) K of the material. Its equivalent
  viscous damping dissipates as much at each natural frequency w_k of the link's modes, root held:
  h k_k / w_k of mode k, a ratio of h / 2 (Nashif, Jones and Henderson, Vibration Damping, 1985,
  section 2.3). In matrices D = h sum_k w_k (M x_k)(M x_k)^T with K x_k = w_k^2 M x_k and
  x_k^T M x_k = 1.
"""

from __future__ import annotations

from typing import Sequence

from flexdyn_ros.model.modal.eigenproblem import reduced_eigenproblem
import numpy as np


def damping_matrix(
    mass: np.ndarray,
    stiffness: np.ndarray,
    ratios: Sequence[float],
    rayleigh: tuple[float, float] = (0.0, 0.0),
    loss_factor: float = 0.0,
) -> np.ndarray:
    """
    Return the damping matrix of m modes, shape (m, m).

    Args:
        mass: Generalised mass, shape (m, m), positive definite.
        stiffness: Generalised stiffness, shape (m, m).
        ratios: Damping ratio of each coordinate, length m.
        rayleigh: Factors of mass [1/s] and stiffness [s].
        loss_factor: Of the material.
    """
    own = np.sqrt(np.diag(stiffness) * np.diag(mass))
    damping = np.diag(2.0 * np.asarray(ratios, dtype=float) * own)
    damping = damping + rayleigh[0] * mass + rayleigh[1] * stiffness
    if loss_factor:
        squares, vectors, lower = reduced_eigenproblem(stiffness, mass)
        rates = np.sqrt(np.maximum(squares, 0.0))
        carried = lower @ vectors
        damping = damping + loss_factor * (carried * rates) @ carried.T
    return damping
