# SPDX-License-Identifier: Apache-2.0
"""
The shapes of a family of modes: natural, polynomial and residual-static ones, scaled.

Natural modes solve K a = w^2 M a over trial shapes under the tip's conditions. Where the root is
pinned, the natural modes are those of the beam that also turns about its root as a rigid body.
Their kept part is phi(x) - phi'(0) x, as the joint does the turning. With b that turn, the
stationary b = -m_ra a / m_rr leaves M - m_ar m_ra / m_rr.

Residual-static modes are the deflections under a force, and a moment, at the free tip. The part of
the kept modes is subtracted: R f = (K^-1 - Phi (Phi^T K Phi)^-1 Phi^T) f (Craig, Structural
Dynamics, 1981, section 19.3; with clamped-clamped modes the basis is Craig and Bampton's of 1968).
So any tip load deflects the beam as statics demands, however few modes are kept. A massless beam
has no natural modes, and bends by these alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Callable

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.beam.ritz import ritz_problem, RitzProblem
from flexdyn_ros.model.beam.shapes import clamped_free_bending, clamped_free_rod, Shape
from flexdyn_ros.model.modal.matrices import reduced_eigenproblem
from flexdyn_ros.model.records.beam import Beam, ModeFamily
import numpy as np
from numpy.polynomial.legendre import Legendre

# Change of the highest frequency at which the trial shapes are enough, and their largest number.
CONVERGED = 1e-11
LARGEST = 900
# A tip that deflects less than this fraction of the largest deflection does not move.
STILL = 1e-9
# Share of a tip load's work below which the kept modes leave nothing to a static one.
NEGLIGIBLE_WORK = 1e-10


@dataclass(frozen=True)
class FamilyShapes:
    """
    Scaled shapes of one family.

    Attributes:
        sample: Function from n fractions of the length to shapes, arrays (m, n).
        order: Number of Gauss points between two knots that resolve products of the shapes.
    """

    sample: Callable[[np.ndarray], Shape]
    order: int


@lru_cache(maxsize=256)
def family_shapes(beam: Beam, family: ModeFamily) -> FamilyShapes:
    """
    Return a family's shapes, unit at the tip, or at their largest deflection where that is still.

    Uniform beams that carry nothing have closed forms.

    Raises:
        ModelError: A static mode has nothing left to add.
    """
    plain = family.boundary == 'clamped-free' and family.basis == 'eigen'
    simple = not (beam.stations or beam.carried or family.shear_correction or family.static_modes)
    simple = simple and not bends_statically(beam, family)
    if plain and simple:
        return FamilyShapes(lambda x: _closed_forms(family, x), 40 + 8 * family.count)
    problem, kept = _kept(beam, family)
    if len(kept) < family.size:
        kept = np.concatenate((kept, _static(problem, kept, family)))
    kept = _scaled(problem, kept)
    return FamilyShapes(
        lambda x: problem.space.sample(x).combined(kept), max(problem.space.degrees) + 12
    )


def bends_statically(beam: Beam, family: ModeFamily) -> bool:
    """Return whether static shapes stand for natural ones, as the beam has no mass."""
    return beam.mass == 0.0 and family.basis == 'eigen'


def _closed_forms(family: ModeFamily, x: np.ndarray) -> Shape:
    shape = clamped_free_bending if family.kind.startswith('bending') else clamped_free_rod
    shapes = [shape(order + 1, x) for order in range(family.count)]
    return Shape(*(
        np.array([getattr(each, name) for each in shapes])
        for name in ('value', 'slope', 'rotation', 'curvature')
    ))


def _kept(beam: Beam, family: ModeFamily) -> tuple[RitzProblem, np.ndarray]:
    """Return trial shapes that are enough, and the coefficients of the kept modes, (m, n)."""
    order = 16 + 3 * family.size
    problem = ritz_problem(beam, family, order)
    if family.basis == 'polynomial':
        return problem, _polynomials(problem, family)
    if bends_statically(beam, family):
        return problem, np.zeros((0, len(problem.tip)))
    rates, kept = _natural(problem, family)
    while family.count and len(problem.tip) < LARGEST:
        order = order + 8 + order // 4
        finer = ritz_problem(beam, family, order)
        finer_rates, finer_kept = _natural(finer, family)
        change = np.abs(finer_rates[-1] / rates[-1] - 1.0)
        problem, rates, kept = finer, finer_rates, finer_kept
        if change < CONVERGED:
            break
    return problem, kept


def _natural(problem: RitzProblem, family: ModeFamily) -> tuple[np.ndarray, np.ndarray]:
    """Return squares of the lowest natural frequencies, (m,), and the modes, (m, n)."""
    mass = problem.mass
    if family.boundary.startswith('pinned'):
        coupling = problem.rigid_coupling
        mass = mass - np.outer(coupling, coupling) / problem.rigid_mass
    conditions = _tip_conditions(problem, family)
    free = np.linalg.svd(conditions)[2][len(conditions):].T if len(conditions) else None
    stiffness = problem.stiffness
    if free is not None:
        stiffness, mass = free.T @ stiffness @ free, free.T @ mass @ free
    # 1 / w^2 are eigenvalues of L^-1 M L^-T, K = L L^T: the lowest frequencies come out best.
    values, vectors, lower = reduced_eigenproblem(mass, stiffness)
    order = np.argsort(-values)[: family.count]
    modes = np.linalg.solve(lower.T, vectors[:, order])
    if free is not None:
        modes = free @ modes
    return 1.0 / values[order], modes.T


def _tip_conditions(problem: RitzProblem, family: ModeFamily) -> np.ndarray:
    tip = family.boundary.rpartition('-')[2]
    held = {'free': 0, 'pinned': 1, 'clamped': 2}[tip]
    rows = [problem.tip, problem.tip_rotation][:held]
    return np.array(rows).reshape(len(rows), len(problem.tip))


def _polynomials(problem: RitzProblem, family: ModeFamily) -> np.ndarray:
    """
    Return polynomials of rising degree that meet the clamped or pinned ends' conditions, (m, n).

    The lowest one, and each further one made orthogonal over the length to those before it (Bhat
    1985, "Natural frequencies of rectangular plates using characteristic orthogonal polynomials in
    Rayleigh-Ritz method", J. Sound and Vibration 102).
    """
    bends, tip = family.kind.startswith('bending'), family.boundary.rpartition('-')[2]
    x = Legendre([0.5, 0.5], domain=[0.0, 1.0])
    factor = (x**2 if bends else x) * (1.0 - x) ** {'free': 0, 'pinned': 1, 'clamped': 2}[tip]
    shapes = [
        factor * Legendre.basis(degree, domain=[0.0, 1.0]) for degree in range(family.count)
    ]
    points, weight = np.polynomial.legendre.leggauss(family.count + 8)
    values = np.array([shape(0.5 * (points + 1.0)) for shape in shapes]).reshape(-1, len(points))
    # With W = Q R the rows of R^-T W are orthonormal, each a sum of the rows up to it.
    upper = np.linalg.qr((values * np.sqrt(weight)).T)[1]
    raw = problem.space.projected([shape.deriv(2 if bends else 1) for shape in shapes])
    return np.linalg.solve(upper.T, raw)


def _static(problem: RitzProblem, kept: np.ndarray, family: ModeFamily) -> np.ndarray:
    """Return the residual-static modes, all that are not kept, made orthogonal, (s, n)."""
    loads = np.array([problem.tip, problem.tip_rotation][: family.size - len(kept)])
    whole = np.linalg.solve(problem.stiffness, loads.T).T
    rest = whole
    if len(kept):
        taken = np.linalg.solve(kept @ problem.stiffness @ kept.T, kept @ loads.T).T @ kept
        rest = whole - taken
    for load, deflection, left in zip(loads, whole, rest):
        if load @ left < NEGLIGIBLE_WORK * (load @ deflection):
            raise ModelError(
                f'the kept modes of {family.kind} already describe any tip force; static_modes '
                'has no effect',
                element='beam',
                advice='Take static_modes out',
            )
    stiffness, mass = (rest @ m @ rest.T for m in (problem.stiffness, problem.mass))
    _, vectors, lower = reduced_eigenproblem(mass, stiffness)
    return np.linalg.solve(lower.T, vectors[:, ::-1]).T @ rest


def _scaled(problem: RitzProblem, modes: np.ndarray) -> np.ndarray:
    """Return the modes scaled to one at the tip, or at their largest deflection."""
    x = np.linspace(0.0, 1.0, 20 * max(len(modes), 1) + 101)
    value = problem.space.sample(x).combined(modes).value
    scaled = []
    for mode, deflection in zip(modes, value):
        largest = np.abs(deflection).max()
        tip = float(mode @ problem.tip)
        if abs(tip) < STILL * largest:
            # Of equal deflections the one nearest to the root.
            first = int(np.argmax(np.abs(deflection) > (1.0 - 1e-6) * largest))
            tip = _extreme(problem, mode, x[max(first - 1, 0)], x[min(first + 1, len(x) - 1)])
        scaled.append(mode / tip)
    return np.array(scaled).reshape(modes.shape)


def _extreme(problem: RitzProblem, mode: np.ndarray, start: float, end: float) -> float:
    """Return the deflection that is largest in size between two fractions of the length."""
    for _ in range(4):
        x = np.linspace(start, end, 41)
        value = problem.space.sample(x).combined(mode[None]).value[0]
        best = int(np.argmax(np.abs(value)))
        start, end = x[max(best - 1, 0)], x[min(best + 1, len(x) - 1)]
    return float(value[best])
