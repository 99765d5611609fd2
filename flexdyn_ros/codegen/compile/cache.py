# SPDX-License-Identifier: Apache-2.0
"""
Generated sources and compiled libraries kept on disk between processes.

They lie in $FLEXDYN_CACHE_DIR, or else in flexdyn_ros below $XDG_CACHE_HOME or ~/.cache. Since
they are executed, neither a file nor a folder on the way to it that other users could have
written is used. A key holds the model, the function and the version of the generator. For
libraries it holds the compiler, its flags and the processor too: entries are never stale. An entry
ends with a digest of itself: one that was cut off or damaged counts as none. It is written under
another name and then renamed, so that processes side by side see it whole or not at all.
"""

from __future__ import annotations

from dataclasses import astuple, replace
from functools import lru_cache
import hashlib
import logging
import os
from pathlib import Path
import shutil
import stat
import tempfile
import time
from typing import Optional

from flexdyn_ros.model.records.robot import Robot

FOLDER_VARIABLE = 'FLEXDYN_CACHE_DIR'
SOURCE = '.py'
LIBRARY = '.so'
KINDS = (SOURCE, LIBRARY)
# An entry while it is written, and the age at which its process has ended [s].
UNFINISHED, STALE = '.tmp', 3600.0
# Entries beyond this number are removed, the oldest first.
ENTRY_LIMIT = 1000
# Dependencies of generated code besides the model.
GENERATOR_FOLDERS = ('closed_chains', 'codegen', 'dynamics', 'model', 'symbolic')
GENERATOR_FILES = ('*.py', '*.c', '*.h')
# Before the digest at an entry's end; a comment in Python, and ignored after a library.
MARK = b'\n# flexdyn_ros sha256 '
# Names of folders in which a compiler works, followed by the number of the process.
BUILD_PREFIX = 'flexdyn_build_'

_logger = logging.getLogger('flexdyn_ros.codegen')


def cache_folder() -> Path:
    """Return the folder of entries; it need not exist."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named).absolute()
    base = os.environ.get('XDG_CACHE_HOME')
    return ((Path(base) if base else Path.home() / '.cache') / 'flexdyn_ros').absolute()


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
    plain = replace(robot, notes=(), source='', descriptions=())
    return hashlib.sha256(repr(astuple(plain)).encode()).hexdigest()


def entry_name(*parts: str, suffix: str = SOURCE) -> str:
    """Return the file name of an entry from the texts that it depends on."""
    return hashlib.sha256('\n'.join((generator_version(), *parts)).encode()).hexdigest() + suffix


def read(name: str) -> Optional[bytes]:
    """Return the content of an entry, or None where none is safe and whole."""
    found = _entry(name)
    return None if found is None else found[1]


def _entry(name: str) -> Optional[tuple[Path, bytes]]:
    """Return the file of a safe entry, with all links followed, and its content."""
    try:
        folder = _trusted_folder(create=False)
        content = None if folder is None else _read_file(folder / name)
    except (OSError, RuntimeError):
        return None
    return None if folder is None or content is None else (folder / name, content)


def _read_file(path: Path) -> Optional[bytes]:
    # Without waiting for the other end of a FIFO.
    handle = os.open(path, os.O_RDONLY | getattr(os, 'O_NONBLOCK', 0))
    with os.fdopen(handle, 'rb') as file:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode) or not _is_ours(state):
            return None
        content, mark, digest = file.read().rpartition(MARK)
    whole = mark and hashlib.sha256(content).hexdigest().encode() == digest.strip()
    return content if whole else None


def path_of(name: str) -> Optional[Path]:
    """Return the file of an entry that is safe and whole, or None."""
    found = _entry(name)
    return None if found is None else found[0]


def write(name: str, content: bytes) -> bool:
    """Keep an entry, in one step; return whether that was possible."""
    try:
        folder = _trusted_folder(create=True)
        if folder is None:
            return False
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=UNFINISHED)
        try:
            with os.fdopen(handle, 'wb') as file:
                file.write(content + MARK + hashlib.sha256(content).hexdigest().encode() + b'\n')
            os.replace(temporary, folder / name)
        except BaseException:
            os.unlink(temporary)
            raise
    except (OSError, RuntimeError) as error:
        _logger.debug('Generated code is not kept: %s', error)
        return False
    _prune(folder)
    return True


def build_folder() -> Path:
    """
    Return a new private folder for a compiler, and remove those of processes that ended.

    It lies in the cache, or in the system's folder for temporary files where that takes none.
    """
    try:
        parent = _trusted_folder(create=True)
        if parent is not None:
            return _private_folder(parent)
    except (OSError, RuntimeError) as error:
        _logger.debug('Code is not built in the cache: %s', error)
    return temporary_folder()


def temporary_folder() -> Path:
    """Return a new private folder outside the cache, and remove those of processes that ended."""
    return _private_folder(Path(tempfile.gettempdir()))


def _private_folder(place: Path) -> Path:
    for left in place.glob(f'{BUILD_PREFIX}*'):
        if not _is_at_work(left):
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f'{BUILD_PREFIX}{os.getpid()}_', dir=place))


def _is_at_work(folder: Path) -> bool:
    """Return whether the process that made a build folder runs, or it is another user's."""
    try:
        if not _is_ours(folder.stat()):
            return True
        os.kill(int(folder.name[len(BUILD_PREFIX):].partition('_')[0]), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError):
        return True
    return True


def _prune(folder: Path) -> None:
    """Remove the oldest entries beyond ENTRY_LIMIT, and unfinished files of killed processes."""
    try:
        for path in folder.glob(f'*{UNFINISHED}'):
            if time.time() - path.lstat().st_mtime > STALE:
                path.unlink(missing_ok=True)
        entries = [path for path in folder.iterdir() if path.suffix in KINDS]
        if len(entries) > ENTRY_LIMIT:
            ages = {path: path.lstat().st_mtime for path in entries}
            entries.sort(key=ages.__getitem__)
            for path in entries[: len(entries) - ENTRY_LIMIT]:
                path.unlink(missing_ok=True)
    except OSError as error:  # another process removes entries too
        _logger.debug('Old entries stay: %s', error)


def _trusted_folder(create: bool) -> Optional[Path]:
    """Return the cache where no other user can write to it or replace it."""
    folder = cache_folder()
    if create:
        for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
            missing.mkdir(mode=0o700, exist_ok=True)
    try:
        real = folder.resolve(strict=True)
        state = os.stat(real)
    except FileNotFoundError:
        return None
    if not stat.S_ISDIR(state.st_mode) or not _is_ours(state):
        _warn(str(folder), str(real))
        return None
    for parent in real.parents:
        if not _is_safe_parent(os.stat(parent)):
            _warn(str(folder), str(parent))
            return None
    return real


def _is_ours(state: os.stat_result) -> bool:
    """Whether no other user could have written it."""
    if not hasattr(os, 'getuid'):
        return True
    return state.st_uid == os.getuid() and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_safe_parent(state: os.stat_result) -> bool:
    """Whether this user and root alone can replace the files of a folder."""
    if not hasattr(os, 'getuid'):
        return True
    writable = state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    # In a sticky folder, as /tmp, only owners rename and remove.
    sticky = bool(state.st_mode & stat.S_ISVTX)
    return state.st_uid in (0, os.getuid()) and (not writable or sticky)


@lru_cache(maxsize=None)
def _warn(folder: str, place: str) -> None:
    _logger.warning(
        'Cache folder %s is not used, since other users own, or can write to, %s. Code is '
        'generated again. Run chmod 700 on the folder, or set %s to a folder of your own.',
        folder, place, FOLDER_VARIABLE,
    )
