# SPDX-License-Identifier: Apache-2.0
"""
Generated sources kept on disk between processes.

They lie in $FLEXDYN_CACHE_DIR, or else in flexdyn_ros below $XDG_CACHE_HOME or ~/.cache. Since
they are executed, a folder or file that other users could have written is not used. A key holds
the model, the function and the version of the generator, so entries never become stale.
"""

from __future__ import annotations

from dataclasses import astuple
from dataclasses import replace
from functools import lru_cache
import hashlib
import logging
import os
from pathlib import Path
import stat
import tempfile
from typing import Optional

from flexdyn_ros.model.robot import Robot

FOLDER_VARIABLE = 'FLEXDYN_CACHE_DIR'
# Entries beyond this number are removed, the oldest first.
ENTRY_LIMIT = 1000
# What generated code depends on besides the model.
GENERATOR_FOLDERS = ('codegen', 'dynamics', 'model', 'symbolic')

_logger = logging.getLogger('flexdyn_ros.codegen')


def cache_folder() -> Path:
    """Return where sources are kept; it need not exist."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    base = os.environ.get('XDG_CACHE_HOME')
    return (Path(base) if base else Path.home() / '.cache') / 'flexdyn_ros'


@lru_cache(maxsize=1)
def generator_version() -> str:
    """Return a digest of everything that turns a model into source."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for folder in GENERATOR_FOLDERS:
        for path in sorted((package / folder).rglob('*.py')):
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def model_digest(robot: Robot) -> str:
    """Return a digest of all that a robot's equations depend on."""
    plain = replace(robot, notes=(), source='')
    return hashlib.sha256(repr(astuple(plain)).encode()).hexdigest()


def entry_name(*parts: str) -> str:
    """Return the file name of an entry from what it depends on."""
    return hashlib.sha256('\n'.join((generator_version(), *parts)).encode()).hexdigest() + '.py'


def read(name: str) -> Optional[str]:
    """Return the source of an entry, or None where there is none that can be trusted."""
    try:
        folder = _trusted_folder(create=False)
        if folder is None:
            return None
        with open(folder / name, encoding='utf-8') as file:
            return file.read() if _is_ours(os.fstat(file.fileno())) else None
    except (OSError, RuntimeError, UnicodeDecodeError):
        return None


def write(name: str, source: str) -> None:
    """Keep a source, in one step; where that is impossible, it is generated anew next time."""
    try:
        folder = _trusted_folder(create=True)
        if folder is None:
            return
        handle, temporary = tempfile.mkstemp(dir=folder, suffix='.tmp')
        try:
            with os.fdopen(handle, 'w', encoding='utf-8') as file:
                file.write(source)
            os.replace(temporary, folder / name)
            _prune(folder)
        except BaseException:
            os.unlink(temporary)
            raise
    except (OSError, RuntimeError) as error:
        _logger.debug('generated source is not kept: %s', error)


def _prune(folder: Path) -> None:
    """Remove the oldest entries beyond ENTRY_LIMIT: those of other versions and models."""
    entries = list(folder.glob('*.py'))
    if len(entries) > ENTRY_LIMIT:
        entries.sort(key=lambda path: path.stat().st_mtime)
        for path in entries[: len(entries) - ENTRY_LIMIT]:
            path.unlink(missing_ok=True)


def _trusted_folder(create: bool) -> Optional[Path]:
    folder = cache_folder()
    if create:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        state = os.stat(folder)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(state.st_mode) and _is_ours(state):
        return folder
    _warn(str(folder))
    return None


def _is_ours(state: os.stat_result) -> bool:
    """Whether nobody else could have written it."""
    if not hasattr(os, 'getuid'):
        return True
    return state.st_uid == os.getuid() and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@lru_cache(maxsize=None)
def _warn(folder: str) -> None:
    _logger.warning(
        'Cache folder %s belongs to or can be written by other users, so it is not used and code '
        'is generated anew. Run chmod 700 on it, or set %s to a folder of your own.',
        folder, FOLDER_VARIABLE,
    )
