# SPDX-License-Identifier: Apache-2.0
"""Files that this package writes: each is whole or not there, and an error names it."""

from __future__ import annotations

from contextlib import contextmanager, suppress
import json
import math
import os
from pathlib import Path
import secrets
import stat
from typing import Any, BinaryIO, Iterable, Iterator, Sequence, Union

from flexdyn_ros.errors import FileNotWritten


@contextmanager
def new_file(path: Union[str, os.PathLike[str]]) -> Iterator[BinaryIO]:
    """
    Open a binary file that takes its place once it is whole.

    It is written beside its place, flushed to the disk and renamed. Where that fails, by a full
    disk for instance, the former file stays, without a rest beside it. A pipe or a device is
    written as it is.

    Args:
        path: The file; one that exists is replaced, and keeps its permissions.

    Raises:
        FileNotWritten: The disk is full, the folder does not exist or cannot be written to.
    """
    try:
        place = os.path.realpath(Path(path))
    except (TypeError, ValueError) as error:  # no path, or with a null character
        raise FileNotWritten(str(path), str(error)) from error
    try:
        direct = os.path.exists(place) and not os.path.isfile(place)
        written = place if direct else _beside(place)
        try:
            with open(written, 'wb' if direct else 'xb') as file:
                yield file
                if not direct:
                    file.flush()
                    os.fsync(file.fileno())
            if not direct:
                _keep_permissions(place, written)
                os.replace(written, place)
        except BaseException:
            if not direct:
                with suppress(OSError):
                    os.unlink(written)
            raise
    except OSError as error:
        raise FileNotWritten(os.fspath(path), error.strerror or str(error)) from error


def new_folder(path: Union[str, os.PathLike[str]]) -> Path:
    """
    Return a folder, created with its parents where it is missing.

    Raises:
        FileNotWritten: It cannot be created, or a file is in its place.
    """
    try:
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, TypeError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        raise FileNotWritten(str(path), reason) from error
    return folder


def write_text(path: Union[str, os.PathLike[str]], text: str) -> Path:
    """Write a text file in UTF-8, as `new_file` does; return its path."""
    with new_file(path) as file:
        file.write(text.encode())
    return Path(path)


def json_text(value: Any) -> str:
    """Return a value as JSON; numbers that are not finite become null, as JSON has none."""
    return json.dumps(_finite(value), indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_table(
    path: Union[str, os.PathLike[str]], heads: Sequence[str], rows: Iterable[Sequence[float]]
) -> Path:
    """Write CSV, a line of heads and a line for each row of numbers; return its path."""
    lines = [','.join(heads), *(','.join(f'{x:.12g}' for x in row) for row in rows)]
    return write_text(path, '\n'.join(lines) + '\n')


def _beside(place: str) -> str:
    folder, name = os.path.split(place)
    return os.path.join(folder, f'.{name}.{secrets.token_hex(4)}.part')


def _keep_permissions(place: str, written: str) -> None:
    with suppress(FileNotFoundError):
        os.chmod(written, stat.S_IMODE(os.stat(place).st_mode))
