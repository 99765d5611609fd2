# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn analyse`: static equilibrium under load, poles, transfer functions, frequency maps.

Hold the joints at --at, and find the deflection under gravity, payloads and wrenches. Linearise
there: dx/dt = A x + B u, y = C x + D u. x are displacements and rates of all coordinates, and u
the joint torques. Print the equilibrium and the poles. Write A, B, C and D with all names
(system.npz), Bode plots of --outputs (bode.png) and the poles (poles.png). --campbell and --map
add diagrams and tables of frequencies. Friction is that at rest.

Outputs are COORDINATE, COORDINATE/rate, and

    FRAME/x y z rx ry rz     pose in root axes [m | rad]; FRAME/pose is all of them
    FRAME/vx vy vz wx wy wz  velocity in root axes [m/s, rad/s]; FRAME/velocity
    FRAME/ax ay az           accelerometer, the frame's axes [m/s^2]; FRAME/acceleration
    LINK/strain@x,y,z        strain at x of the beam's length and y, z [m] of its cross-section

Examples:
  flexdyn analyse arm.urdf --at elbow=1.57 --outputs tool/x tool/az --kp 400 --kd 20
  flexdyn analyse arm.urdf --wrench tool=0,0,-50,0,0,0 --json
  flexdyn analyse rotor.urdf --campbell hub=60
  flexdyn analyse arm.urdf --map shoulder=-1.5:1.5:25 elbow=0:2.6:25 --frame tool
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any, Optional, Sequence, TYPE_CHECKING

from flexdyn_ros.cli.options import (
    add_format,
    add_gains,
    add_out,
    count,
    gains,
    load,
    named_values,
    positive,
    show,
)
from flexdyn_ros.errors import ArgumentError, UnknownName
from flexdyn_ros.model.urdf.values import number
from flexdyn_ros.output_files import new_file, new_folder, write_table
from flexdyn_ros.progress import ProgressBar
from flexdyn_ros.terminal import heading, table

if TYPE_CHECKING:
    import numpy as np

SUMMARY = 'static equilibrium, poles, transfer functions, Campbell diagram and pose maps'
SPEEDS = 41  # of a Campbell diagram
# Poles below this part of the largest one are zero: double ones are found to half of the digits.
ZERO = 1e-9
# States in maps from which on it pays to compile.
MANY = 300
FREQUENCIES = 600  # of a Bode plot


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument(
        '--at', metavar='NAME=VALUE', nargs='+', action='extend', default=[],
        help='joint positions [rad | m] that are not zero')
    parser.add_argument(
        '--wrench', metavar='FRAME=FX,FY,FZ,MX,MY,MZ', nargs='+', action='extend', default=[],
        help='wrenches on frames at their origin, in root axes [N, N m]')
    parser.add_argument(
        '--outputs', metavar='NAME', nargs='+', action='extend', default=[],
        help='outputs (default: all coordinates)')
    add_gains(parser)
    parser.add_argument(
        '--range', metavar=('LOW', 'HIGH'), type=positive, nargs=2,
        help='frequencies of the Bode plot [Hz] (default: around the poles)')
    parser.add_argument(
        '--campbell', metavar='JOINT=SPEED',
        help='joint that turns, and its highest rate [rad/s]')
    parser.add_argument(
        '--map', metavar='JOINT=FROM:TO:COUNT', nargs='+', default=[],
        help='one or two joints over which the lowest frequencies are mapped')
    parser.add_argument('--frame', metavar='LINK', help='frame that equilibrium and map show')
    parser.add_argument(
        '--modes', metavar='N', type=count, default=3,
        help='frequencies in maps and diagrams (default: 3)')
    add_format(parser)
    add_out(parser, 'linear_analysis')


def run(call: argparse.Namespace) -> int:
    """Analyse, write and print."""
    from flexdyn_ros.linearisation.equilibrium import displacement, static_equilibrium
    from flexdyn_ros.linearisation.linear_system import damping_ratio, LinearSystem
    from flexdyn_ros.robot_dynamics import Dynamics
    import numpy as np

    robot = load(call)
    if call.frame and call.frame not in robot.frame_names:
        raise UnknownName('frame', call.frame, robot.frame_names)
    grid = dict(map(_grid, call.map))
    states = math.prod(map(len, grid.values())) if grid else 0
    dyn = Dynamics(robot, 'auto' if states > MANY else 'reference')
    q = _configuration(call, robot)
    wrenches = dict(map(_wrench, call.wrench))
    control = gains(call, robot.n_joints)
    folder = new_folder(call.out)
    files = _maps(call, folder, dyn, q, grid)
    with ProgressBar(label='linearising') as bar:
        found = static_equilibrium(dyn, q, wrenches)
        bar.update(0.3)
        system = LinearSystem.about(
            found.dyn, found.q, tau=found.tau, outputs=call.outputs, wrenches=wrenches)
        if control is not None:
            system = system.under_control(*control)
        bar.update(0.6)
        files += [_write_system(folder, system, found.q), *_draw(call, folder, system)]
    poles = system.poles()
    moving = np.abs(poles) > ZERO * np.abs(poles).max(initial=0.0)
    answer: dict[str, Any] = {
        'name': robot.name,
        'joint_torques_n_m_or_n': dict(zip(robot.joint_names, found.tau.tolist())),
        'deflections_m_or_rad': dict(zip(
            robot.mode_names, found.q[robot.nq - robot.n_modes:].tolist())),
        'poles': [
            {'real_per_s': pole.real, 'imaginary_rad_per_s': pole.imag,
             'frequency_hz': abs(pole) / (2.0 * np.pi), 'damping_ratio': damping_ratio(pole)}
            for pole in map(complex, poles[moving]) if pole.imag >= 0.0],
        'poles_at_zero': int(np.count_nonzero(~moving)),
        'inputs': dict(zip(system.inputs, system.input_units)),
        'outputs': dict(zip(system.outputs, system.output_units)),
    }
    if call.frame:
        answer['frame_displacement_m'] = displacement(found, call.frame).tolist()
    answer['files'] = list(map(str, files))
    show(call, answer, text(answer))
    return 0


