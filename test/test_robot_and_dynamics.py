# SPDX-License-Identifier: Apache-2.0
"""Errors about a Robot, its Dynamics or its QuasiStatic name the type and its source."""

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.check import check_robot
from flexdyn_ros.simulation.vibrations import analyse
import pytest

ARM = """
<robot name="arm">
  <link name="base"/>
  <link name="rod">
    <inertial>
      <origin xyz="0 0 -0.5"/><mass value="1"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="hinge" type="continuous">
    <parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
  </joint>
</robot>
"""
STATE = ([0.1], [0.0])


@pytest.fixture(scope='module')
def objects():
    robot = fd.load_robot(ARM)
    dyn = fd.Dynamics(robot, backend='reference')
    return {'robot': robot, 'dyn': dyn, 'quasi_static': fd.QuasiStatic(dyn), 'text': ARM,
            'nothing': None}


FROM_ROBOT = {
    'Dynamics': fd.Dynamics,
    'generate': lambda robot: fd.generate(robot, 'mass_matrix'),
    'reduced': lambda robot: fd.reduced(robot, 'linearised'),
    'check_robot': check_robot,
    'analyse': lambda robot: analyse(robot, [0.1]),
}
FROM_DYNAMICS = {
    'simulate': lambda dyn: fd.simulate(dyn, *STATE, None, 0.1, 0.1),
    'linearise': lambda dyn: fd.linearise(dyn, *STATE, [0.0]),
    'QuasiStatic': fd.QuasiStatic,
}


@pytest.mark.parametrize('name', FROM_ROBOT)
@pytest.mark.parametrize(('given', 'message'), [
    ('dyn', '"robot" is of type Dynamics, expected its Robot: pass its attribute "robot"'),
    ('quasi_static', '"robot" is of type QuasiStatic, expected its Robot: pass its attribute'),
    ('text', '"robot" is of type str, expected a Robot, as load_robot returns it'),
    ('nothing', '"robot" is of type NoneType, expected a Robot, as load_robot returns it'),
])
def test_a_robot_is_asked_for(objects, name, given, message):
    with pytest.raises(ArgumentError, match=message):
        FROM_ROBOT[name](objects[given])


@pytest.mark.parametrize('name', FROM_DYNAMICS)
@pytest.mark.parametrize(('given', 'message'), [
    ('robot', r'"dyn" is of type Robot, expected its Dynamics: pass Dynamics\(robot\)'),
    ('quasi_static', '"dyn" is of type QuasiStatic, .*: pass its attribute "dyn"'),
    ('text', r'"dyn" is of type str, expected a Dynamics: pass Dynamics\(robot\)'),
    ('nothing', '"dyn" is of type NoneType, expected a Dynamics'),
])
def test_dynamics_are_asked_for(objects, name, given, message):
    with pytest.raises(ArgumentError, match=message):
        FROM_DYNAMICS[name](objects[given])


@pytest.mark.parametrize('given', ['robot', 'dyn', 'text', 'nothing'])
def test_quasi_static_dynamics_are_asked_for(objects, given):
    with pytest.raises(ArgumentError, match=r'"quasi_static" is of type .*QuasiStatic\(dyn\)'):
        fd.simulate_quasi_static(objects[given], *STATE, None, 0.1, 0.1)


def test_the_right_objects_are_taken(objects):
    assert len(fd.simulate(objects['dyn'], *STATE, None, 0.1, 0.1)) == 2
    assert len(fd.simulate_quasi_static(objects['quasi_static'], *STATE, None, 0.1, 0.1)) == 2
    assert fd.linearise(objects['dyn'], *STATE, [0.0])[0].shape == (2, 2)
    assert fd.Dynamics(objects['robot']).robot is objects['robot']


@pytest.mark.parametrize('given', ['robot', 'dyn', 'nothing'])
def test_a_description_is_asked_for(objects, given):
    with pytest.raises(fd.FlexdynError, match='must be XML text or a path, not'):
        fd.load_robot(objects[given])


@pytest.mark.parametrize('named', [
    {'wrenches': 5}, {'wrenches': [5]}, {'arguments': [3]}, {'arguments': 2.5},
])
def test_what_compile_takes_are_names(named):
    dyn = fd.Dynamics(fd.load_robot(ARM), backend='reference')
    with pytest.raises(ArgumentError, match=f'Argument "{next(iter(named))}" .* expected names'):
        dyn.compile('inverse_dynamics', **named)
