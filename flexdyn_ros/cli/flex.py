# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn flex`: a first flexible model of a link, as an extension of the description.

Write a <flexdyn> element that lets one link bend by a beam. The beam takes its mass from
<inertial>, so that the rigid link is unchanged. It ends at the child joint farthest away, or at
--tip. The stiffness is one of

    --first-frequency F  the lowest bending frequency [Hz] of the link as `flexdyn modes` lists
                         it: root held, without load; a massless beam with the bodies it carries
    --tip-stiffness K    a force at the tip over its deflection, root held [N/m]
    --tube D T           a tube of diameter D and wall T [m] of --material
    --box W H T          a box of width W along y, height H along z and wall T [m] of --material

The element goes to stdout, or to a file; `--extension FILE` of all commands reads it.

Examples:
  flexdyn flex arm.urdf --link forearm --first-frequency 80 -o flexible.xml
  flexdyn flex arm.urdf --link boom --tube 0.08 0.003 --material aluminium --modes 2
  flexdyn check arm.urdf --extension flexible.xml
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import Mapping, Optional, TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from flexdyn_ros.cli.options import load, positive, print_json
from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.output_files import write_text

if TYPE_CHECKING:
    from flexdyn_ros.model.records.link import Link
    from flexdyn_ros.model.records.robot import Robot

# Young's and shear modulus [Pa], density [kg/m^3]; Ashby, Materials Selection in Mechanical
# Design, 2011, appendix A; carbon fibre as a quasi-isotropic laminate.
MATERIALS = {
    'steel': (2.1e11, 8.1e10, 7850.0), 'aluminium': (7.0e10, 2.6e10, 2700.0),
    'titanium': (1.1e11, 4.2e10, 4430.0), 'carbon': (5.5e10, 2.1e10, 1600.0),
}


SUMMARY = 'extension that lets a link bend, from a frequency or a section'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument('--link', required=True, help='the link that bends')
    stiffness = parser.add_mutually_exclusive_group(required=True)
    stiffness.add_argument('--first-frequency', metavar='F', type=positive,
                           help='lowest bending frequency, root held, without load [Hz]')
    stiffness.add_argument('--tip-stiffness', metavar='K', type=positive,
                           help='force over deflection at the tip [N/m]')
    stiffness.add_argument('--tube', metavar=('D', 'T'), type=positive, nargs=2,
                           help='diameter and wall of a tube [m]')
    stiffness.add_argument('--box', metavar=('W', 'H', 'T'), type=positive, nargs=3,
                           help='width, height and wall of a box [m]')
    parser.add_argument('--material', choices=MATERIALS, default='aluminium',
                        help='material (default: aluminium)')
    parser.add_argument('--tip', help='child joint, link or "x y z" at the end of the beam')
    parser.add_argument('--modes', choices=('1', '2', '3'), default='1',
                        help='bending modes along each axis (default: 1)')
    parser.add_argument('--damping-ratio', metavar='RATIO', type=positive, default=0.01,
                        help='damping ratio of the modes [1] (default: 0.01)')
    parser.add_argument('-o', '--output', metavar='FILE', help='file to write')


def run(call: argparse.Namespace) -> int:
    """Write the extension, and on stderr the beam."""
    if call.urdf == '-':
        call.urdf = sys.stdin.read()
    robot = load(call)
    robot.link(call.link)  # raises where there is none
    tip = call.tip or _farthest_joint(robot, call.link)
    section, static = _section(call, robot.link(call.link)), ''
    link = _bent(call, _text(call, tip, section)).link(call.link)
    beam = link.beam
    assert beam is not None
    factor = 1.0
    if call.first_frequency is not None:
        factor = (call.first_frequency / _lowest(link))**2  # stiffness is proportional to it
    elif call.tip_stiffness is not None:
        factor = call.tip_stiffness * beam.length**3 / (3.0 * section['young'] * section['iz'])
        static = ' static_modes="1"' if beam.mass else ''  # one mode alone is 3 percent stiffer
    scaled = {k: v * (factor if k in ('iy', 'iz') else 1.0) for k, v in section.items()}
    text = _text(call, tip, scaled, static)
    bent = _bent(call, text)
    link = bent.link(call.link)
    frequency, sag = _in_the_arm(bent, call.link)
    if call.output:
        write_text(call.output, text)
    if call.json:
        print_json({
            'link': call.link, 'tip': tip, 'length_m': beam.length, 'share': beam.share,
            'lowest_frequency_hz': _lowest(link), 'frequency_in_the_arm_hz': frequency,
            'sag_m': sag, 'extension': text,
        })
        return 0
    if not call.output:
        print(text, end='')
    share = '' if beam.share is None else (
        f'largest share of <inertial> {100.0 * beam.share:.3g} percent, ')
    print(f'{call.link}: {beam.length:.4g} m to {tip}, {share}lowest frequency '
          f'{_lowest(link):.4g} Hz without load', file=sys.stderr)
    if frequency is not None:
        print(f'In the arm at zero, joints held: lowest frequency {frequency:.3g} Hz, '
              f'the tip sags by {1e3 * sag:.3g} mm', file=sys.stderr)
    return 0


