# SPDX-License-Identifier: Apache-2.0
"""Node actions of the stand-in, and the files of their parameters."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Iterable, Optional, Sequence

from launch_stand_in.actions import Action
from launch_stand_in.context import (
    join_namespaces,
    LaunchContext,
    LaunchFileError,
    NodeProcess,
    perform,
)
from launch_stand_in.substitutions import Condition
import yaml


class ParameterValue:
    """The value of a parameter, of a given type."""

    def __init__(self, value: Any, *, value_type: Any = None):
        self.value = value
        self.value_type = value_type

    def evaluate(self, context: LaunchContext) -> Any:
        """Return the typed value."""
        if not _is_text(self.value):
            return self.value
        text = perform(self.value, context)
        if self.value_type is str:
            return text
        loaded = yaml.safe_load(text)
        if self.value_type is None:
            return loaded
        if self.value_type is float and isinstance(loaded, int) and not isinstance(loaded, bool):
            return float(loaded)
        expected = getattr(self.value_type, '__origin__', self.value_type)
        if not isinstance(loaded, expected):
            raise LaunchFileError(f'The parameter value "{text}" is no {self.value_type}.')
        return loaded


class ParameterFile:
    """A YAML file of parameters."""

    def __init__(self, param_file: Any, *, allow_substs: bool = False):
        if allow_substs:
            raise LaunchFileError('ParameterFile: allow_substs is not supported here.')
        self.param_file = param_file


class SetParameter(Action):
    """Sets a parameter of all nodes that follow."""

    def __init__(self, name: Any, value: Any, *, condition: Optional[Condition] = None):
        super().__init__(condition=condition)
        self.name = name
        self.value = value

    def execute(self, context: LaunchContext) -> None:
        """Set it."""
        context.global_parameters[perform(self.name, context)] = _evaluate(self.value, context)


class Node(Action):
    """A process with a node in it."""

    lifecycle = False

    def __init__(
        self,
        *,
        executable: Any,
        package: Any,
        name: Any = None,
        namespace: Any = None,
        exec_name: Any = None,
        parameters: Optional[Sequence[Any]] = None,
        remappings: Optional[Sequence[tuple[Any, Any]]] = None,
        ros_arguments: Optional[Iterable[Any]] = None,
        arguments: Optional[Iterable[Any]] = None,
        additional_env: Optional[dict[Any, Any]] = None,
        output: Any = 'log',
        emulate_tty: bool = False,
        sigterm_timeout: Any = None,
        sigkill_timeout: Any = None,
        condition: Optional[Condition] = None,
    ):
        super().__init__(condition=condition)
        self.executable = executable
        self.package = package
        self.name = name
        self.namespace = namespace
        self.parameters = list(parameters or ())
        self.remappings = list(remappings or ())
        self.ros_arguments = list(ros_arguments or ())
        self.arguments = list(arguments or ())
        self.additional_env = dict(additional_env or {})
        self.output = output

    def execute(self, context: LaunchContext) -> None:
        """Add the process to those of the context."""
        package = perform(self.package, context)
        path = executable_path(package, perform(self.executable, context))
        name = '' if self.name is None else perform(self.name, context)
        namespace = self._namespace(context)
        remappings = tuple(
            (perform(old, context), perform(new, context)) for old, new in self.remappings
        )
        parameters, files = self._parameters(context)
        command = [path, *(perform(argument, context) for argument in self.arguments)]
        command.append('--ros-args')
        command += [perform(argument, context) for argument in self.ros_arguments]
        command += ['-r', f'__node:={name}'] if name else []
        command += ['-r', f'__ns:={namespace}'] if namespace else []
        for file in files:
            command += ['--params-file', file]
        for old, new in remappings:
            command += ['-r', f'{old}:={new}']
        environment = dict(context.environment)
        for key, value in self.additional_env.items():
            environment[perform(key, context)] = perform(value, context)
        context.processes.append(
            NodeProcess(
                package, os.path.basename(path), name, namespace, parameters, remappings,
                tuple(command), perform(self.output, context), environment, self.lifecycle,
            )
        )

    def _namespace(self, context: LaunchContext) -> str:
        own = '' if self.namespace is None else perform(self.namespace, context)
        return join_namespaces(context.namespace, own)

    def _parameters(self, context: LaunchContext) -> tuple[tuple[Any, ...], list[str]]:
        """Return the parameters and the files that carry them."""
        sources = list(self.parameters)
        if context.global_parameters:
            sources.insert(0, dict(context.global_parameters))
        values: list[Any] = []
        files: list[str] = []
        for source in sources:
            if isinstance(source, dict):
                evaluated = _evaluate_dict(source, context)
                values.append(evaluated)
                files.append(_write(evaluated))
                continue
            file = source.param_file if isinstance(source, ParameterFile) else source
            path = perform(os.fspath(file) if isinstance(file, os.PathLike) else file, context)
            if not os.path.isfile(path):
                raise LaunchFileError(f'The parameter file "{path}" does not exist.')
            values.append(path)
            files.append(path)
        return tuple(values), files


class Shutdown:
    """Stops all processes."""


class ExecuteProcess(Action):
    """A process without a node's arguments."""

    def __init__(
        self, *, cmd: Sequence[Any], output: Any = 'log', on_exit: Optional[Shutdown] = None,
        condition: Optional[Condition] = None,
    ):
        super().__init__(condition=condition)
        self.cmd = list(cmd)
        self.output = output
        self.on_exit = on_exit

    def execute(self, context: LaunchContext) -> None:
        """Add the process to those of the context."""
        command = tuple(perform(word, context) for word in self.cmd)
        context.processes.append(NodeProcess(
            '', os.path.basename(command[0]), '', '', (), (), command,
            perform(self.output, context), dict(context.environment),
            ends_all=self.on_exit is not None,
        ))


