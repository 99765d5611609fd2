# SPDX-License-Identifier: Apache-2.0
"""Write docs/urdf_extension.md and docs/scenarios.md from the schemas."""

from __future__ import annotations

from pathlib import Path
import re
from textwrap import fill
from typing import Any, Iterator, Mapping, Sequence, Union

from flexdyn_ros.model.extension.elements import FLEXDYN
from flexdyn_ros.model.extension.schema import Attribute, Element, KINDS, PURE
from flexdyn_ros.scenario import schema as scenario

DOCS = Path(__file__).resolve().parents[1] / 'docs'
_EXTENSION = """\
# The URDF extension

<!-- Written by `scripts/env.sh python scripts/schema_pages.py`;
change the schema, not this page. -->

The extension consists of one or several `<flexdyn version="1.0">` elements. They are children of
`<robot>`, without a namespace prefix, or in a separate file or text (`extension`). They name links
and joints of the URDF, so that a vendor's description stays unchanged. Other programs ignore them.

All numbers are in SI units. Different values for the same link, joint or loop are an error; equal
values are not. Unknown elements, attributes and names are errors, and so is a value without an
effect.

```xml
<robot name="crane">
  <link name="base"/>
  <link name="boom"/>
  <joint name="slew" type="continuous">
    <parent link="base"/> <child link="boom"/> <axis xyz="0 0 1"/>
  </joint>
  <flexdyn version="1.0">
    <flexible_link link="boom">
      <beam tip="2 0 0" young="7e10" area="1.6e-3" iz="2.1e-7" density="2700">
        <bending axis="y" modes="2" damping_ratio="0.01"/>
        <point_mass at="1.0" mass="5"/>
      </beam>
    </flexible_link>
    <joint_dynamics joint="slew" rotor_inertia="3e-5" gear_ratio="100">
      <friction viscous="4" coulomb="2.1"/>
    </joint_dynamics>
  </flexdyn>
</robot>
```

`a | b` is the unit for a rotary and for a prismatic joint; `-` marks a pure number. An optional
attribute without a default has no effect while it is omitted.
"""
_INERTIA = """\
## Share of a beam in the link's `<inertial>`

`flexdyn flex` writes a first `<flexible_link>` for a link. Its data are the lowest frequency, the
stiffness of the tip, or a tube or box of a material.

Without `<inertial>` the beam provides the whole inertia of the link.

A beam without `mass`, `density` and `linear_density` takes the largest share of the mass of
`<inertial>` whose remainder is still a real body. The share is 1 / lambda_max(J^-1 B), and at
most 1. J is the pseudo-inertia of the link, B that of the beam at the mass of the link, both 4x4.
The source is Wensing, Kim and Slotine 2018, "Linear matrix inequalities for physically consistent
inertial parameter identification". The remainder is a rigid body fixed in the link frame. Mass,
centre of mass and inertia of the undeformed link are exactly those of `<inertial>`. `flexdyn
check` and `flexdyn info` print the share. An `<inertial>` that no real body has is an error.
`remainder="tip"` fixes the remainder to the last cross-section instead, `"both"` half of it.
`distribution="fit"` makes the share larger, as the mass per length may be linear, up to twice its
mean at one end. The stiffness stays uniform.

A row of beams shares `<inertial>` in the same way, with the pseudo-inertia of the whole row as B.
Its mass has one density where every beam has an area, and else one mass per length. `remainder` in
the last beam places the rest of the row.

Below a share of 5 percent the beam is massless, and the whole `<inertial>` is the rigid body. The
beam then bends by the static shapes of a force and of a moment at its tip. Bending has at most two
modes an axis, torsion and stretch one each. Frequencies and damping ratios refer to the
masses that the beam carries. Modes that move no mass are an error: a wrist about the axis of
bending, for example, cancels the second mode. `<segments>` need a share of 5 percent.

With a mass and `inertial="total"` (the default) `<inertial>` describes the whole undeformed link,
too. The difference `<inertial>` minus beam is a rigid body fixed in the link frame, the hub. If it
is not physical but within 1 percent, the beam's values are used, and a note reports this. The 1
percent are of the mass, of mass times beam length, and of the largest moment of inertia. A larger
difference is an error.

With `inertial="hub"` `<inertial>` is the hub itself. Point masses are always added. `<segments>`
share `<inertial>` in the same way; their hub is rigid with the first body.
"""
_SCENARIO = """\
# Scenarios

<!-- Written by `scripts/env.sh python scripts/schema_pages.py`;
change the schema, not this page. -->

A scenario is a YAML file that `flexdyn simulate FILE.yaml` and `flexdyn_ros.scenario.run` read.
[How to simulate a task](simulate_a_task.md) shows one. Unknown keys and names are errors with
their line. Numbers are in SI units. `a | b` is the unit for a rotary and for a prismatic joint.
"""


