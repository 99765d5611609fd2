# SPDX-License-Identifier: Apache-2.0
"""
Common products and sums, also inside longer ones.

Single-use nesting is flattened. Then the pair of factors (or of terms, up to a common sign) that
stands in the most products (sums) becomes a node. This repeats while there are such. This is the
rule of CLEAR (El-Rayyes 1990, section 3.2.4) for products and sums alike.
"""

from __future__ import annotations

from collections import defaultdict
import heapq
from itertools import combinations

from flexdyn_ros.symbolic.graph import Expression, Graph, NEGATIVE, PRODUCT, split_sign, SUM
from flexdyn_ros.symbolic.program import merge_nested, Program, remake

Item = tuple[Expression, int]


def share_pairs(program: Program, kind: int) -> Program:
    """Return the program with common pairs of terms (SUM) or factors (PRODUCT) made nodes."""
    flat = merge_nested(program, kind)
    lists = {
        node: [_item(operand) for operand in node.operands]
        for node in flat.needed()
        if node.kind == kind
    }
    chosen = _choose_pairs(lists, flat.graph, kind)
    return _apply(flat, lists, chosen, kind)


def _item(operand: Expression) -> Item:
    negative, inner = split_sign(operand)
    return inner, -1 if negative else 1


def _pair(a: Item, b: Item, kind: int) -> tuple:
    """Return the key of a pair: its nodes, and whether their signs agree."""
    if a[0].number > b[0].number:
        a, b = b, a
    return a[0], b[0], a[1] * b[1] if kind == SUM else 1


def _choose_pairs(lists: dict, graph: Graph, kind: int) -> list[tuple]:
    """Rewrite the lists in place; return the nodes made, in order."""
    where: dict[tuple, set] = defaultdict(set)
    for owner, items in lists.items():
        for a, b in combinations(items, 2):
            where[_pair(a, b, kind)].add(owner)
    shared = [(pair, owners) for pair, owners in where.items() if len(owners) > 1]
    heap = [(-len(owners), *_rank(pair), pair) for pair, owners in shared]
    heapq.heapify(heap)
    made: list[tuple] = []
    while heap:
        count, _, _, pair = heapq.heappop(heap)
        owners = where[pair]
        if len(owners) < 2:
            continue
        if len(owners) != -count:
            heapq.heappush(heap, (-len(owners), *_rank(pair), pair))
            continue
        new = _item(_joined(graph, kind, *pair))
        made.append((new, pair))
        for owner in sorted(owners, key=lambda node: node.number):
            _replace(owner, lists[owner], pair, new, where, heap, kind)
    return made


def _rank(pair: tuple) -> tuple[int, int]:
    return pair[0].number, pair[1].number * 2 + (pair[2] > 0)


def _joined(
    graph: Graph, kind: int, a: Expression, b: Expression, agreement: int
) -> Expression:
    if kind == PRODUCT:
        return graph.product((a, b))
    return graph.sum((a, b if agreement > 0 else graph.negate(b)))


def _replace(owner, items: list, pair: tuple, new: Item, where: dict, heap: list, kind: int):
    a, b, _ = pair
    first = next(item for item in items if item[0] is a)
    rest = list(items)
    rest.remove(first)
    second = next(item for item in rest if item[0] is b)
    for x, y in combinations(items, 2):
        where[_pair(x, y, kind)].discard(owner)
    rest.remove(second)
    rest.append((new[0], new[1] * first[1] if kind == SUM else new[1] * first[1] * second[1]))
    items[:] = rest
    for x, y in combinations(items, 2):
        key = _pair(x, y, kind)
        where[key].add(owner)
        if len(where[key]) == 2:
            heapq.heappush(heap, (-2, *_rank(key), key))


def _apply(program: Program, lists: dict, chosen: list, kind: int) -> Program:
    """Return the program with each list built from its pairs."""
    graph = program.graph
    built: dict[Expression, Expression] = {}
    pairs = {core: pair for (core, _), pair in chosen}

    def resolve(node: Expression) -> Expression:
        if node in built:
            return built[node]
        if node.kind == NEGATIVE:
            return graph.negate(resolve(node.operands[0]))
        if node in pairs:
            # Before its list, which may hold nothing but the node itself.
            a, b, agreement = pairs[node]
            result = _joined(graph, kind, resolve(a), resolve(b), agreement)
        elif node in lists:
            parts = [
                resolve(core) if sign > 0 else graph.negate(resolve(core))
                for core, sign in lists[node]
            ]
            result = graph.sum(parts) if kind == SUM else graph.product(parts)
        elif node.operands:
            result = remake(graph, node, tuple(resolve(operand) for operand in node.operands))
        else:
            result = node
        built[node] = result
        return result

    for node in program.needed():
        resolve(node)
    return Program(graph, tuple(resolve(output) for output in program.outputs))
