# SPDX-License-Identifier: Apache-2.0
"""`load_robot`: from a URDF description with its flexdyn extension to a `Robot`."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
import os
from pathlib import Path
from typing import Mapping, Optional, Sequence, Union
from xml.etree.ElementTree import tostring

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.check import refuse_errors
from flexdyn_ros.model.extension.apply import apply_extension
from flexdyn_ros.model.extension.items import read_extension
from flexdyn_ros.model.records.robot import refuse_equal_names, Robot
from flexdyn_ros.model.urdf.document import Document, read_document, Source
from flexdyn_ros.model.urdf.reader import read_urdf
from flexdyn_ros.model.urdf.values import Place
from flexdyn_ros.model.urdf.xml_text import local_name


def load_robot(
    path_or_xml: Source,
    base_dir: Optional[Union[str, 'os.PathLike[str]']] = None,
    extension: Optional[Union[Source, Sequence[Source]]] = None,
    strict: bool = False,
    xacro_arguments: Optional[Mapping[str, Union[str, float]]] = None,
) -> Robot:
    """
    Read a robot from a URDF description and its flexdyn extension.

    Args:
        path_or_xml: URDF text (recognised by its first "<"), or the path of a file; xacro is
            expanded where the package xacro can be imported.
        base_dir: Folder that relative file names inside the descriptions start from; default
            the folder of the file that names them. Descriptions themselves are looked for in
            the current folder, then here.
        extension: More <flexdyn> data, as text or file with <flexdyn> or <robot> at its root,
            or several of those. They are merged with the URDF's.
        strict: Whether to refuse errors of `flexdyn check`: moving links without
            mass, and inertias that no rigid body can have.
        xacro_arguments: Values of the description's xacro arguments by name, as the xacro
            command takes them in words name:=value.

    Returns:
        The robot, in SI units.

    Raises:
        ArgumentError: An argument has the wrong type, or names no file.
        UnknownName: The xacro file has no argument of that name.
        ModelError: The description or its extension is wrong.
    """
    folder = _folder(base_dir)
    if not isinstance(strict, bool):
        raise ArgumentError('strict', f'must be True or False, not {strict!r}')
    given = _xacro_arguments(xacro_arguments)
    document = read_document(path_or_xml, folder, 'path_or_xml', given)
    robot = read_urdf(document)
    documents = [document, *(_extension(e, folder) for e in _extension_sources(extension))]
    robot = apply_extension(robot, read_extension(documents))
    texts = tuple(tostring(each.root, encoding='unicode') for each in documents)
    robot = replace(robot, descriptions=texts)
    refuse_equal_names(robot)
    if strict:
        refuse_errors(robot)
    return robot


def _folder(base_dir: Optional[Union[str, 'os.PathLike[str]']]) -> Optional[Path]:
    if base_dir is None:
        return None
    if not isinstance(base_dir, (str, os.PathLike)):
        kind = type(base_dir).__name__
        raise ArgumentError('base_dir', f'must be the path of a folder, not {kind}')
    folder = Path(base_dir)
    if not folder.is_dir():
        raise ArgumentError(
            'base_dir', f'names a folder that does not exist: "{folder}". Correct it')
    return folder


def _xacro_arguments(arguments: Optional[Mapping[str, Union[str, float]]]) -> dict[str, str]:
    """Return the values as text, as xacro requires."""
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        kind = type(arguments).__name__
        raise ArgumentError('xacro_arguments', f'must map names to values, not {kind}')
    for name, value in arguments.items():
        if not isinstance(name, str) or not isinstance(value, (str, Real)):
            raise ArgumentError(
                'xacro_arguments',
                f'has {name!r}: {value!r}, expected a name, and text, a number or a bool',
            )
    return {name: str(value) for name, value in arguments.items()}


def _extension_sources(
    extension: Optional[Union[Source, Sequence[Source]]],
) -> list[Source]:
    if extension is None:
        return []
    if isinstance(extension, (list, tuple)):
        return list(extension)
    return [extension]  # type: ignore[list-item]


def _extension(source: Source, folder: Optional[Path]) -> Document:
    document = read_document(source, folder, 'extension')
    root = document.root
    if local_name(root) == 'robot':
        if not any(local_name(element) == 'flexdyn' for element in root):
            raise Place(document.source, 'robot').error(
                'The extension has no <flexdyn> under <robot>', 'Write one, or omit the extension'
            )
    elif local_name(root) != 'flexdyn':
        raise Place(document.source, local_name(root)).error(
            f'The root element of the extension is <{local_name(root)}>',
            'It must be <flexdyn>, or <robot> with <flexdyn> in it',
        )
    return document
