# SPDX-License-Identifier: Apache-2.0
"""Generated C and Fortran compiled and called through ctypes."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

COMPILERS = {'c': 'gcc', 'fortran': 'gfortran'}
FLAGS = {
    'c': ['-std=c99', '-O1', '-Wall', '-Wextra', '-Wpedantic', '-Werror'],
    'fortran': ['-O1', '-Wall', '-Werror', '-Wno-error=unused-dummy-argument'],
}


def compiler(language):
    """Return the path of the language's compiler, or None."""
    return shutil.which(COMPILERS[language])


def need_compiler(language):
    """Skip where a language, or the backend of that name, needs a compiler that is not there."""
    if language in COMPILERS and compiler(language) is None:
        pytest.skip(f'NO COMPILER for {language}: its code is not tested')


class Native:
    """A generated function, compiled."""

    def __init__(self, code, folder):
        """Compile the source; warnings are errors."""
        self._code = code
        source = folder / f'{code.name}{".c" if code.language == "c" else ".f90"}'
        library = folder / f'{code.name}_{code.language}.so'
        source.write_text(code.source)
        subprocess.run(
            [compiler(code.language), *FLAGS[code.language], '-shared', '-fPIC', str(source),
             '-o', str(library), '-lm'], check=True, cwd=folder,
        )
        symbol = code.name if code.language == 'c' else f'{code.name.lower()}_'
        self._function = getattr(ctypes.CDLL(str(library)), symbol)
        self._function.restype = None

    def __call__(self, *values):
        """Return all results, one after the other, matrices by rows."""
        given = []
        for each, value in zip(self._code.inputs, values, strict=True):
            if each.scalar and self._code.language == 'c':
                given.append(ctypes.c_double(value))
            else:
                array = np.ascontiguousarray(value, dtype=float).reshape(-1)
                assert array.size == len(each.entries)
                given.append(array)
        order = 'C' if self._code.language == 'c' else 'F'
        results = [np.full(o.shape or (1,), np.nan, order=order) for o in self._code.outputs]
        pointers = [
            v if isinstance(v, ctypes.c_double) else ctypes.c_void_p(v.ctypes.data)
            for v in (*given, *results)
        ]
        self._function(*pointers)
        return np.concatenate([r.ravel(order='C') for r in results])
