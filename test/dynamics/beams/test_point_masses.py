# SPDX-License-Identifier: Apache-2.0
"""Point masses on beams of any direction, against m phi^2 and m r^2."""

import flexdyn_ros as fd
from flexdyn_ros.model.beam.shapes import clamped_free_bending
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

ARM = """
<robot name="slanted"><link name="base"/><link name="boom"/>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="boom"/>
    <axis xyz="0 0 1"/><limit effort="1" velocity="1"/></joint>
  <flexdyn version="1.0">
    <flexible_link link="boom" rotation="linear" geometric_stiffening="false">
      <beam tip="{tip}" y_axis="{y_axis}" young="2e9" iz="1e-9" mass="0.5">
        <bending axis="y" modes="1"/>{extra}
      </beam></flexible_link></flexdyn>
</robot>"""


def slanted_beam(axes, length, extra):
    """Return a hinged beam along the first column of `axes` that bends along the second."""
    tip, y_axis = (' '.join(map(repr, map(float, v))) for v in (length * axes[:, 0], axes[:, 1]))
    return ARM.format(tip=tip, y_axis=y_axis, extra=extra)


@pytest.mark.parametrize('seed', range(8))
def test_a_point_mass_on_a_slanted_beam_is_on_its_axis(seed):
    """
    A point mass adds m phi phi^T to the modes alone, for any direction of the beam.

    Round-off must not put it beside the axis: with King's rotation that would be another model.
    """
    rng = np.random.default_rng(seed)
    axes = Rotation.random(random_state=seed).as_matrix()
    length, at, mass = rng.uniform(0.3, 2.3), rng.uniform(0.05, 1.0), 2.0
    dyn, bare = (
        fd.Dynamics(fd.load_robot(slanted_beam(axes, length, extra)), backend='reference')
        for extra in (f'<point_mass at="{at}" mass="{mass}"/>', '')
    )
    shape = float(clamped_free_bending(1, np.array([at])).value[0])
    change = dyn.mass_matrix([0.0, 0.0]) - bare.mass_matrix([0.0, 0.0])
    assert change[1, 1] == pytest.approx(mass * shape**2, rel=1e-12)
    moved = [0.0, 0.3]
    change = dyn.mass_matrix(moved) - bare.mass_matrix(moved)
    point = at * length * axes[:, 0] + 0.3 * shape * axes[:, 1]
    lever = np.cross([0.0, 0.0, 1.0], point)
    assert change[0, 0] == pytest.approx(mass * lever @ lever, rel=1e-12)
