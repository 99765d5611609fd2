# SPDX-License-Identifier: Apache-2.0
"""
Loops of the particle model: relative poses as jets, and one dense least-squares solve.

The constraints come from products of pose jets alone, so that no formula of relative acceleration
is used. The equations are solved as a whole, for any rank.
"""

from __future__ import annotations

import numpy as np
from oracles.jets import angular_rates, Jet
from oracles.particle_model import ParticleModel
from validation.van_der_merwe.gimbal_chain import joint, origin

DIRECTIONS = ('rx', 'ry', 'rz', 'tx', 'ty', 'tz')


def with_loop(text: str, dyn, q, name: str, link1: str, link2: str, constrain: str) -> str:
    """Return a URDF text with a frame on link1 that lies on link2 at q, and a loop there."""
    relative = np.linalg.solve(dyn.frame_pose(q, link1), dyn.frame_pose(q, link2))
    where = origin(relative[:3, 3], relative[:3, :3])
    parts = f'<link name="{name}_end"/>'
    parts += joint(f'{name}_fixed', 'fixed', link1, f'{name}_end', where)
    loop = f'<loop name="{name}" frame1="{name}_end" frame2="{link2}" constrain="{constrain}"/>'
    text = text.replace('<flexdyn version="1.0">', f'{parts}<flexdyn version="1.0">{loop}', 1)
    return text


class ParticleLoops:
    """
    A robot with loops by particles.

    Args:
        robot: The robot; no loop may constrain a single rotation.
    """

    def __init__(self, robot):
        self.robot = robot
        self.model = ParticleModel(robot)

    def _relative(self, q, qd, qdd):
        """Yield for each loop velocities and accelerations, (B, 6), rotations first."""
        frames = self.model.motion(q, np.atleast_2d(qd), np.atleast_2d(qdd)).frames
        for loop in self.robot.loops:
            first, second = frames[loop.frame1], frames[loop.frame2]
            turn = second[..., :3, :3]
            parts = (turn.value, turn.rate, turn.accel)
            back = Jet(*(np.swapaxes(part, -1, -2) for part in parts))
            arm = back @ (first[..., :3, 3:] - second[..., :3, 3:])
            spin, spin_rate = angular_rates(back @ first[..., :3, :3])
            chosen = [DIRECTIONS.index(name) for name in loop.constrain]
            yield (
                np.concatenate((spin, arm.rate[..., 0]), axis=-1)[:, chosen],
                np.concatenate((spin_rate, arm.accel[..., 0]), axis=-1)[:, chosen],
            )

    def jacobian(self, q) -> np.ndarray:
        """Return A, (n, nv)."""
        unit = np.eye(self.robot.nv)
        rows = [rate for rate, _ in self._relative(q, unit, 0 * unit)]
        return np.concatenate(rows, axis=1).T

    def bias(self, q, qd) -> np.ndarray:
        """Return dA/dt qd, (n,)."""
        return np.concatenate([accel[0] for _, accel in self._relative(q, qd, 0 * qd)])

    def motion(self, q, qd, tau, wrenches=None, accelerations=0.0):
        """Return qdd and constraint forces: the smallest solution of the whole system."""
        mass, a = self.model.mass_matrix(q), self.jacobian(q)
        rest = self.model.bias_vector(q, qd) + self.model.external_force_vector(q, wrenches)
        scale = np.sqrt(np.diag(mass))
        mass = mass / np.outer(scale, scale)
        own = a / scale
        n, nv = own.shape
        system = np.block([[mass, -own.T], [own, np.zeros((n, n))]])
        right = np.concatenate(((tau - rest) / scale, accelerations - self.bias(q, qd)))
        answer = np.linalg.lstsq(system, right, rcond=1e-11)[0]
        return answer[:nv] / scale, answer[nv:]
