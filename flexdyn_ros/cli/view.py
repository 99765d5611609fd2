# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn view`: the arm in a browser, bent by its modes.

Serve a page that shows the arm in 3-D. Controls move joints and modes by name and animate
vibrations one by one with frequency and damping. They show the static deflection under gravity
and a payload, overlay the rigid arm, and record and play. Motions are files trajectory.npz of
`flexdyn simulate`; a second one is overlaid. Live topics: ros2 launch flexdyn_ros view.launch.py.

Examples:
  flexdyn view arm.urdf
  flexdyn view arm.urdf --motion simulation/trajectory.npz --factor 20
  flexdyn view arm.urdf --motion measured.npz computed.npz --port 9000
"""

from __future__ import annotations

import argparse
import sys

from flexdyn_ros.cli.options import add_package, description_folder, load, positive, show
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.progress import ProgressBar

SUMMARY = 'the arm in a browser: joints, modes, vibrations, deflection, motions'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument(
        '--motion', metavar='FILE', nargs='+', default=[],
        help='motion to play, trajectory.npz of flexdyn simulate; a second one is overlaid',
    )
    parser.add_argument(
        '--host', metavar='ADDRESS', default='127.0.0.1',
        help='address that the server binds; 0.0.0.0 lets other machines connect (default: '
        '127.0.0.1, this machine alone)',
    )
    parser.add_argument(
        '--port', metavar='N', type=int, default=8080,
        help='port of the server, or the next free one (default: 8080)',
    )
    parser.add_argument(
        '--factor', metavar='F', type=positive, default=1.0,
        help='factor on the deflection as drawn, at the start (default: 1)',
    )
    parser.add_argument(
        '--triangles', metavar='N', type=int, default=5000,
        help='largest number of triangles of all that bends (default: 5000)',
    )
    add_package(parser)


def run(call: argparse.Namespace) -> int:
    """Serve the page until interrupted."""
    from flexdyn_ros.robot_dynamics import Dynamics
    from flexdyn_ros.simulation.record import load_npz
    from flexdyn_ros.visualization.browser_view import BrowserView, viser
    from flexdyn_ros.visualization.scene import Scene
    from flexdyn_ros.visualization.visuals import package_folders

    if len(call.motion) > 2:
        raise ArgumentError('--motion', f'takes one file or two, not {len(call.motion)}')
    viser()
    robot = load(call)
    motions = [load_npz(file) for file in call.motion]
    with ProgressBar(label='preparing') as bar:
        scene = Scene(Dynamics(robot), description_folder(call),
                      package_folders(call.package, '--package'), call.triangles)
        bar.update(0.5)
        view = BrowserView(scene, call.host, call.port, motions, factor=call.factor)
    try:
        show(call, {'url': view.url}, f'{robot.name}: {view.url}  (Ctrl-C ends it)')
        sys.stdout.flush()
        view.run()
    except KeyboardInterrupt:
        return 0
    finally:
        view.stop()
    return 0
