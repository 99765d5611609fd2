# SPDX-License-Identifier: Apache-2.0
"""Derivatives by generated functions, the part of a backend that finds them."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from typing import Any
from typing import Optional
from typing import Sequence

from flexdyn_ros.codegen.tracing.chosen_parameters import ChosenParameters
from flexdyn_ros.dynamics.newton_euler import FrameWrench
from flexdyn_ros.dynamics.reference import ReferenceBackend

Floats = list[float]
Wrenches = Sequence[FrameWrench]


class GeneratedDerivatives(ABC):
    """Methods of a backend that evaluates generated functions and has a reference for doubt."""

    _nv: int

    @property
    @abstractmethod
    def _exact(self) -> ReferenceBackend:
        """The reference backend under the same loads."""

    @abstractmethod
    def _loaded(
        self,
        name: str,
        vectors: tuple,
        wrenches: Wrenches,
        chosen: Optional[ChosenParameters] = None,
    ) -> Any:
        """Return what a generated function gives under wrenches."""

    @abstractmethod
    def _solved(
        self,
        name: str,
        vectors: tuple,
        wrenches: Wrenches,
        chosen: Optional[ChosenParameters] = None,
    ) -> Optional[list]:
        """Return the results of a function that solves, or None where a pivot is in doubt."""

    def inverse_dynamics_derivatives(
        self, q: Floats, qd: Floats, qdd: Floats, wrenches: Wrenches = ()
    ) -> tuple:
        """Return the derivatives of the forces by q, qd and qdd, (nv, nv) each."""
        return self._loaded('inverse_dynamics_derivatives', (q, qd, qdd), wrenches)

    def forward_dynamics_derivatives(
        self, q: Floats, qd: Floats, tau: Floats, wrenches: Wrenches = ()
    ) -> tuple:
        """Return the derivatives of the accelerations by q, qd and tau, (nv, nv) each."""
        if not self._nv:
            return [], [], []
        found = self._solved('forward_dynamics_derivatives', (q, qd, tau), wrenches)
        if found is None:
            return self._exact.forward_dynamics_derivatives(q, qd, tau, wrenches)
        return tuple(found)

    def inverse_dynamics_parameter_derivatives(
        self, q: Floats, qd: Floats, qdd: Floats, chosen: ChosenParameters,
        wrenches: Wrenches = (),
    ) -> list:
        """Return the derivatives of the forces by parameters of the model, (nv, n)."""
        name = 'inverse_dynamics_parameter_derivatives'
        return self._loaded(name, (q, qd, qdd), wrenches, chosen)

    def forward_dynamics_parameter_derivatives(
        self, q: Floats, qd: Floats, tau: Floats, chosen: ChosenParameters,
        wrenches: Wrenches = (),
    ) -> list:
        """Return the derivatives of the accelerations by parameters of the model, (nv, n)."""
        name = 'forward_dynamics_parameter_derivatives'
        if not self._nv:
            return []
        found = self._solved(name, (q, qd, tau), wrenches, chosen)
        if found is None:
            return self._exact.forward_dynamics_parameter_derivatives(q, qd, tau, chosen, wrenches)
        return found[0]
