# SPDX-License-Identifier: Apache-2.0
"""Launch files resolved without launch_ros."""

import importlib.util
import os
import sys

from launch_stand_in import stand_in
from launch_stand_in.context import LaunchFileError
import pytest
import yaml

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec('ament_index_python') is None,
        reason='the ament index is not installed here: `make test` installs it',
    ),
    pytest.mark.skipif(
        importlib.util.find_spec('launch_ros') is not None,
        reason='the stand-in makes way for launch_ros, which is installed here',
    ),
]

HEAD = """
from launch import LaunchDescription
from launch.actions import *
from launch.conditions import *
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import *
from launch_ros.actions import *
from launch_ros.parameter_descriptions import *
from launch_ros.substitutions import *

def generate_launch_description():
    return LaunchDescription([{}])
"""
ARGUMENT = 'DeclareLaunchArgument("gain", default_value="1.5", description="how much")'
NODE = 'Node(package="some_arm", executable="driver", {})'


@pytest.fixture(autouse=True)
def package(tmp_path, monkeypatch):
    """Install a package with one executable."""
    index = tmp_path / 'prefix/share/ament_index/resource_index/packages'
    index.mkdir(parents=True)
    (index / 'some_arm').write_text('')
    (tmp_path / 'prefix/share/some_arm').mkdir()
    program = tmp_path / 'prefix/lib/some_arm/driver'
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\n')
    program.chmod(0o755)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path / 'prefix'))
    return tmp_path / 'prefix'


@pytest.fixture
def resolve(tmp_path):
    """Return a function that resolves a launch description of these entities."""

    def resolved(*entities, head=HEAD, **arguments):
        file = tmp_path / 'test.launch.py'
        file.write_text(head.format(', '.join(entities)))
        return stand_in.resolve(str(file), arguments)

    return resolved


def node(**keywords):
    return NODE.format(', '.join(f'{key}={value}' for key, value in keywords.items()))


def test_command_line_of_a_node(resolve, package):
    process, = resolve(ARGUMENT, node(
        name='"arm"', namespace='"left"', arguments='["--fast"]',
        remappings='[("states", "~/states")]',
        parameters='[{"gain": LaunchConfiguration("gain"), "pd": {"kp": [1.0, 2.0]}}]',
    ))
    command = list(process.command)
    assert command[:3] == [str(package / 'lib/some_arm/driver'), '--fast', '--ros-args']
    assert '__node:=arm' in command
    assert '__ns:=/left' in command
    assert 'states:=~/states' in command
    file = command[command.index('--params-file') + 1]
    with open(file) as stream:
        content = yaml.safe_load(stream)
    assert content == {'/**': {'ros__parameters': {'gain': 1.5, 'pd.kp': [1.0, 2.0]}}}
    os.remove(file)


def test_given_arguments_win_over_defaults(resolve):
    process, = resolve(ARGUMENT, node(
        parameters='[{"gain": ParameterValue(LaunchConfiguration("gain"), value_type=str)}]'
    ), gain=7)
    assert process.parameters == ({'gain': '7'},)


@pytest.mark.parametrize('value, taken', [
    ('true', 1), ('1', 1), ('True', 1), ('false', 0), ('0', 0)])
def test_conditions(resolve, value, taken):
    declared = 'DeclareLaunchArgument("on", default_value="true")'
    with_if = node(condition='IfCondition(LaunchConfiguration("on"))')
    with_unless = node(condition='UnlessCondition(LaunchConfiguration("on"))')
    assert len(resolve(declared, with_if, on=value)) == taken
    assert len(resolve(declared, with_unless, on=value)) == 1 - taken


def test_groups_end_their_settings(resolve):
    group = (
        'GroupAction([PushROSNamespace("left"), SetParameter("use_sim_time", True), '
        + node(name='"inner"') + '])'
    )
    inner, outer = resolve(group, node(name='"outer"'))
    assert (inner.namespace, outer.namespace) == ('/left', '')
    assert inner.parameters == ({'use_sim_time': True},)
    assert outer.parameters == ()


def test_includes_pass_arguments(resolve, tmp_path):
    included = tmp_path / 'included.launch.py'
    included.write_text(HEAD.format(', '.join([ARGUMENT, node(
        parameters='[{"gain": LaunchConfiguration("gain")}]')])))
    include = (
        f'IncludeLaunchDescription(PythonLaunchDescriptionSource("{included}"), '
        'launch_arguments={"gain": "3"}.items())'
    )
    process, = resolve(include)
    assert process.parameters == ({'gain': 3},)


