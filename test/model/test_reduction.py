# SPDX-License-Identifier: Apache-2.0
"""Matrices of finite elements to modes: closed forms of a beam, lumped masses, file formats."""

import random
import sys

from flexdyn_ros.model.modal.files import modal_arrays, read_modal_file
from flexdyn_ros.model.modal.matrix_files import read_finite_elements, UNITS
from flexdyn_ros.model.modal.reduction import derived_rotations, FiniteElements, reduced_modes
import numpy as np
import pytest
from scipy import io, sparse

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


def test_a_cantilever_against_closed_forms():
    """Frequencies, static deflection, mass and inertia of a uniform beam."""
    arrays = modal_arrays(reduced_modes(beam(), [10], [170], 12))
    rates = np.sqrt(np.diag(arrays.stiffness))
    line = MASS / LENGTH
    for rigidity in (EIY, EIZ):
        for root in CANTILEVER:
            exact = root**2 * np.sqrt(rigidity / line) / LENGTH**2
            assert np.abs(rates / exact - 1.0).min() < 1e-3
    twist = 0.5 * np.pi / LENGTH * np.sqrt(GJ / (line * POLAR))
    assert np.abs(rates / twist - 1.0).min() < 2e-3
    # A unit force at the tip: the static shapes keep L^3 / 3 EI, and the slope L^2 / 2 EI.
    tip = arrays.translation[:, -1, 1]
    answer = np.linalg.solve(arrays.stiffness, tip)
    assert answer @ tip == pytest.approx(LENGTH**3 / (3 * EIZ), rel=1e-9)
    assert answer @ arrays.rotation[:, -1, 2] == pytest.approx(LENGTH**2 / (2 * EIZ), rel=1e-9)
    assert arrays.mass == pytest.approx(MASS, rel=1e-12)
    assert np.allclose(arrays.first_moment, [0.5 * MASS * LENGTH, 0, 0], atol=1e-12)
    inertia = np.trace(arrays.second_moment) * np.eye(3) - arrays.second_moment
    bent = MASS * LENGTH**2 / 3
    assert np.allclose(inertia, np.diag([MASS * POLAR, bent, bent]), rtol=1e-9, atol=1e-12)


def test_lumped_matrices_are_lumped_nodes():
    """Integrals of a diagonal mass matrix against sums over the nodes."""
    model = beam(12, lumped=True)
    given = reduced_modes(model, [10], [], 5)
    ours = modal_arrays(dict(given))
    mass = np.full(13, MASS / 12)
    mass[[0, -1]] *= 0.5
    spin = np.zeros((13, 3, 3))
    spin[:, 0, 0] = POLAR * mass
    kept = ('node_ids', 'node_positions', 'translation', 'rotation', 'modal_mass', 'stiffness')
    theirs = modal_arrays({
        **{name: given[name] for name in kept}, 'node_masses': mass, 'node_inertias': spin,
    })
    for name in theirs.integrals():
        found, expected = (np.asarray(getattr(each, name)) for each in (ours, theirs))
        assert np.allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max()), name


def test_guyan_reduction_of_a_superelement_is_that_of_the_whole():
    """Matrices on boundary nodes, then generalised coordinates, as Craig and Bampton export."""
    whole = beam(16)
    edge, inner = np.r_[0:6, 96:102], np.r_[6:96]
    k, m = whole.stiffness, whole.mass
    static = -np.linalg.solve(k[np.ix_(inner, inner)], k[np.ix_(inner, edge)])
    from scipy.linalg import eigh
    _, modes = eigh(k[np.ix_(inner, inner)], m[np.ix_(inner, inner)])
    span = np.zeros((102, 12 + 6))
    span[edge, :12], span[np.ix_(inner, range(12))] = np.eye(12), static
    span[np.ix_(inner, range(12, 18))] = modes[:, :6]
    super_element = FiniteElements(
        np.array([10, 170]), whole.positions[[0, -1]],
        np.r_[np.repeat([0, 1], 6), np.zeros(6, int)],
        np.r_[np.tile(np.arange(6), 2), np.full(6, 6)], span.T @ m @ span, span.T @ k @ span)
    ours = modal_arrays(reduced_modes(super_element, [10], [170], 6))
    full = modal_arrays(reduced_modes(whole, [10], [170], 6))
    assert np.allclose(np.diag(ours.stiffness), np.diag(full.stiffness), rtol=1e-9)
    assert ours.mass == pytest.approx(full.mass)
    assert 'second order' in ours.notes[0]
    assert np.allclose(ours.second_moment, full.second_moment, atol=1e-12)
    assert np.allclose(np.abs(ours.modal_first_moment), np.abs(full.modal_first_moment),
                       atol=1e-7)


