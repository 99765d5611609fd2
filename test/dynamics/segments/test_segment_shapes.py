# SPDX-License-Identifier: Apache-2.0
"""The bent line of links in segments, and statements on them."""

import flexdyn_ros as fd
from flexdyn_ros.model.records.segments import bent_segments
from flexdyn_ros.simulation.frequencies import stiffness_matrix
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.segment_arms import boom, LENGTH, STIFFNESS
from oracles.segment_robots import BOTH, frequencies, RATE, ROOTS, URDF
import pytest
from scipy.spatial.transform import Rotation


@BOTH
def test_the_bent_line_is_where_the_frames_are(placement):
    """Places and axes along the boom equal the poses of frames that hang there."""
    fractions = (0.0, 0.2, 0.45, 0.8, 1.0)
    more = ''.join(
        f'<link name="f{k}"/><joint name="j{k}" type="fixed"><parent link="boom"/>'
        f'<child link="f{k}"/><origin xyz="{f * LENGTH!r} 0 0"/></joint>'
        for k, f in enumerate(fractions)
    )
    robot = fd.load_robot(boom(4, 'x y z', placement, more=more))
    dyn, q = reference_dynamics(robot), np.random.default_rng(1).normal(size=9) * 0.5
    segments = robot.link('boom').segments
    places, rotations = bent_segments(segments, q, LENGTH * np.array(fractions))
    assert places.shape == (5, 3) and rotations.shape == (5, 3, 3)
    for k in range(5):
        pose = dyn.frame_pose(q, f'f{k}')
        assert_agree(pose[:3, 3], places[k], 1e-13)
        assert_agree(pose[:3, :3], rotations[k], 1e-13)
    batch, _ = bent_segments(segments, np.array([q, 0 * q]), np.array([LENGTH]))
    assert_agree(batch[0, 0], places[-1], 1e-14)
    assert_agree(batch[1, 0], [LENGTH, 0.0, 0.0], 1e-14)


def test_tip_deflections_of_a_run():
    """Exact tips: one column a direction, the twist about the beam."""
    robot = fd.load_robot(boom(3, 'x y z', gravity='0 0 0'))
    dyn, start = reference_dynamics(robot), np.array([0.2, 0.0, 0.0, 0.3, 0.0, 0.0])
    run = fd.simulate(dyn, start, np.zeros(6), None, 1e-6, 1e-6)
    assert run.tip_names == ('boom/tip_y', 'boom/tip_z', 'boom/tip_twist')
    assert run.tip_units == ('m', 'm', 'rad')
    assert run.tips[0] == pytest.approx([0.0, 0.0, 0.5], abs=1e-12)
    bent = np.array([0.0, 0.1, 0.2, 0.0, -0.3, 0.1])
    run = fd.simulate(dyn, bent, np.zeros(6), None, 1e-6, 1e-6)
    pose = dyn.frame_pose(bent, 'tip')
    twist = Rotation.from_matrix(pose[:3, :3]).as_rotvec()[0]
    assert run.tips[0] == pytest.approx([pose[1, 3], pose[2, 3], twist], abs=1e-12)


def test_the_page_of_errors_is_true():
    """Every number of the table in docs/segments_and_springs.md."""
    page = (URDF.parent / 'docs' / 'segments_and_springs.md').read_text()
    lines = [line.strip('| ') for line in page.splitlines() if line[:3].strip('| ').isdigit()]
    rows = [line.split('|') for line in lines]
    assert len(rows) == 6
    for count, *printed in ([float(cell) for cell in row] for row in rows):
        found = []
        for placement in ('centred', 'reference'):
            robot = fd.load_robot(boom(int(count), 'z', placement))
            dyn, rest = reference_dynamics(robot), np.zeros(robot.nv)
            pull = dyn.jacobian(rest, 'tip')[1]
            bent = pull @ np.linalg.solve(stiffness_matrix(dyn, rest), pull)
            found.append(bent / (LENGTH**3 / (3.0 * STIFFNESS['z'])) - 1.0)
            found += (frequencies(robot)[:2] / (ROOTS[:2] * RATE) - 1.0).tolist()
        assert [round(100.0 * x, 2) for x in found] == printed


def test_a_link_in_segments_is_named_once_in_errors():
    """A spring without a rotor in front of the boom: its bodies are one link."""
    spring = '<joint_dynamics joint="root" stiffness="50"/>'
    robot = fd.load_robot(boom(3, 'y z', joint='continuous', extension=spring))
    rest = np.zeros(robot.nv)
    with pytest.raises(fd.FlexdynError, match=r'links: boom, tip\)'):
        reference_dynamics(robot).forward_dynamics(rest, rest, rest)
