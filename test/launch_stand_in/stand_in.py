# SPDX-License-Identifier: Apache-2.0
"""
Resolves launch files where the packages launch and launch_ros are not installed.

They are on no Python package index. Here stands a replacement for the part of them that thin
launch files use: arguments, conditions, substitutions, groups, includes, processes, and nodes.
Names that are not replaced cannot be imported, and unknown keywords are errors. A launch file
which needs more thus fails loudly instead of being half understood. Event handlers are left out,
apart from the shutdown at the end of a process, and so are life cycle events.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType
from typing import Optional

from launch_stand_in import actions, nodes, substitutions
from launch_stand_in.context import LaunchContext, LaunchFileError, NodeProcess

_SUBSTITUTIONS = (
    'AndSubstitution', 'Command', 'EnvironmentVariable', 'EqualsSubstitution', 'FindExecutable',
    'LaunchConfiguration', 'NotEqualsSubstitution', 'NotSubstitution', 'OrSubstitution',
    'PathJoinSubstitution', 'PythonExpression', 'TextSubstitution', 'ThisLaunchFileDir',
)
_ACTIONS = (
    'DeclareLaunchArgument', 'GroupAction', 'IncludeLaunchDescription', 'LogInfo',
    'OpaqueFunction', 'SetEnvironmentVariable', 'SetLaunchConfiguration',
)
_CONDITIONS = ('IfCondition', 'LaunchConfigurationEquals', 'UnlessCondition')


def _pick(module: ModuleType, *names: str) -> dict[str, object]:
    return {name: getattr(module, name) for name in names}


MODULES: dict[str, dict[str, object]] = {
    'launch': {'LaunchContext': LaunchContext, **_pick(actions, 'LaunchDescription')},
    'launch.actions': {
        **_pick(actions, *_ACTIONS), **_pick(nodes, 'ExecuteProcess', 'Shutdown'),
    },
    'launch.conditions': _pick(substitutions, *_CONDITIONS),
    'launch.launch_description_sources': _pick(actions, 'PythonLaunchDescriptionSource'),
    'launch.substitutions': _pick(substitutions, *_SUBSTITUTIONS),
    'launch_ros': {},
    'launch_ros.actions': {
        **_pick(nodes, 'LifecycleNode', 'Node', 'SetParameter'),
        **_pick(actions, 'PushROSNamespace', 'PushRosNamespace'),
    },
    'launch_ros.parameter_descriptions': _pick(nodes, 'ParameterFile', 'ParameterValue'),
    'launch_ros.substitutions': _pick(substitutions, 'FindPackagePrefix', 'FindPackageShare'),
}
"""Imports of each module that are permitted."""


def launch_ros_is_installed() -> bool:
    """Return whether the real launch_ros can be imported."""
    module = sys.modules.get('launch_ros')
    if module is not None:
        return not isinstance(module, _StandInModule)
    return importlib.util.find_spec('launch_ros') is not None


class _StandInModule(ModuleType):
    """A module of the stand-in."""


def install() -> None:
    """
    Make launch and launch_ros importable.

    Raises:
        LaunchFileError: The real ones are installed.
    """
    if launch_ros_is_installed():
        raise LaunchFileError('launch_ros is installed: the stand-in must not hide it.')
    for name, content in MODULES.items():
        module = _StandInModule(name, f'Stand-in for {name}.')
        module.__file__ = __file__
        module.__path__ = []
        module.__dict__.update(content)
        sys.modules[name] = module


def remove() -> None:
    """Take the stand-in's modules away again."""
    for name in MODULES:
        if isinstance(sys.modules.get(name), _StandInModule):
            del sys.modules[name]


def resolve(file: str, arguments: Optional[dict[str, str]] = None) -> list[NodeProcess]:
    """
    Return the processes that a launch file starts.

    Args:
        file: Path of a Python launch file.
        arguments: Launch arguments.

    Raises:
        LaunchFileError: The file cannot be resolved, or does not declare an argument.
    """
    return _visited(file, arguments).processes


def describe(
    file: str, arguments: Optional[dict[str, str]] = None
) -> dict[str, tuple[Optional[str], str]]:
    """
    Return (default, description) of each argument that a launch file declares.

    Args:
        file: Path of a Python launch file.
        arguments: Launch arguments, where some are required.
    """
    declared = _visited(file, arguments).declared
    return {name: (item.default, item.description) for name, item in declared.items()}


def _visited(file: str, arguments: Optional[dict[str, str]]) -> LaunchContext:
    if not os.path.isfile(file):
        raise LaunchFileError(f'The launch file "{file}" does not exist.')
    given = {name: str(value) for name, value in (arguments or {}).items()}
    context = LaunchContext(given, os.path.abspath(file))
    install()
    try:
        actions.load_description(context.file).visit(context)
    except ImportError as error:
        raise LaunchFileError(
            f'{file}: {error}. The stand-in for launch_ros has no more than: '
            f'{", ".join(sorted(name for names in MODULES.values() for name in names))}.'
        ) from error
    finally:
        remove()
    unknown = sorted(set(given) - set(context.declared))
    if unknown:
        raise LaunchFileError(
            f'{file} declares no argument {", ".join(unknown)}; it declares '
            f'{", ".join(sorted(context.declared)) or "none"}.'
        )
    return context
