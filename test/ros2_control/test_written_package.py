# SPDX-License-Identifier: Apache-2.0
"""The package of `flexdyn generate --ros2-control` compiles without warnings; its tests pass."""

import json
import os
import re
import shutil
import subprocess
import sys

import flexdyn_ros as fd
from flexdyn_ros.cli.main import main
from flexdyn_ros.ros2_control import control_package
from launch_stand_in import stand_in
import numpy as np
import pytest
from thinned import thinned
from written_package import (
    arm64_compilers,
    compilers,
    CXX_FLAGS,
    HERE,
    need,
    objects,
    run,
    STANDARDS,
    write,
)
import yaml

LONG, SHORT = 1_000_000, 20_000
FLOATING = """
<robot name="satellite"><link name="bus"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<flexdyn version="1.0"><base motion="free"/></flexdyn></robot>
"""
MAIN = """
#include <stdio.h>
#include "my_arm/functions/%(name)s.h"
int main(void)
{
    %(arrays)s
    unsigned k;
    %(name)s(%(arguments)s);
    %(prints)s
    return 0;
}
"""


@pytest.mark.parametrize(('kind', 'standard'), thinned(
    [(kind, standard) for kind in ('gcc', 'clang') for standard in STANDARDS],
    lambda *case: case == ('gcc', 'c++17')))
def test_torques_and_a_million_cycles(package, tmp_path, record_property, kind, standard):
    """Torques to 1e-12 of the largest; no cycle allocates; the longest one is printed."""
    c, cxx = compilers(kind)
    parts = objects(package, c)
    for name in ('torques', 'cycles'):
        options = f'-std={standard}', *CXX_FLAGS, '-I', package / 'include'
        source, linker = package / 'test' / f'test_{name}.cpp', cxx
        if kind == 'clang' and shutil.which('clang++') is None:
            # Linking against the library of ziglang builds it, which takes a minute.
            run(*cxx, *options, '-c', source, '-o', tmp_path / 'compiled.o')
            linker = compilers('gcc')[1]
        run(*linker, *options, source, *parts, '-ldl', '-o', tmp_path / name)
    printed = run(tmp_path / 'torques')
    assert printed.count('ok') == 16
    # Every combination runs; a million cycles take seconds, so that one does all of them.
    whole = (kind, standard) == ('gcc', 'c++17')
    printed = run(tmp_path / 'cycles', LONG if whole else SHORT)
    assert printed.count(' 0 allocations') == 4
    record_property('measured', printed)


def test_the_tests_of_the_package_can_fail(package, tmp_path):
    """A torque that is off by 1e-10, and a cycle that allocates, are found."""
    c, cxx = compilers('gcc')
    wrong = tmp_path / 'include'
    for path in (package / 'include').rglob('*.*'):
        text = path.read_text()
        if path.name == 'arm_model.hpp':
            text = text.replace('kJoints, out.begin());}', 'kJoints, out.begin()); out[0] *= 1.0 '
                                                           '+ 1e-10;}')
            assert '1e-10' in text
        if path.name == 'arm_controller.hpp':
            text = text.replace('return tracking ?', 'delete new int; return tracking ?')
        target = wrong / path.relative_to(package / 'include')
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    parts = objects(package, c)
    for name in ('torques', 'cycles'):
        # Without optimisation no compiler removes the allocation.
        run(
            *cxx, '-std=c++17', '-O0', '-I', wrong, '-I', package / 'test',
            package / 'test' / f'test_{name}.cpp', *parts, '-ldl', '-o', tmp_path / name)
        assert subprocess.run(
            [tmp_path / name, '20000'], capture_output=True, timeout=100).returncode == 1


