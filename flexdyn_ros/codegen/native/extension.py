# SPDX-License-Identifier: Apache-2.0
"""
The extension module that runs generated functions: installed, built on demand, or none.

`runtime/kernel.c` knows nothing of any robot. Installing the package builds it where that is
possible; otherwise the backend "c" builds it when first needed, and it is kept in the cache.
Without a compiler, or without the headers of Python and numpy, compiled functions and machine code
of our own are called by more such code or through ctypes, and the interpreter is not there.
"""

from __future__ import annotations

from functools import lru_cache
import hashlib
from importlib import import_module
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec
from importlib.util import spec_from_file_location
import logging
import os
from pathlib import Path
import sysconfig
from typing import Any
from typing import Optional

from flexdyn_ros.codegen.native import source_cache
from flexdyn_ros.codegen.native.compiler import CompilationFailed
from flexdyn_ros.codegen.native.compiler import Compiler
from flexdyn_ros.codegen.native.compiler import find_compiler
from flexdyn_ros.codegen.native.compiler import NoCompiler
from flexdyn_ros.codegen.native.libraries import Built
from flexdyn_ros.codegen.native.libraries import is_kept
from flexdyn_ros.codegen.native.libraries import load_library
import numpy as np

MODULE = 'flexdyn_ros.codegen.runtime._kernel'
RUNTIME = Path(__file__).resolve().parents[1] / 'runtime'
SOURCE = RUNTIME / 'kernel.c'
# All that the extension is built from.
SOURCES = (SOURCE, *(RUNTIME / f'{name}.h' for name in (
    'arrays', 'batch', 'direct_call', 'interpreter', 'interpreter_loop', 'kernel', 'numbers',
    'program', 'samples', 'workers',
)))
# Set to "ctypes" it leaves the extension out.
VARIABLE = 'FLEXDYN_CALLS'

_logger = logging.getLogger('flexdyn_ros.codegen')


def extension(build: bool = True) -> Optional[Any]:
    """
    Return the extension module, or None where there is none.

    Args:
        build: Whether to build it where it is not installed and was not built before.
    """
    if os.environ.get(VARIABLE) == 'ctypes':
        return None
    found = _installed()
    if found is None and (build or _is_built()):
        found = _built()
    return found


@lru_cache(maxsize=1)
def _installed() -> Optional[Any]:
    try:
        installed = import_module(MODULE)
        if installed.DIGEST == source_digest():
            return installed
    except Exception as error:  # built for another numpy, which raises several kinds
        _logger.debug('no installed extension: %s', error)
    return None


@lru_cache(maxsize=1)
def _built() -> Optional[Any]:
    try:
        compiler = find_compiler()
        flags = ('-O2', '-ffp-contract=off', f'-DFLEXDYN_DIGEST="{source_digest()}"', '-pthread',
                 f'-I{sysconfig.get_path("include")}', f'-I{np.get_include()}', f'-I{RUNTIME}')
        source = SOURCE.read_text(encoding='utf-8')
        return load_library(
            _entry(compiler), lambda: Built(compiler.build(source, flags)), _load
        )
    except (CompilationFailed, NoCompiler) as error:
        _logger.info('Compiled code is called through ctypes, as there is no extension: %s', error)
        return None


def _is_built() -> bool:
    """Return whether it was built before, in this process or another."""
    if _built.cache_info().currsize:
        return True
    try:
        return is_kept(_entry(find_compiler()))
    except NoCompiler:
        return False


def _entry(compiler: Compiler) -> str:
    return source_cache.entry_name(
        'extension', source_digest(), compiler.identity, np.__version__,
        str(sysconfig.get_config_var('EXT_SUFFIX')), suffix=source_cache.LIBRARY,
    )


def source_digest() -> str:
    """Return what tells whether an extension was built from these sources."""
    return hashlib.sha256(b''.join(path.read_bytes() for path in SOURCES)).hexdigest()[:16]


def _load(path: Path, note: str) -> Any:
    loader = ExtensionFileLoader(MODULE, str(path))
    spec = spec_from_file_location(MODULE, path, loader=loader)
    if spec is None:
        raise ImportError(f'{path} is no extension module')
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
