# SPDX-License-Identifier: Apache-2.0
"""YAML documents with the line of every value, and errors that name the place."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
import re
from types import MappingProxyType
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

from flexdyn_ros.errors import ArgumentError, did_you_mean, FlexdynError
import numpy as np
import yaml

_MOST_LEVELS = 40  # of sections in each other; an alias in its own section has no end
_LONGEST_SHOWN = 80  # characters of a value in an error
_WORDS = {'None': 'null', 'True': 'true', 'False': 'false'}


class ScenarioError(FlexdynError):
    """
    A scenario is wrong.

    Attributes:
        file: The file; '' where the scenario was a mapping.
        line: Its line, or None.
        key: The key, dots between sections.
        problem: The fault.
        advice: The text to write.
        exit_code: Of the command line: the call is wrong, not the model.
    """

    exit_code = 2

    def __init__(
        self, problem: str, file: str = '', line: Optional[int] = None, key: str = '',
        advice: str = '',
    ):
        self.file, self.line, self.key, self.problem = file, line, key, problem
        self.advice = advice
        place = f'{file}:{line}' if file and line else file
        sentence = ': '.join(filter(None, (place, key, problem.rstrip('.'))))
        mark = '' if sentence.endswith('?') else '.'
        super().__init__(f'{sentence}{mark} {advice}'.rstrip())


@dataclass(frozen=True)
class DocumentPlace:
    """
    Place of a value.

    Attributes:
        file: The file, or ''.
        lines: The line of each value by its keys.
        path: Its keys.
    """

    file: str
    lines: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    path: tuple[str, ...] = ()

    def __truediv__(self, key: object) -> DocumentPlace:
        """Return the place of a value in this one."""
        return DocumentPlace(self.file, self.lines, (*self.path, str(key)))

    def error(self, problem: str, advice: str = '') -> ScenarioError:
        """Return an error about the value."""
        path = self.path
        while path and path not in self.lines:  # a default stands in its section
            path = path[:-1]
        return ScenarioError(
            problem, self.file, self.lines.get(path), '.'.join(self.path), advice)

    @contextmanager
    def errors(
        self, kinds: tuple[type[FlexdynError], ...] = (FlexdynError,),
        keys: Mapping[str, str] = MappingProxyType({}),
    ) -> Iterator[None]:
        """
        Turn errors of the library into errors about the value, which keep a motion.

        Args:
            kinds: Errors that are turned.
            keys: Of a section, the key of each argument of the library, also in the problem.
        """
        try:
            yield
        except ScenarioError:
            raise
        except kinds as error:
            if isinstance(error, ArgumentError):
                place = self / keys[error.argument] if error.argument in keys else self
                found = place.error(_in_yaml(error.problem, keys))
            else:
                found = self.error(str(error))
            if hasattr(error, 'trajectory'):
                found.trajectory = error.trajectory  # type: ignore[attr-defined]
            raise found from error


class CheckedSection(dict):
    """
    A checked section.

    Attributes:
        place: Its place.
    """

    def __init__(self, values: Mapping[str, Any], place: DocumentPlace):
        super().__init__(values)
        self.place = place

    def error(self, key: str, problem: str, advice: str = '') -> ScenarioError:
        """Return an error about one of its values."""
        return (self.place / key).error(problem, advice)

    def chosen(self, key: str, names: Sequence[str], kind: str) -> tuple[str, ...]:
        """Return those of the names that are written, all where none is; each comes once."""
        found = tuple(self[key])
        for k, name in enumerate(found):
            self.known(key, name, names, kind)
            if name in found[:k]:
                raise self.error(key, f'names "{name}" twice', 'Keep one of them.')
        return found or tuple(names)

    def known(self, key: str, name: Any, names: Sequence[str], kind: str) -> int:
        """Return the place of a name among names, or raise an error that names the nearest."""
        if name not in names:
            raise self.error(key, f'no {kind} is called "{name}"', did_you_mean(name, names))
        return list(names).index(name)

    def vector(
        self, key: str, names: Sequence[str], kind: str, start: Union[float, np.ndarray] = 0.0
    ) -> np.ndarray:
        """
        Return a value by name, or one for all, as a vector, (len(names),).

        Args:
            key: Its key.
            names: Names of the entries.
            kind: Their kind, for errors.
            start: Entries that are not named.
        """
        value = self[key]
        if not isinstance(value, Mapping):
            return np.full(len(names), float(value))
        found = np.broadcast_to(np.asarray(start, dtype=float), (len(names),)).copy()
        for name, number in value.items():
            found[self.known(key, name, names, kind)] = number
        return found

    def complete(self, key: str, names: Sequence[str], kind: str) -> np.ndarray:
        """Return the same where every name needs a value."""
        value = self[key]
        missing = [name for name in names if name not in value] if isinstance(
            value, Mapping) else []
        if missing:
            raise self.error(
                key, f'has no value of the {kind} "{missing[0]}"',
                'Write one, or one number for all.')
        return self.vector(key, names, kind)


def read_document(text: str, file: str) -> tuple[Any, DocumentPlace]:
    """
    Return the value of a YAML document and its place.

    Args:
        text: The document.
        file: Its file, for errors.

    Raises:
        ScenarioError: It is no YAML, or has a key twice.
    """
    lines: dict[tuple[str, ...], int] = {}
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        value = None if node is None else _value(loader, node, (), lines, file)
    except yaml.reader.ReaderError as error:
        raise ScenarioError(
            f'is no YAML: {error.reason}', file, text.count('\n', 0, error.position) + 1,
            advice='Remove the character.') from None
    except yaml.YAMLError as error:
        mark = getattr(error, 'problem_mark', None)
        raise ScenarioError(
            f'is no YAML: {getattr(error, "problem", None) or error}', file,
            mark.line + 1 if mark else None, advice='Check indentation, colons and quotes.',
        ) from None
    return value, DocumentPlace(file, lines)


def read_file(path: Union[str, Path]) -> tuple[Any, DocumentPlace]:
    """Return the value of a YAML file and its place; see `read_document`."""
    try:
        text = Path(path).read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, 'strerror', None) or 'it is no text'
        raise ScenarioError(
            f'cannot be read: {reason}', str(path), advice='Check the path.') from None
    return read_document(text, str(path))


def _value(
    loader: Any, node: yaml.Node, path: tuple[str, ...], lines: dict[tuple[str, ...], int],
    file: str,
) -> Any:
    lines[path] = line = node.start_mark.line + 1
    if len(path) > _MOST_LEVELS:
        raise ScenarioError('has no end', file, line, '.'.join(path[:2]), 'Write it in full.')
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, each, (*path, str(k)), lines, file)
                for k, each in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        try:
            return loader.construct_object(node)
        except (ValueError, KeyError):  # as of a date, or of !!float and !!bool
            raise ScenarioError(
                f'is "{node.value}", which is no value of YAML', file, line, '.'.join(path),
                'Write a number, or a word in quotes.') from None
    own: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise ScenarioError(
                'has a key that is no word', file, line, '.'.join(path), 'Write a name.')
        if key.value in own and key.value != '<<':
            raise ScenarioError(
                f'stands twice, in lines {own[key.value]} and {line}', file, line,
                '.'.join((*path, str(key.value))), 'Keep one of them.')
        own[key.value] = line
    loader.flatten_mapping(node)  # of merge keys: their content comes first
    found: dict[str, Any] = {}
    for key, each in node.value:
        name = str(loader.construct_object(key))
        found[name] = _value(loader, each, (*path, name), lines, file)
        lines[path + (name,)] = key.start_mark.line + 1
    return found


def shown(value: Any) -> str:
    """Return a value as errors show it."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f'{text[:_LONGEST_SHOWN - 3]}...'


def _in_yaml(text: str, keys: Mapping[str, str]) -> str:
    """Return a text about arguments, dt or dt=None, by their keys, step or step: null."""
    if not keys:
        return text
    return re.sub(
        rf'\b({"|".join(keys)})\b(?:="?(\w+)"?)?',
        lambda found: ': '.join(
            filter(None, (keys[found[1]], _WORDS.get(found[2], found[2])))), text)
