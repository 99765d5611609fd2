# SPDX-License-Identifier: Apache-2.0
"""The functions that can be generated: what they take, what they give and what computes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from typing import Callable
from typing import Optional
from typing import Sequence

from flexdyn_ros.codegen.tracing.parameters import Parameter
from flexdyn_ros.codegen.tracing.traced_dynamics import TracedDynamics
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.errors import UnknownName
from flexdyn_ros.model.records.robot import Robot

# Key of the parameters' symbols among the vectors.
PARAMETERS = 'parameters'
# What a robot with loops computes from several generated functions.
OPEN_TREE_ONLY = (
    'inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics', 'inverse_dynamics_derivatives',
    'forward_dynamics_derivatives', 'inverse_dynamics_parameter_derivatives',
    'forward_dynamics_parameter_derivatives',
)


@dataclass(frozen=True)
class Function:
    """
    One function that can be generated.

    Attributes:
        inputs: Names of the vectors that it takes.
        outputs: Name and kind of each result; kinds are those of `function_vectors.py`.
        compute: From the dynamics, the vectors by name, the frame and the wrenches to the
            results, each nested as its kind says.
        of_frame: Whether it is about a frame, "name:frame".
        solves: Whether it solves for accelerations, which more than one way can do.
        derives: Whether it gives derivatives by positions and rates, which more than one way can
            find.
        of_parameters: Whether it is about the parameters among the arguments.
        of_loops: Whether it is about loops, which the robot must have.
    """

    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]
    compute: Callable[[TracedDynamics, dict, Optional[str], Sequence], tuple]
    of_frame: bool = False
    solves: bool = False
    derives: bool = False
    of_parameters: bool = False
    of_loops: bool = False


def _method(name: str, *inputs: str, wrenches: bool = False) -> Callable:
    """Return the call of a method of the dynamics with these vectors, as one result."""

    def compute(dyn: Any, v: dict, frame: Optional[str], loads: Sequence) -> tuple:
        arguments = [v[each] for each in inputs]
        if frame is not None:
            arguments.append(frame)
        return (getattr(dyn, name)(*arguments, *([loads] if wrenches else [])),)

    return compute


def _pose(dyn: Any, v: dict, frame: Optional[str], loads: Sequence) -> tuple:
    rotation, position = dyn.frame_pose(v['q'], frame)
    rows = [[*row, x] for row, x in zip(rotation, position)]
    return ([*rows, [0.0, 0.0, 0.0, 1.0]],)


def _hybrid(dyn: Any, v: dict, frame: Optional[str], loads: Sequence) -> tuple:
    return dyn.hybrid_dynamics(v['q'], v['qd'], v['joint_qdd'], loads)


def _factors(dyn: Any, v: dict, frame: Optional[str], loads: Sequence) -> tuple:
    return dyn.mass_matrix_factors(v['q'])


def _derivatives(name: str, *inputs: str) -> Callable:
    """Return the call of a method that gives several matrices."""

    def compute(dyn: Any, v: dict, frame: Optional[str], loads: Sequence) -> tuple:
        return getattr(dyn, name)(*(v[each] for each in inputs), loads)

    return compute


def _by_parameters(name: str, *inputs: str) -> Callable:
    """Return the call of a method about the symbols of parameters, v[PARAMETERS]."""

    def compute(dyn: Any, v: dict, frame: Optional[str], loads: Sequence) -> tuple:
        return (getattr(dyn, name)(*(v[each] for each in inputs), v[PARAMETERS], loads),)

    return compute


def _loop_equations(dyn: Any, v: dict, frame: Optional[str], loads: Sequence) -> tuple:
    return dyn.loop_equations(v['q'], v['qd'], loads)


def _vector_function(name: str, *inputs: str, wrenches: bool = False) -> Function:
    return Function(inputs, ((name, 'force'),), _method(name, *inputs, wrenches=wrenches))


FUNCTIONS: dict[str, Function] = {
    'inverse_dynamics': Function(
        ('q', 'qd', 'qdd'), (('tau', 'force'),),
        _method('inverse_dynamics', 'q', 'qd', 'qdd', wrenches=True),
    ),
    'forward_dynamics': Function(
        ('q', 'qd', 'tau'), (('qdd', 'acceleration'),),
        _method('forward_dynamics', 'q', 'qd', 'tau', wrenches=True), solves=True,
    ),
    'hybrid_dynamics': Function(
        ('q', 'qd', 'joint_qdd'),
        (('joint_tau', 'joint force'), ('modal_qdd', 'modal acceleration')),
        _hybrid, solves=True,
    ),
    'inverse_dynamics_derivatives': Function(
        ('q', 'qd', 'qdd'),
        (('dtau_dq', 'matrix'), ('dtau_dqd', 'matrix'), ('dtau_dqdd', 'matrix')),
        _derivatives('inverse_dynamics_derivatives', 'q', 'qd', 'qdd'), derives=True,
    ),
    'forward_dynamics_derivatives': Function(
        ('q', 'qd', 'tau'),
        (('dqdd_dq', 'matrix'), ('dqdd_dqd', 'matrix'), ('dqdd_dtau', 'matrix')),
        _derivatives('forward_dynamics_derivatives', 'q', 'qd', 'tau'), solves=True, derives=True,
    ),
    'inverse_dynamics_parameter_derivatives': Function(
        ('q', 'qd', 'qdd'), (('dtau_dparameters', 'parameter matrix'),),
        _by_parameters('inverse_dynamics_parameter_derivatives', 'q', 'qd', 'qdd'),
        of_parameters=True,
    ),
    'forward_dynamics_parameter_derivatives': Function(
        ('q', 'qd', 'tau'), (('dqdd_dparameters', 'parameter matrix'),),
        _by_parameters('forward_dynamics_parameter_derivatives', 'q', 'qd', 'tau'),
        solves=True, of_parameters=True,
    ),
    'mass_matrix': Function(
        ('q',), (('mass_matrix', 'matrix'),), _method('mass_matrix', 'q')
    ),
    'mass_matrix_factors': Function(
        ('q',), (('upper_factor', 'factor'), ('diagonal_factor', 'factor diagonal')), _factors
    ),
    'bias_vector': _vector_function('bias_vector', 'q', 'qd', wrenches=True),
    'gravity_vector': _vector_function('gravity_vector', 'q'),
    'coriolis_vector': _vector_function('coriolis_vector', 'q', 'qd'),
    'friction_vector': _vector_function('friction_vector', 'qd'),
    'elastic_vector': _vector_function('elastic_vector', 'q', 'qd'),
    'inertia_vector': _vector_function('inertia_vector', 'q', 'qdd'),
    'external_force_vector': _vector_function('external_force_vector', 'q', wrenches=True),
    'frame_pose': Function(('q',), (('frame_pose', 'pose'),), _pose, of_frame=True),
    'jacobian': Function(
        ('q',), (('jacobian', 'jacobian'),), _method('jacobian', 'q'), of_frame=True
    ),
    'jacobian_rate_qd': Function(
        ('q', 'qd'), (('jacobian_rate_qd', 'twist'),),
        _method('jacobian_rate_qd', 'q', 'qd'), of_frame=True,
    ),
    'kinetic_energy': Function(
        ('q', 'qd'), (('kinetic_energy', 'energy'),), _method('kinetic_energy', 'q', 'qd')
    ),
    'potential_energy': Function(
        ('q',), (('potential_energy', 'energy'),), _method('potential_energy', 'q')
    ),
    'loop_poses': Function(
        ('q',), (('loop_poses', 'loop pose'),), _method('loop_poses', 'q'), of_loops=True
    ),
    'loop_jacobian': Function(
        ('q',), (('loop_jacobian', 'loop jacobian'),), _method('loop_jacobian', 'q'),
        of_loops=True,
    ),
    'loop_bias': Function(
        ('q', 'qd'), (('loop_bias', 'loop acceleration'),), _method('loop_bias', 'q', 'qd'),
        of_loops=True,
    ),
    'loop_equations': Function(
        ('q', 'qd'),
        (('mass_matrix', 'matrix'), ('bias_vector', 'force'), ('loop_jacobian', 'loop jacobian'),
         ('loop_bias', 'loop acceleration'), ('loop_poses', 'loop pose')),
        _loop_equations, of_loops=True,
    ),
}


@dataclass(frozen=True)
class Request:
    """A function as asked for: which one, of which frame, by which parameters."""

    name: str
    frame: Optional[str] = None
    parameters: tuple[Parameter, ...] = ()

    @property
    def function(self) -> Function:
        """What is known of it."""
        return FUNCTIONS[self.name]


def read_function(robot: Robot, text: str) -> list[Request]:
    """
    Return the functions that a text such as "mass_matrix+jacobian:tool" asks for.

    A function of a frame without one is about `tip_link(robot)`.

    Raises:
        ArgumentError: If a function is unknown, or named twice.
        UnknownName: If a frame is unknown.
    """
    if not isinstance(text, str):
        raise ArgumentError('function', f'must be text, not {type(text).__name__}')
    requests = []
    for part in text.split('+'):
        name, _, frame = part.strip().partition(':')
        if name not in FUNCTIONS:
            raise ArgumentError(
                'function',
                f'names "{name}", which is no function. {did_you_mean(name, FUNCTIONS)}',
            )
        if frame and not FUNCTIONS[name].of_frame:
            raise ArgumentError('function', f'gives "{name}" a frame, which it does not take')
        if frame and frame not in robot.frame_names:
            raise UnknownName('frame', frame, robot.frame_names)
        if FUNCTIONS[name].of_frame and not frame:
            frame = tip_link(robot)
        if name == 'mass_matrix_factors' and has_followers(robot):
            raise ArgumentError('function', f'names "{name}", which mimic joints do not allow')
        _check_loops(robot, name)
        requests.append(Request(name, frame or None))
    if len(set(requests)) != len(requests):
        raise ArgumentError('function', f'names a function twice in "{text}"')
    return requests


def _check_loops(robot: Robot, name: str) -> None:
    if FUNCTIONS[name].of_loops and not robot.loops:
        raise ArgumentError('function', f'names "{name}", and the robot has no <loop>')
    if name in OPEN_TREE_ONLY and robot.loops:
        raise ArgumentError(
            'function',
            f'names "{name}", which loops make a matter of rank and so no straight-line code. '
            'Generate "mass_matrix+bias_vector+loop_jacobian+loop_bias" and solve with LAPACK',
        )


def functions_of(robot: Robot) -> list[str]:
    """Return the names of the functions that can be generated for a robot."""
    left_out = {name for name, function in FUNCTIONS.items() if function.of_loops}
    if robot.loops:
        left_out = set(OPEN_TREE_ONLY)
    if has_followers(robot):
        left_out.add('mass_matrix_factors')
    return [name for name in FUNCTIONS if name not in left_out]


def has_followers(robot: Robot) -> bool:
    """Return whether some coordinate moves several joints, which breaks the tree's recursion."""
    return any(joint.mimic is not None and joint.type != 'fixed' for joint in robot.joints)


def tip_link(robot: Robot) -> str:
    """Return the last link of the deepest chain of joints, the first one among equals."""
    depth = {robot.root: 0}
    for joint in robot.joints:
        depth[joint.child] = depth[joint.parent] + 1
    return max(robot.frame_names, key=lambda name: depth[name])
