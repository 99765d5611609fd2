# SPDX-License-Identifier: Apache-2.0
"""Messages of the demonstration where a need is missing."""

from argparse import Namespace
import json
import os
from pathlib import Path
import sys

from flexdyn_ros.cli.demo import run
from flexdyn_ros.demo import environment, needs, session
from flexdyn_ros.demo.environment import ISOLATED
from flexdyn_ros.demo.session import build_parser
from flexdyn_ros.isolation import PATH_VARIABLES
import pytest

FOREIGN = {
    'PYTHONPATH': '/other/ros/python',
    'LD_LIBRARY_PATH': '/other/ros/lib',
    'AMENT_PREFIX_PATH': '/other/ros',
    'CMAKE_PREFIX_PATH': '/other/ros',
    'COLCON_PREFIX_PATH': '/other',
    'PYTHONHOME': '/other/python',
    'ROS_DISTRO': 'humble',
    'RMW_IMPLEMENTATION': 'rmw_other',
    'ROS_LOCALHOST_ONLY': '0',
    'ROS_DOMAIN_ID': '0',
    'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET',
    'ROS_DISCOVERY_SERVER': '192.0.2.1:11811',
    'ROS_STATIC_PEERS': '192.0.2.2',
    'CYCLONEDDS_URI': 'file:///other.xml',
    'FASTDDS_DEFAULT_PROFILES_FILE': '/other.xml',
    'FASTRTPS_DEFAULT_PROFILES_FILE': '/other.xml',
    '_ROS_WHEELS_BOOTSTRAP_COMPLETE': '1',
}


@pytest.fixture
def without(tmp_path, monkeypatch):
    """Return a function that hides modules from the processes of the demonstration."""
    def hide(*modules):
        for module in modules:
            (tmp_path / f'{module}.py').write_text(
                f'raise ModuleNotFoundError("No module named {module!r}", name={module!r})\n')

    def variables(domain_id, log_folder):
        found = environment.variables(domain_id, log_folder)
        found['PYTHONPATH'] = os.pathsep.join([str(tmp_path), found['PYTHONPATH']])
        return found

    monkeypatch.setattr(needs, 'variables', variables)
    return hide


def test_modules_are_named_with_the_command_that_installs_them(tmp_path, without):
    without('matplotlib', 'urdf_parser_py', 'airo_models')
    text = '\n'.join(needs.missing_needs(['vendor'], tmp_path))
    for module, distribution in (
        ('matplotlib', 'matplotlib'),
        ('urdf_parser_py', 'urdf-parser-py'),
        ('airo_models', 'airo-models'),
    ):
        assert f'Python cannot import {module}: ' in text
        assert f'fix: {sys.executable} -m pip install {distribution}' in text


def test_vendor_package_is_not_needed_for_the_other_robot(tmp_path, without):
    without('airo_models')
    assert 'airo' not in '\n'.join(needs.missing_needs(['canadarm'], tmp_path))


def test_ros_is_named_once(tmp_path, without):
    without('rclpy', 'sensor_msgs')
    text = '\n'.join(needs.missing_needs(['canadarm'], tmp_path))
    assert text.count('ROS 2 is not complete') == 1
    assert 'make setup' in text and '/opt/ros/' in text


def test_folder_that_cannot_be_written(tmp_path):
    text = '\n'.join(needs.missing_needs(['canadarm'], Path('/proc/results')))
    assert '/proc cannot be written to.' in text and '--out' in text


def test_folder_with_something_in_it(tmp_path):
    (tmp_path / 'earlier').write_text('')
    text = '\n'.join(needs.missing_needs(['canadarm'], tmp_path))
    assert f'{tmp_path} is not empty.' in text and '--out' in text


def test_full_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(needs, 'FREE_SPACE', 1e30)
    text = '\n'.join(needs.missing_needs(['canadarm'], tmp_path / 'new'))
    assert 'MB left' in text and 'make room' in text


def test_missing_needs_end_the_demo_before_it_starts(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(ISOLATED, '1')
    words = ['--out', '/proc/results', '--robots', 'canadarm']
    assert run(Namespace(options=words)) == 1
    text = capsys.readouterr()
    assert text.err.startswith('The demonstration cannot run yet. Missing:')
    assert text.out == ''


@pytest.mark.parametrize('words', [
    ['--duration', '0'], ['--duration', 'long'], ['--robots', 'r2d2'], ['--robots', ','],
    ['--controls', 'none'], ['--unknown'],
])
def test_wrong_calls(words, capsys):
    with pytest.raises(SystemExit) as caught:
        build_parser().parse_args(words)
    assert caught.value.code == 2
    assert words[0] in capsys.readouterr().err


@pytest.fixture
def foreign(monkeypatch):
    """Set the variables of another ROS."""
    for name, value in FOREIGN.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(ISOLATED, raising=False)


def test_foreign_variables_are_dropped_or_replaced(tmp_path, foreign, monkeypatch):
    monkeypatch.setattr(environment, 'has_own_ros', lambda: True)
    assert environment.is_foreign()
    found = environment.variables(77, tmp_path)
    for name, value in FOREIGN.items():
        assert value not in found.get(name, '').split(os.pathsep), name
    assert found['ROS_DOMAIN_ID'] == '77'
    assert found['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST'
    assert found['ROS_LOG_DIR'] == str(tmp_path)
    for name in ('PYTHONHOME', 'LD_LIBRARY_PATH', 'CYCLONEDDS_URI', 'ROS_LOCALHOST_ONLY'):
        assert name not in found


def test_an_environment_that_was_made_here_is_not_made_again(foreign, monkeypatch):
    monkeypatch.setattr(environment, 'has_own_ros', lambda: True)
    monkeypatch.setenv(ISOLATED, '1')
    assert not environment.is_foreign()


def test_search_paths_of_the_shell_stay_only_where_ros_comes_from_them(
    tmp_path, foreign, monkeypatch
):
    monkeypatch.setattr(environment, 'has_own_ros', lambda: False)
    assert not environment.is_foreign()
    found = environment.variables(77, tmp_path)
    for name in PATH_VARIABLES:
        if name in FOREIGN:
            assert FOREIGN[name] in found[name].split(os.pathsep)
    assert found['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST'
    assert found['ROS_LOCALHOST_ONLY'] == '1'  # the name that Humble has for it
    assert 'ROS_DISCOVERY_SERVER' not in found


def test_json_is_alone_on_stdout(tmp_path, monkeypatch, capsys):
    def run_all(options, folder, stop):
        print('2 runs')
        return {'errors': ['late'], 'robots': {}}

    monkeypatch.setattr(session, '_run_all', run_all)
    monkeypatch.setattr(session, 'missing_needs', lambda robots, folder: [])
    assert session.run(['--json', '--out', str(tmp_path)]) == session.EXIT_FAILED
    out, err = capsys.readouterr()
    assert json.loads(out) == {'errors': ['late'], 'robots': {}, 'folder': str(tmp_path)}
    assert err == '2 runs\n'
