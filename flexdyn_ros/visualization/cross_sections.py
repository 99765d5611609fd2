# SPDX-License-Identifier: Apache-2.0
"""
Points of a link that bends: each rides on the cross-section at its projection on the beam.

A point r = p + d, p on the axis, moves to p + u(p) + R(p) d. Beyond the ends of a beam d has a
part along it, so that the link is rigid there. Modes give u and R as in `dynamics/placement.py`.
Segments give them at the middle of each of their bodies, outer ends included. Between those the
axis is a cubic Hermite curve and the rotation turns at a constant rate. Frames at the ends
therefore stand as their bodies do; within a segment the curve deviates by s theta / 8 at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Protocol

from flexdyn_ros.model.beam.body import beam_field, link_axial_shapes, link_body
from flexdyn_ros.model.modal.foreshortening import axial_displacement, Term
from flexdyn_ros.model.records.beam import Beam
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.segments import bent_segments, PseudoRigidSegments
import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

# Nodes of a solid that a point rides on, weighted by the square of their inverse distance.
_NEAREST = 4


class BendingPoints(Protocol):
    """Points of one link."""

    @property
    def strain(self) -> Optional[np.ndarray]:
        """Axial strain for unit modes, (m, n); None where shapes have no second derivatives."""

    def bent(self, modes: np.ndarray) -> np.ndarray:
        """Return the points for the link's own modal coordinates, (n, 3) in link axes [m]."""


class RigidPoints:
    """Points of a link, or a piece of one, without modes."""

    strain = None

    def __init__(self, points: np.ndarray):
        """Keep the points, shape (n, 3) [m]."""
        self._points = points

    def bent(self, modes: np.ndarray) -> np.ndarray:
        """Return the points."""
        return self._points


@dataclass(frozen=True, eq=False)
class ModalPoints:
    """
    n points of a link with m modes, in link axes.

    Attributes:
        place: Points of the undeformed axis, or nodes, shape (n, 3) [m].
        offset: From there to the points, shape (n, 3) [m].
        translation: Displacement of `place` for unit modes, shape (m, n, 3).
        rotation: Rotation vector of the cross-section for unit modes, shape (m, n, 3).
        direction: Unit vector along which bending draws points in, shape (3,).
        terms: Of the J axial shapes' amplitudes.
        drawn: Axial shapes at the points, shape (J, n) [m].
        strain: Axial strain for unit modes, shape (m, n), or None.
    """

    place: np.ndarray
    offset: np.ndarray
    translation: np.ndarray
    rotation: np.ndarray
    direction: np.ndarray
    terms: tuple[tuple[Term, ...], ...] = ()
    drawn: Optional[np.ndarray] = None
    strain: Optional[np.ndarray] = None

    def bent(self, modes: np.ndarray) -> np.ndarray:
        """Return the points for the link's own modal coordinates, (n, 3) in link axes [m]."""
        moved = self.place + np.tensordot(modes, self.translation, 1)
        if self.drawn is not None:
            along = axial_displacement(self.terms, self.drawn, modes)
            moved = moved + along[:, None] * self.direction
        turned = Rotation.from_rotvec(np.tensordot(modes, self.rotation, 1))
        return moved + turned.apply(self.offset)


def bending_points(link: Link, points: np.ndarray) -> BendingPoints:
    """Return points of a link, (n, 3) in link axes [m], ready to bend."""
    if not link.mode_names:
        return RigidPoints(points)
    if link.segments is not None:
        return SegmentPoints(link.segments, points)
    return _beam_points(link, points) if link.modal is None else _file_points(link, points)


def _beam_points(link: Link, points: np.ndarray) -> ModalPoints:
    beam = link.beam
    assert beam is not None
    axes = np.array(beam.axes)
    fractions, offset = _projected(beam, points, 0.0, beam.length)
    field, shapes = beam_field(beam, fractions), link_axial_shapes(link)
    x, y, z = (offset @ axes).T
    # e = e_x - y k_z + z k_y, Timoshenko and Gere, Mechanics of Materials, section 5.4.
    strain = field.strain[..., 0] - y * field.strain[..., 5] + z * field.strain[..., 4]
    strain[:, np.abs(x) > 1e-6 * beam.length] = 0.0
    return ModalPoints(
        points - offset, offset, field.translation @ axes.T, field.rotation @ axes.T, axes[:, 0],
        shapes.terms if shapes else (), shapes.at(fractions) if shapes else None, strain,
    )


