# SPDX-License-Identifier: Apache-2.0
"""Velocities of bodies and frames: twists, frame poses, Jacobians and their rates."""

from flexdyn_ros.dynamics.joints import axis_rates
from flexdyn_ros.dynamics.joints import combine_columns
from flexdyn_ros.dynamics.multibody import Frame
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.newton_euler import propagate
from flexdyn_ros.dynamics.placement import carry_twist
from flexdyn_ros.dynamics.placement import Placement
from flexdyn_ros.dynamics.placement import placements
from flexdyn_ros.dynamics.placement import pose_of
from flexdyn_ros.dynamics.placement import Twist
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import apply
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import Matrix
from flexdyn_ros.dynamics.spatial import multiply
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spatial import ZERO


def frame_pose(tree: Multibody, q: list, frame: Frame) -> tuple[Matrix, Vector]:
    """Return rotation and origin of a frame in the root frame."""
    rotation, position = pose_of(placements(tree, q), frame.body)
    return multiply(rotation, frame.rotation), add(position, apply(rotation, frame.position))


def body_twists(tree: Multibody, places: list[Placement], qd: list) -> list[Twist]:
    """Return the twist of each body's frame, in its own axes."""
    twists: list[Twist] = [(ZERO, ZERO)]
    for place in places[1:]:
        parent = tree.bodies[place.body.parent]
        linear, angular = carry_twist(
            place, twists[place.body.parent], parent.mode_rates(qd)
        )
        slide, turn = combine_columns(place.columns, axis_rates(place.body.joint, qd))
        twists.append((
            linear if slide is None else add(linear, slide),
            angular if turn is None else add(angular, turn),
        ))
    return twists


def jacobian(tree: Multibody, q: list, frame: Frame) -> list[list[Scalar]]:
    """Return the (6, nv) Jacobian of a frame's origin, linear rows first, in root axes."""
    places = placements(tree, q)
    columns: dict[int, Twist] = {}
    for index in _path(places, frame.body):
        place = places[index]
        body = place.body
        columns = {
            name: carry_twist(place, twist, _no_rates(place)) for name, twist in columns.items()
        }
        if place.node is not None:
            _add_modes(tree, place, columns)
        for axis, (linear, angular) in zip(body.joint.terms, place.columns):
            for term in axis:
                own = (
                    scale(term.multiplier, linear or ZERO),
                    scale(term.multiplier, angular or ZERO),
                )
                _add_column(columns, term.velocity_index, own)
    rotation, _ = pose_of(places, frame.body)
    rows: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(6)]
    for index, (linear, angular) in columns.items():
        linear = apply(rotation, add(linear, cross(angular, frame.position)))
        angular = apply(rotation, angular)
        for row, value in enumerate((*linear, *angular)):
            rows[row][index] = value
    return rows


def jacobian_rate_times_velocity(
    tree: Multibody, q: list, qd: list, frame: Frame
) -> list[Scalar]:
    """Return dJ/dt qd of a frame's origin, (6,): its acceleration for qdd = 0, in root axes."""
    places = placements(tree, q)
    motion = propagate(tree, places, qd, [0.0] * tree.nv, ZERO)[frame.body]
    rotation, _ = pose_of(places, frame.body)
    linear = add(motion.acceleration, apply(motion.matrix, frame.position))
    return [*apply(rotation, linear), *apply(rotation, motion.spin_rate)]


def _path(places: list[Placement], index: int) -> list[int]:
    """Return the bodies from the root's first child to body `index`."""
    path = []
    while places[index].body.parent >= 0:
        path.append(index)
        index = places[index].body.parent
    return path[::-1]


def _no_rates(place: Placement) -> list[float]:
    return [0.0] * (len(place.node.translation) if place.node is not None else 0)


def _add_modes(tree: Multibody, place: Placement, columns: dict[int, Twist]) -> None:
    """Add the columns of the parent's modes, carried to the body."""
    first = tree.bodies[place.body.parent].velocity_modes
    count = len(place.node.translation)
    for k in range(count):
        rates = [1.0 if k == other else 0.0 for other in range(count)]
        _add_column(columns, first + k, carry_twist(place, (ZERO, ZERO), rates))


def _add_column(columns: dict[int, Twist], index: int, own: Twist) -> None:
    linear, angular = columns.get(index, (ZERO, ZERO))
    columns[index] = (add(linear, own[0]), add(angular, own[1]))
