# SPDX-License-Identifier: Apache-2.0
"""Gravity and payload as parameters that change while a node runs."""

from __future__ import annotations

from typing import Any
from typing import Mapping
from typing import Optional
from typing import Protocol

from flexdyn_ros.model.robot import Robot
import numpy as np

PARAMETERS = ('gravity', 'payload.link', 'payload.mass', 'payload.com', 'payload.inertia')


def payload_problem(values: Mapping[str, Any], robot: Optional[Robot]) -> Optional[str]:
    """
    Return what is wrong with the payload parameters, or None.

    Args:
        values: Parameter values.
        robot: The robot, or None while it is not known.
    """
    link = values['payload.link']
    if link and robot is not None and link not in robot.frame_names:
        return f'payload.link "{link}" is no link of {robot.name}'
    moments = np.linalg.eigvalsh(inertia_matrix(values['payload.inertia']))
    if moments[0] < 0.0 or moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9) + 1e-300:
        return 'payload.inertia is not the inertia of a body'
    return None


def inertia_matrix(moments) -> np.ndarray:
    """Return the matrix of ixx, ixy, ixz, iyy, iyz, izz, or zeros where there are none."""
    xx, xy, xz, yy, yz, zz = moments or (0.0,) * 6
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


class Values(Protocol):
    """Parameter values by name, a dictionary or the parameters of a node."""

    def __getitem__(self, name: str) -> Any:
        """Return the value of a parameter."""


class RunTimeModel:
    """Sets gravity and payload of a dynamics object from parameters."""

    def __init__(self, dyn):
        self._dyn = dyn
        self._carrier = ''

    def apply(self, values: Values) -> str:
        """
        Set what the parameters say.

        Args:
            values: Parameter values.

        Returns:
            A sentence that says what is set.
        """
        gravity = values['gravity'] or self._dyn.robot.gravity
        self._dyn.set_gravity(np.array(gravity, dtype=float))
        link = values['payload.link']
        if self._carrier and self._carrier != link:
            self._dyn.clear_payload(self._carrier)
        if link:
            com = np.array(values['payload.com'] or (0.0, 0.0, 0.0), dtype=float)
            inertia = inertia_matrix(values['payload.inertia'])
            self._dyn.set_payload(link, values['payload.mass'], com, inertia)
        self._carrier = link
        carried = f'{values["payload.mass"]:g} kg on {link}' if link else "the description's"
        return f'Gravity {list(map(float, gravity))} m/s^2; payload: {carried}.'
