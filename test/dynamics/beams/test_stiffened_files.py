# SPDX-License-Identifier: Apache-2.0
"""Geometric stiffening of modes from SID and .npz files, against the beam they come from."""

import flexdyn_ros as fd
from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.beam.body import link_body
from flexdyn_ros.model.modal.files import (
    body_arrays,
    modal_arrays,
    read_modal_file,
    write_arrays,
)
from flexdyn_ros.model.modal.matrix_files import read_finite_elements
from flexdyn_ros.model.modal.reduction import FiniteElements, reduced_modes
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.finite_elements import written
import pytest
from scipy.linalg import eigh
from thinned import thinned

BEAM = (
    '<beam tip="1.2 0.5 0" young="7e10" shear="2.6e10" area="1e-4" iy="1e-9" iz="2e-9" j="2.5e-9" '
    'mass="0.7"><bending axis="y" modes="2"/><bending axis="z" modes="2"/><torsion modes="1"/>'
    '<axial modes="1"/></beam>'
)
TIP = np.array([1.2, 0.5, 0.0])


def urdf(inside, options=''):
    """Return a spinning hub with a flexible blade that carries a body at its end."""
    body = (
        '<inertial><origin xyz="0.05 0 0"/><mass value="0.4"/><inertia ixx="1e-3" iyy="1e-3" '
        'izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    return (
        f'<robot name="r"><link name="hub"/><link name="blade"/><link name="weight">{body}</link>'
        '<joint name="spin" type="continuous"><parent link="hub"/><child link="blade"/>'
        '<axis xyz="0 0.6 0.8"/></joint><joint name="end" type="fixed"><parent link="blade"/>'
        f'<child link="weight"/><origin xyz="1.2 0.5 0"/></joint><flexdyn version="1.0">'
        f'<flexible_link link="blade" {options}>{inside}</flexible_link></flexdyn></robot>'
    )


def modal(name):
    """Return a <modal> element."""
    form = 'npz' if name.endswith('npz') else 'sid'
    return f'<modal file="{name}" format="{form}"/>'


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with the blade as SID, as SID without Gr of order 1, and as npz."""
    folder = tmp_path_factory.mktemp('blades')
    body = link_body(fd.load_robot(urdf(BEAM)).link('blade'))
    arrays = body_arrays(body, [x * TIP for x in (0.0, 0.5, 1.0)])
    write_arrays(folder / 'blade.sid', arrays)
    write_arrays(folder / 'blade.npz', read_modal_file(folder / 'blade.sid', 'sid'))
    block, lines = '', []
    for line in (folder / 'blade.sid').read_text().splitlines():
        block = line if line.isidentifier() else block
        if block == 'Gr' and line.startswith('m1'):
            continue
        lines.append('order = 0' if block == 'Gr' and line.startswith('order') else line)
    (folder / 'bare.sid').write_text('\n'.join(lines))
    return folder


def blade(folder, name, options=''):
    """Return the dynamics of the blade from a file."""
    return reference_dynamics(fd.load_robot(urdf(modal(name), options), base_dir=folder))


def frequencies(dyn, rate, gravity):
    """Return those of small vibrations about the undeformed blade at a constant rate [rad/s]."""
    dyn.set_gravity(gravity)
    n = dyn.robot.nv
    qd = np.zeros(n)
    qd[0] = rate
    columns = []
    for k in range(1, n):
        step = np.zeros(n)
        step[k] = 1e-6
        change = [dyn.bias_vector(s * step, qd)[1:] for s in (1.0, -1.0)]
        columns.append((change[0] - change[1]) / 2e-6)
    stiffness = np.array(columns).T
    mass = dyn.mass_matrix(np.zeros(n))[1:, 1:]
    return np.sqrt(eigh(0.5 * (stiffness + stiffness.T), mass, eigvals_only=True)[:4])


@pytest.mark.parametrize('name', ['blade.sid', 'bare.sid', 'blade.npz'])
@pytest.mark.parametrize(('rate', 'gravity'), [(30.0, (0, 0, 0)), (0.0, (9.0, 3.75, 0.0))])
def test_a_spinning_and_a_hanging_blade(folder, name, rate, gravity):
    """Loads of the weight at the end included, to 1e-6; without stiffening far off."""
    beam = reference_dynamics(fd.load_robot(urdf(BEAM)))
    exact = frequencies(beam, rate, gravity)
    found = frequencies(blade(folder, name), rate, gravity)
    assert found == pytest.approx(exact, rel=1e-6)
    soft = frequencies(blade(folder, 'blade.npz', 'geometric_stiffening="false"'), 0.0, gravity)
    assert exact[0] > 1.02 * soft[0]


def test_torques_of_moderate_deflections(folder):
    """Terms that SID lacks are of third order in the deflections."""
    beam, found = reference_dynamics(fd.load_robot(urdf(BEAM))), blade(folder, 'blade.sid')
    chance = np.random.default_rng(2)
    errors = []
    for size in (1e-2, 1e-3):
        q, qd, qdd = (np.r_[1.0, size * chance.normal(size=6)] * s for s in (1.0, 3.0, 5.0))
        exact = beam.inverse_dynamics(q, qd, qdd)
        errors.append(np.abs(found.inverse_dynamics(q, qd, qdd) - exact).max())
        assert errors[-1] < 1e-2 * np.abs(exact).max()
    assert errors[1] < 0.03 * errors[0]
    tau = found.inverse_dynamics(q, qd, qdd)
    assert_agree(found.forward_dynamics(q, qd, tau), qdd, 1e-8)


def test_fewer_modes_and_no_stiffening(folder):
    """Modes of a file are chosen in any order; King's equations have no stiffening."""
    inside = modal('blade.npz').replace('/>', ' modes="3 1"/>')
    few = fd.load_robot(urdf(inside), base_dir=folder).link('blade').modal.arrays.stiffening
    whole = read_modal_file(folder / 'blade.npz').stiffening
    assert np.array_equal(few.first, whole.first[np.ix_([2, 0], [2, 0])])
    assert np.array_equal(few.nodes[2], whole.nodes[2][np.ix_([2, 0], [2, 0])])
    linear = fd.load_robot(urdf(modal('blade.npz'), 'rotation="linear"'), base_dir=folder)
    assert not linear.link('blade').stiffens
    with pytest.raises(ModelError, match='contradicts rotation'):
        fd.load_robot(urdf(modal('blade.npz'), 'rotation="linear" geometric_stiffening="true"'),
                      base_dir=folder)


