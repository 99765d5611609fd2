# SPDX-License-Identifier: Apache-2.0
"""A drawn arm in the scene of viser: rigid shapes move, shapes that bend send their vertices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from flexdyn_ros.visualization.colours import Legend, legend, rounded_up
from flexdyn_ros.visualization.scene import Drawn, Scene, SceneShape
import numpy as np
from scipy.spatial.transform import Rotation

# Pieces of one colour each that a shape which bends is cut into along its longest side.
BANDS = 8
OVERLAY_COLOUR, OVERLAY_OPACITY = (90, 110, 130), 0.35


@dataclass(frozen=True)
class _Band:
    """Vertices of a shape, and the mesh of viser that draws the triangles between them."""

    vertices: np.ndarray
    mesh: Any


class BrowserArm:
    """
    One arm in the browser.

    Attributes:
        visible: Whether it is shown.
    """

    def __init__(self, server: Any, scene: Scene, name: str, overlay: bool = False):
        """
        Add the shapes to the server's scene.

        Args:
            server: The ViserServer.
            scene: Appearance of the arm.
            name: Of the arm among those of the server.
            overlay: Whether it is drawn transparent, in one colour.
        """
        self._server, self._scene, self._overlay = server, scene, overlay
        self.visible = not overlay
        self._largest: dict[str, float] = {}
        self._root = server.scene.add_frame(f'/{name}', show_axes=False, visible=self.visible)
        at_rest = scene.at(scene.dyn.robot.neutral_configuration())
        self._bands = [
            self._added(f'/{name}/{number}', drawn) for number, drawn in enumerate(at_rest)]
        for bands, drawn in zip(self._bands, at_rest):
            self._move(bands, drawn, None)

    def show(self, visible: bool) -> None:
        """Show or hide the arm."""
        if visible != self.visible:
            self._root.visible = self.visible = visible

    def draw(
        self, q: np.ndarray, factor: float, quantity: str, limit: float = 0.0
    ) -> Optional[Legend]:
        """
        Draw a configuration, (nq,).

        Args:
            q: The configuration.
            factor: On the deflection as drawn.
            quantity: Quantity that colours the shapes that bend, or "link".
            limit: Largest value in the legend; 0 takes the largest that was drawn, rounded up.

        Returns:
            The legend; None where the colours are those of the links.
        """
        plain = self._overlay or quantity == 'link'
        drawn = self._scene.at(q, factor, quantity='deflection' if plain else quantity)
        shown = None
        if not plain:
            largest = max(self._largest.get(quantity, 0.0), legend(drawn, quantity).high)
            self._largest[quantity] = largest
            shown = legend(drawn, quantity, limit or rounded_up(largest))
        with self._server.atomic():
            for bands, own in zip(self._bands, drawn):
                self._move(bands, own, shown)
        return shown

    def _added(self, name: str, drawn: Drawn) -> list[_Band]:
        shape = drawn.shape
        triangles = shape.surface.triangles
        if not len(triangles):
            size = 0.02 * float(np.ptp(drawn.vertices, axis=0).max(initial=0.0))
            return [_Band(np.arange(len(drawn.vertices)), self._server.scene.add_point_cloud(
                name, drawn.vertices, _bytes(shape.colour), point_size=size))]
        found = []
        for number, part in enumerate(_parts(shape) if shape.pieces else [triangles]):
            vertices, corners = np.unique(part, return_inverse=True)
            mesh = self._server.scene.add_mesh_simple(
                f'{name}/{number}', drawn.vertices[vertices], corners.reshape(-1, 3),
                color=OVERLAY_COLOUR if self._overlay else _bytes(shape.colour),
                opacity=OVERLAY_OPACITY if self._overlay else None,
                flat_shading=True, cast_shadow=False, receive_shadow=False)
            found.append(_Band(vertices, mesh))
        return found

    def _move(self, bands: list[_Band], drawn: Drawn, shown: Optional[Legend]) -> None:
        if not drawn.shape.pieces:
            for band in bands:
                band.mesh.position = drawn.pose[:3, 3]
                band.mesh.wxyz = np.roll(Rotation.from_matrix(drawn.pose[:3, :3]).as_quat(), 1)
            return
        if shown is None or drawn.values is None:
            colours = np.tile(drawn.shape.colour, (len(bands), 1))
        else:
            colours = shown.colours(np.array([drawn.values[b.vertices].mean() for b in bands]))
        for band, colour in zip(bands, _bytes(colours)):
            if drawn.shape.surface.triangles.size:
                band.mesh.vertices = drawn.vertices[band.vertices]
                band.mesh.color = OVERLAY_COLOUR if self._overlay else tuple(colour.tolist())
            else:
                band.mesh.points = drawn.vertices


def _parts(shape: SceneShape) -> list[np.ndarray]:
    """Return the triangles in bands along the longest side of a shape."""
    middle = shape.surface.vertices[shape.surface.triangles].mean(axis=1)
    along = middle[:, int(np.argmax(np.ptp(middle, axis=0)))]
    edges = np.linspace(along.min(), along.max(), BANDS + 1)[1:-1]
    place = np.searchsorted(edges, along)
    return [shape.surface.triangles[place == k] for k in range(BANDS) if (place == k).any()]


def _bytes(colours: Any) -> np.ndarray:
    """Return red, green and blue of colours in 0 ... 1 as bytes."""
    return np.rint(255.0 * np.asarray(colours)[..., :3]).astype(np.uint8)
