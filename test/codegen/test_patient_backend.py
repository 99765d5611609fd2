# SPDX-License-Identifier: Apache-2.0
"""The backend behind "auto": who answers, and that clearing a payload leads back."""

import flexdyn_ros as fd
from flexdyn_ros.codegen.patient_backend import PATIENCE
from flexdyn_ros.codegen.patient_backend import PatientBackend
from flexdyn_ros.codegen.python_backend import PythonBackend
from flexdyn_ros.dynamics.reference import ReferenceBackend
import numpy as np
from oracles.random_robots import random_robot_urdf
import pytest

ROBOT = fd.load_robot(random_robot_urdf(5, 3))
LINK = ROBOT.links[-1].name


def state(robot=ROBOT):
    """Return position, velocity and acceleration."""
    q = robot.neutral_configuration()
    qd, qdd = 0.3 * np.random.default_rng(2).normal(size=(2, robot.nv))
    return q, qd, qdd


def test_generated_code_answers_what_is_called_often():
    """The first calls are the reference's, later ones the generated code's; others wait."""
    backend = PatientBackend(ROBOT, [0.0, 0.0, -9.81], {})
    turns = [type(backend.whose_turn('mass_matrix')) for _ in range(PATIENCE + 2)]
    assert turns == [ReferenceBackend] * PATIENCE + [PythonBackend] * 2
    assert isinstance(backend.whose_turn('inverse_dynamics'), ReferenceBackend)


def test_both_give_the_same_numbers():
    """The change of turns is seen in round-off only."""
    dyn = fd.Dynamics(ROBOT)
    q, qd, qdd = state()
    first = dyn.inverse_dynamics(q, qd, qdd)
    for _ in range(PATIENCE):
        last = dyn.inverse_dynamics(q, qd, qdd)
    assert dyn.backend == 'python'
    assert last == pytest.approx(first, rel=1e-12, abs=1e-12 * np.abs(first).max())


@pytest.mark.parametrize('before', [1, PATIENCE + 1])
def test_clearing_a_payload_restores_bit_for_bit_however_long_it_was_there(before):
    """Many calls under a payload do not change who answers without one."""
    dyn = fd.Dynamics(ROBOT)
    q, qd, qdd = state()
    for _ in range(before):
        plain = dyn.inverse_dynamics(q, qd, qdd)
    dyn.set_payload(LINK, 1.0, (0.0, 0.1, 0.0), np.eye(3) * 0.01)
    for _ in range(PATIENCE + 2):
        loaded = dyn.inverse_dynamics(q, qd, qdd)
    assert np.abs(loaded - plain).max() > 1e-6
    dyn.clear_payload()
    assert np.array_equal(dyn.inverse_dynamics(q, qd, qdd), plain)


def test_every_method_is_passed_on():
    """The backend has each public method of the reference's."""
    methods = {name for name in vars(ReferenceBackend) if not name.startswith('_')}
    assert methods <= set(vars(PatientBackend)) | {'name'}
