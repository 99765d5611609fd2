# SPDX-License-Identifier: Apache-2.0
"""`flexdyn modes`: the modes of each link, and the vibrations of the whole arm."""

from __future__ import annotations

import argparse
from typing import Any

from flexdyn_ros.cli.options import add_json
from flexdyn_ros.cli.options import add_parser as add_model_parser
from flexdyn_ros.cli.options import load
from flexdyn_ros.cli.options import named_values
from flexdyn_ros.cli.options import print_json
from flexdyn_ros.cli.terminal import heading
from flexdyn_ros.cli.terminal import table

_DESCRIPTION = """\
Three tables, for small undamped vibrations about a configuration at rest:

  coordinates    each modal coordinate: its kind, modal mass, stiffness, damping ratio, and its
                 frequency [Hz]: of the link clamped at its joint and without what it carries (of
                 a passive joint between segments, with the other ones locked), or of an
                 elastic joint's spring under all that it carries
  joints locked  natural frequencies [Hz] of the whole arm with its joints held
  joints free    natural frequencies [Hz] with its joints free; one zero a joint coordinate

With loops these are the vibrations that the loops allow, about the nearest closed configuration;
held are then the actuated joints, and the passive ones follow.

The stiffness is that of modes and joint springs. The stiffness that gravity gives to a hanging or
bent arm is not included. Nonlinear springs count with their slope at the configuration.

Participation of a locked mode x, scaled so that x' M x = 1 over the modal coordinates f:
  in joint j             (M_jf x)^2 / M_jj
  in base translation k  (L_kf x)^2 / (total mass)
where M is the mass matrix and L_kf the modal forces that hold the arm while its base accelerates
by 1 m/s^2 along root axis k. It is the mode's share (0 to 1) of the inertia that the joint or the
base feels, the effective modal mass of Wijker, Mechanical Vibrations in Spacecraft Design, 2004.
"made of" gives a vibration's largest shares of strain energy.
"""
_EXAMPLES = """\
examples:
  flexdyn modes arm.urdf
  flexdyn modes arm.urdf --at shoulder=0.5 elbow=1.57 --json
"""
_SHOWN_JOINTS = 8
_MADE_OF = 3


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = add_model_parser(
        subparsers, 'modes', 'natural frequencies with joints locked and free, participation',
        _DESCRIPTION, _EXAMPLES,
    )
    parser.add_argument(
        '--at', metavar='NAME=VALUE', nargs='+', action='extend', default=[],
        help='configuration coordinates [rad | m] that are not zero',
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(call: argparse.Namespace) -> int:
    """Print the mode tables."""
    from flexdyn_ros.simulation.configuration import ConfigurationMap

    robot = load(call)
    configuration = ConfigurationMap(robot)
    q = configuration.checked(
        named_values(call.at, configuration.names, robot.neutral_configuration(), '--at'), '--at'
    )
    if robot.loops:
        from flexdyn_ros import Dynamics
        import numpy as np

        q, _ = Dynamics(robot).project(q, np.zeros(robot.nv))
    answer = analyse(robot, q)
    answer['configuration'] = dict(zip(configuration.names, q.tolist()))
    if call.json:
        print_json(answer)
    else:
        print(_text(answer))
    return 0


def analyse(robot: Any, q: Any) -> dict[str, Any]:
    """
    Return the mode tables in the form that --json prints.

    Args:
        robot: The robot.
        q: The configuration, (nq,).

    Raises:
        SingularMassMatrix: Some motion meets no inertia, so that it has no frequency.
    """
    from flexdyn_ros import Dynamics
    from flexdyn_ros.model.base_motion import BASE_COORDINATES
    from flexdyn_ros.simulation.frequencies import stiffness_matrix

    dyn = Dynamics(robot)
    mass, stiffness = dyn.mass_matrix(q), stiffness_matrix(dyn, q)
    moving, held_motions, motions = _motions(dyn, q)
    locked = _vibrations(
        dyn, q, mass[moving, moving], stiffness[moving, moving],
        robot.coordinate_names[moving], held_motions,
    )
    beyond = slice(BASE_COORDINATES if robot.base_motion == 'prescribed' else 0, None)
    free = _vibrations(
        dyn, q, mass[beyond, beyond], stiffness[beyond, beyond], robot.coordinate_names[beyond],
        motions,
    )
    base = _base_coupling(robot, q)
    joints = {}
    for vibration in locked:
        shape = vibration['shape']
        vibration['participation'] = {
            'joints': {
                name: _share(mass[k, moving] @ shape, mass[k, k])
                for k, name in enumerate(robot.joint_names)
            },
            'base': {
                axis: _share(row[moving] @ shape, base['mass'])
                for axis, row in zip('xyz', base['coupling'])
            },
        }
    for vibration in (*locked, *free):
        vibration['shape'] = vibration['shape'].tolist()
    for k, name in enumerate(robot.joint_names):
        joints[name] = float(mass[k, k])
    return {
        'name': robot.name,
        'coordinates': coordinate_table(robot, mass, stiffness),
        'locked': locked,
        'free': free,
        'joint_inertia': joints,
        'geometric_stiffening': [link.name for link in robot.links if link.stiffens],
        'gravity_stiffness_included': False,
    }


def coordinate_table(robot: Any, mass: Any, stiffness: Any) -> list[dict[str, Any]]:
    """
    Return one record a modal coordinate: kind, modal mass, stiffness, frequency, damping ratio.

    Args:
        robot: The robot.
        mass: Its mass matrix, (nv, nv), which gives an elastic joint's inertia.
        stiffness: Its stiffness matrix, (nv, nv), which gives a nonlinear spring's slope.
    """
    from flexdyn_ros.model.link_body import link_body

    # Kind, modal mass, stiffness and damping by name.
    found: dict[str, tuple[str, float, float, float]] = {}
    for link in robot.links:
        if link.segments is not None:
            found.update(_segment_data(link))
        if link.segments is not None or not link.mode_names:
            continue
        body = link_body(link)
        for k, mode in enumerate(body.modes):
            own = float(body.stiffness[k, k])
            # Loaded modes go by their mass with what they carry.
            inertia, damping = own / mode.frequency**2, float(body.damping[k, k])
            plain = mode.shape == 'clamped-free'
            kind = mode.kind if plain else f'{mode.kind}, {mode.shape}'
            found[mode.name] = (kind, inertia, own, damping)
    for joint in robot.joints:
        if joint.elastic_name:
            k, drive = robot.coordinate_names.index(joint.elastic_name), joint.dynamics
            slope = float(stiffness[k, k]) if drive.spring else drive.stiffness
            kind = 'nonlinear spring' if drive.spring else 'joint spring'
            found[joint.elastic_name] = (kind, float(mass[k, k]), slope, drive.damping)
    for link in robot.links:
        for spring in link.mode_springs:
            name = f'{link.name}/{spring.mode}'
            kind, inertia, _, damping = found[name]
            k = robot.coordinate_names.index(name)
            found[name] = (f'{kind}, nonlinear', inertia, float(stiffness[k, k]), damping)
    return [
        {'index': k, **_record(name, *found[name])} for k, name in enumerate(robot.mode_names)
    ]


def _segment_data(link: Any) -> dict[str, tuple[str, float, float, float]]:
    """Return kind, inertia, stiffness and damping of the passive joints between segments."""
    segments, found = link.segments, {}
    for axis in segments.directions:
        inertia = segments.inertia_matrix(axis).diagonal()
        names = [name for name in link.mode_names if name.endswith(f'_{axis}')]
        for name, mass in zip(names, inertia):
            spring, damper = segments.stiffness(axis), segments.damping(axis)
            found[name] = (f'segment about {axis}', float(mass), spring, damper)
    return found


def _record(
    name: str, kind: str, mass: float, stiffness: float, damping: float
) -> dict[str, Any]:
    from math import pi
    from math import sqrt

    rate = sqrt(stiffness / mass) if mass > 0.0 and stiffness > 0.0 else None
    return {
        'name': name,
        'kind': kind,
        'frequency': rate / (2.0 * pi) if rate else None,
        'damping_ratio': damping / (2.0 * mass * rate) if rate else None,
        'modal_mass': mass,
        'stiffness': stiffness,
    }


def _motions(dyn: Any, q: Any) -> tuple[slice, Any, Any]:
    """
    Return what moves with joints held, and the motions that loops leave, held and free.

    Without loops these are the modes and no restriction. With loops the actuated joints are held
    and the passive ones follow: motions are columns over the coordinates.
    """
    from flexdyn_ros.closed_chains.solve import spaces
    from flexdyn_ros.model.base_motion import BASE_COORDINATES
    import numpy as np

    robot = dyn.robot
    if not robot.loops:
        return slice(robot.n_joints, None), None, None
    a = dyn.loop_jacobian(q)
    first = BASE_COORDINATES if robot.base_motion == 'prescribed' else 0
    motors = {*robot.actuated_coordinates, *robot.coordinate_names[:first]}
    loose = [k for k, name in enumerate(robot.coordinate_names) if name not in motors]
    held = np.zeros((robot.nv, len(loose)))
    held[loose, range(len(loose))] = 1.0
    return slice(None), held @ spaces(a[:, loose]).free, spaces(a[:, first:]).free


def _vibrations(
    dyn: Any, q: Any, mass: Any, stiffness: Any, names: tuple[str, ...], motions: Any
) -> list[dict[str, Any]]:
    """Return one record a natural mode, lowest first, within the given motions."""
    from flexdyn_ros.simulation.frequencies import natural_modes
    import numpy as np

    try:
        if motions is None:
            rates, shapes = natural_modes(mass, stiffness)
        else:
            stiff = motions[np.any(stiffness, axis=0)]
            rates, shapes = natural_modes(
                motions.T @ mass @ motions, motions.T @ stiffness @ motions,
                motions.shape[1] - (np.linalg.matrix_rank(stiff, 1e-9) if stiff.size else 0),
            )
            shapes = motions @ shapes
    except np.linalg.LinAlgError:
        dyn.forward_dynamics(q, np.zeros(dyn.robot.nv), np.zeros(dyn.robot.nv))
        raise
    records = []
    for rate, shape in zip(rates, shapes.T):
        strain = shape * (stiffness @ shape)
        total = float(np.sum(strain))
        shares = strain / total if rate > 0.0 and total > 0.0 else np.zeros(len(names))
        largest = np.argsort(-shares, kind='stable')[:_MADE_OF]
        records.append({
            'frequency': float(rate) / (2.0 * np.pi),
            'made_of': {names[k]: float(shares[k]) for k in largest if shares[k] >= 0.01},
            'shape': shape,
        })
    return records


def _base_coupling(robot: Any, q: Any) -> dict[str, Any]:
    """
    Return L_kf for all coordinates, (3, nv), and the total mass with payloads [kg].

    An acceleration of the base is felt as gravity the other way.
    """
    from flexdyn_ros import Dynamics
    import numpy as np

    dyn = Dynamics(robot)
    rows = []
    for axis in np.eye(3):
        dyn.set_gravity(-axis)
        rows.append(np.array(dyn.gravity_vector(q)))
    payload = sum(p.inertia.mass for p in robot.payloads)
    return {'coupling': rows, 'mass': float(robot.total_mass) + payload}


def _share(coupling: float, inertia: float) -> float:
    return float(coupling**2 / inertia) if inertia > 0.0 else 0.0


def _text(answer: dict[str, Any]) -> str:
    lines = [f'{heading(answer["name"])}: vibrations about a configuration at rest']
    moved = {k: v for k, v in answer['configuration'].items() if v}
    lines.append('  at ' + (', '.join(f'{k} = {v:g}' for k, v in moved.items()) or 'zero'))
    if not answer['coordinates']:
        return '\n'.join([*lines, '', 'The robot is rigid: it has no modes.'])
    lines += ['', heading('coordinates'), table(
        ('index', 'coordinate', 'kind', 'frequency [Hz]', 'damping ratio', 'modal mass',
         'stiffness'),
        [
            (r['index'], r['name'], r['kind'], r['frequency'], r['damping_ratio'],
             r['modal_mass'], r['stiffness'])
            for r in answer['coordinates']
        ],
    ), '  modal mass [kg | kg m^2], stiffness [N/m | N m/rad]; all coordinates are kept']
    lines += ['', heading('joints locked'), _locked_table(answer)]
    lines += ['', heading('joints free'), table(
        ('frequency [Hz]', 'made of'),
        [(v['frequency'], _made_of(v)) for v in answer['free']],
    ), '', *_left_out(answer)]
    return '\n'.join(lines)


def _left_out(answer: dict[str, Any]) -> list[str]:
    if not answer['geometric_stiffening']:
        return ['Gravity stiffness is not included.']
    return [
        'Gravity stiffness is not included, nor what loads along the beam do to '
        + ', '.join(answer['geometric_stiffening'])
        + ' (geometric stiffening).'
    ]


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
    return ', '.join(
        f'{name} {100.0 * share:.0f} %' for name, share in vibration['made_of'].items()
    ) or 'rigid motion'
