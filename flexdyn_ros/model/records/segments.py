# SPDX-License-Identifier: Apache-2.0
"""
Pseudo-rigid segments: a beam cut into rigid bodies that passive joints with springs connect.

The reference's placement (Martins and Machado 1997) cuts the beam into `count` equal bodies of
length s, the first one rigid with the link. Each joint carries the stiffness EI / s (GJ / s in
torsion). The static deflection of the tip under a force is then (2 n^2 - 3 n + 1) / (2 n^2) of the
beam's, n the count. The error is of first order in 1/n. The centred placement has bodies of half
length at both ends. Each spring thus stands in the middle of the length s that it stands for. The
ratio is 1 - 1 / (4 (n - 1)^2), of second order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from flexdyn_ros.model.records.base import IDENTITY, Record, Vector3
from flexdyn_ros.model.records.beam import Beam
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.joint import Friction
from flexdyn_ros.model.records.section import beam_inertia
import numpy as np

AXES = ('x', 'y', 'z')
# A point this fraction of the length beyond a passive joint still hangs on the body inside.
ROUNDING = 1e-12


@dataclass(frozen=True, repr=False)
class PseudoRigidSegments(Record):
    """
    Division of a link into pseudo-rigid segments.

    Attributes:
        beam: The whole beam, without modes.
        count: Number of bodies.
        directions: Rotation axes of each passive joint, in beam axes, applied x, y, z.
        placement: "centred" or "reference".
        damping_ratio: Of the first vibration about each direction of the clamped link alone.
        friction: In every passive joint, about each direction.
    """

    beam: Beam
    count: int
    directions: tuple[str, ...]
    placement: str = 'centred'
    damping_ratio: float = 0.0
    friction: Friction = Friction()

    @property
    def spacing(self) -> float:
        """Length that each passive joint stands for [m]."""
        centred = self.placement == 'centred'
        return self.beam.length / (self.count - 1 if centred else self.count)

    @property
    def places(self) -> tuple[float, ...]:
        """Distance of each passive joint from the root along the beam [m]."""
        first = 0.5 if self.placement == 'centred' else 1.0
        return tuple((first + k) * self.spacing for k in range(self.count - 1))

    @property
    def mode_names(self) -> tuple[str, ...]:
        """Names without the link, outward: segment2_y is the joint that body 2 turns in."""
        return tuple(
            f'segment{number}_{axis}'
            for number in range(2, self.count + 1)
            for axis in self.directions
        )

    @property
    def ends(self) -> tuple[float, ...]:
        """Distance of the ends of all bodies from the root along the beam [m]."""
        return (0.0, *self.places, self.beam.length)

    def holder(self, point: Vector3) -> int:
        """Return the number, from 0, of the body that holds a point of the link frame [m]."""
        distance = sum(row[0] * x for row, x in zip(self.beam.axes, point))
        inside = distance - ROUNDING * self.beam.length
        return sum(place < inside for place in self.places)

    def middle(self, number: int) -> Vector3:
        """Return the middle of a body, from 0, on the axis of the straight beam [m]."""
        at = 0.5 * (self.ends[number] + self.ends[number + 1])
        x, y, z = (at * row[0] for row in self.beam.axes)
        return x, y, z

    def stiffness(self, axis: str) -> float:
        """Return the stiffness of each passive joint about an axis [N m/rad]."""
        beam = self.beam
        modulus, section = {
            'x': (beam.shear, beam.j), 'y': (beam.young, beam.iy), 'z': (beam.young, beam.iz),
        }[axis]
        assert modulus is not None and section is not None
        return modulus * section / self.spacing

    @property
    def coupling(self) -> float:
        """Energy per product of the rotations about y and z in a joint, -E iyz / s [N m]."""
        beam = self.beam
        return 0.0 if not beam.iyz else -(beam.young or 0.0) * beam.iyz / self.spacing

    def damping(self, axis: str) -> float:
        """
        Return the damping of each passive joint about an axis [N m s/rad].

        Proportional to the stiffness (Kelvin and Voigt's material), so that the first vibration of
        the clamped link has the damping ratio.
        """
        if self.damping_ratio == 0.0:
            return 0.0
        return 2.0 * self.damping_ratio * self.stiffness(axis) / self.lowest_frequency(axis)

    def lowest_frequency(self, axis: str) -> float:
        """Return the lowest natural frequency of the clamped link about an axis [rad/s]."""
        # All springs are equal, so that w^2 = k / (eigenvalue of the inertia matrix).
        slowest = np.linalg.eigvalsh(self.inertia_matrix(axis))[-1]
        return float(np.sqrt(self.stiffness(axis) / slowest))

    def body(self, number: int) -> Inertia:
        """Return the inertia of a body, from 0, in beam axes about its own inner end."""
        length = self.ends[number + 1] - self.ends[number]
        share = length / self.beam.length
        part = replace(self.beam, axes=IDENTITY, length=length, mass=share * self.beam.mass)
        return beam_inertia(part)

    def inertia_matrix(self, axis: str) -> np.ndarray:
        """Return the mass matrix of the passive joints about one axis, straight, (n-1, n-1)."""
        places, component = np.array(self.places), AXES.index(axis)
        matrix = np.zeros((len(places), len(places)))
        for number, place in enumerate(places, start=1):
            body = self.body(number)
            # Of the joints inside this body: rotation with it, and motion of its centre.
            arms = (place + body.com[0] - places[:number]) * (axis != 'x')
            of_body = body.mass * np.outer(arms, arms) + body.matrix[component][component]
            matrix[:number, :number] += of_body
        return matrix


def bent_segments(
    segments: PseudoRigidSegments, angles: np.ndarray, distances: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the places of cross-sections, and their rotations.

    Args:
        segments: The segments.
        angles: The link's modal coordinates in their order, (..., m) [rad].
        distances: Of n cross-sections along the straight beam from the root, rising, (n,) [m].

    Returns:
        Their places in beam axes from the link frame's origin, (..., n, 3) [m], and their
        rotations from section axes to beam axes, (..., n, 3, 3).
    """
    angles, distances = np.asarray(angles, float), np.asarray(distances, float)
    batch = angles.shape[:-1]
    joints = _rotations(segments, angles.reshape(*batch, segments.count - 1, -1))
    at, rotation = np.zeros((*batch, 3)), np.broadcast_to(np.eye(3), (*batch, 3, 3))
    places, rotations, start = [], [], 0.0
    for number in range(segments.count):
        if number:
            at = at + (segments.ends[number] - start) * rotation[..., 0]
            start = segments.ends[number]
            rotation = rotation @ joints[..., number - 1, :, :]
        last = number == segments.count - 1
        end = np.inf if last else segments.ends[number + 1]
        inside = (distances > start) | (number == 0)
        for distance in distances[inside & (distances <= end)]:
            places.append(at + (distance - start) * rotation[..., 0])
            rotations.append(rotation)
    return np.stack(places, axis=-2), np.stack(rotations, axis=-3)


def tip_deflection(segments: PseudoRigidSegments, angles: np.ndarray) -> np.ndarray:
    """
    Return the deflection of the tip along y and z and its twist, (..., 3) [m, m, rad].

    The twist is the part along the beam of the tip's rotation vector.

    Args:
        segments: The segments.
        angles: The link's modal coordinates in their order, (..., m) [rad].
    """
    from scipy.spatial.transform import Rotation

    places, rotations = bent_segments(segments, angles, np.array([segments.beam.length]))
    twist = Rotation.from_matrix(rotations.reshape(-1, 3, 3)).as_rotvec()[:, 0]
    return np.concatenate([places[..., 0, 1:], twist.reshape(*places.shape[:-2], 1)], axis=-1)


def _rotations(segments: PseudoRigidSegments, angles: np.ndarray) -> np.ndarray:
    """Return rotations of the passive joints, (..., 3, 3), for their angles, (..., axes) [rad]."""
    from scipy.spatial.transform import Rotation  # first needed here: robots start without it

    axes = ''.join(segments.directions).upper()
    found = Rotation.from_euler(axes, angles.reshape(-1, len(axes)))
    return found.as_matrix().reshape(*angles.shape[:-1], 3, 3)
