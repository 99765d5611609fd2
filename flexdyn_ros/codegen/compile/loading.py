# SPDX-License-Identifier: Apache-2.0
"""Shared libraries of generated code: from the cache, or built and kept there."""

from __future__ import annotations

import os
from pathlib import Path
import shutil
from typing import Any, Callable, Optional

from flexdyn_ros.codegen.compile import cache
from flexdyn_ros.codegen.compile.compiler import CompilationFailed


def load_library(
    entry: str, build: Callable[[], bytes], load: Callable[[Path], Any]
) -> Any:
    """
    Return what `load` makes of a library, built first where the cache does not have it.

    Where the cache cannot be used, or the loader does not accept files there (as on a file
    system mounted noexec), the library is loaded from a private folder, which is then removed.

    Args:
        entry: Its name in the cache.
        build: Returns its content.
        load: From its path; an OSError or ImportError means that it cannot be loaded.

    Raises:
        CompilationFailed: If it cannot be built or loaded.
    """
    found = _loaded_from_cache(entry, load)
    if found is not None:
        return found
    content = build()
    if cache.write(entry, content):
        found = _loaded_from_cache(entry, load)
        if found is not None:
            return found
    folder = cache.temporary_folder()
    try:
        path = folder / entry
        path.write_bytes(content)
        return load(path)
    except (OSError, ImportError) as error:
        raise CompilationFailed(['load', str(folder / entry)], str(error)) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _loaded_from_cache(entry: str, load: Callable[[Path], Any]) -> Optional[Any]:
    """Return a library of the cache, or None; the file that was checked is the one loaded."""
    path = cache.path_of(entry)
    if path is None:
        return None
    try:
        before = os.stat(path)
        found = load(path)
        after = os.stat(path)
    except (OSError, ImportError):
        return None
    same = (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    return found if same else None
