# SPDX-License-Identifier: Apache-2.0
"""The rest of <inertial> beyond a beam at its root, its tip or both."""

import flexdyn_ros as fd
from flexdyn_ros.errors import ModelError
import numpy as np
import pytest

INERTIAL = """<inertial><origin xyz="0.35 0.01 0.02"/><mass value="4"/><inertia ixx="0.02"
iyy="0.3" izz="0.31" ixy="0.001" ixz="-0.002" iyz="0.0005"/></inertial>"""
THICK = """<inertial><origin xyz="0.3 0.2 0"/><mass value="4"/><inertia ixx="0.02"
iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>"""


def arm(remainder='', inertial=INERTIAL, children='', mass='', modes=1, more='', hub=''):
    return fd.load_robot(f"""<robot name="r"><link name="base"/><link name="rod">{inertial}</link>
<joint name="slew" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 1"/>
</joint>{children}<flexdyn version="1.0"><flexible_link link="rod" {hub}><beam tip="0.8 0 0"
young="7e10" shear="2.6e10" area="1e-4" iy="1e-9" iz="2e-9" j="3e-9" {mass} {remainder} {more}>
<bending axis="y" modes="{modes}"/><bending axis="z" modes="1"/></beam></flexible_link></flexdyn>
</robot>""")


def body_text(name, inertia):
    xx, yy, zz = np.diag(np.array(inertia.matrix))
    xy, xz, yz = (inertia.matrix[a][b] for a, b in ((0, 1), (0, 2), (1, 2)))
    place = ' '.join(map(repr, map(float, inertia.com)))
    return f"""<link name="{name}"><inertial><origin xyz="{place}"/>
<mass value="{inertia.mass!r}"/>
<inertia ixx="{xx!r}" iyy="{yy!r}" izz="{zz!r}" ixy="{xy!r}" ixz="{xz!r}" iyz="{yz!r}"/>
</inertial></link>""".replace('np.float64(', '').replace(')', '')


@pytest.mark.parametrize('place', ['root', 'tip', 'both'])
@pytest.mark.parametrize('more', ['', 'loaded="true"', 'distribution="fit"'])
def test_against_a_child_link_at_the_tip(place, more):
    """The same arm with the rest written as <inertial> of the hub and of a link at the tip."""
    robot, plain = arm(f'remainder="{place}"', more=more if place != 'root' else ''), arm()
    link = robot.link('rod')
    assert robot.total_mass == pytest.approx(4.0, rel=1e-12)
    share = link.beam.mass
    assert 0.2 < share < 4.0
    factors = {'root': (1.0, None), 'tip': (None, 1.0), 'both': (0.5, 0.5)}[place]
    rest = link.inertia or link.tip_inertia
    whole = rest.mass * (2.0 if place == 'both' else 1.0)
    assert whole == pytest.approx(4.0 - share, rel=1e-9)
    assert [each if each is None else each.mass / whole for each in (
        link.inertia, link.tip_inertia)] == [each and pytest.approx(each) for each in factors]
    rigid = fd.Dynamics(plain, backend='reference').mass_matrix(np.zeros(plain.nq))
    found = fd.Dynamics(robot, backend='reference').mass_matrix(np.zeros(robot.nq))
    assert found[0, 0] == pytest.approx(rigid[0, 0], rel=1e-9)
    assert np.linalg.eigvalsh(found)[0] > 0.0
    if more == 'distribution="fit"':
        return
    hub = body_text('rod', link.inertia) if link.inertia else ''
    tip = body_text('end', link.tip_inertia.seen_from((0.8, 0.0, 0.0))) if (
        link.tip_inertia) else '<link name="end"/>'
    inertial = hub[hub.index('<inertial'):hub.index('</link')] if hub else ''
    children = tip + """<joint name="fix" type="fixed"><origin xyz="0.8 0 0"/>
<parent link="rod"/><child link="end"/></joint>"""
    other = arm('', inertial, children, f'mass="{float(share)!r}"', more=more if (
        place != 'root') else '', hub='inertial="hub"' if inertial else '')
    random = np.random.default_rng(4)
    for backend in ('reference', 'python'):
        ours, theirs = (fd.Dynamics(each, backend=backend) for each in (robot, other))
        for _ in range(3):
            q, qd, qdd = 0.1 * random.normal(size=(3, robot.nq))
            assert np.allclose(ours.inverse_dynamics(q, qd, qdd),
                               theirs.inverse_dynamics(q, qd, qdd), rtol=1e-9, atol=1e-9)


def test_a_massless_beam_carries_the_rest_at_its_tip():
    """Nothing else hangs on it; without the choice it is refused."""
    robot = arm('remainder="tip"', THICK)
    assert robot.link('rod').beam.mass == 0.0
    mass = fd.Dynamics(robot, backend='reference').mass_matrix(np.zeros(robot.nq))
    assert np.linalg.eigvalsh(mass)[0] > 0.0
    with pytest.raises(ModelError, match='massless'):
        arm('', THICK)


@pytest.mark.parametrize(('named', 'words'), [
    ({'inertial': '', 'mass': 'mass="1"'}, 'leaves nothing'),
    ({'mass': 'mass="1"', 'hub': 'inertial="hub"'}, 'does not share'),
])
def test_a_choice_without_an_effect(named, words):
    with pytest.raises(ModelError, match=words):
        arm('remainder="tip"', **named)
