# SPDX-License-Identifier: Apache-2.0
"""
Stiffness and damping of an arm adjusted to measured modes, joints held.

Weighted least squares in the logarithms of stiffness factors, with bounds (Friswell and
Mottershead, Finite Element Model Updating in Structural Dynamics, 1995, chapter 8). Residuals are
relative deviations of frequencies (1 percent counts 1) and of static compliances (2 percent), and
of shapes scaled to fit (10 percent). Modes are paired by the modal assurance criterion

    MAC = (x . y)^2 / ((x . x) (y . y))

and by frequency, anew until the pairs stay. Between, modes are followed by their shapes. Damping
follows by bounded linear least squares from x_k^T D x_k = 2 z_k w_k, at unit modal mass. The
stiffness from gravity is not included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Optional, Sequence

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.modal_testing.adjustable_model import AdjustableModel
from flexdyn_ros.modal_testing.measured_modes import ModalTest, Sensor
from flexdyn_ros.model.beam.body import link_body
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.frequencies import damping_matrix, natural_modes, stiffness_matrix
import numpy as np

# Deviations that count 1 in the sum of squares; the last one keeps unobserved numbers near the
# model's.
_FREQUENCY, _COMPLIANCE, _SHAPE, _FACTOR = 0.01, 0.02, 0.1, 1e3
_ROUNDS = 8


@dataclass(frozen=True, eq=False)
class HeldModes:
    """
    Vibrations of an arm with its joints held.

    Attributes:
        frequencies: Ascending, shape (m,) [Hz].
        damping_ratios: Shape (m,).
        shapes: Displacement at the sensors, shape (m, sensors).
        stiffness: Force over deflection at the places of the test [N/m].
        vectors: In modal coordinates, at unit modal mass, shape (m, m).
        momenta: Their generalised momenta, the mass matrix times vectors, shape (m, m).
    """

    frequencies: np.ndarray
    damping_ratios: np.ndarray
    shapes: np.ndarray
    stiffness: np.ndarray
    vectors: np.ndarray
    momenta: np.ndarray

    def followed(self, other: HeldModes) -> np.ndarray:
        """Return the number of the most similar mode of another model for each of these, (m,)."""
        from scipy.optimize import linear_sum_assignment

        return linear_sum_assignment(-(self.momenta.T @ other.vectors)**2)[1]


@dataclass(frozen=True, eq=False)
class ModalUpdate:
    """
    An arm adjusted to measured modes.

    Attributes:
        robot: The adjusted arm.
        factors: Of stiffness by parameter.
        deviations: Standard deviations of the factors, relative, by the assumed deviations.
        at_bound: Parameters whose factor reached its bound.
        damping: Adjusted damping by parameter.
        before: Vibrations of the model as given.
        after: Those of the adjusted arm.
        pairs: Index of the mode before and after, for each measured mode.
        mac: MAC of measured and adjusted modes, shape (measured, m); None without shapes.
    """

    robot: Robot
    factors: Mapping[str, float]
    deviations: Mapping[str, float]
    at_bound: tuple[str, ...]
    damping: Mapping[str, float]
    before: HeldModes
    after: HeldModes
    pairs: tuple[tuple[int, int], ...]
    mac: Optional[np.ndarray]


def update_modes(
    model: AdjustableModel,
    test: ModalTest,
    q: np.ndarray,
    bound: float = 4.0,
    fixed: Sequence[str] = (),
) -> ModalUpdate:
    """
    Return an arm whose modes are near those measured.

    Args:
        model: The arm.
        test: Measurements with the joints held.
        q: The configuration of the test, (nq,).
        bound: Largest factor of a stiffness, and its inverse the least.
        fixed: Parameters that are not adjusted.

    Raises:
        ArgumentError: There is nothing to adjust, or more modes are measured than the model has.
    """
    from scipy.optimize import least_squares

    names = [name for name in dict.fromkeys(model.names) if name not in fixed]
    for name in fixed:
        if name not in model.names:
            raise ArgumentError('--fixed', f'names "{name}"; known are {", ".join(model.names)}')
    if not names:
        raise ArgumentError('robot', 'has no stiffness of modes to adjust. Fix fewer, or add some')
    if len(test.modes) > model.robot.n_modes:
        raise ArgumentError('measured', f'holds {len(test.modes)} modes; the model has '
                            f'{model.robot.n_modes}. Give links more modes')
    before = held_modes(model.robot, q, test)
    logs, pairs, reference = np.zeros(len(names)), _paired(test, before), before
    start = pairs

    def residuals(logs: np.ndarray) -> np.ndarray:
        robot = model.changed(dict(zip(names, np.exp(logs))), {})
        held = held_modes(robot, q, test)
        same = reference.followed(held)[list(pairs)].tolist()  # frequencies may cross
        return np.concatenate([_residuals(test, held, same), logs / _FACTOR])

    for _ in range(_ROUNDS):
        limit = np.log(bound)
        found = least_squares(residuals, np.clip(logs, -0.99 * limit, 0.99 * limit),
                              bounds=(-limit, limit), diff_step=1e-5, x_scale='jac')
        factors = dict(zip(names, np.exp(found.x).tolist()))
        held = held_modes(model.changed(factors, {}), q, test)
        last = reference.followed(held)[list(pairs)].tolist()
        logs, pairs, reference = found.x, _paired(test, held), held
        if list(pairs) == last:
            break
    damping = _damping(model, test, q, factors, pairs)
    robot = model.changed(factors, damping)
    after = held_modes(robot, q, test)
    spread = np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac)))
    shapes = [mode.shape for mode in test.modes]
    measured = [shape for shape in shapes if shape is not None]
    return ModalUpdate(
        robot, factors, dict(zip(names, spread.tolist())),
        tuple(name for name, value in zip(names, logs) if abs(value) > 0.999 * limit),
        damping, before, after, tuple(zip(start, pairs)),
        mac_table(np.array(measured), after.shapes) if len(measured) == len(shapes) > 0 else None,
    )


def held_modes(robot: Robot, q: np.ndarray, test: ModalTest) -> HeldModes:
    """Return the vibrations of a robot with its joints held in a configuration, (nq,)."""
    dyn = Dynamics(robot, backend='reference')
    moving = slice(robot.nv - robot.n_modes, None)
    stiffness = stiffness_matrix(dyn, q)[moving, moving]
    mass = dyn.mass_matrix(q)[moving, moving]
    rates, shapes = natural_modes(mass, stiffness)
    if not rates[0] > 0.0:
        raise ArgumentError(
            'robot', 'has modes without stiffness with its joints held. Write their stiffness')
    damping = damping_matrix(dyn, q)[moving, moving]
    rows = np.array([_row(dyn, q, each)[moving] for each in test.sensors])
    pushes = [_row(dyn, q, each)[moving] for each, _ in test.stiffness]
    compliance = np.array([push @ np.linalg.solve(stiffness, push) for push in pushes])
    return HeldModes(
        rates / (2.0 * np.pi), np.einsum('ik,ij,jk->k', shapes, damping, shapes) / (2.0 * rates),
        (rows @ shapes).T if len(rows) else np.zeros((len(rates), 0)),
        1.0 / np.maximum(compliance, 1e-300), shapes, mass @ shapes,
    )


def mac_table(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the modal assurance criterion of shapes, (a, n) and (b, n), as (a, b)."""
    norms = np.outer(np.sum(first**2, axis=1), np.sum(second**2, axis=1))
    return np.asarray((first @ second.T)**2 / np.maximum(norms, 1e-300))


