# SPDX-License-Identifier: Apache-2.0
"""The public contract is typed: no parameter or result is a bare `Any`."""

import inspect
import re

import flexdyn_ros as fd
import pytest

CALLABLES = sorted(name for name in fd.__all__ if callable(getattr(fd, name)))


def signatures(value):
    """Yield (name, signature) of a function, or of the public methods of a class."""
    if inspect.isfunction(value):
        yield value.__name__, inspect.signature(value)
        return
    for name, member in inspect.getmembers(value, inspect.isfunction):
        ours = (member.__module__ or '').startswith('flexdyn_ros')
        if ours and (name == '__init__' or not name.startswith('_')):
            yield f'{value.__name__}.{name}', inspect.signature(member)


@pytest.mark.parametrize('name', CALLABLES)
def test_no_annotation_is_missing_or_any(name):
    """Arrays are array-likes where they are given, and numpy arrays where they are returned."""
    wrong = []
    for place, signature in signatures(getattr(fd, name)):
        given = {
            parameter.name: parameter.annotation
            for parameter in signature.parameters.values() if parameter.name != 'self'
        }
        if not place.endswith('.__init__'):
            given['return'] = signature.return_annotation
        for argument, annotation in given.items():
            text = str(annotation)
            if annotation is inspect.Signature.empty or re.search(r'\bAny\b', text):
                wrong.append(f'{place}({argument}): {text}')
    assert not wrong
