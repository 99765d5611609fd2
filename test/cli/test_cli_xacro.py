# SPDX-License-Identifier: Apache-2.0
"""Words name:=value: arguments of a xacro file."""

import json

from command import flexdyn, REPOSITORY
import pytest

CANADARM = REPOSITORY / 'urdf' / 'canadarm.urdf.xacro'


@pytest.mark.parametrize('words', [
    ('info', CANADARM, 'modes:=1', '--json'),
    ('info', 'modes:=1', '--json', CANADARM),
    ('info', '--json', CANADARM, 'out_of_plane_modes:=0', 'modes:=1'),
])
def test_arguments_may_stand_anywhere(words, folder):
    run = flexdyn(*words, cwd=folder)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)['n_modes'] == 3


def test_arguments_after_an_option_with_several_values(folder):
    run = flexdyn('modes', CANADARM, '--at', 'elbow=1', 'modes:=1', '--json', cwd=folder)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)['configuration']['elbow'] == 1.0
    assert len(json.loads(run.stdout)['coordinates']) == 3


def test_arguments_of_text_on_stdin(folder):
    run = flexdyn('info', '-', 'modes:=3', '--base-dir', CANADARM.parent, '--json', cwd=folder,
                  stdin=CANADARM.read_text())
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)['n_modes'] == 9


@pytest.mark.parametrize(('words', 'code', 'message'), [
    ((CANADARM, 'mods:=1'), 2, 'No xacro argument is called "mods". Did you mean "modes"?'),
    ((CANADARM, 'modes:=1', 'modes:=2'), 2, 'Argument "NAME:=VALUE" gives "modes" twice.'),
    (('arm.urdf', 'modes:=1'), 2, 'arm.urdf, which is not a xacro file'),
    (('modes:=1',), 2, 'required: URDF'),
    ((CANADARM, 'modes:=two'), 1, 'xacro could not expand'),
])
def test_wrong_arguments(words, code, message, folder):
    run = flexdyn('info', *words, cwd=folder)
    assert run.returncode == code
    assert message in run.stderr
    assert run.stdout == ''
    assert run.stderr.count('\n') == 1


def test_help_says_how(folder):
    assert 'NAME:=VALUE' in flexdyn('check', '--help', cwd=folder).stdout
