# SPDX-License-Identifier: Apache-2.0
"""
Motor positions with which an elastic arm follows a motion of the rigid arm.

With elastic joints alone every link is held on the motion. The motor leads its link by the
deflection e, f + k(e) + d e' = 0, f the force of the links (M. Spong, Modeling and control of
elastic joint robots, 1987). With flexible links the tip is held on its path by `stable_inversion`,
whose motors may move before the path starts and after it ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.position_correction.reference_motion import ReferenceMotion
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.frequencies import natural_modes, stiffness_matrix
from flexdyn_ros.tip_tracking.boundary_value_problem import InversionFailed
from flexdyn_ros.tip_tracking.elastic_joints import ElasticJoints, forces_and_rates, Progress
from flexdyn_ros.tip_tracking.inversion import stable_inversion
from flexdyn_ros.tip_tracking.static_tracking import (
    equilibrium,
    static_configurations,
    unforced_coordinates,
)
from flexdyn_ros.tip_tracking.tip_outputs import COMPONENTS, Outputs
from flexdyn_ros.tip_tracking.tip_path import TipPath
import numpy as np
from scipy.linalg import null_space, qr

DECAYED = 25.0  # time constants after which a damped joint stands
SAMPLE = 0.02  # between samples of the tip's path [s]
LEAST_SAMPLES = 40
STANDS = 2e-7  # distance from the first and last position that is cut off [rad | m]
LENGTH = 0.3  # arm at which rotations act as displacements in the choice of outputs [m]
RANK = 1e-3  # singular value, of the largest, of a direction in which the tip does not move


class Motors(NamedTuple):
    """
    A motion of all motors, the first and the last sample at rest.

    Attributes:
        t: Times; the reference starts at zero, (T,) [s].
        q: Positions, (T, n_joints) [rad | m].
        qd: Velocities, (T, n_joints).
        qdd: Accelerations, (T, n_joints).
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray


class ElasticArm:
    """
    An arm as its motors move it.

    Attributes:
        dyn: Its dynamics.
        flexible: Whether more than joints is elastic, so that the tip alone follows.
        outputs: Components that follow the path; None otherwise.
    """

    def __init__(self, dyn: Dynamics, frame: str, outputs: Sequence[str], q: np.ndarray):
        """
        Prepare.

        Args:
            dyn: The dynamics.
            frame: The frame that follows the path with flexible links; empty for the only tip.
            outputs: Its components, and joints; none to choose them by the rank of the Jacobian.
            q: Joint positions to choose them at, (n_joints,).

        Raises:
            ArgumentError: The robot is not supported, or has several tips. Or the outputs are not
                as many as joints.
        """
        robot = dyn.robot
        if robot.loops or robot.nq != robot.nv or robot.base_motion != 'fixed':
            raise ArgumentError('dyn', 'has loops, a moving base or a quaternion joint. Use a '
                                       'tree of single joints on a fixed base')
        self.dyn = dyn
        self._n = robot.n_joints
        self._joints = ElasticJoints(robot)
        free = unforced_coordinates(robot)
        self.flexible = len(free) > len(self._joints.deflections)
        self.outputs: Optional[Outputs] = None
        if self.flexible:
            frame = frame or _only_tip(robot)
            self.outputs = Outputs.of(robot, frame, outputs or _movable(dyn, frame, q))
            driven = len(robot.actuated_coordinates)
            if len(self.outputs.names) != driven:
                raise ArgumentError('outputs', f'has {len(self.outputs.names)} names, expected '
                                               f'{driven}, one a driven joint. Change them')

    @property
    def elastic(self) -> np.ndarray:
        """Return whether each joint is elastic, (n_joints,); all are with flexible links."""
        found = np.full(self._n, self.flexible)
        found[self._joints.joints] = True
        return found

    def undeformed(self, q: np.ndarray) -> np.ndarray:
        """Return configurations, (T, nv), of joint positions, modes at zero."""
        return np.hstack([q, np.zeros((len(q), self.dyn.robot.n_modes))])

    def rigid_positions(self, motors: np.ndarray) -> np.ndarray:
        """
        Return the joint positions of the rigid arm that stands where the elastic one does.

        Args:
            motors: Positions of the motors at rest, (n_joints,).
        """
        q = equilibrium(self.dyn, self.undeformed(motors[np.newaxis])[0], 'command')
        if self.outputs is None:
            return self._joints.locked(q[np.newaxis])[0, :self._n]
        start = self.dyn.frame_pose(q, self.outputs.frame)
        wanted = self.outputs.values(self.dyn, self._joints.locked(q[np.newaxis]), start)
        return static_configurations(
            self.dyn, self.outputs, start, q, wanted, np.zeros(1), rigid=True)[0, :self._n]

    def periods(self, q: np.ndarray) -> np.ndarray:
        """Return the periods of vibration with the motors held, longest first [s]."""
        at, modes = self.undeformed(q[np.newaxis])[0], slice(self._n, None)
        frequencies, _ = natural_modes(
            self.dyn.mass_matrix(at)[modes, modes], stiffness_matrix(self.dyn, at)[modes, modes])
        return 2.0 * np.pi / frequencies[frequencies > 0.0]

    @property
    def settling(self) -> float:
        """Time in which damped joints come to rest after the links [s]."""
        joints = self._joints
        still = joints.stiffness(np.zeros(len(joints.joints)))
        return DECAYED * float((joints.damping / still).max(initial=0.0))

    def motors(self, reference: ReferenceMotion, step: float, progress: Progress) -> Motors:
        """
        Return the motion of the motors for a motion of the rigid arm.

        Args:
            reference: The motion, of all joints.
            step: Largest distance of samples [s].
            progress: Receives the fraction done.
        """
        if self.flexible:
            return self._by_inversion(reference, step, progress)
        end = reference.duration + self.settling
        t = np.linspace(0.0, end, int(np.ceil(end / step)) + 1)
        q, qd, qdd = (reference(t, order) for order in range(3))
        if len(self._joints.joints):
            found = self._joints.follow(t, t, lambda at: forces_and_rates(
                self.dyn, self._joints.deflections,
                [self._moving(reference, at, order) for order in range(4)], progress))
            for state, e in zip((q, qd, qdd), found):
                state[:, self._joints.joints] -= e
        return Motors(t, q, qd, qdd)

    def _moving(self, reference: ReferenceMotion, t: np.ndarray, order: int) -> np.ndarray:
        return self.undeformed(reference(t, order))

    def _by_inversion(
        self, reference: ReferenceMotion, step: float, progress: Progress
    ) -> Motors:
        assert self.outputs is not None
        dyn, outputs = self.dyn, self.outputs
        count = max(LEAST_SAMPLES, int(reference.duration / SAMPLE))
        t = np.linspace(0.0, reference.duration, count)
        q = self._moving(reference, t, 0)
        values = outputs.values(dyn, q, dyn.frame_pose(q[0], outputs.frame))
        turns = [k for k, row in enumerate(outputs.rows) if row >= 3]
        values[:, turns] = _unwrapped(values[:, turns])
        path = TipPath.through(
            t, dict(zip(outputs.names, values.T)), outputs.frame, q[0])
        try:
            found = stable_inversion(dyn, path, step, progress=progress)
        except (RuntimeError, ValueError) as error:  # of scipy's, for wild paths
            raise InversionFailed(
                f'The tip cannot follow the path: {error}. Plan a slower one.') from error
        joints = found.q[:, :self._n]
        # Motion before and after the path is kept until the arm stands.
        path_time = (found.t >= 0.0) & (found.t <= reference.duration)
        kept = [np.flatnonzero(path_time | (np.abs(joints - joints[k]) > STANDS).any(axis=1))
                for k in (0, -1)]
        rows = slice(max(kept[0][0] - 1, 0), kept[1][-1] + 2)
        return Motors(found.t[rows], joints[rows], found.qd[rows, :self._n],
                      found.qdd[rows, :self._n])


