# SPDX-License-Identifier: Apache-2.0
"""
A simulated motion as an MCAP file of ROS 2 messages, for Foxglove and PlotJuggler.

Topics, by the time of the simulation:

    /joint_states        sensor_msgs/JointState, every sample: joints of one number each by name,
                         link sides of elastic joints, then their motor sides <joint>_motor
    /modal_states        sensor_msgs/JointState, every sample: modes by name
    /tf                  tf2_msgs/TFMessage, 30 a second: link frames in the root frame
    /deflection_markers  visualization_msgs/MarkerArray, with /tf: bending shapes, by deflection
    /robot_description   std_msgs/String, once: the URDF
"""

from __future__ import annotations

from pathlib import Path
import shutil
from tempfile import TemporaryDirectory
from typing import Any, Iterator, Sequence

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.output_files import new_file
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.configuration import ConfigurationMap
from flexdyn_ros.simulation.record import PathLike, Trajectory
from flexdyn_ros.visualization.colours import legend
from flexdyn_ros.visualization.scene import Drawn, Scene
import numpy as np
from scipy.spatial.transform import Rotation

_TOPICS = {
    '/joint_states': 'sensor_msgs/msg/JointState',
    '/modal_states': 'sensor_msgs/msg/JointState',
    '/tf': 'tf2_msgs/msg/TFMessage',
    '/deflection_markers': 'visualization_msgs/msg/MarkerArray',
    '/robot_description': 'std_msgs/msg/String',
}
_POINTS, _TRIANGLE_LIST = 8, 11  # of visualization_msgs/Marker
POINT_SIZE = 0.005  # of nodes [m]


def save_mcap(trajectory: Trajectory, dyn: Dynamics, path: PathLike) -> Path:
    """
    Write a motion as an MCAP file; return the path.

    Args:
        trajectory: The motion.
        dyn: Dynamics of the robot that moves.
        path: The file.

    Raises:
        FlexdynError: The library rosbags is not installed.
        FileNotWritten: The file cannot be written.
    """
    rosbag2, store = rosbags()
    with new_file(path) as file, TemporaryDirectory(dir=Path(path).parent) as folder:
        bag = rosbag2.Writer(
            Path(folder) / 'motion', version=9, storage_plugin=rosbag2.StoragePlugin.MCAP)
        bag.set_compression(rosbag2.CompressionMode.STORAGE, rosbag2.CompressionFormat.ZSTD)
        with bag:
            topics = {topic: bag.add_connection(topic, kind, typestore=store)
                      for topic, kind in _TOPICS.items()}
            for topic, when, message in _messages(trajectory, dyn, _Messages(store.types)):
                bag.write(topics[topic], when, store.serialize_cdr(message, _TOPICS[topic]))
        with open(Path(folder) / 'motion' / 'motion.mcap', 'rb') as written:
            shutil.copyfileobj(written, file)
    return Path(path)


def rosbags() -> tuple[Any, Any]:
    """
    Return the module rosbags.rosbag2, and the types of messages.

    Raises:
        FlexdynError: The library is not installed.
    """
    try:
        from rosbags import rosbag2
        from rosbags.typesys import get_typestore, Stores
    except ImportError:
        raise FlexdynError(
            'Writing MCAP needs the library rosbags. Install it with: pip install rosbags.'
        ) from None
    return rosbag2, get_typestore(Stores.LATEST)


def _messages(
    trajectory: Trajectory, dyn: Dynamics, make: '_Messages'
) -> Iterator[tuple[str, int, Any]]:
    """Yield topic, time [ns] and message, by time."""
    robot, joints = dyn.robot, _Joints(dyn)
    n_joints, n_positions = robot.n_joints, robot.nq - robot.n_modes
    rows = trajectory.frames()
    frames = dict(zip(rows.tolist(), _bent(dyn, trajectory.q[rows])))
    description = robot.descriptions[0] if robot.descriptions else ''
    yield '/robot_description', 0, make('std_msgs/String', data=description)
    samples = zip(trajectory.t.tolist(), trajectory.q, trajectory.qd, trajectory.tau)
    for row, (t, q, qd, tau) in enumerate(samples):
        when = round(1e9 * t)
        yield '/joint_states', when, make.state(when, *joints.state(q, qd, tau))
        yield '/modal_states', when, make.state(
            when, robot.mode_names, q[n_positions:], qd[n_joints:], tau[n_joints:])
        if row in frames:
            poses = {name: dyn.frame_pose(q, name) for name in robot.frame_names}
            yield '/tf', when, make.transforms(when, robot.root, poses)
            yield '/deflection_markers', when, make('visualization_msgs/MarkerArray', markers=[
                make.marker(when, robot.root, number, *each)
                for number, each in enumerate(frames[row])])


