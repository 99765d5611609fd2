# SPDX-License-Identifier: Apache-2.0
"""
Polynomials in sines and cosines as sums of sines and cosines of sums of angles.

cos a cos b = (cos(a - b) + cos(a + b)) / 2 and its like, until no product is left. The entries
of a small arm's mass matrix need fewer operations so, and their derivatives fewer still, at
the price of more calls of sine and cosine.
"""

from __future__ import annotations

from functools import reduce
from math import gcd
from typing import Sequence

from flexdyn_ros.symbolic.graph import CALL, Expression, PRODUCT, SUM, SYMBOL
from flexdyn_ros.symbolic.polynomial import expand
from flexdyn_ros.symbolic.program import ordered

# Polynomials with more terms are left as they are.
TERM_LIMIT = 80
# Coefficients this far below the largest are round-off.
ROUND_OFF = 1e-13

# Multiples of the angles, whether it is a sine, and the other factors.
Wave = tuple[tuple[int, ...], bool, tuple[Expression, ...]]
Waves = dict[Wave, float]


def multiple_angles(node: Expression, angles: Sequence[Expression]) -> Expression:
    """Return a node as a sum of sines and cosines of sums of the angles where that is possible."""
    parts = ordered((node,))
    opened = {part for part in parts if part.kind in (SUM, PRODUCT)}
    polynomial = expand(node, opened, TERM_LIMIT)
    if polynomial is None or not all(_suits(part, angles) for part in parts):
        return node
    waves: Waves = {}
    for monomial, coefficient in polynomial.items():
        for wave, weight in _waves(monomial, angles).items():
            waves[wave] = waves.get(wave, 0.0) + weight * coefficient
    largest = max((abs(weight) for weight in waves.values()), default=0.0)
    return node.graph.sum(
        weight * _wave(wave, angles, node)
        for wave, weight in waves.items() if abs(weight) > ROUND_OFF * largest
    )


def _suits(node: Expression, angles: Sequence[Expression]) -> bool:
    """Return whether a node is no call, or the sine or cosine of one of the angles."""
    if node.kind != CALL:
        return True
    return node.value in ('sin', 'cos') and node.operands[0] in angles


def _waves(monomial: Sequence[Expression], angles: Sequence[Expression]) -> Waves:
    """Return a product of sines, cosines and other factors as a sum of waves."""
    waves: Waves = {((0,) * len(angles), False, ()): 1.0}
    for factor in monomial:
        if factor.kind != CALL:
            waves = {
                (multiples, sine, (*others, factor)): weight
                for (multiples, sine, others), weight in waves.items()
            }
            continue
        place = list(angles).index(factor.operands[0])
        product: Waves = {}
        for (multiples, sine, others), weight in waves.items():
            for more, is_sine, part in _product(multiples, sine, place, factor.value == 'sin'):
                wave, sign = _positive(more, is_sine)
                key = (wave, is_sine, others)
                product[key] = product.get(key, 0.0) + sign * part * weight
        waves = product
    return waves


def _product(multiples: tuple[int, ...], sine: bool, place: int, by_sine: bool) -> tuple:
    """Return the two waves, with weights, of a wave times the sine or cosine of an angle."""
    up = tuple(n + (k == place) for k, n in enumerate(multiples))
    down = tuple(n - (k == place) for k, n in enumerate(multiples))
    if sine and by_sine:
        return (down, False, 0.5), (up, False, -0.5)
    if by_sine:
        return (up, True, 0.5), (down, True, -0.5)
    return (up, sine, 0.5), (down, sine, 0.5)


def _positive(multiples: tuple[int, ...], sine: bool) -> tuple[tuple[int, ...], float]:
    """Return an angle with a positive first multiple, and the sign that this costs."""
    first = next((n for n in multiples if n), 0)
    if first == 0 and sine:
        return multiples, 0.0
    if first < 0:
        return tuple(-n for n in multiples), -1.0 if sine else 1.0
    return multiples, 1.0


def _wave(wave: Wave, angles: Sequence[Expression], node: Expression) -> Expression:
    """Return the node of a wave; its angle is a whole multiple of the shortest sum."""
    multiples, sine, others = wave
    graph = node.graph
    divisor = reduce(gcd, multiples, 0)
    if divisor == 0:
        return graph.product(others) if others else graph.one
    angle = divisor * graph.sum((n // divisor) * a for n, a in zip(multiples, angles))
    return graph.product((*others, angle.sin() if sine else angle.cos()))


def angle_coordinates(node_list: Sequence[Expression]) -> list[Expression]:
    """Return the symbols whose sines or cosines stand in the nodes."""
    found = [
        node.operands[0] for node in ordered(node_list)
        if node.kind == CALL and node.value in ('sin', 'cos')
    ]
    return sorted({a for a in found if a.kind == SYMBOL}, key=lambda node: node.number)
