# SPDX-License-Identifier: Apache-2.0
"""The URDF extension as one table, read from flexdyn.yaml: every element and attribute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flexdyn_ros.model.extension.schema import Attribute, Element
import yaml

_FILE = Path(__file__).with_name('flexdyn.yaml')


def _element(name: str, given: dict[str, Any]) -> Element:
    attributes, children = given.pop('attributes', {}), given.pop('elements', {})
    return Element(
        name,
        attributes=tuple(_attribute(*each) for each in attributes.items()),
        children=tuple(_element(*each) for each in children.items()),
        **given,
    )


def _attribute(name: str, given: dict[str, Any]) -> Attribute:
    return Attribute(name, **{**given, 'choices': tuple(given.get('choices', ()))})


def _read() -> Element:
    # The loader in C takes a tenth of the time, where PyYAML has it.
    loader = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
    ((name, given),) = yaml.load(_FILE.read_text(encoding='utf-8'), loader).items()
    return _element(name, given)


FLEXDYN = _read()
