# SPDX-License-Identifier: Apache-2.0
"""
The backend behind "auto": the reference at first, generated code for what is used often.

Generating a function takes as long as hundreds of its calls, so a few calls are left to the
reference backend. Calls are counted apart for each set of payloads and for changed gravity, so
that clearing a payload leads back to what computed before. Both agree to round-off.
"""

from __future__ import annotations

from typing import Any
from typing import Callable
from typing import Mapping
from typing import Optional
from typing import Union

from flexdyn_ros.codegen.python_backend import PythonBackend
from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.model.link import Inertia
from flexdyn_ros.model.robot import Robot

# Calls of one function that the reference backend answers.
PATIENCE = 20


def _patient(name: str) -> Callable[..., Any]:
    """Return a method that leaves the work to the backend whose turn it is."""

    def call(self: PatientBackend, *arguments: Any) -> Any:
        return getattr(self.whose_turn(name), name)(*arguments)

    call.__name__ = name
    call.__doc__ = f'See ReferenceBackend.{name}.'
    return call


class PatientBackend:
    """Evaluates one robot under one gravity and one set of payloads."""

    name = 'python'

    def __init__(
        self,
        robot: Robot,
        gravity: list[float],
        payloads: Mapping[str, Inertia],
        generated: Optional[PythonBackend] = None,
        calls: Optional[dict[tuple[str, str], int]] = None,
    ):
        """
        Prepare; nothing is computed yet.

        Args:
            robot: The robot.
            gravity: Acceleration of gravity in the root frame, (3,) [m/s^2].
            payloads: Inertia in link axes by link name.
            generated: The generated backend where there is one.
            calls: How often each function has been called under each kind of loads.
        """
        self._robot, self._gravity, self._payloads = robot, list(gravity), dict(payloads)
        self._generated = generated or PythonBackend(robot, gravity, payloads)
        self._reference: Optional[ReferenceBackend] = None
        self._calls = {} if calls is None else calls
        self._loads = repr(self._generated.loads)

    def under(self, gravity: list[float], payloads: Mapping[str, Inertia]) -> PatientBackend:
        """Return a backend of the same robot under other gravity and payloads."""
        generated = self._generated.under(gravity, payloads)
        return PatientBackend(self._robot, gravity, payloads, generated, self._calls)

    def whose_turn(self, name: str) -> Union[PythonBackend, ReferenceBackend]:
        """Return the backend that answers the next call of a function."""
        key = (self._loads, name)
        calls = self._calls.get(key, 0)
        if calls >= PATIENCE:
            return self._generated
        self._calls[key] = calls + 1
        if self._reference is None:
            self._reference = ReferenceBackend(self._robot, self._gravity, self._payloads)
        return self._reference

    inverse_dynamics = _patient('inverse_dynamics')
    forward_dynamics = _patient('forward_dynamics')
    hybrid_dynamics = _patient('hybrid_dynamics')
    inverse_dynamics_derivatives = _patient('inverse_dynamics_derivatives')
    forward_dynamics_derivatives = _patient('forward_dynamics_derivatives')
    inverse_dynamics_parameter_derivatives = _patient('inverse_dynamics_parameter_derivatives')
    forward_dynamics_parameter_derivatives = _patient('forward_dynamics_parameter_derivatives')
    mass_matrix = _patient('mass_matrix')
    bias_vector = _patient('bias_vector')
    gravity_vector = _patient('gravity_vector')
    coriolis_vector = _patient('coriolis_vector')
    friction_vector = _patient('friction_vector')
    elastic_vector = _patient('elastic_vector')
    inertia_vector = _patient('inertia_vector')
    external_force_vector = _patient('external_force_vector')
    frame_pose = _patient('frame_pose')
    jacobian = _patient('jacobian')
    jacobian_rate_qd = _patient('jacobian_rate_qd')
    kinetic_energy = _patient('kinetic_energy')
    potential_energy = _patient('potential_energy')
    loop_poses = _patient('loop_poses')
    loop_jacobian = _patient('loop_jacobian')
    loop_free_jacobian = _patient('loop_free_jacobian')
    loop_bias = _patient('loop_bias')
    loop_equations = _patient('loop_equations')
