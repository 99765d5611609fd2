# SPDX-License-Identifier: Apache-2.0
"""Planar four-bar linkages of any lengths, and their equations on dense matrices."""

import flexdyn_ros as fd
import numpy as np
from validation.van_der_merwe.gimbal_chain import body, joint, origin

AXIS = '<axis xyz="0 0 1"/><limit lower="-99" upper="99" effort="1" velocity="1"/>'


def linkage(ground, crank, coupler, rocker, constrain='tx ty', **more):
    """
    Return a linkage of slender rods of 1 kg/m whose crank and rocker stand on x, 0 at ground.

    Flat, with all joints at zero, all rods lie along x; coupler angles count from the crank.

    Args:
        ground: Distance of the pins on ground [m].
        crank: Length [m].
        coupler: Length [m].
        rocker: Length [m].
        constrain: Directions that its loop holds.
        more: `inside` of <flexdyn>, and `folder` of its files.
    """
    text = ''
    for name, parent, length, x in (
        ('crank', 'base', crank, 0.0), ('coupler', 'crank', coupler, crank),
        ('rocker', 'base', rocker, ground),
    ):
        inertia = length**3 / 12.0
        text += body(name, length, (length / 2, 0, 0), (1e-3, inertia, inertia))
        text += joint(name, 'revolute', parent, name, origin((x, 0, 0)), AXIS)
    for name, parent, length in (('tip', 'coupler', coupler), ('pin', 'rocker', rocker)):
        text += f'<link name="{name}"/>'
        text += joint(f'{name}_end', 'fixed', parent, name, origin((length, 0, 0)))
    return fd.load_robot(
        f'<robot name="linkage"><link name="base"/>{text}<flexdyn version="1.0">'
        f'<gravity xyz="0 -9.81 0"/>{more.get("inside", "")}<loop name="pin" frame1="tip" '
        f'frame2="pin" constrain="{constrain}"/><actuated joints="crank"/></flexdyn></robot>',
        base_dir=more.get('folder'),
    )


def dense_motion(dyn, q, qd, tau):
    """
    Return qdd and constraint forces by least squares on the whole matrix of M, A and A^T.

    Among all solutions numpy's lstsq takes the smallest in (qdd, f). With a regular M on the null
    space qdd is unique, and then f is the smallest.
    """
    nv = len(qd)
    mass, a = dyn.mass_matrix(q), dyn.loop_jacobian(q)
    n = len(a)
    whole = np.block([[mass, -a.T], [a, np.zeros((n, n))]])
    right = np.concatenate((tau - dyn.bias_vector(q, qd), -dyn.loop_bias(q, qd)))
    found = np.linalg.lstsq(whole, right, rcond=1e-10)[0]
    return found[:nv], found[nv:]