@pytest.mark.parametrize('function', ['inverse_dynamics', 'quasi_static_torque', 'hybrid_step'])
def test_arm64(dyn, package, tmp_path, function):
    """The C under QEMU gives the numbers of Dynamics."""
    need('aarch64-linux-gnu-gcc')
    need('qemu-aarch64')
    robot = dyn.robot
    code = fd.generate(
        robot, function, optimise='quick', arguments=('gravity', 'payload'),
        name=f'my_arm_{function}')
    random = np.random.default_rng(1)
    values = {each.name: random.uniform(-0.1, 0.1, len(each.entries)) for each in code.inputs}
    values['gravity'] = np.array(robot.gravity)
    values['payload'] = np.array([0.2, 0.05, 0.0, 0.0, 0.0, 1e-4, 1e-4, 0.0, 0.0, 0.0])
    if 'step' in values:
        values['step'] = np.array([1e-3, 0.9])
    arrays = [
        f'static const double {name}[] = {{{", ".join(map(repr, map(float, each)))}}};'
        for name, each in values.items()
    ]
    names = [f'out{k}' for k in range(len(code.outputs))]
    arrays += [f'static double {n}[{o.size}];' for n, o in zip(names, code.outputs, strict=True)]
    prints = [
        f'for (k = 0; k < {o.size}; ++k) printf("%.17g\\n", {n}[k]);'
        for n, o in zip(names, code.outputs, strict=True)
    ]
    assert not code.work_size
    (tmp_path / 'main.c').write_text(MAIN % {
        'name': code.name, 'arrays': ' '.join(arrays), 'prints': ' '.join(prints),
        'arguments': ', '.join([*values, *names])})
    run(
        'aarch64-linux-gnu-gcc', '-std=c99', '-O2', '-ffp-contract=off', '-static', '-I',
        package / 'include', tmp_path / 'main.c',
        package / 'src' / 'functions' / f'{code.name}.c', '-lm', '-o', tmp_path / 'program')
    found = np.array(run('qemu-aarch64', tmp_path / 'program').split(), dtype=float)
    arguments = [values[each.name] for each in code.inputs[:-2]]
    expected = getattr(dyn, function)(*arguments)
    torque = expected[0] if isinstance(expected, tuple) else expected
    error = np.abs(found[: len(torque)] - torque).max()
    assert error <= 1e-12 * np.abs(torque).max()


@pytest.mark.slow
def test_the_class_on_arm64(package, tmp_path):
    """The class in C++ under QEMU gives the torques of Dynamics."""
    c, cxx = arm64_compilers()
    need('qemu-aarch64')
    parts = objects(package, c)
    run(
        *cxx, '-std=c++17', *CXX_FLAGS, '-static', '-I', package / 'include',
        package / 'test' / 'test_torques.cpp', *parts, '-lm', '-o', tmp_path / 'torques')
    assert run('qemu-aarch64', tmp_path / 'torques').count('ok') == 16


@pytest.mark.slow
def test_plugins_compile_where_ros2_control_is(package, tmp_path):
    """Controller, solver and hardware, where CMake finds their interfaces."""
    need('cmake')
    need('g++')
    printed = run(
        'cmake', '-S', package, '-B', tmp_path, '-DCMAKE_C_FLAGS=-Werror',
        '-DCMAKE_CXX_FLAGS=-Werror')
    missing = re.findall(r'my_arm: (\w+ is not built, for want of .*)', printed)
    run('cmake', '--build', tmp_path, '--parallel', '2')
    run('ctest', '--test-dir', tmp_path, '-R', 'torques')
    if missing:
        pytest.skip('NO ros2_control: ' + '; '.join(missing))


def test_what_belongs_to_the_robot(dyn, package):
    """Names, limits, springs and the payload of the description; YAML and URDF that parse."""
    model = (package / 'include' / 'my_arm' / 'model.hpp').read_text()
    for text in (
        'kJoints = 3', 'kModes = 3', '{-3.0, 3.0, 10.0, 12.0}', '"upper_arm/bending_y1"',
        'kSprings{{{1, 2}}}', 'kPayloadLink = "tool"', '{{0.2, 0.05, 0.0, 0.0, 0.0, 0.0001,',
    ):
        assert text in model, text
    assert dyn.robot.mode_names[2] == 'elbow/elastic'
    controllers = yaml.safe_load((package / 'config' / 'controllers.yaml').read_text())
    parameters = controllers['flexible_feed_forward_controller']['ros__parameters']
    # The elbow has a spring, and the simulated arm measures links.
    assert parameters['reference_side'] == 'link'
    assert parameters['joints'] == ['shoulder', 'elbow', 'lift']
    assert min(parameters['pd']['kp']) > 0.0 and len(parameters['pd']['kd']) == 3
    trajectory = controllers['joint_trajectory_controller']['ros__parameters']
    assert trajectory['command_joints'][2] == 'flexible_feed_forward_controller/lift'
    described = fd.load_robot(package / 'urdf' / 'my_arm.urdf')
    assert described.joint_names == dyn.robot.joint_names
    text = (package / 'urdf' / 'my_arm.urdf').read_text()
    assert text.count('<command_interface name="effort"/>') == 3
    assert text.count('motor_position') == 1
    for path in package.rglob('*'):
        if path.is_file():
            assert 'arm_dynamics' not in path.read_text().replace('my_arm_dynamics', ''), path


