# SPDX-License-Identifier: Apache-2.0
"""The methods of `Dynamics` that change gravity and payloads."""

from __future__ import annotations

import logging
from typing import Any
from typing import Optional

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.interface.arguments import real_matrix
from flexdyn_ros.interface.arguments import real_number
from flexdyn_ros.interface.arguments import real_vector
from flexdyn_ros.interface.backend_owner import BackendOwner
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.inertia import inertia_problem
import numpy as np

# Part of the largest entry by which an inertia may miss symmetry.
TOLERANCE = 1e-9

_logger = logging.getLogger('flexdyn_ros')


class LoadMethods(BackendOwner):
    """Gravity and payloads, as the description has them until they are changed."""

    def set_payload(self, link: str, mass: Any, com: Any, inertia: Any) -> None:
        """
        Put a rigid body on a link; it replaces the one that is there.

        On a flexible link it rides on the cross-section, or the segment, at its centre of mass.

        Args:
            link: Name of the link.
            mass: [kg].
            com: Centre of mass in the link frame, (3,) [m].
            inertia: About the centre of mass in link axes, (3, 3) [kg m^2].

        Raises:
            UnknownName: If there is no such link.
            ArgumentError: If the mass or a principal moment is negative, or the inertia not
                symmetric; zeros are a point mass. Moments that break the triangle inequality, as
                those of planar models may, are taken with a warning.
        """
        self.robot.link(link)
        body = payload_body(mass, com, inertia)
        self._payloads = {**self._payloads, link: body}
        self._rebuild()

    def clear_payload(self, link: Optional[str] = None) -> None:
        """Return the payload of one link, or of all, to what the description declares."""
        declared = {payload.link: payload.inertia for payload in self.robot.payloads}
        if link is None:
            self._payloads = declared
        else:
            self.robot.link(link)
            others = {name: body for name, body in self._payloads.items() if name != link}
            own = {link: declared[link]} if link in declared else {}
            kept = {**others, **own}
            # The declared order, so that sums of inertias come out bit for bit the same.
            order = [*declared, *(name for name in kept if name not in declared)]
            self._payloads = {name: kept[name] for name in order}
        self._rebuild()

    def set_gravity(self, vector: Any) -> None:
        """Set the acceleration of gravity in the root frame, (3,) [m/s^2]."""
        self._gravity = real_vector('vector', vector, 3)
        self._rebuild()


def payload_body(mass: Any, com: Any, inertia: Any) -> Inertia:
    """
    Return a payload's inertia; see `LoadMethods.set_payload`.

    Raises:
        ArgumentError: If the mass or a principal moment is negative, or the inertia not
            symmetric.
    """
    mass = real_number('mass', mass)
    if mass < 0.0:
        raise ArgumentError('mass', f'is {mass}, expected zero or more')
    x, y, z = real_vector('com', com, 3)
    moments = real_matrix('inertia', inertia, (3, 3))
    scale = max(np.abs(moments).max(), np.finfo(float).tiny)
    if np.abs(moments - moments.T).max() > TOLERANCE * scale:
        raise ArgumentError('inertia', 'is not symmetric')
    problem = inertia_problem(mass, moments, ('positive',))
    if problem is not None:
        raise ArgumentError('inertia', f'cannot be: {problem}')
    doubt = inertia_problem(mass, moments, ('triangle',))
    if doubt is not None:
        _logger.warning('The inertia of a payload is doubtful: %s.', doubt)
    xx, xy, xz, yx, yy, yz, zx, zy, zz = (0.5 * (moments + moments.T)).ravel().tolist()
    return Inertia(mass, (x, y, z), ((xx, xy, xz), (yx, yy, yz), (zx, zy, zz)))
