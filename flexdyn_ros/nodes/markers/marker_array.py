# SPDX-License-Identifier: Apache-2.0
"""
Markers of a bent arm, as the bytes of a visualization_msgs/MarkerArray.

rclpy converts 5000 triangles with colours in 60 ms. Here it does so once, for the layout. The
bytes are CDR as all middlewares of ROS send it (OMG DDSI-RTPS 2.5, section 10). Poses, points,
colours and stamps therefore have fixed places, which each drawing fills.
"""

from __future__ import annotations

import re
import struct
from typing import Any, Optional, Sequence

from flexdyn_ros.nodes.simulator.simulation_topics import pose_message, vector_message
from flexdyn_ros.visualization.centre_lines import DeformedLink
from flexdyn_ros.visualization.colours import Legend
from flexdyn_ros.visualization.scene import Drawn
from flexdyn_ros.visualization.visuals import GREY
from geometry_msgs.msg import Point, Transform, TransformStamped, Vector3
import numpy as np
from rclpy.serialization import serialize_message
from scipy.spatial.transform import Rotation
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

LINE_WIDTH = 0.005  # of centre lines and rigid links [m]
TUBE_OPACITY = 0.6
LEGEND_CELLS, LEGEND_TICKS = 20, 5
# Bytes from a marker's pose to its points: pose, scale, colour, lifetime, frame_locked, count.
_TO_POINTS = 7 * 8 + 3 * 8 + 4 * 4 + 2 * 4 + 4 + 4
# A pose and a stamp that nothing else in the layout has.
_MARK, _STAMP = -7.316e211, (1234567891, 987654321)
_PRIMITIVES = {'box': Marker.CUBE, 'cylinder': Marker.CYLINDER, 'sphere': Marker.SPHERE}


class MarkerLayout:
    """The markers of one arm, whose numbers change and whose counts do not."""

    def __init__(
        self, frame: str, drawn: Sequence[Drawn], lines: Sequence[DeformedLink],
        rigid: np.ndarray, legend: Legend, lifetime: float, resources: dict[str, str],
        legend_size: float = 0.0,
    ):
        """
        Lay out the markers of a state.

        Args:
            frame: The root frame.
            drawn: The shapes.
            lines: Centre lines and nodes.
            rigid: Pairs of points of the links that are rigid, shape (2 k, 3) [m].
            legend: Of the colours.
            lifetime: Time after which a viewer removes markers that are not drawn again [s].
            resources: URI of each mesh by its address in the description.
            legend_size: Height of the legend [m]; 0 for none.
        """
        self.legend = legend
        self._resources = resources
        self._shown = [k for k, each in enumerate(drawn) if _is_marker(each)]
        markers = [self._shape(k, drawn[k]) for k in self._shown]
        for number, line in enumerate(lines):
            kind = Marker.LINE_STRIP if line.is_line else Marker.POINTS
            name = 'centre_line' if line.is_line else 'nodes'
            markers.append(_marker(name, number, kind, LINE_WIDTH, len(line.line), True))
        rigid_links = _marker('rigid_links', 0, Marker.LINE_LIST, LINE_WIDTH, len(rigid))
        rigid_links.color = ColorRGBA(r=0.6, g=0.6, b=0.6, a=1.0)
        markers += [rigid_links] if len(rigid) else []
        markers += _legend_markers(legend, legend_size) if legend_size else []
        for marker in markers:
            marker.header = Header(frame_id=frame)
            marker.header.stamp.sec, marker.header.stamp.nanosec = _STAMP
            marker.lifetime.sec = int(lifetime)
            marker.lifetime.nanosec = round((lifetime % 1.0) * 1e9)
        moved = markers[:len(self._shown) + len(lines) + bool(len(rigid))]
        for number, marker in enumerate(moved):
            marker.pose.position.x = _MARK * (1.0 + number)
        self._bytes = bytes(serialize_message(MarkerArray(markers=markers)))
        self._poses = [self._bytes.index(struct.pack('=d', m.pose.position.x)) for m in moved]
        self._counts = [len(marker.points) for marker in moved]
        stamp = struct.pack('=iI', *_STAMP)
        self._stamps = [found.start() for found in re.finditer(re.escape(stamp), self._bytes)]

    def _shape(self, number: int, each: Drawn) -> Marker:
        """Return the marker of a shape, rigid or with points that are still to be filled in."""
        shape, visual = each.shape, each.shape.visual
        if shape.pieces:
            count = shape.surface.triangles.size
            name = 'tube' if visual is None else 'visuals'
            return _marker(name, number, Marker.TRIANGLE_LIST, 1.0, count, True)
        assert visual is not None
        kind = _PRIMITIVES.get(visual.shape, Marker.MESH_RESOURCE)
        marker = _marker('visuals', number, kind, 1.0)
        marker.scale = Vector3(x=visual.size[0], y=visual.size[1], z=visual.size[2])
        r, g, b, a = shape.colour
        marker.color = ColorRGBA(r=r, g=g, b=b, a=a)
        if kind == Marker.MESH_RESOURCE:
            marker.mesh_resource = self._resources[visual.address]
            if shape.colour is GREY:  # the description has no colour, but the file may
                marker.mesh_use_embedded_materials, marker.color = True, ColorRGBA()
        return marker

    def message(
        self, stamp: Any, drawn: Sequence[Drawn], lines: Sequence[DeformedLink],
        rigid: np.ndarray,
    ) -> bytes:
        """
        Return the markers of another state of the same arm.

        Args:
            stamp: builtin_interfaces/Time.
            drawn: The shapes.
            lines: Centre lines and nodes.
            rigid: Pairs of points of rigid links, shape (2 k, 3) [m].
        """
        self._data = bytearray(self._bytes)
        for place in self._stamps:
            struct.pack_into('=iI', self._data, place, stamp.sec, stamp.nanosec)
        shapes = [drawn[k] for k in self._shown]
        poses = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (len(self._poses), 1))
        if shapes:
            matrices = np.array([each.pose for each in shapes])
            poses[:len(shapes), :3] = matrices[:, :3, 3]
            poses[:len(shapes), 3:] = Rotation.from_matrix(matrices[:, :3, :3]).as_quat()
        for place, pose in zip(self._poses, poses.tolist()):
            struct.pack_into('=7d', self._data, place, *pose)
        for number, each in enumerate(shapes):
            if each.values is not None:
                corners = each.shape.surface.triangles.ravel()
                colours = self.legend.colours(each.values)
                if each.shape.visual is None:
                    colours[:, 3] = TUBE_OPACITY
                self._fill(number, each.vertices[corners], colours[corners])
        for number, line in enumerate(lines, start=len(shapes)):
            values = line.deflection
            if self.legend.quantity != 'deflection':
                values = np.full(len(values), np.nan)
            self._fill(number, line.line, self.legend.colours(values))
        if len(rigid):
            self._fill(len(shapes) + len(lines), rigid)
        return bytes(self._data)

    def _fill(
        self, number: int, points: np.ndarray, colours: Optional[np.ndarray] = None
    ) -> None:
        """Write the points, (n, 3) [m], and colours, (n, 4), of a marker."""
        count, start = self._counts[number], self._poses[number] + _TO_POINTS
        assert len(points) == count
        np.frombuffer(self._data, 'f8', 3 * count, start)[:] = points.ravel()
        if colours is not None:  # after their own count
            np.frombuffer(self._data, 'f4', 4 * count, start + 24 * count + 4)[:] = colours.ravel()


