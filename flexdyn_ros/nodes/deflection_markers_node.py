# SPDX-License-Identifier: Apache-2.0
"""The node that draws how an arm bends: markers and transforms of its deformed links."""

from __future__ import annotations

from contextlib import suppress
import sys
import time
from typing import Any, Optional

from builtin_interfaces.msg import Time
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.arm_coordinates import actuated_joints, ArmCoordinates
from flexdyn_ros.nodes.arm.closed_motion import what_follows
from flexdyn_ros.nodes.arm.deflection import ModalEquations
from flexdyn_ros.nodes.arm.joint_motion import JointSample, ModalState
from flexdyn_ros.nodes.arm.joint_state_cache import JointStateCache
from flexdyn_ros.nodes.arm.measured_state import MeasuredState
from flexdyn_ros.nodes.arm.plausibility import bounds, Plausible
from flexdyn_ros.nodes.common.diagnostics import ERROR, listed, OK, WARN
from flexdyn_ros.nodes.common.gravity import GravityFrame
from flexdyn_ros.nodes.common.robot_node import RobotNode, run_node
from flexdyn_ros.nodes.common.run_time_model import payload_problem, RunTimeModel
from flexdyn_ros.nodes.common.topics import subscribe_measured_states, TFMessage
from flexdyn_ros.nodes.markers.deformed_messages import marker_array, no_markers, transform_message
from flexdyn_ros.nodes.markers.deformed_shape import link_shapes, rigid_segments
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from visualization_msgs.msg import MarkerArray

# How long a viewer keeps markers that are not drawn again: periods of drawing, at least [s].
LIFETIME_PERIODS, SHORTEST_LIFETIME = 5.0, 1.0


