# SPDX-License-Identifier: Apache-2.0
"""`flexdyn flex`: an extension from a frequency, a tip stiffness or a section."""

import math
import re

from command import ARM, flexdyn, flexdyn_many, FOREARM
import flexdyn_ros as fd
from flexdyn_ros.model.beam.body import link_body
import numpy as np
from oracles.random_robots import inertial_xml
import pytest

# The forearm weighs 0.6 kg; its tool sits at its end, heavy enough for a massless beam.
ROBOT = ARM.replace('</robot>', """<link name="tool"><inertial><mass value="0.5"/>
<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="flange" type="fixed"><parent link="forearm"/><child link="tool"/>
<origin xyz="0.5 0 0"/></joint></robot>""")
# All of the forearm's mass at its root: the beam can take next to nothing of it.
HUB = ROBOT.replace(FOREARM, inertial_xml(0.6, [0.01, 0.0, 0.0], np.diag([1e-4, 1e-4, 1e-4])))


@pytest.fixture(scope='module')
def arms(tmp_path_factory):
    """Return a folder with both robots."""
    folder = tmp_path_factory.mktemp('arms')
    (folder / 'arm.urdf').write_text(ROBOT)
    (folder / 'hub.urdf').write_text(HUB)
    return folder


def lowest(robot, link='forearm'):
    """Return the lowest frequency of a link's modes [Hz]."""
    return min(mode.frequency for mode in link_body(robot.link(link)).modes) / (2 * math.pi)


@pytest.mark.parametrize('name', ['arm', 'hub'])
def test_the_frequency_holds_and_the_rigid_link_is_unchanged(arms, name):
    """With a share of the mass, and massless with the bodies on it."""
    words = ['flex', f'{name}.urdf', '--link', 'forearm', '--first-frequency', '18', '-o',
             f'{name}.xml']
    run = flexdyn(*words, cwd=arms)
    assert run.returncode == 0 and '18 Hz' in run.stderr and 'flange' in run.stderr
    rigid, bent = (fd.load_robot(arms / f'{name}.urdf', extension=extension)
                   for extension in (None, arms / f'{name}.xml'))
    assert (bent.link('forearm').beam.mass == 0.0) is (name == 'hub')
    assert lowest(bent) == pytest.approx(18.0, rel=1e-6)
    assert bent.mode_names == ('forearm/bending_y1', 'forearm/bending_z1')
    ours, theirs = (fd.Dynamics(r, backend='reference').mass_matrix(np.zeros(r.nv))
                    for r in (bent, rigid))
    assert np.allclose(ours[:2, :2], theirs, rtol=1e-9)
    assert np.linalg.eigvalsh(ours)[0] > 0.0
    # Held at zero, by the linear equations of the modes alone.
    dyn = fd.Dynamics(bent, backend='reference')
    stiffness = np.diag(
        [dyn.elastic_vector(one, 0 * one)[k] for k, one in ((2, np.eye(4)[2]), (3, np.eye(4)[3]))])
    sag = np.linalg.norm(np.linalg.solve(stiffness, dyn.gravity_vector(np.zeros(4))[2:]))
    lowest_rate = np.sqrt(np.linalg.eigvals(np.linalg.solve(ours[2:, 2:], stiffness)).min().real)
    words = re.search(r'lowest frequency (\S+) Hz, the tip sags by (\S+) mm', run.stderr).groups()
    assert float(words[0]) == pytest.approx(lowest_rate / (2 * math.pi), rel=0.05)
    assert float(words[1]) == pytest.approx(1e3 * sag, rel=0.05)


@pytest.mark.parametrize('name', ['arm', 'hub'])
def test_a_force_at_the_tip_deflects_it_by_the_stiffness(arms, name):
    run = flexdyn('flex', f'{name}.urdf', '--link', 'forearm', '--tip-stiffness', '5000', cwd=arms)
    assert run.returncode == 0, run.stderr
    robot = fd.load_robot(arms / f'{name}.urdf', extension=run.stdout)
    body = link_body(robot.link('forearm'))
    shape = body.node_at(np.array([0.5, 0.0, 0.0])).translation[:, 1]
    assert shape @ np.linalg.solve(body.stiffness, shape) == pytest.approx(1 / 5000, rel=1e-6)


def test_sections_of_a_material(arms):
    """A solid square box and a tube against textbook formulas."""
    words = ['flex', 'arm.urdf', '--link', 'forearm']
    answers = flexdyn_many([
        [*words, '--box', '0.02', '0.03', '0.01'], [*words, '--tube', '0.04', '0.01'],
        [*words, '--tube', '0.04', '0.03'], [*words, '--box', '0.02', '0.03', '0.02'],
        ['flex', 'arm.urdf', '--link', 'tool', '--first-frequency', '9'],
        ['flex', 'arm.urdf', '--link', 'forarm', '--first-frequency', '9'],
        [*words, '--tube', '0.04', '0.01', '--tip', '0.3 0 0', '--material', 'steel'],
        ['flex', 'arm.urdf', '--link', 'upper_arm', '--tube', '0.04', '0.01'],
        words,
    ], arms)
    assert [answer[0] for answer in answers] == [0, 0, 2, 2, 2, 2, 0, 0, 2]
    box, tube, short, light = (
        fd.load_robot(ROBOT, extension=answers[k][1]).link(link).beam
        for k, link in ((0, 'forearm'), (1, 'forearm'), (6, 'forearm'), (7, 'upper_arm')))
    assert box.iy == pytest.approx(0.02 * 0.03**3 / 12) and box.iz < box.iy
    assert box.iz == pytest.approx((0.03 * 0.02**3 - 0.01 * 0.0) / 12)
    assert tube.iy == tube.iz == pytest.approx(math.pi / 4 * (0.02**4 - 0.01**4))
    assert tube.j == pytest.approx(2 * tube.iy) and tube.young == 7e10
    assert (short.length, short.young) == (0.3, 2.1e11)
    assert light.mass == pytest.approx(2700 * math.pi * (0.02**2 - 0.01**2) * 1.0)
    assert 'more than half' in answers[2][2] and 'no joint ends' in answers[4][2]
    assert 'Did you mean "forearm"' in answers[5][2]
