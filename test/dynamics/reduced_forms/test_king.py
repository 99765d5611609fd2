# SPDX-License-Identifier: Apache-2.0
"""Links with rotation="linear" against an independent statement of King's equations."""

import flexdyn_ros as fd
import numpy as np
from oracles.compare import (
    assert_agree,
    assert_generalised_agree,
    assert_matrices_agree,
    reference_dynamics,
)
from oracles.dh_urdf import chain_urdf, king_extension
from oracles.king import king_inverse_dynamics, KingLink
from oracles.particle_model import ParticleModel
import pytest

GRAVITY = np.array([1.0, -2.0, -9.0])
RIGIDITY = (200.0, 150.0, 90.0)
CHAINS = {
    'one_link': [KingLink(0.0, 1.0, 0.5, 0.0, 1e-6, RIGIDITY, (2, 0, 0))],
    'planar': [
        KingLink(0.0, 1.0, 0.5, 0.0, 1e-6, RIGIDITY, (2, 1, 0)),
        KingLink(0.0, 0.8, 0.4, 0.0, 1e-6, (100.0, 50.0, 90.0), (1, 1, 0), 0.3),
    ],
    'twisted': [
        KingLink(0.4, 1.0, 0.5, 0.0, 0.02, RIGIDITY, (2, 1, 0)),
        KingLink(-0.7, 1.2, 0.7, 0.0, 0.01, (80.0, 50.0, 20.0), (1, 2, 0)),
        KingLink(0.2, 0.8, 0.4, 0.0, 0.01, (60.0, 90.0, 30.0), (1, 1, 0), 0.5),
    ],
    'offset': [
        KingLink(1.5, 1.0, 0.5, 0.2, 0.01, RIGIDITY, (1, 1, 0)),
        KingLink(-0.7, 1.2, 0.7, 0.3, 0.01, (80.0, 50.0, 20.0), (1, 1, 0)),
        KingLink(0.0, 0.8, 0.4, -0.4, 0.01, (60.0, 90.0, 30.0), (1, 0, 0)),
    ],
    'torsion': [
        KingLink(0.4, 1.0, 0.5, 0.0, 0.02, RIGIDITY, (1, 1, 2), 0.0, True),
        KingLink(-0.9, 1.2, 0.7, 0.0, 0.03, (80.0, 50.0, 20.0), (1, 2, 1), 0.4, True),
    ],
}


def state(links, seed, amplitude=0.05):
    """Return angles and modes with their rates and accelerations, and all of them in order."""
    rng = np.random.default_rng(seed)
    joints = rng.normal(size=(3, len(links)))
    modes = rng.normal(size=(3, sum(sum(link.modes) for link in links)))
    modes[0] *= amplitude
    cuts = np.cumsum([sum(link.modes) for link in links])[:-1]
    split = [np.split(row, cuts) for row in modes]
    return joints, split, np.hstack((joints, modes))


@pytest.mark.parametrize('name', list(CHAINS))
@pytest.mark.parametrize('seed', [0, 1])
def test_inverse_dynamics_is_kings(name, seed):
    """Torques and modal forces to 1e-12."""
    links = CHAINS[name]
    geometry = [{'alpha': k.alpha, 'a': k.length, 'd': k.offset} for k in links]
    text = chain_urdf(geometry, extension=king_extension(links, gravity=GRAVITY))
    robot = fd.load_robot(text)
    joints, split, (q, qd, qdd) = state(links, seed)
    torques, modal = king_inverse_dynamics(links, *joints, *split, GRAVITY)
    expected = np.concatenate((torques, *modal))
    ours = reference_dynamics(robot).inverse_dynamics(q, qd, qdd)
    assert_generalised_agree(robot, ours, expected, 1e-12, name)


@pytest.mark.parametrize('name', list(CHAINS))
def test_linear_and_exact_rotations_meet_at_small_deflections(name):
    """The difference between rotation="linear" and "exact" vanishes with the deflection."""
    links = CHAINS[name]
    geometry = [{'alpha': k.alpha, 'a': k.length, 'd': k.offset} for k in links]
    robots = {
        rotation: fd.load_robot(
            chain_urdf(geometry, extension=king_extension(links, rotation, GRAVITY))
        )
        for rotation in ('linear', 'exact')
    }
    errors = []
    for amplitude in (1e-2, 1e-4, 0.0):
        _, _, (q, qd, qdd) = state(links, 3, amplitude)
        both = [reference_dynamics(r).inverse_dynamics(q, qd, qdd) for r in robots.values()]
        errors.append(np.max(np.abs(both[0] - both[1])) / np.max(np.abs(both[1])))
    assert errors[2] < 1e-13
    assert errors[1] < 1e-2
    if len(links) > 1:
        assert errors[0] > 1e-6, 'the two kinds of rotation must differ'


@pytest.mark.parametrize('name', list(CHAINS))
def test_linear_rotations_close(name):
    """M stays symmetric and positive, and both solvers return the accelerations."""
    links = CHAINS[name]
    geometry = [{'alpha': k.alpha, 'a': k.length, 'd': k.offset} for k in links]
    robot = fd.load_robot(chain_urdf(geometry, extension=king_extension(links, gravity=GRAVITY)))
    dyn = reference_dynamics(robot)
    _, _, (q, qd, qdd) = state(links, 5)
    matrix = dyn.mass_matrix(q)
    assert_matrices_agree(matrix, matrix.T, 1e-13)
    assert np.linalg.eigvalsh(matrix)[0] > 0.0
    tau = dyn.inverse_dynamics(q, qd, qdd)
    assert_agree(matrix @ qdd + dyn.bias_vector(q, qd), tau, 1e-12)
    for method in ('recursive', 'cholesky'):
        assert_agree(dyn.forward_dynamics(q, qd, tau, method=method), qdd, 1e-9, method)


def test_particles_agree_with_king_at_rest_shape():
    """Two oracles that share nothing agree where both are exact, at zero deflection."""
    links = CHAINS['torsion']
    geometry = [{'alpha': k.alpha, 'a': k.length, 'd': k.offset} for k in links]
    text = chain_urdf(geometry, extension=king_extension(links, 'exact', GRAVITY))
    joints, split, (q, qd, qdd) = state(links, 7, 0.0)
    torques, modal = king_inverse_dynamics(links, *joints, *split, GRAVITY)
    expected = np.concatenate((torques, *modal))
    particles = ParticleModel(fd.load_robot(text))
    assert_agree(particles.inverse_dynamics(q, qd, qdd), expected, 1e-12)