class LifecycleNode(Node):
    """A process with a lifecycle node in it."""

    lifecycle = True

    def __init__(self, *, name: Any, namespace: Any, **node_arguments: Any):
        super().__init__(name=name, namespace=namespace, **node_arguments)


def executable_path(package: str, executable: str) -> str:
    """
    Return the path of a package's executable, in lib/<package> as ament has it.

    Args:
        package: Name of an installed package.
        executable: File name.

    Raises:
        LaunchFileError: There is no such package or executable.
    """
    from ament_index_python.packages import get_package_prefix, PackageNotFoundError

    try:
        prefix = get_package_prefix(package)
    except PackageNotFoundError:
        raise LaunchFileError(
            f'The package "{package}" is not installed: it is not in the ament index of any of '
            f'AMENT_PREFIX_PATH="{os.environ.get("AMENT_PREFIX_PATH", "")}".'
        ) from None
    path = os.path.join(prefix, 'lib', package, executable)
    if not os.access(path, os.X_OK):
        raise LaunchFileError(f'The executable "{path}" does not exist.')
    return path


def _is_text(value: Any) -> bool:
    if isinstance(value, str) or hasattr(value, 'perform'):
        return True
    return (
        isinstance(value, (list, tuple))
        and any(hasattr(item, 'perform') for item in value)
    )


def _evaluate(value: Any, context: LaunchContext) -> Any:
    """Return a parameter's value; text is read as YAML, as launch_ros does."""
    if isinstance(value, ParameterValue):
        return value.evaluate(context)
    if _is_text(value):
        return yaml.safe_load(perform(value, context))
    return list(value) if isinstance(value, tuple) else value


def _evaluate_dict(source: dict[Any, Any], context: LaunchContext) -> dict[str, Any]:
    """Return parameters with dotted names."""
    found: dict[str, Any] = {}
    for key, value in source.items():
        name = perform(key, context)
        if isinstance(value, dict):
            inner = _evaluate_dict(value, context)
            found.update({f'{name}.{below}': item for below, item in inner.items()})
        else:
            found[name] = _evaluate(value, context)
    return found


def _write(parameters: dict[str, Any]) -> str:
    with tempfile.NamedTemporaryFile(
        'w', prefix='launch_params_', suffix='.yaml', delete=False
    ) as file:
        yaml.safe_dump({'/**': {'ros__parameters': parameters}}, file)
    return file.name
