# SPDX-License-Identifier: Apache-2.0
"""
The functions of a robot's dynamics, with arguments and results.

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
# Methods of forward dynamics.
SOLVING_METHODS = ('auto', 'recursive', 'cholesky')


@dataclass(frozen=True)
class Function:
    """
    A function.

    Attributes:
        inputs: Names of the vectors that it takes.
        outputs: Name and kind of each result, see `result_shape`.
        summary: Its results, with units.
        of_frame: Whether it is about a frame.
        of_parameters: Whether it is about parameters of the model.
        of_loops: Whether it is about loops, which the robot must have.
        takes_wrenches: Whether wrenches on frames are an argument.
        solves: Whether it solves for accelerations, which more than one way can do.
        derives: Whether it gives derivatives by positions and rates.
        of_bodies: Whether it depends on inertias of single bodies, so that none may be regrouped.
        by_rank: Whether loops are solved by rank, so that it is generated without loops only.
        solved: Whether compiled code solves it with loops, from `loop_equations`, at each call.
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
    of_bodies: bool = False
    by_rank: bool = False
    solved: bool = False
    uses_gravity: bool = False
    uses_inertia: bool = False


def result_shape(
    kind: str, nv: int, n_joints: int, n_parameters: int = 0
) -> tuple[int, ...]:
    """
    Return the shape of a result.

    Args:
        kind: Vectors are "force" and "acceleration" (nv,), "joint force" (n_joints,), "modal
            acceleration" and "deflection" (n_modes,), "modal state" (4 n_modes,). Others are
            "factor diagonal" (nv,) and "twist" (6,). Matrices are "matrix" and "factor" (nv, nv),
            "parameter matrix" (nv, n_parameters), "spatial inertia" (6, 6), "pose" (4, 4) and
            "jacobian" (6, nv). Scalars are "energy" and "power".
        nv: Number of velocity coordinates.
        n_joints: Number of those that are joints'.
        n_parameters: Number of parameters.
    """
    return {
        'force': (nv,), 'acceleration': (nv,), 'joint force': (n_joints,),
        'modal acceleration': (nv - n_joints,), 'deflection': (nv - n_joints,),
        'modal state': (4 * (nv - n_joints),), 'matrix': (nv, nv),
        'parameter matrix': (nv, n_parameters), 'pose': (4, 4), 'jacobian': (6, nv),
        'spatial inertia': (6, 6), 'factor': (nv, nv), 'factor diagonal': (nv,),
        'twist': (6,), 'energy': (), 'power': (),
    }[kind]


def _one(name: str, inputs: str, kind: str, summary: str, **more: Any) -> tuple[str, Function]:
    """Return a function of one result, and its name."""
    return name, Function(tuple(inputs.split()), ((name, kind),), summary, **more)


def _motion(
    name: str, inputs: str, outputs: Sequence[tuple[str, str]], summary: str, **more: Any
) -> tuple[str, Function]:
    """Return one of the functions of motion, solved by rank with loops, and its name."""
    return name, Function(
        tuple(inputs.split()), tuple(outputs), summary, takes_wrenches=True, by_rank=True,
        uses_gravity=True, uses_inertia=True, **more,
    )