def _farthest_joint(robot: 'Robot', name: str) -> str:
    """Return the child joint that is farthest away from the link's origin."""
    away = {j.name: math.hypot(*j.origin.position) for j in robot.joints if j.parent == name}
    if not away or max(away.values()) == 0.0:
        raise ArgumentError('--tip', f'is missing: no joint ends link "{name}"; write "x y z" [m]')
    return max(away, key=lambda joint: away[joint])


def _section(call: argparse.Namespace, link: 'Link') -> dict[str, float]:
    """Return the attributes of <beam>; second moments of 1e-6 m^4 where they are sought."""
    young, shear, density = MATERIALS[call.material]
    if call.tube:
        outer, wall = call.tube
        inner = outer - 2.0 * wall
        if inner < 0.0:
            raise ArgumentError(
                '--tube', 'has a wall of more than half of its diameter. Reduce the wall')
        second = math.pi / 64.0 * (outer**4 - inner**4)
        area, twist = math.pi / 4.0 * (outer**2 - inner**2), 2.0 * second
        moments = {'iy': second, 'iz': second}
    elif call.box:
        width, height, wall = call.box
        w, h = width - 2.0 * wall, height - 2.0 * wall
        if w < 0.0 or h < 0.0:
            raise ArgumentError('--box', 'has a wall of more than half of a side. Reduce the wall')
        moments = {'iy': (width * height**3 - w * h**3) / 12.0,
                   'iz': (height * width**3 - h * w**3) / 12.0}
        # Bredt's formula for thin closed walls, 4 A^2 t / s of the middle line.
        middle = (width - wall) * (height - wall)
        area, twist = width * height - w * h, 2.0 * middle**2 * wall / (width + height - 2 * wall)
    else:
        return {'young': young, 'iy': 1e-6, 'iz': 1e-6}
    found = {'young': young, 'shear': shear, 'area': area, **moments, 'j': twist}
    return found if link.inertia is not None else {**found, 'density': density}


def _text(
    call: argparse.Namespace, tip: str, section: Mapping[str, float], static: str = ''
) -> str:
    values = ' '.join(f'{name}="{value:.10g}"' for name, value in section.items())
    modes = f'modes="{call.modes}" damping_ratio="{call.damping_ratio:g}"{static}'
    return f"""<flexdyn version="1.0">
  <flexible_link link={quoteattr(call.link)}>
    <beam tip={quoteattr(tip)} {values}>
      <bending axis="y" {modes}/>
      <bending axis="z" {modes}/>
    </beam>
  </flexible_link>
</flexdyn>
"""


def _bent(call: argparse.Namespace, text: str) -> 'Robot':
    return load(argparse.Namespace(**{**vars(call), 'extension': [*call.extension, text]}))


def _in_the_arm(robot: 'Robot', link: str) -> tuple[Optional[float], float]:
    """
    Return the arm's lowest frequency [Hz] and the link's deflection at its tip [m].

    The joints are held at zero, under gravity. The frequency is None where loops or an arm
    without equilibrium leave neither.
    """
    from flexdyn_ros.linearisation.equilibrium import static_equilibrium
    from flexdyn_ros.robot_dynamics import Dynamics
    from flexdyn_ros.simulation.vibrations import analyse

    dyn = Dynamics(robot, backend='reference')
    try:
        found = static_equilibrium(dyn, robot.neutral_configuration(), deflected=True)
        locked = analyse(robot, found.q, found.stiffness)['locked']
    except FlexdynError:
        return None, 0.0
    along = {'y': 0.0, 'z': 0.0}
    for name, value in zip(robot.mode_names, found.q[-robot.n_modes:]):
        if name.startswith(f'{link}/bending_'):
            along[name.rpartition('bending_')[2][0]] += float(value)  # 1 at the tip
    return locked[0]['frequency'], math.hypot(*along.values())


def _lowest(link: 'Link') -> float:
    """Return the lowest frequency of the link's modes [Hz]."""
    from flexdyn_ros.model.beam.body import link_body

    return min(mode.frequency for mode in link_body(link).modes) / (2.0 * math.pi)
