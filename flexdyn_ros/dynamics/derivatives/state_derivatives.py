# SPDX-License-Identifier: Apache-2.0
"""
Derivatives of inverse and forward dynamics by running the algorithms on dual numbers.

Positions are displaced as in displacement.py. The derivatives of forward dynamics go through
its own recursion, not through those of inverse dynamics, so that each checks the other.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

from flexdyn_ros.dynamics.derivatives.dual import Dual, duals, jacobian_of
from flexdyn_ros.dynamics.displacement import displacements
from flexdyn_ros.dynamics.multibody import Multibody
import numpy as np

Floats = list[float]


def state_derivatives(
    function: Callable[..., Sequence[Any]], tree: Multibody, q: Floats, *vectors: Floats
) -> list[np.ndarray]:
    """
    Return the derivatives of a vector (nv,) by each argument, (nv, nv) each.

    Args:
        function: From q and the other vectors to the result.
        tree: The bodies, which determine how positions are displaced.
        q: Configuration, (nq,).
        vectors: The other arguments, (nv,) each.
    """
    count = tree.nv
    width = (1 + len(vectors)) * count
    slopes = np.zeros((len(q), width))
    for column, moved in enumerate(displacements(tree, q)):
        for place, rate in moved:
            slopes[place, column] = rate
    arguments = [duals(q, slopes)]
    for number, vector in enumerate(vectors, start=1):
        slopes = np.zeros((count, width))
        slopes[:, number * count : (number + 1) * count] = np.eye(count)
        arguments.append(duals(vector, slopes))
    found = jacobian_of(function(*arguments), width)
    return [found[:, k * count : (k + 1) * count] for k in range(1 + len(vectors))]


def parameter_derivatives(
    function: Callable[[Multibody], Sequence[Any]],
    tree_of: Callable[[Sequence[Dual]], Multibody],
    values: Sequence[float],
) -> np.ndarray:
    """
    Return the derivatives of a vector (nv,) by parameters of the model, (nv, n).

    Args:
        function: From a tree of bodies to the result.
        tree_of: From the parameters to the tree.
        values: Their values, (n,).
    """
    tree = tree_of(duals(values, np.eye(len(values))))
    return jacobian_of(function(tree), len(values))
