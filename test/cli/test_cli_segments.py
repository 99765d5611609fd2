# SPDX-License-Identifier: Apache-2.0
"""The command line on a link in segments: check, info, modes, simulate."""

import json
import math

from command import flexdyn
from oracles.segment_arms import boom, LENGTH, MASS, STIFFNESS
import pytest


@pytest.fixture(scope='module')
def place(tmp_path_factory):
    """Return a folder with boom.urdf: five segments on a joint, placed as the reference does."""
    path = tmp_path_factory.mktemp('segments')
    friction = '<friction coulomb="0.1"/>'
    text = boom(5, 'y z', 'reference', 'continuous', 'damping_ratio="0.02"', friction)
    (path / 'boom.urdf').write_text(text)
    return path


def answer(place, *words):
    """Return the JSON that a call prints."""
    run = flexdyn(*words, '--json', cwd=place)
    assert (run.returncode, run.stderr) == (0, '')
    return json.loads(run.stdout)


def test_modes(place):
    """Each passive joint has the spring EI / s and the inertia of all outside it."""
    found = answer(place, 'modes', 'boom.urdf')
    rows = {row['name']: row for row in found['coordinates']}
    assert list(rows) == [f'boom/segment{k}_{axis}' for k in (2, 3, 4, 5) for axis in 'yz']
    for number, row in zip((2, 5), (rows['boom/segment2_z'], rows['boom/segment5_y'])):
        outside = (6 - number) / 5 * LENGTH
        inertia = MASS * (outside / LENGTH) * outside**2 / 3.0
        stiffness = STIFFNESS['z'] / (LENGTH / 5)
        assert row['kind'].startswith('segment about ')
        assert row['stiffness'] == pytest.approx(stiffness)
        assert row['modal_mass'] == pytest.approx(inertia)
        assert row['frequency'] == pytest.approx(math.sqrt(stiffness / inertia) / (2.0 * math.pi))
    assert found['locked'][0]['frequency'] == pytest.approx(26.2931, rel=1e-5)
    # Gravity reverses the sag to one side of the joint's axis.
    assert 0.0 < found['free'][0]['frequency'] < 0.02


def test_check_and_info(place):
    """The check reports the excess stiffness of the boom; info lists its parts."""
    run = flexdyn('check', 'boom.urdf', cwd=place)
    assert run.returncode == 0
    assert '72 percent' in run.stdout + run.stderr
    found = answer(place, 'info', 'boom.urdf')
    link, = [each for each in found['links'] if each['name'] == 'boom']
    assert link['beam_length'] == LENGTH and len(link['modes']) == 8
    assert 'friction between segments of boom' in found['torque_terms']
    assert 'stiffness and damping of flexible links boom' in found['torque_terms']


def test_simulate(place):
    """Tip deflections are among the results."""
    words = ('simulate', 'boom.urdf', '--t-end', '0.002', '--dt', '2e-5')
    found = answer(place, *words)
    assert set(found['tip_deflections']) == {'boom/tip_y', 'boom/tip_z'}
    assert found['tip_deflections']['boom/tip_y']['peak'] > 0.0
