# SPDX-License-Identifier: Apache-2.0
"""A scenario: a checked document, and the robot that it names."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, Mapping, Optional, Union

from flexdyn_ros.errors import ArgumentError, did_you_mean, UnknownName
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.scenario.document import (
    CheckedSection,
    DocumentPlace,
    read_file,
    ScenarioError,
    shown,
)
from flexdyn_ros.scenario.schema import SCENARIO


class Scenario:
    """
    One simulation that a document describes.

    Attributes:
        data: The checked document with its defaults, see docs/scenarios.md.
        file: Its file, or ''.
        name: The file's name without ending; "scenario" without a file.
    """

    def __init__(
        self, document: Any, place: DocumentPlace, changes: Optional[Mapping[str, Any]] = None
    ):
        """
        Check a document.

        Args:
            document: As YAML gives it; it stays as it is.
            place: Its place.
            changes: Other values, by keys with dots between sections, as {"payload.mass": 5}.

        Raises:
            ScenarioError: It differs from the schema.
        """
        self._document, self._place = document, place
        if not isinstance(document or {}, Mapping):
            SCENARIO.checked(document, place)  # raises the error before that of a change
        for key, value in (changes or {}).items():
            path = key.split('.')
            _refuse_new_name(document, path, key)
            document = _changed(document, path, value, key)
        self.data: CheckedSection = SCENARIO.checked(document, place)
        self.file = place.file
        self.name = Path(place.file).stem if place.file else 'scenario'

    @property
    def files(self) -> tuple[str, ...]:
        """Files that the document names: paths, package:// addresses, or XML."""
        return tuple(SCENARIO.files(self.data))

    def changed(self, changes: Mapping[str, Any]) -> Scenario:
        """Return the scenario with other values; see the constructor."""
        return Scenario(self._document, self._place, changes)

    @cached_property
    def robot(self) -> Robot:
        """
        The robot, read once.

        Raises:
            ScenarioError: The description cannot be read.
            ModelError: It is wrong.
        """
        data = self.data
        keys = {'path_or_xml': 'robot', 'extension': 'extension', 'xacro_arguments': 'arguments'}
        arguments = data.place / 'arguments'
        with arguments.errors((UnknownName,)), data.place.errors((ArgumentError,), keys):
            return load_robot(
                data['robot'], extension=data['extension'] or None,
                xacro_arguments=data['arguments'])


def load(
    source: Union[str, Path, Mapping[str, Any]], changes: Optional[Mapping[str, Any]] = None
) -> Scenario:
    """
    Return a scenario.

    Args:
        source: A YAML file, or the same as a mapping. Files in it are relative to its folder, or
            to the working directory.
        changes: Other values, by keys with dots between sections, as {"payload.mass": 5}.

    Raises:
        ScenarioError: The file cannot be read, or differs from the schema.
    """
    if isinstance(source, Mapping):
        return Scenario(dict(source), DocumentPlace(''), changes)
    document, place = read_file(source)
    return Scenario(document, place, changes)


def _refuse_new_name(document: Any, path: list[str], key: str) -> None:
    """Raise an error where a value of a controller or the like that is not there is changed."""
    named = [each.name for each in SCENARIO.keys if each.each == 'named']
    if len(path) < 3 or path[0] not in named:
        return
    known = (document or {}).get(path[0]) or {}
    if path[1] not in known:
        raise ScenarioError(
            f'there is no "{path[1]}" in {path[0]}', key=key, advice=did_you_mean(path[1], known))


def _changed(document: Any, path: list[str], value: Any, key: str) -> Any:
    """Return a document with one other value; the containers on the way to it are copied."""
    if not path:
        return value
    name, rest = path[0], path[1:]
    if isinstance(document, list):
        if not name.isdigit() or int(name) >= len(document):
            raise ScenarioError(
                f'names "{name}" in a list of {len(document)}', key=key,
                advice='Write a number from 0.')
        found = list(document)
        found[int(name)] = _changed(found[int(name)], rest, value, key)
        return found
    if document is not None and not isinstance(document, Mapping):
        raise ScenarioError(f'has no "{name}" below {shown(document)}', key=key,
                            advice='Name a key of a section.')
    below = dict(document or {})
    below[name] = _changed(below.get(name), rest, value, key)
    return below