def no_markers(header: Header) -> MarkerArray:
    """Return the message that removes all markers of a topic."""
    return MarkerArray(markers=[Marker(header=header, action=Marker.DELETEALL)])


def _is_marker(each: Drawn) -> bool:
    """Return whether a shape is drawn here; nodes and bars to joints are points and lines."""
    if each.shape.pieces:
        return bool(len(each.shape.surface.triangles))
    return each.shape.visual is not None


def _marker(
    name: str, number: int, kind: int, scale: float, points: int = 0, coloured: bool = False
) -> Marker:
    marker = Marker(ns=name, id=number, type=kind, action=Marker.ADD)
    marker.scale = Vector3(x=scale, y=scale, z=scale)
    marker.pose.orientation.w = 1.0
    marker.color.a = 1.0
    marker.points = [Point()] * points
    marker.colors = [ColorRGBA()] * (points if coloured else 0)
    return marker


def _legend_markers(legend: Legend, size: float) -> list[Marker]:
    """Return a coloured bar beside the root, upright, and its values and title."""
    side, width = size, 0.06 * size
    bar = _marker('legend', 0, Marker.TRIANGLE_LIST, 1.0)
    levels = np.linspace(legend.low, legend.high, LEGEND_CELLS)
    for cell, (r, g, b, a) in enumerate(legend.colours(levels).tolist()):
        low, high = (size * (cell + k) / LEGEND_CELLS for k in (0, 1))
        corners = [(side, low), (side + width, low), (side + width, high),
                   (side, low), (side + width, high), (side, high)]
        bar.points += [Point(x=0.0, y=y, z=z) for y, z in corners]
        bar.colors += [ColorRGBA(r=r, g=g, b=b, a=a)] * len(corners)
    ticks = legend.ticks(LEGEND_TICKS)
    texts = [(text, k / (LEGEND_TICKS - 1)) for k, (_, text) in enumerate(ticks)]
    markers = [bar]
    for number, (text, height) in enumerate([*texts, (legend.title, 1.15)], start=1):
        words = _marker('legend', number, Marker.TEXT_VIEW_FACING, 0.07 * size)
        words.text = text
        words.color = ColorRGBA(r=0.9, g=0.9, b=0.9, a=1.0)
        words.pose.position.y, words.pose.position.z = side + 4.0 * width, height * size
        markers.append(words)
    return markers


def transform_message(header: Header, child: str, pose: np.ndarray) -> TransformStamped:
    """Return the transform of a frame, shape (4, 4), in the header's frame."""
    moved = Transform(
        translation=vector_message(pose[:3, 3]), rotation=pose_message(pose).orientation)
    return TransformStamped(header=header, child_frame_id=child, transform=moved)
