# SPDX-License-Identifier: Apache-2.0
"""The dynamics of a robot that the environment pushes."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np


class DynamicsUnderWrenches:
    """
    Dynamics whose inverse dynamics counts measured wrenches; all else is the robot's own.

    With J of the frame they lower the forces that a motion needs by J^T w.
    """

    def __init__(self, dyn: Any, wrenches: Mapping[str, np.ndarray]):
        """
        Prepare.

        Args:
            dyn: The dynamics.
            wrenches: By link, six numbers in root axes at the link frame's origin [N, N m]; they
                are read at each call.
        """
        self._dyn = dyn
        self._wrenches = wrenches

    def __getattr__(self, name: str) -> Any:
        """Return what the dynamics have."""
        return getattr(self._dyn, name)

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """Return the generalised forces of a motion under the wrenches, (nv,)."""
        return self._dyn.inverse_dynamics(q, qd, qdd, self._wrenches)

    def external_forces(self, q: Any) -> np.ndarray:
        """Return the forces that the wrenches ask for, -J^T w, (nv,)."""
        return self._dyn.external_force_vector(q, self._wrenches)
