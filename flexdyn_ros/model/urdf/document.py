# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions: from text, a path or an address to XML with its xacro expanded."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
import os
from pathlib import Path
from types import MappingProxyType
from typing import Any, Iterator, Mapping, Optional, Union
from urllib.parse import unquote, urlsplit
from xml.dom import minidom
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from flexdyn_ros.errors import ArgumentError, FlexdynError, ModelError, require_known
from flexdyn_ros.model.urdf.xml_text import (
    BYTE_ORDER_MARKS,
    declare_prefixes,
    local_name,
    namespace,
    parse_xml,
    trimmed,
)
from flexdyn_ros.shared_files import PACKAGE, shared_folder

Source = Union[str, bytes, 'os.PathLike[str]']
TEXT = '<text>'
# Variables that list folders with packages: ROS 1 sources, and the prefixes of an ament install.
_SOURCE_PATH = 'ROS_PACKAGE_PATH'
_PREFIX_PATH = 'AMENT_PREFIX_PATH'


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
        expanded = expand_xacro(trimmed(text), at, name, xacro_arguments or {})
        root = parse_xml(expanded, name)
    elif xacro_arguments:
        raise ArgumentError(
            'xacro_arguments', f'has values for {name}, which is not a xacro file. Remove them'
        )
    _drop_namespace(root)
    return Document(root, name, base_dir)


def _is_xml(source: Union[str, bytes]) -> bool:
    if isinstance(source, str):
        return source.lstrip('\ufeff \t\r\n').startswith('<')
    return source.startswith(BYTE_ORDER_MARKS) or source.lstrip().startswith(b'<')


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
        raise ArgumentError(
            argument, f'names a file, "{shown}", that {error}. Correct the path') from None


