# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn info`: the parts of a robot and the terms of its torque.

Sizes, joints, links, masses, gravity and payloads of a robot, its flexible parts, and the terms of
its torque. The share is the part of the mass of <inertial> that a beam without a mass can take;
below 0.05 the beam is massless. Masses in [kg], lengths in [m], angles in [rad], limits in
[rad | m], [N m | N] and [rad/s | m/s].

Examples:
  flexdyn info arm.urdf
  flexdyn info vendor.urdf --extension flexible.xml --json
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any, TYPE_CHECKING

from flexdyn_ros.cli.options import load, show
from flexdyn_ros.terminal import heading, table

if TYPE_CHECKING:
    from flexdyn_ros.model.records.joint import Joint
    from flexdyn_ros.model.records.robot import Robot

_SHOWN = ('name', 'source', 'root', 'base_motion', 'nq', 'nv', 'n_joints', 'n_modes')
SUMMARY = 'sizes, joints, links, masses and flexible parts'


def run(call: argparse.Namespace) -> int:
    """Print the summary."""
    robot = load(call)
    summary = summarise(robot)
    show(call, summary, _text(summary))
    return 0


def summarise(robot: 'Robot') -> dict[str, Any]:
    """Return the robot's data in the form that --json prints."""
    from flexdyn_ros.simulation.configuration import ConfigurationMap

    configuration = ConfigurationMap(robot)
    return {
        **{name: getattr(robot, name) for name in _SHOWN},
        'total_mass': float(robot.total_mass),
        'gravity': list(robot.gravity_vector),
        'coordinate_names': list(robot.coordinate_names),
        'configuration_names': list(configuration.names),
        'configuration_units': list(configuration.units),
        'joints': [_joint(joint) for joint in robot.joints],
        'links': [
            {
                'name': link.name,
                'mass': float(link.mass),
                'modes': list(link.mode_names),
                **{
                    f'beam_{name}': getattr(link.undeformed_beam, name, None)
                    for name in ('length', 'mass', 'share')
                },
            }
            for link in robot.links
        ],
        'payloads': [
            {'link': p.link, 'mass': p.inertia.mass, 'com': list(p.inertia.com)}
            for p in robot.payloads
        ],
        'loops': [asdict(loop) for loop in robot.loops],
        'actuated': list(robot.actuated),
        'torque_terms': torque_terms(robot),
        'notes': list(robot.notes),
    }


def _joint(joint: 'Joint') -> dict[str, Any]:
    drive = joint.dynamics
    return {
        **{name: getattr(joint, name) for name in ('name', 'type', 'parent', 'child')},
        'axis': list(joint.axis),
        'axes': list(joint.axes),
        'pitch': joint.pitch or None,
        'coordinates': list(joint.coordinate_names),
        **asdict(joint.limit),
        'mimics': joint.mimic.leader if joint.mimic else None,
        'stiffness': drive.stiffness,
        'spring': [list(point) for point in drive.spring] or None,
        'damping': drive.damping,
        'parallel_stiffness': drive.parallel_stiffness,
        'parallel_damping': drive.parallel_damping,
        'rest_position': drive.rest_position,
        'bearing': [asdict(axis) for axis in drive.bearing],
        'viscous': drive.friction.viscous,
        'coulomb': drive.friction.coulomb,
        'reflected_inertia': drive.reflected_inertia,
    }


