# SPDX-License-Identifier: Apache-2.0
"""Starts `flexdyn demo` as a shell with another ROS sourced would, and stops it."""

import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0  # for a loaded machine [s]

BROKEN_MODULE = 'raise RuntimeError("a module of another ROS was imported")\n'


def hostile_variables(folder):
    """Return values that break a program which inherits them, one for each variable to unset."""
    trap = folder / 'other_ros'
    for module in ('rclpy', 'sensor_msgs', 'matplotlib', 'yaml'):
        (trap / module).mkdir(parents=True, exist_ok=True)
        (trap / module / '__init__.py').write_text(BROKEN_MODULE)
    profile = trap / 'profile.xml'
    profile.write_text('<dds>not a profile')
    return {
        'PYTHONPATH': str(trap),
        'LD_LIBRARY_PATH': str(trap),
        'AMENT_PREFIX_PATH': str(trap),
        'CMAKE_PREFIX_PATH': str(trap),
        'COLCON_PREFIX_PATH': str(trap),
        'ROS_DISTRO': 'humble',
        'RMW_IMPLEMENTATION': 'rmw_of_another_ros',
        'ROS_LOCALHOST_ONLY': '0',
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET',
        'ROS_DISCOVERY_SERVER': '192.0.2.1:11811',
        'ROS_STATIC_PEERS': '192.0.2.2',
        'ROS_DOMAIN_ID': '0',
        'CYCLONEDDS_URI': f'file://{profile}',
        'FASTDDS_DEFAULT_PROFILES_FILE': str(profile),
        'FASTRTPS_DEFAULT_PROFILES_FILE': str(profile),
        '_ROS_WHEELS_BOOTSTRAP_COMPLETE': '1',
    }


def shared_memory_of(pids):
    """Return the files in shared memory that these processes hold now."""
    found = set()
    for pid in pids:
        try:
            lines = Path(f'/proc/{pid}/maps').read_text().splitlines()
            held = [line.split()[-1] for line in lines if '/dev/shm/' in line]
            held += [os.readlink(link) for link in Path(f'/proc/{pid}/fd').iterdir()]
        except OSError:
            continue
        found |= {Path(name) for name in held if name.startswith('/dev/shm/')}
    return {path for path in found if 'fastdds' in path.name}


def left_behind(held, earlier):
    """
    Return those of these files that are still there and that no other process holds.

    Args:
        held: The files that the processes held.
        earlier: The files that were there before: programs that were killed, anywhere on this
            machine, leave theirs behind, and later ones use and keep them.
    """
    others = shared_memory_of(path.name for path in Path('/proc').glob('[0-9]*'))
    return {path for path in held if path.exists()} - others - earlier


class DemoProcess:
    """A running demonstration."""

    def __init__(self, command, folder, variables, options):
        self.earlier = set(Path('/dev/shm').iterdir())
        self.folder = folder / 'out'
        self.log = folder / 'demo.log'
        environment = {**os.environ, **variables, 'VENV': sys.prefix}
        with open(self.log, 'w') as log:
            self.process = subprocess.Popen(
                [*command, '--out', str(self.folder), *options], cwd=folder, env=environment,
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )

    @property
    def text(self):
        """Its output."""
        return self.log.read_text()

    def wait(self, patience=PATIENCE):
        """Return its exit code."""
        return self.process.wait(patience)

    def wait_for_motion(self):
        """Return when a simulated arm moves, and the process ids that then run."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            pids = self.launched()
            if len(pids) == 4 and self._moves():
                return pids
            time.sleep(0.1)
        raise AssertionError(f'nothing moves: {self.text}')

    def launched(self):
        """Return the process ids by name."""
        files = list(self.folder.glob('*/*/processes.json'))
        return json.loads(files[0].read_text()) if files else {}

    def _moves(self):
        """Return whether the simulator is at work."""
        logs = list(self.folder.glob('*/*/forward_dynamics_node.log'))
        return bool(logs) and 'Simulating' in logs[0].read_text()

    def close(self):
        """Stop it if a test left it running."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(40)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def is_running(pid):
    """Return whether a process exists and is no zombie."""
    try:
        state = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != 'Z'
