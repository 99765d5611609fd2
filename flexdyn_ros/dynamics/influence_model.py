# SPDX-License-Identifier: Apache-2.0
"""A robot as the method of kinematic influence sees it: bodies, their fields, approximations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from flexdyn_ros.dynamics.influence_approximations import Approximations
from flexdyn_ros.dynamics.influence_approximations import EXACT
from flexdyn_ros.dynamics.influence_fields import LinkFields
from flexdyn_ros.dynamics.influence_geometry import LinkPlace
from flexdyn_ros.dynamics.influence_inertia import link_inertia
from flexdyn_ros.dynamics.influence_inertia import LinkInertia
from flexdyn_ros.dynamics.influence_sections import Lump
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.errors import ArgumentError


@dataclass(frozen=True)
class InfluenceModel:
    """
    A robot as this method sees it.

    Attributes:
        tree: The bodies.
        fields: The fields of each body.
        approximations: Which ones are made.
        lumps: For each body what stands for it where masses are lumped, or None.
    """

    tree: Multibody
    fields: tuple[LinkFields, ...]
    approximations: Approximations = EXACT
    lumps: tuple[Optional[Lump], ...] = ()

    @classmethod
    def of(
        cls,
        tree: Multibody,
        approximations: Approximations = EXACT,
        lumps: tuple[Optional[Lump], ...] = (),
    ) -> InfluenceModel:
        """
        Return the model of a tree of bodies.

        Raises:
            ArgumentError: If a cross-section turns by King's first-order rotation, or deflections
                are reduced.
            ValueError: If inertia of a body was regrouped to its parent.
        """
        for form, places in (
            ('linearised', tree.linearised), ('undeformed_kinetic_energy', tree.undeformed)
        ):
            if places:
                raise ArgumentError(
                    'formulation', 'is "kinematic_influence", which is exact in the deflections, '
                    f'and "{tree.coordinate_names[places[0][1]]}" belongs to a link with '
                    f'deflection="{form}"; use fd.reduced(robot, "exact"), or '
                    'formulation="recursive"',
                )
        for body in tree.bodies:
            if body.node is not None and body.node.linear:
                link = tree.bodies[body.parent].links[0]
                raise ArgumentError(
                    'formulation', 'is "kinematic_influence", whose cross-sections turn exactly, '
                    f'and link "{link}" has rotation="linear"; use rotation="exact", or '
                    'formulation="recursive"',
                )
            if body.spin_inertia:
                raise ValueError('spin_inertia: take a tree whose inertia is not regrouped')
        fields = tuple(LinkFields.of(body) for body in tree.bodies)
        return cls(tree, fields, approximations, lumps)

    def inertia(
        self, index: int, place: LinkPlace, q: list, exact: bool = False
    ) -> LinkInertia:
        """Return the inertia of a link in root axes, as the approximations have it (25), (26)."""
        if self.approximations.undeformed_inertia and not exact:
            modes: list = [0.0] * place.body.n_modes
        else:
            modes = place.body.mode_values(q)
        return link_inertia(self.fields[index], modes).turned(place.rotation)
