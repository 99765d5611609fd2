# SPDX-License-Identifier: Apache-2.0
"""
NumPy archives (`.npz`): headers are checked before any number is read, and nothing is unpickled.

An archive is a zip file of `.npy` members (numpy.lib.format). Whatever is wrong with it, a
ValueError names it, with a text that continues `file="path"`. While a file is read, memory stays
below twice `LARGEST` bytes: all arrays, as 64-bit numbers and as stored, stay below `LARGEST`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
import math
import os
from pathlib import Path
import struct
from typing import Any
from typing import Callable
from typing import IO
from typing import Iterator
import zipfile
import zlib

import numpy as np

# Bytes that all arrays of a file may take.
LARGEST = 2**28
# Magnitude beyond which a number is no quantity in SI units: products of three stay finite.
LARGEST_NUMBER = 1e100
# Bytes of a member's header; numpy writes 64 to 128.
_LARGEST_HEADER = 2**13
_MAGIC = b'\x93NUMPY'
# Numbers read at a time.
_PIECE = 2**16
# Methods that numpy writes; others are refused, as not every Python can read them.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Bytes of a zip file's list of members; one takes some 60.
_LARGEST_DIRECTORY = 2**16
_END = struct.Struct('<4s4H2LH')
# What zipfile and zlib raise on damaged files, and on unknown versions and methods.
DAMAGES = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, EOFError, OSError,
    RuntimeError, ValueError, OverflowError,
)


@dataclass(frozen=True)
class ArrayHeader:
    """
    What an archive states of one array.

    Attributes:
        member: Its member of the zip file.
        start: Where its numbers start in the member.
        shape: Its shape.
        dtype: Its type.
        fortran_order: Whether the first index runs fastest.
    """

    member: zipfile.ZipInfo
    start: int
    shape: tuple[int, ...]
    dtype: np.dtype
    fortran_order: bool

    @property
    def stored_bytes(self) -> int:
        """Bytes of its numbers in the file."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_archive(
    path: Path, check: Callable[[dict[str, tuple[int, ...]]], None]
) -> dict[str, np.ndarray]:
    """
    Return the arrays of an archive by name, as 64-bit floating-point numbers.

    Args:
        path: The file.
        check: Gets the arrays' shapes by name before their numbers are read; raises ValueError
            where it refuses them.

    Raises:
        ValueError: The file is no archive of finite real numbers, damaged or too large.
    """
    with _opened(path) as archive:
        headers = _headers(archive)
        check({name: header.shape for name, header in headers.items()})
        total = sum(max(h.stored_bytes, 8 * math.prod(h.shape)) for h in headers.values())
        if total > LARGEST:
            raise ValueError(f'holds {total} bytes of numbers; at most {LARGEST} are read')
        return {name: _numbers(archive, name, header) for name, header in headers.items()}


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    if not path.is_file():
        raise ValueError('is no NumPy .npz archive, but a pipe or device')
    try:
        file = open(path, 'rb')
    except OSError as error:
        raise ValueError(f'cannot be read: {error.strerror}') from None
    with file:
        try:
            _check_directory(file)
            archive = zipfile.ZipFile(file)
        except _NotAnArchive:
            raise
        except DAMAGES:
            raise ValueError('is no NumPy .npz archive') from None
        with archive:
            yield archive


class _NotAnArchive(ValueError):
    """The file is something else than an archive, or a larger one than is read."""


def _check_directory(file: IO[bytes]) -> None:
    """Refuse a file with a list of members that zipfile would need much memory for."""
    if file.read(len(_MAGIC)) == _MAGIC:
        raise _NotAnArchive('is a single array, not an .npz archive of named arrays')
    size = file.seek(0, os.SEEK_END)
    if size > LARGEST:
        raise _NotAnArchive(f'is larger than {LARGEST} bytes')
    file.seek(size - _END.size)
    mark, *_, directory, _, comment = _END.unpack(file.read(_END.size))
    file.seek(max(size - _END.size - 20, 0))
    long_form = file.read(4) == b'PK\x06\x07'
    if mark != b'PK\x05\x06' or comment or long_form or directory > _LARGEST_DIRECTORY:
        raise _NotAnArchive('is no NumPy .npz archive')
    file.seek(0)


