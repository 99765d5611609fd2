# SPDX-License-Identifier: Apache-2.0
"""The terms of a torque: which are compensated, wrenches, and friction near standstill."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Mapping, Optional

from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.nodes.common.run_time_model import Values
import numpy as np

UNDER_WRENCHES = (
    'inverse_dynamics', 'hybrid_dynamics', 'quasi_static_torque', 'hybrid_step',
)


class DynamicsUnderWrenches:
    """
    Dynamics whose inverse dynamics counts measured wrenches; all else is the robot's own.

    With J of the frame they lower the forces that a motion needs by J^T w.
    """

    def __init__(self, dyn: Any, wrenches: Mapping[str, np.ndarray]):
        """
        Prepare.

        Args:
            dyn: The dynamics.
            wrenches: By link, six numbers in root axes at the link frame's origin [N, N m]; they
                are read at each call.
        """
        self._dyn = dyn
        self._wrenches = wrenches

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the dynamics; functions of a motion include the wrenches."""
        found = getattr(self._dyn, name)
        return partial(found, wrenches=self._wrenches) if name in UNDER_WRENCHES else found

    def external_forces(self, q: Any) -> np.ndarray:
        """Return the forces that balance the wrenches, -J^T w, (nv,)."""
        return self._dyn.external_force_vector(q, self._wrenches)


COMPENSATED = tuple(
    f'compensate.{name}' for name in ('gravity', 'coriolis', 'inertia', 'friction'))
"""Parameters that switch terms on, in the order of `TorqueTerms`."""


