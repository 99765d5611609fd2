# SPDX-License-Identifier: Apache-2.0
"""Dynamics of robot arms whose links and joints bend: the public contract."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flexdyn_ros.codegen import generate as generate
    from flexdyn_ros.errors import FlexdynError as FlexdynError
    from flexdyn_ros.identification import (
        Identification as Identification,
        identify as identify,
        identify_modes as identify_modes,
        Motion as Motion,
    )
    from flexdyn_ros.linearisation import linearise as linearise
    from flexdyn_ros.model.load import load_robot as load_robot
    from flexdyn_ros.model.records.reduced import reduced as reduced
    from flexdyn_ros.model.records.robot import Robot as Robot
    from flexdyn_ros.quasi_static import (
        QuasiStatic as QuasiStatic,
        simulate_quasi_static as simulate_quasi_static,
    )
    from flexdyn_ros.robot_dynamics import Dynamics as Dynamics
    from flexdyn_ros.simulation import simulate as simulate, Trajectory as Trajectory
    from flexdyn_ros.tip_tracking import (
        stable_inversion as stable_inversion,
        TipPath as TipPath,
        TipTrajectory as TipTrajectory,
    )

__version__ = '0.1.0'

# Each name is imported when it is first used (PEP 562), so that the command line starts quickly.
_MODULES = {
    'Dynamics': 'flexdyn_ros.robot_dynamics',
    'FlexdynError': 'flexdyn_ros.errors',
    'generate': 'flexdyn_ros.codegen',
    'Identification': 'flexdyn_ros.identification',
    'identify': 'flexdyn_ros.identification',
    'identify_modes': 'flexdyn_ros.identification',
    'linearise': 'flexdyn_ros.linearisation',
    'load_robot': 'flexdyn_ros.model.load',
    'Motion': 'flexdyn_ros.identification',
    'QuasiStatic': 'flexdyn_ros.quasi_static',
    'reduced': 'flexdyn_ros.model.records.reduced',
    'Robot': 'flexdyn_ros.model.records.robot',
    'simulate': 'flexdyn_ros.simulation',
    'simulate_quasi_static': 'flexdyn_ros.quasi_static',
    'stable_inversion': 'flexdyn_ros.tip_tracking',
    'TipPath': 'flexdyn_ros.tip_tracking',
    'TipTrajectory': 'flexdyn_ros.tip_tracking',
    'Trajectory': 'flexdyn_ros.simulation',
}
__all__ = ['__version__', *_MODULES]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
