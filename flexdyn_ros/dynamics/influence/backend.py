# SPDX-License-Identifier: Apache-2.0
"""The reference backend by the method of kinematic influence in place of the recursions."""

from __future__ import annotations

from copy import copy
from typing import Callable, Mapping, Optional, Sequence

from flexdyn_ros.dynamics.frame_kinematics import FrameKinematics, FrameMotion
from flexdyn_ros.dynamics.influence.equations import (
    frame_motion,
    generalised_forces,
    jacobian,
    mass_matrix,
    potential_energy,
)
from flexdyn_ros.dynamics.influence.geometry import link_places
from flexdyn_ros.dynamics.influence.model import Approximations, EXACT, InfluenceModel, lumps
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.reference import Floats, ReferenceBackend, Wrenches
from flexdyn_ros.dynamics.spatial import multiply
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.robot import Robot


def _motions(
    tree: Multibody, q: list, qd: Optional[list] = None
) -> Callable[[str], FrameMotion]:
    """Return the motion of frames by their names."""
    places = link_places(tree, q, qd)

    def motion(name: str) -> FrameMotion:
        frame = tree.frames[name]
        place = places[frame.body]
        axes = multiply(place.rotation, frame.rotation)
        origin = place.point(frame.position)
        if qd is None:
            return FrameMotion(axes, origin)
        (velocity, omega), (start, alpha) = frame_motion(places, qd, frame)
        return FrameMotion(axes, origin, velocity, omega, start, alpha)

    return motion


INFLUENCE = FrameKinematics(_motions, jacobian)


class InfluenceBackend(ReferenceBackend):
    """
    Evaluates one robot under one gravity and one set of payloads.

    Accelerations are solved for with the mass matrix. Hybrid dynamics and derivatives are the
    reference's, which call the methods below.
    """

    _kinematics = INFLUENCE

    def __init__(
        self,
        robot: Robot,
        gravity: Floats,
        payloads: Mapping[str, Inertia],
        approximations: Approximations = EXACT,
    ):
        """
        Build the model.

        Args:
            robot: The robot.
            gravity: Acceleration of gravity in the root frame, (3,) [m/s^2].
            payloads: Inertia in link axes by link name.
            approximations: Those of the method's paper that the model makes.

        Raises:
            ArgumentError: If a cross-section turns by King's first-order rotation.
        """
        super().__init__(robot, gravity, payloads)
        self._approximations = approximations
        found = lumps(robot, self._tree) if approximations.lumped_mass else ()
        self._model = InfluenceModel.of(self._tree, approximations, found)

    def under(self, gravity: Floats, payloads: Mapping[str, Inertia]) -> InfluenceBackend:
        """Return a backend of the same robot under other gravity and payloads."""
        return InfluenceBackend(self._robot, gravity, payloads, self._approximations)

    def _of(self, tree: Multibody) -> InfluenceBackend:
        """Return the same backend over another tree of bodies."""
        if self._approximations.lumped_mass:
            raise ArgumentError(
                'approximations', 'names "lumped_mass", which excludes derivatives by parameters. '
                'Omit it',
            )
        other = copy(self)
        other._tree, other._model = tree, InfluenceModel.of(tree, self._approximations)
        return other

    def _forces(
        self,
        q: Floats,
        qd: Optional[Floats] = None,
        qdd: Optional[Floats] = None,
        gravity: Optional[Sequence[float]] = None,
        wrenches: Wrenches = (),
    ) -> Floats:
        """Return the forces of inertia, gravity and wrenches, (nv,); None is rest, or none."""
        return generalised_forces(self._model, q, qd, qdd, gravity, wrenches)

    def _solve(self, q: Floats, forces: Floats, free: range, method: str) -> Floats:
        return super()._solve(q, forces, free, 'cholesky')

    def mass_matrix(self, q: Floats) -> list[Floats]:
        """Return the mass matrix, (nv, nv)."""
        return mass_matrix(self._model, q)

    def kinetic_energy(self, q: Floats, qd: Floats) -> float:
        """Return the kinetic energy qd^T M qd / 2 [J]."""
        momentum = generalised_forces(self._model, q, qdd=qd)
        return 0.5 * sum(p * rate for p, rate in zip(momentum, qd))

    def potential_energy(self, q: Floats) -> float:
        """Return the potential energy [J]."""
        return potential_energy(self._model, q, self._gravity)
