# SPDX-License-Identifier: Apache-2.0
"""Static equilibrium under load, Campbell diagrams and pose maps, and their command."""

import json
from pathlib import Path

import flexdyn_ros as fd
from flexdyn_ros.cli.analyse import text
from flexdyn_ros.cli.main import main
from flexdyn_ros.errors import NotYetSupported
from flexdyn_ros.linearisation.equilibrium import displacement, static_equilibrium
from flexdyn_ros.linearisation.frequency_maps import campbell_diagram, pose_map
from flexdyn_ros.simulation.vibrations import allowed_motions
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.rotating_beam import flap_frequencies
import pytest

ROOT = Path(__file__).resolve().parents[2]
# A beam on an arm: length [m], mass [kg], EI [N m^2].
LENGTH, MASS, RIGIDITY = 0.8, 0.4, 60.0


def arm(mass=MASS):
    """Return a beam that turns about z (yaw), then about y (pitch)."""
    return (
        '<robot name="arm"><link name="base"/><link name="column"/><link name="boom"/>'
        '<link name="tip"/><joint name="yaw" type="continuous"><parent link="base"/>'
        '<child link="column"/><axis xyz="0 0 1"/></joint><joint name="pitch" '
        'type="continuous"><parent link="column"/><child link="boom"/><axis xyz="0 1 0"/>'
        f'</joint><joint name="end" type="fixed"><origin xyz="{LENGTH} 0 0"/><parent '
        'link="boom"/><child link="tip"/></joint><flexdyn version="1.0">'
        f'<flexible_link link="boom"><beam tip="end" young="{RIGIDITY}" '
        f'iy="1" iz="1" mass="{mass}"><bending axis="y" modes="3"/><bending axis="z" '
        f'modes="3"/></beam></flexible_link></flexdyn></robot>')


def test_deflection_under_a_force_and_gravity():
    """F L^3 / 3 EI + m g L^3 / 8 EI (Timoshenko), less than 1 percent of the length."""
    dyn = reference_dynamics(fd.load_robot(arm(mass=0.05)))
    found = static_equilibrium(
        dyn, np.zeros(8), {'tip': [0.0, 0.0, -2.0, 0.0, 0.0, 0.0]})
    sag = (2.0 / 3.0 + 0.05 * 9.81 / 8.0) * LENGTH**3 / RIGIDITY
    assert displacement(found, 'tip')[2] == pytest.approx(-sag, rel=2e-3)
    # The weight and the force about the pitch axis, which turns the tip down.
    assert found.tau[1] == pytest.approx(-(2.0 + 0.5 * 0.05 * 9.81) * LENGTH, rel=1e-3)
    assert found.tau[2:] == pytest.approx(np.zeros(6), abs=1e-9)


def test_stiffness_of_a_mechanism_is_the_curvature_of_its_energy():
    """V - tau (q - q0) of closed configurations, twice differenced; the hanging platform falls."""
    pytest.importorskip('xacro', reason='xacro is not installed here: `make test` installs it')
    robot = fd.load_robot(ROOT / 'urdf' / 'delta.urdf.xacro')
    dyn = reference_dynamics(robot)
    found = static_equilibrium(dyn, robot.neutral_configuration())
    free, step = allowed_motions(dyn, found.q)[2], 1e-3

    def energy(change):
        q = dyn.project(found.q + free @ change, np.zeros(robot.nv))[0]
        return dyn.potential_energy(q) - found.tau @ (q - found.q)

    units = step * np.eye(free.shape[1])
    expected = [[(energy(a + b) - energy(a - b) - energy(b - a) + energy(-a - b)) / 4e-6
                 for a in units] for b in units]
    assert_agree(free.T @ found.stiffness @ free, np.array(expected), 1e-6)
    assert found.tau[robot.n_joints:] == pytest.approx(np.zeros(2), abs=1e-4)
    with pytest.raises(NotYetSupported):
        pose_map(dyn, {robot.joint_names[0]: [0.0]})


