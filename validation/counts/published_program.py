# SPDX-License-Identifier: Apache-2.0
"""The published form as a program of ours, to run our passes on the input of CLEAR."""

from __future__ import annotations

from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.program import Program
from validation.counts.published_form import inverse_dynamics
from validation.counts.robots import stanford_rows

GRAVITY = 9.81


def published_program() -> Program:
    """Return the listing of the Stanford arm as an expression graph, constants as numbers."""
    graph, listing = Graph(), inverse_dynamics(stanford_rows())
    nodes = {'g': graph.constant(GRAVITY), '2': graph.constant(2.0)}
    for number, row in enumerate(stanford_rows(), start=1):
        angle = graph.symbol(f'TH{number}')
        nodes[f'TH{number}'] = angle
        nodes |= {f'C{number}': angle.cos(), f'S{number}': angle.sin()}
        nodes |= {name: graph.symbol(name) for name in (f'QD{number}', f'QF{number}')}
        sine, cosine = {0.0: (0.0, 1.0), 90.0: (1.0, 0.0), -90.0: (-1.0, 0.0)}[row.alpha]
        far = (0.0, row.d * sine, row.d * cosine)
        nodes |= {f'm{number}': graph.constant(row.mass), f'dl{number}': graph.constant(row.d)}
        for k, axis in enumerate('xyz'):
            nodes[f's{axis}{number}'] = graph.constant(row.com[k])
            nodes[f'sp{axis}{number}'] = graph.constant(row.com[k] + far[k])
            nodes[f'j{k + 1}{number}'] = graph.constant(row.moments[k])
    for statement in (*listing.statements, *listing.results):
        nodes[statement.name] = graph.sum(
            term.sign * graph.product(nodes[name] for name in term.atoms)
            for term in statement.terms
        )
    return Program(graph, tuple(nodes[result.name] for result in listing.results))
