# SPDX-License-Identifier: Apache-2.0
"""What is implausible in a model: units, limits, beams that no material makes, other readers."""

from __future__ import annotations

import math
from typing import Iterator

from flexdyn_ros.model.check import Finding
from flexdyn_ros.model.check_joints import Remark
from flexdyn_ros.model.check_links import DENSEST, reach
from flexdyn_ros.model.records.joint import Joint
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot

# Mass over reach of machines, from a desk-top arm to an excavator [kg/m].
_LIGHT, _HEAVY = 0.01, 10000.0
# Reach [m] beyond which origins are more probably in millimetres; space stations stay below.
_LONG = 150.0
# A joint limit beyond four turns [rad] that is no more than a degree count of two turns.
_TURNS, _DEGREES = 8.0 * math.pi, 720.0
# Density of the lightest foam [kg/m^3].
_LIGHTEST = 10.0
# Frequencies of modes that hands and hammers can excite [Hz].
LOWEST, HIGHEST = 0.1, 1e5


def implausible_findings(robot: Robot) -> list[Finding]:
    """Return what is implausible in a robot, beyond what `check_robot` finds."""
    remarks = [
        *(('robot', robot.name, remark) for remark in _of_robot(robot)),
        *(('link', link.name, remark) for link in robot.links for remark in _of_beam(link)),
        *(('joint', joint.name, remark) for joint in robot.joints for remark in _of_limit(joint)),
    ]
    return [
        Finding(severity, element, name, message, advice)
        for element, name, (severity, message, advice) in remarks
    ]


def _of_robot(robot: Robot) -> Iterator[Remark]:
    size, mass = reach(robot), robot.total_mass
    if robot.coordinate_names and mass == 0.0:
        yield (
            'warning', 'no link has a mass, so that only kinematics can be computed',
            'Write <inertial> in every moving link, from the CAD model or the data sheet',
        )
    units = (
        (size > _LONG, f'it reaches {size:.4g} m',
         f'origins in metres: {size:.4g} mm are {1e-3 * size:.4g} m'),
        (mass > _HEAVY * size > 0.0,
         f'its mass of {mass:.4g} kg is large for a reach of {size:.3g} m',
         f'<mass> in kg: {mass:.4g} g are {1e-3 * mass:.4g} kg'),
        (0.0 < mass < _LIGHT * size,
         f'its mass of {mass:.4g} kg is small for a reach of {size:.3g} m',
         f'<mass> in kg: {mass:.4g} t are {1e3 * mass:.4g} kg'),
    )
    for wrong, message, advice in units:
        if wrong:
            yield 'warning', message, f'Write {advice}'
            break
    if robot.coordinate_names and robot.link(robot.root).inertia is not None:
        yield (
            'note', f'the root link "{robot.root}" has an <inertial>, of which KDL and with it '
            'robot_state_publisher warn',
            'Add a root link without <inertial> and a fixed joint, or ignore the warning',
        )


def _of_beam(link: Link) -> Iterator[Remark]:
    beam = link.undeformed_beam
    if beam is None or not beam.area or beam.share is not None or beam.stations:
        return
    density = beam.mass / (beam.area * beam.length)
    if not _LIGHTEST < density < DENSEST:
        yield (
            'warning', f'mass, area and length of the beam give a density of {density:.4g} '
            'kg/m^3, which no material has',
            'Write mass in kg, area in m^2 (1 mm^2 is 1e-6 m^2) and positions in m',
        )


def _of_limit(joint: Joint) -> Iterator[Remark]:
    limit = joint.limit
    given = [value for value in (limit.lower, limit.upper) if value is not None]
    if joint.type == 'continuous' and given:
        yield (
            'note', 'its limits are ignored, as a continuous joint has none',
            'Make the joint revolute, or take lower and upper out',
        )
    if joint.type in ('revolute', 'prismatic') and joint.mimic is None:
        missing = [name for name in ('effort', 'velocity') if getattr(limit, name) is None]
        if missing:
            yield (
                'note', f'<limit> has no {" and no ".join(missing)}, so that urdfdom, and with it '
                'robot_state_publisher and RViz, refuses the description',
                'Write <limit lower="..." upper="..." effort="..." velocity="..."/>',
            )
    widest = max(map(abs, given), default=0.0)
    round_number = abs(2.0 * widest - round(2.0 * widest)) < 1e-6  # unlike turns, 100 pi
    if joint.type == 'revolute' and _TURNS < widest <= _DEGREES and round_number:
        yield (
            'warning', f'its limit of {widest:g} rad is {widest / (2 * math.pi):.3g} turns',
            f'Write limits in radians: {widest:g} degrees are {math.radians(widest):.4g} rad',
        )
