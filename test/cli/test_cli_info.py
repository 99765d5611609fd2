# SPDX-License-Identifier: Apache-2.0
"""`flexdyn info`."""

import json

from command import flexdyn, MODES
import pytest


def test_json_describes_the_robot(folder):
    """Sizes, names, limits and masses are those of the model."""
    run = flexdyn('info', 'flexible.urdf', '--json', cwd=folder)
    assert (run.returncode, run.stderr) == (0, '')
    info = json.loads(run.stdout)
    assert info['name'] == 'arm'
    assert (info['nq'], info['nv'], info['n_joints'], info['n_modes']) == (6, 6, 2, 4)
    assert info['coordinate_names'] == ['shoulder', 'elbow', *MODES]
    assert info['configuration_units'] == ['rad', 'rad', 'm', 'm', 'm', 'rad']
    assert info['total_mass'] == pytest.approx(1.4)
    assert info['gravity'] == [0.0, 0.0, -9.81]
    joints = {joint['name']: joint for joint in info['joints']}
    assert (joints['shoulder']['lower'], joints['shoulder']['upper']) == (-3.0, 3.0)
    assert joints['shoulder']['effort'] == 100.0
    assert joints['shoulder']['stiffness'] is None
    assert joints['elbow']['stiffness'] == 300.0
    assert joints['elbow']['reflected_inertia'] == pytest.approx(0.1)
    links = {link['name']: link for link in info['links']}
    assert links['upper_arm']['modes'] == list(MODES[:3])
    assert links['upper_arm']['beam_length'] == pytest.approx(1.0)
    assert links['forearm']['mass'] == pytest.approx(0.6)
    terms = ' '.join(info['torque_terms'])
    for words in ('gravity', 'friction and damping of elbow', 'rotor inertia of elbow',
                  'elastic joints elbow', 'flexible links upper_arm'):
        assert words in terms


def test_extension_makes_a_plain_description_flexible(folder):
    """The same robot from two files; the plain one alone is rigid."""
    rigid = json.loads(flexdyn('info', 'arm.urdf', '--json', cwd=folder).stdout)
    assert rigid['n_modes'] == 0
    both = flexdyn('info', 'arm.urdf', '--extension', 'flexible.xml', '--json', cwd=folder)
    assert both.returncode == 0, both.stderr
    whole = json.loads(flexdyn('info', 'flexible.urdf', '--json', cwd=folder).stdout)
    joined = json.loads(both.stdout)
    for key in whole:
        if key not in ('source', 'notes'):
            assert joined[key] == whole[key], key


def test_text_has_tables_with_units(folder):
    """Joints, links, modes and the torque's terms can be read off."""
    text = flexdyn('info', 'flexible.urdf', cwd=folder).stdout
    assert '3 links, 2 joint coordinates, 4 modes; nq = 6, nv = 6' in text
    assert 'total mass 1.4 kg' in text
    assert 'mass [kg]' in text
    assert 'gravity 0 0 -9.81 m/s^2' in text
    assert 'elastic, 300' in text
    assert 'bending_y1, bending_z1, bending_z2' in text
    assert 'the torque contains' in text


def test_reduced_forms_are_asked_for_and_reported(folder):
    """The option of every subcommand, the names of the library, and a robot that has none."""
    from flexdyn_ros.cli.options import REDUCED_FORMS
    from flexdyn_ros.model.records.reduced import FORMS

    assert {*REDUCED_FORMS, 'exact'} == set(FORMS)
    run = flexdyn('info', 'flexible.urdf', '--form', 'linearised', '--json', cwd=folder)
    assert (run.returncode, run.stderr) == (0, '')
    info = json.loads(run.stdout)
    assert any(term.startswith('linearised small deflections') for term in info['torque_terms'])
    assert any('deflection="linearised"' in note for note in info['notes'])
    plain = json.loads(flexdyn('info', 'flexible.urdf', '--json', cwd=folder).stdout)
    assert not any('linearised' in term for term in plain['torque_terms'])
    run = flexdyn('info', 'arm.urdf', '--form', 'linearised', cwd=folder)
    assert run.returncode == 2
    assert '"URDF" has no link with mode shapes' in run.stderr


def test_share_of_a_beam_without_mass(folder, tmp_path):
    """It is printed, in JSON too, by `info` and by `check`; beams with a mass have none."""
    (tmp_path / 'shared.xml').write_text(
        '<flexdyn version="1.0"><flexible_link link="forearm"><beam tip="0.3 0 0" young="7e10" '
        'iz="1e-9"><bending axis="y" modes="1"/></beam></flexible_link></flexdyn>'
    )
    (tmp_path / 'arm.urdf').write_text((folder / 'arm.urdf').read_text())
    call = 'arm.urdf', '--extension', 'shared.xml'
    found = {}
    for name in ('info', 'check'):
        run = flexdyn(name, *call, '--json', cwd=tmp_path)
        links = {link['name']: link for link in json.loads(run.stdout)['links']}
        found[name] = links['forearm']['beam_share']
        assert links['upper_arm']['beam_share'] is None
    assert 0.05 < found['info'] <= 1.0
    assert found['check'] == found['info']
    assert f'{100 * found["info"]:.3g} percent' in flexdyn('check', *call, cwd=tmp_path).stdout
    assert 'share' in flexdyn('info', *call, cwd=tmp_path).stdout
