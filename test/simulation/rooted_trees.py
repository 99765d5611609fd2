# SPDX-License-Identifier: Apache-2.0
"""
Rooted trees, and the order condition of a Runge-Kutta method for each.

A method has order p if Phi(tree) = 1 / gamma(tree) for all trees of up to p nodes (J. C. Butcher,
Coefficients for the study of Runge-Kutta integration processes, 1963; Hairer, Norsett and Wanner,
Solving Ordinary Differential Equations I, theorem II.2.13). A tree is the tuple of the trees on
its root, in an order of their own, so that equal trees are equal tuples.
"""

from functools import lru_cache
from math import prod


@lru_cache(maxsize=None)
def trees(nodes):
    """Return all rooted trees of a number of nodes."""
    found = {tuple(sorted(branches)) for branches in _forests(nodes - 1, nodes - 1)}
    return tuple(sorted(found))


def _forests(nodes, largest):
    """Yield tuples of trees of `nodes` nodes together, none above `largest`, by falling size."""
    if nodes == 0:
        yield ()
    for first in range(min(nodes, largest), 0, -1):
        for rest in _forests(nodes - first, first):
            for tree in trees(first):
                yield (tree, *rest)


@lru_cache(maxsize=None)
def size(tree):
    """Return the number of nodes."""
    return 1 + sum(map(size, tree))


@lru_cache(maxsize=None)
def density(tree):
    """Return gamma, the product of the sizes of the subtrees of all nodes."""
    return size(tree) * prod(map(density, tree))


class ElementaryWeights:
    """Phi(tree) = sum_i b_i Psi_i(tree) of a method, in the type of its numbers."""

    def __init__(self, a, b):
        """Take strictly lower-triangular rows a and weights b."""
        self._a, self._b = a, b
        self._stage_weights = {}

    def weight(self, tree):
        """Return Phi."""
        return sum(b * psi for b, psi in zip(self._b, self._stages(tree)))

    def _stages(self, tree):
        """Return Psi_i, the product over the root's branches of sum_j a_ij Psi_j(branch)."""
        if tree not in self._stage_weights:
            result = [type(self._b[0])(1)] * len(self._b)
            for branch in tree:
                below = self._stages(branch)
                result = [
                    value * sum(x * y for x, y in zip(row, below))
                    for value, row in zip(result, self._a)
                ]
            self._stage_weights[tree] = result
        return self._stage_weights[tree]
