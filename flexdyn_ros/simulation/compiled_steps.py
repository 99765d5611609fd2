# SPDX-License-Identifier: Apache-2.0
"""
Steps without Python: the compiled loop of `steps/stepping.c` on compiled functions of a robot.

The loop calls forward dynamics, energies and losses by their addresses, and Python is not held
meanwhile.
"""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import Any, Optional

from flexdyn_ros.codegen.compile.closed_loops import SETTINGS
from flexdyn_ros.codegen.compile.compiled_c import DOUBTFUL_PIVOT
from flexdyn_ros.codegen.compile.program import NativeFunction
from flexdyn_ros.simulation.computed_torque import ComputedTorque
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.implicit_midpoint import ImplicitMidpoint
from flexdyn_ros.simulation.recorder import Recorder
from flexdyn_ros.simulation.step_structures import (
    compiled_loop,
    ConfigurationStructure,
    FIELDS,
    FrictionTermStructure,
    FunctionStructure,
    IMPLICIT_FIELDS,
    MODEL_FIELDS,
    PolynomialStructure,
    ROW_INDICES,
    ROW_NUMBERS,
    SAMPLES,
    SimulationStructure,
    TableauStructure,
)
from flexdyn_ros.simulation.tableaus import RK4, Tableau
from flexdyn_ros.simulation.torque_laws import PiecewisePolynomial, TorqueLaw
import numpy as np

# The loop is compiled for constraint Jacobians up to whole multiples of these rows and columns.
_SIZES = 16


