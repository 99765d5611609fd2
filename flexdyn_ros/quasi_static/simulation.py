# SPDX-License-Identifier: Apache-2.0
"""Integration of the joints' motion in time, the modes following statically."""

from __future__ import annotations

from functools import partial
from typing import Callable, Optional, Union

from flexdyn_ros.arguments import real_vector, refuse_signature, STATE
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
from flexdyn_ros.progress import Progress
from flexdyn_ros.quasi_static.dynamics import QuasiStatic
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.prescribed import BaseAcceleration
from flexdyn_ros.simulation.quadratures import Quadratures
from flexdyn_ros.simulation.record import Trajectory
from flexdyn_ros.simulation.run import integrate
from flexdyn_ros.simulation.stability import StepLimit
from flexdyn_ros.simulation.tableaus import find_tableau, Tableau, TABLEAUS
import numpy as np
from numpy.typing import ArrayLike

JointTorqueFunction = Callable[[float, np.ndarray, np.ndarray], ArrayLike]
JointTorque = Union[None, ArrayLike, JointTorqueFunction]


def simulate_quasi_static(
    quasi_static: QuasiStatic,
    q0: ArrayLike,
    qd0: ArrayLike,
    torque: JointTorque,
    t_end: float,
    dt: float,
    method: str = 'rk4',
    progress: Progress = None,
    base_acceleration: BaseAcceleration = None,
) -> Trajectory:
    """
    Integrate the joints' motion, every mode at its static deflection.

    The step is bound by the motion of the joints alone: there are no vibrations to resolve.

    Args:
        quasi_static: The joints' dynamics.
        q0: Initial joint positions, (n_positions,) [rad | m].
        qd0: Initial joint velocities, (n_joints,) [rad/s | m/s].
        torque: Joint torques, (n_joints,) [N m | N], held constant, or None. Or a callable(t, q,
            qd) of joint positions and velocities that returns them, evaluated at every stage.
        t_end: Duration [s].
        dt: Time step [s].
        method: See `simulate`.
        progress: See `simulate`.
        base_acceleration: Of a prescribed base, see `simulate`.

    Returns:
        The motion of all coordinates: modes at their deflections, with rates of zero, as they are
        in the equations. So the energy lacks that of their motion, and is not quite constant.

    Raises:
        ArgumentError: An argument has the wrong shape, type or range.
        DeflectionNotFound: No deflection carries the load, as beyond buckling.
        SimulationDiverged: The state stopped being finite; the error keeps the motion so far.
        SingularMassMatrix: A joint moves no inertia.
    """
    if not isinstance(quasi_static, QuasiStatic):
        raise ArgumentError(
            'quasi_static',
            f'is of type {type(quasi_static).__name__}, expected QuasiStatic(dyn)',
        )
    robot = quasi_static.robot
    equations = _JointMotion(quasi_static, torque, base_acceleration)
    rest = np.zeros(robot.n_modes)
    start = np.concatenate((np.array(real_vector('q0', q0, quasi_static.n_positions)), rest))
    q = equations.map.checked(start, 'q0')
    qd = np.concatenate((np.array(real_vector('qd0', qd0, robot.n_joints)), rest))
    tableau = find_tableau(method)
    if tableau.name not in TABLEAUS:
        names = ', '.join(TABLEAUS)
        raise ArgumentError(
            'method', f'is "{tableau.name}". Choose another: joints alone take {names}')
    return integrate(equations, tableau, q, qd, t_end, dt, progress)


class _JointMotion(EquationsOfMotion):
    """The joints of a robot; the modes' entries of a state stand at zero until it is recorded."""

    def __init__(
        self, quasi_static: QuasiStatic, torque: JointTorque, base_acceleration: BaseAcceleration
    ):
        robot, n = quasi_static.robot, quasi_static.n_positions
        whole = partial(quasi_static.with_modes, argument='torque')

        def evaluated(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
            assert callable(torque)
            return whole(torque(t, q[:n].copy(), qd[: robot.n_joints].copy()))

        if callable(torque):
            refuse_signature('torque', torque, STATE)
        given = evaluated if callable(torque) else None if torque is None else whole(torque)
        super().__init__(quasi_static.dyn, given, base_acceleration)
        self.reduction += ', modes quasi-static'
        self.quadratures = Quadratures(self.dyn, None, balanced=False)
        self._joints = quasi_static
        self._last: Optional[np.ndarray] = None

    def acceleration(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, stage: int
    ) -> np.ndarray:
        """Return the joints' accelerations, zeros for the modes, (nv,)."""
        self.require_finite(q, qd)
        qdd, _ = self._solved(t, q, qd, tau)
        return np.concatenate((qdd, np.zeros(self._joints.robot.n_modes)))

    def _solved(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the joints' accelerations and the deflection, sought near the last one."""
        robot, n = self._joints.robot, self._joints.n_positions
        base = None if self._base is None else self._base.given(t, q, qd)
        qdd, self._last = self._joints.forward_dynamics(
            q[:n], qd[: robot.n_joints], tau[: robot.n_joints], None, base, self._last
        )
        return qdd, self._last

    def sample(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the state with the deflection; on a prescribed base with the wrench on it."""
        qdd, deflection = self._solved(t, q, qd, tau)
        bent = np.concatenate((q[: self._joints.n_positions], deflection))
        if self._base is not None:
            whole = np.concatenate((qdd, np.zeros(self._joints.robot.n_modes)))
            tau = tau.copy()
            tau[:BASE_COORDINATES] = self.dyn.inverse_dynamics(bent, qd, whole)[:BASE_COORDINATES]
        return bent, qd, tau

    def step_limit(self, q: np.ndarray, tableau: Tableau) -> Optional[StepLimit]:
        """Return None: vibrations bound no step."""
        return None
