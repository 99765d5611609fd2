# SPDX-License-Identifier: Apache-2.0
"""Shared libraries of generated code: from the cache, or built and kept there."""

from __future__ import annotations

import atexit
from dataclasses import dataclass
from pathlib import Path
import shutil
import tempfile
from threading import RLock
from typing import Callable
from typing import Optional
from typing import TypeVar

from flexdyn_ros.codegen.native import source_cache
from flexdyn_ros.codegen.native.compiler import CompilationFailed

# Before the note at the end of a library, where the loader does not look.
_NOTE = b'\n# note '
Loaded = TypeVar('Loaded')
_lock = RLock()


@dataclass(frozen=True)
class Built:
    """
    A library.

    Attributes:
        content: The bytes of its file.
        note: What its user has to know of it, one line.
    """

    content: bytes
    note: str = ''


def load_library(
    name: str, build: Callable[[], Built], load: Callable[[Path, str], Loaded]
) -> Loaded:
    """
    Return what `load` makes of a library, built first where the cache does not have it.

    Where the cache cannot be used, or the loader does not accept files there (as on a file
    system mounted noexec), the library goes to a private temporary folder.

    Args:
        name: Its entry in the cache.
        build: Builds it.
        load: From its path and note; an OSError or ImportError means that it cannot be loaded.

    Raises:
        CompilationFailed: If it cannot be built or loaded.
    """
    with _lock:
        found = _kept(name)
        if found is not None:
            try:
                return load(*found)
            except (OSError, ImportError):
                pass  # made anew below
        built = build()
        source_cache.write_bytes(name, built.content + _NOTE + built.note.encode())
        reason: Optional[Exception] = None
        for place in (lambda: _kept(name), lambda: (_private(name, built), built.note)):
            found = place()
            if found is None:
                continue
            try:
                return load(*found)
            except (OSError, ImportError) as error:
                reason = error
        raise CompilationFailed(['load', str(found[0])], str(reason)) from reason


def is_kept(name: str) -> bool:
    """Return whether the cache has a library that can be trusted."""
    return source_cache.read_bytes(name) is not None


def _kept(name: str) -> Optional[tuple[Path, str]]:
    content = source_cache.read_bytes(name)
    if content is None:
        return None
    return source_cache.cache_folder() / name, content.rpartition(_NOTE)[2].decode()


def _private(name: str, built: Built) -> Path:
    """Return the path of a copy that lasts as long as this process."""
    folder = Path(tempfile.mkdtemp(prefix='flexdyn_'))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / name
    path.write_bytes(built.content)
    return path
