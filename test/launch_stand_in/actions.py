# SPDX-License-Identifier: Apache-2.0
"""Actions of the stand-in that start no process, called as those of launch and launch_ros."""

from __future__ import annotations

from abc import ABC, abstractmethod
import runpy
from typing import Any, Callable, Iterable, Optional

from launch_stand_in.context import (
    DeclaredArgument,
    join_namespaces,
    LaunchContext,
    LaunchFileError,
    perform,
)
from launch_stand_in.substitutions import Condition


class Action(ABC):
    """Something that a launch description does."""

    def __init__(self, *, condition: Optional[Condition] = None):
        self.condition = condition

    def visit(self, context: LaunchContext) -> None:
        """Do it where its condition holds."""
        if self.condition is None or self.condition.evaluate(context):
            self.execute(context)

    @abstractmethod
    def execute(self, context: LaunchContext) -> None:
        """Do it."""


class LaunchDescription:
    """Contents of a launch file."""

    def __init__(self, initial_entities: Optional[Iterable[Any]] = None):
        self.entities = list(initial_entities or ())

    def add_action(self, action: Any) -> None:
        """Append an action."""
        self.entities.append(action)

    def visit(self, context: LaunchContext) -> None:
        """Do all actions in order."""
        for entity in self.entities:
            entity.visit(context)


class DeclareLaunchArgument(Action):
    """An argument of the launch file."""

    def __init__(
        self,
        name: str,
        *,
        default_value: Any = None,
        description: Any = '',
        choices: Optional[Iterable[str]] = None,
        condition: Optional[Condition] = None,
    ):
        super().__init__(condition=condition)
        self.name = name
        self.default_value = default_value
        self.description = description
        self.choices = tuple(choices or ())

    def execute(self, context: LaunchContext) -> None:
        """Take the default where the argument is not given, and check the choices."""
        default = None if self.default_value is None else perform(self.default_value, context)
        description = perform(self.description or '', context)
        declared = DeclaredArgument(self.name, default, description, self.choices)
        context.declared.setdefault(self.name, declared)
        if self.name not in context.launch_configurations:
            if default is None:
                raise LaunchFileError(f'The launch argument "{self.name}" is required.')
            context.launch_configurations[self.name] = default
        value = context.launch_configurations[self.name]
        if self.choices and value not in self.choices:
            raise LaunchFileError(
                f'The launch argument "{self.name}" is "{value}", not one of '
                f'{", ".join(self.choices)}.'
            )


class SetLaunchConfiguration(Action):
    """Sets a launch configuration."""

    def __init__(self, name: Any, value: Any, *, condition: Optional[Condition] = None):
        super().__init__(condition=condition)
        self.name = name
        self.value = value

    def execute(self, context: LaunchContext) -> None:
        """Set it."""
        name = perform(self.name, context)
        context.launch_configurations[name] = perform(self.value, context)


class SetEnvironmentVariable(Action):
    """Sets an environment variable of the processes that follow."""

    def __init__(self, name: Any, value: Any, *, condition: Optional[Condition] = None):
        super().__init__(condition=condition)
        self.name = name
        self.value = value

    def execute(self, context: LaunchContext) -> None:
        """Set it."""
        context.environment[perform(self.name, context)] = perform(self.value, context)


class LogInfo(Action):
    """Prints a line."""

    def __init__(self, *, msg: Any, condition: Optional[Condition] = None):
        super().__init__(condition=condition)
        self.msg = msg

    def execute(self, context: LaunchContext) -> None:
        """Print it."""
        print(perform(self.msg, context))


class OpaqueFunction(Action):
    """Calls a function, and does the actions that it returns."""

    def __init__(
        self,
        *,
        function: Callable[..., Optional[Iterable[Any]]],
        args: Iterable[Any] = (),
        kwargs: Optional[dict[str, Any]] = None,
        condition: Optional[Condition] = None,
    ):
        super().__init__(condition=condition)
        self.function = function
        self.args = tuple(args)
        self.kwargs = dict(kwargs or {})

    def execute(self, context: LaunchContext) -> None:
        """Call it."""
        for entity in self.function(context, *self.args, **self.kwargs) or ():
            entity.visit(context)


class GroupAction(Action):
    """Actions whose settings end with the group where it is scoped."""

    def __init__(
        self,
        actions: Iterable[Any],
        *,
        scoped: bool = True,
        forwarding: bool = True,
        launch_configurations: Optional[dict[str, Any]] = None,
        condition: Optional[Condition] = None,
    ):
        super().__init__(condition=condition)
        self.actions = list(actions)
        self.scoped = scoped
        self.forwarding = forwarding
        self.configurations = dict(launch_configurations or {})

    def execute(self, context: LaunchContext) -> None:
        """Do the actions."""
        kept = (
            dict(context.launch_configurations), context.namespace,
            dict(context.global_parameters), dict(context.environment),
        )
        added = {name: perform(value, context) for name, value in self.configurations.items()}
        if not self.forwarding:
            context.launch_configurations.clear()
        context.launch_configurations.update(added)
        for action in self.actions:
            action.visit(context)
        if self.scoped:
            (
                context.launch_configurations, context.namespace,
                context.global_parameters, context.environment,
            ) = kept


class PushROSNamespace(Action):
    """Puts the nodes that follow into a namespace."""

    def __init__(self, namespace: Any, *, condition: Optional[Condition] = None):
        super().__init__(condition=condition)
        self.namespace = namespace

    def execute(self, context: LaunchContext) -> None:
        """Enter the namespace."""
        context.namespace = join_namespaces(context.namespace, perform(self.namespace, context))


PushRosNamespace = PushROSNamespace  # the name before ROS 2 Iron


class PythonLaunchDescriptionSource:
    """A launch file written in Python."""

    def __init__(self, launch_file_path: Any):
        self.location = launch_file_path

    def load(self, context: LaunchContext) -> tuple[str, LaunchDescription]:
        """Return the file and its description."""
        path = perform(self.location, context)
        return path, load_description(path)


class IncludeLaunchDescription(Action):
    """Runs another launch file."""

    def __init__(
        self,
        launch_description_source: Any,
        *,
        launch_arguments: Optional[Iterable[tuple[Any, Any]]] = None,
        condition: Optional[Condition] = None,
    ):
        super().__init__(condition=condition)
        self.source = launch_description_source
        self.arguments = list(launch_arguments or ())

    def execute(self, context: LaunchContext) -> None:
        """Do it; the included file's settings stay, as launch has it outside of groups."""
        source = self.source
        if not hasattr(source, 'load'):
            source = PythonLaunchDescriptionSource(source)
        for name, value in self.arguments:
            context.launch_configurations[perform(name, context)] = perform(value, context)
        including = context.file
        context.file, description = source.load(context)
        description.visit(context)
        context.file = including


def load_description(path: str) -> LaunchDescription:
    """
    Return the launch description of a Python launch file.

    Args:
        path: The file.

    Raises:
        LaunchFileError: The file does not define generate_launch_description.
    """
    names = runpy.run_path(str(path))
    if 'generate_launch_description' not in names:
        raise LaunchFileError(f'{path} does not define generate_launch_description().')
    return names['generate_launch_description']()
