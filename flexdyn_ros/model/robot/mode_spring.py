# SPDX-License-Identifier: Apache-2.0
"""Nonlinear stiffness of a mode, as a frozen record."""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.model.robot.record import Record


@dataclass(frozen=True, repr=False)
class ModeSpring(Record):
    """
    A force of one mode's own coordinate x, beside the forces of the linear stiffness matrix.

    Attributes:
        mode: Name of the mode without the link.
        points: A table of deflection and force [m, N | rad, N m], deflections rising; () where
            the polynomial is given.
        polynomial: k_1, k_2, ... of the force k_1 x + k_2 x^2 + ... [N/m, N/m^2, ... |
            N m/rad, N m/rad^2, ...]; () where the table is given.
        replaces: Whether the mode's own entry of the stiffness matrix is left out.
    """

    mode: str
    points: tuple[tuple[float, float], ...] = ()
    polynomial: tuple[float, ...] = ()
    replaces: bool = False
