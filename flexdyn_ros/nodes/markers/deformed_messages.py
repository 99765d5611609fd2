# SPDX-License-Identifier: Apache-2.0
"""Markers and transforms of a bent arm."""

from __future__ import annotations

from typing import Sequence

from flexdyn_ros.nodes.markers.deformed_shape import colour, DeformedLink, tube_triangles
from flexdyn_ros.nodes.simulator.simulation_topics import pose_message
from geometry_msgs.msg import Point, TransformStamped, Vector3
import numpy as np
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

LINE_WIDTH = 0.005  # of centre lines and rigid links [m]
TUBE_OPACITY = 0.6


def points_message(points: np.ndarray) -> list[Point]:
    """Return points, shape (n, 3) [m], as messages."""
    return [Point(x=x, y=y, z=z) for x, y, z in np.asarray(points, dtype=float).tolist()]


def deflection_colours(deflection: np.ndarray, largest: float, opacity: float) -> list[ColorRGBA]:
    """Return a colour for each deflection [m]; `largest` [m] is red."""
    colours = []
    for value in deflection:
        red, green, blue = colour(value / largest if largest > 0.0 else 0.0)
        colours.append(ColorRGBA(r=red, g=green, b=blue, a=opacity))
    return colours


def marker_array(
    header: Header,
    links: Sequence[DeformedLink],
    rigid: np.ndarray,
    largest: float,
    lifetime: float = 0.0,
) -> MarkerArray:
    """
    Return centre lines and tubes of the flexible links, or their nodes, and lines of the others.

    Args:
        header: Stamp and root frame.
        links: Flexible links, in the root frame.
        rigid: Pairs of points of the rigid links, shape (2 k, 3) [m].
        largest: Deflection that is drawn red [m].
        lifetime: Time after which a viewer removes markers that are not drawn again [s]; 0 for
            never.
    """
    markers: list[Marker] = []
    for number, link in enumerate(links):
        if not link.rings.size:
            nodes = _marker(header, 'nodes', number, Marker.POINTS, LINE_WIDTH)
            nodes.points = points_message(link.line)
            nodes.colors = deflection_colours(link.deflection, largest, 1.0)
            markers.append(nodes)
            continue
        line = _marker(header, 'centre_line', number, Marker.LINE_STRIP, LINE_WIDTH)
        line.points = points_message(link.line)
        line.colors = deflection_colours(link.deflection, largest, 1.0)
        tube = _marker(header, 'tube', number, Marker.TRIANGLE_LIST, 1.0)
        corners = tube_triangles(len(link.line)).reshape(-1, 2)
        tube.points = points_message(link.rings[corners[:, 0], corners[:, 1]])
        along = deflection_colours(link.deflection, largest, TUBE_OPACITY)
        tube.colors = [along[n] for n in corners[:, 0]]
        markers += [line, tube]
    if len(rigid):
        segments = _marker(header, 'rigid_links', 0, Marker.LINE_LIST, LINE_WIDTH)
        segments.points = points_message(rigid)
        segments.color = ColorRGBA(r=0.6, g=0.6, b=0.6, a=1.0)
        markers.append(segments)
    for marker in markers:
        marker.lifetime.sec = int(lifetime)
        marker.lifetime.nanosec = round((lifetime % 1.0) * 1e9)
    return MarkerArray(markers=markers)


def no_markers(header: Header) -> MarkerArray:
    """Return the message that removes all markers of a topic."""
    return MarkerArray(markers=[Marker(header=header, action=Marker.DELETEALL)])


def _marker(header: Header, namespace: str, number: int, kind: int, scale: float) -> Marker:
    marker = Marker(header=header, ns=namespace, id=number, type=kind, action=Marker.ADD)
    marker.scale = Vector3(x=scale, y=scale, z=scale)
    marker.pose.orientation.w = 1.0
    marker.color.a = 1.0
    return marker


def transform_message(header: Header, child: str, pose: np.ndarray) -> TransformStamped:
    """Return the transform of a frame, shape (4, 4), in the header's frame."""
    message = TransformStamped(header=header, child_frame_id=child)
    placed = pose_message(pose)
    position = placed.position
    message.transform.translation = Vector3(x=position.x, y=position.y, z=position.z)
    message.transform.rotation = placed.orientation
    return message
