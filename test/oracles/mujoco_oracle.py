# SPDX-License-Identifier: Apache-2.0
"""MuJoCo as a rigid-body oracle: fixed base, no contacts, limits, losses or armature."""

from __future__ import annotations

import numpy as np
import pytest

mujoco = pytest.importorskip(
    'mujoco', reason='the oracle MuJoCo is not installed here: `make test` installs it'
)

COMPILER = (
    '<mujoco><compiler discardvisual="true" fusestatic="false" balanceinertia="false" '
    'boundmass="0" boundinertia="0"/></mujoco>'
)


class MujocoOracle:
    """
    Inverse dynamics and mass matrix by MuJoCo, in our order of the joints.

    Args:
        robot: Our Robot, without floating, planar or mimic joints.
        text: The same URDF, without geometry.
    """

    def __init__(self, robot, text: str):
        text = text.replace('</robot>', COMPILER + '</robot>')
        self.model = mujoco.MjModel.from_xml_string(text)
        self.model.opt.gravity[:] = robot.gravity_vector
        for losses in ('dof_damping', 'dof_frictionloss', 'dof_armature', 'jnt_limited'):
            getattr(self.model, losses)[:] = 0
        self.data = mujoco.MjData(self.model)
        self.order = np.array([
            self.model.jnt_dofadr[mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, name)]
            for name in robot.joint_names
        ])

    def _set(self, q, qd, qdd) -> None:
        self.data.qpos[self.order] = q
        self.data.qvel[self.order] = qd
        self.data.qacc[self.order] = qdd

    def inverse_dynamics(self, q, qd, qdd) -> np.ndarray:
        """Return joint torques (nv,)."""
        self._set(q, qd, qdd)
        mujoco.mj_inverse(self.model, self.data)
        return self.data.qfrc_inverse[self.order].copy()

    def mass_matrix(self, q) -> np.ndarray:
        """Return the mass matrix (nv, nv)."""
        zero = np.zeros(len(self.order))
        self._set(q, zero, zero)
        mujoco.mj_forward(self.model, self.data)
        full = np.zeros((self.model.nv, self.model.nv))
        try:
            mujoco.mj_fullM(self.model, self.data, full)
        except TypeError:  # the signature before MuJoCo 4
            mujoco.mj_fullM(self.model, full, self.data.qM)
        return full[np.ix_(self.order, self.order)]
