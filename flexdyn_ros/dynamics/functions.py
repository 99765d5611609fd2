# SPDX-License-Identifier: Apache-2.0
"""
The functions of a robot's dynamics: what each takes and gives.

Each is a method of the algorithms (`reference.py`) of the same name. Its arguments are the vectors
of `inputs`, then a frame, parameters, wrenches and a method, where the function takes them. The
checks of `Dynamics`, generated code, batches and compiled calls all read this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

# Vectors by name, in the order of the arguments of generated functions.
VECTORS = (
    'q', 'qd', 'qdd', 'joint_q', 'joint_qd', 'joint_qdd', 'modal_state', 'step', 'tau',
)
# How forward dynamics solves for accelerations.
SOLVING_METHODS = ('auto', 'recursive', 'cholesky')


@dataclass(frozen=True)
class Function:
    """
    A function.

    Attributes:
        inputs: Names of the vectors that it takes.
        outputs: Name and kind of each result, see `result_shape`.
        summary: What it gives, with units.
        of_frame: Whether it is about a frame.
        of_parameters: Whether it is about parameters of the model.
        of_loops: Whether it is about loops, which the robot must have.
        takes_wrenches: Whether wrenches on frames are an argument.
        solves: Whether it solves for accelerations, which more than one way can do.
        derives: Whether it gives derivatives by positions and rates.
        open_tree: Whether loops make it a matter of rank, so that it is generated without loops
            only.
        uses_gravity: Whether gravity changes it.
        uses_inertia: Whether payloads change it.
    """

    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]
    summary: str
    of_frame: bool = False
    of_parameters: bool = False
    of_loops: bool = False
    takes_wrenches: bool = False
    solves: bool = False
    derives: bool = False
    open_tree: bool = False
    uses_gravity: bool = False
    uses_inertia: bool = False


def result_shape(
    kind: str, nv: int, n_joints: int, n_parameters: int = 0
) -> tuple[int, ...]:
    """
    Return the shape of a result.

    Args:
        kind: "force" and "acceleration" (nv,), "joint force" (n_joints,), "modal acceleration" and
            "deflection" (n_modes,), "modal state" (4 n_modes,), "matrix" (nv, nv), "parameter
            matrix" (nv, n_parameters), "pose" (4, 4), "jacobian" (6, nv), "twist" (6,), "energy"
            or "power" ().
        nv: Number of velocity coordinates.
        n_joints: How many of them are joints'.
        n_parameters: Number of parameters.
    """
    return {
        'force': (nv,), 'acceleration': (nv,), 'joint force': (n_joints,),
        'modal acceleration': (nv - n_joints,), 'deflection': (nv - n_joints,),
        'modal state': (4 * (nv - n_joints),), 'matrix': (nv, nv),
        'parameter matrix': (nv, n_parameters), 'pose': (4, 4), 'jacobian': (6, nv),
        'twist': (6,), 'energy': (), 'power': (),
    }[kind]


def _dynamics(
    inputs: str, outputs: Sequence[tuple[str, str]], summary: str, **more: Any
) -> Function:
    """Return one of the functions of motion, which loops make a matter of rank."""
    return Function(
        tuple(inputs.split()), tuple(outputs), summary, takes_wrenches=True, open_tree=True,
        uses_gravity=True, uses_inertia=True, **more,
    )


def _vector(name: str, inputs: str, summary: str, **more: Any) -> Function:
    return Function(tuple(inputs.split()), ((name, 'force'),), summary, **more)


FUNCTIONS: dict[str, Function] = {
    'inverse_dynamics': _dynamics(
        'q qd qdd', [('tau', 'force')], 'joint torques [N m | N], then modal forces',
    ),
    'forward_dynamics': _dynamics(
        'q qd tau', [('qdd', 'acceleration')], 'accelerations of joints and modes', solves=True,
    ),
    'hybrid_dynamics': _dynamics(
        'q qd joint_qdd',
        [('joint_tau', 'joint force'), ('modal_qdd', 'modal acceleration')],
        'joint torques [N m | N], and modal accelerations', solves=True,
    ),
    'quasi_static_torque': _dynamics(
        'joint_q joint_qd joint_qdd',
        [('joint_tau', 'joint force'), ('deflection', 'deflection'), ('change', 'deflection')],
        'joint torques [N m | N], static deflection, and its last change by the iteration',
    ),
    'hybrid_step': _dynamics(
        'joint_q joint_qd joint_qdd modal_state step',
        [('joint_tau', 'joint force'), ('next_modal_state', 'modal state')],
        'joint torques [N m | N] and modal state after a time step',
    ),
    'inverse_dynamics_derivatives': _dynamics(
        'q qd qdd',
        [('dtau_dq', 'matrix'), ('dtau_dqd', 'matrix'), ('dtau_dqdd', 'matrix')],
        'd tau / dq, d tau / d qd and d tau / d qdd', derives=True,
    ),
    'forward_dynamics_derivatives': _dynamics(
        'q qd tau',
        [('dqdd_dq', 'matrix'), ('dqdd_dqd', 'matrix'), ('dqdd_dtau', 'matrix')],
        'd qdd / dq, d qdd / d qd and d qdd / d tau', solves=True, derives=True,
    ),
    'inverse_dynamics_parameter_derivatives': _dynamics(
        'q qd qdd', [('dtau_dparameters', 'parameter matrix')],
        'derivatives of the forces by parameters', of_parameters=True,
    ),
    'forward_dynamics_parameter_derivatives': _dynamics(
        'q qd tau', [('dqdd_dparameters', 'parameter matrix')],
        'derivatives of the accelerations by parameters', solves=True, of_parameters=True,
    ),
    'mass_matrix': Function(
        ('q',), (('mass_matrix', 'matrix'),), 'the mass matrix', uses_inertia=True,
    ),
    'mass_matrix_factors': Function(
        ('q',), (('upper_factor', 'factor'), ('diagonal_factor', 'factor diagonal')),
        'factors U and D of the mass matrix, M = U D U^T', uses_inertia=True,
    ),
    'bias_vector': _vector(
        'bias_vector', 'q qd', 'gravity, Coriolis, friction and elastic forces together',
        takes_wrenches=True, uses_gravity=True, uses_inertia=True,
    ),
    'gravity_vector': _vector(
        'gravity_vector', 'q', 'the forces that hold the robot against gravity',
        uses_gravity=True, uses_inertia=True,
    ),
    'coriolis_vector': _vector(
        'coriolis_vector', 'q qd', 'the forces of Coriolis and centrifugal accelerations',
        uses_inertia=True,
    ),
    'friction_vector': _vector('friction_vector', 'qd', 'the losses of the joints'),
    'elastic_vector': _vector(
        'elastic_vector', 'q qd', 'stiffness and damping forces of modes and springs',
    ),
    'inertia_vector': _vector('inertia_vector', 'q qdd', 'M qdd', uses_inertia=True),
    'external_force_vector': _vector(
        'external_force_vector', 'q', '-J^T w, the forces that hold the robot against wrenches',
        takes_wrenches=True,
    ),
    'frame_pose': Function(
        ('q',), (('frame_pose', 'pose'),), 'the transform of a frame in the root frame',
        of_frame=True,
    ),
    'jacobian': Function(
        ('q',), (('jacobian', 'jacobian'),),
        "the Jacobian at a frame's origin in root axes, linear rows first", of_frame=True,
    ),
    'jacobian_rate_qd': Function(
        ('q', 'qd'), (('jacobian_rate_qd', 'twist'),),
        "dJ/dt qd at a frame's origin in root axes, linear part first", of_frame=True,
    ),
    'kinetic_energy': Function(
        ('q', 'qd'), (('kinetic_energy', 'energy'),), 'the kinetic energy [J]',
        uses_inertia=True,
    ),
    'dissipated_power': Function(
        ('qd',), (('dissipated_power', 'power'),), 'the power that friction and damping take [W]',
    ),
    'potential_energy': Function(
        ('q',), (('potential_energy', 'energy'),), "gravity's and elastic energy [J]",
        uses_gravity=True, uses_inertia=True,
    ),
    'loop_poses': Function(
        ('q',), (('loop_poses', 'loop pose'),), 'the pose of frame1 in frame2 of each loop',
        of_loops=True,
    ),
    'loop_jacobian': Function(
        ('q',), (('loop_jacobian', 'loop jacobian'),), 'the Jacobian of the constraints',
        of_loops=True,
    ),
    'loop_bias': Function(
        ('q', 'qd'), (('loop_bias', 'loop acceleration'),), 'dA/dt qd of the constraints',
        of_loops=True,
    ),
    'loop_equations': Function(
        ('q', 'qd'),
        (('mass_matrix', 'matrix'), ('bias_vector', 'force'), ('loop_jacobian', 'loop jacobian'),
         ('loop_bias', 'loop acceleration'), ('loop_poses', 'loop pose')),
        'the equations of motion and those of the loops', of_loops=True, takes_wrenches=True,
        uses_gravity=True, uses_inertia=True,
    ),
}