def test_rotations_are_derived_from_translations():
    chance = np.random.default_rng(1)
    place, turn = chance.normal(size=(50, 3)), np.array([0.1, -0.2, 0.3])
    moves = (np.cross(turn, place) + [1.0, 2.0, 3.0])[None]
    assert np.allclose(derived_rotations(place, moves), turn)
    line = np.outer(np.linspace(0, 1, 30), [1.0, 0, 0])
    bent = np.zeros((1, 30, 3))
    bent[0, :, 1] = line[:, 0]**2
    found = derived_rotations(line, bent)[0]
    assert np.allclose(found[10:20, 2], 2.0 * line[10:20, 0], atol=1e-6)
    assert np.allclose(found[:, 0], 0.0)


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


@pytest.mark.parametrize('form', ['matrix_market', 'matlab', 'calculix', 'abaqus'])
@pytest.mark.parametrize('units', ['m-kg-s', 'mm-t-s', 'mm-kg-ms'])
def test_formats_and_units(tmp_path, form, units):
    paths = written(tmp_path, beam(8), form, UNITS[units])
    found = read_finite_elements(*paths, units=units)
    ours, exact = (modal_arrays(reduced_modes(model, [10], [90], 3)) for model in
                   (found, beam(8)))
    assert ours.mass == pytest.approx(MASS, rel=1e-9)
    assert np.allclose(ours.node_positions, exact.node_positions)
    assert np.allclose(np.diag(ours.stiffness), np.diag(exact.stiffness), rtol=1e-6)
    assert np.allclose(ours.second_moment, exact.second_moment, atol=1e-12)


def test_a_solid_without_rotations(tmp_path):
    """Three rows a node: rotations come from neighbours, and one root node is too few."""
    place = np.array([[x, y, z] for x in range(6) for y in (0, 1) for z in (0, 1)], float) * 0.1
    n = len(place)
    k, m = np.zeros((3 * n, 3 * n)), 0.05 * np.eye(3 * n)
    for i in range(n):
        for j in range(i):
            arm = place[i] - place[j]
            size = np.linalg.norm(arm)
            if size < 0.18:
                block = 1e5 * np.outer(arm, arm) / size**2
                for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
                    k[3 * a:3 * a + 3, 3 * b:3 * b + 3] += sign * block
    model = FiniteElements(np.arange(n), place, np.repeat(np.arange(n), 3),
                           np.tile(np.arange(3), n), m, k)
    arrays = modal_arrays(reduced_modes(model, [0, 1, 2, 3], [20, 21, 22, 23], 0, keep=3))
    assert arrays.mass == pytest.approx(0.05 * n)
    # In bending, the end section turns about y or z by about 1.5 of its deflection over length.
    for mode in range(2):
        move, turn = arrays.translation[mode, 20:].mean(axis=0), arrays.rotation[mode, 20:].mean(0)
        swept = np.cross(turn, [0.5, 0, 0])
        assert 1.0 < swept @ move / (move @ move) < 2.0
    with pytest.raises(ValueError, match='rigid motions'):
        modal_arrays(reduced_modes(model, [0], [20], 2))


@pytest.mark.parametrize(('change', 'words'), [
    (lambda p: p[0].write_text('1 1 1\n1 2'), 'a.sti: '),
    (lambda p: p[0].write_text(''), 'a.sti: '),
    (lambda p: p[2].write_text('1 2 3\n'), 'number, x, y and z'),
    (lambda p: p[3].write_text('10.7\n'), 'node and direction'),
    (lambda p: p[3].write_text('\n'.join(['11.1'] * 54)), 'has no node 11'),
    (lambda p: p[0].unlink(), 'is no file'),
])
def test_wrong_matrix_files(tmp_path, change, words):
    paths = written(tmp_path, beam(8), 'calculix')
    change(paths)
    with pytest.raises(ValueError) as caught:  # noqa: PT011, the words are compared below
        reduced_modes(read_finite_elements(*paths), [10], [90], 3)
    assert words in str(caught.value)


def test_matrices_that_no_body_has():
    model = beam(4)
    for name, change, words in (
        ('mass', lambda v: v + np.eye(30, k=1), 'not symmetric'),
        ('stiffness', lambda v: -v, 'without stiffness'),
        ('mass', lambda v: np.diag(np.arange(30.0)), 'by direction'),
        ('stiffness', lambda v: v[:5, :5], 'of shape'),
        ('stiffness', lambda v: np.nan * v, 'not finite'),
    ):
        wrong = FiniteElements(**{**vars(model), name: change(getattr(model, name))})
        with pytest.raises(ValueError) as caught:  # noqa: PT011, the words are compared below
            reduced_modes(wrong, [10], [50], 2)
        assert words in str(caught.value)
    with pytest.raises(ValueError, match='no node 7'):
        reduced_modes(model, [7])


