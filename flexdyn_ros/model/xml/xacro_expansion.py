# SPDX-License-Identifier: Apache-2.0
"""Expansion of xacro, with arguments, of which none may go unheard."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from typing import Mapping
from typing import Union
from xml.dom import minidom

from flexdyn_ros.errors import ModelError
from flexdyn_ros.errors import UnknownName
from flexdyn_ros.model.xml.undeclared_prefix import declare_prefixes


def expand_xacro(
    text: Union[str, bytes], at: Path, source: str, arguments: Mapping[str, str]
) -> bytes:
    """
    Run xacro on a description.

    Args:
        text: The description; undeclared prefixes of it, not of what it includes, are declared.
        at: The file that it is, or would be, in; what it includes is looked for from there.
        source: Its name in errors.
        arguments: Values of its arguments by name.

    Raises:
        ModelError: xacro is not installed, or fails.
        UnknownName: An argument is given that the expansion never asks for.
    """
    try:
        import xacro
    except ImportError:
        raise ModelError(
            'The description uses xacro, and the Python package "xacro" is not installed',
            file=source,
            advice='Install it (ROS package "xacro", or pip install xacro), or expand the file '
            'yourself with the xacro command',
        ) from None
    mappings = _Arguments(arguments)
    try:
        _start_xacro_at(xacro, str(at))
        document = minidom.parseString(declare_prefixes(text) or text)
        xacro.process_doc(document, mappings=mappings)
    except Exception as error:  # xacro evaluates Python, so anything may come out of it
        what = ' '.join(str(error).split()) or type(error).__name__
        raise ModelError(
            f'xacro could not expand the description: {what}',
            file=source,
            advice='Give it by xacro_arguments, or on the command line as name:=value'
            if 'Undefined substitution argument' in what else None,
        ) from error
    for name in arguments:
        if name not in mappings.asked:
            raise UnknownName('xacro argument', name, sorted(mappings.asked))
    expanded: bytes = document.toxml(encoding='utf-8')
    return expanded


class _Arguments(dict[str, str]):
    """
    Arguments of xacro that remember which of them xacro looked for.

    xacro looks up every argument that a file declares or uses, and tells nobody of the others.

    Attributes:
        asked: The names looked up, whether they were there or not.
    """

    def __init__(self, values: Mapping[str, str]):
        super().__init__(values)
        self.asked: set[str] = set()

    def __contains__(self, name: object) -> bool:
        """Tell whether the argument is given; used where a file declares it."""
        self.asked.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        """Return the argument's value."""
        self.asked.add(name)
        return super().__getitem__(name)


def _start_xacro_at(xacro: Any, file: str) -> None:
    """Tell xacro where the text lies; the function's name differs between its versions."""
    if hasattr(xacro, 'init_stacks'):
        xacro.init_stacks(file)
    else:
        xacro.restore_filestack([file])
