# SPDX-License-Identifier: Apache-2.0
"""
The view of an arm in a browser, by the library viser.

`flexdyn view` and deflection_markers_node show it. One thread reads the controls, finds the state
that they choose, and draws it.
"""

from __future__ import annotations

from contextlib import redirect_stdout
import io
import math
import time
from typing import Any, Optional, Sequence

from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.model.configuration import ConfigurationSpace
from flexdyn_ros.simulation.configuration import ConfigurationMap
from flexdyn_ros.simulation.record import Trajectory
from flexdyn_ros.visualization.browser_arm import BrowserArm
from flexdyn_ros.visualization.browser_controls import (
    BrowserControls,
    NONE,
    RECORDING,
    RIGID,
    SAG,
    SECOND,
    SLIDERS,
    TOPICS,
    VIBRATION,
)
from flexdyn_ros.visualization.recorded_states import RecordedStates
from flexdyn_ros.visualization.scene import Scene
from flexdyn_ros.visualization.shown_states import (
    closed,
    static_deflection,
    Vibration,
    vibrations,
)
import numpy as np

FRAMES_PER_SECOND = 30.0
VIBRATIONS_PER_SECOND = 0.5  # as drawn
ASIDE = 0.3  # of the arm's size: the camera looks beside it
INSTALL = 'pip install viser trimesh pycollada fast-simplification matplotlib'


def viser() -> Any:
    """
    Return the module viser.

    Raises:
        FlexdynError: It is not installed.
    """
    try:
        import viser as found
    except ImportError:
        raise FlexdynError(
            f'The view in a browser needs the library viser. Install it with: {INSTALL}'
        ) from None
    return found


