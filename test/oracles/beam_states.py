# SPDX-License-Identifier: Apache-2.0
"""
Shapes of beams by state vectors: exact along each uniform piece, by matrix exponentials.

Bending, y = (w, t, M, V): w' = t + V / kGA, t' = M / EI, M' = -V - rho I s t, V' = -rho A s w with
s = omega^2, t the section's rotation; 1 / kGA and rho I are zero for Euler-Bernoulli. A body of
mass m, first moment m d and inertia J on a section takes s (m w + m d t) off V and s (J t + m d w)
off M. Rods, y = (psi, T): psi' = T / GJ, T' = -s rho J psi. Natural frequencies are roots of the
determinant of the tip's conditions (Pestel and Leckie, Matrix Methods in Elastomechanics, 1963).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from flexdyn_ros.model.records.beam import Beam, ModeFamily
import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq, minimize_scalar
from scipy.special import jacobi

FIELDS = ('value', 'slope', 'turn', 'curvature')
TIP = {'free': (2, 3), 'pinned': (0, 2), 'clamped': (0, 1)}
ROOT = {'clamped': (2, 3), 'pinned': (1, 3)}


@dataclass(frozen=True)
class Piece:
    """A uniform piece from `start` to `end` [m] with its constants."""

    start: float
    end: float
    line: float
    young: float
    shear: float
    area: float
    iy: float
    iz: float
    j: float
    polar: float


def pieces(beam: Beam) -> list[Piece]:
    """Return the uniform pieces of a beam that is uniform or stepped, cut at its loads."""
    rows = [(0.0, 1.0, beam)]
    if beam.stations:
        rows = [
            (a.at, b.at, a) for a, b in zip(beam.stations, beam.stations[1:]) if b.at > a.at
        ]
    result = []
    for start, end, source in rows:
        cuts = [start, *sorted({x.at for x in beam.carried if start < x.at < end}), end]
        names = ('young', 'shear', 'area', 'iy', 'iz', 'j', 'polar')
        values = {name: getattr(source, name) or 0.0 for name in names}
        line = source.linear_density if beam.stations else beam.mass / beam.length
        for a, b in zip(cuts, cuts[1:]):
            result.append(Piece(a * beam.length, b * beam.length, line, **values))
    return result


def exponentials(matrices: np.ndarray) -> np.ndarray:
    """Return exp of matrices (n, k, k), by halving, the series and squaring."""
    size = float(np.max(np.abs(matrices).sum(axis=-1), initial=1e-9))
    halvings = max(0, int(np.ceil(np.log2(size))) + 1)
    small = matrices / 2.0**halvings
    result = term = np.broadcast_to(np.eye(matrices.shape[-1]), matrices.shape)
    for k in range(1, 19):
        term = term @ small / k
        result = result + term
    for _ in range(halvings):
        result = result @ result
    return result


def state_matrix(beam: Beam, family: ModeFamily, piece: Piece, square) -> np.ndarray:
    """Return A of y' = A y for a squared frequency, or a row of them."""
    if np.ndim(square):
        still, fast = (state_matrix(beam, family, piece, s) for s in (0.0, 1.0))
        return still + np.asarray(square)[:, None, None] * (fast - still)
    density = piece.line / piece.area if piece.area else 0.0
    if family.kind == 'torsion':
        return np.array([[0.0, 1.0 / (piece.shear * piece.j)],
                         [-square * density * piece.polar, 0.0]])
    if family.kind == 'axial':
        return np.array([[0.0, 1.0 / (piece.young * piece.area)], [-square * piece.line, 0.0]])
    moment = piece.iz if family.kind == 'bending_y' else piece.iy
    soft, spin = 0.0, 0.0
    if family.shear_correction is not None:
        soft = 1.0 / (family.shear_correction * piece.shear * piece.area)
        spin = square * density * moment * beam.rotary_inertia
    return np.array([
        [0.0, 1.0, 0.0, soft], [0.0, 0.0, 1.0 / (piece.young * moment), 0.0],
        [0.0, -spin, 0.0, -1.0], [-square * piece.line, 0.0, 0.0, 0.0],
    ])