def prepare(dyn: Dynamics, frame: str = '', outputs: Sequence[str] = ()) -> None:
    """
    Compile the code of corrections, and refuse robots that are not supported.

    Args:
        dyn: The dynamics.
        frame: The frame that follows the path with flexible links.
        outputs: Its components, and joints.
    """
    arm = ElasticArm(dyn, frame, outputs, np.zeros(dyn.robot.n_joints))
    of_frame = () if arm.outputs is None else (
        f'frame_pose:{arm.outputs.frame}', f'jacobian:{arm.outputs.frame}')
    dyn.compile('inverse_dynamics', 'inverse_dynamics_derivatives', 'elastic_vector', *of_frame,
                batch=True)
    dyn.compile('mass_matrix')


def _only_tip(robot: Any) -> str:
    """Return the link without child joints that moves, where there is one alone."""
    above = {joint.child: joint for joint in robot.joints}

    def moves(link: str) -> bool:
        joint = above.get(link)
        return joint is not None and (bool(joint.coordinate_names) or moves(joint.parent))

    tips = [name for name in robot.tip_names if moves(name)]
    if len(tips) != 1:
        raise ArgumentError(
            'frame', f'is needed: the robot has the tips {", ".join(tips)}. Name one, in a node '
            'by the parameter correction.frame')
    return tips[0]


def _movable(dyn: Dynamics, frame: str, q: np.ndarray) -> list[str]:
    """Return components of a frame's pose that the joints move, then redundant joints."""
    n = dyn.robot.n_joints
    at = np.append(q, np.zeros(dyn.robot.n_modes))
    jacobian = dyn.jacobian(at, frame)[:, :n] * np.repeat((1.0, LENGTH), 3)[:, np.newaxis]
    _, triangle, order = qr(jacobian.T, pivoting=True)
    size = np.abs(np.diag(triangle))
    rows = order[:int(np.sum(size > RANK * size[0]))]
    space = null_space(jacobian[rows])
    # SciPy 1.8 decomposes no empty matrix.
    joints = qr(space.T, pivoting=True)[2][:n - len(rows)] if space.size else []
    return [COMPONENTS[k] for k in sorted(rows)] + [
        dyn.robot.joint_names[k] for k in sorted(joints)]


def _unwrapped(turns: np.ndarray) -> np.ndarray:
    """Return rotation vectors without jumps by a full turn; with fewer than three as they are."""
    if turns.shape[1] < 3:
        return np.unwrap(turns, axis=0)
    found = turns.copy()
    for k in range(1, len(found)):
        angle = np.linalg.norm(found[k])
        if angle > 0.0:
            axis = found[k] / angle
            found[k] += axis * 2.0 * np.pi * np.round(
                (found[k - 1] @ axis - angle) / (2.0 * np.pi))
    return found
