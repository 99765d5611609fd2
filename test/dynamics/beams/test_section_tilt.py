# SPDX-License-Identifier: Apache-2.0
"""A term that the displacement field of a beam lacks: sections whose polar inertia tilts."""

import flexdyn_ros as fd
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

DENSITY, WALL = 2700.0, 0.075  # [kg/m^3]; wall of the tube over its radius
BETA = 1.8751040687  # first root of cos cosh = -1
SIGMA = (np.cosh(BETA) + np.cos(BETA)) / (np.sinh(BETA) + np.sin(BETA))
Q = np.array([0.2, 0.05, 0.03, 0.1])  # joint, bending y and z [m], torsion [rad]
BEAM = """<robot name="tube"><link name="base"/><link name="rod"/>
<joint name="roll" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="1 0 0"/>
</joint><flexdyn version="1.0"><flexible_link link="rod" geometric_stiffening="false">
<beam tip="1 0 0" young="7e10" shear="2.6e10" area="{a}" iy="{i}" iz="{i}" j="{p}"
density="2700"><bending axis="y" modes="1"/><bending axis="z" modes="1"/><torsion modes="1"/>
</beam></flexible_link></flexdyn></robot>"""


def pose(q, x):
    """Return place and rotation of the cross-section at x of the beam, clamped and free."""
    b, roll = BETA * x, Rotation.from_rotvec([q[0], 0.0, 0.0])
    shape = 0.5 * (np.cosh(b) - np.cos(b) - SIGMA * (np.sinh(b) - np.sin(b)))
    slope = 0.5 * BETA * (np.sinh(b) + np.sin(b) - SIGMA * (np.cosh(b) - np.cos(b)))
    tilt = [q[3] * np.sin(0.5 * np.pi * x), -slope * q[2], slope * q[1]]
    return roll.apply([x, *(shape * q[1:3])]), roll * Rotation.from_rotvec(tilt)


def jacobian(x):
    """Return velocity of a section and its angular velocity in its own axes, by differences."""
    rotation, step = pose(Q, x)[1].inv(), 1e-5
    columns = []
    for way in step * np.eye(4):
        (p1, r1), (p0, r0) = pose(Q + way, x), pose(Q - way, x)
        turn = (rotation * r1).as_rotvec() - (rotation * r0).as_rotvec()
        columns.append(np.append(p1 - p0, turn) / (2.0 * step))
    return np.transpose(columns)


@pytest.mark.parametrize('radius, low, high', [(0.02, 4e-5, 5e-5), (0.005, 2.5e-6, 3.1e-6)])
def test_the_mass_matrix_is_exact_but_for_the_tilt_of_the_sections(radius, low, high):
    """The numbers of docs/reduced_forms.md, by slices of a tube with 5 cm of deflection."""
    area, polar = 2.0 * np.pi * WALL * radius**2, 2.0 * np.pi * WALL * radius**4
    robot = fd.load_robot(BEAM.format(a=area, i=0.5 * polar, p=polar))
    ours = fd.Dynamics(robot, 'reference').mass_matrix(Q)
    undeformed, tilted = np.zeros((2, 4, 4))
    for x, weight in zip(*np.polynomial.legendre.leggauss(30)):
        x, share = 0.5 * (x + 1.0), 0.5 * weight * DENSITY
        moving, turning = np.split(jacobian(x), [3])
        about_axis = np.array([1.0, 0.0, 0.0, np.sin(0.5 * np.pi * x)])
        mass = share * area * moving.T @ moving
        undeformed += mass + share * polar * np.outer(about_axis, about_axis)
        tilted += mass + share * polar * np.outer(turning[0], turning[0])
    largest = np.abs(ours).max()
    assert np.abs(ours - undeformed).max() < 1e-9 * largest
    assert low < np.abs(ours - tilted).max() / largest < high