def _bent(dyn: Dynamics, q: np.ndarray) -> list[list[tuple[Drawn, np.ndarray]]]:
    """Return bending shapes, as tubes or nodes, and their colours, (n, 4), at each of (T, nq)."""
    scene = Scene(dyn, visuals=False)
    frames = [[d for d in scene.at(row) if d.values is not None] for row in q]
    colours = legend([d for drawn in frames for d in drawn], 'deflection')
    return [[(d, colours.colours(d.values)) for d in drawn if d.values is not None]
            for drawn in frames]


class _Joints:
    """The joints of one number each: link sides, then motor sides of those with a spring."""

    def __init__(self, dyn: Dynamics):
        """Find their places among positions, velocities and modes."""
        robot, positions = dyn.robot, ConfigurationMap.of(dyn).names
        plain = [joint for joint in robot.joints if joint.quaternion_place is None]
        links = [name for joint in plain for name in joint.coordinate_names]
        springs = {joint.name: joint.elastic_name for joint in plain
                   if joint.elastic_name and joint.mimic is None}
        self.names = [*links, *(f'{name}_motor' for name in springs)]
        self._q = [positions.index(name) for name in (*links, *springs)]
        self._v = [robot.coordinate_names.index(name) for name in (*links, *springs)]
        self._moved = [links.index(name) for name in springs]
        self._springs = [robot.mode_names.index(mode) - robot.n_modes
                         for mode in springs.values() if mode]

    def state(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[Any, ...]:
        """Return names, positions, velocities and torques."""
        position, velocity = q[self._q], qd[self._v]
        position[self._moved] += q[self._springs]
        velocity[self._moved] += qd[self._springs]
        return self.names, position, velocity, tau[self._v]


class _Messages:
    """Makes messages of ROS 2 without ROS."""

    def __init__(self, types: Any):
        """Keep the types by name."""
        self._types = types

    def __call__(self, kind: str, **values: Any) -> Any:
        """Return a message of a kind, such as std_msgs/String."""
        return self._types[kind.replace('/', '/msg/')](**values)

    def _header(self, when: int, frame: str) -> Any:
        stamp = self('builtin_interfaces/Time', sec=when // 10**9, nanosec=when % 10**9)
        return self('std_msgs/Header', stamp=stamp, frame_id=frame)

    def state(self, when: int, names: Sequence[str], *values: np.ndarray) -> Any:
        """Return a JointState of positions, velocities and efforts."""
        return self('sensor_msgs/JointState', header=self._header(when, ''), name=list(names),
                    **dict(zip(('position', 'velocity', 'effort'), values)))

    def transforms(self, when: int, root: str, poses: dict[str, np.ndarray]) -> Any:
        """Return the frames of links other than the root, poses (4, 4) by name."""
        return self('tf2_msgs/TFMessage', transforms=[
            self('geometry_msgs/TransformStamped', header=self._header(when, root),
                 child_frame_id=name, transform=self(
                     'geometry_msgs/Transform', rotation=self._quaternion(pose),
                     translation=self._vector('Vector3', pose[:3, 3])))
            for name, pose in poses.items() if name != root])

    def marker(
        self, when: int, root: str, number: int, drawn: Drawn, colours: np.ndarray
    ) -> Any:
        """Return triangles, or points, in the root frame with colours, (n, 4)."""
        corners = drawn.shape.surface.triangles.ravel()
        kind, size = _TRIANGLE_LIST, 1.0
        if not len(corners):
            kind, size, corners = _POINTS, POINT_SIZE, np.arange(len(drawn.vertices))
        rows = [self('std_msgs/ColorRGBA', **dict(zip('rgba', row))) for row in colours.tolist()]
        points = [self._vector('Point', row) for row in drawn.vertices]
        return self(
            'visualization_msgs/Marker', header=self._header(when, root), ns=drawn.shape.link,
            id=number, type=kind, action=0, frame_locked=False,
            pose=self('geometry_msgs/Pose', position=self._vector('Point', np.zeros(3)),
                      orientation=self._quaternion(np.eye(4))),
            scale=self._vector('Vector3', np.full(3, size)), color=rows[0],
            lifetime=self('builtin_interfaces/Duration', sec=0, nanosec=0),
            points=[points[k] for k in corners], colors=[rows[k] for k in corners],
            texture_resource='', uv_coordinates=[], text='', mesh_resource='',
            texture=self('sensor_msgs/CompressedImage', header=self._header(when, ''), format='',
                         data=np.zeros(0, np.uint8)),
            mesh_file=self('visualization_msgs/MeshFile', filename='', data=np.zeros(0, np.uint8)),
            mesh_use_embedded_materials=False,
        )

    def _vector(self, kind: str, vector: np.ndarray) -> Any:
        return self(f'geometry_msgs/{kind}', **dict(zip('xyz', vector.tolist())))

    def _quaternion(self, pose: np.ndarray) -> Any:
        entries = Rotation.from_matrix(pose[:3, :3]).as_quat().tolist()
        return self('geometry_msgs/Quaternion', **dict(zip('xyzw', entries)))
