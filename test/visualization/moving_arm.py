# SPDX-License-Identifier: Apache-2.0
"""A short motion of an arm with a link and a joint that bend."""

from functools import lru_cache

from drawn_arms import arm, BEAM
import flexdyn_ros as fd
import numpy as np


@lru_cache
def moving_arm():
    """Return dynamics of an arm with an elastic joint, and its motion of 0.4 s."""
    text = arm().replace(f'<flexible_link link="boom">{BEAM}</flexible_link>', f"""
      <joint_dynamics joint="swing" stiffness="900" damping="1" rotor_inertia="1e-3"
                      gear_ratio="20"/>
      <flexible_link link="boom">{BEAM}</flexible_link>""")
    dyn = fd.Dynamics(fd.load_robot(text))
    q = np.zeros(dyn.robot.nq)
    q[1:3] = 0.01, 0.03
    return dyn, fd.simulate(dyn, q, np.zeros(dyn.robot.nv), None, 0.4, 1e-3, method='implicit')
