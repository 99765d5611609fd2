# SPDX-License-Identifier: Apache-2.0
"""
A robot as a cloud of particles: the brute-force second formulation.

Every rigid body is replaced by seven particles with the same mass, centre and inertia. Every beam
is replaced by particles at Gauss points along its deformed centre line, every polar line inertia
by massless spinning stars of particles. Newton's second law on each particle and d'Alembert's
principle then give the equations of motion. Nothing here is recursive and nothing uses an inertia
matrix, so the model shares no formula with a Newton-Euler or composite-body algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.robot import Robot
import numpy as np
from oracles.jets import angular_rates, as_jet, Jet, moved_points, transform
from oracles.particle_beam import (
    beam_damping,
    beam_particles,
    beam_stiffness,
    node_transform,
    rigid_particles,
)
from oracles.particle_joints import axis_drives, coordinate_slices, joint_transform, motor_map
from oracles.particle_segments import (
    node_transform as held_by_segment,
    segment_particles,
    stiffness_and_damping,
)
from oracles.particle_springs import spring_energy, spring_forces

# Motions that a model keeps: tests read many quantities of one state.
KEPT = 32


def friction(law, rate: float) -> float:
    """Return the friction of a law at a rate."""
    decay = np.exp(-((rate / law.stribeck_velocity) ** 2))
    level = law.coulomb + (law.breakaway - law.coulomb) * decay
    return law.viscous * rate + level * np.tanh(rate / law.smoothing_velocity)


@dataclass
class Motion:
    """
    Place and motion of all particles, for a batch of velocities.

    Attributes:
        frames: Pose jets of the link frames in the root frame, (B, 4, 4).
        masses: Particle masses (P,) [kg], some negative.
        points: Particle positions in the root frame (B, P, 3) [m].
    """

    frames: dict[str, Jet] = field(default_factory=dict)
    masses: np.ndarray = field(default_factory=lambda: np.zeros(0))
    points: Jet = None


class ParticleModel:
    """
    The dynamics of a Robot by particles; method names and conventions are the contract's.

    Args:
        robot: The robot; rotation="linear" links are refused.
        gravity: Replaces the robot's gravity, root frame (3,) [m/s^2].
        payloads: Link name to Inertia; replaces the robot's payload on that link.
    """

    def __init__(self, robot: Robot, gravity=None, payloads: dict[str, Inertia] | None = None):
        if any(link.beam and link.rotation != 'exact' for link in robot.links):
            raise ValueError('The particle model has exact node rotations only.')
        self.robot = robot
        self.gravity = np.array(robot.gravity_vector if gravity is None else gravity, float)
        self.payloads = {p.link: p.inertia for p in robot.payloads} | (payloads or {})
        self.slices = coordinate_slices(robot)
        self._motions: dict[tuple[bytes, ...], Motion] = {}
        self.mode_start_v = robot.n_joints
        self.mode_start_q = robot.nq - robot.n_modes
        self.mode_index = {name: k for k, name in enumerate(robot.mode_names)}

    # Kinematics ---------------------------------------------------------------------------

    def modes(self, names, q, qd, qdd) -> Jet:
        """Return the jets of the named modal coordinates, (B, n)."""
        index = [self.mode_index[name] for name in names]
        at_q = [self.mode_start_q + k for k in index]
        at_v = [self.mode_start_v + k for k in index]
        value = np.broadcast_to(q[at_q], (len(qd), len(index)))
        return Jet(value, qd[:, at_v], qdd[:, at_v])

    def motion(self, q, qd, qdd) -> Motion:
        """Return the motion for one q (nq,) and a batch of qd, qdd (B, nv); the last are kept."""
        q, qd, qdd = (np.asarray(a, dtype=float) for a in (q, qd, qdd))
        key = tuple(a.tobytes() for a in (q, qd, qdd))
        if key not in self._motions:
            if len(self._motions) >= KEPT:
                self._motions.clear()
            self._motions[key] = self._walk(q, qd, qdd)
        return self._motions[key]

    def _walk(self, q, qd, qdd) -> Motion:
        result = Motion()
        clouds: list[tuple[np.ndarray, Jet]] = []
        root = self.robot.links[0]
        result.frames[root.name] = as_jet(np.broadcast_to(np.eye(4), (len(qd), 4, 4)))
        self._add_link(root, result, clouds, q, qd, qdd)
        for joint in self.robot.joints:
            parent = self.robot.link(joint.parent)
            frame = result.frames[joint.parent]
            frame = frame @ self._node(parent, joint.origin.position, q, qd, qdd)
            frame = frame @ transform(joint.origin.rotation, joint.origin.position)
            frame = frame @ joint_transform(self, joint, q, qd, qdd)
            result.frames[joint.child] = frame
            self._add_link(self.robot.link(joint.child), result, clouds, q, qd, qdd)
        result.masses = np.concatenate([m for m, _ in clouds] or [np.zeros(0)])
        parts = [
            np.concatenate(
                [np.broadcast_to(getattr(p, name), (len(qd), len(m), 3)) for m, p in clouds]
                or [np.zeros((len(qd), 0, 3))],
                axis=1,
            )
            for name in ('value', 'rate', 'accel')
        ]
        result.points = Jet(*parts)
        return result

    def _add_link(self, link, result, clouds, q, qd, qdd) -> None:
        frame = result.frames[link.name]
        if link.inertia is not None:
            masses, points = rigid_particles(link.inertia)
            clouds.append((masses, moved_points(frame, points)))
        deltas = self.modes(link.mode_names, q, qd, qdd)
        parts = () if link.beam is None else beam_particles(link.beam, deltas, link.stiffens)
        if link.segments is not None:
            parts = segment_particles(link.segments, deltas)
        for masses, points in parts:
            clouds.append((masses, moved_points(frame, points)))
        payload = self.payloads.get(link.name)
        if payload is not None:
            frame = frame @ self._node(link, payload.com, q, qd, qdd)
            masses, points = rigid_particles(payload)
            clouds.append((masses, moved_points(frame, points)))

    def _node(self, link, point, q, qd, qdd) -> Jet:
        """Return the transform of a frame on a link at a point of it, (B, 4, 4)."""
        deltas = self.modes(link.mode_names, q, qd, qdd)
        if link.segments is not None:
            return held_by_segment(link.segments, deltas, point)
        if link.beam is not None:
            return node_transform(link.beam, deltas, point, link.stiffens)
        return as_jet(np.eye(4))

    def _columns(self, q) -> Motion:
        """Return the motion whose batch is one unit velocity per coordinate."""
        unit = np.eye(self.robot.nv)
        return self.motion(q, unit, np.zeros_like(unit))

    def _single(self, q, qd, qdd) -> Motion:
        return self.motion(q, np.asarray(qd, float)[None], np.asarray(qdd, float)[None])

    # Equations of motion ------------------------------------------------------------------

    def _project(self, q, forces) -> np.ndarray:
        """Return the generalised force (nv,) of forces on the particles (P, 3) [N]."""
        return np.einsum('ipk,pk->i', self._columns(q).points.rate, forces)

    def _rotors(self) -> np.ndarray:
        """Return the mass matrix of the rotors, by motor coordinate rates."""
        matrix = np.zeros((self.robot.nv, self.robot.nv))
        for joint in self.robot.joints:
            column, ratio = motor_map(self, joint)
            if column is not None:
                drive = joint.dynamics
                matrix[column, column] += (ratio * drive.gear_ratio) ** 2 * drive.rotor_inertia
        for column, drive in axis_drives(self):
            matrix[column, column] += drive.gear_ratio**2 * drive.rotor_inertia
        return matrix

    def mass_matrix(self, q) -> np.ndarray:
        """Return M (nv, nv): sum of particle masses times products of their Jacobians."""
        motion = self._columns(q)
        columns = motion.points.rate
        return np.einsum('ipk,p,jpk->ij', columns, motion.masses, columns) + self._rotors()

    def inertia_vector(self, q, qdd) -> np.ndarray:
        """Return M qdd (nv,)."""
        motion = self._single(q, np.zeros(self.robot.nv), qdd)
        forces = motion.masses[:, None] * motion.points.accel[0]
        return self._project(q, forces) + self._rotors() @ qdd

    def coriolis_vector(self, q, qd) -> np.ndarray:
        """Return the velocity-dependent inertial forces (nv,)."""
        motion = self._single(q, qd, np.zeros(self.robot.nv))
        return self._project(q, motion.masses[:, None] * motion.points.accel[0])

    def gravity_vector(self, q) -> np.ndarray:
        """Return the torque that holds the robot against gravity (nv,)."""
        masses = self._columns(q).masses
        return self._project(q, -masses[:, None] * self.gravity)

    def friction_vector(self, qd) -> np.ndarray:
        """Return the losses of joints (nv,), on the motor side of elastic joints."""
        torque = np.zeros(self.robot.nv)
        for joint in self.robot.joints:
            column, ratio = motor_map(self, joint)
            if column is None:
                continue
            rate = ratio * qd[column]
            loss = friction(joint.dynamics.friction, rate)
            if not joint.dynamics.elastic:
                loss += joint.dynamics.damping * rate
            torque[column] += ratio * loss
        for link in self.robot.links:
            for name in link.mode_names if link.segments else ():
                at = self.mode_start_v + self.mode_index[name]
                torque[at] += friction(link.segments.friction, qd[at])
        for column, drive in axis_drives(self):
            rate, law = qd[column], drive.friction
            decay = np.exp(-((rate / law.stribeck_velocity) ** 2))
            level = law.coulomb + (law.breakaway - law.coulomb) * decay
            torque[column] += (law.viscous + drive.damping) * rate
            torque[column] += level * np.tanh(rate / law.smoothing_velocity)
        return torque

    def elastic_matrices(self) -> tuple[np.ndarray, np.ndarray]:
        """Return stiffness and damping (nv, nv) of beams and elastic joints."""
        stiffness = np.zeros((self.robot.nv, self.robot.nv))
        damping = np.zeros_like(stiffness)
        for link in self.robot.links:
            if link.segments is not None:
                at = [self.mode_start_v + self.mode_index[name] for name in link.mode_names]
                stiffness[at, at], damping[at, at] = stiffness_and_damping(link.segments)
            elif link.mode_names:
                at = [self.mode_start_v + self.mode_index[name] for name in link.mode_names]
                stiffness[np.ix_(at, at)] += beam_stiffness(link.beam)
                damping[np.ix_(at, at)] += beam_damping(link.beam)
            for spring in link.mode_springs:
                if spring.replaces:
                    at = self.mode_start_v + self.mode_index[f'{link.name}/{spring.mode}']
                    stiffness[at, at] = 0.0
        for joint in self.robot.joints:
            if joint.elastic_name:
                at = self.mode_start_v + self.mode_index[joint.elastic_name]
                stiffness[at, at] += joint.dynamics.stiffness or 0.0
                damping[at, at] += joint.dynamics.damping
        return stiffness, damping

    def _modal(self, q) -> np.ndarray:
        """Return the modal coordinates in their places in (nv,), zeros elsewhere."""
        return np.concatenate((np.zeros(self.mode_start_v), q[self.mode_start_q:]))

    def elastic_vector(self, q, qd) -> np.ndarray:
        """Return the forces of stiffness and damping of modes and elastic joints (nv,)."""
        stiffness, damping = self.elastic_matrices()
        forces = stiffness @ self._modal(q) + damping @ qd
        forces[self.mode_start_v:] += spring_forces(self.robot, np.array(q)[self.mode_start_q:])
        return forces

    def external_force_vector(self, q, wrenches) -> np.ndarray:
        """Return minus the power of the wrenches per unit velocity, (nv,)."""
        torque = np.zeros(self.robot.nv)
        for frame, wrench in (wrenches or {}).items():
            torque -= self.jacobian(q, frame).T @ np.asarray(wrench, float)
        return torque

    def bias_vector(self, q, qd) -> np.ndarray:
        """Return everything but M qdd (nv,)."""
        return (
            self.coriolis_vector(q, qd)
            + self.gravity_vector(q)
            + self.friction_vector(qd)
            + self.elastic_vector(q, qd)
        )

    def inverse_dynamics(self, q, qd, qdd, wrenches=None) -> np.ndarray:
        """Return the torques and modal forces of a motion (nv,)."""
        motion = self._single(q, qd, qdd)
        forces = motion.masses[:, None] * (motion.points.accel[0] - self.gravity)
        return (
            self._project(q, forces)
            + self._rotors() @ qdd
            + self.friction_vector(qd)
            + self.elastic_vector(q, qd)
            + self.external_force_vector(q, wrenches)
        )

    def forward_dynamics(self, q, qd, tau, wrenches=None) -> np.ndarray:
        """Return the accelerations (nv,) by a dense solve."""
        rest = self.bias_vector(q, qd) + self.external_force_vector(q, wrenches)
        return np.linalg.solve(self.mass_matrix(q), np.asarray(tau) - rest)

    def hybrid_dynamics(self, q, qd, joint_qdd, wrenches=None):
        """Return joint torques and modal accelerations for prescribed joint accelerations."""
        n = self.robot.n_joints
        matrix = self.mass_matrix(q)
        rest = self.bias_vector(q, qd) + self.external_force_vector(q, wrenches)
        rest = rest + matrix[:, :n] @ joint_qdd
        modal = np.linalg.solve(matrix[n:, n:], -rest[n:])
        return rest[:n] + matrix[:n, n:] @ modal, modal

    # Frames and energies ------------------------------------------------------------------

    def frame_pose(self, q, frame) -> np.ndarray:
        """Return the pose of a link frame in the root frame (4, 4)."""
        zero = np.zeros((1, self.robot.nv))
        return self.motion(q, zero, zero).frames[frame].value[0]

    def jacobian(self, q, frame) -> np.ndarray:
        """Return the frame's Jacobian (6, nv): linear then angular, root axes."""
        unit = np.eye(self.robot.nv)
        pose = self.motion(q, unit, 0.0 * unit).frames[frame]
        angular, _ = angular_rates(pose[..., :3, :3])
        return np.concatenate((pose.rate[:, :3, 3], angular), axis=1).T

    def jacobian_rate_qd(self, q, qd, frame) -> np.ndarray:
        """Return the frame's acceleration at qdd = 0 (6,)."""
        qd = np.asarray(qd, float)[None]
        pose = self.motion(q, qd, 0.0 * qd).frames[frame]
        _, angular = angular_rates(pose[..., :3, :3])
        return np.concatenate((pose.accel[0, :3, 3], angular[0]))

    def kinetic_energy(self, q, qd) -> float:
        """Return the kinetic energy of particles and rotors [J]."""
        motion = self._single(q, qd, np.zeros(self.robot.nv))
        energy = 0.5 * np.sum(motion.masses[:, None] * motion.points.rate[0] ** 2)
        return energy + 0.5 * np.asarray(qd) @ self._rotors() @ qd

    def potential_energy(self, q) -> float:
        """Return gravity (zero at the root origin) plus elastic energy [J]."""
        zero = np.zeros(self.robot.nv)
        motion = self._single(q, zero, zero)
        stiffness, _ = self.elastic_matrices()
        modal = self._modal(np.asarray(q, float))
        fall = np.einsum('p,pk,k', motion.masses, motion.points.value[0], self.gravity)
        energy = 0.5 * modal @ stiffness @ modal - fall
        return energy + spring_energy(self.robot, modal[self.mode_start_v:])
