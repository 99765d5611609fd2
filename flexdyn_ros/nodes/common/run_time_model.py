# SPDX-License-Identifier: Apache-2.0
"""The payload that a node's parameters describe."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Protocol, Sequence, TYPE_CHECKING

from flexdyn_ros.codegen.tracing.functions import tip_link
from flexdyn_ros.model.records.inertia import inertia_problem
from flexdyn_ros.model.records.robot import Robot
import numpy as np

if TYPE_CHECKING:
    from flexdyn_ros.nodes.common.gravity import GravityFrame, ImuGravity

PAYLOAD = ('payload.link', 'payload.mass', 'payload.com', 'payload.inertia')


class Values(Protocol):
    """Parameter values by name, a dictionary or the parameters of a node."""

    def __getitem__(self, name: str) -> Any:
        """Return the value of a parameter."""


def payload_problem(values: Values, robot: Optional[Robot]) -> Optional[str]:
    """
    Return the fault of the payload parameters, or None.

    Args:
        values: Parameter values.
        robot: The robot, or None while it is not known.
    """
    link = values['payload.link']
    if link and robot is not None and link not in robot.frame_names:
        return f'payload.link "{link}" is not a link of {robot.name}'
    problem = inertia_problem(values['payload.mass'], inertia_matrix(values['payload.inertia']))
    return None if problem is None else f'payload.inertia is impossible: {problem}'


def inertia_matrix(moments) -> np.ndarray:
    """Return the matrix of ixx, ixy, ixz, iyy, iyz, izz, or zeros where there are none."""
    xx, xy, xz, yy, yz, zz = moments or (0.0,) * 6
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def set_payload(dyn: Any, values: Mapping[str, Any] | Values) -> None:
    """
    Put the payload of the parameters on its link, where they name one.

    Args:
        dyn: The dynamics.
        values: Parameter values.
    """
    link = values['payload.link']
    if link:
        com = np.array(values['payload.com'] or (0.0, 0.0, 0.0), dtype=float)
        inertia = inertia_matrix(values['payload.inertia'])
        dyn.set_payload(link, values['payload.mass'], com, inertia)


def payload_carriers(robot: Robot, values: Mapping[str, Any] | Values) -> tuple[str, ...]:
    """
    Return the links whose payload is an argument of the code in any case.

    It is that of the parameters, else the last link of the arm. A flexible link is none, as its
    code depends on the cross-section that carries the payload.
    """
    link = values['payload.link'] or tip_link(robot)
    return () if robot.link(link).mode_names else (link,)


def keep_loads_as_arguments(dyn: Any, carriers: Sequence[str]) -> None:
    """Make gravity and payloads arguments of the code, so that new values need no new code."""
    payloads = [f'payload:{link}' for link in carriers]
    dyn.compile('gravity_vector', arguments=['gravity', *payloads])


class RunTimeModel:
    """
    Sets gravity and payload of a dynamics object from parameters.

    Attributes:
        gravity_frame: Turns gravity to the root frame.
    """

    def __init__(self, dyn, gravity_frame: GravityFrame | ImuGravity, frame_prefix: str = ''):
        """
        Prepare.

        Args:
            dyn: The dynamics.
            gravity_frame: Turns gravity to the root frame.
            frame_prefix: Prefix of the root frame's name in TF.

        Raises:
            FlexdynError: Transforms are needed and cannot be received.
        """
        gravity_frame.check()
        self.gravity_frame = gravity_frame
        self._dyn = dyn
        self._root = frame_prefix + dyn.robot.root
        self._given = dyn.robot.gravity
        self._set = np.full(3, np.nan)
        self._carrier = ''

    def apply(self, values: Values) -> str:
        """
        Set payload and gravity of the parameters.

        Args:
            values: Parameter values.

        Returns:
            A sentence on the values that are set.
        """
        self._given = np.array(values['gravity'] or self._dyn.robot.gravity, dtype=float)
        link = values['payload.link']
        if self._carrier and self._carrier != link:
            self._dyn.clear_payload(self._carrier)
        set_payload(self._dyn, values)
        self._carrier = link
        carried = f'{values["payload.mass"]:g} kg on {link}' if link else "the description's"
        frame = self.gravity_frame.frame
        axes = f' in axes of {frame}' if frame else ''
        return f'Gravity {self._given.tolist()} m/s^2{axes}; payload: {carried}.'

    def set_gravity(self) -> None:
        """Set gravity of the parameters, as in a root frame that is not turned."""
        self._dyn.set_gravity(self._given)
        self._set = np.full(3, np.nan)

    def update_gravity(self) -> None:
        """
        Set gravity in the present axes of the root frame.

        Raises:
            FlexdynError: No transform of the root frame has arrived yet.
        """
        gravity = self.gravity_frame.in_root_frame(self._given, self._root)
        if gravity is not self._set and not np.array_equal(gravity, self._set):
            self._dyn.set_gravity(gravity)
            self._set = gravity