def _read(path: Path, argument: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ArgumentError(
            argument, f'names a file that cannot be read: {path}: {error.strerror}. Check its '
            'permissions'
        ) from None


def _needs_xacro(root: Element, path: Optional[Path]) -> bool:
    if path is not None and path.suffix == '.xacro':
        return True
    return any(namespace(element).rstrip('/').endswith('xacro') for element in root.iter())


def _drop_namespace(root: Element) -> None:
    """Take all elements out of the root's own (default) namespace; others keep theirs."""
    default = namespace(root)
    if default:
        for element in root.iter():
            if namespace(element) == default:
                element.tag = local_name(element)


def expand_xacro(
    text: Union[str, bytes], at: Path, source: str, arguments: Mapping[str, str]
) -> bytes:
    """
    Run xacro on a description.

    Args:
        text: The description; its undeclared prefixes, not those of included files, are declared.
        at: The file that it is, or would be, in; included files are looked for from there.
        source: Its name in errors.
        arguments: Values of its arguments by name.

    Raises:
        ModelError: xacro is not installed, or fails.
        UnknownName: An argument is given that the expansion never reads.
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
        _start_xacro_at(xacro, at)
        document = minidom.parseString(declare_prefixes(text) or text)
        with _packages_around(at.parent):
            xacro.process_doc(document, mappings=mappings)
    except Exception as error:  # xacro evaluates Python, so anything may come out of it
        missing = getattr(error, 'exc', error)
        if isinstance(missing, _PackageMissing):
            raise ModelError(
                f'xacro finds no package "{missing}"', file=source,
                advice=f'Name the folder that holds it in {_SOURCE_PATH}') from None
        what = ' '.join(str(error).split()) or type(error).__name__
        raise ModelError(
            f'xacro could not expand the description: {what}',
            file=source,
            advice='Give it by xacro_arguments, or on the command line as name:=value'
            if 'Undefined substitution argument' in what else None,
        ) from error
    require_known('xacro argument', arguments, sorted(mappings.asked))
    expanded: bytes = document.toxml(encoding='utf-8')
    return expanded


class _Arguments(dict[str, str]):
    """
    Arguments of xacro that record the names that xacro looked for.

    xacro looks up every argument that a file declares or uses, and reports no others.

    Attributes:
        asked: The names looked up, whether they were there or not.
    """

    def __init__(self, values: Mapping[str, str]):
        super().__init__(values)
        self.asked: set[str] = set()

    def __contains__(self, name: object) -> bool:
        """Return whether the argument is given; called where a file declares it."""
        self.asked.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        """Return the argument's value."""
        self.asked.add(name)
        return super().__getitem__(name)


class _PackageMissing(Exception):
    """$(find NAME) of xacro finds no package; the text is its name."""


def _start_xacro_at(xacro: Any, file: Path) -> None:
    """Set the file name of the text in xacro; the function's name differs between its versions."""
    if hasattr(xacro, 'init_stacks'):
        xacro.init_stacks(str(file))
    else:
        xacro.restore_filestack([str(file)])


@contextmanager
def _packages_around(start: Path) -> Iterator[None]:
    """Let $(find NAME) of xacro search as `find_package`; xacro searches the ament index alone."""
    from xacro import substitution_args

    def find(package: str) -> str:
        folder = find_package(package, start)
        if folder is None:
            raise _PackageMissing(package)
        return str(folder)

    words = getattr(substitution_args, '_eval_dict', {})
    before, word = substitution_args._eval_find, words.get('find', substitution_args._eval_find)
    substitution_args._eval_find = words['find'] = find
    try:
        yield
    finally:
        substitution_args._eval_find, words['find'] = before, word


def find_package(package: str, start: Optional[Path] = None) -> Optional[Path]:
    """
    Return the share folder of a ROS package, or None where it is not found.

    The ament index comes first, where it can be imported. The folders of AMENT_PREFIX_PATH and
    ROS_PACKAGE_PATH follow, then those around a start. This package finds its own files without
    any of them.

    Args:
        package: Name of the package.
        start: Folder of a file, which may lie in the sources of the package itself.
    """
    if package == PACKAGE:
        try:
            return shared_folder()
        except FlexdynError:
            return None
    try:
        from ament_index_python.packages import get_package_share_directory

        return Path(get_package_share_directory(package))
    except (ImportError, LookupError, ValueError, OSError):
        pass
    for prefix in _folders(_PREFIX_PATH):
        if (prefix / 'share' / package / 'package.xml').is_file():
            return prefix / 'share' / package
    for folder in _folders(_SOURCE_PATH):
        for candidate in (folder / package, folder):
            if candidate.name == package and (candidate / 'package.xml').is_file():
                return candidate
    around = [] if start is None else [start.resolve(), *start.resolve().parents]
    return next((folder for folder in around if _package_name(folder) == package), None)


def _package_name(folder: Path) -> Optional[str]:
    """Return the name in the package.xml of a folder, or None where there is none."""
    try:
        return (ElementTree.parse(folder / 'package.xml').findtext('name') or '').strip()
    except (OSError, ElementTree.ParseError):
        return None


def _folders(variable: str) -> list[Path]:
    return [Path(p) for p in os.environ.get(variable, '').split(os.pathsep) if p]


def resolve_file(
    address: str, base_dir: Optional[Path], packages: Mapping[str, Path] = MappingProxyType({})
) -> Path:
    """
    Return the path of the file that an address in a description names.

    Args:
        address: A path, "file:///path" or "package://package/path".
        base_dir: Folder that relative paths start from; None where there is none.
        packages: Folders of packages by name, before those that ROS finds.

    Raises:
        ValueError: The package or file is missing; the text continues `file="address"`.
    """
    path = _path_of(address, base_dir, packages)
    looked = '' if str(path) == address else f' (looked at {path})'
    if not path.exists():
        raise ValueError(f'does not exist{looked}')
    # A shell's <(command) is a pipe.
    if not (path.is_file() or path.is_fifo()):
        raise ValueError(f'is not a file{looked}')
    return path


def _path_of(address: str, base_dir: Optional[Path], packages: Mapping[str, Path]) -> Path:
    scheme, separator, rest = address.partition('://')
    if not address.strip():
        raise ValueError('is empty where a file belongs')
    if not separator:
        path = Path(address).expanduser()
        if path.is_absolute():
            return path
        if base_dir is None:
            raise ValueError(
                'is relative, and the description is text; write package://, or pass base_dir')
        return base_dir / path
    if scheme == 'file':
        return Path(unquote(urlsplit(address).path))
    if scheme == 'package':
        package, _, inside = rest.partition('/')
        folder = packages.get(package) or find_package(package, base_dir)
        if folder is None:
            raise ValueError(
                f'names package "{package}", which is neither in the ament index nor in '
                f'{_SOURCE_PATH}'
            )
        return folder / inside
    raise ValueError(f'has the unknown scheme "{scheme}://"; supported are package:// and file://')
