# SPDX-License-Identifier: Apache-2.0
"""Integration of a robot's motion in time."""

from __future__ import annotations

import math
from typing import Mapping, Optional
import warnings

from flexdyn_ros.arguments import limited_number, one_of, real_vector, refuse_unmapped
from flexdyn_ros.checked_arguments import Wrenches, wrenches_by_frame
from flexdyn_ros.closed_chains.stepping import GAINS, LoopAccelerations, LoopMotion
from flexdyn_ros.codegen.backends.generated import MOST_FOR_VALUES
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.progress import Progress
from flexdyn_ros.robot_dynamics import Dynamics, require_dynamics
from flexdyn_ros.simulation.adaptive import Tolerances
from flexdyn_ros.simulation.energy_balance import (
    balanced_motion,
    EnergyNotKept,
    find_imbalance,
    Imbalance,
    MOST_RUNS,
)
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion, Torque
from flexdyn_ros.simulation.events import Events
from flexdyn_ros.simulation.method_choice import AUTO, choose
from flexdyn_ros.simulation.prescribed import BaseAcceleration
from flexdyn_ros.simulation.quadratures import Quadratures
from flexdyn_ros.simulation.record import Trajectory
from flexdyn_ros.simulation.run import integrate
from flexdyn_ros.simulation.tableaus import find_tableau, IMPLICIT, Tableau
import numpy as np
from numpy.typing import ArrayLike

# Accepted error of the energy balance, of the largest kinetic energy.
ENERGY_TOLERANCE = 1e-4
# Functions that a simulation evaluates, compiled before it starts where "auto" leaves large ones
# to the reference.
EVALUATED = ('forward_dynamics',)
BY_IMPLICIT = ('mass_matrix', 'bias_vector', 'friction_vector')
RECORDED = ('kinetic_energy', 'potential_energy', 'dissipated_power')


