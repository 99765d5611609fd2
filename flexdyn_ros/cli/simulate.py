# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn simulate`: the motion from an initial state under constant torques, or of a scenario.

Integrate the motion from an initial state under constant joint torques, and write
trajectory.csv, trajectory.npz and plots (joints, modes, tip deflections, energy). Friction and
gravity are those of the description; joint limits are not enforced. With loops, the run starts
from the nearest closed state, and keeps the coordinates of --q0 where possible.

A YAML file in place of URDF is a scenario: robot, trajectories, controllers, disturbances,
payloads and outputs (docs/scenarios.md). The options --set, --out, --no-plots, --mcap, --html,
--factor, --package and --json go with it.

Examples:
  flexdyn simulate study.yaml --set payload.mass=5 --out heavy
  flexdyn simulate arm.urdf --t-end 2 --q0 shoulder=0.5 elbow=-1 --out run1
  flexdyn simulate arm.urdf --t-end 1 --dt 0.0005 --torque shoulder=12 --json
  flexdyn simulate arm.urdf --q0 forearm/bending_y1=0.01 --method rk4
  flexdyn simulate arm.urdf --torque shoulder=12 --method Radau --rtol 1e-8
  flexdyn simulate arm.urdf --torque shoulder=12 --modes quasi_static
  flexdyn simulate arm.urdf --torque shoulder=12 --html --factor 20 --mcap
  flexdyn simulate satellite.urdf --base-acceleration tx=0.1 rz=-0.02
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from flexdyn_ros.cli.options import (
    add_package,
    description_folder,
    load,
    named_values,
    positive,
    print_json,
)
from flexdyn_ros.cli.simulate_scenario import is_scenario, run_scenario
from flexdyn_ros.cli.simulation_results import (
    further_files,
    kept_motion,
    print_summary,
    shown_imbalance,
    summarise,
    write_files,
)
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.output_files import new_folder
from flexdyn_ros.progress import ProgressBar

# Those of `simulate`, which is imported only when it runs.
METHODS = (
    'auto', 'rk2', 'rk4', 'rk10', 'implicit', 'generalised_alpha', 'RK45', 'DOP853', 'Radau',
    'BDF', 'LSODA', 'CVODE',
)
_DEFAULT_STEP = 1e-3  # [s]
SHARED = ('out', 'set', 'no_plots', 'mcap', 'html', 'factor', 'package')
"""Options that a scenario takes too."""
SUMMARY = 'motion from an initial state, or of a scenario: CSV, npz and plots'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument(
        '--t-end', metavar='T', type=positive, default=5.0, help='duration [s] (default: 5)'
    )
    parser.add_argument(
        '--dt', metavar='DT', type=positive,
        help='time step [s] (default: 0.001, or half of the stability limit if that is less)',
    )
    parser.add_argument(
        '--force', action='store_true', help='run a --dt beyond the stability limit all the same'
    )
    parser.add_argument(
        '--method', choices=METHODS, default='auto', type=_method,
        help='Runge-Kutta method, named by its order. In the implicit one dry friction holds. '
        '--dt samples an adaptive one of scipy, or CVODE of SUNDIALS. The default, auto, is '
        'implicit where friction, damping or a spring of a joint needs shorter steps, else rk4',
    )
    for option, what in (
        ('--rtol', '[1] (default: 1e-6)'), ('--atol', '[rad | m] (default: 0.001 of --rtol)'),
    ):
        parser.add_argument(
            option, metavar='TOLERANCE', type=positive,
            help=f'accepted error of a step of an adaptive method {what}',
        )
    parser.add_argument(
        '--modes', choices=('dynamic', 'quasi_static'), default='dynamic',
        help='quasi_static: modes follow their static deflection without vibration, see '
        'docs/reduced_forms.md (default: dynamic)',
    )
    for option, what in (
        ('--q0', 'initial configuration coordinates [rad | m] that are not zero'),
        ('--qd0', 'initial velocities [rad/s | m/s] that are not zero'),
        ('--torque', 'constant generalised forces [N m | N] that are not zero'),
    ):
        parser.add_argument(
            option, metavar='NAME=VALUE', nargs='+', action='extend', default=[], help=what
        )
    parser.add_argument(
        '--base-acceleration', metavar='AXIS=VALUE', nargs='+', action='extend', default=[],
        help='constant acceleration of a prescribed base in its axes: tx ty tz [m/s^2], rx ry rz '
        '[rad/s^2]. The results contain the required wrench',
    )
    parser.add_argument(
        '--out', metavar='DIR',
        help='folder of the results; created if missing (default: simulation, or the name of the '
        'scenario)',
    )
    parser.add_argument(
        '--set', metavar='KEY=YAML', nargs='+', action='extend', default=[],
        help='other values of a scenario, as simulation.duration=2',
    )
    parser.add_argument(
        '--drift', choices=('projection', 'force', 'baumgarte', 'none'), default='projection',
        help='method that keeps loops closed (default: projection after every step)',
    )
    parser.add_argument(
        '--stops', action='store_true',
        help='joints stop at their limits without rebound, by the implicit method',
    )
    parser.add_argument('--no-plots', action='store_true', help='write no PNG files')
    parser.add_argument(
        '--mcap', action='store_true',
        help='also write trajectory.mcap, for Foxglove and PlotJuggler',
    )
    parser.add_argument(
        '--html', action='store_true',
        help='also write trajectory.html, a page that shows the motion in 3-D without a network',
    )
    parser.add_argument(
        '--factor', metavar='F', type=positive, default=1.0,
        help='factor on the deflection [1] that the page starts with (default: 1)',
    )
    add_package(parser)


