# SPDX-License-Identifier: Apache-2.0
"""Small arms with known parameters, and motions of them as an encoder and a drive record them."""

from dataclasses import replace

import flexdyn_ros as fd
from flexdyn_ros.identification.regressor import known_forces
from flexdyn_ros.model.records.inertia import Inertia
import numpy as np

LINK = """
  <link name="link{k}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>
    <inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="joint{k}" type="revolute"><parent link="{parent}"/><child link="link{k}"/>
    <origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/>
    <limit lower="-2.5" upper="2.5" effort="{effort}" velocity="2"/></joint>"""
ARM = [
    ('0 0 -0.1', 4, 0.03, 0.03, 0.02, '0 0 0.3', '0 0 0', 200),
    ('0.2 0 0.02', 5, 0.02, 0.12, 0.12, '0 0 0', '1.5708 0 0', 200),
    ('0.15 0 0', 2, 0.01, 0.03, 0.03, '0.4 0 0', '0 0 0', 80),
]
KEYS = ('com', 'mass', 'ixx', 'iyy', 'izz', 'xyz', 'rpy', 'effort')
DRIVES = """<flexdyn version="1.0">
  <joint_dynamics joint="joint1" rotor_inertia="1e-4" gear_ratio="50" {elastic}>
    <friction viscous="3" coulomb="4" smoothing_velocity="0.02"/></joint_dynamics>
  <joint_dynamics joint="joint2" rotor_inertia="1e-4" gear_ratio="60" {elastic}>
    <friction viscous="4" coulomb="6" smoothing_velocity="0.02"/></joint_dynamics>
  <joint_dynamics joint="joint3" rotor_inertia="5e-5" gear_ratio="40" {elastic}>
    <friction viscous="1" coulomb="2" smoothing_velocity="0.02"/></joint_dynamics>
</flexdyn>"""
FLEXIBLE = """<flexdyn version="1.0"><flexible_link link="link2" inertial="hub">
  <beam tip="joint3" young="7e10" shear="2.6e10" area="3e-4" iy="1.2e-8" iz="1.2e-8" j="2.4e-8"
    mass="0.4"><bending axis="y" modes="1" damping_ratio="0.01"/>
    <bending axis="z" modes="1" damping_ratio="0.01"/></beam></flexible_link></flexdyn>"""


def described_arm(elastic=''):
    """Return an arm of three joints as a vendor describes it."""
    parents = ['base', 'link1', 'link2']
    links = ''.join(
        LINK.format(k=k + 1, parent=parents[k], **dict(zip(KEYS, each)))
        for k, each in enumerate(ARM))
    text = f'<robot name="arm3"><link name="base"/>{links}</robot>'
    return fd.load_robot(text, extension=DRIVES.format(elastic=elastic))


def arm_with_a_flexible_link():
    """Return the arm with a flexible upper arm, which carries the hub that the URDF describes."""
    robot = described_arm()
    return fd.load_robot(robot.descriptions[0], extension=[robot.descriptions[1], FLEXIBLE])


def true_arm(robot, random):
    """Return the arm as it is: other inertias, friction and rotors than its description has."""
    def changed(body):
        share = random.uniform(0.7, 1.3)
        com = np.array(body.com) + random.uniform(-0.02, 0.02, 3)
        matrix = np.array(body.matrix) * random.uniform(0.9, 1.3)
        return Inertia(share * body.mass, tuple(com.tolist()),
                       tuple(tuple(row) for row in matrix.tolist()))

    def driven(joint):
        drive, law = joint.dynamics, joint.dynamics.friction
        law = replace(law, viscous=law.viscous * random.uniform(0.6, 1.5),
                      coulomb=law.coulomb * random.uniform(0.6, 1.5))
        stiffness = drive.stiffness and drive.stiffness * random.uniform(0.7, 1.3)
        return replace(joint, dynamics=replace(
            drive, friction=law, rotor_inertia=drive.rotor_inertia * random.uniform(0.7, 1.4),
            stiffness=stiffness))

    return replace(
        robot,
        links=tuple(each if each.inertia is None or each.mode_names
                    else replace(each, inertia=changed(each.inertia)) for each in robot.links),
        joints=tuple(map(driven, robot.joints)))


def fourier_motion(n, random, seconds=20.0, rate=200.0, harmonics=5, top=1.2):
    """Return times and smooth exact positions, velocities and accelerations, (T, n) each."""
    t = np.arange(0.0, seconds, 1.0 / rate)
    omega = 2.0 * np.pi / 10.0 * np.arange(1, harmonics + 1)
    a, b = random.normal(size=(2, harmonics, n)) / omega[:, None]
    sine, cosine = np.sin(np.outer(t, omega)), np.cos(np.outer(t, omega))
    q = sine @ a + cosine @ b
    size = top / np.abs(q).max(axis=0)
    qd = cosine @ (omega[:, None] * a) - sine @ (omega[:, None] * b)
    qdd = -(sine @ (omega[:, None] ** 2 * a) + cosine @ (omega[:, None] ** 2 * b))
    return t, q * size, qd * size, qdd * size


def recorded(robot, random, noise=0.3, step=1e-5, offset=0.0, seconds=20.0, top=1.2):
    """Return a motion of a rigid arm: quantised positions, torques with white noise."""
    t, q, qd, qdd = fourier_motion(robot.nv, random, seconds, top=top)
    torque = fd.Dynamics(robot).batch.inverse_dynamics(q, qd, qdd)
    torque += offset + noise * random.normal(size=torque.shape)
    return fd.Motion(t, np.round(q / step) * step, tau=torque, names=robot.coordinate_names)


def recorded_with_modes(robot, random, noise=0.1, step=1e-6, seconds=20.0):
    """
    Return a motion of an arm with elastic joints or flexible links, and its deflections.

    Positions are those of motor sides, then the deflections of springs and links; the torques are
    those of the motors. Deflections carry the load of the slow motion; the rest balances.
    """
    n = len(robot.joint_names)
    t, q, qd, qdd = fourier_motion(n, random, seconds, top=1.0)
    full = [np.pad(each, ((0, 0), (0, robot.n_modes))) for each in (q, qd, qdd)]
    dyn = fd.Dynamics(robot, backend='reference')
    rest, units = np.zeros(robot.nv), np.eye(robot.nv)[n:]
    stiffness = np.array([dyn.elastic_vector(unit, rest)[n:] for unit in units])
    for _ in range(6):
        force = known_forces(robot, *full)[:, n:]
        full[0][:, n:] -= np.linalg.solve(stiffness, force.T).T
        full[1][:, n:] = np.gradient(full[0][:, n:], t, axis=0)
        full[2][:, n:] = np.gradient(full[1][:, n:], t, axis=0)
    tau = known_forces(robot, *full)
    assert np.abs(tau[100:-100, n:]).max() < 1e-3 * np.abs(tau[:, :n]).max()
    tau[:, :n] += noise * random.normal(size=q.shape)
    tau[:, n:] = 0.0
    places = np.round(full[0] / step) * step
    return fd.Motion(t, places, tau=tau, names=robot.coordinate_names)
