# SPDX-License-Identifier: Apache-2.0
"""
The modes of an arm with its joints held, and the noise that stands for errors of its model.

A force error of amplitude f that alternates at the angular frequency w counts as white noise of
intensity 4 f^2 / (pi w). Over half a period both change the momentum by 2 f / w, the noise in the
root mean square. The intensity is chosen such that the change of velocity over a time T is
of the order of sqrt(intensity T). Source: Bar-Shalom, Li and Kirubarajan, Estimation with
Applications to Tracking and Navigation, 2001, section 6.2.2.

The force error on mode i is stiffness_error w_i^2 a_i. The amplitudes a_i fall as 1 / w_i^2 from
that of the lowest mode, as under one force at the tip. The error of a joint's torque is
torque_error times the largest torque that these amplitudes have there. At least it is a hundredth
of that for a swing of the joint by the tip's amplitude. Added is friction_error times its Coulomb
friction, at the lowest frequency.
"""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.frequencies import natural_modes, stiffness_matrix
import numpy as np

LEAST = 0.01  # share of the torque of a joint that no mode moves
LEVER = 0.1  # place beside a tip's frame where rotations count as displacements [m]


@dataclass(frozen=True)
class ModelUncertainty:
    """
    Uncertainty of the model.

    Attributes:
        amplitude: Of the vibrations to be estimated, at the tip that moves most [m].
        stiffness_error: Relative error of stiffnesses.
        torque_error: Error of joint torques, relative to the largest that the amplitude has there.
        friction_error: Relative error of Coulomb friction.
    """

    amplitude: float = 2e-3
    stiffness_error: float = 0.1
    torque_error: float = 0.02
    friction_error: float = 0.2


@dataclass(frozen=True)
class HeldArmModes:
    """
    The m modes of an arm with its joints held in one configuration.

    Attributes:
        rates: Angular frequencies, ascending, (m,) [rad/s].
        shapes: As columns over the modal coordinates, (m, m), with unit modal mass.
        filters: Rows that give the modal amplitudes of modal coordinates, (m, m).
        amplitudes: Those that move a tip by the amplitude to be estimated, (m,).
        noise: Intensity of the noise on each joint, then on each mode, (nv,).
    """

    rates: np.ndarray
    shapes: np.ndarray
    filters: np.ndarray
    amplitudes: np.ndarray
    noise: np.ndarray


def held_modes(dyn: Dynamics, q: np.ndarray, uncertainty: ModelUncertainty) -> HeldArmModes:
    """Return the modes in a configuration, (nv,), and the noise of an uncertain model."""
    robot, n = dyn.robot, dyn.robot.n_joints
    mass, stiffness = dyn.mass_matrix(q), stiffness_matrix(dyn, q)
    rates, shapes = natural_modes(mass[n:, n:], stiffness[n:, n:])
    sizes = np.zeros(len(rates))
    for frame in robot.tip_names:
        moved = dyn.jacobian(q, frame)[:, n:] @ shapes
        moved[3:] *= LEVER
        sizes = np.maximum(sizes, np.linalg.norm(moved, axis=0))
    amplitudes = uncertainty.amplitude / sizes
    forces = amplitudes * rates[0] ** 2
    torques = np.maximum(
        np.abs(mass[:n, n:] @ shapes * forces).max(axis=1),
        LEAST * np.diag(mass)[:n] * rates[0] ** 2 * uncertainty.amplitude)
    coulomb = np.array([robot.joint(name).dynamics.friction.coulomb for name in robot.joint_names])
    errors = np.concatenate((
        uncertainty.torque_error * torques + uncertainty.friction_error * coulomb,
        uncertainty.stiffness_error * forces))
    at = np.concatenate((np.full(n, rates[0]), rates))
    noise = 4.0 / np.pi * errors**2 / at
    return HeldArmModes(rates, shapes, shapes.T @ mass[n:, n:], amplitudes, noise)
