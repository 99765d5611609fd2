# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions as XML: reading files and text, syntax errors, namespaces and xacro."""

from __future__ import annotations

from dataclasses import dataclass
import os
from pathlib import Path
from typing import Mapping
from typing import Optional
from typing import Union
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.parsers.expat import errors as expat_errors

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.xml.paths import resolve_file
from flexdyn_ros.model.xml.undeclared_prefix import declare_prefixes
from flexdyn_ros.model.xml.xacro_expansion import expand_xacro

Source = Union[str, bytes, 'os.PathLike[str]']

TEXT = '<text>'
_BYTE_ORDER_MARKS = (b'\xef\xbb\xbf', b'\xff\xfe', b'\xfe\xff')
_UNBOUND_PREFIX = expat_errors.codes[expat_errors.XML_ERROR_UNBOUND_PREFIX]


@dataclass(frozen=True)
class Document:
    """
    One parsed description.

    Attributes:
        root: Its root element, xacro expanded, in no namespace.
        source: Path as it was given, or "<text>".
        base_dir: Folder that relative paths in it start from, or None.
    """

    root: Element
    source: str
    base_dir: Optional[Path]


def read_document(
    source: Source,
    base_dir: Optional[Path],
    argument: str,
    xacro_arguments: Optional[Mapping[str, str]] = None,
) -> Document:
    """
    Read XML from text or from a file.

    Args:
        source: XML as str or bytes (recognised by its first "<"), or the path of a file.
        base_dir: Folder that relative paths in the description start from; default the file's
            own. The file itself is looked for in the current folder, then here.
        argument: Name of the caller's argument, for errors.
        xacro_arguments: Values of arguments of a xacro file, by name.

    Raises:
        ArgumentError: The source is neither XML nor an existing file, or not xacro and yet has
            arguments.
        ModelError: The XML is broken, or xacro is needed and fails.
        UnknownName: The xacro file has no argument of that name.
    """
    if not isinstance(source, (str, bytes, os.PathLike)):
        kind = type(source).__name__
        raise ArgumentError(argument, f'must be XML text or a path, not {kind}')
    path: Optional[Path] = None
    if isinstance(source, (str, bytes)) and _is_xml(source):
        text, name = source, TEXT
    else:
        path = _file_path(source, base_dir, argument)
        text, name = _read(path, argument), os.fsdecode(source)
        base_dir = path.resolve().parent if base_dir is None else base_dir
    root = parse_xml(text, name)
    if _needs_xacro(root, path):
        at = path if path is not None else (base_dir or Path()) / name
        expanded = expand_xacro(_trimmed(text), at, name, xacro_arguments or {})
        root = parse_xml(expanded, name)
    elif xacro_arguments:
        raise ArgumentError(
            'xacro_arguments', f'has values for {name}, which is no xacro file and takes none'
        )
    _drop_namespace(root)
    return Document(root, name, base_dir)


def local_name(element: Element) -> str:
    """Return the element's name without its namespace; '' for comments and the like."""
    tag = element.tag
    return tag.rpartition('}')[2] if isinstance(tag, str) else ''


def namespace(element: Element) -> str:
    """Return the address of the element's namespace, '' where it has none."""
    tag = element.tag
    return tag[1:].partition('}')[0] if isinstance(tag, str) and tag[:1] == '{' else ''


def parse_xml(text: Union[str, bytes], source: str) -> Element:
    """Parse XML; raise a ModelError with the line of a syntax error."""
    text = _trimmed(text)
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        place = f'line {line}, column {column + 1}'
        if error.code == _UNBOUND_PREFIX:
            declared = declare_prefixes(text)
            if declared is not None:
                return parse_xml(declared, source)
            raise ModelError(
                f'The XML has an unbound prefix at {place}',
                file=source,
                advice='Declare it on <robot> with xmlns:prefix="..."; <flexdyn> and what is '
                'inside it take no prefix',
            ) from None
        what = str(error).partition(': line')[0]
        raise ModelError(
            f'The XML is broken at {place}: {what}',
            file=source,
            advice='Correct the file there; an editor with XML support shows the spot',
        ) from None
    except (LookupError, ValueError) as error:
        raise ModelError(f'The XML cannot be decoded: {error}', file=source) from None


def _trimmed(text: Union[str, bytes]) -> Union[str, bytes]:
    """Return XML without white space before it, which a declaration of XML does not allow."""
    if isinstance(text, str):
        return text.lstrip('\ufeff \t\r\n')
    return text if text.startswith(_BYTE_ORDER_MARKS) else text.lstrip()


def _is_xml(source: Union[str, bytes]) -> bool:
    if isinstance(source, str):
        return source.lstrip('\ufeff \t\r\n').startswith('<')
    return source.startswith(_BYTE_ORDER_MARKS) or source.lstrip().startswith(b'<')


def _file_path(source: Source, base_dir: Optional[Path], argument: str) -> Path:
    address = os.fsdecode(source)
    if not address.strip():
        raise ArgumentError(argument, 'is empty; give XML text or the path of a file')
    try:
        return resolve_file(address, Path())
    except (ValueError, OSError) as error:
        if base_dir is not None and (base_dir / address).is_file():
            return base_dir / address
        shown = address if len(address) < 200 else address[:200] + '...'
        raise ArgumentError(argument, f'names a file, "{shown}", that {error}') from None


def _read(path: Path, argument: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ArgumentError(
            argument, f'names a file that cannot be read: {path}: {error.strerror}'
        ) from None


def _needs_xacro(root: Element, path: Optional[Path]) -> bool:
    if path is not None and path.suffix == '.xacro':
        return True
    return any(namespace(element).rstrip('/').endswith('xacro') for element in root.iter())


def _drop_namespace(root: Element) -> None:
    """Take all elements out of the root's own (default) namespace; others keep theirs."""
    own = namespace(root)
    if own:
        for element in root.iter():
            if namespace(element) == own:
                element.tag = local_name(element)
