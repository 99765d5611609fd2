# SPDX-License-Identifier: Apache-2.0
"""
Modes of the whole mechanism about a configuration, as a second model of deflection.

The paper's equation 1 lets the deflection of a point depend on the modes of the mechanism. Its
equation 2 is the usual simplification, links with modes of their own. Here the links' modes follow
from those of the mechanism with its joints locked, x = Psi(phi) eta, and Psi changes with the
joints. With all of its modes this is a change of coordinates: a motion must be the same. With the
lowest few it is a smaller model.
"""

from __future__ import annotations

from functools import partial

from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation import simulate
from flexdyn_ros.simulation.frequencies import natural_modes, stiffness_matrix
import numpy as np
from validation.case import Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.graves.states import arm
from validation.registry import Code
from validation.studies import rk4

_NAME = 'gr_mechanism_modes'
_STEP, _LONG_STEP = 1e-5, 5e-5  # of a first and of a second derivative


class MechanismModes:
    """
    The dynamics in joints and modes of the mechanism.

    Args:
        dyn: Of the arm in joints and modes of links.
        count: Number of modes of the mechanism, from the lowest up.
        about: Joints of the configuration whose modes the others are turned like, (n,).
    """

    def __init__(self, dyn: Dynamics, count: int, about: np.ndarray):
        self.dyn, self.count, self.joints = dyn, count, dyn.robot.n_joints
        self.stiffness = stiffness_matrix(dyn, np.zeros(dyn.robot.nv))
        self.about = self._eigenvectors(about)

    def _eigenvectors(self, angles: np.ndarray) -> np.ndarray:
        n = self.joints
        q = np.concatenate((angles, np.zeros(len(self.stiffness) - n)))
        _, vectors = natural_modes(self.dyn.mass_matrix(q)[n:, n:], self.stiffness[n:, n:])
        # The sign of an eigenvector is a choice of LAPACK.
        return vectors * np.sign(np.take_along_axis(
            vectors, np.abs(vectors).argmax(axis=0)[np.newaxis], axis=0))

    def shapes(self, angles: np.ndarray) -> np.ndarray:
        """Return Psi, (links' modes, modes), each of unit modal mass."""
        vectors = self._eigenvectors(angles)
        signs = np.sign(np.sum(vectors * self.about, axis=0))
        return (vectors * signs)[:, :self.count]

    def change(self, angles: np.ndarray, along: np.ndarray) -> np.ndarray:
        """Return the derivative of Psi along a change of the joints."""
        ahead, behind = (self.shapes(angles + sign * _STEP * along) for sign in (1.0, -1.0))
        return (ahead - behind) / (2.0 * _STEP)

    def place(self, y: np.ndarray) -> np.ndarray:
        """Return joints and modes of links, (nq,), for joints and modes of the mechanism."""
        angles, eta = np.split(y, [self.joints])
        return np.concatenate((angles, self.shapes(angles) @ eta))

    def transform(self, y: np.ndarray, fixed: bool = False) -> np.ndarray:
        """Return the derivative of `place`; fixed: as if the modes did not change."""
        n, m = self.joints, len(self.stiffness) - self.joints
        angles, eta = np.split(y, [n])
        whole = np.zeros((n + m, n + self.count))
        whole[:n, :n], whole[n:, n:] = np.eye(n), self.shapes(angles)
        if not fixed:
            for k, along in enumerate(np.eye(n)):
                whole[n:, k] = self.change(angles, along) @ eta
        return whole

    def accelerations(self, y: np.ndarray, yd: np.ndarray, fixed: bool = False) -> np.ndarray:
        """Return accelerations of joints and modes of the mechanism, without joint torques."""
        q, turn = self.place(y), self.transform(y, fixed)
        rate = turn @ yd
        drift = np.zeros(len(q))
        if not fixed:
            ahead, behind = (self.place(y + sign * _LONG_STEP * yd) for sign in (1.0, -1.0))
            drift = (ahead - 2.0 * q + behind) / _LONG_STEP**2
        mass, bias = self.dyn.mass_matrix(q), self.dyn.bias_vector(q, rate)
        return np.linalg.solve(turn.T @ mass @ turn, -turn.T @ (bias + mass @ drift))

    def deflection(self, angles: np.ndarray, force: np.ndarray, shapes: np.ndarray) -> np.ndarray:
        """Return the tip's deflection under a force on it at rest, by some modes, (3,)."""
        n = self.joints
        q = np.concatenate((angles, np.zeros(len(self.stiffness) - n)))
        lever = self.dyn.jacobian(q, 'tip')[:3, n:] @ shapes
        soft = np.linalg.solve(shapes.T @ self.stiffness[n:, n:] @ shapes, lever.T @ force)
        return lever @ soft


def mechanism_modes(progress: Progress) -> list[Row]:
    """Return the rows."""
    given = inputs(_NAME)
    exact = Dynamics(arm(), backend='python')
    n, m = exact.robot.n_joints, exact.robot.n_modes
    rng = np.random.default_rng(given['seed'])
    y, yd = (np.concatenate((
        given['angles'] * rng.normal(size=n), given['amplitude'] * rng.normal(size=m),
    )) for _ in range(2))
    whole = MechanismModes(exact, m, y[:n])
    rate, (duration, dt) = whole.transform(y) @ yd, (given['duration'], given['dt'])
    links = simulate(
        exact, whole.place(y), rate, None, duration, dt, 'rk4', progress=False
    ).q[-1]
    progress(0.3)
    found = {}
    for key, fixed in (('complete', False), ('fixed', True)):
        end = whole.place(rk4(partial(whole.accelerations, fixed=fixed), y, dt, duration, yd)[-1])
        found[key] = np.max(np.abs(end - links))
        progress(0.6)
    means = _static_errors(MechanismModes(exact, given['modes'], y[:n]))
    found['few'] = Verdict(
        bool(means[0] < means[1]),
        f'{means[0]:.1%} of the deflection, with the modes about the configuration, '
        f'{means[1]:.1%} with those of another one',
    )
    return make_rows(_NAME, {**found, 'kept': means})


def _static_errors(few: MechanismModes) -> np.ndarray:
    """Return the mean error of few modes, about the configuration and about another one."""
    given, found = inputs(_NAME), []
    rng = np.random.default_rng(given['seed'])
    for _ in range(given['states']):
        angles, force = given['angles'] * rng.normal(size=few.joints), rng.normal(size=3)
        right = few.deflection(angles, force, np.eye(len(few.stiffness) - few.joints))
        found.append([
            np.linalg.norm(few.deflection(angles, force, shapes) - right) / np.linalg.norm(right)
            for shapes in (few.shapes(angles), few.about[:, :few.count])
        ])
    return np.mean(found, axis=0)


CODE = {_NAME: Code(mechanism_modes)}
