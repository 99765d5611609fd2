# SPDX-License-Identifier: Apache-2.0
"""Content of the pictures of the demonstration."""

from pathlib import Path
from types import SimpleNamespace

from flexdyn_ros.demo.arm_picture import ArmShape
from flexdyn_ros.demo.pictures import draw_deflections, large_ones
from flexdyn_ros.demo.plan import DemoRun, ROBOTS
import numpy as np
import pytest


def test_modes_are_shown_that_can_be_seen_beside_the_largest_of_their_unit():
    largest = {
        'arm/bending_y1': 0.04, 'arm/bending_y2': 0.0005, 'arm/bending_z1': 0.0003,
        'elbow/elastic': 1e-5, 'wrist/elastic': 2e-7, 'arm/torsion1': 2e-7,
    }
    assert large_ones(largest) == [
        'arm/bending_y1', 'arm/bending_y2', 'elbow/elastic', 'wrist/elastic', 'arm/torsion1']


def test_an_arm_that_does_not_bend_keeps_its_modes():
    assert large_ones({'arm/bending_y1': 0.0, 'elbow/elastic': 0.0}) == [
        'arm/bending_y1', 'elbow/elastic']


def test_the_drawn_arm_bends_by_its_exaggerated_modes():
    """Canadarm stretched along x; 10 mm at the tip of the upper arm, drawn ten times larger."""
    robot = ROBOTS['canadarm']
    run = DemoRun.make(robot, 'flexible', 1.0, 1.0, Path('nowhere'))
    data = {f'position/{name}': np.zeros(1) for name in robot.joints}
    links = ('upper_arm', 'forearm', 'hand')
    data.update({f'mode/{link}/bending_y{k}': np.zeros(1) for link in links for k in (1, 2)})
    data['mode/upper_arm/bending_y1'] = np.array([0.01])
    shape = ArmShape(robot, run, data)
    bent, _ = shape.bent(0)
    straight = shape.unbent(0).reshape(-1, 3)
    assert np.abs(straight[:, 1:]).max() == pytest.approx(0.0, abs=1e-12)
    upper = next(link for link in bent if link.name == 'upper_arm')
    assert upper.line[-1][1] == pytest.approx(robot.exaggeration * 0.01, rel=1e-6)
    assert upper.deflection[-1] == pytest.approx(0.01, rel=1e-3)


def test_the_end_of_shorter_runs_is_in_the_title():
    """Runs of controls other than the best are shorter; of equal runs there is no note."""
    names = [f'mode/link/bending_y{k}' for k in (1, 2)]
    runs = {control: {'time': np.array([0.0, end]), **dict.fromkeys(names, np.ones(2))}
            for control, end in (('pd', 5.0), ('flexible', 10.0))}
    results = SimpleNamespace(robot=ROBOTS['canadarm'], data=runs, best='flexible')
    title = draw_deflections(results)._suptitle.get_text()
    assert title.startswith('Deflections; runs of other controls end at 5 s\n')
    results.data = {'flexible': runs['flexible']}
    assert draw_deflections(results)._suptitle.get_text().startswith('Deflections\n')