def test_mbdyn_files(tmp_path):
    """A .fem file of the lumped beam against the same arrays."""
    given = reduced_modes(beam(12, lumped=True), [10], [], 4)
    arrays = modal_arrays(dict(given))
    mass = np.full(13, MASS / 12)
    mass[[0, -1]] *= 0.5
    groups = {
        1: 'REV0 13 4 0 0 0', 2: given['node_ids'], 3: np.zeros(4), 4: np.zeros(4),
        **{5 + a: given['node_positions'][:, a] for a in range(3)},
        8: np.concatenate([given['translation'], given['rotation']], axis=2),
        9: given['modal_mass'], 10: given['stiffness'],
        11: np.column_stack([mass, mass, mass, POLAR * mass, 0 * mass, 0 * mass]),
        13: np.eye(4),
    }
    text = '** MBDyn MODAL DATA FILE\n' + ''.join(
        f'** RECORD GROUP {k}, SOMETHING\n' + (value if isinstance(value, str) else ' '.join(
            f'{x:.17e}'.replace('e', 'D') if k != 2 else str(x) for x in np.ravel(value)
        )) + '\n**\n' for k, value in groups.items())
    path = tmp_path / 'a.fem'
    path.write_text(text)
    found = read_modal_file(path, 'fem')
    for name, expected in vars(arrays).items():
        if isinstance(expected, np.ndarray) and name != 'damping':
            assert np.allclose(getattr(found, name), expected, atol=1e-9 * np.abs(expected).max())
    assert np.array_equal(found.damping, np.eye(4))
    for wrong, words in (
        (text.replace('REV0 13', 'REV0 12'), 'numbers of shapes'),
        (text.replace('GROUP 11', 'GROUP 14'), 'no numbers of lumped'),
        (text.replace('GROUP 13', 'GROUP 11'), 'group 11 twice'),
        (text.replace('REV0', 'REV0 x'), 'is no .fem'),
    ):
        path.write_text(wrong)
        with pytest.raises(ValueError, match=words):
            read_modal_file(path, 'fem')


@pytest.mark.parametrize('form', ['matrix_market', 'calculix', 'abaqus', 'fem'])
def test_mutated_files_give_an_error_or_modes(tmp_path, form):
    """Bytes changed, taken out and repeated at random."""
    chance, errors, model = random.Random(6), 0, beam(3)
    if form == 'fem':
        paths = [tmp_path / 'a.fem']
        paths[0].write_text('** RECORD GROUP 1, HEADER\nREV0 2 1 0 0 0\n' + ''.join(
            f'** RECORD GROUP {k}, X\n{values}\n' for k, values in (
                (2, '1 2'), (5, '0 1'), (6, '0 0'), (7, '0 0'), (8, '0 0 0 0 0 0 0 1 0 0 0 1'),
                (9, '0.5'), (10, '8'), (11, '0.5 0.5 0.5 0 0 0 0.5 0.5 0.5 0 0 0'))))
        assert read_modal_file(paths[0], 'fem').mass == 1.0
    else:
        paths = written(tmp_path, model, form)
    whole = [path.read_bytes() for path in paths]
    for _ in range(150):
        k = chance.randrange(len(paths))
        content = bytearray(whole[k])
        for _ in range(chance.choice((1, 1, 2, 8))):
            at, length = chance.randrange(len(content)), chance.choice((1, 1, 4, 60))
            content[at:at + length] = chance.choice((
                bytes(chance.choice(b'0123456789.-+,De \n') for _ in range(length)), b'',
                bytes(content[at:at + length]) * 2, chance.randbytes(length)))
        paths[k].write_bytes(content)
        try:
            if form == 'fem':
                read_modal_file(paths[0], 'fem')
            else:
                modal_arrays(reduced_modes(read_finite_elements(*paths), [10], [40], 3))
        except ValueError:
            errors += 1
        paths[k].write_bytes(whole[k])
    assert 20 < errors < 150


def test_nastran_files_name_the_package_they_need(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'pyNastran', None)
    paths = written(tmp_path, beam(2), 'matrix_market')
    (tmp_path / 'k.op4').write_text('')
    with pytest.raises(ValueError, match='pip install pyNastran'):
        read_finite_elements(tmp_path / 'k.op4', *paths[1:])