def load_matrix(family: ModeFamily, load, square: float) -> np.ndarray:
    """Return the jump of the state over a body that a section carries."""
    if family.kind in ('torsion', 'axial'):
        inertia = load.inertia[0] if family.kind == 'torsion' else load.mass
        return np.array([[1.0, 0.0], [-square * inertia, 1.0]])
    turning = load.inertia[2] if family.kind == 'bending_y' else load.inertia[1]
    jump = np.eye(4)
    jump[2:, :2] = -square * np.array([[load.ahead, turning], [load.mass, load.ahead]])
    return jump


def transfers(beam: Beam, family: ModeFamily, square, x, whole=False) -> np.ndarray:
    """Return matrices (n, k, k) from the root's state to x [m]; tip loads only where `whole`."""
    square, x = np.broadcast_arrays(np.asarray(square, float), np.atleast_1d(x))
    size = 2 if family.kind in ('torsion', 'axial') else 4
    # Scaled to one size of all components, so that the exponentials lose nothing.
    matrix = np.broadcast_to(np.eye(size), (len(x), size, size))
    for piece in pieces(beam):
        reach = np.clip(np.minimum(x, piece.end) - piece.start, 0.0, None)
        rigidity = piece.young * max(piece.iy, piece.iz) or 1.0
        unit = np.array([1.0, 1.0, rigidity, rigidity][:size])
        if size == 2:
            unit[1] = piece.shear * piece.j if family.kind == 'torsion' else (
                piece.young * piece.area)
        scaled = state_matrix(beam, family, piece, square) * unit / unit[:, None]
        grown = exponentials(scaled * reach[:, None, None]) * unit[:, None] / unit
        matrix = grown @ matrix
        beyond = (x > piece.end) | (whole & (piece.end == beam.length))
        for load in beam.carried:
            if load.at * beam.length == piece.end:
                still, fast = (load_matrix(family, load, s) for s in (0.0, 1.0))
                jump = still + (square * beyond)[:, None, None] * (fast - still)
                matrix = jump @ matrix
    return matrix


