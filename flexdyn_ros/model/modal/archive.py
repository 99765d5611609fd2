# SPDX-License-Identifier: Apache-2.0
"""
NumPy archives (`.npz`): headers are checked before numbers are read, without unpickling.

An archive is a zip file of `.npy` members (numpy.lib.format). A ValueError names any fault of it,
with a text that continues `file="path"`. While a file is read, memory stays below twice the
largest size allowed. All arrays take so much at most, as 64-bit numbers and as they are stored. No
array is in memory twice.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
import math
import os
from pathlib import Path
import struct
from typing import Any, Callable, IO, Iterator
import zipfile
import zlib

import numpy as np

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
# Errors of zipfile and zlib on damaged files, and on unknown versions and methods.
DAMAGES = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, EOFError, OSError,
    RuntimeError, ValueError, OverflowError,
)


@dataclass(frozen=True)
class ArrayHeader:
    """
    Header of one array in an archive.

    Attributes:
        member: Its member of the zip file.
        start: Start of its numbers in the member.
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
    path: Path,
    check: Callable[[dict[str, tuple[int, ...]]], None],
    largest: int,
    text: bool = False,
) -> dict[str, np.ndarray]:
    """
    Return the arrays of an archive by name, numbers as 64-bit floating-point numbers.

    Args:
        path: The file.
        check: Gets the arrays' shapes by name before their numbers are read; raises ValueError
            where it refuses them.
        largest: Bytes that the file, and all arrays together, may take.
        text: Whether arrays of text are read too.

    Raises:
        ValueError: The file is no archive of real numbers, damaged or too large.
    """
    with _opened(path, largest) as archive:
        headers = _headers(archive, 'iufU' if text else 'iuf')
        check({name: header.shape for name, header in headers.items()})
        total = sum(max(h.stored_bytes, 8 * math.prod(h.shape)) for h in headers.values())
        if total > largest:
            raise ValueError(f'holds {total} bytes of data; at most {largest} are read')
        return {name: _array(archive, name, header) for name, header in headers.items()}


@contextmanager
def _opened(path: Path, largest: int) -> Iterator[zipfile.ZipFile]:
    if path.exists() and not path.is_file():
        raise ValueError('is not a NumPy .npz archive, but a pipe or device')
    try:
        file = open(path, 'rb')
    except OSError as error:
        raise ValueError(f'cannot be read: {error.strerror}') from None
    with file:
        try:
            _check_directory(file, largest)
            archive = zipfile.ZipFile(file)
        except _NotAnArchive:
            raise
        except DAMAGES:
            raise ValueError('is no NumPy .npz archive') from None
        with archive:
            yield archive


class _NotAnArchive(ValueError):
    """The file is something else than an archive, or a larger one than is read."""


def _check_directory(file: IO[bytes], largest: int) -> None:
    """Refuse a file with a list of members that zipfile would need much memory for."""
    if file.read(len(_MAGIC)) == _MAGIC:
        raise _NotAnArchive('is a single array, not an .npz archive of named arrays')
    size = file.seek(0, os.SEEK_END)
    if size > largest:
        raise _NotAnArchive(f'is larger than {largest} bytes')
    file.seek(size - _END.size)
    mark, *_, directory, _, comment = _END.unpack(file.read(_END.size))
    file.seek(max(size - _END.size - 20, 0))
    long_form = file.read(4) == b'PK\x06\x07'
    if mark != b'PK\x05\x06' or comment or long_form or directory > _LARGEST_DIRECTORY:
        raise _NotAnArchive('is no NumPy .npz archive')
    file.seek(0)


def _headers(archive: zipfile.ZipFile, kinds: str) -> dict[str, ArrayHeader]:
    headers: dict[str, ArrayHeader] = {}
    for member in archive.infolist():
        name = member.filename.removesuffix('.npy')
        if name in headers:
            raise ValueError(f'holds {name} twice')
        if member.flag_bits & 1:
            raise ValueError(f'is encrypted: {name} cannot be read')
        if member.compress_type not in _METHODS:
            raise ValueError(f'holds {name} in a compression that NumPy never writes')
        with _member(archive, name, member) as stream:
            header = _header(name, member, stream, kinds)
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
    """Open a member; its reader returns the requested number of bytes, and no fewer."""
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
    name: str, member: zipfile.ZipInfo, read: Callable[[int], bytes], kinds: str
) -> ArrayHeader:
    start = read(len(_MAGIC) + 2)
    version = tuple(start[len(_MAGIC):])
    if start[: len(_MAGIC)] != _MAGIC or version not in ((1, 0), (2, 0)):
        raise ValueError(f'holds {name}, which is not an array of plain numbers')
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
    if dtype.kind not in kinds:
        raise ValueError(f'holds {name} as {dtype}, not as real numbers')
    if any(size < 0 for size in shape):
        raise ValueError(f'holds {name} with shape {shape}')
    return ArrayHeader(
        member, len(start) + len(prefix) + length, tuple(shape), dtype, bool(fortran_order)
    )


def _array(archive: zipfile.ZipFile, name: str, header: ArrayHeader) -> np.ndarray:
    """Read an array, numbers piece by piece, so that it is in memory once."""
    order: Any = 'F' if header.fortran_order else 'C'
    count = math.prod(header.shape)
    with _member(archive, name, header.member) as read:
        read(header.start)
        if header.dtype.kind == 'U':
            words = np.frombuffer(read(header.stored_bytes), header.dtype)
            return words.reshape(header.shape, order=order)
        values = np.empty(count)
        for first in range(0, count, _PIECE):
            size = min(_PIECE, count - first)
            piece = np.frombuffer(read(size * header.dtype.itemsize), header.dtype)
            with np.errstate(over='ignore'):  # of a wider type; infinite then
                values[first : first + size] = piece
    return values.reshape(header.shape, order=order)