def _file_points(link: Link, points: np.ndarray) -> ModalPoints:
    assert link.modal is not None and link.modal.arrays is not None
    arrays, body = link.modal.arrays, link_body(link)
    moves = [part.transpose(1, 0, 2) for part in (arrays.translation, arrays.rotation)]
    columns = [arrays.node_positions, *(part.reshape(len(part), -1) for part in moves)]
    drawn, direction = body.foreshortening, np.zeros(3)
    if drawn is not None and arrays.stiffening is not None:
        k, other = np.array([own[0][:2] for own in drawn.terms]).T
        columns.append(arrays.stiffening.nodes[:, k, other])
        direction = drawn.direction
    found = _interpolated(arrays.node_positions, np.concatenate(columns, axis=1), points)
    place, translation, rotation, shapes = np.split(
        found, np.cumsum([part.shape[1] for part in columns[:3]]), axis=1)
    count = len(arrays.mode_numbers)
    return ModalPoints(
        place, points - place,
        translation.reshape(-1, count, 3).swapaxes(0, 1),
        rotation.reshape(-1, count, 3).swapaxes(0, 1),
        direction, drawn.terms if drawn else (), shapes.T if drawn else None,
    )


def _interpolated(nodes: np.ndarray, values: np.ndarray, points: np.ndarray) -> np.ndarray:
    """
    Return values between nodes: splines where the nodes lie on a line, else of the nearest.

    Args:
        nodes: Shape (N, 3) [m].
        values: Of the nodes, shape (N, c).
        points: Shape (n, 3) [m].

    Returns:
        Shape (n, c).
    """
    far = nodes[int(np.argmax(np.linalg.norm(nodes - nodes[0], axis=1)))] - nodes[0]
    length = float(np.linalg.norm(far))
    if length > 0.0:
        along = (nodes - nodes[0]) @ far / length
        beside = nodes - nodes[0] - np.outer(along, far / length)
        if np.abs(beside).max() < 1e-6 * length:
            places, first = np.unique(np.round(along, 12), return_index=True)
            at = np.clip((points - nodes[0]) @ far / length, places[0], places[-1])
            return np.asarray(CubicSpline(places, values[first])(at))
    distances, nearest = cKDTree(nodes).query(points, k=range(1, min(_NEAREST, len(nodes)) + 1))
    weights = 1.0 / np.maximum(distances, 1e-9 * max(length, 1e-9)) ** 2
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum('nk,nkc->nc', weights, values[nearest])


class SegmentPoints:
    """Points of a link in segments."""

    strain = None

    def __init__(self, segments: PseudoRigidSegments, points: np.ndarray):
        """Find each point's place between the middles of two bodies; points are (n, 3) [m]."""
        middles = 0.5 * (np.array(segments.ends[:-1]) + segments.ends[1:])
        if segments.placement == 'centred':
            middles[[0, -1]] = 0.0, segments.beam.length
        self._segments, self._middles = segments, middles
        self._axes = np.array(segments.beam.axes)
        fractions, offset = _projected(segments.beam, points, middles[0], middles[-1])
        self._offset = offset @ self._axes
        x = fractions * segments.beam.length
        k = np.clip(np.searchsorted(middles, x, side='right') - 1, 0, len(middles) - 2)
        self._inner, self._span = k, (middles[k + 1] - middles[k])[:, None]
        self._along = ((x - middles[k]) / self._span[:, 0])[:, None]

    def bent(self, modes: np.ndarray) -> np.ndarray:
        """Return the points for the link's own modal coordinates, (n, 3) in link axes [m]."""
        place, matrices = bent_segments(self._segments, modes, self._middles)
        turned, k, t = Rotation.from_matrix(matrices), self._inner, self._along
        tangent = self._span * matrices[k, :, 0], self._span * matrices[k + 1, :, 0]
        line = ((1.0 + 2.0 * t) * (1.0 - t) ** 2 * place[k] + t * (1.0 - t) ** 2 * tangent[0]
                + t**2 * (3.0 - 2.0 * t) * place[k + 1] + t**2 * (t - 1.0) * tangent[1])
        steps = (turned[:-1].inv() * turned[1:]).as_rotvec()
        rotation = turned[k] * Rotation.from_rotvec(t * steps[k])
        return (line + rotation.apply(self._offset)) @ self._axes.T


def _projected(
    beam: Beam, points: np.ndarray, start: float, end: float
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the projections of points on a stretch of a beam's axis, and the offsets from there.

    Returns:
        Fractions of the length, (n,), and offsets in link axes, (n, 3) [m].
    """
    along = np.array(beam.direction)
    at = np.clip(points @ along, start, end)
    return at / beam.length, points - np.outer(at, along)
