# SPDX-License-Identifier: Apache-2.0
"""Matrices of a beam's finite elements, and the files in which programs write them."""

from flexdyn_ros.model.modal.reduction import FiniteElements
import numpy as np
from scipy import io, sparse
from scipy.linalg import eigh

LENGTH, MASS, EIY, EIZ, GJ, EA, POLAR = 1.2, 0.9, 110.0, 190.0, 80.0, 9e5, 3e-4
# Roots of cos x cosh x = -1.
CANTILEVER = np.array([1.8751040687119611, 4.694091132974174, 7.854757438237612])


def beam_element(h, lumped=False):
    """Return stiffness and mass of a beam element along x (Przemieniecki 1968, chapter 5, 11)."""
    k, m = np.zeros((12, 12)), np.zeros((12, 12))
    line = MASS / LENGTH
    for at, stiff, inertia in ((0, EA, line), (3, GJ, line * POLAR)):
        pair = np.ix_([at, at + 6], [at, at + 6])
        k[pair] += stiff / h * np.array([[1, -1], [-1, 1]])
        m[pair] += inertia * h / 6 * np.array([[2, 1], [1, 2]])
    for move, turn, stiff, sign in ((1, 5, EIZ, 1.0), (2, 4, EIY, -1.0)):
        at = [move, turn, move + 6, turn + 6]
        s = np.diag([1.0, sign, 1.0, sign])
        k[np.ix_(at, at)] += stiff / h**3 * s @ np.array([
            [12, 6 * h, -12, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h],
            [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h * h, -6 * h, 4 * h * h]]) @ s
        m[np.ix_(at, at)] += line * h / 420 * s @ np.array([
            [156, 22 * h, 54, -13 * h], [22 * h, 4 * h * h, 13 * h, -3 * h * h],
            [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h * h, -22 * h, 4 * h * h]]) @ s
    if lumped:
        m = np.diag(np.tile(0.5 * line * h * np.array([1, 1, 1, POLAR, 0, 0]), 2))
    return k, m


def beam(elements=16, lumped=False):
    """Return a beam along x; its nodes are numbered 10, 20, and so on."""
    n = elements + 1
    k, m = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    element = beam_element(LENGTH / elements, lumped)
    for e in range(elements):
        at = slice(6 * e, 6 * e + 12)
        k[at, at] += element[0]
        m[at, at] += element[1]
    place = np.outer(np.linspace(0.0, LENGTH, n), [1.0, 0.0, 0.0])
    return FiniteElements(
        10 * (1 + np.arange(n)), place, np.repeat(np.arange(n), 6), np.tile(np.arange(6), n), m, k
    )


def superelement(whole, count):
    """Return a beam on its first and last node, then generalised coordinates (Craig, Bampton)."""
    size = len(whole.nodes)
    edge, inner = np.r_[0:6, size - 6:size], np.r_[6:size - 6]
    k, m = whole.stiffness, whole.mass
    static = -np.linalg.solve(k[np.ix_(inner, inner)], k[np.ix_(inner, edge)])
    _, modes = eigh(k[np.ix_(inner, inner)], m[np.ix_(inner, inner)])
    span = np.zeros((size, 12 + count))
    span[edge, :12], span[np.ix_(inner, range(12))] = np.eye(12), static
    span[np.ix_(inner, range(12, 12 + count))] = modes[:, :count]
    return FiniteElements(
        whole.node_ids[[0, -1]], whole.positions[[0, -1]],
        np.r_[np.repeat([0, 1], 6), np.zeros(count, int)],
        np.r_[np.tile(np.arange(6), 2), np.full(count, 6)], span.T @ m @ span, span.T @ k @ span)


def written(folder, model, form, scale=(1.0, 1.0, 1.0)):
    """Write a model as a program does, lengths and so on in its own units; return the paths."""
    length, mass, time = scale
    turns = np.where(model.directions >= 3, 1.0 / length, 1.0)
    k, m = (sparse.coo_matrix(factor * np.outer(turns, turns) * matrix) for factor, matrix in
            ((time**2 / mass, model.stiffness), (1.0 / mass, model.mass)))
    nodes = folder / 'nodes.csv'
    table = np.column_stack([model.node_ids, model.positions / length])
    np.savetxt(nodes, table, delimiter=', ', header='id, x, y, z')
    if form == 'matrix_market':
        for name, matrix in (('k', k), ('m', m)):
            io.mmwrite(str(folder / f'{name}.mtx'), matrix)
        return folder / 'k.mtx', folder / 'm.mtx', nodes
    if form == 'matlab':
        io.savemat(folder / 'all.mat', {'Kaa': k, 'Maa': m.toarray()}, do_compression=True)
        return folder / 'all.mat', folder / 'all.mat', nodes
    if form == 'calculix':
        for name, matrix in (('a.sti', k), ('a.mas', m)):
            half = sparse.coo_matrix(sparse.tril(matrix))
            np.savetxt(folder / name, np.column_stack([half.row + 1, half.col + 1, half.data]),
                       fmt='%d %d %.17e')
        lines = '\n'.join(f'{int(row[0])}, {row[1]}, {row[2]}, {row[3]}' for row in table)
        nodes.write_text(f'*HEADING\n x\n*NODE, NSET=ALL\n{lines}\n*ELEMENT\n1,2,3\n')
        rows = folder / 'a.dof'
        rows.write_text('\n'.join(f'{model.node_ids[n]}.{w + 1}' for n, w in
                                  zip(model.nodes, model.directions)))
        return folder / 'a.sti', folder / 'a.mas', nodes, rows
    for name, matrix in (('a_STIF.mtx', k), ('a_MASS.mtx', m)):
        half = sparse.coo_matrix(sparse.tril(matrix))
        lines = [f'{model.node_ids[model.nodes[i]]},{model.directions[i] + 1}, '
                 f'{model.node_ids[model.nodes[j]]},{model.directions[j] + 1}, {value:.17e}'
                 for i, j, value in zip(half.row, half.col, half.data)]
        chance = np.random.default_rng(2)
        chance.shuffle(lines)
        (folder / name).write_text('** MATRIX\n' + '\n'.join(lines))
    return folder / 'a_STIF.mtx', folder / 'a_MASS.mtx', nodes


def write_fem(path, given):
    """Write modes of the lumped beam of 12 elements as MBDyn does."""
    mass, modes = np.full(13, MASS / 12), len(given['translation'])
    mass[[0, -1]] *= 0.5
    groups = {
        1: f'REV0 13 {modes} 0 0 0', 2: given['node_ids'], 3: np.zeros(modes), 4: np.zeros(modes),
        **{5 + a: given['node_positions'][:, a] for a in range(3)},
        8: np.concatenate([given['translation'], given['rotation']], axis=2),
        9: given['modal_mass'], 10: given['stiffness'],
        11: np.column_stack([mass, mass, mass, POLAR * mass, 0 * mass, 0 * mass]),
        13: np.eye(modes),
    }
    path.write_text('** MBDyn MODAL DATA FILE\n' + ''.join(
        f'** RECORD GROUP {k}, SOMETHING\n' + (value if isinstance(value, str) else ' '.join(
            f'{x:.17e}'.replace('e', 'D') if k != 2 else str(x) for x in np.ravel(value)
        )) + '\n**\n' for k, value in groups.items()))
