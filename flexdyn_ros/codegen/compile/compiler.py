# SPDX-License-Identifier: Apache-2.0
"""
The machine's C compiler: its choice, flags and errors, and the libraries that it makes.

$CC names one; otherwise cc, gcc and clang are looked for. $FLEXDYN_CFLAGS is put after the flags
here. Code is kept per processor, hence -march=native. Products and sums may be fused
(-ffp-contract=fast): that changes results by round-off alone, and always in the same way for the
same code. -ffast-math is left out: it breaks the rounding to whole numbers that sines rely on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
import hashlib
import os
from pathlib import Path
import platform
import shlex
import shutil
import subprocess
from typing import Any, Callable, Optional, Sequence

from flexdyn_ros.codegen.compile import cache
from flexdyn_ros.errors import ArgumentError, FlexdynError

NAMES = ('cc', 'gcc', 'clang')
FLAGS_VARIABLE = 'FLEXDYN_CFLAGS'
COMMON = ('-std=gnu11', '-shared', '-fPIC', '-w', '-pipe', '-ffp-contract=fast', '-fno-math-errno')
NATIVE = '-march=native'
# Scheduling before registers are given out makes long straight-line code some 10 % faster.
GCC_FLAGS = ('-fschedule-insns', '-fsched-pressure')
INSTALL = 'sudo apt-get install -y gcc libc6-dev'
# Characters of a compiler's messages that an error shows.
SHOWN = 2000


class CompilationFailed(FlexdynError):
    """
    The C compiler, or the loader, did not accept generated code.

    Attributes:
        command: The command.
        output: Output of the compiler.
    """

    def __init__(self, command: Sequence[str], output: str):
        self.command = tuple(command)
        self.output = output
        said = output.strip()[:SHOWN] or 'no output'
        super().__init__(
            f'Compiling generated code failed with "{shlex.join(command)}": {said}. Check the '
            f'compiler ({INSTALL}; CC names another), or use the backend "python".'
        )


class NoCompiler(FlexdynError):
    """
    There is no C compiler.

    Attributes:
        wanted: The compilers that were tried.
    """

    def __init__(self, wanted: Sequence[str]):
        self.wanted = tuple(wanted)
        super().__init__(
            f'No C compiler was found (looked for: {", ".join(wanted)}). Install one '
            f'({INSTALL}), name one in CC, or use the backend "python".'
        )


@dataclass(frozen=True)
class Compiler:
    """
    A C compiler.

    Attributes:
        command: How to run it.
        version: The first line of the output of `--version`.
    """

    command: tuple[str, ...]
    version: str

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that all code is compiled with."""
        special = () if 'clang' in self.version.lower() else GCC_FLAGS
        return (*COMMON, NATIVE, *special)

    @property
    def identity(self) -> str:
        """All that compiled code depends on besides its source."""
        return '\n'.join((*self.command, self.version, *self.flags, *_more_flags(), processor()))

    def build(self, source: str, flags: Sequence[str] = ('-O2',)) -> bytes:
        """
        Return the shared library made of C source.

        Raises:
            CompilationFailed: With the output of the compiler.
        """
        command = [*self.command, *self.flags, *flags, *_more_flags()]
        try:
            folder = cache.build_folder()
        except OSError as error:  # there is no place for temporary files
            raise CompilationFailed(command, str(error)) from error
        text, library = folder / 'code.c', folder / 'code.so'
        command += [str(text), '-o', str(library), '-lm']
        try:
            text.write_text(source, encoding='utf-8')
            done = subprocess.run(
                command, capture_output=True, text=True, errors='replace', cwd=folder,
                stdin=subprocess.DEVNULL, env={**os.environ, 'TMPDIR': str(folder)},
            )
            if done.returncode:
                raise CompilationFailed(command, done.stderr or done.stdout)
            return library.read_bytes()
        except OSError as error:
            raise CompilationFailed(command, str(error)) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _more_flags() -> list[str]:
    return _words(FLAGS_VARIABLE, os.environ.get(FLAGS_VARIABLE, ''))


def _words(variable: str, text: str) -> list[str]:
    """Return the words of an environment variable, split as a shell does."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ArgumentError(
            f'${variable}', f'is {text!r}, and its quotes do not match: {error}. Close them'
        ) from error


def find_compiler() -> Compiler:
    """
    Return the machine's C compiler.

    Raises:
        NoCompiler: If there is none.
    """
    found = _find(os.environ.get('CC', ''), os.environ.get('PATH', ''))
    if found is None:
        named = os.environ.get('CC')
        raise NoCompiler((named,) if named else NAMES)
    return found


@lru_cache(maxsize=None)
def _find(named: str, search: str) -> Optional[Compiler]:
    """Return the compiler under these settings; looked for once."""
    for text in (named,) if named.strip() else NAMES:
        command = _words('CC', text)
        path = shutil.which(command[0])
        if path is None:
            continue
        version = _version((path, *command[1:]))
        if version is not None:
            return Compiler((path, *command[1:]), version)
    return None


def _version(command: tuple[str, ...]) -> Optional[str]:
    try:
        said = subprocess.run(
            [*command, '--version'], capture_output=True, text=True, errors='replace', check=True,
            stdin=subprocess.DEVNULL, timeout=20,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return said.partition('\n')[0].strip() or None


@lru_cache(maxsize=1)
def processor() -> str:
    """Return a digest of the processor and its features, on which -march=native may depend."""
    keys = ('vendor_id', 'cpu family', 'model', 'stepping', 'flags', 'Features', 'CPU part')
    lines = [platform.machine(), platform.processor()]
    try:
        text = Path('/proc/cpuinfo').read_text(encoding='utf-8', errors='replace')
        first = text.strip().split('\n\n')[0]
        lines += [line for line in first.splitlines() if line.partition('\t')[0].strip() in keys]
    except OSError:
        lines.append(platform.version())
    return hashlib.sha256('\n'.join(lines).encode()).hexdigest()


def load_library(
    entry: str, build: Callable[[], bytes], load: Callable[[Path], Any]
) -> Any:
    """
    Return the result of `load` for a library, built first where the cache does not have it.

    The cache may be unusable, or on a file system mounted noexec. The library is then loaded
    from a private folder, which is removed afterwards.

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