def compiled_steps(
    equations: EquationsOfMotion, tableau: Tableau, recorder: Recorder, steps: int, dt: float,
    t_end: float, implicit: Optional[ImplicitMidpoint] = None,
) -> Optional[CompiledSteps]:
    """
    Return the compiled loop of a run, or None where it takes Python.

    A run takes Python for loops that are driven, loaded or held by gains, and for accelerations of
    a base that are a function. It does so too for modes that follow statically, torque functions
    evaluated at every stage, and other backends than "c".
    """
    loops = equations.loops
    plain = type(equations) is EquationsOfMotion and (loops is None or loops.is_plain)
    if not plain or (equations.function and not equations.held):
        return None
    if equations.on_base and equations.constant_base is None:
        return None
    functions: dict[str, NativeFunction] = {}
    for field in _fields(equations, implicit is not None):
        wrenches = equations.wrenches if field == 'external' else None
        found = equations.dyn.native({**FIELDS, **IMPLICIT_FIELDS}[field], wrenches)
        if found is None:
            return None
        if loops is not None and field in ('forward', 'project'):
            found = _inside_steps(found)
        functions[field] = found
    if isinstance(equations.law, ComputedTorque):
        law = equations.law
        for field, name in {'inverse': law.function, 'slip': 'friction_vector'}.items():
            found = law.model.native(name)
            if found is None:
                return None
            if field == 'inverse' and law.model.robot.loops:
                found = _inside_steps(found)
            if field == 'inverse' or law.rubs:
                functions[field] = found
    robot = equations.dyn.robot
    size = max(robot.nv, len(robot.constraint_names)) if 'jacobian' in functions else 1
    found_loop = compiled_loop(-(-size // _SIZES) * _SIZES)
    if found_loop is None:
        return None
    times = (steps, dt, t_end)
    return CompiledSteps(equations, tableau, recorder, times, functions, found_loop, implicit)


def _inside_steps(function: NativeFunction) -> NativeFunction:
    """Return a function for loops that are a little open, whose rank may be set."""
    return replace(function, constants=(*function.constants[:-SETTINGS], np.inf, 0.0))


def _fields(equations: EquationsOfMotion, implicit: bool) -> list[str]:
    """Return the functions that the loop calls."""
    loops, fields = equations.loops, ['kinetic', 'potential']
    if implicit:
        fields += ['mass', 'bias', 'friction', *(['jacobian'] if loops else [])]
    else:
        simple = equations.on_base and loops is None
        fields += ['losses', *(['mass', 'bias'] if simple else ['forward'])]
    if loops is not None and loops.drift == 'projection':
        fields.append('project')
    return [*fields, 'external'] if equations.wrenches else fields


class CompiledSteps:
    """The state of a run in the structures of the compiled loop."""

    def __init__(
        self, equations: EquationsOfMotion, tableau: Tableau, recorder: Recorder,
        times: tuple[int, float, float], functions: dict[str, NativeFunction],
        loop: tuple[Any, int], implicit: Optional[ImplicitMidpoint] = None,
    ):
        """
        Fill the structures; see `compiled_steps`.

        Args:
            equations: The equations of motion, whose quadratures the loop integrates.
            tableau: The method.
            recorder: Whose rows the loop fills.
            times: Number of steps, their length and the duration [s].
            functions: Compiled, by their fields.
            loop: See `compiled_loop`.
            implicit: The method in Python, where it is the implicit one.
        """
        self._implicit = implicit
        (self._loop, spaces), self._functions = loop, functions
        self._kept: list[np.ndarray] = []
        nq, nv = equations.map.nq, equations.map.nv
        self._nq, self._nv = nq, nv
        self._state = np.zeros(nq + nv + len(equations.quadratures.value))
        size, data = len(self._state), SimulationStructure()
        self._data, self._equations = data, equations
        self._fill_map(equations)
        tableau = RK4 if implicit is not None else tableau  # of steps between friction events
        coefficients = np.zeros((tableau.stages, tableau.stages))
        for k, row in enumerate(tableau.a):
            coefficients[k, : len(row)] = row
        data.method = TableauStructure(
            tableau.stages, *map(self._numbers, (coefficients, tableau.b, tableau.c))
        )
        self._fill_functions(functions, looped=equations.loops is not None)
        self._constant = np.zeros(nv)
        self._fill_law(equations.law)
        if implicit is not None:
            self._fill_implicit(implicit)
        elif equations.on_base:
            data.implicit.memory = self._numbers(np.zeros((nv + 3) * nv))
        if equations.constant_base is not None:
            data.implicit.held = equations.held_coordinates
            data.implicit.base = self._numbers(equations.constant_base)
        if 'jacobian' in functions:
            data.implicit.constraints = len(equations.dyn.robot.constraint_names)
            for name in ('middle', 'end'):
                setattr(data.implicit, name, self._numbers(np.zeros(spaces // 8 + 1)))
        for name in SAMPLES:
            setattr(data.record, name, getattr(recorder, name).ctypes.data)
        data.record.every = recorder.every
        data.steps, data.dt, data.t_end = times
        data.size, data.doubtful = size, DOUBTFUL_PIVOT
        data.state = self._state.ctypes.data
        called = functions.values()
        longest = nq + 2 * nv + max(len(each.constants) for each in called)
        for name, count in (
            ('stage', size), ('rates', tableau.stages * size), ('tau', nv),
            ('force', nv), ('x', longest),
            ('y', max(each.results + each.pivots for each in called)),
            ('memory', max(each.memory for each in called)),
        ):
            setattr(data, name, self._numbers(np.zeros(count + 1)))

    @property
    def next(self) -> int:
        """The step to be done next; those before it are done, and their samples kept."""
        return int(self._data.next)

    @property
    def dt(self) -> float:
        """Length of the steps [s]."""
        return float(self._data.dt)

    @dt.setter
    def dt(self, value: float) -> None:
        self._data.dt = value

    def run(
        self, step: int, stop: int, q: np.ndarray, qd: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Do steps, and return the state after the last one that could be done; see `next`.

        Where some number is not finite or a pivot is doubtful, the loop stops before that step.

        Args:
            step: The first step.
            stop: The one after the last.
            q: Configuration before it, (nq,).
            qd: Velocity before it, (nv,).
        """
        nq, size = self._nq, self._nq + self._nv
        state, quadratures = self._state, self._equations.quadratures
        state[:nq], state[nq:size], state[size:] = q, qd, quadratures.value
        self._constant[:] = self._equations.constant
        if self._implicit is not None:
            self._implicit.prepare(q, self.dt)
        self._data.next = step
        self._loop(ctypes.byref(self._data), stop)
        if self._implicit is not None and self.next > step:
            self._equations.mean_acceleration = self._implicit.last
        quadratures.value = state[size:].copy()
        return state[:nq].copy(), state[nq:size].copy()

    def _numbers(self, values: Any) -> int:
        """Return the address of numbers, which are kept."""
        self._kept.append(np.ascontiguousarray(values, dtype=float))
        return int(self._kept[-1].ctypes.data)

    def _indices(self, values: Any) -> int:
        self._kept.append(np.ascontiguousarray(values, dtype=np.int64))
        return int(self._kept[-1].ctypes.data)

    def _fill_map(self, equations: EquationsOfMotion) -> None:
        own = equations.map
        self._data.map = ConfigurationStructure(
            own.nq, own.nv, len(own.plain_q), len(own.floating), len(own.quaternions),
            *map(self._indices, (own.plain_q, own.plain_v, own.floating, own.quaternions)),
        )

    def _fill_functions(self, functions: dict[str, NativeFunction], looped: bool) -> None:
        data = self._data
        for field, function in functions.items():
            owner = data.implicit if field in IMPLICIT_FIELDS else data
            owner = data.law.model if field in MODEL_FIELDS else owner
            setattr(owner, field, FunctionStructure(
                function.address, len(function.constants), self._numbers(function.constants),
                function.results, function.pivots,
            ))
        if looped:
            for field, place in (('forward', 'rank'), ('project', 'held_rank')):
                function = getattr(data, field)
                if function.call:
                    setattr(data, place, function.constants + 8 * (function.n_constants - 1))
            if not data.forward.call:
                data.rank = self._numbers(np.zeros(1))

    def _fill_law(self, law: Optional[TorqueLaw]) -> None:
        data = self._data.law
        data.constant = self._constant.ctypes.data
        if law is None:
            return
        data.table, data.reference = self._polynomial(law.table), self._polynomial(law.reference)
        data.tracked, data.integrals = len(law.of_v), law.integrals
        for name in ('of_q', 'of_v'):
            setattr(data, name, self._indices(getattr(law, name)))
        for name in ('kp', 'kd', 'ki'):
            setattr(data, name, self._numbers(getattr(law, name)))
        for name in ('values', 'slopes', 'curvatures', 'errors', 'forces'):
            setattr(data, name, self._numbers(np.zeros(max(law.width, len(law.of_v)))))
        if isinstance(law, ComputedTorque):
            data.model.size, data.model.along = len(law.model_v), law.along
            data.model.joints = law.model.robot.n_joints
            data.model.follows = self._indices(law.follows)
            data.model.of_q = self._indices(law.model_q)
            data.model.of_v = self._indices(law.model_v)

    def _fill_implicit(self, method: ImplicitMidpoint) -> None:
        data, nv = self._data.implicit, self._nv
        rows, terms = method.rows, method.rows.levels.terms
        self._terms = (FrictionTermStructure * max(len(terms), 1))(*(
            FrictionTermStructure(
                each.index, each.multiplier, each.coulomb, each.stribeck, each.stribeck_velocity
            )
            for each in terms
        ))
        data.terms, data.term = len(terms), self._terms
        data.rows, data.rubbing = len(rows), len(rows.levels.at)
        for name in ROW_INDICES:
            setattr(data, name, self._indices(getattr(rows, name)))
        for name in ROW_NUMBERS:
            setattr(data, name, self._numbers(getattr(rows, name)))
        # These arrays are shared with the method in Python.
        for name in ('damping', 'springs', 'modal', 'stiffness'):
            setattr(data, name, self._numbers(getattr(method.forces, name)))
        springs = method.forces.nonlinear
        data.springs_count = len(springs)
        data.spring_q = self._indices([term.position_index for term, _ in springs])
        data.spring_v = self._indices([term.velocity_index for term, _ in springs])
        data.spring_row = self._indices([row for _, row in springs])
        data.last, data.slides = self._numbers(method.last), self._numbers(method.slides)
        longest = max(nv, len(rows))
        count = 6 * nv**2 + 6 * nv + longest * (3 * longest + 9) + len(self._state)
        data.memory = self._numbers(np.zeros(count))
        self._data.is_implicit = 1

    def _polynomial(self, given: Optional[PiecewisePolynomial]) -> PolynomialStructure:
        if given is None:
            return PolynomialStructure()
        intervals, powers, width = given.coefficients.shape
        return PolynomialStructure(
            intervals, powers - 1, width, self._numbers(given.at),
            self._numbers(given.coefficients), 0,
        )
