# SPDX-License-Identifier: Apache-2.0
"""
Linear state space of a robot about a state.

The state is x = (displacement of the configuration, velocity), 2 nv numbers. A displacement is a
change of q itself. Of a quaternion it is a rotation vector, and of a floating joint's position a
translation, both in body axes (the tangent space at q). There its rate is not the change of
velocity alone. Let v be the velocity and w the spin of the body. The rotation vector r and the
translation d obey r' = dw - w x r and d' = dv - w x d - v x r (the adjoint of the twist; Sola,
Deray and Atchuthan, A micro Lie theory for state estimation in robotics, 2018, appendix D). About
rest that vanishes.
"""

from __future__ import annotations

from typing import Optional, overload, Sequence

from flexdyn_ros.checked_arguments import Wrenches
from flexdyn_ros.linearisation.outputs import output_matrices, parsed_outputs
from flexdyn_ros.linearisation.tangent import tangent_rate
from flexdyn_ros.robot_dynamics import Dynamics, require_dynamics
import numpy as np
from numpy.typing import ArrayLike

Pair = tuple[np.ndarray, np.ndarray]
Four = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@overload
def linearise(
    dyn: Dynamics, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, wrenches: Wrenches = None,
    outputs: None = None,
) -> Pair: ...


@overload
def linearise(
    dyn: Dynamics, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, wrenches: Wrenches = None,
    *, outputs: Sequence[str],
) -> Four: ...


def linearise(
    dyn: Dynamics, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, wrenches: Wrenches = None,
    outputs: Optional[Sequence[str]] = None,
) -> Pair | Four:
    """
    Return A and B of dx/dt = A x + B u for small departures from a state of the robot.

    With outputs, C and D of y = C x + D u come beside them; see `linearisation/outputs.py`.

    x is the displacement of the configuration, then the change of velocity, (2 nv,), in joints and
    modes. u is the change of the joint torques [N m | N], (n_joints,), in the order of
    `robot.joint_names`. Modes have no input: outside forces on them are zero or stay as they are.
    Of a base that moves, free or prescribed, the first six inputs are the wrench on it.
    The state need not be an equilibrium; then x is the departure from the motion through it.
    With loops the system holds for departures x that keep them closed.

    Args:
        dyn: Dynamics of the robot, with its payloads and gravity.
        q: Configuration, (nq,).
        qd: Velocity, (nv,).
        tau: Joint torques, then modal forces, (nv,).
        wrenches: Frame name to six numbers, see `Dynamics`; they stay as they are in root axes.
        outputs: Names of outputs, such as "tool/pose" or "arm/strain@0.1,0.02,0".

    Returns:
        A, (2 nv, 2 nv), and B, (2 nv, n_joints); with outputs C, (p, 2 nv), and D, (p, n_joints).

    Raises:
        ArgumentError: An argument has the wrong shape or type.
        UnknownName: The robot has no frame, link or coordinate of an output.
        SingularMassMatrix: If a coordinate moves no inertia, naming it and its links.
    """
    require_dynamics(dyn)
    by_position, by_rate, by_force = dyn.forward_dynamics_derivatives(q, qd, tau, wrenches)
    nv, n_joints = dyn.robot.nv, dyn.robot.n_joints
    a, b = np.zeros((2 * nv, 2 * nv)), np.zeros((2 * nv, n_joints))
    a[:nv, nv:] = np.eye(nv)
    a[nv:, :nv], a[nv:, nv:], b[nv:] = by_position, by_rate, by_force[:, :n_joints]
    a[:nv, :nv] = tangent_rate(dyn.robot, np.asarray(qd, dtype=float))
    if outputs is None:
        return a, b
    return (a, b, *output_matrices(
        dyn, (q, qd, tau), a, b, parsed_outputs(dyn.robot, outputs), wrenches))