@pytest.mark.parametrize('expression, text', [
    ('PathJoinSubstitution([FindPackageShare("some_arm"), "urdf"])',
     '{prefix}/share/some_arm/urdf'),
    ('FindPackagePrefix("some_arm")', '{prefix}'),
    ('Command(["echo ", "two words"])', 'two words\n'),
    ('PythonExpression(["1 + ", "2"])', '3'),
    ('EnvironmentVariable("NO_SUCH_VARIABLE", default_value="none")', 'none'),
    ('EqualsSubstitution("a", "a")', 'true'),
    ('AndSubstitution("true", "false")', 'false'),
    ('OrSubstitution("true", "false")', 'true'),
    ('NotSubstitution("false")', 'true'),
    ('TextSubstitution(text="plain")', 'plain'),
])
def test_substitutions(resolve, package, expression, text):
    process, = resolve(node(arguments=f'[{expression}]'))
    assert process.command[1] == text.format(prefix=package)


@pytest.mark.parametrize(('suffix', 'expected'), [
    ('.urdf', '<robot name="r"><drake:link/><link name="${1 + 1}"/></robot>'),
    ('.urdf.xacro', '<link name="2"/>'),
])
def test_xacro_runs_on_its_own_files_alone(resolve, tmp_path, suffix, expected):
    """Other descriptions may have prefixes that xacro refuses."""
    inside = '<drake:link/>' if suffix == '.urdf' else ''
    file = tmp_path / f'arm{suffix}'
    file.write_text(f'<robot name="r">{inside}<link name="${{1 + 1}}"/></robot>')
    head = HEAD.replace('\ndef ', (
        '\nfrom flexdyn_ros.nodes.node_launch import description_parameter\n\ndef '))
    process, = resolve(
        f'DeclareLaunchArgument("description_file", default_value="{file}")',
        node(parameters='[{"text": description_parameter()}]'), head=head)
    assert expected in process.parameters[0]['text']


def test_arguments_are_described(tmp_path):
    file = tmp_path / 'described.launch.py'
    file.write_text(HEAD.format(ARGUMENT))
    assert stand_in.describe(str(file)) == {'gain': ('1.5', 'how much')}


@pytest.mark.parametrize('entities, arguments, message', [
    ([ARGUMENT], {'gian': 1}, 'declares no argument gian; it declares gain'),
    (['DeclareLaunchArgument("file")'], {}, '"file" is required'),
    (['DeclareLaunchArgument("side", choices=["left"])'], {'side': 'up'}, 'not one of left'),
    ([node(arguments='[LaunchConfiguration("absent")]')], {}, '"absent" does not exist'),
    ([node(condition='IfCondition("perhaps")')], {}, '"perhaps" is no condition'),
    ([node(parameters='["/no/such.yaml"]')], {}, '"/no/such.yaml" does not exist'),
    ([node(arguments='[FindExecutable(name="no-such-program")]')], {}, 'not on PATH'),
    ([node(arguments='[Command("false")]')], {}, 'ended with code 1'),
    (['Node(package="other_arm", executable="driver")'], {}, '"other_arm" is not installed'),
    (['Node(package="some_arm", executable="other")'], {}, 'does not exist'),
])
def test_what_cannot_be_resolved(resolve, entities, arguments, message):
    with pytest.raises(LaunchFileError, match=message):
        resolve(*entities, **arguments)


def test_unknown_names_and_keywords_fail(resolve):
    with pytest.raises(LaunchFileError, match='RegisterEventHandler'):
        resolve(head='from launch.actions import RegisterEventHandler\n' + HEAD)
    with pytest.raises(TypeError, match='respawn'):
        resolve(node(respawn='True'))


def test_the_stand_in_takes_itself_away(resolve):
    resolve(ARGUMENT)
    assert 'launch' not in sys.modules and 'launch_ros' not in sys.modules


def test_it_never_hides_the_real_one(monkeypatch):
    monkeypatch.setattr(stand_in, 'launch_ros_is_installed', lambda: True)
    with pytest.raises(LaunchFileError, match='must not hide'):
        stand_in.install()
