# SPDX-License-Identifier: Apache-2.0
"""Substitutions and conditions of the stand-in, called as those of launch and launch_ros."""

from __future__ import annotations

from abc import ABC, abstractmethod
import os
import shlex
import shutil
import subprocess
from typing import Any, Optional

from launch_stand_in.context import LaunchContext, LaunchFileError, perform

_TRUE = ('true', '1')
_FALSE = ('false', '0')


def is_true(value: Any, context: LaunchContext) -> bool:
    """Return the truth of text; raise where it is none of true, false, 1, 0."""
    text = perform(value, context).strip().lower()
    if text not in _TRUE + _FALSE:
        raise LaunchFileError(f'"{text}" is no condition: expected one of true, false, 1, 0.')
    return text in _TRUE


class Substitution(ABC):
    """Text that is known only when the launch file is resolved."""

    @abstractmethod
    def perform(self, context: LaunchContext) -> str:
        """Return the text."""


class TextSubstitution(Substitution):
    """Text as it is."""

    def __init__(self, *, text: str):
        self.text = text

    def perform(self, context: LaunchContext) -> str:
        """Return the text."""
        return self.text


class LaunchConfiguration(Substitution):
    """The value of a launch argument."""

    def __init__(self, variable_name: Any, *, default: Any = None):
        self.variable_name = variable_name
        self.default = default

    def perform(self, context: LaunchContext) -> str:
        """Return the value."""
        name = perform(self.variable_name, context)
        if name in context.launch_configurations:
            return context.launch_configurations[name]
        if self.default is None:
            raise LaunchFileError(f'The launch configuration "{name}" does not exist.')
        return perform(self.default, context)


class PathJoinSubstitution(Substitution):
    """Parts of a path, joined."""

    def __init__(self, substitutions: Any):
        self.parts = list(substitutions)

    def perform(self, context: LaunchContext) -> str:
        """Return the path."""
        return os.path.join(*(perform(part, context) for part in self.parts))

    def __truediv__(self, part: Any) -> PathJoinSubstitution:
        """Return the path with one more part."""
        return PathJoinSubstitution([*self.parts, part])


class FindExecutable(Substitution):
    """The path of a program on PATH."""

    def __init__(self, *, name: Any):
        self.name = name

    def perform(self, context: LaunchContext) -> str:
        """Return the path."""
        name = perform(self.name, context)
        found = shutil.which(name)
        if found is None:
            raise LaunchFileError(f'The program "{name}" is not on PATH.')
        return found


class Command(Substitution):
    """The standard output of a command."""

    def __init__(self, command: Any, *, on_stderr: str = 'fail'):
        self.command = command
        self.on_stderr = perform(on_stderr, LaunchContext())
        if self.on_stderr not in ('fail', 'ignore', 'warn', 'capture'):
            raise LaunchFileError(f'Command: on_stderr="{self.on_stderr}" is unknown.')

    def perform(self, context: LaunchContext) -> str:
        """Run the command and return its output."""
        command = perform(self.command, context)
        done = subprocess.run(
            shlex.split(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        if done.returncode:
            raise LaunchFileError(
                f'"{command}" ended with code {done.returncode}: {done.stderr.strip()}'
            )
        if done.stderr and self.on_stderr == 'fail':
            raise LaunchFileError(f'"{command}" wrote to stderr: {done.stderr.strip()}')
        return done.stdout + (done.stderr if self.on_stderr == 'capture' else '')


class PythonExpression(Substitution):
    """The value of a Python expression."""

    def __init__(self, expression: Any, python_modules: Any = ('math',)):
        self.expression = expression
        self.modules = [python_modules] if isinstance(python_modules, str) else python_modules

    def perform(self, context: LaunchContext) -> str:
        """Evaluate the expression; a launch file is a program anyway."""
        names = {}
        for module in self.modules:
            name = perform(module, context)
            names[name] = __import__(name)
            if name == 'math':
                names.update(vars(names[name]))
        return str(eval(perform(self.expression, context), names))


class EnvironmentVariable(Substitution):
    """The value of an environment variable."""

    def __init__(self, name: Any, *, default_value: Any = None):
        self.name = name
        self.default_value = default_value

    def perform(self, context: LaunchContext) -> str:
        """Return the value."""
        name = perform(self.name, context)
        value = context.environment.get(name, os.environ.get(name))
        if value is not None:
            return value
        if self.default_value is None:
            raise LaunchFileError(f'The environment variable "{name}" is not set.')
        return perform(self.default_value, context)


class ThisLaunchFileDir(Substitution):
    """The folder of the launch file."""

    def perform(self, context: LaunchContext) -> str:
        """Return the folder."""
        return os.path.dirname(context.file)


class FindPackageShare(Substitution):
    """The share folder of an installed package."""

    def __init__(self, package: Any):
        self.package = package

    def perform(self, context: LaunchContext) -> str:
        """Return the folder."""
        from ament_index_python.packages import get_package_share_directory

        return get_package_share_directory(perform(self.package, context))


class FindPackagePrefix(Substitution):
    """The prefix under which a package is installed."""

    def __init__(self, package: Any):
        self.package = package

    def perform(self, context: LaunchContext) -> str:
        """Return the folder."""
        from ament_index_python.packages import get_package_prefix

        return get_package_prefix(perform(self.package, context))


class _Comparison(Substitution):
    expected = True

    def __init__(self, left: Any, right: Any):
        self.left = left
        self.right = right

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        same = _text(self.left, context) == _text(self.right, context)
        return str(same is self.expected).lower()


class EqualsSubstitution(_Comparison):
    """Whether two texts are equal."""


class NotEqualsSubstitution(_Comparison):
    """Whether two texts differ."""

    expected = False


class NotSubstitution(Substitution):
    """The opposite of a truth."""

    def __init__(self, value: Any):
        self.value = value

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return str(not is_true(self.value, context)).lower()


class AndSubstitution(Substitution):
    """Whether both are true."""

    def __init__(self, left: Any, right: Any):
        self.sides = (left, right)

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return str(all(is_true(side, context) for side in self.sides)).lower()


class OrSubstitution(AndSubstitution):
    """Whether one is true."""

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'."""
        return str(any(is_true(side, context) for side in self.sides)).lower()


def _text(value: Any, context: LaunchContext) -> str:
    return str(value).lower() if isinstance(value, bool) else perform(value, context)


class Condition(ABC):
    """Whether an action is taken."""

    @abstractmethod
    def evaluate(self, context: LaunchContext) -> bool:
        """Return whether."""


class IfCondition(Condition):
    """Taken where the text is true."""

    def __init__(self, predicate_expression: Any):
        self.predicate = predicate_expression

    def evaluate(self, context: LaunchContext) -> bool:
        """Return whether the text is true."""
        return is_true(self.predicate, context)


class UnlessCondition(IfCondition):
    """Taken where the text is false."""

    def evaluate(self, context: LaunchContext) -> bool:
        """Return whether the text is false."""
        return not super().evaluate(context)


class LaunchConfigurationEquals(Condition):
    """Taken where a launch configuration has a value."""

    def __init__(self, launch_configuration_name: str, expected_value: Optional[Any]):
        self.name = launch_configuration_name
        self.expected = expected_value

    def evaluate(self, context: LaunchContext) -> bool:
        """Return whether it has that value."""
        value = context.launch_configurations.get(self.name)
        return value == (None if self.expected is None else perform(self.expected, context))
