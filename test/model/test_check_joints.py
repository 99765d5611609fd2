# SPDX-License-Identifier: Apache-2.0
"""Reports of `check_robot` on joints: motion without inertia, limits, friction, springs."""


from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.check import check_robot
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.robot_dynamics import Dynamics
from model_texts import (
    arm_with,
    joint,
    link,
    one_joint,
    robot,
)
import numpy as np
import pytest


def _findings(text, **named):
    return check_robot(load_robot(text, **named)).findings


def test_massless_motion_names_joint_and_links():
    text = robot(link('a'), link('b', ''), link('c', ''), link('d', ''),
                 joint('j', 'a', 'b'), joint('k', 'b', 'c', 'fixed'), joint('m', 'b', 'd'))
    errors = check_robot(load_robot(text)).errors
    assert [(e.element, e.name) for e in errors] == [('joint', 'j'), ('joint', 'm')]
    assert '"b", "c", "d"' in errors[0].message
    assert '("d")' in errors[1].message
    with pytest.raises(ModelError, match='and 1 more') as caught:
        load_robot(text, strict=True)
    assert caught.value.name == 'j'


def test_massless_link_that_carries_mass_is_fine():
    text = robot(link('a'), link('b', ''), link('c'), joint('j', 'a', 'b'), joint('k', 'b', 'c'))
    assert _findings(text) == ()


def test_fixed_massless_link_is_fine():
    assert all(f.severity != 'error' for f in _findings(one_joint('fixed', inertial='')))


def test_mass_on_the_axis_is_a_warning():
    text = one_joint(inertial='<inertial><origin xyz="0 0 1"/><mass value="1"/></inertial>')
    assert {f.element for f in _findings(text)} == {'link', 'joint'}
    assert {f.severity for f in _findings(text)} == {'warning'}
    slider = one_joint('prismatic', inertial='<inertial><mass value="1"/></inertial>')
    assert {f.element for f in _findings(slider)} == {'link'}


def test_followers_carry_inertia_for_their_leader():
    text = robot(link('a'), link('b', ''), link('c'), joint('j', 'a', 'b'),
                 joint('k', 'a', 'c', inner='<axis xyz="0 0 1"/><mimic joint="j"/>'))
    assert _findings(text) == ()
    assert check_robot(load_robot(text.replace(link('c'), link('c', '')))).errors[0].name == 'j'


def test_elastic_joint_needs_inertia_on_the_motor_side():
    bare = '<flexdyn><joint_dynamics joint="j" stiffness="1e4"/></flexdyn>'
    finding, = _findings(one_joint(), extension=bare)
    assert (finding.severity, finding.element, finding.name) == ('error', 'joint', 'j')
    assert 'rotor_inertia' in finding.advice
    full = bare.replace('stiffness', 'rotor_inertia="1e-5" stiffness')
    assert _findings(one_joint(), extension=full) == ()
    massless = _findings(one_joint(inertial=''), extension=full)
    assert [f.severity for f in massless] == ['error']


def test_elastic_follower_needs_mass_of_its_own_and_a_leader_that_moves_some():
    text = robot(link('a'), link('b', ''), link('c'), joint('j', 'a', 'b'),
                 joint('k', 'a', 'c', inner='<axis xyz="0 0 1"/><mimic joint="j"/>'))
    spring = '<flexdyn><joint_dynamics joint="k" stiffness="9"{}/></flexdyn>'
    bare, = _findings(text, extension=spring.format(''))
    assert (bare.severity, bare.name) == ('error', 'j')
    driven = spring.format(' rotor_inertia="1e-5"')
    assert _findings(text, extension=driven) == ()
    empty, = _findings(text.replace(link('c'), link('c', '')), extension=driven)
    assert (empty.severity, empty.name) == ('error', 'k')


def test_springs_that_give_way_are_warnings():
    text = '<joint_dynamics joint="elbow" rotor_inertia="1e-5"><spring points="{}"/>'
    text += '</joint_dynamics>'
    for points, words in (
        ('-1 -9, 0 0, 1 9', []),
        ('-1 -9, -0.5 0, 0 0, 0.5 0, 1 9', []),
        ('-1 -9, 0 0, 1 9, 2 9', ['no stiffer above its deflection 2: the force stays 9']),
        ('0 0, 1 9', ['ends at zero and continues straight below it']),
        ('0 0, 1 0, 2 9', ['opposes no deflection below zero']),
        ('-2 -3, -1 -3, 0 0', ['below its deflection -2', 'straight above it']),
    ):
        found = check_robot(arm_with(text.format(points))).findings
        assert [(f.severity, f.element, f.name) for f in found] == [
            ('warning', 'joint', 'elbow')] * len(words)
        assert all(word in f.message for word, f in zip(words, found, strict=True))


def test_friction_that_rises_with_speed_is_a_warning():
    friction = '<joint_dynamics joint="elbow"><friction coulomb="2" stribeck="{}" ' \
        'stribeck_velocity="0.1"/></joint_dynamics>'
    rising = arm_with(friction.format(1.5))
    finding, = check_robot(rising).findings
    assert (finding.severity, finding.element, finding.name) == ('warning', 'joint', 'elbow')
    assert 'stribeck="1.5" lies below coulomb="2"' in finding.message
    assert rising.joint('elbow').dynamics.friction.breakaway == 1.5
    assert check_robot(arm_with(friction.format(2.5))).findings == ()
    speed = np.zeros(rising.nv)
    index = rising.joint_names.index('elbow')
    speed[index] = 0.05
    level = 2.0 - 0.5 * np.exp(-0.25)
    assert Dynamics(rising).friction_vector(speed)[index] == pytest.approx(
        level * np.tanh(0.05 / 0.01), rel=1e-12)


@pytest.mark.parametrize(('limit', 'words'), [
    ('effort="0" velocity="1"', 'effort="0"'),
    ('effort="1" velocity="0"', 'velocity="0"'),
    ('lower="1" upper="-1" effort="1" velocity="1"', 'lower 1 above upper -1'),
    ('lower="0" upper="0" effort="1" velocity="1"', 'cannot move'),
])
def test_doubtful_limits(limit, words):
    text = one_joint(inner=f'<axis xyz="0 0 1"/><limit {limit}/>')
    finding, = _findings(text)
    assert (finding.severity, finding.element, finding.name) == ('warning', 'joint', 'j')
    assert words in finding.message
    assert load_robot(text, strict=True).n_joints == 1


def test_limits_of_a_fixed_joint_say_nothing():
    text = one_joint('fixed', '<limit effort="0" velocity="0"/>')
    assert [f.element for f in _findings(text)] == ['robot']
