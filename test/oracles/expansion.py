# SPDX-License-Identifier: Apache-2.0
"""
The linearised small-deflection model of any exact model, by fits of its values.

Deflections, rates and accelerations of some modes are scaled by e. The part of a function of e up
to a degree comes from a polynomial through its values at Chebyshev nodes. The library's expansion
is not used.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial.polynomial import polyfit

FIT = 8


def linearised_places(robot) -> tuple[list[int], list[int]]:
    """Return the places in q and in qd of the modes of links that deform by mode shapes."""
    names = [
        name for link in robot.links if link.segments is None for name in link.mode_names
    ]
    order = [robot.mode_names.index(name) for name in names]
    first_q, first_v = robot.nq - robot.n_modes, robot.n_joints
    return [first_q + k for k in order], [first_v + k for k in order]


def scaled(vector, places, e: float) -> np.ndarray:
    """Return a vector with the entries at these places times e."""
    vector = np.array(vector, float)
    vector[places] *= e
    return vector


def coefficients(function) -> np.ndarray:
    """Return the coefficients of 1, e and e^2 of a function of e, each with its result's shape."""
    nodes = np.cos(np.pi * (np.arange(FIT + 1) + 0.5) / (FIT + 1))
    values = np.array([function(e) for e in nodes])
    fit = polyfit(nodes, values.reshape(len(nodes), -1), FIT)
    return fit[:3].reshape(3, *values.shape[1:])


class ExpandedModel:
    """
    The linearised small-deflection model of an exact one, with the same methods.

    Args:
        model: An exact model; its stiffness must be linear and its friction be that of joints.
        places: Places in q and in qd of the modes that are linearised.
    """

    def __init__(self, model, places):
        self.robot = model.robot
        self._model = model
        self._q, self._v = places

    def _cut(self, name, vectors, rest=(), over=()):
        """Return a method's result, cut off by one degree less along each axis `over`."""
        places = (self._q, self._v, self._v)

        def at(e):
            moved = [scaled(v, p, e) for v, p in zip(vectors, places)]
            return np.asarray(getattr(self._model, name)(*moved, *rest), float)

        terms = coefficients(at)
        degree = np.full(terms.shape[1:], 2)
        for axis in over:
            taken = np.zeros(degree.shape[axis], int)
            taken[self._v] = 1
            degree = degree - taken.reshape([-1 if k == axis else 1 for k in range(degree.ndim)])
        return sum(np.where(degree >= k, term, 0.0) for k, term in enumerate(terms))

    def mass_matrix(self, q):
        """Return M (nv, nv)."""
        return self._cut('mass_matrix', (q,), over=(0, 1))

    def inverse_dynamics(self, q, qd, qdd, wrenches=None):
        """Return forces (nv,)."""
        return self._cut('inverse_dynamics', (q, qd, qdd), (wrenches,), over=(0,))

    def jacobian(self, q, frame):
        """Return J (6, nv)."""
        return self._cut('jacobian', (q,), (frame,), over=(1,))

    def jacobian_rate_qd(self, q, qd, frame):
        """Return dJ/dt qd (6,)."""
        return self._cut('jacobian_rate_qd', (q, qd), (frame,))

    def frame_pose(self, q, frame):
        """Return the pose (4, 4)."""
        return self._cut('frame_pose', (q,), (frame,))

    def potential_energy(self, q):
        """Return the potential energy [J]."""
        return float(self._cut('potential_energy', (q,)))
