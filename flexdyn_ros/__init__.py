# SPDX-License-Identifier: Apache-2.0
"""Dynamics of robot arms whose links and joints bend: the public contract."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flexdyn_ros.codegen import generate
    from flexdyn_ros.errors import FlexdynError
    from flexdyn_ros.identification import Identification, identify, Motion
    from flexdyn_ros.linearisation import linearise
    from flexdyn_ros.model.load import load_robot
    from flexdyn_ros.model.records.reduced import reduced
    from flexdyn_ros.model.records.robot import Robot
    from flexdyn_ros.quasi_static import QuasiStatic, simulate_quasi_static
    from flexdyn_ros.robot_dynamics import Dynamics
    from flexdyn_ros.simulation import simulate, Trajectory

__version__ = '0.1.0'

__all__ = [
    '__version__',
    'Dynamics',
    'FlexdynError',
    'generate',
    'Identification',
    'identify',
    'linearise',
    'load_robot',
    'Motion',
    'QuasiStatic',
    'reduced',
    'Robot',
    'simulate',
    'simulate_quasi_static',
    'Trajectory',
]

# Each name is imported when it is first used (PEP 562), so that the command line starts quickly.
_MODULES = {
    'Dynamics': 'flexdyn_ros.robot_dynamics',
    'FlexdynError': 'flexdyn_ros.errors',
    'generate': 'flexdyn_ros.codegen',
    'Identification': 'flexdyn_ros.identification',
    'identify': 'flexdyn_ros.identification',
    'linearise': 'flexdyn_ros.linearisation',
    'load_robot': 'flexdyn_ros.model.load',
    'Motion': 'flexdyn_ros.identification',
    'QuasiStatic': 'flexdyn_ros.quasi_static',
    'reduced': 'flexdyn_ros.model.records.reduced',
    'Robot': 'flexdyn_ros.model.records.robot',
    'simulate': 'flexdyn_ros.simulation',
    'simulate_quasi_static': 'flexdyn_ros.quasi_static',
    'Trajectory': 'flexdyn_ros.simulation',
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
