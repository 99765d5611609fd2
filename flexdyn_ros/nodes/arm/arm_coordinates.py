# SPDX-License-Identifier: Apache-2.0
"""From joint measurements and modal coordinates to the coordinates of the robot."""

from __future__ import annotations

from typing import Optional, Sequence

from flexdyn_ros.errors import require_known
from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.nodes.arm.multi_dof_joint import make_multi_dof_joint, MultiDofJoint
import numpy as np

Place = tuple[int, int]
"""Index among the joint positions, index among the joint velocities."""


class ArmCoordinates:
    """
    Joins joint and modal coordinates; takes elastic deflections off link-side measurements.

    Joint positions are the first n_positions entries of a configuration, joint velocities the
    first n_joints of a velocity. The two differ where a joint has a quaternion.

    Attributes:
        joint_names: The robot's joint velocity coordinates.
        neutral_positions: Joint positions with all coordinates zero, shape (n_positions,).
        n_joints: Their number.
        n_positions: Number of joint positions.
        n_modes: Number of modal coordinates.
        places: Place of each coordinate of one number, by its name in joint_states.
        multi_dof: The joints measured by a transform, depth first.
        elastic: For each elastic joint: its index among the joint velocities, its index among the
            modes.
    """

    def __init__(self, robot: Robot, measured_side: str = 'motor'):
        """
        Prepare for one robot.

        Args:
            robot: The robot.
            measured_side: Side that joint values of elastic joints refer to, "motor" or "link".
        """
        self.joint_names = robot.joint_names
        self.n_joints = robot.n_joints
        self.n_positions = robot.nq - robot.n_modes
        self.n_modes = robot.n_modes
        self.places: dict[str, Place] = {}
        multi_dof: list[MultiDofJoint] = []
        q = v = 0
        for joint in robot.joints:
            names, count = joint.coordinate_names, len(joint.position_names)
            if joint.type in ('floating', 'planar') or joint.quaternion:
                multi_dof.append(make_multi_dof_joint(joint, q, v))
            else:
                self.places.update({name: (q + k, v + k) for k, name in enumerate(names)})
            q, v = q + count, v + len(names)
        self.multi_dof = tuple(multi_dof)
        self.elastic = tuple(
            (robot.joint_names.index(joint.name), robot.mode_names.index(joint.elastic_name))
            for joint in robot.joints
            if joint.elastic_name and joint.mimic is None
        )
        self._single = np.array(list(self.places.values()), dtype=int).reshape(-1, 2).T
        self._springs = tuple(
            (*self.places[robot.joint_names[joint]], mode) for joint, mode in self.elastic
        )
        prescribed = robot.base_motion == 'prescribed'
        self._prescribed = robot.joint_names[:BASE_COORDINATES] if prescribed else ()
        self._link_side = measured_side == 'link'
        self.neutral_positions = robot.neutral_configuration()[: self.n_positions]

    def columns(self, joints: Sequence[str]) -> list[int]:
        """
        Return the index of each of these coordinates among the joint velocities.

        Raises:
            UnknownName: A name is no coordinate.
        """
        require_known('joint', joints, self.joint_names)
        return [self.joint_names.index(name) for name in joints]

    def position_columns(self, joints: Sequence[str]) -> list[Optional[int]]:
        """Return the index of each among the joint positions, None where it has no such number."""
        return [self.places[name][0] if name in self.places else None for name in joints]

    def undriven(self, joints: Sequence[str]) -> tuple[str, ...]:
        """
        Return the coordinates of floating and like joints that are not among `joints`.

        A base whose motion is prescribed is not free either.
        """
        return tuple(
            name
            for joint in self.multi_dof
            for name in self.joint_names[joint.velocities]
            if name not in joints and name not in self._prescribed
        )

    def configuration(self, joint_positions: np.ndarray, modes: np.ndarray) -> np.ndarray:
        """
        Return a configuration of the robot, shape (nq,): motor-side joint positions, then modes.

        Args:
            joint_positions: Shape (n_positions,), on the measured side.
            modes: Modal coordinates, shape (n_modes,).
        """
        joined = np.concatenate((joint_positions, modes))
        if self._link_side:
            for position, _, mode in self._springs:
                joined[position] -= modes[mode]
        return joined

    def join(self, joint_values: np.ndarray, modal_values: np.ndarray) -> np.ndarray:
        """
        Return velocities or accelerations of the robot, shape (nv,), the joints' motor-side.

        Args:
            joint_values: Shape (n_joints,), on the measured side.
            modal_values: Shape (n_modes,).
        """
        joined = np.concatenate((joint_values, modal_values))
        if self._link_side:
            for _, velocity, mode in self._springs:
                joined[velocity] -= modal_values[mode]
        return joined

    def link_side_positions(self, q: np.ndarray) -> np.ndarray:
        """Return positions of the `places` on the link side of springs, of a q, shape (nq,)."""
        moved = np.array(q[: self.n_positions])
        for position, _, mode in self._springs:
            moved[position] += q[self.n_positions + mode]
        return moved[self._single[0]]

    def link_side_velocities(self, qd: np.ndarray) -> np.ndarray:
        """Return velocities of the `places` on the link side of springs, of a qd, shape (nv,)."""
        moved = np.array(qd[: self.n_joints])
        for _, velocity, mode in self._springs:
            moved[velocity] += qd[self.n_joints + mode]
        return moved[self._single[1]]

    @property
    def behind_springs(self) -> bool:
        """Whether joint values of elastic joints are those of the link side."""
        return self._link_side and bool(self._springs)

    @property
    def preferred_names(self) -> dict[str, str]:
        """Names in joint_states that go before a joint's own: motor sides, where they count."""
        if self._link_side:
            return {}
        names = [self.joint_names[joint] for joint, _ in self.elastic]
        return {name: motor_side(name) for name in names}

    def of_places(self, joint_velocities: np.ndarray) -> np.ndarray:
        """Return those of values by joint velocity, shape (n_joints,), that `places` name."""
        return joint_velocities[self._single[1]]

    def motors(self) -> tuple[list[str], list[int], list[int]]:
        """Return names, positions and velocities of the motor sides of elastic joints."""
        names = [motor_side(self.joint_names[joint]) for joint, _ in self.elastic]
        return names, [s[0] for s in self._springs], [s[1] for s in self._springs]


def motor_side(joint: str) -> str:
    """Return the name of an elastic joint's motor side in joint_states."""
    return f'{joint}_motor'


def actuated_joints(robot: Robot) -> tuple[str, ...]:
    """
    Return the coordinates of the actuated joints in the depth-first order of the URDF.

    Floating and planar joints are none of them. Thrusters or wheels alone drive them, so that
    users name their coordinates.
    """
    return tuple(
        name
        for joint in robot.joints
        if joint.type not in ('floating', 'planar')
        and (joint.name in robot.actuated or not robot.actuated)
        for name in joint.coordinate_names
    )