def test_launch_file(package, tmp_path, monkeypatch):
    """Publisher, manager and one spawner for the whole chain; a path with a blank is read."""
    prefix, file = tmp_path / 'prefix', package / 'launch' / 'arm.launch.py'
    executables = 'robot_state_publisher', 'ros2_control_node', 'spawner'
    for name in ('my_arm', 'controller_manager', 'robot_state_publisher'):
        write(prefix, {f'share/ament_index/resource_index/packages/{name}': ''})
    for name in executables:
        owner = name if name == 'robot_state_publisher' else 'controller_manager'
        (write(prefix, {f'lib/{owner}/{name}': ''}) / 'lib' / owner / name).chmod(0o755)
    (prefix / 'share' / 'my_arm').symlink_to(package)
    monkeypatch.setenv(
        'AMENT_PREFIX_PATH', f'{prefix}{os.pathsep}{os.environ["AMENT_PREFIX_PATH"]}')
    processes = stand_in.resolve(str(file))
    assert tuple(each.executable for each in processes) == executables
    publisher, manager, spawner = processes
    assert 'my_arm/FlexibleArmSystem' in publisher.parameters[0]['robot_description']
    assert manager.parameters == (str(prefix / 'share/my_arm/config/controllers.yaml'),)
    assert spawner.command[1:-1] == (
        'joint_state_broadcaster', 'flexible_feed_forward_controller',
        'joint_trajectory_controller', '--activate-as-group')
    own = write(tmp_path / 'my robot', {'arm.urdf': '<robot name="other"/>'}) / 'arm.urdf'
    publisher = stand_in.resolve(str(file), {'description': str(own)})[0]
    assert 'other' in publisher.parameters[0]['robot_description']


def test_every_parameter_is_used(package):
    """Each parameter of the file is read in the controller."""
    source = (package / 'src' / 'flexible_feed_forward_controller.cpp').read_text()
    parameters = yaml.safe_load(
        (package / 'src' / 'flexible_feed_forward_controller.yaml').read_text())

    def names(entries, prefix):
        for name, entry in entries.items():
            if 'type' in entry and 'description' in entry:
                yield f'{prefix}{name}'
            else:
                yield from names(entry, f'{prefix}{name}.')

    found = list(names(parameters['my_arm_parameters'], ''))
    assert len(found) > 25
    for name in found:
        group, _, last = name.rpartition('.')
        assert f'.{name}' in source or (group == 'payload' and f'payload.{last}' in source), name


def test_the_search_serves_the_cycle_and_reports(dyn, monkeypatch):
    """The long search runs for functions of a cycle alone; the fraction done grows to one."""
    asked, done = {}, []

    def quickly(robot, function, optimise, **rest):
        asked[function] = optimise
        return fd.generate(robot, function, optimise='quick', **rest)

    monkeypatch.setattr('flexdyn_ros.ros2_control.package.generate', quickly)
    control_package(dyn.robot, 'my_arm', progress=done.append)
    assert [asked[name] for name in ('hybrid_step', 'inverse_dynamics')] == [True, True]
    assert [asked[name] for name in ('mass_matrix', 'forward_dynamics')] == ['quick', 'quick']
    assert len(done) == len(asked) and done == sorted(done) and done[-1] == 1.0


@pytest.mark.parametrize('name', ['My_arm', '1arm', 'my__arm', 'my-arm', ''])
def test_names_that_no_package_has(dyn, name):
    """ROS refuses such names."""
    with pytest.raises(fd.FlexdynError, match='lower-case letters'):
        control_package(dyn.robot, name)


def test_robots_that_are_refused():
    """A moving base is refused, with the alternative."""
    with pytest.raises(fd.FlexdynError, match='inverse_dynamics_node'):
        control_package(fd.load_robot(FLOATING), 'satellite')


def test_command_line(tmp_path, capsys):
    """The folder names the package; --argument chooses the payload's link."""
    command = ['generate', str(HERE / 'flexible_arm.urdf'), '--ros2-control', '--no-optimise',
               '-o', str(tmp_path / 'your_arm'), '--json', '--argument']
    assert main([*command, 'payload:forearm']) == 0
    found = json.loads(capsys.readouterr().out)
    assert found['package'] == 'your_arm'
    assert len(found['files']) == sum(p.is_file() for p in (tmp_path / 'your_arm').rglob('*'))
    model = (tmp_path / 'your_arm' / 'include' / 'your_arm' / 'model.hpp').read_text()
    assert 'kPayloadLink = "forearm"' in model
    assert main([*command, 'wrench:tool']) == 2 and '--argument' in capsys.readouterr().err


def test_installed_packages_carry_the_files(tmp_path):
    """The files that setup.py installs are all files of the folder."""
    root = HERE.parents[1]
    run(sys.executable, 'setup.py', '-q', 'build_py', '--build-lib', tmp_path, cwd=root)
    folder = 'flexdyn_ros/ros2_control/arm_dynamics'
    wanted = {p.relative_to(root / folder) for p in (root / folder).rglob('*')
              if p.is_file() and '__pycache__' not in p.parts}
    found = {p.relative_to(tmp_path / folder) for p in (tmp_path / folder).rglob('*')
             if p.is_file() and '__pycache__' not in p.parts}
    assert len(wanted) > 15 and found == wanted
