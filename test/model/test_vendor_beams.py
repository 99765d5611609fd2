# SPDX-License-Identifier: Apache-2.0
"""Every vendor's link bends by a beam without a mass, and the rigid robot is unchanged."""

import flexdyn_ros as fd
from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.beam.mass_share import largest_share
from flexdyn_ros.model.records.beam import Beam
from flexdyn_ros.model.records.inertia import inertia_problem
from model_texts import flexdyn
import numpy as np
from oracles.vendor_robots import robots_folder, vendor_urdfs
import pytest
from thinned import thinned

pytestmark = pytest.mark.oracle

FOLDERS = sorted({path.relative_to(robots_folder()).parts[0] for path in vendor_urdfs()})
# Robots whose many links repeat the cases of smaller ones.
LARGE = {
    'tiago_description', 'tiago_pro_description', 'pr2_description', 'talos_data',
    'centauro_description', 'g1_description', 'icub_description', 'alex_description',
    'b1_description',
}
# Shortest beam [m]: joints closer than this are one place.
SHORTEST = 0.02
# Links that can spare no mass, and whose children have none.
NOTHING_CARRIED = {('romeo_description', 'l_wrist')}


def vendor_cases(folder):
    """Yield each file's robot with its links that have a physical <inertial> and a tip."""
    seen = set()
    for path in vendor_urdfs():
        if path.relative_to(robots_folder()).parts[0] != folder:
            continue
        try:
            rigid = fd.load_robot(path)
        except ModelError:
            continue
        tips = []
        for joint in rigid.joints:
            inertia = rigid.link(joint.parent).inertia
            key = inertia, joint.origin.position
            if inertia is None or not inertia.mass or key in seen or not joint.coordinate_names:
                continue
            if np.linalg.norm(joint.origin.position) < SHORTEST:
                continue
            if inertia_problem(inertia.mass, np.array(inertia.matrix)) is None:
                seen.add(key)
                tips.append(joint)
        if tips:
            yield path, rigid, tips


def _smallest(mass):
    """Return the smallest eigenvalue of a mass matrix whose diagonal is scaled to one."""
    diagonal = np.diag(mass)
    if diagonal.min() <= 0.0:
        return 0.0
    scale = 1.0 / np.sqrt(diagonal)
    return np.linalg.eigvalsh(scale[:, None] * mass * scale)[0]


def _mass_matrix(robot, q):
    return np.asarray(fd.Dynamics(robot, backend='reference').mass_matrix(q))


BEAM = ('<beam tip="{}" young="7e10" shear="2.6e10" area="1e-3" iy="1e-7" iz="1e-7" j="2e-7" {}>'
        '{}</beam>')
BOTH = '<bending axis="y" modes="1"/><bending axis="z" modes="1"/>'


def _bent(path, link, *beams):
    part = f'<flexible_link link="{link}">{"".join(beams)}</flexible_link>'
    return fd.load_robot(path, extension=flexdyn(part))


def _check_rigid_part(bent, before, q):
    """Compare the mass matrix of the joints to 1e-9; that of all coordinates is positive."""
    after = _mass_matrix(bent, [*q, *np.zeros(bent.n_modes)])
    kept = after[: len(before), : len(before)]
    np.testing.assert_allclose(kept, before, atol=1e-9 * np.abs(before).max(), rtol=1e-9)
    # Where the rigid robot itself has massless joints, no beam gives them mass.
    assert _smallest(before) < 1e-9 or _smallest(after) > 1e-9


@pytest.mark.parametrize('folder', thinned(FOLDERS, lambda folder: folder not in LARGE))
def test_every_link_bends_and_the_rigid_mass_matrix_stays(folder):
    for path, rigid, tips in vendor_cases(folder):
        q = rigid.neutral_configuration()
        before = _mass_matrix(rigid, q)
        for joint in tips:
            try:
                bent = _bent(path, joint.parent, BEAM.format(joint.name, '', BOTH))
            except ModelError as error:
                assert 'nothing with mass hangs on it' in str(error)
                assert (folder, joint.parent) in NOTHING_CARRIED
                continue
            _check_rigid_part(bent, before, q)


@pytest.mark.parametrize('folder', thinned(
    ['ur_description', 'panda_description', 'z1_description', 'kinova_description'],
    {'ur_description'}))
def test_every_link_bends_as_a_row_of_beams(folder):
    """With a corner half way, which is no place of the vendor's."""
    shares = []
    for path, rigid, tips in vendor_cases(folder):
        q = rigid.neutral_configuration()
        before = _mass_matrix(rigid, q)
        for joint in tips:
            place = np.array(joint.origin.position)
            corner = 0.5 * place + 0.1 * np.cross(place, (0.6, 0.0, 0.8))
            bent = _bent(
                path, joint.parent,
                BEAM.format('{} {} {}'.format(*corner), '', '<bending axis="y" modes="1"/>'),
                BEAM.format(joint.name, '', '<bending axis="z" modes="1"/>'))
            first, second = (bent.link(f'{joint.parent}/beam{k}').beam for k in (1, 2))
            shares.append(first.share)
            assert first.share == second.share
            assert first.mass * second.length == pytest.approx(second.mass * first.length)
            _check_rigid_part(bent, before, q)
    assert max(shares) > 0.3


@pytest.mark.slow
def test_shares_of_vendors_links():
    """Of links of 0.5 kg whose next joint is 0.12 m away, of robots with at most 30 joints."""
    shares = {}
    for path in vendor_urdfs():
        try:
            robot = fd.load_robot(path)
        except ModelError:
            continue
        for joint in robot.joints if robot.n_joints <= 30 else ():
            link, place = robot.link(joint.parent), np.array(joint.origin.position)
            length = np.linalg.norm(place)
            if length < 0.12 or not joint.coordinate_names or joint.parent == robot.root:
                continue
            if link.inertia is None or link.inertia.mass < 0.5:
                continue
            axes = np.column_stack((place / length, np.linalg.svd(place[None])[2][1:].T))
            rod = Beam('tip', tuple(map(tuple, axes.tolist())), float(length), link.inertia.mass)
            physical = inertia_problem(link.inertia.mass, np.array(link.inertia.matrix)) is None
            shares[robot.name, link.inertia, joint.origin.position] = (
                largest_share(link.inertia, rod) if physical else 0.0)
    found = np.array(list(shares.values()))
    assert (len(found), len({name for name, *_ in shares})) == (154, 27)
    assert (np.sum(found >= 0.1), np.sum(found >= 0.5)) == (137, 64)