def _configuration(call: argparse.Namespace, robot: Any) -> np.ndarray:
    from flexdyn_ros.simulation.configuration import ConfigurationMap

    configuration = ConfigurationMap(robot)
    return configuration.checked(named_values(
        call.at, configuration.names[:robot.nq - robot.n_modes],
        robot.neutral_configuration(), '--at'), '--at')


def _wrench(word: str) -> tuple[str, list[float]]:
    frame, _, text = word.rpartition('=')
    try:
        values = list(map(number, text.split(',')))
    except ValueError:
        values = []
    if not frame or len(values) != 6:
        raise ArgumentError('--wrench', f'is "{word}", expected FRAME= and six numbers')
    return frame, values


def _grid(word: str) -> tuple[str, np.ndarray]:
    import numpy as np

    name, _, text = word.rpartition('=')
    try:
        low, high, count = map(number, text.split(':'))
    except ValueError:
        count = 0.0
    if not name or count < 1.0 or count != int(count):
        raise ArgumentError('--map', f'is "{word}", expected JOINT=FROM:TO:COUNT')
    return name, np.linspace(low, high, int(count))


def _write_system(folder: Path, system: Any, q: np.ndarray) -> Path:
    from dataclasses import fields

    import numpy as np

    path = folder / 'system.npz'
    arrays: dict[str, Any] = {
        each.name: np.array(getattr(system, each.name)) for each in fields(system)}
    with new_file(path) as file:
        np.savez(file, q=q, **arrays)
    return path


def _draw(call: argparse.Namespace, folder: Path, system: Any) -> list[Path]:
    from flexdyn_ros.linearisation.pictures import save_bode, save_poles
    import numpy as np

    sizes = np.abs(system.poles()) / (2.0 * np.pi)
    sizes = sizes[sizes > 1e-6 * sizes.max(initial=0.0)]
    low, high = call.range or (
        (0.1 * sizes.min(), 3.0 * sizes.max()) if len(sizes) else (0.1, 100.0))
    if low >= high:
        raise ArgumentError('--range', f'goes from {low:g} to {high:g} Hz, expected LOW < HIGH')
    paths = [folder / name for name in (f'bode.{call.format}', f'poles.{call.format}')]
    save_bode(system, np.geomspace(low, high, FREQUENCIES), paths[0])
    save_poles(system, paths[1])
    return paths


def _maps(
    call: argparse.Namespace, folder: Path, dyn: Any, q: np.ndarray,
    grid: dict[str, np.ndarray],
) -> list[Path]:
    """Compute, draw and write the maps of --campbell and --map; return the files."""
    from flexdyn_ros.linearisation import frequency_maps, pictures
    import numpy as np

    files = []
    if call.campbell:
        joint, _, text = call.campbell.rpartition('=')
        try:
            highest = number(text)
        except ValueError:
            raise ArgumentError(
                '--campbell', f'is "{call.campbell}", expected JOINT=SPEED') from None
        with ProgressBar(label='turning') as bar:
            speeds = frequency_maps.campbell_diagram(
                dyn, joint, np.linspace(0.0, highest, SPEEDS), q, call.modes, bar.update)
        files += [folder / f'campbell.{call.format}', _write_frequencies(
            folder / 'campbell.csv', ['speed_rad_per_s'], speeds.speeds, speeds.frequencies)]
        pictures.save_campbell(speeds, files[-2])
    if grid:
        with ProgressBar(label='mapping') as bar:
            poses = frequency_maps.pose_map(
                dyn, grid, q, call.modes, call.frame, bar.update)
        places = np.stack(np.meshgrid(*poses.positions, indexing='ij'), axis=-1)
        files += [folder / f'pose_map.{call.format}', _write_frequencies(
            folder / 'pose_map.csv', poses.names, places, poses.frequencies)]
        pictures.save_pose_map(poses, files[-2])
    return files


def _write_frequencies(
    path: Path, names: Sequence[str], places: np.ndarray, frequencies: np.ndarray
) -> Path:
    import numpy as np

    count = frequencies.shape[-1]
    return write_table(
        path, [*names, *(f'frequency{k + 1}_hz' for k in range(count))],
        np.hstack((places.reshape(-1, len(names)), frequencies.reshape(-1, count))))


def text(answer: dict[str, Any]) -> str:
    """Return the text for the terminal."""
    def block(title: str, heads: tuple[str, ...], rows: Any) -> list[str]:
        rows = list(rows)
        return ['', heading(title), table(heads, rows)] if rows else []

    shift: Optional[list[float]] = answer.get('frame_displacement_m')
    return '\n'.join([
        f'{heading(answer["name"])}: linear analysis at static equilibrium',
        *block('torques that hold the joints', ('joint', 'torque [N m | N]'),
               answer['joint_torques_n_m_or_n'].items()),
        *block('deflections', ('mode', 'deflection [m | rad]'),
               answer['deflections_m_or_rad'].items()),
        *([f'  the frame moves by {", ".join(f"{x:.4g}" for x in shift)} m'] if shift else []),
        *block('poles', ('real [1/s]', 'imaginary [rad/s]', 'frequency [Hz]', 'damping ratio'),
               (tuple(pole.values()) for pole in answer['poles'])),
        f'  and {answer["poles_at_zero"]} at zero',
        '', 'Written: ' + ', '.join(answer['files']),
    ])
