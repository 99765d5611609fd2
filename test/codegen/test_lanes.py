# SPDX-License-Identifier: Apache-2.0
"""Elementary functions over lanes against extended precision, in units of the last place."""

import ctypes
import subprocess

from codegen.compiled import needs_compiler
from flexdyn_ros.codegen.compile.compiled_c import RUNTIME
from flexdyn_ros.codegen.compile.compiler import find_compiler
import numpy as np
import pytest

pytestmark = needs_compiler
HARNESS = """
void run(int kind, long count, const double *x, double *first, double *second)
{
    for (long k = 0; k < count; k += LANES) {
        lanes from, a, b = {0};
        memcpy(&from, x + k, sizeof from);
        if (kind == 0)
            lanes_sincos(from, &a, &b);
        else
            a = kind == 1 ? lanes_exp(from) : lanes_tanh(from);
        memcpy(first + k, &a, sizeof a);
        memcpy(second + k, &b, sizeof b);
    }
}
"""
# Widths of vectors; wider than this machine's are left out.
WIDTHS = {'two lanes': ['-march=x86-64'], 'native': ['-march=native']}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e300, -1e300, 5e-324, -1e-310, 710.0, -746.0]


@pytest.fixture(scope='module', params=WIDTHS)
def run(request, tmp_path_factory):
    """Return a function of (kind, x) that gives two arrays."""
    folder = tmp_path_factory.mktemp('lanes')
    source, library = folder / 'lanes.c', folder / 'lanes.so'
    source.write_text((RUNTIME / 'lanes.h').read_text() + HARNESS)
    command = [*find_compiler().command, '-O2', '-fPIC', '-shared', '-fno-math-errno', '-Wall',
               '-Wextra', '-Werror', '-Wno-psabi', '-Wno-unused-function',
               *WIDTHS[request.param]]
    done = subprocess.run([*command, str(source), '-o', str(library), '-lm'], capture_output=True,
                          text=True)
    if done.returncode and request.param == 'two lanes':
        pytest.skip(f'the flags are of x86-64; "native" tests this machine: {done.stderr[:200]}')
    assert done.returncode == 0, done.stderr
    function = ctypes.CDLL(str(library)).run

    def call(kind, x):
        x = np.concatenate([x, np.zeros(-len(x) % 8)])
        results = np.empty((2, len(x)))
        pointers = [ctypes.c_void_p(each.ctypes.data) for each in (x, *results)]
        function(kind, ctypes.c_long(len(x)), *pointers)
        return x, results

    return call


def units(found, exact):
    """Return the largest error in units of the last place."""
    return float(np.max(np.abs(found - exact) / np.spacing(np.abs(exact.astype(float)))))


def test_sine_and_cosine(run):
    """Small and large angles, and next to multiples of a right angle."""
    rng = np.random.default_rng(0)
    angles = [rng.uniform(-size, size, 4000) for size in (1e-8, 1.0, 4.0, 1e3, 9.9e5, 1e9)]
    angles.append(np.arange(1, 6e5, 97) * (np.pi / 2))
    x, (sine, cosine) = run(0, np.concatenate(angles))
    extended = x.astype(np.longdouble)
    assert units(sine, np.sin(extended)) < 2.0
    assert units(cosine, np.cos(extended)) < 2.0
    x, (sine, cosine) = run(0, np.array(SPECIAL))
    with np.errstate(invalid='ignore'):
        assert np.allclose(sine, np.sin(x), rtol=1e-15, atol=0.0, equal_nan=True)
        assert np.allclose(cosine, np.cos(x), rtol=1e-15, atol=0.0, equal_nan=True)


def test_exponential(run):
    """From underflow to overflow."""
    rng = np.random.default_rng(1)
    x, (found, _) = run(1, np.concatenate([rng.uniform(-708, 709.7, 8000), rng.normal(size=4000)]))
    assert units(found, np.exp(x.astype(np.longdouble))) < 2.0
    x, (found, _) = run(1, np.array([*SPECIAL, -720.5, -744.0]))
    with np.errstate(over='ignore', under='ignore'):
        assert np.allclose(found, np.exp(x), rtol=1e-15, atol=1e-323, equal_nan=True)


def test_hyperbolic_tangent(run):
    """Small arguments keep their relative accuracy."""
    rng = np.random.default_rng(2)
    sizes = (1e-300, 1e-9, 1e-3, 0.3, 3.0, 30.0)
    x, (found, _) = run(2, np.concatenate([rng.uniform(-s, s, 2000) for s in sizes]))
    assert units(found, np.tanh(x.astype(np.longdouble))) < 4.0
    x, (found, _) = run(2, np.array(SPECIAL))
    assert np.array_equal(found, np.tanh(x), equal_nan=True)
    assert np.array_equal(np.signbit(found[:2]), [False, True])
