# SPDX-License-Identifier: Apache-2.0
"""Inputs of the resolution of a launch file, and its results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterable, Optional


class LaunchFileError(RuntimeError):
    """A launch file cannot be resolved; the message gives the reason."""


@dataclass(frozen=True)
class NodeProcess:
    """
    One process that a launch file starts.

    Attributes:
        package: Package of the executable.
        executable: Its file name.
        name: Node name, '' where the node's own holds.
        namespace: Namespace with a leading slash, '' for none.
        parameters: In order, file names and the dicts of typed values.
        remappings: Pairs of names.
        command: The command line.
        output: 'screen' or 'log'.
        environment: Variables that are set on top of the caller's.
        lifecycle: Whether it was declared as a LifecycleNode.
        ends_all: Whether its end stops all other processes.
    """

    package: str
    executable: str
    name: str
    namespace: str
    parameters: tuple[Any, ...]
    remappings: tuple[tuple[str, str], ...]
    command: tuple[str, ...]
    output: str = 'screen'
    environment: dict[str, str] = field(default_factory=dict)
    lifecycle: bool = False
    ends_all: bool = False


@dataclass(frozen=True)
class DeclaredArgument:
    """An argument that a launch file declares; `default` is None where it must be given."""

    name: str
    default: Optional[str]
    description: str
    choices: tuple[str, ...] = ()


class LaunchContext:
    """
    The state of resolving a launch file.

    Attributes:
        launch_configurations: Values by name.
        declared: The declared arguments by name.
        processes: The processes found so far.
        file: The launch file at work.
    """

    def __init__(self, arguments: Optional[dict[str, str]] = None, file: str = ''):
        """
        Start empty.

        Args:
            arguments: Launch arguments.
            file: The launch file.
        """
        self.launch_configurations: dict[str, str] = dict(arguments or {})
        self.declared: dict[str, DeclaredArgument] = {}
        self.processes: list[NodeProcess] = []
        self.file = file
        self.namespace = ''
        self.global_parameters: dict[str, Any] = {}
        self.environment: dict[str, str] = {}

    def perform_substitution(self, substitution: Any) -> str:
        """Return the text of a substitution."""
        return perform(substitution, self)


def perform(value: Any, context: LaunchContext) -> str:
    """
    Return the text of a string, a substitution, or a sequence of both.

    Args:
        value: Expression to turn into text.
        context: The state of resolving.
    """
    if isinstance(value, str):
        return value
    if hasattr(value, 'perform'):
        return value.perform(context)
    if isinstance(value, Iterable):
        return ''.join(perform(item, context) for item in value)
    raise LaunchFileError(f'{value!r} is neither text nor a substitution.')


def join_namespaces(outer: str, inner: str) -> str:
    """Return `inner` within `outer`, with a leading slash; an absolute inner name wins."""
    if inner.startswith('/'):
        return inner.rstrip('/')
    parts = [part.strip('/') for part in (outer, inner) if part.strip('/')]
    return ''.join(f'/{part}' for part in parts)
