# SPDX-License-Identifier: Apache-2.0
"""
Motions that excite the parameters of an arm.

A periodic motion is a Fourier series in each joint that starts and ends at rest (Swevers,
Ganseman, Tukel, De Schutter and Van Brussel, Optimal robot excitation and identification, 1997).
Its coefficients lower the condition number of the regressor in base parameters, columns scaled to
one length. Random motions are scaled into the limits. Quasi-Newton descents (L-BFGS) on a smooth
bound of the condition number improve the best one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable, Optional, Sequence

from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.identification.base_parameters import base_parameters, position_range
from flexdyn_ros.identification.friction import DEFAULT
from flexdyn_ros.identification.regressor import known_forces
from flexdyn_ros.identification.signals import Stretch
from flexdyn_ros.identification.torque_model import TorqueModel
from flexdyn_ros.identification.workspace import LinkLines, Workspace
from flexdyn_ros.model.records.robot import require_robot, Robot
import numpy as np

SAMPLES = 60  # of a period, where limits and regressor are computed
USED_RANGE = 0.9  # part of each limit that a motion uses
SHARPNESS = (4, 8, 16, 32)  # of the smooth extremes, descent by descent
FAMILY = 20  # motions that are computed at once
DIFFERENCE = 1e-6  # of states and coefficients, for slopes
IMPOSSIBLE = 1e3  # stands for the logarithm of an infinite condition
SLOWEST = 8  # slower or smaller motions tried until a motion is dropped
STATES = 200  # random ones, where links that always meet are found
FASTEST_DEFAULT = 2.0  # [rad/s | m/s], of joints without a velocity limit


@dataclass(frozen=True)
class Excitation:
    """
    A periodic motion from rest to rest.

    Attributes:
        names: Joints.
        period: Duration [s].
        centre: Shape (n,) [rad | m].
        sines: Coefficients of the velocity's cosines, shape (harmonics, n) [rad/s | m/s].
        cosines: Coefficients of the velocity's sines, shape (harmonics, n) [rad/s | m/s].
        condition: Condition number of the scaled base regressor.
        identified: Base parameters that the motion determines, as sums of parameters.
        random_conditions: Those of the random motions that the search started from.
    """

    names: tuple[str, ...]
    period: float
    centre: np.ndarray
    sines: np.ndarray
    cosines: np.ndarray
    condition: float
    identified: tuple[str, ...]
    random_conditions: np.ndarray

    def at(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return positions, velocities and accelerations at times (T,), (T, n) each."""
        return series(t, self.period, self.centre, self.sines, self.cosines)


