# SPDX-License-Identifier: Apache-2.0
"""Robots whose links are cut into segments, and references of their tests."""

from pathlib import Path

from flexdyn_ros.simulation.frequencies import natural_modes, stiffness_matrix
import numpy as np
from oracles.compare import reference_dynamics
from oracles.segment_arms import LENGTH, MASS, STIFFNESS
import pytest

URDF = Path(__file__).resolve().parents[2] / 'urdf'
BOTH = pytest.mark.parametrize('placement', ['centred', 'reference'])
# Clamped-free bending, (beta L)^2, and torsion, of a uniform beam (Blevins, Formulas for Natural
# Frequency and Mode Shape, 1979).
ROOTS = np.array([1.8751040687, 4.6940911330, 7.8547574382]) ** 2
RATE = np.sqrt(STIFFNESS['z'] / (MASS * LENGTH**3))


def frequencies(robot):
    """Return the natural frequencies of the straight robot, joints locked [rad/s]."""
    dyn, rest, n = reference_dynamics(robot), np.zeros(robot.nv), robot.n_joints
    return natural_modes(dyn.mass_matrix(rest)[n:, n:], stiffness_matrix(dyn, rest)[n:, n:])[0]
