# SPDX-License-Identifier: Apache-2.0
"""Runs the command line as users do, in a process of its own, and the models that it reads."""

import os
from pathlib import Path
import subprocess
import sys

from fork_server import COMMANDS, run_forked
import numpy as np
from oracles.random_robots import inertial_xml

REPOSITORY = Path(__file__).resolve().parents[2]

FOREARM = inertial_xml(0.6, [0.2, 0.0, 0.0], np.diag([0.001, 0.02, 0.02]))
ARM = f"""
<robot name="arm">
  <link name="base"/>
  <link name="upper_arm"/>
  <link name="forearm">{FOREARM}</link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper_arm"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="100" velocity="10"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper_arm"/><child link="forearm"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="10"/>
    <dynamics damping="0.02" friction="0.1"/>
  </joint>
</robot>
"""

EXTENSION = """
<flexdyn version="1.0">
  <flexible_link link="upper_arm" geometric_stiffening="false">
    <beam tip="elbow" y_axis="0 1 0" young="2e9" shear="8e8" area="4e-4" iy="1.3e-8" iz="1.3e-8"
          j="2.2e-8" mass="0.8">
      <bending axis="y" modes="1" damping_ratio="0.01"/>
      <bending axis="z" modes="2"/>
    </beam>
  </flexible_link>
  <joint_dynamics joint="elbow" stiffness="300" damping="0.5" rotor_inertia="1e-5"
                  gear_ratio="100"/>
</flexdyn>
"""

FLEXIBLE_ARM = ARM.replace('</robot>', EXTENSION + '</robot>')

MODES = ('upper_arm/bending_y1', 'upper_arm/bending_z1', 'upper_arm/bending_z2', 'elbow/elastic')


def flexdyn(*words, cwd, stdin='', **environment):
    """Run `python -m flexdyn_ros` with words in a folder; return the completed process."""
    return run_forked(
        COMMANDS, ['flexdyn_ros', *words], cwd, surroundings(**environment), stdin,
    )


def flexdyn_afresh(*words, cwd):
    """Run the same in a process that has imported nothing."""
    return subprocess.run(
        [sys.executable, '-m', 'flexdyn_ros', *map(str, words)],
        cwd=cwd, env=surroundings(), capture_output=True, text=True, timeout=120,
    )


def flexdyn_many(calls, cwd):
    """Return [exit code, stdout, stderr] of each list of words."""
    runs = [flexdyn(*words, cwd=cwd) for words in calls]
    return [[run.returncode, run.stdout, run.stderr] for run in runs]


def surroundings(**changes):
    """Return this process's environment with the repository's package on the path."""
    environment = {k: v for k, v in os.environ.items() if k not in ('NO_COLOR', 'COLUMNS')}
    environment.update(PYTHONPATH=str(REPOSITORY), COLUMNS='100', TERM='xterm')
    environment.update(changes)
    return environment