def _headers(archive: zipfile.ZipFile) -> dict[str, ArrayHeader]:
    headers: dict[str, ArrayHeader] = {}
    for member in archive.infolist():
        name = member.filename.removesuffix('.npy')
        if name in headers:
            raise ValueError(f'holds {name} twice')
        if member.flag_bits & 1:
            raise ValueError(f'is encrypted: {name} cannot be read')
        if member.compress_type not in _METHODS:
            raise ValueError(f'holds {name} in a compression that NumPy does not write')
        with _member(archive, name, member) as stream:
            header = _header(name, member, stream)
        if header.start + header.stored_bytes != member.file_size:
            raise ValueError(
                f'is damaged: {name} has {member.file_size - header.start} bytes of numbers, and '
                f'its shape {header.shape} needs {header.stored_bytes}'
            )
        headers[name] = header
    return headers


@contextmanager
def _member(
    archive: zipfile.ZipFile, name: str, member: zipfile.ZipInfo
) -> Iterator[Callable[[int], bytes]]:
    """Open a member; its reader returns the bytes asked for, and no fewer."""
    def read(count: int) -> bytes:
        try:
            found = stream.read(count)
        except DAMAGES:
            raise ValueError(f'is damaged: {name} cannot be read') from None
        if len(found) < count:
            raise ValueError(f'is damaged: {name} ends too early')
        return found

    try:
        stream: IO[bytes] = archive.open(member)
    except DAMAGES:
        raise ValueError(f'is damaged: {name} cannot be read') from None
    with stream:
        yield read


def _header(
    name: str, member: zipfile.ZipInfo, read: Callable[[int], bytes]
) -> ArrayHeader:
    start = read(len(_MAGIC) + 2)
    version = tuple(start[len(_MAGIC):])
    if start[: len(_MAGIC)] != _MAGIC or version not in ((1, 0), (2, 0)):
        raise ValueError(f'holds {name}, which is no array of plain numbers')
    width = 2 if version == (1, 0) else 4
    prefix = read(width)
    length = int.from_bytes(prefix, 'little')
    if length > _LARGEST_HEADER:
        raise ValueError(f'is damaged: {name} has a header of {length} bytes')
    parse: Any = getattr(np.lib.format, f'read_array_header_{version[0]}_0')
    try:
        shape, fortran_order, dtype = parse(BytesIO(prefix + read(length)))
    except Exception:  # the header is a literal of Python, and numpy evaluates it
        raise ValueError(f'is damaged: {name} has no header that can be read') from None
    if dtype.hasobject:
        raise ValueError(f'holds {name} as pickled objects; only plain numbers are read')
    if dtype.kind not in 'iuf':
        raise ValueError(f'holds {name} as {dtype}, not as real numbers')
    if any(size < 0 for size in shape) or math.prod(shape) * max(dtype.itemsize, 8) > LARGEST:
        raise ValueError(
            f'holds {name} with shape {shape}; at most {LARGEST} bytes are read'
        )
    return ArrayHeader(
        member, len(start) + len(prefix) + length, tuple(shape), dtype, bool(fortran_order)
    )


def _numbers(archive: zipfile.ZipFile, name: str, header: ArrayHeader) -> np.ndarray:
    """Read an array, piece by piece, so that it is in memory once."""
    count = math.prod(header.shape)
    values = np.empty(count)
    with _member(archive, name, header.member) as read:
        read(header.start)
        for first in range(0, count, _PIECE):
            size = min(_PIECE, count - first)
            piece = np.frombuffer(read(size * header.dtype.itemsize), header.dtype)
            if not np.all(np.isfinite(piece)):
                raise ValueError(f'holds {name} with numbers that are not finite')
            largest = piece[np.argmax(np.abs(piece))]
            if abs(float(largest)) > LARGEST_NUMBER:
                raise ValueError(
                    f'holds {name} with {largest:g}, and quantities in SI units stay below '
                    f'{LARGEST_NUMBER:g}'
                )
            values[first : first + size] = piece
    order: Any = 'F' if header.fortran_order else 'C'
    return values.reshape(header.shape, order=order)