FUNCTIONS: dict[str, Function] = dict([
    _motion(
        'inverse_dynamics', 'q qd qdd', [('tau', 'force')],
        'joint torques [N m | N], then modal forces', solved=True,
    ),
    _motion(
        'forward_dynamics', 'q qd tau', [('qdd', 'acceleration')],
        'accelerations of joints and modes', solves=True, solved=True,
    ),
    _motion(
        'hybrid_dynamics', 'q qd joint_qdd',
        [('joint_tau', 'joint force'), ('modal_qdd', 'modal acceleration')],
        'joint torques [N m | N], and modal accelerations', solves=True, solved=True,
    ),
    _motion(
        'quasi_static_torque', 'joint_q joint_qd joint_qdd',
        [('joint_tau', 'joint force'), ('deflection', 'deflection'), ('change', 'deflection')],
        'joint torques [N m | N], static deflection, and its last change by the iteration',
    ),
    _motion(
        'hybrid_step', 'joint_q joint_qd joint_qdd modal_state step',
        [('joint_tau', 'joint force'), ('next_modal_state', 'modal state')],
        'joint torques [N m | N] and modal state after a time step',
    ),
    _motion(
        'inverse_dynamics_derivatives', 'q qd qdd',
        [('dtau_dq', 'matrix'), ('dtau_dqd', 'matrix'), ('dtau_dqdd', 'matrix')],
        'd tau / dq, d tau / d qd and d tau / d qdd', derives=True,
    ),
    _motion(
        'forward_dynamics_derivatives', 'q qd tau',
        [('dqdd_dq', 'matrix'), ('dqdd_dqd', 'matrix'), ('dqdd_dtau', 'matrix')],
        'd qdd / dq, d qdd / d qd and d qdd / d tau', solves=True, derives=True,
    ),
    _motion(
        'inverse_dynamics_parameter_derivatives', 'q qd qdd',
        [('dtau_dparameters', 'parameter matrix')],
        'derivatives of the forces by parameters', of_parameters=True,
    ),
    _motion(
        'forward_dynamics_parameter_derivatives', 'q qd tau',
        [('dqdd_dparameters', 'parameter matrix')],
        'derivatives of the accelerations by parameters', solves=True, of_parameters=True,
    ),
    _one('mass_matrix', 'q', 'matrix', 'the mass matrix', uses_inertia=True),
    ('mass_matrix_factors', Function(
        ('q',), (('upper_factor', 'factor'), ('diagonal_factor', 'factor diagonal')),
        'factors U and D of the mass matrix, M = U D U^T', uses_inertia=True,
    )),
    _one(
        'composite_inertia', 'q', 'spatial inertia',
        "the inertia of a frame's body and all that it carries, held stiff",
        of_frame=True, of_bodies=True, uses_inertia=True,
    ),
    _one(
        'articulated_inertia', 'q', 'spatial inertia',
        "the inertia of a frame's body and all that it carries, moving freely",
        of_frame=True, of_bodies=True, uses_inertia=True,
    ),
    _one(
        'bias_vector', 'q qd', 'force', 'gravity, Coriolis, friction and elastic forces together',
        takes_wrenches=True, uses_gravity=True, uses_inertia=True,
    ),
    _one(
        'gravity_vector', 'q', 'force', 'the forces that hold the robot against gravity',
        uses_gravity=True, uses_inertia=True,
    ),
    _one(
        'coriolis_vector', 'q qd', 'force',
        'the forces of Coriolis and centrifugal accelerations', uses_inertia=True,
    ),
    _one(
        'coriolis_matrix', 'q qd', 'matrix',
        'C with C qd = coriolis_vector and dM/dt - 2 C skew-symmetric', uses_inertia=True,
    ),
    _one('friction_vector', 'qd', 'force', 'the losses of the joints'),
    _one('elastic_vector', 'q qd', 'force', 'stiffness and damping forces of modes and springs'),
    _one('inertia_vector', 'q qdd', 'force', 'M qdd', uses_inertia=True),
    _one(
        'external_force_vector', 'q', 'force',
        '-J^T w, the forces that hold the robot against wrenches', takes_wrenches=True,
    ),
    _one('frame_pose', 'q', 'pose', 'the transform of a frame in the root frame', of_frame=True),
    _one(
        'jacobian', 'q', 'jacobian',
        "the Jacobian at a frame's origin in root axes, linear rows first", of_frame=True,
    ),
    _one(
        'jacobian_rate_qd', 'q qd', 'twist',
        "dJ/dt qd at a frame's origin in root axes, linear part first", of_frame=True,
    ),
    _one('kinetic_energy', 'q qd', 'energy', 'the kinetic energy [J]', uses_inertia=True),
    _one('dissipated_power', 'qd', 'power', 'the power that friction and damping take [W]'),
    _one(
        'potential_energy', 'q', 'energy', "gravity's and elastic energy [J]", uses_gravity=True,
        uses_inertia=True,
    ),
    _one(
        'loop_poses', 'q', 'loop pose', 'the pose of frame1 in frame2 of each loop', of_loops=True,
    ),
    _one('loop_jacobian', 'q', 'loop jacobian', 'the Jacobian of the constraints', of_loops=True),
    _one('loop_bias', 'q qd', 'loop acceleration', 'dA/dt qd of the constraints', of_loops=True),
    ('loop_equations', Function(
        ('q', 'qd'),
        (('mass_matrix', 'matrix'), ('bias_vector', 'force'), ('loop_jacobian', 'loop jacobian'),
         ('loop_bias', 'loop acceleration'), ('loop_poses', 'loop pose')),
        'the equations of motion and those of the loops', of_loops=True, takes_wrenches=True,
        uses_gravity=True, uses_inertia=True,
    )),
    ('loop_derivatives', Function(
        ('q', 'qd'),
        (('loop_jacobian_by_q', 'loop jacobian slopes'), ('loop_bias_by_q', 'loop bias slopes')),
        'the derivatives by q of loop_jacobian and loop_bias', of_loops=True, derives=True,
    )),
    ('project', Function(
        ('q', 'qd'), (('q', 'configuration'), ('qd', 'velocity')),
        'the nearest state that meets the loops', of_loops=True, by_rank=True, solved=True,
    )),
])
