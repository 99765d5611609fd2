# SPDX-License-Identifier: Apache-2.0
"""One run of the demonstration: a robot under one kind of control, and the files that say so."""

from __future__ import annotations

from dataclasses import asdict
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

from flexdyn_ros.demo.motion import RestToRest
from flexdyn_ros.demo.robots import DemoRobot
from flexdyn_ros.demo.robots import Description
from flexdyn_ros.demo.robots import ROBOTS
import yaml

# The simulator takes more steps a cycle where the fastest mode asks for them.
RATE = 200.0  # of states and torques in simulated time [Hz]
MARKER_RATE = 2.0  # of markers in real time [Hz]
COMPARISON = 0.5  # part of the duration that controls other than the best are run for [1]
LONGEST_WAIT = 30.0  # after which a message counts as stale: a slow machine is no fault [s]

TERMS = ('gravity', 'coriolis', 'inertia', 'friction')

CONTROLS = {
    'pd': 'PD alone',
    'rigid': 'PD + rigid feed-forward',
    'flexible': 'PD + flexible feed-forward',
}
"""The kinds of control, in the order of pictures and tables."""

STATES = 'joint_states'
MODES = 'forward_dynamics_node/modal_states'
TIPS = 'forward_dynamics_node/tip_poses'
PD_REFERENCE = 'forward_dynamics_node/pd_reference'
REFERENCE = 'inverse_dynamics_node/reference'
TORQUES = 'inverse_dynamics_node/joint_torques'
MARKERS = 'deflection_markers_node/markers'
READY = 'recorder/ready'


@dataclass(frozen=True)
class Run:
    """
    One run.

    Attributes:
        robot: Key of the robot.
        control: Key of the kind of control.
        duration: Simulated time [s].
        compared: Time from the start over which controls are compared [s].
        folder: Where its files go.
        description_file: URDF or xacro file.
        extension_file: File with <flexdyn> data; '' where there is none.
        as_topic: Whether the description is published as robot_description.
        rate: Rate of states in simulated time [Hz].
    """

    robot: str
    control: str
    duration: float
    compared: float
    folder: str
    description_file: str
    extension_file: str
    as_topic: bool
    rate: float = RATE

    @classmethod
    def make(
        cls, robot: DemoRobot, control: str, duration: float, compared: float, folder: Path,
        found: Description,
    ) -> Run:
        """Return a run whose times are whole numbers of periods."""
        return cls(
            robot.key, control, round(duration * RATE) / RATE, round(compared * RATE) / RATE,
            str(folder), str(found.file), str(found.extension or ''), found.as_topic,
        )

    @classmethod
    def load(cls, file: str) -> Run:
        """Return the run that a file describes."""
        return cls(**json.loads(Path(file).read_text(encoding='utf-8')))

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self.folder)

    @property
    def file(self) -> Path:
        """The file that describes this run."""
        return self.path / 'run.json'

    @property
    def title(self) -> str:
        """What the run is called in messages."""
        return f'{self.robot}, {CONTROLS[self.control]}'

    @property
    def demo_robot(self) -> DemoRobot:
        """The robot."""
        return ROBOTS[self.robot]

    @property
    def motion(self) -> RestToRest:
        """The desired motion."""
        return RestToRest(self.demo_robot.waypoints)

    @property
    def expected_states(self) -> int:
        """Number of states from the first to the last, both included."""
        return round(self.duration * self.rate) + 1

    def write(self) -> None:
        """Write the file of this run and the parameters of its nodes."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(asdict(self), indent=1) + '\n', encoding='utf-8')
        for node, parameters in self._parameters().items():
            content = {'/**': {'ros__parameters': parameters}}
            text = yaml.safe_dump(content, sort_keys=False)
            (self.path / f'{node}.yaml').write_text(text, encoding='utf-8')

    def launch_arguments(self) -> dict[str, str]:
        """Return the arguments of bringup.launch.py."""
        return {
            'description_file': '' if self.as_topic else self.description_file,
            'extension_file': self.extension_file,
            'lockstep': 'true',
            **{f'{node}_params': str(self.path / f'{node}.yaml') for node in self._parameters()},
        }

    def _parameters(self) -> dict[str, dict[str, Any]]:
        robot = self.demo_robot
        feed_forward = self.control != 'pd'
        return {
            'forward_dynamics': {
                'step': 1.0 / self.rate,
                'publish_rate': self.rate,
                'real_time_factor': 0.0,
                'tips': [robot.tip],
                'initial_positions': list(robot.waypoints[0][1]),
                'initial_deflection': 'static',
                'pd': {'kp': list(robot.kp), 'kd': list(robot.kd), 'lockstep': True},
            },
            'inverse_dynamics': {
                'torque_model': 'flexible_hybrid' if self.control == 'flexible' else 'rigid',
                # With all terms off the node answers with zeros, so that all runs have the
                # same processes and differ in the torque alone.
                'compensate': dict.fromkeys(TERMS, feed_forward),
                'compute_on': 'reference',
                'modes': {'step': 0.25 / self.rate, 'spectral_radius': 0.9},
                'timeout': LONGEST_WAIT,
                'reference_timeout': 0.0,
            },
            'deflection_markers': {
                'deflection': 'modal_states',
                'exaggeration': robot.exaggeration,
                'colour_range': robot.colour_range,
                'points': 13,
                'rate': MARKER_RATE,
                'timeout': LONGEST_WAIT,
            },
        }
