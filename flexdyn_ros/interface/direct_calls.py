# SPDX-License-Identifier: Apache-2.0
"""
Methods of Dynamics handed straight to compiled functions.

A call that is plain (vectors of floats of the right length, nothing else asked for) goes from
Python's interpreter into the extension and from there into generated code. All others still go
through the method itself, which checks, computes and complains.
"""

from __future__ import annotations

from inspect import signature
from typing import Any
from typing import Callable
from typing import Optional

from flexdyn_ros.codegen.extension import extension
from flexdyn_ros.codegen.functions import Request

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
# The choice when a call makes none.
STANDARD = 'auto'


class DirectCalls:
    """The direct calls of one object's methods under one set of loads."""

    def __init__(self) -> None:
        self._choices: dict[str, dict[str, Any]] = {}

    def add(self, request: Request, kernel: Any, method: Callable) -> Optional[Any]:
        """
        Return the direct call that takes a compiled function, or None where there is none.

        Args:
            request: The function.
            kernel: The compiled function.
            method: The method of Dynamics that answers what is not plain.
        """
        module = extension()
        name, _, solver = request.name.partition('/')
        if module is None or not isinstance(kernel, module.Kernel):
            return None
        names = tuple(signature(method).parameters)
        kinds = ''.join(KINDS.get(each, 'a') for each in names)
        if 'c' not in kinds:
            return _made(module, name, names, kinds, kernel, method)
        known = self._choices.setdefault(name, {})
        known[request.frame or solver or STANDARD] = kernel
        return _made(module, name, names, kinds, known, method)


def _made(
    module: Any, name: str, names: tuple, kinds: str, kernel: Any, method: Callable
) -> Any:
    call = module.Direct(names, kinds, kernel, STANDARD, method)
    call.__name__ = name
    call.__qualname__ = f'Dynamics.{name}'
    call.__doc__ = method.__doc__
    return call
