# SPDX-License-Identifier: Apache-2.0
"""The runs of the demonstration: its robots, kinds of control, and the files of one run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
import importlib.util
import json
from pathlib import Path
import threading
from typing import Any, Callable, Optional, Sequence

from flexdyn_ros.shared_files import shared_folder
from flexdyn_ros.simulation.joint_motions import quintic
import numpy as np
import yaml

_EXPANDING = threading.Lock()  # xacro keeps the arguments of one file at a time
# The simulator takes more steps a cycle where the fastest mode needs them.
RATE = 200.0  # of states and torques in simulated time [Hz]
MARKER_RATE = 2.0  # of markers in real time [Hz]
COMPARISON = 0.5  # part of the duration that runs of controls other than the best have [1]
LONGEST_WAIT = 30.0  # age of a stale message, long since a slow machine is no fault [s]

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

NODES = {
    'forward_dynamics_node': {'~/joint_efforts': TORQUES},
    'inverse_dynamics_node': {},
    'deflection_markers_node': {'modal_states': MODES},
}
"""The nodes of this package and their remappings, connected as bringup.launch.py does it."""

Motion = Callable[[float], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Positions, velocities and accelerations, each (joints,), at a time [s]."""

VENDOR_PACKAGE = 'airo-models'
VENDOR_MODULE = 'airo_models'
VENDOR_FILE = 'arms/ur5e/ur5e.urdf'


@dataclass(frozen=True)
class DemoRobot:
    """
    One robot of the demonstration.

    Attributes:
        key: Its name on the command line and in folders.
        title: Its name in pictures.
        joints: Its driven joints, depth first.
        waypoints: Times and positions of rest of its motion [s], [rad].
        kp: Proportional gains of its own controller [N m/rad].
        kd: Derivative gains [N m s/rad].
        tip: The link whose deviation is recorded.
        exaggeration: Factor on the drawn deflection [1].
        colour_range: Deflection that is drawn red [m].
        flat: Whether all of it moves in the x-y plane.
    """

    key: str
    title: str
    joints: tuple[str, ...]
    waypoints: tuple[tuple[float, tuple[float, ...]], ...]
    kp: tuple[float, ...]
    kd: tuple[float, ...]
    tip: str
    exaggeration: float
    colour_range: float
    flat: bool

    def description(self) -> tuple[Path, Optional[Path]]:
        """
        Return its URDF or xacro file, and a file with <flexdyn> data where it has none.

        Raises:
            FileNotFoundError: The vendor's package is not installed.
        """
        shared = shared_folder() / 'urdf'
        if self.key != 'vendor':
            return shared / f'{self.key}.urdf.xacro', None
        file = vendor_file()
        if file is None:
            raise FileNotFoundError(f'{VENDOR_FILE} of {VENDOR_PACKAGE}')
        return file, shared / 'ur5e_extension.flexdyn.xml'


def rest_to_rest(waypoints: Sequence[tuple[float, Sequence[float]]]) -> Motion:
    """
    Return a motion from rest to rest through points, by quintic polynomials.

    Velocity and acceleration are zero at each point (Spong, Hutchinson and Vidyasagar, "Robot
    Modeling and Control", on trajectory planning). Before the first and after the last the arm
    rests.

    Args:
        waypoints: Pairs of time [s] and joint positions [rad | m], in the order of time.
    """
    times, points = zip(*waypoints)
    return quintic(times, points).with_curvature


def vendor_file() -> Optional[Path]:
    """Return the vendor's URDF, None where its package is not installed."""
    found = importlib.util.find_spec(VENDOR_MODULE)
    if found is None or not found.submodule_search_locations:
        return None
    path = Path(found.submodule_search_locations[0]) / VENDOR_FILE
    return path if path.is_file() else None


CANADARM = DemoRobot(
    key='canadarm',
    title='Canadarm, three flexible links, no gravity',
    joints=('shoulder', 'elbow', 'wrist'),
    waypoints=((0.0, (0.0, 2.2, 0.8)), (8.0, (0.5, 1.4, 0.3))),
    kp=(2000.0, 1000.0, 100.0),
    kd=(3000.0, 1500.0, 150.0),
    tip='tool',
    exaggeration=10.0,
    colour_range=0.09,
    flat=True,
)

