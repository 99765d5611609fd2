# SPDX-License-Identifier: Apache-2.0
"""The page docs/urdf_extension.md, written from the schema: `scripts/env.sh python` prints it."""

from __future__ import annotations

import re
from typing import Iterator

from flexdyn_ros.model.extension.elements import FLEXDYN
from flexdyn_ros.model.extension.schema import Attribute, Element, KINDS, PURE

_HEAD = """\
# The URDF extension

<!-- Written by `scripts/env.sh python scripts/extension_page.py`;
change the schema, not this page. -->

One or several `<flexdyn version="1.0">` elements stand directly under `<robot>`, without a
namespace prefix, or in a file or text of their own (`extension`). They name links and joints of
the URDF, so that a vendor's description stays untouched; other programs ignore them. All numbers
are in SI units. Where several differ about the same link, joint or loop, that is an
error; equal values are not. Unknown elements, attributes and names are errors, and so
is a value that could have no effect.

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

`a | b` is the unit for a joint that turns and for one that slides; `-` marks a pure number. An
attribute without a default that is not required changes nothing while it is not written.
"""
_INERTIA = """\
## How a beam shares the link's `<inertial>`

Without `<inertial>` the beam gives everything. With `inertial="total"` (the default) `<inertial>`
describes the whole undeformed link, and `<inertial>` minus beam is a rigid body fixed in the link
frame, the hub. Where that difference is not physical but within 1 percent (of the mass; of mass
times beam length for the first moment; of the largest moment of inertia), the beam's values are
used and a note reports it; beyond, it is an error. With `inertial="hub"` `<inertial>` is the hub
itself. Point masses always come on top. `<segments>` share it in the same way; their hub is rigid
with the first body.

## Not computed yet

Modes in `format="sid"` (`<modal>`) are checked as far as the file exists, and `load_robot` then
raises `NotYetSupported`.
"""


def page() -> str:
    """Return the whole page."""
    sections = (_section(element, path) for element, path in _walk(FLEXDYN, ''))
    return '\n'.join([_HEAD, *sections, _INERTIA])


def _walk(element: Element, path: str) -> Iterator[tuple[Element, str]]:
    here = f'{path}/{element.name}' if path else element.name
    yield element, here
    for child in element.children:
        yield from _walk(child, here)


def _section(element: Element, path: str) -> str:
    many = element.repeats or element.key
    times = f'one for each `{element.key}`' if element.key else 'any number' if many else 'one'
    lines = [f'## `<{element.name}>`', '', f'`{path}`, {times}. {_code(element.text)}', '']
    if element.attributes:
        lines += [
            '| attribute | value | unit | default | meaning |',
            '| --- | --- | --- | --- | --- |',
            *(_row(attribute) for attribute in element.attributes),
            '',
        ]
    return '\n'.join(lines)


def _row(attribute: Attribute) -> str:
    value = ', '.join(f'`{c}`' for c in attribute.choices) or KINDS[attribute.kind][1]
    unit = f'[{attribute.unit}]' if attribute.unit not in ('', PURE) else attribute.unit
    default = 'required' if attribute.required else ''
    if attribute.default is not None:
        default = f'`{attribute.default}`'
    cells = (f'`{attribute.name}`', value, unit, default, _code(attribute.text))
    return '| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |'


def _code(text: str) -> str:
    """Mark elements as code, since Markdown would take them for HTML."""
    return re.sub(r'(<\w+>(?:/\w+)?)', r'`\1`', text)


if __name__ == '__main__':
    print(page(), end='')
