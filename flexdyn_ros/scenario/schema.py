# SPDX-License-Identifier: Apache-2.0
"""The schema of scenarios, read from scenario.yaml, and the check of a document against it."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.scenario.document import CheckedSection, DocumentPlace, shown
import yaml

AXES = ('tx', 'ty', 'tz', 'rx', 'ry', 'rz')
TYPE = 'type'  # the key that chooses among variants


def _number(value: Any) -> float:
    # YAML 1.1 takes 1e-3 for a word.
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError('a number')
    try:
        found = float(value)
    except ValueError:
        raise ValueError('a number') from None
    if not isfinite(found):
        raise ValueError('a finite number')
    return found


def _above(least: float, included: bool, words: str) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        found = _number(value)
        if not (found >= least if included else found > least):
            raise ValueError(words)
        return found
    return read


_positive = _above(0.0, False, 'a number > 0')
_non_negative = _above(0.0, True, 'a number >= 0')


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError('a whole number >= 0')
    return value


def _whole(value: Any) -> int:
    if _count(value) < 1:
        raise ValueError('a whole number > 0')
    return int(value)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError('true or false')
    return value


def _text(value: Any) -> str:
    if isinstance(value, (dict, list)) or value is None:
        raise ValueError('text')
    return str(value)


def _texts(value: Any) -> list[str]:
    return [_text(each) for each in (value if isinstance(value, list) else [value])]


def _words(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError('words by name, as {modes: 2}')
    return {name: str(each).lower() if isinstance(each, bool) else _text(each)
            for name, each in value.items()}


def _numbers(count: int) -> Callable[[Any], list[float]]:
    def read(value: Any) -> list[float]:
        if not isinstance(value, list) or len(value) != count:
            raise ValueError(f'{count} numbers, as [{", ".join(["0"] * count)}]')
        return [_number(each) for each in value]
    return read


def _by_name(value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        raise ValueError('numbers by name, as {shoulder: 0.5}')
    found = {}
    for name, each in value.items():
        try:
            found[name] = _number(each)
        except ValueError as error:
            raise ValueError(f'{error} for "{name}"') from None
    return found


def _by_axis(value: Any) -> dict[str, float]:
    found = _by_name(value)
    for name in found:
        if name not in AXES:
            raise ValueError(f'numbers by {" ".join(AXES)}, without "{name}"')
    return found


def _one_or_by_name(least: Callable[[Any], float]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: least(each) for name, each in value.items()}
        return least(value)
    return read


def _saturation(value: Any) -> Any:
    return value if value == 'limits' else _one_or_by_name(_positive)(value)


# By kind: the reader, which raises ValueError with the expected form, and the words of the page.
KINDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    'number': (_number, 'number'),
    'positive': (_positive, 'number > 0'),
    'non_negative': (_non_negative, 'number >= 0'),
    'count': (_count, 'whole number >= 0'),
    'whole': (_whole, 'whole number > 0'),
    'boolean': (_boolean, 'true or false'),
    'text': (_text, 'text'),
    'file': (_text, 'file, relative to the scenario'),
    'files': (_texts, 'file or list of files'),
    'names': (_texts, 'name or list of names'),
    'words': (_words, 'words by name'),
    'link': (_text, 'name of a link'),
    'trajectory': (_text, 'name of a trajectory'),
    'choice': (_text, 'one of the words listed'),
    'vector': (_numbers(3), 'three numbers'),
    'inertia': (_numbers(6), 'six numbers'),
    'by_joint': (_by_name, 'numbers by joint'),
    'by_coordinate': (_by_name, 'numbers by coordinate'),
    'by_position': (_by_name, 'numbers by coordinate'),
    'by_axis': (_by_axis, 'numbers by axis'),
    'positives': (_one_or_by_name(_positive), 'number > 0, or one by joint'),
    'gains': (_one_or_by_name(_non_negative), 'number >= 0, or one by joint'),
    'saturation': (_saturation, 'number > 0, or one by joint, or `limits`'),
}


@dataclass(frozen=True)
class SchemaKey:
    """
    A value, or a section of values.

    Attributes:
        name: Its name.
        text: Its meaning.
        kind: A key of KINDS; '' for a section.
        unit: SI unit; "-" for pure numbers, '' where the value is no number.
        default: The value of one that is not written.
        required: Whether it must be written.
        choices: The words allowed, for kind "choice".
        each: "named" for sections by a name, "many" for one section or a list, '' for one.
        keys: Values of a section.
        variants: Further values by the value of TYPE.
    """

    name: str
    text: str
    kind: str = ''
    unit: str = ''
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    each: str = ''
    keys: tuple[SchemaKey, ...] = ()
    variants: Mapping[str, SchemaKey] = field(default_factory=dict)

    def checked(self, value: Any, place: DocumentPlace) -> Any:
        """
        Return a value with the defaults of absent keys.

        Args:
            value: As YAML gives it.
            place: Its place.

        Raises:
            ScenarioError: It differs from the schema.
        """
        if self.kind:
            return self._read(value, place)
        if self.each == 'many':
            parts = value if isinstance(value, list) else [value]
            wide = isinstance(value, list)
            return [
                self._section(each, place / k if wide else place) for k, each in enumerate(parts)]
        if self.each == 'named':
            if not isinstance(value, dict):
                raise place.error('is no section', 'Write names with a section each.')
            named = {name: self._section(each, place / name) for name, each in value.items()}
            return CheckedSection(named, place)
        return self._section(value, place)

    def files(self, value: Any) -> Iterator[str]:
        """Yield the files that a checked value names."""
        if self.kind in ('file', 'files'):
            yield from [value] if isinstance(value, str) else value or ()
        if self.kind or not value:
            return
        sections = {'many': list, 'named': lambda by_name: list(by_name.values())}.get(
            self.each, lambda section: [section])(value)
        for section in sections:
            variant = self.variants.get(section.get(TYPE))
            for key in (*self.keys, *(variant.keys if variant else ())):
                yield from key.files(section.get(key.name))

    def absent(self, place: DocumentPlace) -> Any:
        """Return the value of one that is not written; `place` is its own."""
        if self.required:
            raise place.error('is missing', f'Write it: {self.text}')
        if self.kind:
            return self.default
        if self.each == 'many':
            return []
        if self.each == 'named' or any(key.required for key in self.keys):
            return CheckedSection({}, place)
        return self._section({}, place)

    def _read(self, value: Any, place: DocumentPlace) -> Any:
        try:
            found = KINDS[self.kind][0](value)
        except ValueError as error:
            unit = f' [{self.unit}]' if self.unit not in ('', '-') else ''
            raise place.error(f'is {shown(value)}', f'Expected {error}{unit}.') from None
        if self.kind == 'file':
            return _found_file(found, place)
        if self.kind == 'files':
            return [_found_file(each, place) for each in found]
        if self.choices and found not in self.choices:
            raise place.error(
                f'is "{found}", expected one of {", ".join(self.choices)}',
                did_you_mean(found, self.choices))
        return found

    def _section(self, value: Any, place: DocumentPlace) -> CheckedSection:
        value = {} if value is None else value
        if not isinstance(value, dict):
            raise place.error(f'is {shown(value)}', 'Expected a section of keys.')
        keys = list(self.keys)
        found: dict[str, Any] = {}
        if self.variants:
            chosen = value.get(TYPE)
            if not isinstance(chosen, str) or chosen not in self.variants:
                problem = 'has no type' if chosen is None else f'is of type "{chosen}"'
                known = ', '.join(self.variants)
                raise (place if chosen is None else place / TYPE).error(
                    f'{problem}, expected one of {known}',
                    '' if chosen is None else did_you_mean(str(chosen), self.variants))
            keys += self.variants[chosen].keys
            found[TYPE] = chosen
        names = [each.name for each in keys] + [TYPE] * bool(self.variants)
        for name in value:
            if name not in names:
                raise (place / name).error('is no key of this section', did_you_mean(name, names))
        for key in keys:
            here = place / key.name
            given = key.name in value and value[key.name] is not None
            found[key.name] = key.checked(value[key.name], here) if given else key.absent(here)
        return CheckedSection(found, place)


def _found_file(name: str, place: DocumentPlace) -> str:
    """Return the path of a file that is named relative to the document."""
    if name.startswith('package://') or name.lstrip().startswith('<'):
        return name
    path = Path(place.file).parent / name
    try:
        found = path.exists()
    except (OSError, ValueError):  # longer than a name may be, or with a NUL
        found = False
    if not found:
        raise place.error(f'is "{name}", and {path} does not exist', 'Write its path from the '
                          'folder of the scenario.')
    return str(path)


def _key(name: str, given: dict[str, Any]) -> SchemaKey:
    keys = tuple(_key(*each) for each in given.get('keys', {}).items())
    variants = {each: _key(each, below) for each, below in given.get('variants', {}).items()}
    choices = tuple(given.get('choices', ()))
    return SchemaKey(name, **{**given, 'keys': keys, 'variants': variants, 'choices': choices})


def _read_schema() -> SchemaKey:
    loader: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
    text = Path(__file__).with_name('scenario.yaml').read_text(encoding='utf-8')
    return _key('', yaml.load(text, loader))


SCENARIO: SchemaKey = _read_schema()
