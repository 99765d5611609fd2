# SPDX-License-Identifier: Apache-2.0
"""The features listed for V-Sim, each by kinematic influence and by recursion."""

from __future__ import annotations

from typing import Callable

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.robot import Robot
import numpy as np
from validation.case import Progress, Row
from validation.case_file import inputs, make_rows
from validation.graves.states import arm, arm_text, by_influence, random_state
from validation.registry import Code
from validation.robots import example_robot, URDF
from validation.studies import apart, reference, static_coordinates

ROBOTS: dict[str, Callable[[], Robot]] = {
    'serial': arm,
    'translational': lambda: example_robot('stanford_arm'),
    'cantilever': lambda: example_robot('flexible_beam'),
    'shuttle_arm': lambda: example_robot('canadarm'),
    'nonlinear_joints': lambda: example_robot(
        'cobot7', elastic_joints='true', joint_spring='strain_wave'
    ),
    'nonlinear_modes': lambda: example_robot('flexible_beam', modes_z='1', hardening='1e5'),
    'coupled_modes': lambda: load_robot(arm_text(), extension=_COUPLED),
    'joint_directions': lambda: load_robot(_SOFT_JOINTS),
    'modal_data': lambda: load_robot(_WITH_MODAL_FILE, base_dir=URDF),
    'free_base': lambda: example_robot('satellite_arm'),
    'segments': lambda: example_robot('segmented_arm'),
}
_COUPLED = """
<flexdyn version="1.0">
  <mode_coupling modes="link1/bending_y1 link1/bending_z1" energy="40"/>
  <mode_coupling modes="link1/bending_y1 link2/bending_z1" powers="2 2" energy="3e4"/>
</flexdyn>
"""
_SOFT_JOINTS = """
<robot name="arm"><link name="base"/>
  <link name="hand"><inertial><origin xyz="0.3 0.02 0.05"/><mass value="1.2"/>
    <inertia ixx="2e-3" ixy="0" ixz="0" iyy="2e-3" iyz="0" izz="1e-3"/></inertial></link>
  <joint name="wrist" type="continuous"><parent link="base"/><child link="hand"/>
    <axis xyz="0 0 1"/></joint>
  <flexdyn version="1.0"><joint_dynamics joint="wrist" stiffness="900" rotor_inertia="1e-3">
    <bearing directions="rx ry tz" stiffness="4e4 3e4 2e7"/></joint_dynamics></flexdyn></robot>
"""
_WITH_MODAL_FILE = """
<robot name="arm"><link name="base"/><link name="forearm"/>
  <link name="hand"><inertial><origin xyz="0.02 0 0.05"/><mass value="1.2"/>
    <inertia ixx="2e-3" ixy="0" ixz="0" iyy="2e-3" iyz="0" izz="1e-3"/></inertial></link>
  <joint name="elbow" type="continuous"><parent link="base"/><child link="forearm"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="wrist" type="continuous"><parent link="forearm"/><child link="hand"/>
    <origin xyz="0 0 0.39225"/><axis xyz="0.6 0 0.8"/></joint>
  <flexdyn version="1.0"><flexible_link link="forearm" geometric_stiffening="false">
    <modal file="modal/ur5_forearm.npz" format="npz"><attach joint="wrist" node="3"/></modal>
  </flexible_link></flexdyn></robot>
"""


def agreement(progress: Progress) -> list[Row]:
    """Return the largest difference of the formulations for each kind of robot."""
    found = {}
    for number, (key, build) in enumerate(ROBOTS.items()):
        found[key] = _difference(build())
        progress((number + 1) / len(ROBOTS))
    found |= {'coupled_force': _coupled_force(), 'joint_softness': _joint_softness()}
    return make_rows('gr_vsim', found)


def _coupled_force() -> float:
    """Return the error of the elastic forces against the energy's differences, of the largest."""
    dyn, rng, h = by_influence(ROBOTS['coupled_modes']()), np.random.default_rng(2), 1e-5
    robot = dyn.robot
    q, _, _ = random_state(robot, rng, 0.03)
    force = dyn.elastic_vector(q, np.zeros(robot.nv))
    weight = dyn.gravity_vector(q)
    energy = [
        (dyn.potential_energy(q + h * step) - dyn.potential_energy(q - h * step)) / (2.0 * h)
        for step in np.eye(robot.nv)
    ]
    return apart(force + weight, np.array(energy))


def _joint_softness() -> float:
    """Return the errors of deflections under a force of 2 N along each axis from closed forms."""
    robot = ROBOTS['joint_directions']()
    reach, force = np.array([0.4, 0.0, 0.0]), 2.0
    stiffness = {'rx': 4e4, 'ry': 3e4, 'tz': 2e7, 'elastic': 900.0}
    found = []
    for axis in np.eye(3):
        # At the wrist: the force, and its moment.
        wrench = np.concatenate((force * axis, np.cross(reach, force * axis)))
        held = static_coordinates(robot, 'hand', wrench, held=robot.joint_names)
        loads = dict(zip(('tz', 'rx', 'ry', 'elastic'), wrench[2:]))
        found += [
            held[robot.coordinate_names.index(_softness_name(key))] - loads[key] / stiffness[key]
            for key in stiffness
        ]
    return float(np.max(np.abs(found)))


def _softness_name(key: str) -> str:
    return 'wrist/elastic' if key == 'elastic' else f'wrist/bearing_{key}'


def _difference(robot: Robot) -> float:
    """Return the largest difference of mass matrix, bias and torques, of their largest entries."""
    start = inputs('gr_vsim')
    rng = np.random.default_rng(start['seed'])
    ours, theirs = by_influence(robot), reference(robot)
    worst = 0.0
    for _ in range(start['states']):
        q, qd, qdd = random_state(robot, rng, start['amplitude'])
        wrench = {robot.frame_names[-1]: 10.0 * rng.normal(size=6)}
        for name, given in {
            'mass_matrix': (q,), 'bias_vector': (q, qd), 'coriolis_vector': (q, qd),
            'inverse_dynamics': (q, qd, qdd, wrench), 'jacobian_rate_qd': (
                q, qd, robot.frame_names[-1]
            ),
        }.items():
            if name == 'coriolis_vector' and robot.n_joints == 0:
                continue  # a clamped link without geometric stiffening has none
            found = getattr(ours, name)(*given), getattr(theirs, name)(*given)
            if np.any(found[1]):
                worst = max(worst, apart(*found))
    return worst


CODE = {'gr_vsim': Code(agreement)}