VENDOR = DemoRobot(
    key='vendor',
    title='UR5e with a payload of 5 kg, flexible upper arm and elastic joints',
    joints=(
        'shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint',
        'wrist_1_joint', 'wrist_2_joint', 'wrist_3_joint',
    ),
    waypoints=(
        (0.0, (0.0, -1.9, 1.9, -1.57, -1.57, 0.0)),
        (4.0, (1.2, -0.9, 1.2, -1.9, -1.2, 0.8)),
        (5.0, (1.2, -0.9, 1.2, -1.9, -1.2, 0.8)),
        (9.0, (0.0, -1.9, 1.9, -1.57, -1.57, 0.0)),
    ),
    kp=(600.0, 600.0, 400.0, 100.0, 100.0, 50.0),
    kd=(60.0, 60.0, 40.0, 10.0, 10.0, 5.0),
    tip='tool0',
    exaggeration=20.0,
    colour_range=0.0015,
    flat=False,
)

ROBOTS = {robot.key: robot for robot in (CANADARM, VENDOR)}


@dataclass(frozen=True)
class DemoRun:
    """
    One run.

    Attributes:
        robot: Key of the robot.
        control: Key of the kind of control.
        duration: Simulated time [s].
        compared: Time from the start over which controls are compared [s].
        folder: Folder of its files.
        description_file: URDF or xacro file.
        extension_file: File with <flexdyn> data; '' where there is none.
        rate: Rate of states in simulated time [Hz].
    """

    robot: str
    control: str
    duration: float
    compared: float
    folder: str
    description_file: str
    extension_file: str
    rate: float = RATE

    @classmethod
    def make(
        cls, robot: DemoRobot, control: str, duration: float, compared: float, folder: Path
    ) -> DemoRun:
        """Return a run whose times are whole numbers of periods."""
        file, extension = robot.description()
        return cls(
            robot.key, control, round(duration * RATE) / RATE, round(compared * RATE) / RATE,
            str(folder), str(file), str(extension or ''),
        )

    @classmethod
    def load(cls, file: str) -> DemoRun:
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
    def demo_robot(self) -> DemoRobot:
        """The robot."""
        return ROBOTS[self.robot]

    @property
    def as_topic(self) -> bool:
        """Whether nodes get the description from the topic robot_description, as on an arm."""
        return bool(self.extension_file)

    @property
    def expected_states(self) -> int:
        """Number of states from the first to the last, both included."""
        return round(self.duration * self.rate) + 1

    def write(self) -> None:
        """Write the file of this run and the parameters of its nodes."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(asdict(self), indent=1) + '\n', encoding='utf-8')
        common = {'extension_file': self.extension_file, 'robot_description': self._text()}
        for node, parameters in self._parameters().items():
            content = {'/**': {'ros__parameters': {**common, **parameters}}}
            text = yaml.safe_dump(content, sort_keys=False)
            (self.path / f'{node}.yaml').write_text(text, encoding='utf-8')

    def _text(self) -> str:
        """Return the description for the parameter robot_description; '' where a topic has it."""
        if self.as_topic:
            return ''
        import xacro

        with _EXPANDING:
            return str(xacro.process_file(self.description_file).toxml())

    def _parameters(self) -> dict[str, dict[str, Any]]:
        robot = self.demo_robot
        # With all terms off the node publishes zeros: all runs have the same processes and
        # differ in the torque alone.
        terms = dict.fromkeys(
            ('gravity', 'coriolis', 'inertia', 'friction'), self.control != 'pd')
        return {
            'forward_dynamics_node': {
                'publish_clock': True,
                'lockstep': True,
                'step': 1.0 / self.rate,
                'publish_rate': self.rate,
                'real_time_factor': 0.0,
                'tips': [robot.tip],
                'initial_positions': list(robot.waypoints[0][1]),
                'initial_deflection': 'static',
                'pd': {'kp': list(robot.kp), 'kd': list(robot.kd), 'lockstep': True},
            },
            'inverse_dynamics_node': {
                'use_sim_time': True,
                'torque_model': 'flexible_hybrid' if self.control == 'flexible' else 'rigid',
                'compensate': terms,
                'compute_on': 'reference',
                'modes': {'step': 0.25 / self.rate, 'spectral_radius': 0.9},
                'timeout': LONGEST_WAIT,
                'reference_timeout': 0.0,
            },
            'deflection_markers_node': {
                'use_sim_time': True,
                'visuals': False,
                'deflection': 'modal_states',
                'exaggeration': robot.exaggeration,
                'colour_range': robot.colour_range,
                'points': 13,
                'rate': MARKER_RATE,
                'timeout': LONGEST_WAIT,
            },
        }
