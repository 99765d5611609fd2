# SPDX-License-Identifier: Apache-2.0
"""
Methods of Dynamics handed straight to compiled functions.

A call that is plain (vectors of floats of the right length, nothing else asked for) goes from
Python's interpreter into the extension and from there into generated code; without the extension,
arrays go by functions of machine code. All others still go
through the method as it is written, which checks, computes and complains. Compiled functions are
looked up in the object at every call, so that a method that somebody keeps, as in
`f = dyn.inverse_dynamics`, follows later changes of loads.
"""

from __future__ import annotations

from inspect import signature
from typing import Any
from typing import Callable
from typing import Optional

from flexdyn_ros.codegen.native import array_methods
from flexdyn_ros.codegen.native.ctypes_calls import Kernel
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
# From a method as it is written, its class, the slot, its place, and names and kinds of its
# parameters, to a method that looks for a compiled function first.
MakeMethod = Callable[[Callable, type, Any, int, tuple[str, ...], str], Any]
# Of a method's two entries in `DirectCalls.kernels`.
_PLACES = {name: 2 * k for k, name in enumerate((*METHODS, *OPEN_METHODS))}


class DirectCalls:
    """
    The compiled functions of one object under one set of loads.

    Attributes:
        kernels: What methods read: two entries each, the function of a call that makes no choice
            and the functions by choice, None where there are none.
    """

    def __init__(self) -> None:
        self.kernels: list = [None] * (2 * len(_PLACES))

    def add(self, request: Request, kernel: Any) -> Optional[MakeMethod]:
        """
        Let a compiled function answer for its method.

        Args:
            request: The function.
            kernel: The compiled function.

        Returns:
            What makes methods that call such functions, or None where it cannot answer.
        """
        name, _, solver = request.name.partition('/')
        if name not in _PLACES:
            return None
        function, make = _function_and_maker(kernel)
        if function is None:
            return None
        place, choice = _PLACES[name], request.frame or solver
        if not choice:
            self.kernels[place] = function
        known = self.kernels[place + 1] or {}
        self.kernels[place + 1] = {**known, choice or STANDARD: function}
        return make

    def __contains__(self, name: str) -> bool:
        """Return whether some calls of a method need no Python."""
        place = _PLACES[name]
        return any(each is not None for each in self.kernels[place : place + 2])


def _function_and_maker(kernel: Any) -> tuple[Any, Optional[MakeMethod]]:
    """Return what methods call for a kernel, and what makes such methods, or None for both."""
    if isinstance(kernel, Kernel):
        return kernel.on_arrays, array_methods.method
    module = extension()
    if module is not None and isinstance(kernel, module.Kernel):
        return kernel, module.Method
    return None, None


class HandOver:
    """Lets compiled functions answer calls of a class's methods, once there are any."""

    def __init__(self, owner: type, slot: Any):
        """
        Remember the methods as they are written.

        Args:
            owner: The class.
            slot: The slot in which its objects keep their `DirectCalls.kernels`.
        """
        self._owner, self._slot = owner, slot
        self._makers: list[MakeMethod] = []
        self._written = {name: getattr(owner, name) for name in _PLACES}
        self._present = dict(self._written)

    def __call__(self, make: MakeMethod) -> None:
        """
        Hand the methods over that nobody has replaced.

        Args:
            make: What makes methods; those of the extension are asked before those in Python.
        """
        if make in self._makers:
            return
        self._makers.insert(0 if make is array_methods.method else len(self._makers), make)
        for name, present in self._present.items():
            if getattr(self._owner, name) is present:
                self._present[name] = self._made(name)
                setattr(self._owner, name, self._present[name])

    def _made(self, name: str) -> Any:
        """Return a method that looks for compiled functions first."""
        written = found = self._written[name]
        names = tuple(signature(written).parameters)[1:]
        kinds = ''.join(KINDS.get(each, 'a') for each in names)
        for make in self._makers:
            found = make(found, self._owner, self._slot, _PLACES[name], names, kinds)
        for attribute in ('__name__', '__qualname__', '__doc__', '__module__'):
            setattr(found, attribute, getattr(written, attribute))
        return found
