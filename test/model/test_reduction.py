# SPDX-License-Identifier: Apache-2.0
"""Matrices of finite elements to modes: closed forms of a beam, lumped masses, file formats."""

import sys

from flexdyn_ros.model.modal.files import modal_arrays, read_modal_file
from flexdyn_ros.model.modal.matrix_files import read_finite_elements, UNITS
from flexdyn_ros.model.modal.reduction import derived_rotations, FiniteElements, reduced_modes
import numpy as np
from oracles.finite_elements import (
    beam,
    CANTILEVER,
    EIY,
    EIZ,
    GJ,
    LENGTH,
    MASS,
    POLAR,
    superelement,
    write_fem,
    written,
)
import pytest


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
    given = reduced_modes(model, [10], [], 12)
    ours = modal_arrays(dict(given))
    assert np.abs(ours.rotary_coupling).max() > 1e-6  # of torsion
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
    super_element = superelement(whole, 6)
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
    path = tmp_path / 'a.fem'
    write_fem(path, given)
    text = path.read_text()
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


def test_nastran_files_name_the_package_they_need(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'pyNastran', None)
    paths = written(tmp_path, beam(2), 'matrix_market')
    (tmp_path / 'k.op4').write_text('')
    with pytest.raises(ValueError, match='pip install pyNastran'):
        read_finite_elements(tmp_path / 'k.op4', *paths[1:])
