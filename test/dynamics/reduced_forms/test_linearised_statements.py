# SPDX-License-Identifier: Apache-2.0
"""Statements on linearised small deflections: links, notes and refusals."""

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError, SingularMassMatrix
import numpy as np
from oracles.compare import reference_dynamics
from oracles.linearised_robots import build, ONE_BEAM
from oracles.random_robots import random_state
import pytest


def test_only_the_links_asked_for():
    """Modes of other links stay exact; elastic joints always do."""
    robot = build('chain')[0]
    bent = [link.name for link in robot.links if link.mode_names]
    assert len(bent) > 1
    some = fd.reduced(robot, 'linearised', bent[0])
    assert [link.name for link in some.links if link.is_linearised] == bent[:1]
    states = random_state(robot, np.random.default_rng(2))
    both, one, none = (
        reference_dynamics(r).inverse_dynamics(*states)
        for r in (fd.reduced(robot, 'linearised'), some, robot)
    )
    assert not np.allclose(one, none, rtol=1e-6)
    assert not np.allclose(one, both, rtol=1e-6)
    assert fd.reduced(fd.reduced(robot, 'linearised'), 'exact') == robot


def test_a_deflection_beyond_its_range_is_reported():
    """Where the mass matrix is not positive definite any more, the error names the remedy."""
    robot = fd.load_robot(ONE_BEAM.format(length=1.0, mass=0.5, tip=0.2, iz=2e-8, more=''))
    for backend in ('reference', 'python'):
        dyn = fd.Dynamics(robot, backend=backend)
        with pytest.raises(SingularMassMatrix, match='reduce the deflections: with linearised'):
            dyn.forward_dynamics([0.0, 1.0], [0.0, 0.0], [1.0, 0.0])


def test_what_makes_no_sense_is_refused():
    """Names, links without modes, loops, and two reduced forms at once."""
    robot = build('chain')[0]
    with pytest.raises(ArgumentError, match='linearised'):
        fd.reduced(robot, 'linear')
    with pytest.raises(ArgumentError, match='QuasiStatic'):
        fd.reduced(robot, 'quasi_static')
    rigid = fd.load_robot('<robot name="r"><link name="base"/></robot>')
    with pytest.raises(ArgumentError, match='no link with mode shapes'):
        fd.reduced(rigid, 'linearised')
    rigid_link = next(x.name for x in build('mimics')[0].links if not x.mode_names)
    robot = build('mimics')[0]
    with pytest.raises(ArgumentError, match='no mode shapes'):
        fd.reduced(robot, 'linearised', [rigid_link])
    with pytest.raises(fd.FlexdynError, match='No link is called'):
        fd.reduced(robot, 'linearised', ['link77'])
    text = ONE_BEAM.format(length=1.0, mass=0.5, tip=0.2, iz=2e-8, more='rotation="linear"')
    with pytest.raises(fd.FlexdynError, match='contradicts rotation="linear"'):
        fd.load_robot(text)
    loop = '<loop name="tie" frame1="beam" frame2="base" constrain="ty"/></flexdyn>'
    looped = ONE_BEAM.format(length=1.0, mass=0.5, tip=0.2, iz=2e-8, more='').replace(
        '</flexdyn>', loop)
    with pytest.raises(fd.FlexdynError, match='has deflection="linearised"'):
        fd.load_robot(looped)
    with pytest.raises(fd.FlexdynError, match='Loop "tie" needs exact motion'):
        fd.reduced(fd.load_robot(looped.replace('deflection="linearised"', '')), 'linearised')
    with pytest.raises(ArgumentError, match='which is exact in the deflections'):
        fd.Dynamics(
            fd.reduced(robot, 'linearised'), backend='reference',
            formulation='kinematic_influence',
        )
    stiff = ONE_BEAM.replace('<bending axis="y" modes="1" basis="polynomial"/>', '')
    with pytest.raises(fd.FlexdynError, match='deflection="linearised" has no effect'):
        fd.load_robot(stiff.format(length=1.0, mass=0.5, tip=0.2, iz=2e-8, more=''))


def test_the_form_is_reported():
    """Notes, the command line and simulated motions name the form."""
    from flexdyn_ros.cli.info import torque_terms

    robot = build('chain')[0]
    for form, words in (
        ('linearised', 'linearised small deflections'),
        ('first_order_rotations', 'first-order rotations'),
    ):
        other = fd.reduced(robot, form)
        written = {'linearised': 'deflection="linearised"'}.get(form, 'rotation="linear"')
        assert sum(f'reduced form, {written}' in note for note in other.notes) == 4
        assert any(words in term for term in torque_terms(other))
        assert not any(words in term for term in torque_terms(robot))
        assert fd.reduced(other, 'exact').notes == robot.notes
    beam = fd.load_robot(ONE_BEAM.format(length=1.0, mass=0.5, tip=0.2, iz=2e-8, more=''))
    assert any('Link "beam" is in a reduced form' in note for note in beam.notes)
    rest = [0.0, 0.0]
    swing = fd.simulate(reference_dynamics(beam), rest, rest, None, 0.01, 0.01)
    assert swing.method == 'rk4, deflection="linearised"'
