# SPDX-License-Identifier: Apache-2.0
"""The README is true to the letter: its element loads, its Python runs, it is short."""

from pathlib import Path
import re
import subprocess
import sys

import flexdyn_ros as fd
import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / 'README.md').read_text(encoding='utf-8')
# Most words, and the line before which the Python ends.
MOST_WORDS, LAST_LINE = 700, 45


def block(language):
    """Return the README's first code block in a language."""
    return re.search(rf'```{language}\n(.*?)```', README, re.DOTALL).group(1)


def test_it_is_short():
    python = block('python').rstrip()
    assert len(README.split()) <= MOST_WORDS
    assert README[: README.index(python) + len(python)].count('\n') < LAST_LINE
    assert len([line for line in python.splitlines() if line]) <= 8


def test_the_element_loads_beside_a_vendors_arm():
    """Beside the UR5e, whose links and joints it names."""
    models = pytest.importorskip('airo_models', reason='airo-models is not installed')
    robot = fd.load_robot(models.get_urdf_path('ur5e'), extension=block('xml'))
    assert robot.mode_names == (
        'elbow_joint/elastic', 'forearm_link/bending_y1', 'forearm_link/bending_y2',
    )
    dyn = fd.Dynamics(robot, backend='reference')
    rest = [0.0] * robot.nv
    tau = dyn.inverse_dynamics(rest, rest, rest)
    assert dyn.forward_dynamics(rest, rest, tau) == pytest.approx(rest, abs=1e-6)


def test_the_python_runs(tmp_path):
    """In a folder of its own: the ready robots are found wherever the package is."""
    done = subprocess.run(
        [sys.executable, '-c', block('python')], cwd=tmp_path, capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stderr


def seconds(cell):
    """Return the first time of a cell [s], or None."""
    found = re.search(r'([\d.]+) (ns|us|ms|s)\b', cell)
    return found and float(found[1]) * {'ns': 1e-9, 'us': 1e-6, 'ms': 1e-3, 's': 1.0}[found[2]]


def test_its_measured_figures_are_those_of_the_pages():
    pages = ''.join(
        (ROOT / 'docs' / name).read_text(encoding='utf-8')
        for name in ('benchmarks.md', 'simulation_speed.md'))
    measured = [
        (seconds(cells[2]), seconds(cells[4]), float(re.match(r'\s*([\d.]+)', cells[5])[1]))
        for cells in (row.split('|') for row in re.findall(r'^\|.*\|$', pages, re.M))
        if len(cells) > 6 and seconds(cells[2]) and seconds(cells[4]) and cells[5].strip()]
    rows = re.search(r'^## Measured\n(.*?)\n\n', README, re.M | re.S)[1].splitlines()[2:]
    assert len(measured) > 15 and len(rows) > 4
    for row in rows:
        _, _, ours, other, factor, _ = row.split('|')
        figures = pytest.approx((seconds(ours), seconds(other), float(factor)), rel=0.015)
        assert any(each == figures for each in measured), row


def test_every_page_and_picture_that_it_names_exists():
    for target in re.findall(r'\]\(([^)#]+)', README):
        assert (ROOT / target).exists(), target