@dataclass(frozen=True)
class TorqueTerms:
    """
    The terms that a node compensates, each true or false.

    Attributes:
        gravity: Gravity.
        coriolis: Coriolis and centrifugal terms.
        inertia: Mass matrix times accelerations.
        friction: Joint damping and friction.
    """

    gravity: bool = True
    coriolis: bool = True
    inertia: bool = True
    friction: bool = True

    @classmethod
    def of(cls, values: Mapping[str, Any] | Values) -> TorqueTerms:
        """Return the terms that parameters of the inverse dynamics node switch on."""
        return cls(*(values[name] for name in COMPENSATED))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms that are on."""
        return tuple(name for name, on in vars(self).items() if on)

    def sum(self, dyn, q, qd, qdd) -> np.ndarray:
        """
        Return the sum of the terms that are on.

        With all of them on this is the inverse dynamics. Its joint rows hold no elastic forces,
        because springs and modal stiffness act on modal coordinates alone.

        Args:
            dyn: The dynamics of the robot.
            q: Configuration, shape (nq,) [rad | m].
            qd: Velocity, shape (nv,) [rad/s | m/s].
            qdd: Acceleration, shape (nv,) [rad/s^2 | m/s^2].

        Returns:
            Generalised forces, shape (nv,) [N m | N].
        """
        if len(self.names) == 4:
            return dyn.inverse_dynamics(q, qd, qdd)
        total = np.zeros(dyn.robot.nv)
        if self.gravity:
            total += dyn.gravity_vector(q)
        if self.coriolis:
            total += dyn.coriolis_vector(q, qd)
        if self.inertia:
            total += dyn.inertia_vector(q, qdd)
        if self.friction:
            total += dyn.friction_vector(qd)
        if isinstance(dyn, DynamicsUnderWrenches):
            total += dyn.external_forces(q)
        return dyn.actuated_forces(q, total)

    def sentence(self, mode: str, acceleration: str) -> str:
        """
        Return the line on the terms of the torque.

        Args:
            mode: Mode of the node.
            acceleration: Where accelerations come from, such as "zero until a reference comes".
        """
        if mode == 'gravity':
            return 'Published torque contains: gravity of the undeformed arm alone.'
        contained = ', '.join(self.names) or 'nothing'
        missing = ', '.join(name for name in vars(self) if name not in self.names) or 'nothing'
        deflection = {
            'rigid': 'modes held at zero',
            'flexible_quasi_static': 'with the quasi-static deflection',
            'flexible_hybrid': 'with the modes integrated along the joint motion',
        }[mode]
        return (
            f'Published torque contains: {contained}; omitted: {missing}; {deflection}; '
            f'accelerations: {acceleration}.'
        )


# Configuration (nq,), velocity (nv,), generalised forces of the motors (nv,), wrenches by link.
Motion = tuple[np.ndarray, np.ndarray, np.ndarray, Mapping[str, np.ndarray]]
TERMS = ('inertia', 'coriolis', 'gravity', 'friction', 'elastic', 'external', 'total')


def force_terms(
    dyn: Any, q: np.ndarray, qd: np.ndarray, total: np.ndarray,
    wrenches: Mapping[str, np.ndarray],
) -> np.ndarray:
    """
    Return the terms of generalised forces, in the order of TERMS, (7, nv) [N m | N].

    Inertia is the total less the other terms, so that it includes the forces of loops.

    Args:
        dyn: The dynamics.
        q: Configuration, (nq,).
        qd: Velocity, (nv,).
        total: Generalised forces of the motors, (nv,).
        wrenches: Of the environment, by link, six numbers in root axes [N, N m].
    """
    terms = [
        dyn.coriolis_vector(q, qd), dyn.gravity_vector(q), dyn.friction_vector(qd),
        dyn.elastic_vector(q, qd),
        dyn.external_force_vector(q, wrenches) if wrenches else 0.0 * total]
    return np.array([total - sum(terms), *terms, total])


def coordinates_with_dry_friction(robot: Robot) -> set[str]:
    """Return the joint coordinates whose friction jumps with the sign of the velocity."""
    found: set[str] = set()
    for joint in robot.joints:
        if joint.dynamics.friction.breakaway or joint.dynamics.friction.coulomb:
            leader = joint if joint.mimic is None else robot.joint(joint.mimic.leader)
            found.update(leader.coordinate_names)
        found.update(
            f'{joint.name}/{axis}' for axis, drive in joint.drives
            if drive.friction.breakaway or drive.friction.coulomb)
    return found


class QuietFriction:
    """
    Takes friction at a velocity that is zero while the measured one is below a dead band.

    Near standstill dry friction jumps with the sign of the velocity, which is that of the noise.
    Between one and two dead bands the velocity fades in by a smooth step, so that the torque
    stays continuous. Desired velocities have no noise and are used as they are.

    Attributes:
        desired: Whether each joint velocity is a desired one, shape (n_joints,).
    """

    def __init__(self, robot: Robot, dead_band: float):
        """
        Prepare.

        Args:
            robot: The robot.
            dead_band: Speed below which a joint counts as standing [rad/s | m/s]; above 0.
        """
        self._band = dead_band
        self._n_joints = robot.n_joints
        self.desired = np.zeros(robot.n_joints, dtype=bool)
        dry = coordinates_with_dry_friction(robot)
        self._dry = np.array([name in dry for name in robot.joint_names], dtype=bool)
        self._fading = [(k, 2.0 * dead_band) for k in np.flatnonzero(self._dry).tolist()]

    def velocities(self, qd: np.ndarray) -> np.ndarray:
        """
        Return the velocities to take friction at.

        Args:
            qd: Velocities, shape (nv,) [rad/s | m/s].
        """
        joints = qd[: self._n_joints]
        s = np.clip(np.abs(joints) / self._band - 1.0, 0.0, 1.0)
        faded = joints * s * s * (3.0 - 2.0 * s)
        quiet = np.array(qd)
        quiet[: self._n_joints] = np.where(self._dry & ~self.desired, faded, joints)
        return quiet

    def correction(self, dyn: Any, qd: np.ndarray) -> Optional[np.ndarray]:
        """
        Return the correction of the model's friction, shape (nv,) [N m | N]; None for none.

        Args:
            dyn: The dynamics.
            qd: Velocities, shape (nv,) [rad/s | m/s].
        """
        speeds, desired = qd.tolist(), self.desired
        if not any(abs(speeds[k]) < limit and not desired[k] for k, limit in self._fading):
            return None
        return dyn.friction_vector(self.velocities(qd)) - dyn.friction_vector(qd)