def extension_page() -> str:
    """Return the page of the URDF extension."""
    sections = (_element(element, path) for element, path in _walk(FLEXDYN, ''))
    return '\n'.join([_EXTENSION, *sections, _INERTIA])


def _walk(element: Element, path: str) -> Iterator[tuple[Element, str]]:
    here = f'{path}/{element.name}' if path else element.name
    yield element, here
    for child in element.children:
        yield from _walk(child, here)


def _element(element: Element, path: str) -> str:
    many = element.repeats or element.key
    times = f'one for each `{element.key}`' if element.key else 'any number' if many else 'one'
    times = 'one, or several in a row' if element.in_row else times
    return _table(
        f'## `<{element.name}>`', f'`{path}`, {times}. {element.text}', 'attribute',
        element.attributes, KINDS)


def scenario_page() -> str:
    """Return the page of scenarios."""
    return '\n'.join([_SCENARIO, *_sections(scenario.SCENARIO, '')])


def _sections(key: scenario.SchemaKey, path: str) -> Iterator[str]:
    """Return the sections below a key, depth first."""
    if not path:
        yield _keys('## Top level', '', tuple(child for child in key.keys if child.kind))
    for child in key.keys:
        if not child.kind:
            yield from _section(child, f'{path}{child.name}')


def _section(key: scenario.SchemaKey, path: str) -> Iterator[str]:
    many = {'named': ' Sections by a name of your choice.', 'many': ' One section, or a list.'}
    yield _keys(f'## `{path}`', key.text + many.get(key.each, ''), key.keys)
    yield from _sections(key, f'{path}.')
    for name, variant in key.variants.items():
        yield _keys(f'### `{path}` of `type: {name}`', variant.text, variant.keys)
        yield from _sections(variant, f'{path}.{name}.')


def _keys(heading: str, text: str, keys: Sequence[scenario.SchemaKey]) -> str:
    return _table(heading, text, 'key', keys, scenario.KINDS)


# Parts of both pages.

Entry = Union[Attribute, scenario.SchemaKey]


def _table(
    heading: str, text: str, head: str, entries: Sequence[Entry], kinds: Mapping[str, Any]
) -> str:
    lines = [heading, '']
    if text:
        lines += [fill(_code(text), 99, break_long_words=False, break_on_hyphens=False), '']
    if entries:
        lines += [f'| {head} | value | unit | default | meaning |',
                  '| --- | --- | --- | --- | --- |', *(_row(each, kinds) for each in entries), '']
    return '\n'.join(lines)


def _row(entry: Entry, kinds: Mapping[str, Any]) -> str:
    value = ', '.join(f'`{c}`' for c in entry.choices) or (
        kinds[entry.kind][1] if entry.kind else 'section, see below')
    unit = f'[{entry.unit}]' if entry.unit not in ('', PURE) else entry.unit
    default = 'required' if entry.required else ''
    if entry.default not in (None, {}, [], ''):
        written = entry.default
        default = f'`{str(written).lower() if isinstance(written, bool) else written}`'
    cells = (f'`{entry.name}`', value, unit, default, _code(entry.text))
    return '| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |'


def _code(text: str) -> str:
    """Mark elements and columns in angle brackets as code: Markdown would take them for HTML."""
    return re.sub(r'(?<![`\w])(<\w+>(?:/\w+)?)(?!`)', r'`\1`', text)


PAGES = {'urdf_extension.md': extension_page, 'scenarios.md': scenario_page}


if __name__ == '__main__':
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding='utf-8')