def blade_elements(elements, tension=None):
    """
    Return matrices of the blade of beam elements, masses lumped at its nodes.

    Args:
        elements: Their number.
        tension: Force in each, for its geometric stiffness (Przemieniecki, Theory of Matrix
            Structural Analysis, 1968, section 15.2).
    """
    n, h, line = elements + 1, 1.3 / elements, 0.7 / 1.3
    k, m = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    for e in range(elements):
        for at, stiff in ((0, 7e6), (3, 65.0)):
            pair = np.ix_([6 * e + at, 6 * e + 6 + at], [6 * e + at, 6 * e + 6 + at])
            k[pair] += stiff / h * np.array([[1, -1], [-1, 1]])
        for move, turn, stiff, sign in ((1, 5, 140.0, 1.0), (2, 4, 70.0, -1.0)):
            at = [6 * e + move, 6 * e + turn, 6 * e + 6 + move, 6 * e + 6 + turn]
            s = np.diag([1.0, sign, 1.0, sign])
            k[np.ix_(at, at)] += stiff / h**3 * s @ np.array([
                [12, 6 * h, -12, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h],
                [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h * h, -6 * h, 4 * h * h]]) @ s
            if tension is not None:
                k[np.ix_(at, at)] += tension[e] / (30.0 * h) * s @ np.array([
                    [36, 3 * h, -36, 3 * h], [3 * h, 4 * h * h, -3 * h, -h * h],
                    [-36, -3 * h, 36, -3 * h], [3 * h, -h * h, -3 * h, 4 * h * h]]) @ s
        for node in (e, e + 1):
            m[6 * node:6 * node + 6, 6 * node:6 * node + 6] += np.diag(
                0.5 * line * h * np.array([1, 1, 1, 2.5e-5, 0, 0]))
    axes = np.array([[1.2, -0.5, 0.0], [0.5, 1.2, 0.0], [0.0, 0.0, 1.3]]) / 1.3
    spread = np.kron(np.eye(2 * n), axes)
    return FiniteElements(
        np.arange(n), np.outer(np.linspace(0, 1, n), TIP), np.repeat(np.arange(n), 6),
        np.tile(np.arange(6), n), spread @ m @ spread.T, spread @ k @ spread.T)


def assert_stiffens_as_the_beam(given, folder, keep=slice(None)):
    """Compare a blade of some arrays with the beam, spinning, hanging and free, to 1 percent."""
    write_arrays(folder / 'fe.npz', modal_arrays(given))
    found = reference_dynamics(fd.load_robot(urdf(modal('fe.npz')), base_dir=folder))
    many = BEAM.replace('modes="2"', 'modes="6"').replace('<torsion modes="1"',
                                                          '<torsion modes="3"')
    beam = reference_dynamics(fd.load_robot(urdf(many)))
    for rate, gravity in ((30.0, (0, 0, 0)), (0.0, (9.0, 3.75, 0.0)), (0.0, (0, 0, 0))):
        exact, ours = (frequencies(each, rate, gravity)[keep] for each in (beam, found))
        assert ours == pytest.approx(exact, rel=1e-2)