def series(
    t: np.ndarray, period: float, centre: np.ndarray, sines: np.ndarray, cosines: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return q, qd and qdd of a Fourier series with qd = sum a_k cos(w_k t) + b_k sin(w_k t)."""
    omega = 2.0 * np.pi / period * np.arange(1, len(sines) + 1)
    sine, cosine = np.sin(np.outer(t, omega)), np.cos(np.outer(t, omega))
    q = centre + sine @ (sines / omega[:, None]) + (1.0 - cosine) @ (cosines / omega[:, None])
    qd = cosine @ sines + sine @ cosines
    return q, qd, cosine @ (omega[:, None] * cosines) - sine @ (omega[:, None] * sines)


def excite(
    robot: Robot, period: float = 20.0, harmonics: int = 5, trials: int = 40, steps: int = 100,
    floor: Optional[float] = None, seed: int = 0,
    progress: Optional[Callable[[float], None]] = None, workspace: Optional[Workspace] = None,
) -> Excitation:
    """
    Return a motion that excites the parameters of an arm.

    Args:
        robot: The robot, without loops and quaternions; modes rest.
        period: Shortest duration; slower where velocity or torque limits need it [s].
        harmonics: Number of frequencies.
        trials: Number of random motions.
        steps: Steps of the descent.
        floor: Least height of all moving links in the root frame [m], or None; a wall of the
            workspace.
        seed: Of the random numbers.
        progress: Called with the fraction done.
        workspace: Walls, a box and distances that the links keep to, or None.

    Raises:
        ArgumentError: If a number is out of range.
        FlexdynError: If no random motion respects the limits.
    """
    require_robot(robot)
    for name, value, least in (('period', period, 0.1), ('harmonics', harmonics, 2),
                               ('trials', trials, 1), ('steps', steps, 0)):
        if not value >= least:
            raise ArgumentError(name, f'is {value}, expected at least {least}')
    if floor is not None:
        workspace = workspace or Workspace()
        workspace = replace(workspace, walls=(*workspace.walls, (0.0, 0.0, 1.0, floor)))
    search = _Search(robot, period, harmonics, workspace, np.random.default_rng(seed))
    report = progress or (lambda fraction: None)
    conditions, rounds = [], steps + trials // FAMILY + 1
    for first in range(0, trials, FAMILY):
        conditions.append(search.conditions(search.random(min(FAMILY, trials - first)))[0])
        report(len(conditions) / rounds)
    found = np.concatenate(conditions)
    if not np.isfinite(found).any():
        raise FlexdynError(
            'No random motion respects the limits of position, velocity, torque and workspace. '
            'Check the efforts and velocities of <limit>, and the workspace.')
    best, condition = search.improved(
        steps, lambda step: report(min((len(conditions) + step) / rounds, 1.0)))
    period, centre, sines, cosines = best
    return Excitation(
        robot.joint_names, period, centre, sines, cosines, float(condition), search.names,
        found[np.isfinite(found)])


Candidate = tuple[float, np.ndarray, np.ndarray, np.ndarray]


class _Search:
    """Random and varied motions, scaled into the limits, and their condition."""

    def __init__(
        self, robot: Robot, period: float, harmonics: int, workspace: Optional[Workspace],
        random: np.random.Generator,
    ):
        self._robot, self._period, self._random = robot, period, random
        self._model = model = TorqueModel(robot, robot.joint_names, DEFAULT)
        self._shapes = model.shapes(None)
        base = base_parameters(
            model, self._shapes, model.values, np.ones(len(model.names), dtype=bool))
        self._columns = base.columns
        self.names = tuple(base.name(k, model.names) for k in range(len(base.columns)))
        low, high = position_range(model)
        self._middle, self._half = 0.5 * (low + high), 0.5 * USED_RANGE * (high - low)
        limits = [robot.joint(joint.name).limit for joint in model.joints]
        self._speed = np.full(len(low), FASTEST_DEFAULT)
        self._effort = np.full(robot.nv, np.inf)
        for joint, limit in zip(model.joints, limits):
            at = model.coordinates.index(joint.name)
            self._speed[at] = USED_RANGE * (limit.velocity or FASTEST_DEFAULT)
            self._effort[at] = USED_RANGE * (limit.effort or np.inf)
        self._lines: Optional[LinkLines] = None
        if workspace is not None:
            states = np.random.default_rng(0).uniform(low, high, (STATES, len(low)))
            self._lines = LinkLines(robot, workspace, self._full(states))
        self._shape = (harmonics, len(low))
        self._start = np.zeros((1 + 2 * harmonics) * len(low))
        self._best: tuple[Candidate, float] = (
            (period, self._middle, *np.zeros((2, *self._shape))), np.inf)

    def random(self, count: int) -> np.ndarray:
        """Return coefficients of random motions around random centres, (count, c)."""
        shape = (count, (1 + 2 * self._shape[0]) * self._shape[1])
        found = self._random.normal(size=shape)
        found[:, : self._shape[1]] = self._random.uniform(-0.5, 0.5, (count, self._shape[1]))
        return found

    def improved(
        self, steps: int, report: Callable[[int], None]
    ) -> tuple[Candidate, float]:
        """Return the best motion that a descent meets; `report` receives the step's number."""
        from scipy.optimize import minimize

        done = [0]

        def note(_: np.ndarray) -> None:
            done[0] += 1
            report(done[0])

        for power in SHARPNESS if steps else ():
            minimize(self._smooth_condition, self._start, (power,), jac=True, method='L-BFGS-B',
                     callback=note, options={'maxiter': -(-steps // len(SHARPNESS))})
        return self._best

    def _smooth_condition(self, x: np.ndarray, power: int) -> tuple[float, np.ndarray]:
        """
        Return the logarithm of the condition with smooth extremes, and its slope.

        The extreme eigenvalues l of the scaled normal matrix become the sums (sum l^p)^(1/p) and
        (sum l^-p)^(-1/p), which have derivatives where eigenvalues cross.
        """
        found, motions, factors = self.conditions(x[None])
        if not np.isfinite(found[0]):
            return IMPOSSIBLE, np.zeros(x.size)
        states = np.array(self._states(motions))
        n = states.shape[2]
        moved = np.repeat(states[:, None], 1 + 3 * n, axis=1)
        for kind in range(3):
            for j in range(n):
                moved[kind, 1 + kind * n + j, :, j] += DIFFERENCE
        full = self._regressor(*moved.reshape(3, -1, n)).reshape(
            1 + 3 * n, len(states[0]), -1, len(self._columns))
        lengths = np.linalg.norm(full[0], axis=(0, 1))
        scaled = full[0] / lengths
        sizes, vectors = np.linalg.eigh(np.einsum('tnb,tnc->bc', scaled, scaled))
        high, low = sizes / sizes[-1], sizes[0] / sizes
        value = 0.5 * (np.log(sizes[-1] / sizes[0])
                       + np.log(np.sum(high**power) * np.sum(low**power)) / power)
        by_size = high**power / np.sum(high**power) - low**power / np.sum(low**power)
        slope = scaled @ (vectors * (by_size / sizes) @ vectors.T)
        slope = (slope - scaled * np.sum(scaled * slope, axis=(0, 1))) / lengths
        by_state = np.einsum('ktnb,tnb->kt', full[1:] - full[0], slope) / DIFFERENCE
        by_state = by_state.reshape(3, n, -1).transpose(0, 2, 1)
        near = [self._motion(row, *factors[0]) for row in x + DIFFERENCE * np.eye(x.size)]
        change = (np.array(self._states(near)).reshape(3, x.size, -1, n) - states[:, None])
        return float(value), np.einsum('kctn,ktn->c', change, by_state) / DIFFERENCE

    def _motion(
        self, row: np.ndarray, slower: float = 1.0, smaller: float = 1.0
    ) -> Candidate:
        """Return the motion of coefficients in the limits, slower and smaller by factors."""
        harmonics, n = self._shape
        a, b = row[n:].reshape(2, harmonics, n)
        period, centre, a, b = self._fitted(
            (self._period, self._middle + row[:n] * self._half, a, b))
        part = smaller / slower
        return slower * period, centre, part * a, part * b

    def _regressor(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Return the columns of base parameters at states (N, n), (N, n, b)."""
        columns = self._model.sampled(Stretch(np.arange(len(q)), q, qd, qdd, q, 1))
        losses = self._model.friction(columns, self._shapes, self._model.values)
        return self._model.joined(columns.linear, losses)[:, :, self._columns]

    def conditions(
        self, coefficients: np.ndarray
    ) -> tuple[np.ndarray, list[Candidate], np.ndarray]:
        """
        Return the condition of motions, infinite where limits cannot be kept, and the motions.

        Slower motions need less torque, and smaller ones less space.

        Args:
            coefficients: Centres in halves of the range, sines, cosines, (N, c).

        Returns:
            Conditions (N,), motions, and the factors by which they are slower and smaller (N, 2).
        """
        motions = [self._motion(row) for row in coefficients]
        fine, factors = np.zeros(len(motions), dtype=bool), np.ones((len(motions), 2))
        for _ in range(SLOWEST):
            waiting = np.flatnonzero(~fine)
            if not len(waiting):
                break
            states = self._states([motions[k] for k in waiting])
            inside = self._inside(states[0])
            torque = known_forces(self._robot, *(self._full(each) for each in states))
            weak = np.abs(torque) > self._effort
            weak = weak.reshape(len(waiting), -1).any(axis=1)
            fine[waiting[inside & ~weak]] = True
            factors[waiting[weak], 0] *= 1.25
            factors[waiting[~inside], 1] *= 0.75
            for k in waiting[weak | ~inside]:
                motions[k] = self._motion(coefficients[k], *factors[k])
        found = np.full(len(motions), np.inf)
        chosen = np.flatnonzero(fine)
        if len(chosen):
            full = self._regressor(*self._states([motions[k] for k in chosen]))
            found[chosen] = [scaled_condition(part) for part in
                             full.reshape(len(chosen), -1, full.shape[2])]
        least = int(np.argmin(found))
        if found[least] < self._best[1]:
            self._best, self._start = (motions[least], float(found[least])), coefficients[least]
        return found, motions, factors

    def _fitted(self, candidate: Candidate) -> Candidate:
        """Return the motion from rest to rest, scaled and moved into position and velocity."""
        period, centre, a, b = candidate
        order = np.arange(1, len(a) + 1)[:, None]
        a = a - a.mean(axis=0)  # no velocity at the ends
        b = b - order * (order * b).sum(axis=0) / (order**2).sum()  # no acceleration there
        q, qd, _ = series(np.linspace(0.0, period, SAMPLES), period, centre, a, b)
        fits = np.minimum(1.0, np.minimum(
            2.0 * self._half / np.maximum(np.ptp(q, axis=0), 1e-12),
            self._speed / np.maximum(np.abs(qd).max(axis=0), 1e-12)))
        a, b = a * fits, b * fits
        q = series(np.linspace(0.0, period, SAMPLES), period, centre, a, b)[0]
        low, high = self._middle - self._half, self._middle + self._half
        up = np.maximum(low - q.min(axis=0), 0.0)
        return period, centre + up - np.maximum(q.max(axis=0) - high, 0.0), a, b

    def _states(self, candidates: Sequence[Candidate]) -> list[np.ndarray]:
        """Return q, qd and qdd of motions, one after the other, (N, n) each."""
        parts = [series(np.linspace(0.0, each[0], SAMPLES), *each) for each in candidates]
        return [np.concatenate(each) for each in zip(*parts)]

    def _full(self, values: np.ndarray) -> np.ndarray:
        found = np.zeros((len(values), self._robot.nv))
        found[:, : values.shape[1]] = values
        return found

    def _inside(self, q: np.ndarray) -> np.ndarray:
        """Return for each motion whether it keeps to the workspace, (n,)."""
        if self._lines is None:
            return np.ones(len(q) // SAMPLES, dtype=bool)
        return self._lines.margin(self._full(q)).reshape(-1, SAMPLES).min(axis=1) >= 0.0


def scaled_condition(matrix: np.ndarray) -> float:
    """Return the condition number of a matrix, its columns scaled to one length."""
    lengths = np.linalg.norm(matrix, axis=0)
    if lengths.min() < 1e-9 * lengths.max():
        return np.inf
    return float(np.linalg.cond(matrix / lengths))
