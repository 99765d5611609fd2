# SPDX-License-Identifier: Apache-2.0
"""
An ament_cmake package with the dynamics of a robot for ros2_control.

The folder `arm_dynamics` beside this file is the package: C++ that compiles as it stands, under
the name arm_dynamics. A package takes its own name for that word, everywhere, so that several
robots fit into one process. The parts that belong to a robot are the generated
functions, and the fields `@name` of model.hpp and of a few other files.
"""

from __future__ import annotations

from pathlib import Path
import re
from string import Template
from typing import Callable, Optional, Union

from flexdyn_ros.active_damping import ActiveDamping
from flexdyn_ros.codegen import generate, GeneratedCode
from flexdyn_ros.codegen.tracing.functions import tip_link
from flexdyn_ros.errors import ArgumentError, NotYetSupported
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.ros2_control.damping_fields import damping_fields
from flexdyn_ros.ros2_control.expected_torques import expected_torques
from flexdyn_ros.ros2_control.robot_numbers import (
    array_text,
    declared_payload,
    robot_fields,
    start_of,
)

FILES = Path(__file__).parent / 'arm_dynamics'
WORD = 'arm_dynamics'
"""Stands in those files for the name of the package."""
FUNCTIONS = (
    'gravity_vector', 'friction_vector', 'coriolis_vector', 'mass_matrix', 'inverse_dynamics',
    'quasi_static_torque', 'hybrid_dynamics', 'hybrid_step', 'forward_dynamics',
)
SEARCHED = (
    'gravity_vector', 'friction_vector', 'inverse_dynamics', 'quasi_static_torque', 'hybrid_step',
)
"""Functions of the controller's cycle; the others are generated without the long search."""


class _Fields(Template):
    """Text with fields `@name`, since CMake and C++ use the dollar and braces themselves."""

    delimiter = '@'


def control_package(
    robot: Robot,
    name: str,
    payload_link: Optional[str] = None,
    optimise: Union[bool, str] = True,
    progress: Optional[Callable[[float], None]] = None,
    damping: Optional[ActiveDamping] = None,
) -> dict[str, str]:
    """
    Return the files of an ament_cmake package for ros2_control, texts by path.

    Args:
        robot: A tree of revolute and prismatic joints on a fixed base.
        name: Of the package, which is also the namespace of its C++ and begins its C functions.
        payload_link: Link whose payload is given at run time; by default the last link of the
            deepest chain of joints.
        optimise: See `generate`. With True the search runs for the functions of a cycle.
        progress: Called with the fraction done, after each function.
        damping: Active damping that the controller can switch on.

    Raises:
        ArgumentError: The name is none of a package.
        NotYetSupported: The robot has loops, a moving base, or joints of several coordinates.
        UnknownName: There is no such link.
    """
    if re.fullmatch(r'[a-z](_?[a-z0-9])*', name) is None:
        raise ArgumentError(
            'name', f'is "{name}"; a package has lower-case letters, digits and single '
            'underscores, and begins with a letter')
    _refuse(robot)
    link = tip_link(robot) if payload_link is None else payload_link
    codes = []
    for function in FUNCTIONS:
        quick = optimise is True and function not in SEARCHED
        codes.append(generate(
            robot, function, optimise='quick' if quick else optimise,
            arguments=('gravity', f'payload:{link}'), name=f'{name}_{function}'))
        if progress is not None:
            progress(len(codes) / len(FUNCTIONS))
    dyn = Dynamics(robot)
    fields = {
        **robot_fields(dyn),
        **damping_fields(robot, damping),
        'work': str(max(code.work_size for code in codes)),
        'includes': '\n'.join(f'#include "{name}/functions/{code.name}.h"' for code in codes),
        'functions': '\n'.join(map(_wrapper, codes)),
        'payload_link': link,
        'command_joints': ', '.join(
            f'flexible_feed_forward_controller/{joint}' for joint in robot.joint_names),
        'payload': array_text(declared_payload(robot, link)),
    }
    files = {
        str(path.relative_to(FILES)).replace(WORD, name): _filled(path, fields, name)
        for path in sorted(FILES.rglob('*'))
        if path.is_file() and path.suffix != '.pyc'
    }
    for code in codes:
        files[f'src/functions/{code.name}.c'] = code.source
        files[f'include/{name}/functions/{code.name}.h'] = code.files[f'{code.name}.h']
    files['test/expected.hpp'] = expected_torques(dyn, link).replace(WORD, name)
    files[f'urdf/{name}.urdf'] = _description(robot, name)
    return files


def _filled(path: Path, fields: dict[str, str], name: str) -> str:
    text = path.read_text(encoding='utf-8')
    # First the name, which the fields may contain.
    text = text.replace(WORD, name).replace(WORD.upper(), name.upper())
    return _Fields(text).substitute(fields)


def _refuse(robot: Robot) -> None:
    several = [
        joint.name for joint in robot.joints
        if joint.coordinate_names and joint.coordinate_names != (joint.name,)
    ]
    passive = [
        joint.name for joint in robot.joints
        if joint.coordinate_names and robot.actuated and joint.name not in robot.actuated
    ]
    what = None
    if robot.loops:
        what = 'loops'
    elif robot.base_motion != 'fixed':
        what = 'a base that moves'
    elif several:
        what = f'joints of several coordinates ({", ".join(several)})'
    elif passive:
        what = f'joints without motors ({", ".join(passive)})'
    elif not robot.n_joints:
        what = 'no joints'
    if what is not None:
        raise NotYetSupported(
            f'Robot "{robot.name}" has {what}, and packages for ros2_control are written for '
            'trees of revolute and prismatic joints with motors. Use inverse_dynamics_node')


def _wrapper(code: GeneratedCode) -> str:
    """Return an inline function of C++ that takes the work array whether it is needed or not."""
    results = [f'result_{k}' for k in range(len(code.outputs))]
    arguments = [each.name for each in code.inputs]
    taken = [f'const double * {each}' for each in arguments]
    taken += [f'double * {each}' for each in results] + ['double * work']
    passed = [*arguments, *results, *(['work'] if code.work_size else [])]
    unused = [] if code.work_size else ['  (void)work;']
    return '\n'.join([
        f'inline void {code.function}(', f'  {_lines(taken)}) noexcept', '{', *unused,
        f'  {code.name}(', f'    {_lines(passed)});', '}', '',
    ])


def _lines(arguments: list[str]) -> str:
    return ',\n  '.join(arguments)


def _description(robot: Robot, name: str) -> str:
    """Return the description with a <ros2_control> element of the simulated arm."""
    joints = []
    for joint in robot.joints:
        if not joint.coordinate_names:
            continue
        motor = ['motor_position', 'motor_velocity'] if joint.elastic_name else []
        joints += [
            f'    <joint name="{joint.name}">', '      <command_interface name="effort"/>',
            '      <state_interface name="position">',
            f'        <param name="initial_value">{start_of(joint.limit)!r}</param>',
            '      </state_interface>',
            *(f'      <state_interface name="{each}"/>' for each in (
                'velocity', 'effort', *motor)),
            '    </joint>',
        ]
    element = '\n'.join([
        f'  <ros2_control name="{name}" type="system">', '    <hardware>',
        f'      <plugin>{name}/FlexibleArmSystem</plugin>', '    </hardware>', *joints,
        '  </ros2_control>',
    ])
    text = re.sub(
        r'<ros2_control\b.*?</ros2_control>\s*', '', robot.descriptions[0], flags=re.DOTALL)
    return text.replace('</robot>', f'{element}\n</robot>') + '\n'