def run(call: argparse.Namespace) -> int:
    """Simulate, write the results and print their paths."""
    if is_scenario(call.urdf):
        _refuse_other_options(call)
        return run_scenario(call)
    from flexdyn_ros.robot_dynamics import Dynamics
    from flexdyn_ros.scenario.start import nearest_closed
    from flexdyn_ros.simulation import SimulationDiverged
    from flexdyn_ros.simulation.configuration import ConfigurationMap
    from flexdyn_ros.simulation.method_choice import choose
    import numpy as np

    robot = load(call)
    names = ConfigurationMap(robot).names
    q0 = named_values(call.q0, names, robot.neutral_configuration(), '--q0')
    rest = np.zeros(robot.nv)
    qd0 = named_values(call.qd0, robot.coordinate_names, rest, '--qd0')
    torque = named_values(call.torque, robot.coordinate_names, rest, '--torque')
    base = _base_acceleration(robot, call.base_acceleration)
    if call.set:
        raise ArgumentError('--set', 'needs a scenario, and the call names a robot')
    dyn = Dynamics(robot)
    further = further_files(call, dyn, description_folder(call))
    folder = new_folder(call.out or 'simulation')
    if robot.loops:
        q0, qd0 = nearest_closed(dyn, q0, qd0, [word.partition('=')[0] for word in call.q0])
    dynamic = call.modes == 'dynamic'
    if not dynamic:
        _refuse_modal_values(robot, call)
    dt, limit = call.dt or _DEFAULT_STEP, None
    method = 'rk4' if call.method == 'auto' else call.method
    if dynamic:
        driven = call.drift != 'projection'
        with ProgressBar(label='preparing'):
            chosen = choose(dyn, q0, call.dt, call.method, call.force, call.stops, driven)
        dt, method = chosen.dt, call.method
        limit = None if chosen.limit is None else chosen.limit.step
    start = time.perf_counter()
    try:
        with kept_motion(folder):
            trajectory = _motion(call, dyn, (q0, qd0, torque), dt, method, base)
    except SimulationDiverged as error:
        too_large = dt > (error.step_limit or np.inf)
        error.exit_code = 2 if too_large else 1  # type: ignore[attr-defined]
        raise
    wall = time.perf_counter() - start
    files = write_files(trajectory, folder, not call.no_plots, further=further)
    summary = summarise(robot, trajectory, dt, limit, wall, folder, files)
    if call.json:
        print_json(summary)
    else:
        print_summary(summary)
    return 0


def _motion(
    call: argparse.Namespace, dyn: Any, start: tuple[Any, Any, Any], dt: float, method: str,
    base: Any,
) -> Any:
    """Return the motion from configuration and velocity under a torque, the entries of start."""
    from flexdyn_ros.simulation import simulate

    q0, qd0, torque = start
    if call.modes == 'dynamic':
        with shown_imbalance(), ProgressBar(label='simulating') as bar:
            return simulate(
                dyn, q0, qd0, torque, call.t_end, dt, method, bar.update, base_acceleration=base,
                drift=call.drift, force=call.force, rtol=call.rtol, atol=call.atol,
                stops=call.stops,
            )
    from flexdyn_ros.quasi_static.dynamics import QuasiStatic
    from flexdyn_ros.quasi_static.simulation import simulate_quasi_static

    first = slice(dyn.robot.n_joints)
    with ProgressBar(label='simulating') as bar:
        joints = QuasiStatic(dyn)
        return simulate_quasi_static(
            joints, q0[: joints.n_positions], qd0[first], torque[first], call.t_end, dt, method,
            bar.update, base)


def _method(name: str) -> str:
    """Return the name of a method as it is written."""
    return next((each for each in METHODS if each.lower() == name.lower()), name)


def _refuse_other_options(call: argparse.Namespace) -> None:
    """Raise an ArgumentError for an option that has its place in a scenario."""
    parser = argparse.ArgumentParser()
    add_options(parser)
    plain = {**vars(parser.parse_args([])), 'extension': [], 'base_dir': None, 'form': None}
    for name, default in plain.items():
        if name not in SHARED and getattr(call, name) != default:
            raise ArgumentError(
                f'--{name.replace("_", "-")}', 'is given beside a scenario, which has it in the '
                'file. Write it there, or change it by --set')


def _refuse_modal_values(robot: Any, call: argparse.Namespace) -> None:
    """Raise an ArgumentError for values of modes, which follow the joints."""
    for option, words in (('--q0', call.q0), ('--qd0', call.qd0), ('--torque', call.torque)):
        for word in words:
            name = word.partition('=')[0]
            if name in robot.mode_names:
                raise ArgumentError(
                    option, f'gives a value to the mode "{name}", which --modes quasi_static '
                            'computes. Remove it'
                )


def _base_acceleration(robot: Any, words: list[str]) -> Any:
    """Return the acceleration of a prescribed base, (6,), or None where none is given."""
    from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
    from flexdyn_ros.prescribed_base import checked_base_acceleration
    import numpy as np

    if not words:
        return None
    axes = ('tx', 'ty', 'tz', 'rx', 'ry', 'rz')
    given = named_values(words, axes, np.zeros(BASE_COORDINATES), '--base-acceleration')
    return checked_base_acceleration(robot, given)
