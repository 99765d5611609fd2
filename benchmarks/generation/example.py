# SPDX-License-Identifier: Apache-2.0
"""
The small example of El-Rayyes 1990, section 3.2, as one program.

Statements of the Stanford arm's inverse dynamics that the thesis carries through CLEAR (figures
3.2 to 3.8), in our own order. They have unused statements, constants that fold, two trigonometric
identities, a common factor, and a product that several statements share.
"""

from __future__ import annotations

from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.program import Program

NAMES = ('Z0004', 'Z0009', 'Z0017', 'Z0029', 'Z0102')
J22, J32 = 0.018, 0.044343  # [kg m^2]: j32 - j22 = 0.026343, as printed
SY2 = -0.1054  # [m]


def example() -> Program:
    """Return the example as traced, with its unused statements."""
    graph = Graph()
    th2, th4, th5 = (graph.symbol(name) for name in ('TH2', 'TH4', 'TH5'))
    qd1, qd2, qf1 = (graph.symbol(name) for name in ('QD1', 'QD2', 'QF1'))
    z2, z99 = graph.symbol('Z0002'), graph.symbol('Z0099')
    c2, s2 = th2.cos(), th2.sin()
    y2 = c2 * qd1 * qd2
    y4 = s2 * qd1 * qd2
    outputs = (
        -(c2 * qd1) * (c2 * qd1) - (s2 * qd1) * (s2 * qd1),
        -(z2 * SY2) - y4 * SY2,
        qd2 * J32 * (c2 * qd1) - (c2 * qd1) * J22 * qd2,
        -(-y2 - qf1 * s2) + y2,
        th4.cos() * z99 * th5.sin() + z99 * th5.cos() * th4.sin(),
    )
    unused = 0.3 * qf1 * SY2
    unused = unused + z2 * z99
    return Program(graph, outputs, tuple(graph.nodes))