def _row(dyn: Dynamics, q: np.ndarray, sensor: Sensor) -> np.ndarray:
    """Return the velocity that a sensor shows over those of the coordinates, (nv,)."""
    robot = dyn.robot
    link = robot.link(sensor.link)
    turn = np.array(dyn.frame_pose(q, sensor.link))[:3, :3]
    arm, direction = turn @ sensor.at, turn @ sensor.direction
    jacobian = np.array(dyn.jacobian(q, sensor.link))
    row = direction @ jacobian[:3] + np.cross(arm, direction) @ jacobian[3:]
    if link.mode_names and link.segments is None:
        node = link_body(link).node_at(sensor.at)
        moves = node.translation + np.cross(node.rotation, node.offset)
        for name, move in zip(link.mode_names, moves):
            row[robot.coordinate_names.index(name) - robot.nq + robot.nv] += (
                sensor.direction @ move)
    elif link.segments is not None and np.any(sensor.at):
        raise ArgumentError('measured', f'has a sensor along "{link.name}", which is in segments; '
                            'name a link at its end')
    return np.asarray(row)


def _paired(test: ModalTest, found: HeldModes) -> tuple[int, ...]:
    """Return the index of the model's mode of each measured one."""
    from scipy.optimize import linear_sum_assignment

    if not test.modes:
        return ()
    away = np.abs(np.log(np.array([[mode.frequency] for mode in test.modes]) / found.frequencies))
    cost = away.copy()
    for k, mode in enumerate(test.modes):
        if mode.shape is not None:
            cost[k] = 0.2 * away[k] + 1.0 - mac_table(mode.shape[None], found.shapes)[0]
    rows, columns = linear_sum_assignment(cost)
    return tuple(columns[np.argsort(rows)].tolist())