def _ends(family: ModeFamily) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the components that are free at the root and those that vanish at the tip."""
    if family.kind in ('torsion', 'axial'):
        return (1,), (1,)
    root, tip = family.boundary.split('-')
    return ROOT[root], TIP[tip]


def _determinants(beam: Beam, family: ModeFamily, rates) -> np.ndarray:
    root, tip = _ends(family)
    matrix = transfers(beam, family, np.square(rates), beam.length, whole=True)
    return np.linalg.det(matrix[:, tip][:, :, root])


@lru_cache(maxsize=None)
def natural_rates(beam: Beam, family: ModeFamily, count: int) -> tuple[float, ...]:
    """Return the lowest angular frequencies [rad/s], rigid motion apart."""
    first = pieces(beam)[0]
    density = first.line / (first.area or 1.0)
    if family.kind == 'torsion':
        unit = np.sqrt(first.shear * first.j / (density * first.polar)) / beam.length
    elif family.kind == 'axial':
        unit = np.sqrt(first.young * first.area / first.line) / beam.length
    else:
        moment = first.iz if family.kind == 'bending_y' else first.iy
        unit = np.sqrt(first.young * moment / first.line) / beam.length**2
    waves = np.concatenate((np.geomspace(1e-3, 0.1, 40), np.arange(0.12, 25.0, 0.06)))
    rates = unit * (waves**2 if family.kind.startswith('bending') else waves)
    values = np.sign(_determinants(beam, family, rates))
    found = [
        brentq(lambda rate: _determinants(beam, family, [rate])[0], rates[k], rates[k + 1],
               xtol=1e-15 * rates[k], rtol=1e-14)
        for k in np.flatnonzero(values[1:] != values[:-1])[:count]
    ]
    assert len(found) == count
    return tuple(found)


def _sampler(beam: Beam, family: ModeFamily, square: float, start: np.ndarray):
    """Return a function (x, field) of the shape that starts with a state, root turn taken off."""
    bends = family.kind.startswith('bending')

    def sample(x, field):
        states = transfers(beam, family, square, x) @ start
        rates = np.zeros_like(states)
        for piece in pieces(beam):
            on = (np.asarray(x) >= piece.start) & (np.asarray(x) <= piece.end * (1.0 + 1e-14))
            rates[on] = states[on] @ state_matrix(beam, family, piece, square).T
        if not bends:
            return states[:, 0] if field == 'value' else rates[:, 0]
        turn = start[1] if family.boundary.startswith('pinned') else 0.0
        return {
            'value': states[:, 0] - turn * np.asarray(x), 'slope': rates[:, 0] - turn,
            'turn': states[:, 1] - turn, 'curvature': rates[:, 1],
        }[field]

    return sample


def piece_at(beam: Beam, x: float) -> Piece:
    """Return the piece that a place [m] lies on."""
    return next(p for p in pieces(beam) if x <= p.end * (1.0 + 1e-14))


def _natural(beam: Beam, family: ModeFamily) -> list:
    root, tip = _ends(family)
    found = []
    for rate in natural_rates(beam, family, family.count) if family.count else ():
        matrix = transfers(beam, family, rate**2, beam.length, whole=True)[0]
        start = np.zeros(len(matrix))
        start[list(root)] = np.linalg.svd(matrix[np.ix_(tip, root)])[2][-1]
        found.append(_sampler(beam, family, rate**2, start))
    return found


def _polynomial(beam: Beam, family: ModeFamily) -> list:
    """Return x^n (1 - x)^c times Jacobi polynomials, orthogonal over the length."""
    power = 2 if family.kind.startswith('bending') else 1
    tip = {'free': 0, 'pinned': 1, 'clamped': 2}[family.boundary.split('-')[1]]
    found = []
    for degree in range(family.count):
        factor = np.poly1d([1.0, 0.0]) ** power * np.poly1d([-1.0, 1.0]) ** tip
        poly = factor * np.poly1d(jacobi(degree, 2 * tip, 2 * power)(np.poly1d([2.0, -1.0])))

        def sample(x, field, poly=poly):
            order = {'value': 0, 'slope': 1, 'turn': 1, 'curvature': 2}[field]
            return poly.deriv(order)(np.asarray(x) / beam.length) / beam.length**order

        found.append(sample)
    return found


def quadrature(beam: Beam) -> tuple[np.ndarray, np.ndarray]:
    """Return Gauss stations [m] and weights on every uniform piece."""
    x, w = np.polynomial.legendre.leggauss(30)
    parts = [(0.5 * (p.end - p.start) * (x + 1.0) + p.start, 0.5 * (p.end - p.start) * w)
             for p in pieces(beam)]
    return tuple(np.concatenate(part) for part in zip(*parts))


def family_matrices(beam: Beam, family: ModeFamily, shapes) -> tuple[np.ndarray, np.ndarray]:
    """Return stiffness and mass, with the loads, of shapes of one family."""
    x, weights = quadrature(beam)
    own = [piece_at(beam, z) for z in x]
    value, slope = (np.array([s(x, f) for s in shapes]) for f in ('value', 'slope'))
    line = np.array([p.line for p in own])
    rotary = np.array([p.line / p.area if p.area else 0.0 for p in own])
    if family.kind in ('torsion', 'axial'):
        rigidity = np.array([
            p.shear * p.j if family.kind == 'torsion' else p.young * p.area for p in own
        ])
        if family.kind == 'torsion':
            line = rotary * np.array([p.polar for p in own])
        stiffness = (slope * weights * rigidity) @ slope.T
        mass = (value * weights * line) @ value.T
    else:
        moment = np.array([p.iz if family.kind == 'bending_y' else p.iy for p in own])
        turn, bend = (np.array([s(x, f) for s in shapes]) for f in ('turn', 'curvature'))
        stiffness = (bend * weights * np.array([p.young for p in own]) * moment) @ bend.T
        if family.shear_correction is not None:
            rigidity = family.shear_correction * np.array([p.shear * p.area for p in own])
            stiffness = stiffness + ((slope - turn) * weights * rigidity) @ (slope - turn).T
        spin = rotary * moment * beam.rotary_inertia * (family.shear_correction is not None)
        mass = (value * weights * line) @ value.T + (turn * weights * spin) @ turn.T
    return stiffness, mass + carried_mass(beam, family, shapes)


def carried_mass(beam: Beam, family: ModeFamily, shapes) -> np.ndarray:
    """Return the modal mass of the bodies that the sections carry."""
    mass = np.zeros((len(shapes), len(shapes)))
    for load in beam.carried:
        place = np.array([load.at * beam.length])
        fields = ('value', 'turn') if family.kind.startswith('bending') else ('value',)
        columns = np.array([[shape(place, field)[0] for field in fields] for shape in shapes])
        jump = -load_matrix(family, load, 1.0)
        body = jump[[3, 2], :2] if len(jump) == 4 else jump[1:, :1]
        mass = mass + columns @ body @ columns.T
    return mass


def _static(beam: Beam, family: ModeFamily, kept: list) -> list:
    """Return residual deflections under tip loads, natural among themselves."""
    clamped = ModeFamily(family.kind, 0, shear_correction=family.shear_correction)
    root, tip = _ends(clamped)
    matrix = transfers(beam, clamped, 0.0, beam.length, whole=True)[0]
    loads = [3, 2][:family.static_modes] if len(matrix) == 4 else [1]
    end = np.array([beam.length])
    rest = []
    for component in loads:
        target = np.array([1.0 if row == component else 0.0 for row in tip])
        start = np.zeros(len(matrix))
        start[list(root)] = np.linalg.solve(matrix[np.ix_(tip, root)], target)
        whole = _sampler(beam, clamped, 0.0, start)
        taken = np.zeros(len(kept))
        if kept:
            field = 'turn' if component == 2 else 'value'
            work = np.array([shape(end, field)[0] for shape in kept])
            taken = np.linalg.solve(family_matrices(beam, family, kept)[0], work)
        rest.append(_sum([whole, *kept], [1.0, *-taken]))
    stiffness, mass = family_matrices(beam, family, rest)
    _, vectors = eigh(stiffness, mass)
    return [_sum(rest, vector) for vector in vectors.T]


def _sum(shapes, factors):
    return lambda x, field: sum(f * s(x, field) for f, s in zip(factors, shapes))


def _scaled(beam: Beam, shape):
    """Return a shape that is one at the tip, or at its largest deflection where that stands."""
    grid = np.linspace(0.0, beam.length, 201)
    values = shape(grid, 'value')
    tip = shape(np.array([beam.length]), 'value')[0]
    if abs(tip) < 1e-7 * np.abs(values).max():
        best = int(np.argmax(np.abs(values) > (1.0 - 1e-5) * np.abs(values).max()))
        sign = np.sign(values[best])
        found = minimize_scalar(
            lambda z: -sign * shape(np.array([z]), 'value')[0], method='bounded',
            bounds=(grid[max(best - 2, 0)], grid[min(best + 2, 200)]), options={'xatol': 1e-9},
        )
        tip = -sign * found.fun
    return lambda x, field: shape(np.atleast_1d(x), field) / tip


@lru_cache(maxsize=None)
def family_samplers(beam: Beam, family: ModeFamily) -> tuple:
    """Return a function (x [m], field) for each shape of a family."""
    make = _polynomial if family.basis == 'polynomial' else _natural
    kept = make(beam, family)
    if family.static_modes:
        kept = kept + _static(beam, family, kept)
    return tuple(_scaled(beam, shape) for shape in kept)
