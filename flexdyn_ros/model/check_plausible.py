# SPDX-License-Identifier: Apache-2.0
"""Implausible values of a model: units, limits, beams that no material makes, other readers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Iterator, Optional
from xml.etree.ElementTree import fromstring

from flexdyn_ros.model.check import Finding
from flexdyn_ros.model.check_geometry import DENSEST, LIGHTEST, reach, size_remarks
from flexdyn_ros.model.check_joints import Remark
from flexdyn_ros.model.records.joint import Joint
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot

# Mass over reach of machines, from a desk-top arm to an excavator [kg/m].
LIGHT, HEAVY = 0.01, 10000.0
# Reach [m] beyond which origins are more probably in millimetres; space stations stay below.
_LONG = 150.0
# A joint limit beyond four turns [rad] that is no more than a degree count of two turns.
_TURNS, _DEGREES = 8.0 * math.pi, 720.0
# A description without inertials, and the remedy.
NO_MASS = ('no link has a mass, so that only kinematics can be computed',
           'Write <inertial> in every moving link, from the CAD model or the data sheet')
# Frequencies of modes that hands and hammers can excite [Hz].
LOWEST, HIGHEST = 0.1, 1e5


def implausible_findings(robot: Robot, base_dir: Optional[Path] = None) -> list[Finding]:
    """
    Return implausible values of a robot, beyond those of `check_robot`.

    Args:
        robot: The robot.
        base_dir: Folder that relative names of meshes start from.
    """
    remarks = [
        *(('robot', robot.name, remark) for remark in _of_robot(robot)),
        *(('link', link.name, remark) for link in robot.links for remark in _of_beam(link)),
        *(('link', name, remark) for name, remark in size_remarks(robot, base_dir)),
        *(('joint', joint.name, remark) for joint in robot.joints for remark in _of_limit(joint)),
        *_refused_elsewhere(robot),
    ]
    return [
        Finding(severity, element, name, message, advice)
        for element, name, (severity, message, advice) in remarks
    ]


def _of_robot(robot: Robot) -> Iterator[Remark]:
    size, mass = reach(robot), robot.total_mass
    if robot.coordinate_names and mass == 0.0:
        yield 'warning', *NO_MASS
    payload = sum(each.inertia.mass for each in robot.payloads)
    if payload > mass > 0.0:
        yield (
            'note', f'it carries {payload:.4g} kg and weighs {mass:.4g} kg, as only arms in space '
            'and cranes do', 'Write <payload mass="..."> in kg',
        )
    units = (
        (size > _LONG, f'it reaches {size:.4g} m',
         f'origins in metres: {size:.4g} mm are {1e-3 * size:.4g} m'),
        (mass > HEAVY * size > 0.0,
         f'its mass of {mass:.4g} kg is large for a reach of {size:.3g} m',
         f'<mass> in kg: {mass:.4g} g are {1e-3 * mass:.4g} kg'),
        (0.0 < mass < LIGHT * size,
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
    if not LIGHTEST < density < DENSEST:
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
    widest = max(map(abs, given), default=0.0)
    round_number = abs(2.0 * widest - round(2.0 * widest)) < 1e-6  # unlike turns, 100 pi
    if joint.type == 'revolute' and _TURNS < widest <= _DEGREES and round_number:
        yield (
            'warning', f'its limit of {widest:g} rad is {widest / (2 * math.pi):.3g} turns',
            f'Write limits in radians: {widest:g} degrees are {math.radians(widest):.4g} rad',
        )


def _refused_elsewhere(robot: Robot) -> Iterator[tuple[str, str, Remark]]:
    """Yield element, name and remark where urdfdom refuses a description that is valid here."""
    if not robot.descriptions:
        return
    root = fromstring(robot.descriptions[0])
    names = [material.get('name', '') for material in root.findall('material')]
    wrong = [('robot', robot.name, f'the material "{name}" is given twice', 'Keep one of them')
             for name in sorted(set(names)) if names.count(name) > 1]
    if root.get('version', '1.0') not in ('1.0', '1.1', '1.2'):
        wrong.append(('robot', robot.name, f'version="{root.get("version")}" is unknown',
                      'Write version="1.0"'))
    for joint in root.findall('joint'):
        limited = joint.get('type') in ('revolute', 'prismatic')
        for tag, needed, choice, advice in (
            ('limit', limited, ('effort', 'velocity'),
             '<limit lower="..." upper="..." effort="..." velocity="..."/>'),
            ('safety_controller', False, ('k_velocity',), 'its k_velocity, or take it out'),
            ('dynamics', False, (), '<dynamics damping="..." friction="..."/>, or take it out'),
        ):
            given = joint.find(tag)
            missing = [] if given is None else [n for n in choice if given.get(n) is None]
            empty = tag == 'dynamics' and given is not None and not {
                'damping', 'friction'} & set(given.attrib)
            if missing or empty or (given is None and needed):
                what = f'there is no <{tag}>' if given is None else (
                    f'<{tag}> has no {" and no ".join(missing or ("damping", "friction"))}')
                wrong.append(('joint', joint.get('name', ''), what, f'Write {advice}'))
    for element, name, what, advice in wrong:
        yield element, name, (
            'note', f'{what}, so that urdfdom, and with it robot_state_publisher and RViz, '
            'refuses the description', advice)