class BrowserView:
    """
    A server that shows one robot, and the controls beside it.

    Attributes:
        server: The ViserServer.
        controls: Controls by name.
        sliders: Sliders by the coordinate that they set.
        url: Address of the page.
    """

    def __init__(
        self, scene: Scene, host: str = '127.0.0.1', port: int = 8080,
        motions: Sequence[Trajectory] = (), live: bool = False, factor: float = 1.0,
    ):
        """
        Start the server.

        Args:
            scene: Appearance of the robot.
            host: Address that the server binds.
            port: Its port; the next free one where it is taken.
            motions: Motions to play: one, and a second to overlay.
            live: Whether states come from topics, by `show`.
            factor: Factor on the deflection as drawn, at the start.

        Raises:
            ArgumentError: A motion is that of another robot.
            FlexdynError: viser is not installed.
        """
        self._scene, self._dyn, robot = scene, scene.dyn, scene.dyn.robot
        self._map, self._space = ConfigurationMap.of(self._dyn), ConfigurationSpace(robot)
        for motion in motions:
            if motion.names != self._map.names:
                raise ArgumentError(
                    'motion', f'has other coordinates, expected those of "{robot.name}"')
        self._n_joints = robot.nq - robot.n_modes
        self._recorded = RecordedStates(motions)
        self._live: tuple[Optional[np.ndarray], Optional[np.ndarray]] = None, None
        self._vibrations: list[Vibration] = []
        self._asked: Any = None  # state of the computed vibrations or deflection
        self._sag = robot.neutral_configuration()
        self._drawn: Any = None
        module = viser()
        with redirect_stdout(io.StringIO()):  # its banner
            self.server = module.ViserServer(host, port, label=robot.name, verbose=False)
        self.url = f'http://{host}:{self.server.get_port()}'
        self._arm = BrowserArm(self.server, scene, 'arm')
        self._overlay = BrowserArm(self.server, scene, 'overlay', overlay=True)
        self._look()
        first = TOPICS if live else RECORDING if motions else SLIDERS
        self._panel = BrowserControls(
            self.server.gui, self._dyn, self._size, first, SECOND if len(motions) > 1 else NONE,
            live, factor, self._recorded.end)
        self.controls, self.sliders = self._panel.by_name, self._panel.sliders
        self.controls['record'].on_click(self._on_record)

    def stop(self) -> None:
        """Stop the server."""
        with redirect_stdout(io.StringIO()):
            self.server.stop()

    def show(self, q: np.ndarray, second: Optional[np.ndarray] = None) -> None:
        """Take a state from outside, (nq,), and one to overlay; drawn where topics are shown."""
        self._live = np.array(q), None if second is None else np.array(second)

    @property
    def second(self) -> bool:
        """Whether a second state is overlaid."""
        return bool(self.controls['overlay'].value == SECOND)

    def run(self) -> None:
        """Draw until interrupted."""
        while True:
            start = time.monotonic()
            self.step(start)
            time.sleep(max(0.0, 1.0 / FRAMES_PER_SECOND - (time.monotonic() - start)))

    def step(self, now: float) -> None:
        """Draw the state that the controls choose at a time [s], if it has changed."""
        value = self._panel.values()
        try:
            q, second = self._state(value, now)
        except FlexdynError as error:
            self._panel.say(str(error))
            return
        if q is None:
            self._panel.say('Waiting for topics.')
            return
        if value['shown'] != SAG:
            self._panel.say('')
        self._recorded.keep(now, q)
        overlay = value['overlay']
        if overlay == RIGID:
            second = self._rigid(q)
        elif overlay == NONE:
            second = None
        key = (q.tobytes(), b'' if second is None else second.tobytes(),
               value['factor'], value['colour'], value['limit'])
        if key == self._drawn:
            return
        self._drawn = key
        shown = self._arm.draw(q, value['factor'], value['colour'], value['limit'])
        self._overlay.show(second is not None)
        if second is not None:
            self._overlay.draw(second, value['factor'], 'link')
        self._panel.show_legend(shown)

    # Shown states.

    def _rigid(self, q: np.ndarray) -> np.ndarray:
        """Return the configuration without deflection; passive joints of loops follow."""
        q = q.copy()
        q[self._n_joints:] = 0.0
        return closed(self._dyn, q)

    def _state(self, value: dict[str, Any], now: float) -> tuple[Any, Any]:
        """Return the configuration to draw and one to overlay, None where there is none."""
        shown = value['shown']
        if shown == TOPICS:
            return self._live
        if shown == RECORDING:
            q, second, t = self._recorded.at(value['time'] if not value['play'] else None, now)
            if q is not None:
                if value['play']:
                    self.controls['time'].value = t
                return q, second
        robot = self._dyn.robot
        q = robot.neutral_configuration()
        for k, name in enumerate(self._map.names):
            if name in self.sliders:
                q[k] = self.sliders[name].value
        if shown in (SAG, VIBRATION):
            q[self._n_joints:] = 0.0
        q = closed(self._dyn, q)
        if shown == SAG:
            q = self._deflected(q, value)
        elif shown == VIBRATION:
            q = self._vibrating(q, value, now)
        return q, None

    def _deflected(self, q: np.ndarray, value: dict[str, Any]) -> np.ndarray:
        loads = value['gravity'], value['link'], value['mass']
        if self._asked != (q.tobytes(), loads):
            self._asked = q.tobytes(), loads
            self._sag = q
            self._panel.say('')
            try:
                self._sag = static_deflection(self._dyn, q, *loads)
            except FlexdynError as error:
                self._panel.say(str(error))
        return self._sag

    def _vibrating(self, q: np.ndarray, value: dict[str, Any], now: float) -> np.ndarray:
        if self._asked != q.tobytes():
            self._asked = q.tobytes()
            self._vibrations = vibrations(self._dyn, q)
            self.controls['mode'].options = tuple(
                f'{k}: {each}' for k, each in enumerate(self._vibrations, 1)) or (NONE,)
        place = self.controls['mode'].value.partition(':')[0]
        if not place.isdigit() or int(place) > len(self._vibrations):
            return q
        phase = 2.0 * math.pi * VIBRATIONS_PER_SECOND * now
        step = value['amplitude'] * self._vibrations[int(place) - 1].at(phase)
        return closed(self._dyn, self._space.moved(q, step), hold_modes=False)

    # The page.

    def _look(self) -> None:
        """Place the camera about the arm at rest, and light it."""
        drawn = self._scene.at(self._dyn.robot.neutral_configuration())
        points = np.concatenate([d.vertices @ d.pose[:3, :3].T + d.pose[:3, 3] for d in drawn])
        low, high = points.min(axis=0), points.max(axis=0)
        self._size = float(np.linalg.norm(high - low))
        scene, camera = self.server.scene, self.server.initial_camera
        scene.set_up_direction('+z')
        # A load that browsers without a graphics card draw often enough.
        scene.configure_environment_map(None)
        scene.configure_default_lights(False)
        scene.add_light_hemisphere(
            '/sky', ground_color=(110, 110, 120), intensity=2.0, position=(0.0, 0.0, 1.0))
        scene.add_light_directional('/lamp', intensity=1.5, position=(0.5, -1.0, 1.0))
        # Right of the arm: the panel covers that side.
        centre = (low + high) / 2.0 + self._size * ASIDE * np.array([0.89, 0.45, 0.0])
        camera.look_at = tuple(centre.tolist())
        camera.position = tuple((centre + self._size * np.array([0.4, -0.8, 0.4])).tolist())

    def _on_record(self, _: Any) -> None:
        """Start a recording of the shown motion, or end it."""
        button = self.controls['record']
        if self._recorded.toggle():
            button.label = 'Stop recording'
            return
        button.label = 'Record'
        self.controls['time'].max = self._recorded.end
        self.controls['shown'].value = RECORDING
