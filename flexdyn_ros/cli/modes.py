# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn modes`: the modes of each link, and the vibrations of the whole arm.

Three tables, for small undamped vibrations about a configuration at rest. The joints are held
there, and the modes are deflected by gravity and payloads, unless --at gives a mode:

  coordinates    each modal coordinate: kind, modal mass, stiffness, damping ratio and frequency
                 [Hz]. The frequency of a link mode is that of the link clamped at its joint,
                 without load (for segments: with the other passive joints locked). That of an
                 elastic joint includes all outward bodies. The effective mass is that which
                 the mode moves as a whole. "of the tip" is its share of the static deflections
                 of the link's tip under forces there.
  joints locked  natural frequencies [Hz] of the whole arm with its joints held.
  joints free    natural frequencies [Hz] with its joints free under their holding torques.
                 Without stiffness it is zero. Where gravity topples the arm, it is unstable.

With loops these are the vibrations that the loops allow, about the nearest closed configuration.
The actuated joints are then held, and the passive ones follow.

The stiffness is that of modes and joint springs, and that of gravity in a hanging or bent arm,
geometric stiffening included. Arms that no equilibrium carries have the first part alone,
which is reported. Nonlinear springs have their slope at the configuration.

Participation of a locked mode x, scaled so that x' M x = 1 over the modal coordinates f:

    in joint j             (M_jf x)^2 / M_jj
    in base translation k  (L_kf x)^2 / (total mass)

Here M is the mass matrix and L_kf the modal forces that hold the arm. Its base accelerates by 1
m/s^2 along root axis k. It is the mode's share (0 to 1) of the inertia at the joint or the base.
Source: effective modal mass, Wijker, Mechanical Vibrations in Spacecraft Design, 2004. "made of"
gives a vibration's largest shares of potential energy. A share beyond 100 % stands beside
negative ones, as of gravity.

Examples:
  flexdyn modes arm.urdf
  flexdyn modes arm.urdf --at shoulder=0.5 elbow=1.57 --json
