# SPDX-License-Identifier: Apache-2.0
"""`flexdyn update-modes`: tables, JSON, and a description that has the measured modes."""

import json

from command import flexdyn_many
import pytest

ROBOT = """<robot name="one"><link name="base"/><link name="boom"/>
<joint name="slew" type="continuous"><parent link="base"/><child link="boom"/><axis xyz="0 0 1"/>
</joint></robot>"""
BEAM = """<flexdyn version="1.0"><flexible_link link="boom"><beam tip="1.5 0 0" young="7e10"
area="1e-3" iz="1e-8" mass="2"><bending axis="y" modes="2"/></beam></flexible_link></flexdyn>"""


def test_an_updated_description(tmp_path):
    (tmp_path / 'a.urdf').write_text(ROBOT)
    (tmp_path / 'beam.xml').write_text(BEAM)
    sensors = [{'link': 'boom', 'at': [x, 0, 0], 'direction': [0, 1, 0]} for x in (0.8, 1.5)]
    (tmp_path / 'bench.json').write_text(json.dumps({
        'sensors': sensors,
        'modes': [{'frequency_hz': 7.0, 'damping_ratio': 0.015, 'shape': [0.37, 1.0]},
                  {'frequency_hz': 43.8, 'shape': [-0.7, 1.0]}]}))
    words = ['update-modes', 'a.urdf', '--extension', 'beam.xml', '--measured', 'bench.json',
             '-o', 'new.urdf']
    first, second, modes, wrong = flexdyn_many([
        [*words, '--json'], words, ['modes', 'new.urdf', '--json'], [*words, '--bound', '0.5'],
    ], tmp_path)
    assert (first[0], second[0], modes[0], wrong[0]) == (0, 0, 0, 2), (first, second, wrong)
    answer = json.loads(first[1])
    assert answer['after'][0]['frequency_hz'] == pytest.approx(7.0, rel=2e-3)
    assert answer['after'][0]['damping_ratio'] == pytest.approx(0.015, rel=1e-3)
    assert answer['before'][0]['frequency_hz'] < 6.0
    assert min(answer['mac'][0][0], answer['mac'][1][1]) > 0.95
    found = json.loads(modes[1])['coordinates'][0]['frequency_hz']
    assert found == pytest.approx(answer['after'][0]['frequency_hz'], rel=1e-9)
    assert 'MAC' in second[1] and 'new.urdf' in second[1]