@pytest.mark.parametrize('speed', [0.0, 3.0, 8.0])
def test_campbell_diagram_of_a_rotating_beam(speed):
    """Flapping by finite elements; lagging^2 = flapping^2 - speed^2 on a hub of radius 0."""
    dyn = reference_dynamics(fd.load_robot(arm()))
    unit = np.sqrt(RIGIDITY / (MASS * LENGTH**3))
    found = campbell_diagram(dyn, 'yaw', [speed * unit], modes=2)
    flap = flap_frequencies(speed)[0]
    rates = 2.0 * np.pi * found.frequencies[0] / unit
    assert rates[1] == pytest.approx(flap, rel=2e-3)
    assert rates[0] ** 2 == pytest.approx(rates[1] ** 2 - speed**2, rel=1e-4)
    assert found.growth[0] == pytest.approx(0.0, abs=1e-6 * unit)


def test_pose_map_of_a_boom_that_its_weight_stiffens():
    """Hanging it vibrates faster than level, and level faster than upright."""
    dyn = reference_dynamics(fd.load_robot(arm()))
    found = pose_map(
        dyn, {'yaw': [0.0, 1.0], 'pitch': [np.pi / 2, 0.0, -np.pi / 2]}, modes=2, frame='tip')
    assert found.frequencies.shape == (2, 3, 2) and found.units == ('rad', 'rad')
    assert found.frequencies[0] == pytest.approx(found.frequencies[1], rel=1e-9)
    hanging, level, upright = found.frequencies[0, :, 0]
    assert hanging > level > upright
    # Rayleigh: w^2 changes by g / L times int (1 - x) phi'^2 / int phi^2 = 1.571.
    squares = (2.0 * np.pi * np.array([hanging, upright])) ** 2
    assert squares[0] - squares[1] == pytest.approx(2.0 * 1.571 * 9.81 / LENGTH, rel=0.01)
    assert found.places[0, 0] == pytest.approx([0.0, 0.0, -LENGTH], abs=1e-12)


def test_the_command_writes_tables_and_pictures(tmp_path, capsys):
    (tmp_path / 'arm.urdf').write_text(arm())
    code = main([
        'analyse', str(tmp_path / 'arm.urdf'), '--at', 'pitch=0.3', '--wrench',
        'tip=0,0,-5,0,0,0', '--outputs', 'tip/z', 'tip/az', 'boom/strain@0.1,0,0.01', '--kp',
        '400', '--kd', '20', '9', '--campbell', 'yaw=40', '--map', 'pitch=-1:1:2', 'yaw=0:1:2',
        '--frame', 'tip', '--json', '--out', str(tmp_path / 'out')])
    answer = json.loads(capsys.readouterr().out)
    assert code == 0
    assert answer['outputs'] == {'tip/z': 'm', 'tip/az': 'm/s^2', 'boom/strain@0.1,0,0.01': '1'}
    assert all(pole['real_per_s'] < 1e-9 for pole in answer['poles'])
    assert answer['frame_displacement_m'][2] < 0.0
    names = {'system.npz', 'bode.png', 'poles.png', 'campbell.png', 'campbell.csv',
             'pose_map.png', 'pose_map.csv'}
    assert {path.name for path in (tmp_path / 'out').iterdir()} == names
    assert len(answer['files']) == len(names)
    with np.load(tmp_path / 'out' / 'system.npz') as system:
        assert (system['a'].shape, system['c'].shape) == ((16, 16), (3, 16))
        assert np.abs(np.sort(np.linalg.eigvals(system['a']).real)[-1]) < 20.0
    rows = (tmp_path / 'out' / 'pose_map.csv').read_text().splitlines()
    assert rows[0] == 'pitch,yaw,frequency1_hz,frequency2_hz,frequency3_hz' and len(rows) == 5
    assert 'imaginary [rad/s]' in text(answer)


@pytest.mark.parametrize('words, problem', [
    (['--wrench', 'tip=1,2'], 'six numbers'), (['--map', 'pitch=0:1'], 'FROM:TO:COUNT'),
    (['--map', 'pich=0:1:2'], 'pitch'), (['--campbell', 'yaw'], 'JOINT=SPEED'),
    (['--kp', '3'], '--kd'), (['--frame', 'tipp'], 'Did you mean "tip"'),
    (['--outputs', 'tipp/x'], 'Did you mean "tip"'),
    (['--at', 'boom/bending_y1=0.1'], 'coordinate')])
def test_wrong_calls_are_named(tmp_path, capsys, words, problem):
    (tmp_path / 'arm.urdf').write_text(arm())
    code = main(['analyse', str(tmp_path / 'arm.urdf'), *words, '--out', str(tmp_path / 'out')])
    assert code == 2
    assert problem in capsys.readouterr().err
