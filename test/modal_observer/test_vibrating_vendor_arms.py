# SPDX-License-Identifier: Apache-2.0
"""The error of the modal observer on the Canadarm and a UR5e, fully nonlinear."""

from functools import cache
from pathlib import Path

import flexdyn_ros as fd
from flexdyn_ros.modal_observer.sensor_equations import SensorEquations
from flexdyn_ros.simulation.frequencies import stiffness_matrix
import numpy as np
import pytest
from vibrating_arms import (
    encoders,
    HeldArm,
    inertial_sensors,
    link_encoders,
    PERIOD,
    strain_gauges,
)
import xacro

URDF = Path(__file__).resolve().parents[2] / 'urdf'
TIPS = {'canadarm': 'tool', 'ur5e': 'tool0'}
POSES = {'canadarm': [0.3, -0.8, 0.5], 'ur5e': [0.0, -1.0, 1.2, -0.2, 1.57, 0.0]}
STIFF = 100.0
# The Canadarm has no friction and a joint loop too fast for explicit steps.
METHODS = {'canadarm': 'implicit', 'ur5e': 'rk4'}
SENSORS = {
    'encoders': lambda robot: [],
    'link side': link_encoders,
    'IMU': lambda robot: inertial_sensors(TIPS.get(robot.name, 'tool0')),
    'gauges': strain_gauges,
}
pytestmark = pytest.mark.slow


@cache
def robot(name, factor=1.0, friction=1.0):
    """Return an arm with all stiffnesses, and with Coulomb friction, times factors."""
    if name == 'canadarm':
        path = URDF / 'canadarm.urdf.xacro'
        text = xacro.process_file(str(path), mappings={'damping_ratio': '0.005'}).toxml()
        assert 'young="100000000000.0"' in text
        return fd.load_robot(text.replace('young="100000000000.0"', f'young="{1e11 * factor}"'))
    models = pytest.importorskip('airo_models', reason='airo-models has the UR5e')
    text = (URDF / 'ur5e_extension.flexdyn.xml').read_text()
    for value in ('1.2e4', '1.0e4', '70e9', '26e9'):
        assert f'"{value}"' in text
        text = text.replace(f'"{value}"', f'"{factor * float(value)}"')
    for value in ('8', '10', '2'):
        text = text.replace(f'coulomb="{value}"', f'coulomb="{friction * float(value)}"')
    return fd.load_robot(models.get_urdf_path('ur5e'), extension=text)


@cache
def held(name):
    """Return the held arm, with at least two modes damped lightly."""
    arm = HeldArm(robot(name), np.array(POSES[name]), STIFF)
    assert len(arm.modes) >= 2
    return arm


def errors(name, sensors, factor=1.0, friction=1.0, method=None):
    """Return the errors of all lightly damped modes, which must be observable; with the mean."""
    model = robot(name, factor, friction)
    observer = fd.ModalObserver(
        fd.Dynamics(model), PERIOD, encoders(model) + SENSORS[sensors](model))
    arm = held(name)
    observed = observer.observability(arm.q[:model.n_joints])
    assert all(observed[k].observable for _, _, k, _ in arm.modes)
    method = method or METHODS[name]
    found = [arm.error(observer, mode, method) for mode in arm.modes]
    print(name, sensors, f'stiffness x {factor}, friction x {friction}, {method}:', *(
        f'{rate / (2.0 * np.pi):.2f} Hz, ratio {ratio:.3f}: {100.0 * error:.1f} %, '
        f'mean {100.0 * mean:.1f} %;'
        for (rate, ratio, *_), (error, mean) in zip(arm.modes, found)))
    return [error for error, _ in found], [error + abs(mean) for error, mean in found]


@pytest.mark.parametrize('name', ['canadarm', 'ur5e'])
def test_the_exact_model_is_within_ten_percent(name):
    """From motor encoders alone, with the deflection at rest."""
    assert max(errors(name, 'encoders')[1]) < 0.1


@pytest.mark.parametrize('factor', [0.9, 1.1])
@pytest.mark.parametrize('name', ['canadarm', 'ur5e'])
def test_motor_encoders_bear_a_wrong_stiffness(name, factor):
    """All stiffnesses 10 % wrong; the deflection at rest is then the model's."""
    assert max(errors(name, 'encoders', factor)[0]) < 0.25


@pytest.mark.parametrize('factor', [0.9, 1.1])
@pytest.mark.parametrize(
    'name, sensors', [('canadarm', 'gauges'), ('canadarm', 'IMU'), ('ur5e', 'link side'),
                      ('ur5e', 'IMU'), ('ur5e', 'gauges')])
def test_sensors_on_links_bear_it_better(name, sensors, factor):
    """All stiffnesses 10 % wrong; all but an IMU measure the deflection at rest too."""
    vibration, whole = errors(name, sensors, factor)
    assert max(vibration if sensors == 'IMU' and name == 'ur5e' else whole) < 0.2


def test_what_sensors_read_at_rest_of_a_constant_error():
    """Of elastic forces, by the readings on bent links: the rank of docs/modal_observer.md."""
    model = robot('ur5e')
    dyn, n, nv = fd.Dynamics(model), model.n_joints, model.nv
    q = held('ur5e').q
    bent = np.zeros((nv, nv - n))
    bent[n:] = 1e-3 * np.linalg.inv(stiffness_matrix(dyn, q)[n:, n:])
    gyro, acceleration = np.split(np.array(inertial_sensors('tool0')), 2)

    def rank(sensors):
        read = SensorEquations(dyn, sensors)
        at = [read(row, 0.0 * row, 0.0 * row) for row in (q, *(q + bent.T))]
        moved = np.array(at[1:]) - at[0]
        return np.linalg.matrix_rank(moved, 1e-3 * np.abs(moved).max() or None)

    assert model.n_modes == 4
    assert rank(encoders(model)) == rank(gyro) == 0
    assert rank(acceleration) == 2
    assert rank(link_encoders(model)) == 2
    assert rank(link_encoders(model) + strain_gauges(model)) == 4


@pytest.mark.parametrize('sensors, bound', [('encoders', 0.25), ('link side', 0.2)])
def test_wrong_friction_adds_little(sensors, bound, capsys):
    """Coulomb friction exact and 20 % wrong, of the smooth law of the equations."""
    for friction in (1.0, 0.8, 1.2):
        assert max(errors('ur5e', sensors, friction=friction)[1]) < bound
    printed = capsys.readouterr().out
    print(printed)
    assert all(f'friction x {each}, rk4: 5.24 Hz' in printed for each in (1.0, 0.8, 1.2))


def test_joints_that_stick_hide_the_modes_from_their_motors():
    """Set-valued friction holds them, so that their torque shows no force; the link side does."""
    assert max(errors('ur5e', 'encoders', method='implicit')[0]) > 0.5
    assert max(errors('ur5e', 'link side', method='implicit')[0]) < 0.2
