# SPDX-License-Identifier: Apache-2.0
"""`flexdyn generate --ros2-control --damping`: margins and refusals."""

from pathlib import Path

import flexdyn_ros as fd
from flexdyn_ros.cli.main import main
from flexdyn_ros.model.records.sensor import MountedSensor
import numpy as np
import pytest

ARM = Path(__file__).parents[1] / 'ros2_control' / 'flexible_arm.urdf'
LAW = {
    'joint_q': [0.3, -0.4, 0.02], 'kp': [37.9, 63.2, 120.0], 'kd': [1.05, 3.5, 6.7],
    'period': 1e-3, 'delay': 2e-3,
}


@pytest.fixture(scope='module')
def dyn():
    """Return the arm."""
    return fd.Dynamics(fd.load_robot(ARM))


def design(dyn, **changes):
    """Return the design with other arguments."""
    return fd.damping_controller(dyn, **{**LAW, **changes})


def test_the_command_prints_the_margins_and_the_package_holds_the_design(tmp_path, capsys, dyn):
    """The printed numbers are the design's; the header has its matrices to the last bit."""
    file = tmp_path / 'damping.yaml'
    file.write_text('\n'.join(f'{key}: {value!r}' for key, value in LAW.items()))
    file.write_text(file.read_text().replace('0.001', '1.0e-3'))
    folder = tmp_path / 'my_arm'
    call = ['generate', str(ARM), '--ros2-control', '--no-optimise', '-o', str(folder)]
    assert main([*call, '--damping', str(file)]) == 0
    found = design(dyn)
    assert str(found) in capsys.readouterr().out
    assert f'loop delay of 2 ms: peak input sensitivity {found.peak_sensitivity:.3g}' in str(found)
    header = (folder / 'include' / 'my_arm' / 'active_damping.hpp').read_text()
    line = next(row for row in header.splitlines() if 'kDampingA{{' in row)
    numbers = [float(each) for each in line.partition('{{')[2].rstrip('};').split(',')]
    assert np.array_equal(numbers, found.controller.a.ravel())
    assert main([*call, '--damping', str(tmp_path / 'none.yaml')]) == 2
    file.write_text('joint_q: [0, 0, 0]')
    assert main([*call, '--damping', str(file)]) == 2


def test_wrong_arguments_are_named(dyn):
    """Shapes, ranges and names."""
    for changes, word in (
            ({'kp': [1.0]}, 'kp'), ({'kp': [1.0, 0.0, 1.0]}, 'positive'),
            ({'period': 0.0}, 'period'), ({'delay': np.inf}, 'delay'),
            ({'modes': 9}, 'modes'), ({'stiffness_error': 1.0}, 'stiffness_error'),
            ({'modes': 1.5}, 'whole number'), ({'modes': '1'}, 'modes'), ({'modes': 0}, 'modes'),
            # As YAML reads 1e-3, and a unit that is not seconds.
            ({'period': '1e-3'}, 'period'), ({'delay': '2e-3'}, 'delay'), ({'delay': 2.0}, 'unit'),
            ({'period': 1e-9}, 'unit'), ({'in_drives': 'maybe'}, 'in_drives'),
            ({'sensors': [MountedSensor('a', 'motor_position', 'lift', 0.0)]}, 'noise'),
            ({'actuators': ['wrist']}, 'wrist'), ({'actuators': []}, 'actuators')):
        with pytest.raises(fd.FlexdynError, match=word):
            design(dyn, **changes)


def test_a_rigid_arm_is_told_what_it_lacks():
    """As with the vendor's description alone."""
    puma = fd.load_robot('package://flexdyn_ros/urdf/puma560.urdf.xacro')
    gains = {'joint_q': [0.0] * 6, 'kp': [2e3] * 6, 'kd': [2e2] * 6}
    with pytest.raises(fd.FlexdynError, match='no mode of the robot.*Give the extension'):
        design(fd.Dynamics(puma), in_drives=True, **gains)


def test_robots_without_joints_have_nothing_to_damp_with():
    beam = fd.load_robot('package://flexdyn_ros/urdf/flexible_beam.urdf.xacro')
    with pytest.raises(fd.FlexdynError, match='has no joints'):
        design(fd.Dynamics(beam), joint_q=[], kp=[], kd=[])


def test_what_cannot_be_damped_is_refused_with_the_reason(dyn):
    """A delay beyond the bound, an unstable joint loop, modes too fast for the rate."""
    with pytest.raises(fd.FlexdynError, match='200 ms is more than 0.1 periods'):
        design(dyn, delay=0.2, period=0.02, in_drives=True)
    # Two modes of nearly the same frequency, one of which moves no joint.
    with pytest.raises(fd.FlexdynError, match='4 ms more than the delay of 2 ms'):
        design(dyn, kp=[151.0, 253.0, 480.0], kd=[2.1, 7.0, 13.4])
    with pytest.raises(fd.FlexdynError, match='joint loop is unstable'):
        design(dyn, kd=[100.0, 100.0, 100.0])
    with pytest.raises(fd.FlexdynError, match='Raise the rate'):
        design(dyn, period=0.1, delay=0.1, in_drives=True)


@pytest.mark.parametrize('command, refused', [('position', True), ('effort', False)])
def test_arms_without_an_effort_interface_are_refused(command, refused):
    """By the <ros2_control> element of the description."""
    element = '<ros2_control name="a" type="system">' + ''.join(
        f'<joint name="{name}"><command_interface name="{command}"/></joint>'
        for name in ('shoulder', 'elbow', 'lift')) + '</ros2_control>'
    robot = fd.load_robot(ARM.read_text().replace('</robot>', element + '</robot>'))
    if refused:
        with pytest.raises(fd.FlexdynError, match='no effort interface.*commands position'):
            design(fd.Dynamics(robot))
    else:
        assert design(fd.Dynamics(robot)).actuators == ('shoulder',)


def test_the_controller_is_stable_within_its_reach_in_discrete_time(dyn):
    """With the joint loop in the controller, at the edges of the range."""
    found = design(dyn)
    assert found.reach > 0.0
    assert found.delay_margin >= 4e-3
    (mode,) = found.modes
    assert mode.after > 2.0 * mode.before
    assert np.abs(np.linalg.eigvals(found.controller.a)).max() < 1.0 + 1e-9
