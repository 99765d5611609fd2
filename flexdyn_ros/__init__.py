# SPDX-License-Identifier: Apache-2.0
"""
Dynamics of robot arms whose links and joints bend: the public contract in groups.

Units are SI. Vectors hold joints first, then modes. `help(flexdyn_ros.NAME)` describes a name.

Model:
    load_robot, Robot, reduced
Dynamics of a robot:
    Dynamics, Dynamics.backend, Dynamics.formulation, Dynamics.compile, Dynamics.batch
Torques and motion:
    Dynamics.inverse_dynamics, Dynamics.forward_dynamics, Dynamics.hybrid_dynamics,
    Dynamics.quasi_static_torque, Dynamics.hybrid_step, QuasiStatic
Terms of the equations of motion:
    Dynamics.mass_matrix, Dynamics.bias_vector, Dynamics.gravity_vector,
    Dynamics.coriolis_vector, Dynamics.friction_vector, Dynamics.elastic_vector,
    Dynamics.inertia_vector, Dynamics.external_force_vector, Dynamics.coriolis_matrix
Inertia of parts and factors:
    Dynamics.composite_inertia, Dynamics.articulated_inertia, Dynamics.mass_matrix_factors,
    Dynamics.factor_order
Frames and energy:
    Dynamics.frame_pose, Dynamics.jacobian, Dynamics.jacobian_rate_qd,
    Dynamics.kinetic_energy, Dynamics.potential_energy, Dynamics.dissipated_power
Derivatives:
    linearise, LinearSystem, Dynamics.inverse_dynamics_derivatives,
    Dynamics.forward_dynamics_derivatives,
    Dynamics.inverse_dynamics_parameter_derivatives,
    Dynamics.forward_dynamics_parameter_derivatives
Payload and gravity:
    Dynamics.set_payload, Dynamics.clear_payload, Dynamics.set_gravity
Closed chains:
    Dynamics.project, Dynamics.constraint_forces, Dynamics.actuated_forces, Dynamics.loop_gaps,
    Dynamics.loop_jacobian, Dynamics.loop_bias, Dynamics.loop_report, Dynamics.loop_tolerance,
    Dynamics.closed_chains, Dynamics.operational_space_inertia
Estimation of modes:
    ModalObserver
Active damping:
    damping_controller, ActiveDamping
Simulation:
    simulate, simulate_quasi_static, Trajectory
Paths of the tip:
    TipPath, stable_inversion, TipTrajectory
Positions for arms without torque interface:
    corrected_positions, CorrectedMotion, CorrectionChoices, CorrectionRefused,
    TrajectoryPoints
Generated code:
    generate, Dynamics.native, Dynamics.equations
Identification:
    identify, identify_modes, Identification, Motion
Errors:
    FlexdynError
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flexdyn_ros.active_damping import (
        ActiveDamping as ActiveDamping,
        damping_controller as damping_controller,
    )
    from flexdyn_ros.codegen import generate as generate
    from flexdyn_ros.errors import FlexdynError as FlexdynError
    from flexdyn_ros.identification import (
        Identification as Identification,
        identify as identify,
        identify_modes as identify_modes,
        Motion as Motion,
    )
    from flexdyn_ros.linearisation import linearise as linearise, LinearSystem as LinearSystem
    from flexdyn_ros.modal_observer import ModalObserver as ModalObserver
    from flexdyn_ros.model.load import load_robot as load_robot
    from flexdyn_ros.model.records.reduced import reduced as reduced
    from flexdyn_ros.model.records.robot import Robot as Robot
    from flexdyn_ros.position_correction import (
        corrected_positions as corrected_positions,
        CorrectedMotion as CorrectedMotion,
        CorrectionChoices as CorrectionChoices,
        CorrectionRefused as CorrectionRefused,
        TrajectoryPoints as TrajectoryPoints,
    )
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

__version__ = '1.0.0rc1'

# Each name is imported when it is first used (PEP 562), so that the command line starts quickly.
_MODULES = {
    'ActiveDamping': 'flexdyn_ros.active_damping',
    'corrected_positions': 'flexdyn_ros.position_correction',
    'CorrectedMotion': 'flexdyn_ros.position_correction',
    'CorrectionChoices': 'flexdyn_ros.position_correction',
    'CorrectionRefused': 'flexdyn_ros.position_correction',
    'damping_controller': 'flexdyn_ros.active_damping',
    'Dynamics': 'flexdyn_ros.robot_dynamics',
    'FlexdynError': 'flexdyn_ros.errors',
    'generate': 'flexdyn_ros.codegen',
    'Identification': 'flexdyn_ros.identification',
    'identify': 'flexdyn_ros.identification',
    'identify_modes': 'flexdyn_ros.identification',
    'linearise': 'flexdyn_ros.linearisation',
    'LinearSystem': 'flexdyn_ros.linearisation',
    'load_robot': 'flexdyn_ros.model.load',
    'ModalObserver': 'flexdyn_ros.modal_observer',
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
    'TrajectoryPoints': 'flexdyn_ros.position_correction',
}
__all__ = ['__version__', *_MODULES]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