def simulate(
    dyn: Dynamics,
    q0: ArrayLike,
    qd0: ArrayLike,
    torque: Torque,
    t_end: float,
    dt: Optional[float],
    method: str = AUTO,
    progress: Progress = None,
    base_acceleration: BaseAcceleration = None,
    drift: str = 'projection',
    drift_gains: Optional[tuple[float, float]] = None,
    loop_accelerations: LoopAccelerations = None,
    loop_forces: Optional[Mapping[str, ArrayLike]] = None,
    torque_period: Optional[float] = None,
    sample_every: int = 1,
    wrenches: Wrenches = None,
    energy_tolerance: Optional[float] = ENERGY_TOLERANCE,
    force: bool = False,
    rtol: Optional[float] = None,
    atol: Optional[float] = None,
    max_step: Optional[float] = None,
    events: Events = None,
    stops: bool = False,
    rho_infinity: Optional[float] = None,
) -> Trajectory:
    """
    Integrate the motion of a robot from an initial state.

    Samples lie dt apart, one a step; the last step is shortened so that the run ends at t_end
    exactly. Motion passes through joint limits, unless `stops` is given. On the backend "c" the
    steps of a fixed length run without Python. Exceptions are a function evaluated at every stage,
    and loops that are driven, loaded or held by gains.

    Args:
        dyn: The `Dynamics` of the robot.
        q0: Initial configuration, (nq,) [rad | m]; a floating joint's quaternion is x y z w.
        qd0: Initial velocities, (nv,) [rad/s | m/s]; a floating joint's in its body axes.
        torque: Generalised forces, (nv,) [N m | N], held constant. Or a callable(t, q, qd) that
            returns them and is evaluated at every stage of every step (its q and qd are
            read-only). Or a `TorqueTable`, `TrackingTorque` or `ComputedTorque`; or None for none.
        t_end: Duration [s].
        dt: Time step [s], below `stability.step_limit`: for rk4 2.8 / (2 pi times the highest
            natural frequency [Hz]), less where dampers or friction are stiff. None starts with a
            millisecond, or half of the limit, and runs again with shorter steps until the energy
            balance is kept.
        method: "auto" takes "implicit" where `stops` are given, or dt is beyond the limit of rk4
            for the forces of a joint, and otherwise "rk4". "implicit" is the midpoint rule (order
            2, at any step) with set-valued dry friction, see `implicit_midpoint.py`; it runs loops
            under drift="projection" alone. The others are explicit, with friction smoothed as in
            `forward_dynamics`. "rk2" is the midpoint rule (order 2; undamped vibrations grow with
            it), "rk4" the classical one (order 4). "rk10" (Hairer 1978) has order 10 with 17
            stages, for errors near rounding. Its step must stay below 1.1 / (2 pi times the
            highest natural frequency). "RK45", "DOP853", "Radau", "BDF" and "LSODA", in letters of
            any case, are scipy's: they choose their steps by rtol and atol, with smoothed
            friction. There dt is the distance of samples alone (a millisecond for None). They run
            loops as "implicit" does; see `adaptive.py`. "CVODE" of SUNDIALS is like them
            (`pip install scikit-sundae`). "generalised_alpha" (order 2, at any step, in Python)
            damps vibrations that the step does not resolve. It takes smoothed friction, and
            neither loops nor a prescribed base.
        progress: None draws a bar on stderr on runs beyond a second on a terminal, True draws
            it on any stderr, False never. A callable receives the fraction done.
        base_acceleration: Of a base with <base motion="prescribed"/>: rates of its six velocity
            coordinates, linear, then angular, in its own axes, (6,) [m/s^2, rad/s^2]. Or a
            callable(t, q, qd) that returns them; None keeps these velocities constant. `torque`
            must be zero there.
        drift: The stabilisation of a robot's loops: "projection" (after every step), "force" or
            "baumgarte" (by gains), or "none"; see `closed_chains.stepping`.
        drift_gains: kp and kd of "force" [N/m, N s/m] and of "baumgarte" [1/s^2, 1/s].
        loop_accelerations: By loop, prescribed accelerations of frame1 against frame2 in the
            constrained directions, or a callable(t) that returns them; rotations stay small or
            about one axis.
        loop_forces: By loop, forces on frame1 in the free directions.
        torque_period: Time for which a returned torque is held [s], a multiple of dt, as by
            a controller of that period. None evaluates it at every stage.
        sample_every: Steps a sample; the first and the last state are always kept.
        wrenches: Constant wrenches of the environment by frame, six numbers in root axes [N, N m];
            see `Dynamics`.
        energy_tolerance: Accepted error of the energy balance, of the largest kinetic energy. A
            motion whose residual is larger in some sample draws a warning, `EnergyNotKept`; None
            for no check. Motions without known work have no check.
        force: Whether to run a dt beyond the limit of an explicit method.
        rtol: Of an adaptive method: accepted error of a step, of each state; None for 1e-6.
        atol: The same for positions [rad | m], and for velocities times 1 rad/s or the frequency
            of their coordinate, see `adaptive.py`. None for a thousandth of rtol.
        max_step: Longest step of an adaptive method [s]; needed where a torque function has a
            pulse between long stretches of rest.
        events: For an adaptive method: one or several event(t, q, qd) -> number whose zeros are
            found, `Trajectory.events`. An attribute `terminal` ends the run at the first zero,
            or at the n-th; `direction` above or below zero takes rises or falls alone.
        stops: Whether joints stop at the limits of the URDF, with restitution 0; by the implicit
            method. An elastic joint's stop is on the link side.
        rho_infinity: Of generalised-alpha: spectral radius at infinite frequency, from 0 to 1,
            without damping; None for 0.9.

    Returns:
        The motion, with the torque and the total energy at each sample. For a prescribed base the
        torque's first six entries are the wrench that moves it, in its axes [N, N m].

    Raises:
        ArgumentError: An argument has the wrong shape, type or range.
        StepTooLarge: dt is beyond the method's limit at the start, there are no loops, and `force`
            is not given. The error names the mode, spring, damper or friction.
        SimulationDiverged: The state stopped being finite; the error keeps the motion so far.
        SingularMassMatrix: Some motion of the robot meets no inertia.
        Exception: That of the torque function. It and KeyboardInterrupt get an attribute
            `trajectory`, the motion so far.
    """
    require_dynamics(dyn)
    if not isinstance(method, str) or method != AUTO:
        find_tableau(method)
    held, loads = torque_period is not None, _checked_wrenches(wrenches)
    equations = EquationsOfMotion(dyn, torque, base_acceleration, held, loads)
    if held and not equations.held:
        raise ArgumentError('torque_period', 'is given, and the torque is no function. Omit it')
    modes = dyn.robot.n_modes
    q = equations.map.checked(np.array(real_vector('q0', q0, equations.map.nq, modes)), 'q0')
    qd = np.array(real_vector('qd0', qd0, equations.map.nv, modes))
    equations.stops = stops
    equations.slides = method == AUTO and not (dyn.robot.loops or equations.on_base)
    one_of('stops', stops, (True, False))
    one_of('force', force, (True, False))
    one_of('drift', drift, tuple(GAINS))
    if not callable(loop_accelerations):
        refuse_unmapped('loop_accelerations', loop_accelerations)
    refuse_unmapped('loop_forces', loop_forces)
    driven = drift != 'projection' or bool(loop_accelerations or loop_forces)
    if dyn.robot.loops:
        equations.loops = LoopMotion(dyn, drift, drift_gains, loop_accelerations, loop_forces)
        q, qd = equations.loops.start(q, qd)
        if drift in ('force', 'baumgarte') or loop_accelerations or loop_forces:
            equations.quadratures = Quadratures(dyn, equations.law, driven=True)
    elif driven or drift_gains is not None:
        raise ArgumentError('drift', 'and other arguments about loops need a robot with <loop>')
    if loads:
        dyn.compile('external_force_vector', wrenches=loads)
    dt = None if dt is None else limited_number('dt', dt)
    chosen = choose(dyn, q, dt, method, force, stops, driven, rho_infinity)
    tolerances = _tolerances(chosen.tableau, rtol, atol, max_step, events)
    if dyn.robot.nv > MOST_FOR_VALUES:
        _compile_ahead(equations, chosen.tableau is IMPLICIT)
    accepted = math.inf
    if energy_tolerance is not None:
        accepted = limited_number('energy_tolerance', energy_tolerance)

    def run(step: float) -> Trajectory:
        equations.quadratures.reset()
        return integrate(
            equations, chosen.tableau, q, qd, t_end, step, progress, sample_every, torque_period,
            tolerances,
        )

    def imbalance(motion: Trajectory, step: float) -> Optional[Imbalance]:
        error = tolerances.rtol if tolerances else step
        return find_imbalance(dyn, motion, chosen.tableau, error, accepted)

    period = limited_number('torque_period', torque_period) if held and not dt else None
    runs = 1 if dt or tolerances else MOST_RUNS
    motion, found = balanced_motion(run, imbalance, chosen.dt, runs, period)
    if found is not None:
        warnings.warn(str(found), EnergyNotKept, stacklevel=2)
    return motion