def torque_terms(robot: 'Robot') -> list[str]:
    """Return the terms of the torque of this robot in words."""
    terms = ['inertia of all links', 'Coriolis and centrifugal']
    if any(robot.gravity_vector):
        terms.append('gravity')
    moved = [j for j in robot.joints if j.type != 'fixed']
    drives = [(j.name, j.dynamics) for j in moved]
    drives += [(f'{j.name}/{axis}', drive) for j in moved for axis, drive in j.drives]
    friction = [name for name, drive in drives if drive.losses.acts]
    rotors = [name for name, drive in drives if drive.reflected_inertia]
    springs = [j.name for j in moved if j.dynamics.elastic]
    beams = [link.name for link in robot.links if link.mode_names]
    rubbing = [x.name for x in robot.links if x.segments and x.segments.friction.acts]
    if robot.loops:
        terms.append('constraint forces of loops')
    for what, names in (
        ('friction and damping of', friction),
        ('rotor inertia of', rotors),
        ('springs and dampers of elastic joints', springs),
        ('bearings of', [j.name for j in robot.joints if j.dynamics.bearing]),
        ('springs and dampers beside', [
            j.name for j in moved if j.dynamics.parallel_stiffness or j.dynamics.parallel_damping
        ]),
        ('stiffness and damping of flexible links', beams),
        ('energies of modes together:', [' '.join(each.modes) for each in robot.couplings]),
        ('geometric stiffening of', [link.name for link in robot.links if link.stiffens]),
        ('linearised small deflections (deflection="linearised") of', [
            link.name for link in robot.links if link.is_linearised
        ]),
        ('inertia of the undeformed arm (deflection="undeformed_kinetic_energy") of', [
            link.name for link in robot.links
            if link.reduced_form == 'deflection="undeformed_kinetic_energy"'
        ]),
        ('first-order rotations (rotation="linear") of', [
            link.name for link in robot.links if link.mode_names and link.rotation == 'linear'
        ]),
        ('friction between segments of', rubbing),
        ('nonlinear stiffness of', [
            link.full_name(spring.mode) for link in robot.links for spring in link.mode_springs
        ]),
        ('payload on', [p.link for p in robot.payloads]),
    ):
        if names:
            terms.append(f'{what} {", ".join(names)}')
    return terms


def _text(summary: dict[str, Any]) -> str:
    gravity = ' '.join(f'{g:g}' for g in summary['gravity'])
    lines = [
        f'{heading(summary["name"])}  ({summary["source"]})',
        f'  {len(summary["links"])} links, {summary["n_joints"]} joint coordinates, '
        f'{summary["n_modes"]} modes; nq = {summary["nq"]}, nv = {summary["nv"]}',
        f'  total mass {summary["total_mass"]:.6g} kg, payloads apart; '
        f'gravity {gravity} m/s^2 in the frame of "{summary["root"]}"',
    ]
    if summary['base_motion'] != 'fixed':
        lines.append(f'  base motion {summary["base_motion"]}, by joint "base_motion"')
    if summary['joints']:
        lines += ['', heading('joints'), _joint_table(summary['joints'])]
    lines += ['', heading('links'), table(
        ('link', 'mass [kg]', 'bends', 'beam length [m]', 'beam mass [kg]', 'share'),
        [
            (link['name'], link['mass'], _modes(link), link['beam_length'], link['beam_mass'],
             link['beam_share'])
            for link in summary['links']
        ],
    )]
    if summary['loops']:
        lines += ['', heading('loops'), table(
            ('loop', 'frame1', 'frame2', 'constrains'),
            [
                (loop['name'], loop['frame1'], loop['frame2'], ' '.join(loop['constrain']))
                for loop in summary['loops']
            ],
        ), f'  actuated: {", ".join(summary["actuated"])}']
    for payload in summary['payloads']:
        com = ' '.join(f'{c:g}' for c in payload['com'])
        lines += ['', f'payload on "{payload["link"]}": {payload["mass"]:g} kg at {com} m']
    lines += ['', heading('the torque contains')]
    lines += [f'  {term}' for term in summary['torque_terms']]
    if summary['notes']:
        lines += ['', heading('notes'), *(f'  {note}' for note in summary['notes'])]
    return '\n'.join(lines)


def _joint_table(joints: list[dict[str, Any]]) -> str:
    return table(
        ('joint', 'type', 'parent', 'child', 'lower', 'upper', 'effort', 'velocity', 'drive'),
        [
            (j['name'], ' '.join(j['axes']) or j['type'], j['parent'], j['child'], j['lower'],
             j['upper'], j['effort'], j['velocity'], _drive(j))
            for j in joints
        ],
    )


def _drive(joint: dict[str, Any]) -> str:
    words = []
    if joint['mimics']:
        words.append(f'mimics {joint["mimics"]}')
    if joint['stiffness'] is not None:
        words.append(f'elastic, {joint["stiffness"]:g}')
    if joint['spring']:
        words.append(f'elastic by a table of {len(joint["spring"])} points')
    for key, word in (('viscous', 'viscous'), ('coulomb', 'Coulomb'), ('damping', 'damping'),
                      ('reflected_inertia', 'rotor')):
        if joint[key]:
            words.append(f'{word} {joint[key]:g}')
    return '; '.join(words) or '-'


def _modes(link: dict[str, Any]) -> str:
    return ', '.join(name.rpartition('/')[2] for name in link['modes']) or '-'
