# SPDX-License-Identifier: Apache-2.0
"""No section of a beam has negative mass or rotary inertia, for any link it shares."""

from itertools import product

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.inertia import MassMoments
from flexdyn_ros.model.records.section import section_at
from model_texts import flexdyn
import numpy as np
import pytest
from test_vendor_beams import FOLDERS, vendor_cases
from thinned import thinned

pytestmark = pytest.mark.oracle

MODES = ''.join(f'<{family} modes="1" basis="polynomial"/>' for family in (
    'bending axis="y"', 'bending axis="z"', 'torsion',
)) + '<point_mass at="1" mass="1" ixx="1e-3" iyy="1e-3" izz="1e-3"/>'
STATIONS = ('<station at="0" area="2e-3"/><station at="0.6" area="5e-4" iyz="-8e-8"/>'
            '<station at="1" area="1e-3"/>')
# Attributes of the section and of the distribution, stations, and whether beams are in a row.
OPTIONS = [
    (f'remainder="{place}" rotary_inertia="{rotary}" {more}', stations, in_row)
    for (place, rotary), (more, stations, in_row) in product(
        (('root', 'false'), ('tip', 'true'), ('both', 'true')), (
            ('area="1e-3"', '', False), ('area="1e-3" distribution="fit"', '', False),
            ('', STATIONS, False), ('interpolation="conical"', STATIONS, False),
            ('area="1e-3"', '', True), ('', STATIONS, True),
        ))
]


def _numbers(values):
    return ' '.join(repr(float(value)) for value in values)


def _link(inertia, tip, options):
    """Return all pieces of one link with this inertia and a beam, or a row with a corner."""
    matrix = np.array(inertia.matrix)
    moments = ' '.join(f'{name}="{matrix[a, b].item()!r}"' for name, a, b in (
        ('ixx', 0, 0), ('iyy', 1, 1), ('izz', 2, 2), ('ixy', 0, 1), ('ixz', 0, 2), ('iyz', 1, 2)))
    attributes, stations, in_row = options
    places = [np.array(tip)]
    if in_row:
        places.insert(0, 0.5 * places[0] + 0.1 * np.cross(places[0], (0.6, 0.0, 0.8)))
    beams = ''.join(
        f'<beam tip="{_numbers(place)}" young="7e10" shear="2.6e10" iy="1e-7" iz="2e-7" '
        f'j="2.5e-7" iyz="1e-8" {attributes if place is places[-1] else _inner(attributes)}>'
        f'{stations}{MODES}</beam>' for place in places)
    robot = load_robot(
        f'<robot name="r"><link name="base"/><link name="rod"><inertial><origin '
        f'xyz="{_numbers(inertia.com)}"/><mass value="{inertia.mass!r}"/><inertia {moments}/>'
        '</inertial></link><joint name="slew" type="continuous"><parent link="base"/>'
        '<child link="rod"/></joint></robot>',
        extension=flexdyn(f'<flexible_link link="rod">{beams}</flexible_link>'))
    return robot.links[1:]


def _inner(attributes):
    """Return the attributes of a beam that another one follows."""
    return attributes.replace('"tip"', '"root"').replace('"both"', '"root"')


def _check_body(body, whole, length):
    """Compare mass and moments with zero, or with those that the vendor wrote of `whole`."""
    moments = np.linalg.eigvalsh(np.array(body.matrix))
    given = np.linalg.eigvalsh(np.array(whole.matrix))
    assert body.mass >= 0.0
    assert moments[0] >= min(given[0], 0.0)
    scale = np.array([1.0 / length] * 3 + [1.0]) / np.sqrt(whole.mass)
    pseudo = scale[:, None] * MassMoments.of(body).pseudo_inertia() * scale
    assert np.linalg.eigvalsh(pseudo)[0] > -1e-11


@pytest.mark.parametrize('folder', thinned(FOLDERS, {'kinova_description'}))
def test_no_section_has_negative_inertia(folder):
    """For every vendor's link and each way to distribute its mass."""
    for _, rigid, tips in vendor_cases(folder):
        for joint, options in product(tips, OPTIONS):
            whole, tip = rigid.link(joint.parent).inertia, joint.origin.position
            links = _link(whole, tip, options)
            beams = [link.beam for link in links if link.beam]
            assert len(beams) == 1 + options[2]
            for link in links:
                for body in (link.inertia, link.tip_inertia):
                    if body is not None:
                        _check_body(body, whole, np.linalg.norm(tip))
            for beam in beams:
                section = section_at(beam, np.linspace(0.0, 1.0, 21))
                assert section.linear_density.min() >= 0.0
                assert section.rotary.min() >= 0.0
                across = section.rotary[:, 1] * section.rotary[:, 2]
                assert np.all(section.rotary_yz**2 <= across)