def _residuals(test: ModalTest, found: HeldModes, pairs: Sequence[int]) -> np.ndarray:
    parts = []
    for mode, k in zip(test.modes, pairs):
        parts.append([(found.frequencies[k] / mode.frequency - 1.0) / _FREQUENCY])
        if mode.shape is not None:
            own = found.shapes[k]
            scale = own @ mode.shape / max(own @ own, 1e-300)
            parts.append((scale * own - mode.shape) / np.linalg.norm(mode.shape) / _SHAPE)
    wanted = np.array([value for _, value in test.stiffness])
    parts.append((wanted / found.stiffness - 1.0) / _COMPLIANCE if len(wanted) else [])
    return np.concatenate(parts)


def _damping(
    model: AdjustableModel, test: ModalTest, q: np.ndarray, factors: Mapping[str, float],
    pairs: Sequence[int],
) -> dict[str, float]:
    """Return the damping of the parameters that damp the measured modes."""
    from scipy.optimize import lsq_linear

    wanted = [(k, mode.damping_ratio) for mode, k in zip(test.modes, pairs)
              if mode.damping_ratio is not None]
    if not wanted:
        return {}
    at, ratios = [k for k, _ in wanted], np.array([ratio for _, ratio in wanted])

    def shown(damping: dict[str, float]) -> np.ndarray:
        return held_modes(model.changed(factors, damping), q, test).damping_ratios[at]

    names = list(factors)
    rest = shown(dict.fromkeys(names, 0.0))
    each = np.column_stack([
        shown({**dict.fromkeys(names, 0.0), name: 1e-2}) - rest for name in names]) / 1e-2
    scale = each.max(axis=0)
    acting = scale > 0.02 * scale.max()  # of a joint in its own units: its largest contribution
    acting |= [name.endswith('/elastic') and value > 0.0 for name, value in zip(names, scale)]
    used = [name for name, acts in zip(names, acting) if acts]
    kept = np.array([name not in used for name in names])
    if kept.any():  # a parameter without a measured mode keeps its value
        rest = shown(dict.fromkeys(used, 0.0))
    upper = [np.inf if name.endswith('/elastic') else 1.0 for name in used]
    answer = lsq_linear(each[:, acting] / ratios[:, None], (ratios - rest) / ratios, (0.0, upper))
    return dict(zip(used, answer.x.tolist()))
