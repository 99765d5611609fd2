# SPDX-License-Identifier: Apache-2.0
"""
Compiled calls as attributes of one Dynamics, which go before its methods.

A plain call (vectors of floats of the right length, at most one wrench, `out`) is passed from
CPython to the extension. That calls compiled code. All other calls go to the method as it is
written in the class, which checks, computes and raises errors. The class is never changed.
"""

from __future__ import annotations

import copyreg
from inspect import signature
from typing import Any, Callable, Optional
from weakref import ref

from flexdyn_ros.codegen.compile.extension import extension
from flexdyn_ros.dynamics.functions import VECTORS

# Parameters by their meaning to the extension: a vector (v), wrenches (w), the choice of the
# function (c), the place of the result (o). Any other parameter (a) is absent from a plain call.
KINDS = {**dict.fromkeys(VECTORS, 'v'), 'wrenches': 'w', 'method': 'c', 'frame': 'c', 'out': 'o'}


class Fallback:
    """
    A method as it is written, bound to its object weakly: a cycle would keep robots in memory.

    Where a caller keeps the compiled call alone, it uses an equal object.

    Attributes:
        state: The state that an equal object is made from.
    """

    def __init__(self, written: Callable, owner: Any):
        """Bind a method of a class to an object."""
        self._written, self._owner = written, ref(owner)
        self._kind: Any = type(owner)
        self.state = owner.__getstate__()
        self._successor: Any = None

    @property
    def owner(self) -> Any:
        """The object."""
        found = self._owner()
        if found is None and self._successor is None:
            self._successor = self._kind.__new__(self._kind)
            self._successor.__setstate__(self.state)
        return self._successor if found is None else found

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the method."""
        return self._written(self.owner, *arguments, **named)


def call_directly(
    owner: Any, written: Callable, kernel: Any, choice: Optional[str], frame: Optional[str]
) -> None:
    """
    Let a compiled function serve plain calls of a method of one object.

    Args:
        owner: The object.
        written: The method in its class; where a subclass has another one, nothing changes.
        kernel: The compiled function; other functions than the extension's change nothing.
        choice: Frame or method of the calls that it serves, or None.
        frame: Frame of the wrench that it takes after its vectors, or None.
    """
    module = extension() if kernel is not None else None
    if module is None or not isinstance(kernel, module.Kernel):
        return
    name = written.__name__
    found = owner.__dict__.get(name)
    if found is None and getattr(type(owner), name) is written:
        found = owner.__dict__[name] = _method(module, written, owner)
    if isinstance(found, module.Method):
        found.add(kernel, choice, frame)


def forget_direct_calls(owner: Any) -> None:
    """Leave all calls of an object to its methods, as after a change of its loads."""
    state = owner.__getstate__()
    for value in owner.__dict__.values():
        if is_direct(value):
            value.forget()
            value.fallback.state = state


def is_direct(value: Any) -> bool:
    """Return whether an attribute is a compiled call."""
    module = extension()
    return module is not None and isinstance(value, module.Method)


def _method(module: Any, written: Callable, owner: Any) -> Any:
    """Return a call that leaves everything to the method as it is written."""
    whole = signature(written)
    _, *parameters = whole.parameters.values()
    names = tuple(each.name for each in parameters)
    kinds = ''.join(KINDS.get(each, 'a') for each in names)
    made = module.Method(Fallback(written, owner), names, kinds)
    for attribute in ('__name__', '__qualname__', '__doc__', '__module__'):
        setattr(made, attribute, getattr(written, attribute))
    made.__signature__ = whole.replace(parameters=parameters)
    copyreg.pickle(module.Method, _reduced)
    return made


def _reduced(method: Any) -> tuple:
    """Return function and arguments that unpickle a compiled call: the attribute of its object."""
    return getattr, (method.fallback.owner, method.__name__)
