# SPDX-License-Identifier: Apache-2.0
"""The methods of `Dynamics` that give derivatives."""

from __future__ import annotations

from typing import Any
from typing import Callable
from typing import Iterable
from typing import Optional
from typing import Sequence

from flexdyn_ros.codegen.tracing.chosen_parameters import choose_parameters
from flexdyn_ros.codegen.tracing.chosen_parameters import ChosenParameters
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.interface.arguments import deliver
from flexdyn_ros.interface.arguments import targets
from flexdyn_ros.interface.checked_arguments import CheckedArguments
from flexdyn_ros.interface.checked_arguments import Wrenches
from flexdyn_ros.model.records.robot import Robot
import numpy as np

Out = Optional[np.ndarray]
Outs = Optional[tuple[np.ndarray, np.ndarray, np.ndarray]]


class DerivativeMethods(CheckedArguments):
    """Exact derivatives of inverse and forward dynamics; wrenches as in `Dynamics`."""

    _backend: Any
    _refuse_loops: Callable[[str], None]

    def __init__(self, robot: Robot):
        """Take a robot."""
        super().__init__(robot)
        self._chosen: dict[tuple[str, ...], ChosenParameters] = {}

    def inverse_dynamics_derivatives(
        self, q: Any, qd: Any, qdd: Any, wrenches: Wrenches = None, out: Outs = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return d tau / dq, d tau / d qd and d tau / d qdd, the mass matrix, (nv, nv) each.

        Column k of the first is for a displacement of velocity coordinate k: of q itself, but
        of a quaternion a rotation vector, and of a floating joint's position a translation, both
        in body axes.

        Raises:
            NotYetSupported: If the robot has loops.
        """
        self._refuse_loops('inverse_dynamics_derivatives')
        found = self._backend.inverse_dynamics_derivatives(
            self._position(q), self._velocity(qd), self._vector('qdd', qdd),
            self._checked(wrenches),
        )
        return self._matrices(found, out)

    def forward_dynamics_derivatives(
        self, q: Any, qd: Any, tau: Any, wrenches: Wrenches = None, out: Outs = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return d qdd / dq, d qdd / d qd and d qdd / d tau, (nv, nv) each.

        Positions are displaced as by `inverse_dynamics_derivatives`.

        Raises:
            NotYetSupported: If the robot has loops.
            SingularMassMatrix: If a coordinate moves no inertia, naming it and its links.
        """
        self._refuse_loops('forward_dynamics_derivatives')
        found = self._backend.forward_dynamics_derivatives(
            self._position(q), self._velocity(qd), self._vector('tau', tau),
            self._checked(wrenches),
        )
        return self._matrices(found, out)

    def inverse_dynamics_parameter_derivatives(
        self, q: Any, qd: Any, qdd: Any, parameters: Sequence[str],
        wrenches: Wrenches = None, out: Out = None,
    ) -> np.ndarray:
        """
        Return the derivatives of joint torques and modal forces by parameters, (nv, n).

        Args:
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
            qdd: Acceleration, (nv,).
            parameters: Names as of the arguments of generated code: "<link>/mass", "<link>/com"
                (3 columns), "<link>/inertia" (6 columns: xx yy zz xy xz yz), "<joint>/viscous",
                "<joint>/coulomb", "<joint>/rotor_inertia", "<joint>/stiffness",
                "<joint>/damping", "<mode>/stiffness", "<mode>/damping".
            wrenches: See the class.
            out: Where to write the result.

        Raises:
            ArgumentError: If a parameter is unknown or comes twice, or there is none.
            NotYetSupported: If the robot has loops.
        """
        self._refuse_loops('inverse_dynamics_parameter_derivatives')
        chosen = self._parameters(parameters)
        found = self._backend.inverse_dynamics_parameter_derivatives(
            self._position(q), self._velocity(qd), self._vector('qdd', qdd), chosen,
            self._checked(wrenches),
        )
        return deliver(np.reshape(found, (self._nv, len(chosen.values))), out)

    def forward_dynamics_parameter_derivatives(
        self, q: Any, qd: Any, tau: Any, parameters: Sequence[str],
        wrenches: Wrenches = None, out: Out = None,
    ) -> np.ndarray:
        """
        Return the derivatives of accelerations by parameters of the model, (nv, n).

        The parameters are those of `inverse_dynamics_parameter_derivatives`.

        Raises:
            ArgumentError: If a parameter is unknown or comes twice, or there is none.
            NotYetSupported: If the robot has loops.
            SingularMassMatrix: If a coordinate moves no inertia, naming it and its links.
        """
        self._refuse_loops('forward_dynamics_parameter_derivatives')
        chosen = self._parameters(parameters)
        found = self._backend.forward_dynamics_parameter_derivatives(
            self._position(q), self._velocity(qd), self._vector('tau', tau), chosen,
            self._checked(wrenches),
        )
        return deliver(np.reshape(found, (self._nv, len(chosen.values))), out)

    def _parameters(self, names: Sequence[str]) -> ChosenParameters:
        if not isinstance(names, Iterable):
            raise ArgumentError('parameters', 'must be a sequence of names such as "<link>/mass"')
        key = (names,) if isinstance(names, str) else tuple(str(name) for name in names)
        found = self._chosen.get(key)
        if found is None:
            found = self._chosen[key] = choose_parameters(self.robot, key)
        return found

    def _matrices(self, found: Any, out: Outs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        shape = (self._nv, self._nv)
        first, second, third = (
            deliver(np.reshape(rows, shape), place)
            for rows, place in zip(found, targets(out, 'three arrays', 3))
        )
        return first, second, third
