# SPDX-License-Identifier: Apache-2.0
"""The page docs/scenarios.md, written from the schema: `scripts/env.sh python` prints it."""

from __future__ import annotations

import re
from textwrap import fill
from typing import Iterator

from flexdyn_ros.scenario.schema import KINDS, SCENARIO, SchemaKey

_HEAD = """\
# Scenarios

<!-- Written by `scripts/env.sh python scripts/scenario_page.py`;
change the schema, not this page. -->

A scenario is a YAML file that `flexdyn simulate FILE.yaml` and `flexdyn_ros.scenario.run` read.
[How to simulate a task](simulate_a_task.md) shows one. Unknown keys and names are errors with
their line. Numbers are in SI units. `a | b` is the unit for a rotary and for a prismatic joint.
"""


def page() -> str:
    """Return the whole page."""
    return '\n'.join([_HEAD, *_sections(SCENARIO, '')])


def _sections(key: SchemaKey, path: str) -> Iterator[str]:
    """Return the sections below a key, depth first."""
    if not path:
        plain = tuple(child for child in key.keys if child.kind)
        yield _table('## Top level', '', plain)
    for child in key.keys:
        if not child.kind:
            yield from _section(child, f'{path}{child.name}')


def _section(key: SchemaKey, path: str) -> Iterator[str]:
    many = {'named': ' Sections by a name of your choice.', 'many': ' One section, or a list.'}
    yield _table(f'## `{path}`', key.text + many.get(key.each, ''), key.keys)
    yield from _sections(key, f'{path}.')
    for name, variant in key.variants.items():
        yield _table(f'### `{path}` of `type: {name}`', variant.text, variant.keys)
        yield from _sections(variant, f'{path}.{name}.')


def _table(heading: str, text: str, keys: tuple[SchemaKey, ...]) -> str:
    lines = [heading, '']
    if text:
        lines += [fill(_code(text), 99, break_long_words=False, break_on_hyphens=False), '']
    if keys:
        lines += ['| key | value | unit | default | meaning |', '| --- | --- | --- | --- | --- |',
                  *(_row(key) for key in keys), '']
    return '\n'.join(lines)


def _row(key: SchemaKey) -> str:
    value = ', '.join(f'`{c}`' for c in key.choices) or (
        KINDS[key.kind][1] if key.kind else 'section, see below')
    unit = f'[{key.unit}]' if key.unit not in ('', '-') else key.unit
    default = 'required' if key.required else ''
    if key.default not in (None, {}, [], ''):
        default = f'`{str(key.default).lower() if isinstance(key.default, bool) else key.default}`'
    cells = (f'`{key.name}`', value, unit, default, _code(key.text))
    return '| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |'


def _code(text: str) -> str:
    """Mark elements and columns in angle brackets as code."""
    return re.sub(r'(?<![`\w])(<\w+>(?:/\w+)?)(?!`)', r'`\1`', text)


if __name__ == '__main__':
    print(page(), end='')
