# SPDX-License-Identifier: Apache-2.0
"""The bent shape of a link in segments: straight pieces, each turned by its passive joint."""

from __future__ import annotations

from flexdyn_ros.model.segments.segments import Segments
import numpy as np


def bent_segments(
    segments: Segments, angles: np.ndarray, distances: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return where cross-sections stand, and how they are turned.

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
    turns = angles.reshape(*batch, segments.count - 1, len(segments.directions))
    at, rotation = np.zeros((*batch, 3)), np.broadcast_to(np.eye(3), (*batch, 3, 3))
    places, rotations, start = [], [], 0.0
    for number in range(segments.count):
        if number:
            at = at + (segments.ends[number] - start) * rotation[..., 0]
            start = segments.ends[number]
            for k, axis in enumerate(segments.directions):
                rotation = rotation @ _turn(axis, turns[..., number - 1, k])
        last = number == segments.count - 1
        end = np.inf if last else segments.ends[number + 1]
        inside = (distances > start) | (number == 0)
        for distance in distances[inside & (distances <= end)]:
            places.append(at + (distance - start) * rotation[..., 0])
            rotations.append(rotation)
    return np.stack(places, axis=-2), np.stack(rotations, axis=-3)


def tip_deflection(segments: Segments, angles: np.ndarray) -> np.ndarray:
    """
    Return the deflection of the tip along y and z and its twist, (..., 3) [m, m, rad].

    The twist is the part along the beam of the tip's rotation vector.

    Args:
        segments: The segments.
        angles: The link's modal coordinates in their order, (..., m) [rad].
    """
    places, rotations = bent_segments(segments, angles, np.array([segments.beam.length]))
    turned = rotations[..., 0, :, :]
    sine = 0.5 * np.stack([
        turned[..., 2, 1] - turned[..., 1, 2],
        turned[..., 0, 2] - turned[..., 2, 0],
        turned[..., 1, 0] - turned[..., 0, 1],
    ], axis=-1)
    cosine = 0.5 * (np.trace(turned, axis1=-2, axis2=-1) - 1.0)
    size = np.linalg.norm(sine, axis=-1)
    angle = np.arctan2(size, cosine)
    scale = np.divide(angle, size, out=np.ones_like(size), where=size > 0.0)
    return np.concatenate([places[..., 0, 1:], (scale * sine[..., 0])[..., None]], axis=-1)


def _turn(axis: str, angle: np.ndarray) -> np.ndarray:
    """Return rotations about a beam axis, (..., 3, 3)."""
    first, second = {'x': (1, 2), 'y': (2, 0), 'z': (0, 1)}[axis]
    matrix = np.zeros((*angle.shape, 3, 3))
    matrix[..., :, :] = np.eye(3)
    matrix[..., first, first] = matrix[..., second, second] = np.cos(angle)
    matrix[..., second, first] = np.sin(angle)
    matrix[..., first, second] = -np.sin(angle)
    return matrix
