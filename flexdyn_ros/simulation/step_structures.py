# SPDX-License-Identifier: Apache-2.0
"""The structures of `steps/stepping.h`, field by field, and the compiled loop that takes them."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int64, c_void_p
from functools import lru_cache
from pathlib import Path
from typing import Any, Optional

from flexdyn_ros import closed_chains
from flexdyn_ros.codegen.compile import cache
from flexdyn_ros.codegen.compile.compiler import (
    CompilationFailed,
    find_compiler,
    load_library,
    NoCompiler,
)
from flexdyn_ros.dynamics.loop_tolerances import RANK_TOLERANCE
from flexdyn_ros.simulation import step_tolerances

# Products and sums stay apart, as in Python.
FLAGS = ('-O3', '-ffp-contract=off')
STEPS = Path(__file__).resolve().parent / 'steps'
SOURCES = (
    'stepping.h', 'impulses.h', 'prescribed_base.h', 'runge_kutta.h', 'constrained_space.h',
    'implicit_midpoint.h', 'joint_stops.h', 'sliding.h', 'stepping.c',
)
# Numbers common to the loop and the steps in Python.
TOLERANCES = {
    'RANK_TOLERANCE': RANK_TOLERANCE,
    **{name: value for name, value in vars(step_tolerances).items() if name.isupper()},
}
# The functions that the loop calls, by their fields of a `SimulationStructure`.
FIELDS = {
    'forward': 'forward_dynamics', 'kinetic': 'kinetic_energy', 'potential': 'potential_energy',
    'losses': 'dissipated_power', 'external': 'external_force_vector', 'project': 'project',
}
IMPLICIT_FIELDS = {
    'mass': 'mass_matrix', 'bias': 'bias_vector', 'friction': 'friction_vector',
    'jacobian': 'loop_jacobian',
}
# Of the rows of impulses: indices and numbers.
ROW_INDICES, ROW_NUMBERS = ('at', 'beside', 'q_at', 'q_beside'), ('share', 'limits')
# The functions of the model in a torque law.
MODEL_FIELDS = ('inverse', 'slip')
# The arrays of samples.
SAMPLES = ('t', 'q', 'qd', 'tau', 'kinetic', 'potential', 'work', 'dissipated')


class FunctionStructure(ctypes.Structure):
    _fields_ = [
        ('call', c_void_p), ('n_constants', c_int64), ('constants', c_void_p),
        ('results', c_int64), ('pivots', c_int64),
    ]


class PolynomialStructure(ctypes.Structure):
    _fields_ = [
        ('intervals', c_int64), ('degree', c_int64), ('width', c_int64), ('at', c_void_p),
        ('coefficients', c_void_p), ('place', c_int64),
    ]


class TableauStructure(ctypes.Structure):
    _fields_ = [('stages', c_int64), ('a', c_void_p), ('b', c_void_p), ('c', c_void_p)]


class ConfigurationStructure(ctypes.Structure):
    _fields_ = [
        *((name, c_int64) for name in ('nq', 'nv', 'plain', 'floating', 'quaternions')),
        *((name, c_void_p) for name in ('plain_q', 'plain_v', 'floating_at', 'quaternion_at')),
    ]


class ModelTorqueStructure(ctypes.Structure):
    _fields_ = [
        *((name, FunctionStructure) for name in MODEL_FIELDS),
        *((name, c_int64) for name in ('size', 'joints', 'along')),
        *((name, c_void_p) for name in ('of_q', 'of_v', 'follows')),
    ]


class TorqueLawStructure(ctypes.Structure):
    _fields_ = [
        ('constant', c_void_p), ('table', PolynomialStructure), ('reference', PolynomialStructure),
        ('tracked', c_int64), ('integrals', c_int64),
        *((name, c_void_p) for name in (
            'of_q', 'of_v', 'kp', 'kd', 'ki', 'values', 'slopes', 'curvatures', 'errors', 'forces',
        )),
        ('model', ModelTorqueStructure),
    ]


class FrictionTermStructure(ctypes.Structure):
    _fields_ = [
        ('index', c_int64),
        *((name, c_double) for name in (
            'multiplier', 'coulomb', 'stribeck', 'stribeck_velocity',
        )),
    ]


class ImplicitStructure(ctypes.Structure):
    _fields_ = [
        ('terms', c_int64), ('rows', c_int64), ('rubbing', c_int64),
        ('term', ctypes.POINTER(FrictionTermStructure)),
        *((name, c_void_p) for name in (
            *ROW_INDICES, *ROW_NUMBERS, 'damping', 'springs', 'modal', 'stiffness', 'last',
            'memory', 'slides',
        )),
        *((name, FunctionStructure) for name in IMPLICIT_FIELDS),
        *((name, c_int64) for name in ('constraints', 'held', 'springs_count')),
        *((name, c_void_p) for name in (
            'base', 'middle', 'end', 'spring_q', 'spring_v', 'spring_row',
        )),
    ]


class SamplesStructure(ctypes.Structure):
    _fields_ = [
        *((name, c_void_p) for name in SAMPLES), ('every', c_int64),
    ]


class SimulationStructure(ctypes.Structure):
    _fields_ = [
        ('map', ConfigurationStructure), ('method', TableauStructure),
        *((name, FunctionStructure) for name in FIELDS),
        ('rank', c_void_p), ('held_rank', c_void_p),
        ('law', TorqueLawStructure), ('record', SamplesStructure), ('implicit', ImplicitStructure),
        ('is_implicit', c_int64),
        *((name, c_double) for name in ('dt', 't_end', 'doubtful')),
        *((name, c_int64) for name in ('steps', 'next', 'size')),
        *((name, c_void_p) for name in (
            'state', 'stage', 'rates', 'tau', 'force', 'x', 'y', 'memory',
        )),
    ]


@lru_cache(maxsize=None)
def compiled_loop(size: int) -> Optional[tuple[Any, int]]:
    """
    Return the function `flexdyn_steps`, or None where it cannot be compiled.

    It is compiled once a machine and size, and kept in the cache.

    Args:
        size: Most rows and columns of constraint Jacobians.

    Returns:
        The function, and the bytes of the spaces that loops leave of motions, see `spaces.h`.
    """
    try:
        compiler = find_compiler()
        start = f'enum {{ SIZE = {size} }};\n' + ''.join(
            f'#define {name} {value!r}\n' for name, value in TOLERANCES.items())
        files = [Path(closed_chains.__file__).with_name('spaces.h'), *map(STEPS.joinpath, SOURCES)]
        source = start + ''.join(each.read_text(encoding='utf-8') for each in files)
        entry = cache.entry_name(source, compiler.identity, *FLAGS, suffix=cache.LIBRARY)
        library = load_library(
            entry, lambda: compiler.build(source, FLAGS), lambda path: ctypes.CDLL(str(path))
        )
    except (CompilationFailed, NoCompiler):
        return None
    structure, spaces = (c_int64 * 2).in_dll(library, 'flexdyn_sizes')
    assert structure == ctypes.sizeof(SimulationStructure), 'the structures of stepping.h differ'
    function = library.flexdyn_steps
    function.argtypes = (ctypes.POINTER(SimulationStructure), c_int64)
    function.restype = ctypes.c_int
    return function, spaces
