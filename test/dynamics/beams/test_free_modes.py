# SPDX-License-Identifier: Apache-2.0
"""Modes of a free body, relative to the node at the parent joint."""

import flexdyn_ros as fd
from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.modal.clamping import clamped_at
from flexdyn_ros.model.modal.files import modal_arrays, write_arrays
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.small_robots import state_of
import pytest
from scipy.linalg import eigh

ROBOT = """<robot name="r"><link name="base"/><link name="rod"/><link name="hand"><inertial>
<mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
</link><joint name="root" type="continuous"><parent link="base"/><child link="rod"/>
<axis xyz="0 0.6 0.8"/></joint><joint name="wrist" type="continuous"><origin xyz="1 0 0"/>
<parent link="rod"/><child link="hand"/><axis xyz="0 0 1"/></joint><flexdyn version="1.0">
<flexible_link link="rod" geometric_stiffening="false"><modal file="{}.npz" format="npz" {}/>
</flexible_link></flexdyn></robot>"""


def free_cloud():
    """Return random shapes of 30 bodies with rotary inertia, none of them rigid, and masses."""
    chance = np.random.default_rng(8)
    n, m = 30, 3
    place = chance.normal(size=(n, 3))
    place[0], place[1] = 0.0, [1.0, 0.0, 0.0]
    given = {
        'node_ids': np.arange(n), 'node_positions': place,
        'translation': 0.3 * chance.normal(size=(m, n, 3)),
        'rotation': 0.2 * chance.normal(size=(m, n, 3)), 'stiffness': np.diag([30.0, 50.0, 70.0]),
        'node_masses': chance.uniform(0.1, 0.2, n), 'damping': 0.1 * np.eye(m),
    }
    return given, chance.uniform(0.01, 0.02, n)[:, None, None] * np.eye(3)


def with_mass(given, spins):
    """Return the arrays with the modal mass of their lumps, with rotary inertia or without."""
    given = dict(given)
    phi, psi, mass = given['translation'], given['rotation'], given['node_masses']
    modal_mass = np.einsum('n,kna,lna->kl', mass, phi, phi)
    if spins is not None:
        given['node_inertias'] = spins
        modal_mass = modal_mass + np.einsum('kna,nab,lnb->kl', psi, spins, psi)
    return modal_arrays({**given, 'modal_mass': modal_mass})


@pytest.mark.parametrize('rotary', [False, True])
def test_integrals_are_those_of_the_relative_shapes(rotary):
    """Every integral against sums over the nodes; with rotary inertia, those of torques."""
    given, spins = free_cloud()
    spins = spins if rotary else None
    a, b = given['translation'][:, :1].copy(), given['rotation'][:, :1].copy()
    ours = clamped_at(with_mass(given, spins), 0)
    relative = {**given, 'translation': given['translation'] - a - np.cross(
        b, given['node_positions'][None]), 'rotation': given['rotation'] - b}
    theirs = with_mass(relative, spins)
    names = ['translation', 'rotation', 'modal_first_moment', 'modal_mass', 'second_moment']
    names += [] if rotary else ['modal_second_moment', 'modal_product', 'rotary_coupling']
    for name in names:
        found, expected = getattr(ours, name), getattr(theirs, name)
        assert np.allclose(found, expected, atol=1e-12 * np.abs(expected).max() + 1e-13), name
    angular = [
        each.rotary_coupling[:, a] + each.modal_second_moment[:, k, j]
        - each.modal_second_moment[:, j, k]
        for each in (ours, theirs) for a, (k, j) in enumerate(((1, 2), (2, 0), (0, 1)))
    ]
    assert np.allclose(angular[:3], angular[3:], atol=1e-12)
    assert np.abs(ours.translation[:, 0]).max() == 0.0


def test_an_arm_with_free_modes_is_that_with_relative_ones(tmp_path):
    given, _ = free_cloud()
    free = with_mass(given, None)
    write_arrays(tmp_path / 'free.npz', free)
    write_arrays(tmp_path / 'clamped.npz', clamped_at(free, 0))
    with pytest.raises(ModelError, match='moves node 0.*body_frame="free"'):
        fd.load_robot(ROBOT.format('free', ''), base_dir=tmp_path)
    pair = [fd.load_robot(ROBOT.format(*words), base_dir=tmp_path) for words in (
        ('free', 'body_frame="free"'), ('clamped', ''))]
    q, qd, qdd = state_of(pair[0])
    ours, theirs = (reference_dynamics(r).inverse_dynamics(q, qd, qdd) for r in pair)
    assert_agree(ours, theirs, 1e-12)


def test_a_beam_from_its_free_modes():
    """Many free-free modes of a chain of masses have the clamped chain's frequencies."""
    n = 12
    place = np.outer(np.linspace(0.0, 1.0, n), [1.0, 0.0, 0.0])
    chain = 1e4 * (np.diag([1.0] + [2.0] * (n - 2) + [1.0]) - np.eye(n, k=1) - np.eye(n, k=-1))
    squares, vectors = eigh(chain, 0.1 * np.eye(n))
    shapes = np.zeros((n - 1, n, 3))
    shapes[:, :, 1] = vectors[:, 1:].T
    free = with_mass({
        'node_ids': np.arange(n), 'node_positions': place, 'translation': shapes,
        'rotation': np.zeros((n - 1, n, 3)), 'stiffness': np.diag(squares[1:]),
        'node_masses': np.full(n, 0.1),
    }, None)
    found = clamped_at(free, 0)
    rates = np.sqrt(eigh(found.stiffness, found.modal_mass, eigvals_only=True))
    order = 2 * np.arange(1, n) - 1
    exact = 2 * np.sqrt(1e5) * np.sin(order * np.pi / (2 * (2 * (n - 1) + 1)))
    assert rates == pytest.approx(exact, rel=1e-8)


def test_modes_that_are_rigid_about_the_joint_and_missing_nodes(tmp_path):
    given, _ = free_cloud()
    given['translation'][1] = np.cross([0.1, 0.2, 0.3], given['node_positions']) + [1, 2, 3]
    given['rotation'][1] = [0.1, 0.2, 0.3]
    with pytest.raises(ValueError, match='rigid motions'):
        clamped_at(with_mass(given, None), 0)
    given, _ = free_cloud()
    given['node_positions'] = given['node_positions'] + [0.5, 0, 0]
    write_arrays(tmp_path / 'free.npz', with_mass(given, None))
    with pytest.raises(ModelError, match='needs a node at the parent joint'):
        fd.load_robot(ROBOT.format('free', 'body_frame="free"'), base_dir=tmp_path)
