# SPDX-License-Identifier: Apache-2.0
"""The features listed for V-Sim, each by kinematic influence and by recursion."""

from __future__ import annotations

from typing import Callable

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.robot import Robot
import numpy as np
from validation.case import Progress, Row
from validation.case_file import inputs, make_rows
from validation.graves.states import arm, by_influence, random_state, relative
from validation.registry import Code
from validation.robots import example_robot, URDF
from validation.studies import reference

ROBOTS: dict[str, Callable[[], Robot]] = {
    'serial': arm,
    'translational': lambda: example_robot('stanford_arm'),
    'cantilever': lambda: example_robot('flexible_beam'),
    'shuttle_arm': lambda: example_robot('canadarm'),
    'nonlinear_joints': lambda: example_robot(
        'cobot7', elastic_joints='true', joint_spring='strain_wave'
    ),
    'nonlinear_modes': lambda: example_robot('flexible_beam', modes_z='1', hardening='1e5'),
    'modal_data': lambda: load_robot(_WITH_MODAL_FILE, base_dir=URDF),
    'free_base': lambda: example_robot('satellite_arm'),
    'segments': lambda: example_robot('segmented_arm'),
}
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
    return make_rows('gr_vsim', found)


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
                worst = max(worst, relative(*found))
    return worst


CODE = {'gr_vsim': Code(agreement)}