@pytest.mark.parametrize('rotations', [True, False])
def test_finite_elements_along_a_line(tmp_path, rotations):
    """Modes of 32 elements stiffen as the beam does, to 1 percent, with the body at the end."""
    model, keep = blade_elements(32), slice(None)
    if not rotations:  # condensed, with torsion held
        k, m, nodes, ways = model.stiffness, model.mass, model.nodes, model.directions
        move, turn = ways < 3, (ways >= 3) & (nodes > 0)
        k[turn, turn] += 1e-6
        static = -np.linalg.solve(k[np.ix_(turn, turn)], k[np.ix_(turn, move)])
        k = k[np.ix_(move, move)] + k[np.ix_(move, turn)] @ static
        model = FiniteElements(model.node_ids, model.positions, nodes[move], ways[move],
                               m[np.ix_(move, move)], k)
        keep = slice(0, 3)
    assert_stiffens_as_the_beam(reduced_modes(model, [0], [32], 6, stiffening=True), tmp_path,
                                keep)
    place = model.positions
    with pytest.raises(ValueError, match='beside a line'):
        reduced_modes(FiniteElements(**{**vars(model), 'positions': place + [[0, 0, 0.1]]}),
                      [0], stiffening=True)
    with pytest.raises(ValueError, match='no 17 different nodes'):
        reduced_modes(FiniteElements(**{**vars(model), 'positions': 0.0 * place + TIP}), [0],
                      stiffening=True)


def written_pairs(folder, elements, loads):
    """Write the blade without and with loads in mm, t and s; return the paths and preloads."""
    plain, units = blade_elements(elements), (1e-3, 1e3, 1.0)
    masses = np.diag(plain.mass)[::6]
    away = np.linalg.norm(plain.positions, axis=1)
    pulls = {
        'acceleration': masses, 'rotation': masses * away,
        **{f'force:{n}': np.eye(elements + 1)[n] for n in range(elements + 1)}}
    preloads = []
    for name, amount in loads:
        size = amount**2 if name == 'rotation' else amount
        tension = size * np.cumsum(pulls[name][::-1])[::-1][1:]
        folder.joinpath(name).mkdir()
        under, *_ = written(folder / name, blade_elements(elements, tension), 'abaqus', units)
        preloads.append((name, str(amount), under))
    return written(folder, plain, 'abaqus', units), preloads


@pytest.mark.parametrize('elements', thinned([8, 32], {8}))
def test_pairs_of_stiffness_matrices(tmp_path, elements):
    """With and without loads; of few nodes, those without a load of their own are left out."""
    loads = [('acceleration', 9.0), ('rotation', 12.0), (f'force:{elements}', 40.0)]
    paths, preloads = written_pairs(tmp_path, elements, loads)
    model = read_finite_elements(*paths, units='mm-t-s', preloads=preloads)
    given = reduced_modes(model, [0], [elements], 6)
    assert given['node_ids'].tolist() == ([0, 8] if elements == 8 else list(range(33)))
    assert_stiffens_as_the_beam(given, tmp_path)
    line = reduced_modes(blade_elements(32), [0], [32], 6, stiffening=True)
    for name in ('first', 'second'):
        ours, theirs = (np.linalg.eigvalsh(each[f'stiffening_{name}']) for each in (given, line))
        assert ours[0] == pytest.approx(theirs[0], rel=0.05)
    for left in range(3):
        with pytest.raises(ValueError, match=f'lacks the preload "{loads[left][0]}"'):
            reduced_modes(FiniteElements(**{
                **vars(model), 'preloads': model.preloads[:left] + model.preloads[left + 1:]}),
                [0], [elements], 6)


def test_preloads_that_are_none(tmp_path):
    loads = [('acceleration', 9.0), ('rotation', 12.0), ('force:4', 40.0)]
    paths, preloads = written_pairs(tmp_path, 4, loads)
    for name, amount, words in (
        ('torque:4', '1', 'none of acceleration'), ('force', '1', 'none of acceleration'),
        ('rotation', '0', 'other than zero'), ('rotation', 'fast', 'other than zero'),
    ):
        with pytest.raises(ValueError, match=words):
            read_finite_elements(*paths, preloads=[(name, amount, paths[0])])
    for change, words in (
        ([('force:4', '-40', preloads[2][2])], 'not grow stiffer by the preload "force:4"'),
        ([('force:4', '40', paths[0])], 'not grow stiffer by the preload "force:4"'),
        ([('force:4', '40', preloads[2][2]), *preloads], 'has the preload "force:4" twice'),
        ([*preloads, ('force:9', '40', preloads[2][2])], 'has no node 9'),
    ):
        model = read_finite_elements(*paths, preloads=change)
        with pytest.raises(ValueError, match=words):
            reduced_modes(model, [0], [4], 6)


def test_wrong_stiffening_in_an_archive(folder, tmp_path):
    with np.load(folder / 'blade.npz') as file:
        arrays = dict(file)
    for change, words in (
        ({'stiffening_direction': np.ones(3)}, 'no unit vector'),
        ({'stiffening_first': None}, 'not all of them'),
        ({'stiffening_nodes': np.zeros((3, 2, 2))}, 'with shape'),
    ):
        np.savez(tmp_path / 'x.npz', **{name: value for name, value in {**arrays, **change}.items()
                                        if value is not None})
        with pytest.raises(ValueError, match=words):
            read_modal_file(tmp_path / 'x.npz')
