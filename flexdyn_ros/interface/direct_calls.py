# SPDX-License-Identifier: Apache-2.0
"""
Methods of Dynamics handed straight to compiled functions.

A call that is plain (vectors of floats of the right length, nothing else asked for) goes from
Python's interpreter into the extension and from there into generated code. All others still go
through the method as it is written, which checks, computes and complains. Compiled functions are
looked up in the object at every call, so that a method that somebody keeps, as in
`f = dyn.inverse_dynamics`, follows later changes of loads.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from flexdyn_ros.codegen.native.extension import extension
from flexdyn_ros.codegen.tracing.functions import Request

# What parameters are to the extension, by name: a vector (v), what chooses the function (c), where
# the result goes (o); anything else (a) is absent from a plain call.
KINDS = {
    **dict.fromkeys(('q', 'qd', 'qdd', 'joint_qdd', 'tau'), 'v'),
    **dict.fromkeys(('method', 'frame'), 'c'), 'out': 'o',
}
# Methods that do nothing but check, ask the backend and deliver, with loops and without.
METHODS = (
    'mass_matrix', 'bias_vector', 'gravity_vector', 'coriolis_vector', 'friction_vector',
    'elastic_vector', 'inertia_vector', 'frame_pose', 'jacobian', 'jacobian_rate_qd',
    'kinetic_energy', 'potential_energy',
)
# The same without loops only.
OPEN_METHODS = (
    'inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics', 'inverse_dynamics_derivatives',
    'forward_dynamics_derivatives',
)
# The choice that stands for making none.
STANDARD = 'auto'
# Of a method's two entries in `DirectCalls.kernels`.
_PLACES = {name: 2 * k for k, name in enumerate((*METHODS, *OPEN_METHODS))}


class DirectCalls:
    """
    The compiled functions of one object under one set of loads.

    Attributes:
        kernels: What the extension reads: two entries a method, the function of a call that
            makes no choice and the functions by choice, None where there are none.
    """

    def __init__(self) -> None:
        self.kernels: list = [None] * (2 * len(_PLACES))

    def add(self, request: Request, kernel: Any) -> bool:
        """
        Let a compiled function answer for its method; return whether it can.

        Args:
            request: The function.
            kernel: The compiled function.
        """
        module = extension()
        name, _, solver = request.name.partition('/')
        if module is None or not isinstance(kernel, module.Kernel) or name not in _PLACES:
            return False
        place, choice = _PLACES[name], request.frame or solver
        if not choice:
            self.kernels[place] = kernel
        known = self.kernels[place + 1] or {}
        self.kernels[place + 1] = {**known, choice or STANDARD: kernel}
        return True

    def __contains__(self, name: str) -> bool:
        """Return whether some calls of a method need no Python."""
        place = _PLACES[name]
        return any(each is not None for each in self.kernels[place : place + 2])


class HandOver:
    """Lets the extension answer calls of a class's methods, once there is a compiled function."""

    def __init__(self, owner: type, slot: Any):
        """
        Remember the methods as they are written.

        Args:
            owner: The class.
            slot: The slot in which its objects keep their `DirectCalls.kernels`.
        """
        self._owner, self._slot, self._done = owner, slot, False
        self._written = {name: getattr(owner, name) for name in _PLACES}

    def __call__(self) -> None:
        """Hand the methods over that nobody has replaced."""
        module = extension()
        if self._done or module is None:
            return
        self._done = True
        for name, written in self._written.items():
            if getattr(self._owner, name) is not written:
                continue
            names = tuple(signature(written).parameters)[1:]
            kinds = ''.join(KINDS.get(each, 'a') for each in names)
            method = module.Method(
                written, self._owner, self._slot, _PLACES[name], names, kinds
            )
            for attribute in ('__name__', '__qualname__', '__doc__', '__module__'):
                setattr(method, attribute, getattr(written, attribute))
            setattr(self._owner, name, method)