def _compile_ahead(equations: EquationsOfMotion, implicit: bool) -> None:
    """Compile the functions that steps and samples evaluate."""
    evaluated = [*RECORDED, *(BY_IMPLICIT if implicit or equations.on_base else EVALUATED)]
    evaluated += ['inverse_dynamics'] * equations.on_base
    evaluated += ['loop_jacobian'] * (implicit and equations.loops is not None)
    equations.dyn.compile(*evaluated)


def _tolerances(
    tableau: Tableau, rtol: Optional[float], atol: Optional[float], max_step: Optional[float],
    events: Events,
) -> Optional[Tolerances]:
    """Return the checked tolerances of an adaptive method; another one takes none."""
    if tableau.adaptive:
        return Tolerances.checked(rtol, atol, max_step, events)
    given = {'rtol': rtol, 'atol': atol, 'max_step': max_step, 'events': events}
    for name, value in given.items():
        if value is not None:
            raise ArgumentError(name, f'needs an adaptive method; it is "{tableau.name}"')
    return None


def _checked_wrenches(wrenches: Wrenches) -> Optional[dict[str, list[float]]]:
    """Return a copy of wrenches, or None where there are none."""
    if wrenches is None:
        return None
    return {
        frame: real_vector(f'wrenches["{frame}"]', wrench, 6)
        for frame, wrench in wrenches_by_frame(wrenches).items()
    }