class DeflectionMarkersNode(RobotNode):
    """Draws the newest joint and modal state at a steady rate."""

    def __init__(self, **node_arguments: Any):
        """Create publishers and subscriptions."""
        self.measured: Any = None  # a MeasuredState once configured
        self.source = 'none'
        self.largest = 0.0
        self.positions = np.zeros(0)
        super().__init__('deflection_markers_node', **node_arguments)
        self.stamp = Time()
        self.timer: Any = None
        self.markers = self.create_lifecycle_publisher(MarkerArray, '~/markers', 1)
        self.transforms: Any = None
        if self.parameters['publish_tf'] and TFMessage is None:
            self.get_logger().info('no transforms: tf2_msgs is not installed')
        elif self.parameters['publish_tf']:
            self.transforms = self.create_lifecycle_publisher(TFMessage, '/tf', 10)
        self.joint_states = subscribe_measured_states(self, self._on_measured)
        p = self.parameters
        self.gravity_frame = GravityFrame(self, p['gravity_frame'], p['gravity_frame_timeout'])
        self.modal_states = self.create_subscription(
            JointState, 'modal_states', self._on_modal_states, 1
        )

    def check_parameters(self, values, changed) -> Optional[str]:
        """Refuse payloads that no body has or no link carries."""
        return payload_problem(values, self.robot)

    # Life cycle.

    def set_up(self) -> None:
        """Prepare for the loaded robot."""
        p = self.parameters
        self.coordinates = ArmCoordinates(self.robot, p['measured_side'])
        free: tuple[str, ...] = ()
        if p['base_acceleration'] == 'free':
            free = self.coordinates.undriven(actuated_joints(self.robot))
        self.base = what_follows(self.dyn, self.coordinates, free)
        plausible = Plausible()
        self.measured = MeasuredState(
            self.coordinates, False, self.base.follows, bounds(self.robot, plausible), plausible)
        self.modal_cache = JointStateCache(self.robot.mode_names, need_velocity=False)
        self.run_time_model = RunTimeModel(self.dyn, self.gravity_frame, p['frame_prefix'])
        self.run_time_model.apply(p)
        self.quasi_static = None
        if p['deflection'] != 'modal_states' and self.robot.n_modes:
            self.quasi_static = ModalEquations(self.dyn, self.coordinates, self.base)
        self.shapes = link_shapes(self.robot, p['points'], p['tube_radius'])
        self.largest = 0.0
        self._prepare()
        self.get_logger().info(
            f'Drawing {len(self.shapes)} flexible links, deflection from {p["deflection"]}.'
        )

    def _prepare(self) -> None:
        """Compute once, at rest, so that code is generated before the first drawing."""
        positions, rest = self.base.rest_positions, np.zeros(self.coordinates.n_joints)
        sample = JointSample(0.0, positions, rest, rest)
        self._poses(positions, np.zeros(self.coordinates.n_modes))
        if self.robot.loops:
            self.base.completed(sample, ModalState.zero(self.coordinates.n_modes))
        if self.quasi_static is not None:
            self.run_time_model.set_gravity()
            # If the arm buckles at rest, the drawing reports it.
            with suppress(FlexdynError):
                self.quasi_static.at(sample)
            self.quasi_static.reset()

    def start(self) -> None:
        """Start drawing."""
        self.timer = self.create_steady_timer(1.0 / self.parameters['rate'], self._draw)
        self.diagnostics.report(WARN, 'waiting for joint_states')

    def stop(self) -> None:
        """Stop drawing, and remove what is drawn."""
        self.destroy_timer(self.timer)
        if self.context.ok():
            self.markers.publish(no_markers(self._header()))

    # Inputs.

    def _on_measured(self, message, take) -> None:
        self._report_dropped(take(message, time.monotonic()))
        self.stamp = self.stamp_of(message)

    def _on_modal_states(self, message: JointState) -> None:
        if self.measured is not None:
            self._report_dropped(self.modal_cache.update(
                message.name, message.position, message.velocity, time.monotonic(),
                'modal_states'))

    def _report_dropped(self, dropped: Optional[str]) -> None:
        if dropped:
            self.diagnostics.report(ERROR, dropped)

    # Output.

    def _draw(self) -> None:
        p = self.parameters
        now = time.monotonic()
        problems = self.measured.problems(now, p['timeout'])
        if problems:
            self.diagnostics.report(WARN, f'nothing drawn: {listed(problems)}')
            return
        if p.changed:
            self.shapes = link_shapes(self.robot, p['points'], p['tube_radius'])
            self.run_time_model.apply(p)
            p.changed.clear()
        try:
            modes = self._modes(now)
            if modes is not None:
                self.positions = self._positions(now, modes)
        except FlexdynError as error:
            self.diagnostics.report(ERROR, f'nothing drawn: {error}')
            return
        if modes is None:
            self.diagnostics.report(WARN, 'no markers: waiting for modal_states')
            return
        self._publish_markers(modes)
        if self.transforms:
            self._publish_transforms(modes)
        kept = self.gravity_frame.problem if self.source == 'quasi_static' else None
        self.diagnostics.report(WARN if kept else OK, kept or 'drawing')

    def _modes(self, now: float) -> Optional[np.ndarray]:
        """Return modal coordinates from the topic or computed, shape (n_modes,)."""
        wanted = self.parameters['deflection']
        heard = not self.modal_cache.problems(now, self.parameters['timeout'])
        if wanted != 'quasi_static' and heard:
            self.source = 'modal_states'
            return self.modal_cache.positions
        if self.quasi_static is None:
            return None
        self.source = 'quasi_static'
        self.run_time_model.update_gravity()
        q, qd = self.measured.without_left_out(now, self.parameters['timeout'])
        return self.quasi_static.at(JointSample(0.0, q, qd, np.zeros_like(qd))).delta

    def _positions(self, now: float, modes: np.ndarray) -> np.ndarray:
        """Return joint positions, of passive joints in loops as these and the modes have them."""
        q, qd = self.measured.without_left_out(now, self.parameters['timeout'])
        if not self.robot.loops or not (self.source == 'quasi_static' or np.isnan(q).any()):
            return q
        rest = np.zeros_like(modes)
        sample = JointSample(0.0, q, 0.0 * qd, 0.0 * qd)
        return self.base.completed(sample, ModalState(modes, rest, rest)).q

    def _poses(self, positions: np.ndarray, modes: np.ndarray) -> dict[str, np.ndarray]:
        q = self.coordinates.configuration(positions, modes)
        return {name: self.dyn.frame_pose(q, name) for name in self.robot.frame_names}

    def _header(self) -> Header:
        frame = self.parameters['frame_prefix'] + self.robot.root
        return Header(stamp=self.stamp, frame_id=frame)

    def _publish_markers(self, modes: np.ndarray) -> None:
        p = self.parameters
        factor = p['exaggeration']
        poses = self._poses(self.positions, factor * modes)
        links = [shape.deformed(poses[shape.link], modes, factor) for shape in self.shapes]
        met = max((link.deflection.max() for link in links), default=0.0)
        self.largest = max(self.largest, float(met))
        rigid = rigid_segments(self.robot, poses)
        scale = p['colour_range'] or self.largest
        lifetime = max(SHORTEST_LIFETIME, LIFETIME_PERIODS / p['rate'])
        self.markers.publish(marker_array(self._header(), links, rigid, scale, lifetime))

    def _publish_transforms(self, modes: np.ndarray) -> None:
        prefix = self.parameters['frame_prefix'] + self.parameters['tf_prefix']
        header = self._header()
        self.transforms.publish(
            TFMessage(
                transforms=[
                    transform_message(header, prefix + name, pose)
                    for name, pose in self._poses(self.positions, modes).items()
                    if prefix + name != header.frame_id
                ]
            )
        )

    def diagnostic_values(self) -> dict[str, Any]:
        """Return what is drawn."""
        return {'deflection_source': self.source, 'largest_deflection': self.largest}


def main(args: Optional[list[str]] = None) -> int:
    """Run the node."""
    return run_node(DeflectionMarkersNode, args)


if __name__ == '__main__':
    sys.exit(main())
