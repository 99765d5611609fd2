# SPDX-License-Identifier: Apache-2.0
"""What the demonstration says where something that it needs is missing."""

import os
from pathlib import Path
import sys

from flexdyn_ros.demo import needs
from flexdyn_ros.demo.environment import DemoEnvironment
from flexdyn_ros.demo.environment import ISOLATED
from flexdyn_ros.demo.main import run
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


class Stubbed(DemoEnvironment):
    """An environment in which some modules cannot be imported."""

    def __init__(self, folder):
        super().__init__({**os.environ, ISOLATED: '1'})
        self._folder = folder
        self.prefix = folder

    def variables(self, domain_id, log_folder):
        found = super().variables(domain_id, log_folder)
        found['PYTHONPATH'] = os.pathsep.join([str(self._folder), found['PYTHONPATH']])
        return found

    def without(self, *modules):
        for module in modules:
            (self._folder / f'{module}.py').write_text(
                f'raise ModuleNotFoundError("No module named {module!r}", name={module!r})\n')
        return self


def told(missing):
    return '\n'.join(str(item) for item in missing)


def test_modules_are_named_with_the_command_that_installs_them(tmp_path):
    environment = Stubbed(tmp_path).without('matplotlib', 'urdf_parser_py', 'airo_models')
    text = told(needs.missing_needs(environment, ['vendor'], tmp_path))
    for module, distribution in (
        ('matplotlib', 'matplotlib'),
        ('urdf_parser_py', 'urdf-parser-py'),
        ('airo_models', 'airo-models'),
    ):
        assert f'Python cannot import {module}: ' in text
        assert f'fix: {sys.executable} -m pip install {distribution}' in text


def test_vendor_package_is_not_needed_for_the_other_robot(tmp_path):
    environment = Stubbed(tmp_path).without('airo_models')
    assert 'airo' not in told(needs.missing_needs(environment, ['canadarm'], tmp_path))


def test_ros_is_named_once(tmp_path):
    environment = Stubbed(tmp_path).without('rclpy', 'sensor_msgs')
    text = told(needs.missing_needs(environment, ['canadarm'], tmp_path))
    assert text.count('ROS 2 is not complete') == 1
    assert 'make setup' in text and '/opt/ros/' in text


def test_package_that_launch_files_cannot_find(tmp_path):
    environment = Stubbed(tmp_path)
    environment.prefix = None
    text = told(needs.missing_needs(environment, ['canadarm'], tmp_path))
    assert 'flexdyn_ros is not installed where launch files look for it' in text


def test_folder_that_cannot_be_written(tmp_path):
    text = told(needs.missing_needs(Stubbed(tmp_path), ['canadarm'], Path('/proc/results')))
    assert '/proc cannot be written to.' in text and '--out' in text


def test_folder_with_something_in_it(tmp_path):
    (tmp_path / 'earlier').write_text('')
    text = told(needs.missing_needs(Stubbed(tmp_path), ['canadarm'], tmp_path))
    assert f'{tmp_path} is not empty.' in text and '--out' in text


def test_full_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(needs, 'FREE_SPACE', 1e30)
    text = told(needs.missing_needs(Stubbed(tmp_path), ['canadarm'], tmp_path / 'new'))
    assert 'MB left' in text and 'make room' in text


def test_missing_needs_end_the_demo_before_it_starts(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(ISOLATED, '1')
    assert run(['--out', '/proc/results', '--robots', 'canadarm']) == 1
    said = capsys.readouterr()
    assert said.err.startswith('The demonstration cannot run yet. Missing:')
    assert said.out == ''


@pytest.mark.parametrize('words', [
    ['--duration', '0'], ['--duration', 'long'], ['--robots', 'r2d2'], ['--robots', ','],
    ['--controls', 'none'], ['--unknown'],
])
def test_wrong_calls(words, capsys):
    with pytest.raises(SystemExit) as caught:
        build_parser().parse_args(words)
    assert caught.value.code == 2
    assert words[0] in capsys.readouterr().err


def test_foreign_variables_are_dropped_or_replaced(tmp_path):
    environment = DemoEnvironment({**os.environ, **FOREIGN, ISOLATED: '1'})
    found = environment.variables(77, tmp_path)
    for name, value in FOREIGN.items():
        assert value not in found.get(name, '').split(os.pathsep), name
    assert found['ROS_DOMAIN_ID'] == '77'
    assert found['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST'
    assert found['ROS_LOG_DIR'] == str(tmp_path)
    for name in ('PYTHONHOME', 'LD_LIBRARY_PATH', 'CYCLONEDDS_URI', 'ROS_LOCALHOST_ONLY'):
        assert name not in found


def test_search_paths_of_the_shell_stay_only_where_ros_comes_from_them(tmp_path, monkeypatch):
    answers = iter([False, True])
    monkeypatch.setattr(DemoEnvironment, '_finds_ros', lambda self: next(answers))
    plain = {name: os.environ[name] for name in ('HOME', 'PATH') if name in os.environ}
    environment = DemoEnvironment({**plain, **FOREIGN})
    assert environment.keeps_paths
    found = environment.variables(77, tmp_path)
    for name in PATH_VARIABLES:
        if name in FOREIGN:
            assert FOREIGN[name] in found[name].split(os.pathsep)
    assert found['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST'
    assert found['ROS_LOCALHOST_ONLY'] == '1'  # how Humble is told the same
    assert 'ROS_DISCOVERY_SERVER' not in found
