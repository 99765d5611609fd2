# SPDX-License-Identifier: Apache-2.0
"""
Sources, instructions, machine code and compiled libraries kept on disk between processes.

They lie in $FLEXDYN_CACHE_DIR, or else in flexdyn_ros below $XDG_CACHE_HOME or ~/.cache. Since
they are executed, a folder or file that other users could have written is not used. A key holds
the model, the function and the version of the generator (for libraries the compiler, its flags
and the processor too), so entries never become stale. An entry ends with a digest of itself: one
that was cut off or damaged counts as none. It is written under another name and then renamed, so
that processes side by side see it whole or not at all.
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

from flexdyn_ros.model.records.robot import Robot

FOLDER_VARIABLE = 'FLEXDYN_CACHE_DIR'
SOURCE = '.py'
LIBRARY = '.so'
INSTRUCTIONS = '.instructions'
MACHINE_CODE = '.code'
KINDS = (SOURCE, LIBRARY, INSTRUCTIONS, MACHINE_CODE)
# Entries beyond this number are removed, the oldest first.
ENTRY_LIMIT = 1000
# What generated code depends on besides the model.
GENERATOR_FOLDERS = ('codegen', 'dynamics', 'model', 'symbolic')
GENERATOR_FILES = ('*.py', '*.c', '*.h')
# Before the digest at an entry's end; a comment in Python, and ignored after a library.
MARK = b'\n# flexdyn_ros sha256 '

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
    package = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for folder in GENERATOR_FOLDERS:
        files = (path for kind in GENERATOR_FILES for path in (package / folder).rglob(kind))
        for path in sorted(files):
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def model_digest(robot: Robot) -> str:
    """Return a digest of all that a robot's equations depend on."""
    plain = replace(robot, notes=(), source='')
    return hashlib.sha256(repr(astuple(plain)).encode()).hexdigest()


def entry_name(*parts: str, suffix: str = SOURCE) -> str:
    """Return the file name of an entry from what it depends on."""
    return hashlib.sha256('\n'.join((generator_version(), *parts)).encode()).hexdigest() + suffix


def read(name: str) -> Optional[str]:
    """Return the source of an entry, or None where there is none that can be trusted."""
    try:
        found = read_bytes(name)
        return None if found is None else found.decode()
    except UnicodeDecodeError:
        return None


def read_bytes(name: str) -> Optional[bytes]:
    """Return what an entry holds, or None where there is none that can be trusted."""
    try:
        folder = _trusted_folder(create=False)
        if folder is None:
            return None
        with open(folder / name, 'rb') as file:
            if not _is_ours(os.fstat(file.fileno())):
                return None
            content, mark, digest = file.read().rpartition(MARK)
        whole = mark and hashlib.sha256(content).hexdigest().encode() == digest.strip()
        return content if whole else None
    except (OSError, RuntimeError):
        return None


def path_of(name: str) -> Optional[Path]:
    """Return the file of an entry that can be trusted and is whole, or None."""
    return cache_folder() / name if read_bytes(name) is not None else None


def write(name: str, source: str) -> None:
    """Keep a source, in one step; where that is impossible, it is generated anew next time."""
    write_bytes(name, source.encode())


def write_bytes(name: str, content: bytes) -> bool:
    """Keep an entry, in one step; return whether that was possible."""
    try:
        folder = _trusted_folder(create=True)
        if folder is None:
            return False
        handle, temporary = tempfile.mkstemp(dir=folder, suffix='.tmp')
        try:
            with os.fdopen(handle, 'wb') as file:
                file.write(content + MARK + hashlib.sha256(content).hexdigest().encode() + b'\n')
            os.replace(temporary, folder / name)
        except BaseException:
            os.unlink(temporary)
            raise
    except (OSError, RuntimeError) as error:
        _logger.debug('generated code is not kept: %s', error)
        return False
    _prune(folder)
    return True


def _prune(folder: Path) -> None:
    """Remove the oldest entries beyond ENTRY_LIMIT: those of other versions and models."""
    try:
        entries = [path for path in folder.iterdir() if path.suffix in KINDS]
        if len(entries) > ENTRY_LIMIT:
            ages = {path: path.stat().st_mtime for path in entries}
            entries.sort(key=ages.__getitem__)
            for path in entries[: len(entries) - ENTRY_LIMIT]:
                path.unlink(missing_ok=True)
    except OSError as error:  # another process removes entries too
        _logger.debug('old entries stay: %s', error)


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
