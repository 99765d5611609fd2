# SPDX-License-Identifier: Apache-2.0
"""
The robots of the published tables.

Stanford arm: R. P. Paul, Robot Manipulators, 1981, tables 6.5 and 6.6. As in El-Rayyes 1990, d1 =
d6 = 0 (his counts need both), and inertias are moved from the link origins to the centres of mass.
Puma 560: El-Rayyes prints no numbers. The pattern of zeros is deduced from his counts (a3 = d3 =
0, diagonal inertias, jx = jy in the wrist). The values are common ones of the literature, and
free, since counts depend on zeros only.

Flexible arms: the cases of El-Rayyes's tables 4.13 to 4.15, King's first-order rotations. The
tables give links, modes and joint masses only. The text describes one flexible link, a rod of 1 m
(table 4.8, figure 4.18). It calls case Q similar to the Puma 560 but for links 2 and 3. The wrist
of cases Q and R is therefore that Puma's. From his counts it follows that the flexible links are
planar (alpha = 0) and that gravity is parallel to the joint axes. Two choices are made here.
Each joint mass is a point mass at the tip of its flexible link. A rigid first link turns the next
axis by -90 degrees.

The general arms of the same cases are harder. Lengths are not 1 m. Each flexible link
has a hub, and its three moments differ, so that no product with 0 or 1 is saved. Their wrists
have three different moments a link and centres of mass on the link axes.

Flexible chains: Mohan and Saha's recursive forward dynamics is counted for n links with m modes in
each of two directions. Twist, offset and hub are general, and the last link carries a payload.
"""

from __future__ import annotations

from dataclasses import replace

from flexdyn_ros.model.records.base import IDENTITY
from flexdyn_ros.model.records.beam import Beam, ModeFamily, PointMass
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.joint import Joint, Pose
from flexdyn_ros.model.records.link import Link, Payload
from flexdyn_ros.model.records.robot import Robot
import numpy as np
from validation.counts.dh_chain import chain, DhRow, matrix, turn_about_x, vector, without_gravity

