# SPDX-License-Identifier: Apache-2.0
"""M q'' + T_GC + T_FL + T_FR = T_EX (2, 3) term by term, beside a chain of bars in the plane."""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.dynamics.mass_matrix import (
    mass_matrix,
    mass_matrix_by_columns,
    mass_matrix_by_outer_links,
)
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.robot import Robot
import numpy as np
from validation.case import Progress, Row
from validation.case_file import inputs, make_rows
from validation.registry import Code
from validation.robots import URDF
from validation.studies import apart, reference

_NAME = 'mm_four_terms'
_FRICTION = (
    '<joint_dynamics joint="{joint}"><friction viscous="{viscous}" coulomb="{coulomb}" '
    'smoothing_velocity="{smoothing}"/></joint_dynamics>'
)


@dataclass
class Bars:
    """
    Bars one behind the other, each turned against the one before; angles from the horizontal.

    Attributes:
        length: Of a bar [m].
        mass: Of a bar, spread evenly along it [kg].
        passive: Whether each joint is passive, (n,) of bool.
        stiffness: Of a passive joint [N m/rad].
    """

    length: float
    mass: float
    passive: np.ndarray
    stiffness: float

    def __post_init__(self) -> None:
        n = len(self.passive)
        self.turns = np.tril(np.ones((n, n)))  # absolute angles are sums of the joints'
        reach = self.length * np.tril(np.ones((n, n)), -1) + 0.5 * self.length * np.eye(n)
        self.reach, self.pairs = reach, self.mass * reach.T @ reach
        self.own = self.mass * self.length**2 / 12.0 * np.eye(n)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Return the mass matrix."""
        angles = self.turns @ q
        absolute = self.pairs * np.cos(angles[:, None] - angles) + self.own
        return self.turns.T @ absolute @ self.turns

    def gravity_and_coriolis(self, q: np.ndarray, qd: np.ndarray, g: float) -> np.ndarray:
        """Return T_GC."""
        angles, rates = self.turns @ q, self.turns @ qd
        coriolis = (self.pairs * np.sin(angles[:, None] - angles)) @ rates**2
        weight = g * self.mass * self.reach.sum(axis=0) * np.cos(angles)
        return self.turns.T @ (coriolis + weight)

    def elastic(self, q: np.ndarray) -> np.ndarray:
        """Return T_FL."""
        return self.stiffness * self.passive * q

    def damping(self, ratio: float, link: slice) -> float:
        """Return the damping of a passive joint at this ratio of a clamped link's first mode."""
        alone = Bars(self.length, self.mass, self.passive[link], self.stiffness)
        held = alone.mass_matrix(np.zeros(len(alone.passive)))[1:, 1:]
        rate = np.sqrt(self.stiffness / np.linalg.eigvalsh(held).max())
        return 2.0 * ratio * self.stiffness / rate


def _arm() -> Robot:
    """Return the example with friction in its joints, active and passive."""
    given = inputs(_NAME)
    joints = ''.join(_FRICTION.format(joint=joint, **given['friction'])
                     for joint in ('joint2', 'joint3'))
    return load_robot(
        URDF / 'segmented_arm.urdf.xacro',
        xacro_arguments={'damping_ratio': str(given['damping_ratio'])},
        extension=f'<flexdyn version="1.0">{joints}</flexdyn>',
    )


def four_terms(progress: Progress) -> list[Row]:
    """Return the rows."""
    given, robot = inputs(_NAME), _arm()
    dyn, n = reference(robot), robot.nv
    segments = robot.link('link3').segments
    assert segments is not None
    count = segments.count
    beam = segments.beam
    passive = np.arange(n) % count > 0
    length = beam.length / count
    stiffness = beam.young * beam.iz / length
    bars = Bars(length, beam.mass / count, passive, stiffness)
    # Ours has the active joints first.
    order = np.concatenate((np.flatnonzero(~passive), np.flatnonzero(passive)))
    rng = np.random.default_rng(given['seed'])
    q, qd, qdd = rng.normal(size=(3, n)) * np.where(passive, given['amplitude'], 1.0)
    ours = q[order], qd[order], qdd[order]
    law = given['friction']
    losses = np.where(
        passive, bars.damping(given['damping_ratio'], slice(count, None)) * qd,
        law['viscous'] * qd + law['coulomb'] * np.tanh(qd / law['smoothing']),
    )
    still = dyn.elastic_vector(ours[0], np.zeros(n))
    terms = {
        'inertia': (dyn.inertia_vector(ours[0], ours[2]), bars.mass_matrix(q) @ qdd),
        'gravity_and_coriolis': (
            dyn.gravity_vector(ours[0]) + dyn.coriolis_vector(ours[0], ours[1]),
            bars.gravity_and_coriolis(q, qd, given['gravity']),
        ),
        'elastic': (still, bars.elastic(q)),
        'friction': (
            dyn.friction_vector(ours[1]) + dyn.elastic_vector(ours[0], ours[1]) - still, losses,
        ),
    }
    whole = dyn.inverse_dynamics(*ours)
    tree = assemble(robot, {})
    exact = bars.mass_matrix(q)[np.ix_(order, order)]
    matrices: list[np.ndarray] = [
        np.array(method(tree, list(ours[0])))
        for method in (mass_matrix_by_columns, mass_matrix_by_outer_links, mass_matrix)
    ]
    return make_rows(_NAME, {
        **{name: apart(term, other[order]) for name, (term, other) in terms.items()},
        'sum': apart(sum(other[order] for _, other in terms.values()), whole),
        'methods': [apart(matrix, exact) for matrix in matrices],
    })


CODE = {_NAME: Code(four_terms)}
