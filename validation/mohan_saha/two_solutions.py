# SPDX-License-Identifier: Apache-2.0
"""
Forward dynamics by the recursive and by the dense solution, on numbers of any precision.

Mohan and Saha, section 7.2. Both solve eq. 31, I qdd = phi, for the same generalised forces left
after bias. The one solution eliminates body by body and never forms the mass matrix I. The other
forms it as numbers, by composite bodies (eq. 32), factorises it and substitutes.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, Sequence

from flexdyn_ros.dynamics.articulated_body import factorise, solve
from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.dynamics.internal_forces import elastic_forces
from flexdyn_ros.dynamics.linear_algebra import SymmetricFactors
from flexdyn_ros.dynamics.mass_matrix import mass_matrix
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.newton_euler import generalised_forces
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.symbolic.graph import Graph
import numpy as np
from validation.scalar_program import Function, Number, on_numbers

RECURSIVE = 'recursive'
DENSE = 'dense'
SOLUTIONS = (RECURSIVE, DENSE)


class TwoSolutions:
    """
    The parts of forward dynamics of one robot without loops, losses or mimic joints.

    Attributes:
        nv: Number of coordinates.
        number: Makes a number of the precision in use.
    """

    def __init__(self, robot: Robot, number: Number, model: Number = float):
        """
        Trace the algorithms.

        Args:
            robot: The robot; only plane arms, whose equations need sines and cosines alone.
            number: Makes a number of the precision that all operations have.
            model: Makes a number of the precision that the model's numbers are rounded to
                before; so that several precisions can be compared on the same model.
        """
        payloads = {payload.link: payload.inertia for payload in robot.payloads}
        tree = _rounded(assemble(robot, payloads), model)
        gravity = tuple(float(model(g)) for g in robot.gravity)
        self.nv, self.number = tree.nv, number
        self._bias = self._function(
            tree, ('q', 'qd'), lambda tree, q, qd: _bias(tree, q, qd, gravity)
        )
        self._mass = self._function(tree, ('q',), mass_matrix)
        self._solve = {
            RECURSIVE: self._function(tree, ('q', 'f'), _recursive),
            DENSE: self._function(tree, ('q', 'f'), _dense),
        }

    def bias(self, q: Sequence, qd: Sequence) -> list:
        """Return the forces on the coordinates for velocities, gravity and springs, (nv,)."""
        return self._bias([*q, *qd])

    def mass_matrix(self, q: Sequence) -> np.ndarray:
        """Return the mass matrix, (nv, nv)."""
        return np.array(self._mass(list(q))).reshape(self.nv, self.nv)

    def solve(self, solution: str, q: Sequence, forces: Sequence) -> list:
        """Return the accelerations under forces left after bias, (nv,)."""
        return self._solve[solution]([*q, *forces])

    def accelerations(self, solution: str, q: Sequence, qd: Sequence, tau: Sequence) -> list:
        """Return the accelerations under generalised forces tau, (nv,)."""
        bias = self._bias([*q, *qd])
        return self._solve[solution]([*q, *(a - b for a, b in zip(tau, bias))])

    def _function(self, tree: Multibody, vectors: Sequence[str], algorithm: Any) -> Function:
        """Return an algorithm over vectors of nv entries as a function of their numbers."""
        graph = Graph()
        names = [[f'{vector}[{k}]' for k in range(tree.nv)] for vector in vectors]
        values = algorithm(tree, *([graph.symbol(name) for name in each] for each in names))
        outputs = [graph.lift(value) for value in values_of(values)]
        return on_numbers(outputs, [name for each in names for name in each], self.number)


def values_of(nested: Any) -> list:
    """Return the entries of lists in lists, in order."""
    if isinstance(nested, (list, tuple)):
        return [value for part in nested for value in values_of(part)]
    return [nested]


def _bias(tree: Multibody, q: list, qd: list, gravity: tuple) -> list:
    forces = generalised_forces(tree, q, qd, [0.0] * tree.nv, gravity)
    return [a + b for a, b in zip(forces, elastic_forces(tree, q, qd))]


def _recursive(tree: Multibody, q: list, forces: list) -> list:
    return solve(tree, factorise(tree, q, frozenset(range(tree.nv))), forces)


def _dense(tree: Multibody, q: list, forces: list) -> list:
    return SymmetricFactors(mass_matrix(tree, q), [0.0] * tree.nv).solve(forces)


def _rounded(value: Any, number: Number) -> Any:
    """Return a record with all floats in it rounded to the precision of `number`."""
    if isinstance(value, float):
        return float(number(value))
    if isinstance(value, tuple):
        return tuple(_rounded(item, number) for item in value)
    if isinstance(value, dict):
        return {key: _rounded(item, number) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changed = {each.name: _rounded(getattr(value, each.name), number)
                   for each in fields(value) if each.init}
        return replace(value, **changed)
    return value
