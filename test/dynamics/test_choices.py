# SPDX-License-Identifier: Apache-2.0
"""Choices, names and settings of a wrong type or value: each is refused by its argument."""

import flexdyn_ros as fd
import numpy as np
from oracles.compare import reference_dynamics
from oracles.random_robots import random_robot_urdf, random_state
import pytest

ROBOT = fd.load_robot(random_robot_urdf(91, 3, ('revolute', 'floating'), 0.8, tree=False))
DYN = reference_dynamics(ROBOT)
Q, QD, QDD = random_state(ROBOT, np.random.default_rng(2))
TAU = DYN.inverse_dynamics(Q, QD, QDD)
NV = ROBOT.nv


def test_unknown_backends_and_methods_are_refused():
    """With the choices named."""
    with pytest.raises(fd.FlexdynError, match='backend'):
        fd.Dynamics(ROBOT, backend='fortran77')
    with pytest.raises(fd.FlexdynError, match='method'):
        DYN.forward_dynamics(Q, QD, TAU, method='guess')


@pytest.mark.parametrize('wrong', [np.zeros(2), np.zeros((2, 2)), np.array('x'), 3, object()])
def test_choices_of_a_wrong_type_are_refused_by_name(wrong):
    """Arrays too, whose comparisons are arrays again."""
    zero = np.zeros(NV)
    rows = zero[None]
    for name, call in (
        ('backend', lambda: fd.Dynamics(ROBOT, wrong)),
        ('formulation', lambda: fd.Dynamics(ROBOT, formulation=wrong)),
        ('approximations', lambda: fd.Dynamics(
            ROBOT, formulation='kinematic_influence', approximations=wrong)),
        ('method', lambda: DYN.forward_dynamics(Q, QD, TAU, method=wrong)),
        ('method', lambda: DYN.batch.forward_dynamics(Q[None], rows, rows, method=wrong)),
        ('loop_forces', lambda: DYN.inverse_dynamics(Q, QD, QDD, loop_forces=wrong)),
        ('loop_accelerations', lambda: DYN.forward_dynamics(
            Q, QD, TAU, loop_accelerations=wrong)),
        ('parameters', lambda: DYN.inverse_dynamics_parameter_derivatives(Q, QD, QDD, wrong)),
        ('wrenches', lambda: DYN.compile('mass_matrix', wrenches=wrong)),
        ('arguments', lambda: DYN.compile('mass_matrix', arguments=wrong)),
        ('batch', lambda: DYN.compile('mass_matrix', batch=wrong)),
        ('language', lambda: fd.generate(ROBOT, 'mass_matrix', wrong)),
        ('optimise', lambda: fd.generate(ROBOT, 'mass_matrix', optimise=wrong)),
        ('arguments', lambda: fd.generate(ROBOT, 'mass_matrix', arguments=wrong)),
        ('method', lambda: fd.generate(ROBOT, 'mass_matrix', method=wrong)),
        *((name, lambda name=name: fd.simulate(DYN, Q, QD, None, 0.1, 1e-3, **{name: wrong}))
          for name in ('method', 'drift', 'stops', 'force', 'progress', 'loop_accelerations',
                       'loop_forces')),
        ('hold', lambda: DYN.project(Q, QD, wrong)),
        ('inverse', lambda: DYN.operational_space_inertia(Q, ROBOT.frame_names[-1], wrong)),
        ('outputs', lambda: fd.linearise(DYN, Q, QD, TAU, outputs=wrong)),
        ('form', lambda: fd.reduced(ROBOT, wrong)),
        ('links', lambda: fd.reduced(ROBOT, 'linearised', wrong)),
        ('drift', lambda: fd.simulate(DYN, Q, QD, None, 0.1, 0.01, drift_gains=wrong)),
    ):
        with pytest.raises(fd.FlexdynError, match=f'"{name}"'):
            call()


@pytest.mark.parametrize('wrong', ['abc', None, np.zeros(2), 10 ** 400])
def test_numbers_of_a_wrong_type_are_refused_by_name(wrong):
    """Text, arrays and whole numbers beyond the range of floats."""
    for name, call in (
        ('loop_tolerance', lambda: fd.Dynamics(ROBOT, loop_tolerance=wrong)),
        ('t_end', lambda: fd.simulate(DYN, Q, QD, None, wrong, 1e-4)),
        ('rotation_tolerance', lambda: fd.generate(
            ROBOT, 'friction_vector', rotation_tolerance='' if wrong is None else wrong)),
    ):
        with pytest.raises(fd.FlexdynError, match=f'"{name}"'):
            call()


def test_unknown_coordinates_and_functions_are_named():
    """Without loops too, and on backends without compiled code."""
    with pytest.raises(fd.FlexdynError, match='No coordinate is called "elbow"'):
        DYN.project(Q, QD, hold='elbow')
    for wrong, words in (('mass_matrx', 'mean "mass_matrix"'), ('jacobian', 'No native function')):
        with pytest.raises(fd.FlexdynError, match=words):
            DYN.native(wrong)


def test_rounding_of_rotations_is_not_negative():
    """Zero rounds none."""
    with pytest.raises(fd.FlexdynError, match='"rotation_tolerance" is -0.1, expected zero'):
        fd.generate(ROBOT, 'friction_vector', rotation_tolerance=-0.1)


@pytest.mark.parametrize('wrong', [None, 'arm.urdf', DYN])
def test_what_is_no_robot_is_refused(wrong):
    """A path or a Dynamics where a Robot is needed."""
    for call in (
        fd.Dynamics,
        lambda robot: fd.generate(robot, 'mass_matrix'),
        lambda robot: fd.reduced(robot, 'linearised'),
    ):
        with pytest.raises(fd.FlexdynError, match=f'"robot" is of type {type(wrong).__name__}'):
            call(wrong)
