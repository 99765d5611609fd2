# SPDX-License-Identifier: Apache-2.0
"""
The extension module that calls compiled functions: installed, built on demand, or none.

`runtime/kernel.c` knows nothing of any robot. Installing the package builds it where that is
possible; otherwise it is built when first needed and kept in the cache. Without a compiler, or
without the headers of Python and numpy, compiled functions are called through ctypes.
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

from flexdyn_ros.codegen import source_cache
from flexdyn_ros.codegen.compiler import CompilationFailed
from flexdyn_ros.codegen.compiler import find_compiler
from flexdyn_ros.codegen.compiler import NoCompiler
from flexdyn_ros.codegen.libraries import Built
from flexdyn_ros.codegen.libraries import load_library
import numpy as np

MODULE = 'flexdyn_ros.codegen.runtime._kernel'
SOURCE = Path(__file__).resolve().parent / 'runtime' / 'kernel.c'
# Set to "ctypes" it leaves the extension out.
VARIABLE = 'FLEXDYN_CALLS'

_logger = logging.getLogger('flexdyn_ros.codegen')


def extension() -> Optional[Any]:
    """Return the extension module, or None where there is none and none can be built."""
    return None if os.environ.get(VARIABLE) == 'ctypes' else _extension()


@lru_cache(maxsize=1)
def _extension() -> Optional[Any]:
    source = SOURCE.read_text(encoding='utf-8')
    digest = source_digest(source)
    try:
        installed = import_module(MODULE)
        if installed.DIGEST == digest:
            return installed
    except Exception as error:  # built for another numpy, which raises several kinds
        _logger.debug('no installed extension: %s', error)
    try:
        compiler = find_compiler()
        entry = source_cache.entry_name(
            'extension', digest, compiler.identity, np.__version__,
            str(sysconfig.get_config_var('EXT_SUFFIX')), suffix=source_cache.LIBRARY,
        )
        flags = ('-O2', '-ffp-contract=off', f'-DFLEXDYN_DIGEST="{digest}"', '-pthread',
                 f'-I{sysconfig.get_path("include")}', f'-I{np.get_include()}')
        return load_library(entry, lambda: Built(compiler.build(source, flags)), _load)
    except (CompilationFailed, NoCompiler) as error:
        _logger.info('Compiled code is called through ctypes, as there is no extension: %s', error)
        return None


def source_digest(source: str) -> str:
    """Return what tells whether an extension was built from this source."""
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _load(path: Path, note: str) -> Any:
    loader = ExtensionFileLoader(MODULE, str(path))
    spec = spec_from_file_location(MODULE, path, loader=loader)
    if spec is None:
        raise ImportError(f'{path} is no extension module')
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
