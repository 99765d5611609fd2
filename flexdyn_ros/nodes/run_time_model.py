# SPDX-License-Identifier: Apache-2.0
"""Gravity and payload as parameters that change while a node runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexdyn_ros.nodes.payload_parameters import set_payload, Values
import numpy as np

if TYPE_CHECKING:
    from flexdyn_ros.nodes.gravity_frame import GravityFrame
    from flexdyn_ros.nodes.imu_gravity import ImuGravity


class RunTimeModel:
    """
    Sets gravity and payload of a dynamics object from parameters.

    Attributes:
        gravity_frame: What turns gravity to the root frame.
    """

    def __init__(self, dyn, gravity_frame: GravityFrame | ImuGravity, frame_prefix: str = ''):
        """
        Prepare.

        Args:
            dyn: The dynamics.
            gravity_frame: What turns gravity to the root frame.
            frame_prefix: Prefix of the root frame's name in TF.

        Raises:
            FlexdynError: Transforms are needed and cannot be heard.
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
        Set the payload that the parameters say, and note their gravity.

        Args:
            values: Parameter values.

        Returns:
            A sentence that says what is set.
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

    def turn_gravity(self) -> None:
        """
        Set gravity as the root frame sees it now.

        Raises:
            FlexdynError: No transform has told yet how the root frame is turned.
        """
        gravity = self.gravity_frame.turned(self._given, self._root)
        if not np.array_equal(gravity, self._set):
            self._dyn.set_gravity(gravity)
            self._set = gravity
