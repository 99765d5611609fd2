# SPDX-License-Identifier: Apache-2.0
"""The package as users meet it: in .venv, through colcon, and with TF."""

import os
from pathlib import Path
import subprocess
import sys

from clean_environment import ROOT
import flexdyn_ros
from flexdyn_ros.isolation import without_foreign
import pytest

NODES = (
    'inverse_dynamics_node', 'forward_dynamics_node', 'deflection_markers_node',
    'identification_node', 'modal_observer_node', 'trajectory_correction_node',
)
PREFIX = Path(sys.prefix)

RESOLVE_INSTALLED = f"""
import sys
import flexdyn_ros
from ament_index_python.packages import get_package_share_directory
sys.path.append('{ROOT / 'test'}')
from launch_stand_in import stand_in
print(flexdyn_ros.__file__)
file = get_package_share_directory('flexdyn_ros') + '/launch/bringup.launch.py'
for node in stand_in.resolve(file):
    print(node.command[0])
"""
"""Prints the place of the installed package, and the nodes of its launch file."""

in_own_environment = pytest.mark.skipif(
    not (PREFIX / 'share/ament_index/resource_index/packages/flexdyn_ros').exists(),
    reason='the package is not part of this virtual environment: `make test` installs it',
)


def output_of(*command, **options):
    """Return the output of a command; it must succeed."""
    result = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=120,
        stdin=subprocess.DEVNULL, **options,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@in_own_environment
@pytest.mark.parametrize('folder', ['bin', 'lib/flexdyn_ros'])
def test_command_line_in_the_environment(folder, tmp_path):
    """Users call .venv/bin/flexdyn; `ros2 run` and launch look in lib/flexdyn_ros."""
    program = PREFIX / folder / 'flexdyn'
    assert output_of(program, '--version', cwd=tmp_path).split()[-1] == flexdyn_ros.__version__


@in_own_environment
@pytest.mark.ros
def test_ament_index_finds_the_package():
    """Launch files find the executables and the shared files by the package's name."""
    packages = pytest.importorskip(
        'ament_index_python.packages',
        reason='the ament index is not installed here: `make test` installs it',
    )
    prefix = Path(packages.get_package_prefix('flexdyn_ros'))
    share = Path(packages.get_package_share_directory('flexdyn_ros'))
    for node in NODES:
        assert os.access(prefix / 'lib' / 'flexdyn_ros' / node, os.X_OK)
    for pattern in ('launch/*.launch.py', 'config/*.yaml', 'urdf/*.xacro'):
        assert list(share.glob(pattern)), pattern


@in_own_environment
def test_a_change_in_a_source_file_takes_effect_at_once(tmp_path):
    """The environment imports the sources themselves, from any folder."""
    found = output_of(
        sys.executable, '-c', 'import flexdyn_ros; print(flexdyn_ros.__file__)',
        cwd=tmp_path, env=without_foreign(os.environ),
    )
    assert Path(found.strip()) == ROOT / 'flexdyn_ros' / '__init__.py'


@pytest.mark.slow
@in_own_environment
def test_colcon_build(tmp_path):
    """Colcon builds and installs the package; the installed command line starts."""
    pytest.importorskip(
        'colcon_core', reason='colcon is not installed here: `make test` installs it'
    )
    launcher = ROOT / 'scripts' / 'env.sh'
    environment = {**os.environ, 'VENV': sys.prefix}
    output_of(launcher, ROOT / 'scripts' / 'colcon.sh', 'build', tmp_path, env=environment)

    installed = tmp_path / 'install' / 'flexdyn_ros'
    for node in NODES:
        assert os.access(installed / 'lib' / 'flexdyn_ros' / node, os.X_OK)
    share = installed / 'share' / 'flexdyn_ros'
    for folder, pattern in (('launch', '*.launch.py'), ('config', '*.yaml'),
                            ('rviz', '*.rviz'), ('urdf', '*.xacro')):
        sources = {path.name for path in (ROOT / folder).glob(pattern)}
        assert sources and sources <= {path.name for path in (share / folder).iterdir()}

    lines = output_of(
        launcher, 'bash', '-c',
        f'. {tmp_path}/install/setup.bash && cd / && '
        '"$(python -c "from ament_index_python.packages import get_package_prefix as p; '
        'print(p(\'flexdyn_ros\'))")"/lib/flexdyn_ros/flexdyn --version && '
        f'python -c "{RESOLVE_INSTALLED}"',
        env=environment,
    ).splitlines()
    assert lines[0].split()[-1] == flexdyn_ros.__version__
    assert {Path(line).name for line in lines[2:]} < set(NODES)
    assert len(lines) == 2 + 3  # the nodes of bringup
    assert all(Path(line).is_relative_to(installed) for line in lines[1:])


@pytest.mark.ros
def test_transforms_cross_processes():
    """A late subscriber in another process gets a latched TFMessage whole."""
    messages = pytest.importorskip(
        'tf2_msgs.msg',
        reason='tf2_msgs is not here: `make test` builds it where a C++ compiler is installed',
    )
    from geometry_msgs.msg import TransformStamped
    import rclpy
    from rclpy.qos import DurabilityPolicy, QoSProfile

    receiver = (
        'import rclpy, time\n'
        'from rclpy.qos import DurabilityPolicy, QoSProfile\n'
        'from tf2_msgs.msg import TFMessage\n'
        'rclpy.init(); node = rclpy.create_node("receiver"); got = []\n'
        'qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)\n'
        'node.create_subscription(TFMessage, "tf_static", got.append, qos)\n'
        'end = time.monotonic() + 30\n'
        'while not got and time.monotonic() < end: rclpy.spin_once(node, timeout_sec=0.1)\n'
        'print(got[0].transforms[0].child_frame_id, got[0].transforms[0].transform.rotation.w)\n'
    )
    rclpy.init()
    try:
        node = rclpy.create_node('sender')
        qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        publisher = node.create_publisher(messages.TFMessage, 'tf_static', qos)
        transform = TransformStamped(child_frame_id='tool')
        transform.transform.rotation.w = 0.5
        publisher.publish(messages.TFMessage(transforms=[transform]))
        assert output_of(sys.executable, '-c', receiver) == 'tool 0.5\n'
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
