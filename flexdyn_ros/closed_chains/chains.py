# SPDX-License-Identifier: Apache-2.0
"""The loops of one robot: its functions, by compiled code or by rank in Python."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from flexdyn_ros.closed_chains.derivatives import (
    forward_derivatives,
    forward_parameter_derivatives,
    inverse_derivatives,
    inverse_parameter_derivatives,
    LoopState,
)
from flexdyn_ros.closed_chains.loop_inputs import LoopInputs
from flexdyn_ros.closed_chains.motions import ClosedMotions
from flexdyn_ros.closed_chains.solve import spaces, tolerance_of
import numpy as np


class ClosedChains(ClosedMotions):
    """
    Everything about the loops of one robot; equations come from the backend of each call.

    Attributes:
        robot: The robot.
        space: Its configuration space.
        layout: Its coordinates by their part in the motion.
        tolerance: Constraint error that is refused, of the loop's length [- | rad].
    """

    def evaluate(
        self, backend: Any, name: str, vectors: Sequence[list], wrenches: Sequence = (),
        inputs: Optional[LoopInputs] = None, base: Optional[Sequence[float]] = None,
        parameters: Any = None,
    ) -> Any:
        """
        Return a function's result, by compiled code where that solves it and no input is given.

        Args:
            backend: Evaluates the equations.
            name: The function.
            vectors: Its vectors, checked.
            wrenches: Of the environment.
            inputs: Given accelerations and forces of the loops.
            base: Given acceleration of the base, (6,).
            parameters: Those of the derivatives.

        Raises:
            ArgumentError: If the configuration leaves a loop open.
        """
        inputs = inputs or self._nothing
        if 'derivatives' in name:
            return self._derivatives(backend, name, vectors, wrenches, parameters)
        if inputs is self._nothing and base is None:
            found = backend.closed(name, vectors, self.settings, wrenches)
            if found is not None:
                if self._seen_rank is None:
                    a = self._equations(backend, *vectors[:2])[2]
                    self._notice(spaces(a), np.zeros(self._n))
                return found
        q, qd, given = vectors
        if name == 'inverse_dynamics':
            mass, bias, a, _, errors = self._equations(backend, q, qd, wrenches)
            self.require_closed(errors)
            free_force, jacobian = self._free_forces(backend, q, inputs, a)
            return self._torques(mass @ given + bias - free_force, jacobian)
        if name == 'hybrid_dynamics':
            return self.hybrid(backend, q, qd, given, wrenches, inputs, self.tolerance)
        return self.motion(
            backend, q, qd, given, wrenches, inputs, base=base, tolerance=self.tolerance
        ).qdd

    def _derivatives(
        self, backend: Any, name: str, vectors: Sequence[list], wrenches: Sequence, parameters: Any
    ) -> Any:
        """Return derivatives; see `derivatives.py`."""
        q, qd, given = vectors
        mass, bias, a, gamma, errors = self._equations(backend, q, qd, wrenches)
        self.require_closed(errors)
        known = spaces(a, None, tolerance_of(errors))
        groups = self.layout.groups
        if name.startswith('inverse'):
            qdd = np.asarray(given)
            rest = mass @ qdd + bias
            self._torques(rest, a)  # refuses forces on passive joints
            state = LoopState(mass, rest, a, known, qdd, np.zeros(self._n))
            if parameters is None:
                return inverse_derivatives(state, backend, q, qd, wrenches, groups)
            return inverse_parameter_derivatives(
                state, backend, q, qd, parameters, wrenches, groups
            )
        qdd, f = self._solve(slice(None), mass, given - bias, a, a, known, -gamma)
        state = LoopState(mass, given - bias, a, known, qdd, f)
        if parameters is None:
            return forward_derivatives(state, backend, q, qd, wrenches)
        return forward_parameter_derivatives(state, backend, q, qd, parameters, wrenches)
