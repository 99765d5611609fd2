# SPDX-License-Identifier: Apache-2.0
"""The controls beside the arm in a browser, by the library viser."""

from __future__ import annotations

from html import escape
import math
from typing import Any, Optional

from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.configuration import ConfigurationMap
from flexdyn_ros.visualization.colours import Legend
from flexdyn_ros.visualization.scene import QUANTITIES
import numpy as np

LARGEST_FACTOR = 100.0
# Ranges of sliders without limits [rad], [m]; of modal coordinates, over the arm's length [1].
TURN, WAY, BEND = math.pi, 1.0, 0.1
SLIDERS, SAG, VIBRATION, RECORDING, TOPICS = (
    'sliders', 'static deflection', 'vibration', 'recording', 'topics')
NONE, RIGID, SECOND = 'none', 'rigid arm', 'second state'


class BrowserControls:
    """
    Controls by name, and sliders of coordinates.

    Attributes:
        by_name: Controls by name.
        sliders: Sliders by the coordinate that they set.
    """

    def __init__(
        self, gui: Any, dyn: Dynamics, size: float, shown: str, overlay: str, live: bool,
        factor: float, end: float,
    ):
        """
        Add the controls.

        Args:
            gui: That of a ViserServer.
            dyn: The dynamics of the robot.
            size: Of the arm [m].
            shown: Source of the shown configuration at the start.
            overlay: Overlaid arm at the start.
            live: Whether topics can be shown.
            factor: Factor on the deflection at the start.
            end: Of the recording [s].
        """
        self._gui, self._dyn = gui, dyn
        self.by_name: dict[str, Any] = {}
        self.sliders: dict[str, Any] = {}
        self._add(size, shown, overlay, live, factor, end)

    def values(self) -> dict[str, Any]:
        """Return the values of the controls by name."""
        return {name: control.value for name, control in self.by_name.items()
                if hasattr(control, 'value')}

    def _add(
        self, size: float, shown: str, overlay: str, live: bool, factor: float, end: float
    ) -> None:
        gui, own, robot = self._gui, self.by_name, self._dyn.robot
        sources = [SLIDERS, SAG, VIBRATION, RECORDING, *([TOPICS] if live else [])]
        own['shown'] = gui.add_dropdown('show', sources, initial_value=shown)
        own['overlay'] = gui.add_dropdown(
            'overlay', [NONE, RIGID, SECOND], initial_value=overlay)
        own['status'] = gui.add_markdown('')
        own['legend'] = gui.add_html('')
        with gui.add_folder('Drawing'):
            own['factor'] = gui.add_slider(
                'factor on deflection', 0.0, max(LARGEST_FACTOR, factor), 0.5, factor)
            own['colour'] = gui.add_dropdown('colour', [*QUANTITIES, 'link'])
            own['limit'] = gui.add_number('legend up to (0: the largest)', 0.0, min=0.0)
        with gui.add_folder('Recording'):
            own['play'] = gui.add_checkbox('play', True)
            own['time'] = gui.add_slider('time [s]', 0.0, end, 0.01, 0.0)
            own['record'] = gui.add_button('Record')
        with gui.add_folder('Static deflection'):
            own['gravity'] = gui.add_checkbox('gravity', True)
            own['mass'] = gui.add_number('payload [kg]', 0.0, min=0.0)
            rest = robot.neutral_configuration()
            farthest = max(robot.frame_names, key=lambda name: float(
                np.linalg.norm(self._dyn.frame_pose(rest, name)[:3, 3])))
            own['link'] = gui.add_dropdown(
                'on link', robot.frame_names, initial_value=farthest)
        with gui.add_folder('Vibration'):
            own['mode'] = gui.add_dropdown('mode', [NONE])
            most = round(BEND * size, 4)
            own['amplitude'] = gui.add_slider(
                'amplitude [m | rad]', 0.0, most, most / 200.0, most / 2.0)
        n_joints = robot.nq - robot.n_modes
        with gui.add_folder('Joints'):
            self._add_sliders(range(n_joints), size)
        with gui.add_folder('Modes', expand_by_default=robot.n_modes <= 12):
            self._add_sliders(range(n_joints, robot.nq), size)

    def _add_sliders(self, places: range, size: float) -> None:
        """Add the sliders of configuration coordinates, without those of quaternions."""
        robot, map_ = self._dyn.robot, ConfigurationMap.of(self._dyn)
        given = {joint.name: joint.limit for joint in robot.joints}
        for k in places:
            name, unit = map_.names[k], map_.units[k]
            if unit == '1':
                continue
            wide = BEND * size if k >= robot.nq - robot.n_modes else TURN if unit == 'rad' else WAY
            limit = given.get(name)
            low = limit.lower if limit and limit.lower is not None else -wide
            high = limit.upper if limit and limit.upper is not None else wide
            low, high = round(low, 4), round(high, 4)
            step = (high - low) / 2000.0 or 1.0
            self.sliders[name] = self._gui.add_slider(
                name, low, high, step, min(max(0.0, low), high))

    def show_legend(self, shown: Optional[Legend]) -> None:
        """Show the colours and their values, or none."""
        text = ''
        if shown is not None:
            colours = 255.0 * shown.colours(np.linspace(shown.low, shown.high, 16))[:, :3]
            stops = ', '.join(f'rgb({r:.0f} {g:.0f} {b:.0f})' for r, g, b in colours)
            ticks = ''.join(f'<span>{escape(text)}</span>' for _, text in shown.ticks(3))
            text = (
                f'<div style="padding: 0 1em"><b>{escape(shown.title)}</b>'
                f'<div style="height: 12px; background: linear-gradient(to right, {stops})">'
                '</div><div style="display: flex; justify-content: space-between">'
                f'{ticks}</div></div>')
        if self.by_name['legend'].content != text:
            self.by_name['legend'].content = text

    def say(self, text: str) -> None:
        """Show a sentence below the choices of source and overlay."""
        if self.by_name['status'].content != text:
            self.by_name['status'].content = text
