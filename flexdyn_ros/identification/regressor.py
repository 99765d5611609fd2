# SPDX-License-Identifier: Apache-2.0
"""
The torques of a robot as a linear function of its inertial parameters.

The reference algorithms run on arrays of samples in place of floats. A rigid body on a link adds
J^T w. J is the Jacobian of the link's frame, w the wrench of Newton and Euler about its origin. It
is linear in mass, first moment and inertia. Source: Khalil and Dombre, Modeling, Identification
and Control of Robots, 2002, section 9.2.
"""

from __future__ import annotations

from typing import Any, Sequence

from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.dynamics.scalar import Spline, stumpff
from flexdyn_ros.model.records.base import cross_matrices
from flexdyn_ros.model.records.robot import Robot
import numpy as np

# Ten numbers of a rigid body in its link's frame: mass, first moment, inertia about the origin.
INERTIAL = ('mass', 'mx', 'my', 'mz', 'ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')


class SampleArray(np.ndarray):
    """Samples of a number as a scalar of the algorithms."""

    def sin(self) -> Any:
        """Return the sines."""
        return np.sin(self)

    def cos(self) -> Any:
        """Return the cosines."""
        return np.cos(self)

    def exp(self) -> Any:
        """Return the exponentials."""
        return np.exp(self)

    def tanh(self) -> Any:
        """Return the hyperbolic tangents."""
        return np.tanh(self)

    def stumpff(self, order: int) -> Any:
        """Return Stumpff's functions of an order."""
        return np.array([stumpff(order, u) for u in self.tolist()]).view(SampleArray)

    def piecewise(self, function: Spline) -> Any:
        """Return the values of a piecewise polynomial."""
        return np.array([function.at(x) for x in self.tolist()]).view(SampleArray)


def sample_scalars(rows: np.ndarray) -> list[Any]:
    """Return the columns of an array (T, n) as n scalars."""
    return [np.ascontiguousarray(column).view(SampleArray) for column in rows.T]


def stacked(values: object, count: int) -> np.ndarray:
    """Return nested lists of numbers and sample arrays as one array (T, ...)."""
    if isinstance(values, (list, tuple)):
        return np.stack([stacked(each, count) for each in values], axis=1)
    return np.broadcast_to(np.asarray(values, dtype=float), (count,))


def inertial_regressor(
    robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, links: Sequence[str]
) -> np.ndarray:
    """
    Return the derivatives of the generalised forces by the links' inertial parameters.

    Args:
        robot: The robot; its inertias do not matter.
        q: Configurations, (T, nq).
        qd: Velocities, (T, nv).
        qdd: Accelerations, (T, nv).
        links: Names of n links.

    Returns:
        Shape (T, nv, 10 n): for each link `INERTIAL`, in its frame's axes about its origin.
    """
    count, backend = len(q), ReferenceBackend(robot, list(robot.gravity_vector), {})
    at, rates = sample_scalars(q), sample_scalars(qd)
    found = np.zeros((count, robot.nv, 10 * len(links)))
    for k, link in enumerate(links):
        jacobian = stacked(backend.jacobian(at, link), count)
        bias = stacked(backend.jacobian_rate_qd(at, rates, link), count)
        rotation = stacked(backend.frame_pose(at, link), count)[:, :3, :3]
        omega = np.einsum('tij,tj->ti', jacobian[:, 3:], qd)
        change = np.einsum('tij,tj->ti', jacobian, qdd) + bias
        change[:, :3] -= robot.gravity
        omega, linear, angular = (
            np.einsum('tji,tj->ti', rotation, each)
            for each in (omega, change[:, :3], change[:, 3:])
        )
        own = np.concatenate(
            [np.einsum('tji,tjk->tik', rotation, jacobian[:, part])
             for part in (slice(0, 3), slice(3, 6))], axis=1)
        found[:, :, 10 * k : 10 * k + 10] = np.einsum(
            'tiv,tip->tvp', own, _wrenches(omega, angular, linear))
    return found


def known_forces(
    robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> np.ndarray:
    """Return the inverse dynamics of a robot over samples, payloads included, (T, nv)."""
    payloads = {payload.link: payload.inertia for payload in robot.payloads}
    backend = ReferenceBackend(robot, list(robot.gravity_vector), payloads)
    at, rates, change = (sample_scalars(each) for each in (q, qd, qdd))
    return stacked(backend.inverse_dynamics(at, rates, change), len(q))


def _wrenches(omega: np.ndarray, alpha: np.ndarray, linear: np.ndarray) -> np.ndarray:
    """Return force and moment of a body by its parameters in its axes, (T, 6, 10)."""
    count = len(omega)
    spin, turn, pull = map(cross_matrices, (omega, alpha, linear))
    found = np.zeros((count, 6, 10))
    found[:, :3, 0] = linear
    found[:, :3, 1:4] = turn + spin @ spin
    found[:, 3:, 1:4] = -pull
    found[:, 3:, 4:] = _on_inertia(alpha) + spin @ _on_inertia(omega)
    return found


def _on_inertia(vectors: np.ndarray) -> np.ndarray:
    """Return I v by the six numbers xx yy zz xy xz yz of I, (T, 3, 6)."""
    x, y, z = vectors.T
    found = np.zeros((len(vectors), 3, 6))
    found[:, 0, 0], found[:, 0, 3], found[:, 0, 4] = x, y, z
    found[:, 1, 1], found[:, 1, 3], found[:, 1, 5] = y, x, z
    found[:, 2, 2], found[:, 2, 4], found[:, 2, 5] = z, x, y
    return found
