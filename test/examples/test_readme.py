# SPDX-License-Identifier: Apache-2.0
"""What the README shows is true to the letter: its URDF loads, its Python runs."""

import os
from pathlib import Path
import re
import subprocess
import sys

import flexdyn_ros as fd
import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / 'README.md').read_text(encoding='utf-8')
# A vendor's macro: its forearm is no slender rod, as real ones are not.
VENDOR = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="vendor_arm" params="prefix">
    <link name="${prefix}base"/>
    <joint name="${prefix}elbow" type="revolute">
      <parent link="${prefix}base"/><child link="${prefix}forearm"/>
      <axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="50" velocity="2"/></joint>
    <link name="${prefix}forearm"><inertial><origin xyz="0.25 0 0"/><mass value="2.3"/>
      <inertia ixx="0.004" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="${prefix}wrist" type="revolute">
      <parent link="${prefix}forearm"/><child link="${prefix}hand"/><origin xyz="0.4 0 0"/>
      <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="20" velocity="2"/></joint>
    <link name="${prefix}hand"><inertial><mass value="0.7"/>
      <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  </xacro:macro>
</robot>"""


def block(language):
    """Return the README's first code block in a language."""
    return re.search(rf'```{language}\n(.*?)```', README, re.DOTALL).group(1)


def test_the_flexible_urdf_beside_a_vendors_macro_loads(tmp_path):
    """With a vendor's macro that has the links and joints it names."""
    pytest.importorskip('xacro', reason='xacro is not installed here: `make test` installs it')
    (tmp_path / 'vendor_arm.xacro').write_text(VENDOR)
    (tmp_path / 'arm.urdf.xacro').write_text(block('xml'))
    robot = fd.load_robot(tmp_path / 'arm.urdf.xacro')
    assert robot.mode_names == (
        'left_elbow/elastic', 'left_forearm/bending_y1', 'left_forearm/bending_y2',
    )
    assert robot.total_mass == pytest.approx(3.0)
    dyn = fd.Dynamics(robot)
    rest = [0.0] * robot.nv
    assert dyn.forward_dynamics(rest, rest, rest) == pytest.approx(rest, abs=1e-9)


def test_the_python_runs(tmp_path):
    """In a folder that has the example robots; it leaves its CSV file there."""
    (tmp_path / 'urdf').symlink_to(ROOT / 'urdf')
    done = subprocess.run(
        [sys.executable, '-c', block('python')], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / 'swing.csv').stat().st_size > 1000


def test_the_closed_chain_runs(tmp_path, monkeypatch, capsys):
    """Passive joints get no torque, and the loop stays closed."""
    pytest.importorskip('xacro', reason='xacro is not installed here: `make test` installs it')
    text, = (b for b in re.findall(r'```python\n(.*?)```', README, re.DOTALL) if 'four_bar' in b)
    monkeypatch.chdir(ROOT)
    names = {'fd': fd}
    exec(text, names)  # noqa: S102
    assert names['q'][0] == 0.5 and names['qd'][0] == 2.0
    assert list(names['tau'][1:]) == [0.0, 0.0]
    assert '1 degrees of freedom' in capsys.readouterr().out
    assert abs(names['dyn'].loop_gaps(names['turns'].q[-1])).max() < 1e-12