"""

from __future__ import annotations

import argparse
from typing import Any

from flexdyn_ros.cli.options import load, named_values, show, with_units
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.progress import ProgressBar
from flexdyn_ros.terminal import heading, table, warn

_SHOWN_JOINTS = 8
_UNITS = {
    'frequency': 'frequency_hz', 'effective_mass': 'effective_mass_kg',
    'growth_rate': 'growth_rate_per_s',
}
SUMMARY = 'natural frequencies with joints locked and free, participation'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument(
        '--at', metavar='NAME=VALUE', nargs='+', action='extend', default=[],
        help='configuration coordinates [rad | m] that are not zero',
    )
    parser.add_argument(
        '--observer', metavar='HZ', type=float,
        help='the observability of each mode by a modal observer at this rate [Hz]. It reads the '
        '<sensor> elements, or encoders on all motors (docs/modal_observer.md)',
    )
    parser.add_argument(
        '--plot', metavar='FILE',
        help='picture of the mode shapes of beams and files, PNG or SVG',
    )


def run(call: argparse.Namespace) -> int:
    """Print the mode tables."""
    from flexdyn_ros.errors import FlexdynError
    from flexdyn_ros.linearisation.equilibrium import static_equilibrium
    from flexdyn_ros.robot_dynamics import Dynamics
    from flexdyn_ros.simulation.configuration import ConfigurationMap
    from flexdyn_ros.simulation.vibrations import analyse

    robot = load(call)
    configuration = ConfigurationMap(robot)
    q = configuration.checked(
        named_values(call.at, configuration.names, robot.neutral_configuration(), '--at'), '--at'
    )
    stiffness = None
    held = {word.rpartition('=')[0] for word in call.at} & set(robot.mode_names)
    dyn = Dynamics(robot, backend='reference')
    if robot.loops:
        q, _ = dyn.project(q, [0.0] * robot.nv)
    with ProgressBar(label='computing'):
        try:
            found = static_equilibrium(dyn, q, deflected=not held)
            q, stiffness = found.q, found.stiffness
        except FlexdynError as error:
            warn(f'Frequencies are without gravity: {error}')
        answer = analyse(robot, q, stiffness)
    answer['dropped'] = {
        link.name: link.modal.dropped for link in robot.links
        if link.modal is not None and link.modal.dropped
    }
    if call.plot is not None:
        from flexdyn_ros.simulation.mode_pictures import save_mode_shapes

        save_mode_shapes(robot, call.plot)
    answer['configuration'] = dict(zip(configuration.names, q.tolist()))
    if call.observer is not None:
        answer['observer'] = _observer(robot, q, call.observer)
    show(call, with_units(answer, _UNITS), _text(answer))
    return 0


def _observer(robot: Any, q: Any, rate: float) -> dict[str, Any]:
    """Return the sensors, and the observability of each mode with joints locked."""
    from flexdyn_ros.modal_observer import ModalObserver
    from flexdyn_ros.robot_dynamics import Dynamics

    if not 0.0 < rate < float('inf'):
        raise ArgumentError('--observer', f'is {rate}, expected a positive rate [Hz]')
    observer = ModalObserver(Dynamics(robot), 1.0 / rate)
    return {
        'sensors': [sensor.name for sensor in observer.sensors],
        'modes': [{
            'frequency': mode.frequency, 'made_of': mode.made_of, 'error': mode.error,
            'by_noise': mode.by_noise, 'by_stiffness': mode.by_stiffness,
            'observable': mode.observable,
        } for mode in observer.observability(q[:robot.n_joints])],
    }


def _text(answer: dict[str, Any]) -> str:
    lines = [f'{heading(answer["name"])}: vibrations about a configuration at rest']
    moved = {k: v for k, v in answer['configuration'].items() if v}
    lines.append('  at ' + (', '.join(f'{k} = {v:g}' for k, v in moved.items()) or 'zero'))
    if not answer['coordinates']:
        return '\n'.join([*lines, '', 'The robot is rigid: it has no modes.'])
    lines += ['', heading('coordinates'), table(
        ('index', 'coordinate', 'kind', 'frequency [Hz]', 'damping ratio', 'modal mass',
         'stiffness', 'effective mass [kg]', 'of the tip'),
        [
            (r['index'], r['name'], r['kind'], r['frequency'], r['damping_ratio'],
             r['modal_mass'], r['stiffness'], r.get('effective_mass'),
             _percent(r['tip_share']) if 'tip_share' in r else None)
            for r in answer['coordinates']
        ],
    ), '  modal mass [kg | kg m^2], stiffness [N/m | N m/rad]']
    lines += [
        f'  dropped modes of the file of {link}: {", ".join(map(str, numbers))}'
        for link, numbers in answer['dropped'].items()
    ] or ['  all coordinates are kept']
    lines += ['', heading('joints locked'), _locked_table(answer)]
    lines += ['', heading('joints free'), table(
        ('frequency [Hz]', 'made of'),
        [(v['frequency'], _made_of(v)) for v in answer['free']],
    ), *_observer_table(answer), '', *_left_out(answer)]
    return '\n'.join(lines)


def _observer_table(answer: dict[str, Any]) -> list[str]:
    if 'observer' not in answer:
        return []
    rows = [
        (m['frequency'], m['made_of'], _percent(m['error']), _percent(m['by_noise']),
         _percent(m['by_stiffness']), 'yes' if m['observable'] else 'unobservable, not estimated')
        for m in answer['observer']['modes']
    ]
    return ['', heading('observer'), table(
        ('frequency [Hz]', 'mode', 'predicted error', 'by noise', 'by stiffness', 'estimated'),
        rows), f'  from {", ".join(answer["observer"]["sensors"])}']


def _left_out(answer: dict[str, Any]) -> list[str]:
    if answer['gravity_stiffness_included']:
        return ['Gravity stiffness is included.']
    return ['Gravity stiffness is not included' + ''.join(
        f', nor the effect of loads along the beams of {names} (geometric stiffening)'
        for names in [', '.join(answer['geometric_stiffening'])] if names) + '.']


def _locked_table(answer: dict[str, Any]) -> str:
    joints = list(answer['joint_inertia'])
    shown = joints[:_SHOWN_JOINTS]
    headings = ('frequency [Hz]', *shown, 'base x', 'base y', 'base z', 'made of')
    rows = [
        (
            v['frequency'],
            *(_percent(v['participation']['joints'][name]) for name in shown),
            *(_percent(v['participation']['base'][axis]) for axis in 'xyz'),
            _made_of(v),
        )
        for v in answer['locked']
    ]
    text = table(headings, rows) + '\n  columns of joints and base: participation'
    hidden = len(joints) - len(shown)
    return text + (f' ({hidden} more joints with --json)' if hidden else '')


def _percent(share: float) -> str:
    return f'{100.0 * share:.1f} %'


def _made_of(vibration: dict[str, Any]) -> str:
    if vibration['growth_rate']:
        return f'unstable, grows by {vibration["growth_rate"]:.4g} 1/s'
    return ', '.join(
        f'{name} {100.0 * share:.0f} %' for name, share in vibration['made_of'].items()
    ) or 'rigid motion'
