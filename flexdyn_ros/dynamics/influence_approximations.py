# SPDX-License-Identifier: Apache-2.0
"""
What Graves's method of kinematic influence approximates, each to be asked for by name.

Kinematics, gravity, springs, losses and outside wrenches stay exact.

- "undeformed_inertia", eq. 25: "variations due to the flexibility" of a link's own inertia are
  left out. In every integral over a link, of the mass matrix and of the nonlinear loads, each mass
  element counts at its undeformed place; what the link carries still hangs on its deflected ends.
- "lumped_mass", the equation after (27): nonlinear loads are those of one rigid body for each
  link, with the link's mass and its inertia about the undeformed centre of mass, which rides on
  the cross-section there.
- "printed_recursion", eq. 27 to the letter: the nonlinear acceleration grows from link to link by
  w_a x v_b and w_a x w_b, with the velocities of b against a. Left out are alpha_a x r, half of
  the Coriolis accelerations of sliding joints and of modes, and what the modes' and the joint's
  rotations at one end make of each other.
"""

from __future__ import annotations

from typing import Iterable
from typing import NamedTuple
from typing import Union

from flexdyn_ros.errors import ArgumentError


class Approximations(NamedTuple):
    """
    Which approximations are made; none by default.

    Attributes:
        undeformed_inertia: Whether links have the inertia of their undeformed shape.
        lumped_mass: Whether the nonlinear loads of a flexible link are those of a rigid body.
        printed_recursion: Whether nonlinear accelerations follow the printed recursion.
    """

    undeformed_inertia: bool = False
    lumped_mass: bool = False
    printed_recursion: bool = False

    @classmethod
    def named(cls, names: Union[str, Iterable[str]]) -> Approximations:
        """
        Return the approximations of these names.

        Raises:
            ArgumentError: If one is unknown.
        """
        chosen = (names,) if isinstance(names, str) else tuple(names)
        for name in chosen:
            if name not in cls._fields:
                raise ArgumentError(
                    'approximations', f'names "{name}", expected some of {cls._fields}'
                )
        return cls(**dict.fromkeys(chosen, True))


EXACT = Approximations()