# Alpha, d, mass, centre of mass, moments about the link origin, prismatic.
STANFORD = (
    (-90.0, 0.0, 9.29, (0.0, 0.0175, -0.1105), (0.276, 0.255, 0.071), False),
    (90.0, 0.154, 5.01, (0.0, -0.1054, 0.0), (0.108, 0.018, 0.1), False),
    (0.0, 0.0, 4.25, (0.0, 0.0, -0.6447), (2.51, 2.51, 0.006), True),
    (-90.0, 0.0, 1.08, (0.0, 0.0092, -0.0054), (0.002, 0.001, 0.001), False),
    (90.0, 0.0, 0.63, (0.0, 0.0, 0.0566), (0.003, 0.003, 0.0004), False),
    (0.0, 0.0, 0.51, (0.0, 0.0, 0.1554), (0.013, 0.013, 0.0003), False),
)
# Alpha, a, d, mass, centre of mass, moments about it.
PUMA = (
    (-90.0, 0.0, 0.0, 10.0, (0.0, 0.0, 0.05), (0.35, 0.35, 0.3)),
    (0.0, 0.4318, 0.1491, 17.4, (-0.3638, 0.0, 0.078), (0.13, 0.524, 0.539)),
    (90.0, 0.0, 0.0, 4.8, (0.0, 0.0, 0.07), (0.066, 0.086, 0.0215)),
    (-90.0, 0.0, 0.4331, 0.82, (0.0, 0.0, 0.0), (1.8e-3, 1.8e-3, 1.3e-3)),
    (90.0, 0.0, 0.0, 0.34, (0.0, 0.01, 0.0), (0.3e-3, 0.3e-3, 0.4e-3)),
    (0.0, 0.0, 0.0563, 0.09, (0.0, 0.0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
)


def stanford_arm(n_joints: int = 6) -> Robot:
    """Return the Stanford arm, or its first joints."""
    return chain(f'stanford_arm_{n_joints}', stanford_rows()[:n_joints])


def stanford_rows() -> list[DhRow]:
    """Return the Stanford arm's links."""
    rows = []
    for alpha, d, mass, com, origin, prismatic in STANFORD:
        x, y, z = com
        moments = (
            origin[0] - mass * (y * y + z * z), origin[1] - mass * (x * x + z * z),
            origin[2] - mass * (x * x + y * y),
        )
        rows.append(DhRow(alpha, 0.0, d, mass, com, moments, prismatic))
    return rows


def puma_560(n_joints: int = 6) -> Robot:
    """Return El-Rayyes's Puma 560, or its first joints."""
    return chain(f'puma_560_{n_joints}', [DhRow(*row) for row in PUMA[:n_joints]])


def table_robot(name: str) -> Robot:
    """Return a robot by the name that the tables use: Stanford6, Puma3 and so on."""
    builder = {'Stanford': stanford_arm, 'Puma': puma_560}[name[:-1]]
    return builder(int(name[-1]))


def flexible_arm(
    name: str, links: str, modes: int, joint_mass: float, gravity: bool,
    base_twist: float = -90.0, general: bool = False,
) -> Robot:
    """
    Return a flexible case.

    Args:
        name: Name of the robot.
        links: Links from the base, such as "R-TBB-BB": rigid, torsion and bending in two
            directions, bending in two directions.
        modes: Modes of each family.
        joint_mass: At the tip of each flexible link [kg].
        gravity: Whether there is gravity, along the first axis.
        base_twist: From a rigid first link's axis to the next one [deg].
        general: Whether the links are the harder ones of this module. Otherwise they are the rods
            of 1 m and 0.5 kg (table 4.8) and the Puma's wrist.
    """
    rows = flexible_rows(links, modes, joint_mass, base_twist, general)
    robot = chain(f'flexible_{name}', rows)
    return robot if gravity else without_gravity(robot)


def flexible_rows(
    links: str, modes: int, joint_mass: float, base_twist: float = -90.0, general: bool = False
) -> list[DhRow]:
    """Return the links of a flexible case; arguments as of `flexible_arm`."""
    kinds = links.split('-')
    rows: list[DhRow] = []
    for number, kind in enumerate(kinds):
        if kind == 'R' and not rows:
            rows.append(_shoulder_row(base_twist))
        elif kind == 'R':
            rows.append(_general_wrist_row(number) if general else DhRow(*PUMA[number]))
        else:
            row = _flexible_row(kind, modes, joint_mass, number)
            rows.append(row if general else _rod(row))
    if kinds[-1] == 'R' and not general:
        # The forearm carries the Puma's wrist, whose first axis lies along it.
        rows[2] = replace(rows[2], alpha=PUMA[2][0])
    return rows


def _shoulder_row(twist: float) -> DhRow:
    return DhRow(twist, 0.0, 0.3, 4.0, (0.01, 0.05, 0.02), (0.11, 0.07, 0.09))


def _general_wrist_row(number: int) -> DhRow:
    alpha = {3: 90.0, 4: -90.0}.get(number, 0.0)
    com = (0.0, 0.0, 0.03 + 0.01 * number)
    moments = (2.1e-3 + 1e-4 * number, 1.7e-3 + 2e-4 * number, 1.2e-3)
    return DhRow(alpha, 0.0, 0.0, 0.9 - 0.1 * number, com, moments)


def _flexible_row(kind: str, modes: int, joint_mass: float, number: int) -> DhRow:
    families = [ModeFamily('bending_y', modes), ModeFamily('bending_z', modes)]
    if kind.startswith('T'):
        families.append(ModeFamily('torsion', modes))
    points = (PointMass(1.0, joint_mass),) if joint_mass else ()
    length = 0.9 + 0.13 * number
    beam = Beam(
        'tip', IDENTITY, length, 0.5, young=2e11, shear=8.3e10, area=1.1309734e-4,
        iy=1.017876e-9, iz=1.3e-9, j=2.035752e-9, polar=2.035752e-9, families=tuple(families),
        point_masses=points,
    )
    hub = 0.2 + 0.05 * number
    return DhRow(
        0.0, length, 0.0, hub, (0.04, 0.0, 0.0), (0.003, 0.005 + 1e-3 * number, 0.004), beam=beam
    )


def _rod(row: DhRow) -> DhRow:
    beam = replace(row.beam, length=1.0, mass=0.5, iy=row.beam.iz)
    return replace(row, a=1.0, mass=0.0, beam=beam)


def flexible_chain(n_links: int, modes: int) -> Robot:
    """Return n flexible links with m modes in each of two directions, general geometry."""
    links = [Link('base')]
    joints = []
    near, rotation = np.zeros(3), np.eye(3)
    for number in range(1, n_links + 1):
        length, offset = 0.9 + 0.13 * number, 0.05 + 0.01 * number
        # The link's frame stands where its beam starts, the offset along the axis behind it.
        origin = near + rotation @ np.array([0.0, 0.0, offset])
        parent, child = links[-1].name, f'link{number}'
        joints.append(Joint(
            f'joint{number}', 'revolute', parent, child, Pose(vector(origin), matrix(rotation)),
            (0.0, 0.0, 1.0),
        ))
        links.append(_chain_link(child, length, modes, number))
        near, rotation = np.array([length, 0.0, 0.0]), turn_about_x(20.0 + 7.0 * number)
    robot = Robot(f'chain_{n_links}_{modes}', tuple(links), tuple(joints))
    tip = Inertia(1.5, vector(near), IDENTITY)
    point = replace(tip, matrix=((0.0,) * 3,) * 3)
    return replace(robot, payloads=(Payload(links[-1].name, point),))


def _chain_link(name: str, length: float, modes: int, number: int) -> Link:
    families = (ModeFamily('bending_y', modes), ModeFamily('bending_z', modes))
    beam = Beam(
        'tip', IDENTITY, length, 0.5 + 0.1 * number, young=2e11, area=1.1e-4, iy=1.0e-9,
        iz=1.3e-9, families=families,
    )
    moments = ((0.012, 0.001, 0.002), (0.001, 0.015, 0.003), (0.002, 0.003, 0.011))
    hub = Inertia(1.0 + 0.1 * number, (0.02, 0.03, -0.04 - 0.01 * number), moments)
    return Link(name, hub, beam, 'linear')
