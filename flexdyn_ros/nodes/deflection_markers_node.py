# SPDX-License-Identifier: Apache-2.0
"""The node that draws a bent arm: markers and transforms of its deformed links."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
import sys
import time
from typing import Any, Optional

from builtin_interfaces.msg import Time
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.arm_coordinates import actuated_joints, ArmCoordinates
from flexdyn_ros.nodes.arm.closed_motion import following_motion
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
from flexdyn_ros.nodes.markers.marker_array import MarkerLayout, no_markers, transform_message
from flexdyn_ros.visualization.browser_view import BrowserView, FRAMES_PER_SECOND
from flexdyn_ros.visualization.centre_lines import centre_lines, rigid_segments
from flexdyn_ros.visualization.colours import legend, rounded_up
from flexdyn_ros.visualization.scene import Scene
from flexdyn_ros.visualization.visuals import package_folders
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from visualization_msgs.msg import MarkerArray

# Time for which a viewer keeps markers that are not drawn again: periods of drawing, at least [s].
LIFETIME_PERIODS, SHORTEST_LIFETIME = 5.0, 1.0
# Height of the legend, of the farthest frame's distance from the root.
LEGEND_SHARE = 0.3
SCENE_PARAMETERS = {'visuals', 'packages', 'triangles', 'points', 'tube_radius'}


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
        self.browser: Optional[BrowserView] = None
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
        """Refuse payloads that no body has or no link carries, and a reference that is unknown."""
        if values['reference'] == 'static' and values['deflection'] == 'modal_states':
            return 'reference is static, which needs deflection quasi_static or auto'
        if values['browser'] and not values['browser'].rpartition(':')[2].isdigit():
            return 'browser must be ADDRESS:PORT, such as 127.0.0.1:8080'
        try:
            package_folders(values['packages'], 'packages')
        except FlexdynError as error:
            return str(error)
        return payload_problem(values, self.robot)

    # Life cycle.

    def set_up(self) -> None:
        """Prepare for the loaded robot."""
        p = self.parameters
        self.coordinates = ArmCoordinates(self.robot, p['measured_side'])
        free: tuple[str, ...] = ()
        if p['base_acceleration'] == 'free':
            free = self.coordinates.undriven(actuated_joints(self.robot))
        self.base = following_motion(self.dyn, self.coordinates, free)
        plausible = Plausible()
        self.measured = MeasuredState(
            self.coordinates, False, self.base.follows, bounds(self.robot, plausible), plausible)
        self.modal_cache = JointStateCache(self.robot.mode_names, need_velocity=False)
        self.run_time_model = RunTimeModel(self.dyn, self.gravity_frame, p['frame_prefix'])
        self.run_time_model.apply(p)
        self.quasi_static = None
        if (p['browser'] or p['deflection'] != 'modal_states') and self.robot.n_modes:
            self.quasi_static = ModalEquations(self.dyn, self.coordinates, self.base)
        self._make_scene()
        self.held: Optional[np.ndarray] = None
        self.largest = 0.0
        self._prepare()
        self.get_logger().info(
            f'Drawing {len(self.lines)} flexible links, deflection from {p["deflection"]}.'
        )

    def _make_scene(self) -> None:
        p = self.parameters
        file = p['description_file']
        self.scene = Scene(
            self.dyn, Path(file).resolve().parent if file else None,
            packages=package_folders(p['packages'], 'packages'),
            triangles=p['triangles'], radius=p['tube_radius'], visuals=p['visuals'],
            rigid_meshes=bool(p['browser']))
        self.lines = centre_lines(self.robot, p['points'])
        self.layout: Optional[MarkerLayout] = None

    def _prepare(self) -> None:
        """Compute once, at rest, so that code is generated before the first drawing."""
        positions, rest = self.base.rest_positions, np.zeros(self.coordinates.n_joints)
        sample = JointSample(0.0, positions, rest, rest)
        no_modes = np.zeros(self.coordinates.n_modes)
        poses = self._poses(self.coordinates.configuration(positions, no_modes))
        self.reach = max(float(np.linalg.norm(pose[:3, 3])) for pose in poses.values())
        if self.robot.loops:
            self.base.completed(sample, ModalState.zero(self.coordinates.n_modes))
        if self.quasi_static is not None:
            self.run_time_model.set_gravity()
            # If the arm buckles at rest, the drawing reports it.
            with suppress(FlexdynError):
                self.quasi_static.at(sample)
            self.quasi_static.reset()

    def start(self) -> None:
        """Start drawing, and the view in a browser."""
        p, rate = self.parameters, self.parameters['rate']
        if p['browser']:
            host, _, port = p['browser'].rpartition(':')
            self.browser = BrowserView(
                self.scene, host, int(port), live=True, factor=p['exaggeration'])
            self.get_logger().info(f'The view is at {self.browser.url}.')
            rate = max(rate, FRAMES_PER_SECOND)
        self.timer = self.create_steady_timer(1.0 / rate, self._draw)
        self.diagnostics.report(WARN, 'waiting for joint_states')

    def stop(self) -> None:
        """Stop drawing, and remove the markers."""
        self.destroy_timer(self.timer)
        if self.browser is not None:
            self.browser.stop()
            self.browser = None
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
        now = time.monotonic()
        self._draw_state(now)
        if self.browser is not None:
            self.browser.step(now)

    def _draw_state(self, now: float) -> None:
        p = self.parameters
        problems = self.measured.problems(now, p['timeout'])
        if problems:
            self.diagnostics.report(WARN, f'nothing drawn: {listed(problems)}')
            return
        try:
            if p.changed:
                self._apply_changes()
            modes = self._modes(now)
            if modes is not None:
                self.positions = self._positions(now, modes, self.source == 'quasi_static')
                reference = self._reference(now, modes)
        except FlexdynError as error:
            self.diagnostics.report(ERROR, f'nothing drawn: {error}')
            return
        if modes is None:
            self.diagnostics.report(WARN, 'no markers: waiting for modal_states')
            return
        self._publish_markers(modes, reference)
        if self.browser is not None:
            self._show(self.browser, modes, now)
        if self.transforms:
            self._publish_transforms(modes)
        kept = self.gravity_frame.problem if self.source == 'quasi_static' else None
        self.diagnostics.report(WARN if kept else OK, kept or 'drawing')

    def _apply_changes(self) -> None:
        p = self.parameters
        changed, self.layout = set(p.changed), None
        p.changed.clear()
        if changed & SCENE_PARAMETERS:
            self._make_scene()
        if changed & {'colour_by', 'reference'}:
            self.largest = 0.0
        if 'reference' in changed:
            self.held = None
        self.run_time_model.apply(p)

    def _modes(self, now: float) -> Optional[np.ndarray]:
        """Return modal coordinates from the topic or computed, shape (n_modes,)."""
        wanted = self.parameters['deflection']
        heard = not self.modal_cache.problems(now, self.parameters['timeout'])
        if wanted != 'quasi_static' and heard:
            self.source = 'modal_states'
            return self.modal_cache.positions
        if wanted == 'modal_states' or self.quasi_static is None:
            return None
        self.source = 'quasi_static'
        return self._static(now, 1.0)

    def _static(self, now: float, speed: float) -> np.ndarray:
        """Return the quasi-static deflection at a share of the measured rates, (n_modes,)."""
        assert self.quasi_static is not None
        self.run_time_model.update_gravity()
        q, qd = self.measured.without_left_out(now, self.parameters['timeout'])
        return self.quasi_static.at(JointSample(0.0, q, speed * qd, np.zeros_like(qd))).delta

    def _reference(self, now: float, modes: np.ndarray) -> np.ndarray:
        """Return the modal coordinates that the deflection counts from, (n_modes,)."""
        kind = self.parameters['reference']
        if kind == 'static' and self.quasi_static is not None:
            return self._static(now, 0.0)
        if kind != 'held':
            return np.zeros_like(modes)
        if self.held is None:
            self.held = modes.copy()
        return self.held

    def _positions(self, now: float, modes: np.ndarray, computed: bool) -> np.ndarray:
        """Return joint positions, of passive joints in loops as these and the modes have them."""
        q, qd = self.measured.without_left_out(now, self.parameters['timeout'])
        if not self.robot.loops or not (computed or np.isnan(q).any()):
            return q
        rest = np.zeros_like(modes)
        sample = JointSample(0.0, q, 0.0 * qd, 0.0 * qd)
        return self.base.completed(sample, ModalState(modes, rest, rest)).q

    def _poses(self, q: np.ndarray) -> dict[str, np.ndarray]:
        return {name: self.dyn.frame_pose(q, name) for name in self.robot.frame_names}

    def _header(self) -> Header:
        frame = self.parameters['frame_prefix'] + self.robot.root
        return Header(stamp=self.stamp, frame_id=frame)

    def _publish_markers(self, modes: np.ndarray, reference: np.ndarray) -> None:
        p = self.parameters
        factor, quantity = p['exaggeration'], p['colour_by']
        q = self.coordinates.configuration(self.positions, modes)
        drawn = self.scene.at(q, factor, reference, quantity)
        shown = self.scene.shown(q, factor, reference)
        poses = self._poses(shown)
        bent = shown[self.coordinates.n_positions:]
        lines = [each.deformed(poses[each.link], bent, modes, reference) for each in self.lines]
        rigid = rigid_segments(self.robot, poses)
        scale = legend(drawn, quantity)
        self.largest = max(self.largest, scale.high)
        scale = legend(drawn, quantity, p['colour_range'] or rounded_up(self.largest))
        if self.layout is None or self.layout.legend != scale:
            lifetime = max(SHORTEST_LIFETIME, LIFETIME_PERIODS / p['rate'])
            size = LEGEND_SHARE * self.reach if p['legend'] and self.lines else 0.0
            self.layout = MarkerLayout(
                self._header().frame_id, drawn, lines, rigid, scale, lifetime,
                self.scene.resources, size)
        self.markers.publish(self.layout.message(self.stamp, drawn, lines, rigid))

    def _show(self, browser: BrowserView, modes: np.ndarray, now: float) -> None:
        """Send the state to the browser, and the computed one beside a measured deflection."""
        second = None
        if browser.second and self.source == 'modal_states' and self.quasi_static is not None:
            with suppress(FlexdynError):
                computed = self._static(now, 1.0)
                second = self.coordinates.configuration(
                    self._positions(now, computed, True), computed)
        browser.show(self.coordinates.configuration(self.positions, modes), second)

    def _publish_transforms(self, modes: np.ndarray) -> None:
        prefix = self.parameters['frame_prefix'] + self.parameters['tf_prefix']
        header, q = self._header(), self.coordinates.configuration(self.positions, modes)
        self.transforms.publish(
            TFMessage(
                transforms=[
                    transform_message(header, prefix + name, pose)
                    for name, pose in self._poses(q).items()
                    if prefix + name != header.frame_id
                ]
            )
        )

    def diagnostic_values(self) -> dict[str, Any]:
        """Return source and largest value of the drawn deflection."""
        largest = f'largest_{self.parameters["colour_by"]}'
        return {'deflection_source': self.source, largest: self.largest}


def main(args: Optional[list[str]] = None) -> int:
    """Run the node."""
    return run_node(DeflectionMarkersNode, args)


if __name__ == '__main__':
    sys.exit(main())
