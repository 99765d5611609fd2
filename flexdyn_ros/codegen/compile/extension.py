# SPDX-License-Identifier: Apache-2.0
"""
The extension module that calls compiled functions: installed, built on demand, or none.

`runtime/calls.c` depends on no robot. Installing the package builds it where that is possible;
otherwise the backend "c" builds it when first needed, and it is kept in the cache. Without the
headers of Python or numpy, compiled functions are called through ctypes.
"""

from __future__ import annotations

from functools import lru_cache
import hashlib
from importlib import import_module
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
import logging
import os
from pathlib import Path
import sysconfig
from typing import Any, Optional

from flexdyn_ros.codegen.compile import cache
from flexdyn_ros.codegen.compile.compiler import (
    CompilationFailed,
    Compiler,
    find_compiler,
    load_library,
    NoCompiler,
)
import numpy as np

MODULE = 'flexdyn_ros.codegen.compile.runtime._calls'
RUNTIME = Path(__file__).resolve().parent / 'runtime'
SOURCE = RUNTIME / 'calls.c'
# All that the extension is built from.
SOURCES = (SOURCE, *(RUNTIME / f'{name}.h' for name in ('kernel', 'method', 'numbers')))
# Numbers that were just stored one by one are not read several at a time: that would wait.
FLAGS = ('-O2', '-ffp-contract=off', '-fno-tree-vectorize', '-fno-tree-loop-distribute-patterns')
# Set to "ctypes" it leaves the extension out.
VARIABLE = 'FLEXDYN_CALLS'

_logger = logging.getLogger('flexdyn_ros.codegen')


def extension() -> Optional[Any]:
    """Return the extension module, or None where there is none and it cannot be built."""
    if os.environ.get(VARIABLE) == 'ctypes':
        return None
    return _installed() or _built()


@lru_cache(maxsize=1)
def _installed() -> Optional[Any]:
    try:
        installed = import_module(MODULE)
        if installed.DIGEST == source_digest():
            return installed
    except Exception as error:  # built for another numpy, which raises several kinds
        _logger.debug('The installed extension does not load: %s', error)
    return None


@lru_cache(maxsize=1)
def _built() -> Optional[Any]:
    try:
        compiler = find_compiler()
        flags = (*FLAGS, f'-DFLEXDYN_DIGEST="{source_digest()}"',
                 f'-I{sysconfig.get_path("include")}', f'-I{np.get_include()}', f'-I{RUNTIME}')
        source = SOURCE.read_text(encoding='utf-8')
        return load_library(_entry(compiler), lambda: compiler.build(source, flags), _load)
    except (CompilationFailed, NoCompiler) as error:
        _logger.info('Compiled code is called through ctypes, since the extension is missing: '
                     '%s', error)
        return None


def _entry(compiler: Compiler) -> str:
    return cache.entry_name(
        'extension', source_digest(), compiler.identity, np.__version__,
        str(sysconfig.get_config_var('EXT_SUFFIX')), suffix=cache.LIBRARY,
    )


def source_digest() -> str:
    """Return a digest of the sources that an extension was built from."""
    return hashlib.sha256(b''.join(path.read_bytes() for path in SOURCES)).hexdigest()[:16]


def _load(path: Path) -> Any:
    loader = ExtensionFileLoader(MODULE, str(path))
    spec = spec_from_file_location(MODULE, path, loader=loader)
    if spec is None:
        raise ImportError(f'{path} is not an extension module')
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
