# SPDX-License-Identifier: Apache-2.0
"""A linear state space with names: poles, frequency response, controllers, python-control."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Optional, Sequence, TYPE_CHECKING

from flexdyn_ros.arguments import real_vector
from flexdyn_ros.checked_arguments import Wrenches
from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.linearisation.outputs import parsed_outputs
from flexdyn_ros.linearisation.state_space import linearise
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.configuration import ConfigurationMap
import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    import control


@dataclass(frozen=True)
class LinearSystem:
    """
    dx/dt = A x + B u, y = C x + D u for small departures from a state of a robot.

    Attributes:
        a: (2 nv, 2 nv).
        b: (2 nv, n_joints).
        c: (p, 2 nv).
        d: (p, n_joints).
        states: Names of x: coordinates [rad | m], then rates, with "/rate" [rad/s | m/s].
        inputs: Names of the joints whose torques are u.
        outputs: Names of y, see `linearisation/outputs.py`.
        input_units: "N m" or "N", each.
        output_units: Units of y.
    """

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    d: np.ndarray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]

    @classmethod
    def about(
        cls, dyn: Dynamics, q: ArrayLike, qd: Optional[ArrayLike] = None,
        tau: Optional[ArrayLike] = None, outputs: Sequence[str] = (), wrenches: Wrenches = None,
    ) -> LinearSystem:
        """
        Return the system about a state.

        Args:
            dyn: Dynamics of the robot.
            q: Configuration, (nq,).
            qd: Velocity, (nv,); zero for None.
            tau: Joint torques, then modal forces, (nv,); those without acceleration for None.
            outputs: Names of outputs; of all coordinates where it is empty.
            wrenches: Frame name to six numbers, see `Dynamics`.

        Raises:
            ArgumentError: An argument has the wrong shape, or an output is not possible.
            UnknownName: The robot has no frame, link or coordinate of an output.
        """
        robot = dyn.robot
        zero = np.zeros(robot.nv)
        rate: ArrayLike = zero if qd is None else qd
        if tau is None:
            tau = dyn.inverse_dynamics(q, rate, zero, wrenches)
        names = tuple(outputs) or robot.coordinate_names
        a, b, c, d = linearise(dyn, q, rate, tau, wrenches, outputs=names)
        found = parsed_outputs(robot, names)
        coordinates = robot.coordinate_names
        return cls(
            a, b, c, d, (*coordinates, *(f'{name}/rate' for name in coordinates)),
            coordinates[:robot.n_joints], tuple(each.name for each in found),
            ConfigurationMap(robot).effort_units[:robot.n_joints],
            tuple(each.unit for each in found))

    def poles(self) -> np.ndarray:
        """Return the poles, eigenvalues of A, by size, (2 nv,) [1/s]."""
        found = np.linalg.eigvals(self.a)
        return found[np.lexsort((found.imag, np.abs(found)))]

    def response(self, rates: ArrayLike) -> np.ndarray:
        """
        Return the transfer functions C (i w - A)^-1 B + D, (n, p, n_joints).

        Args:
            rates: Angular frequencies w, (n,) [rad/s].
        """
        unit = np.eye(len(self.a))
        return np.array([
            self.c @ np.linalg.solve(1j * rate * unit - self.a, self.b) + self.d
            for rate in np.asarray(rates, dtype=float)])

    def under_control(self, kp: ArrayLike, kd: ArrayLike) -> LinearSystem:
        """
        Return the system with PD controllers of the inputs' joints; u is then added to them.

        u_controller = -kp (displacement of the joint) - kd (its rate). Elastic joints are
        controlled on the motor side.

        Args:
            kp: Gains, (n_joints,) or one [N m/rad | N/m].
            kd: Gains, (n_joints,) or one [N m s/rad | N s/m].
        """
        n, nv = self.b.shape[1], len(self.a) // 2
        gains = np.zeros((n, 2 * nv))
        for start, name, given in ((0, 'kp', kp), (nv, 'kd', kd)):
            values = [given] * n if np.ndim(given) == 0 else given
            gains[range(n), range(start, start + n)] = real_vector(name, values, n)
        return replace(self, a=self.a - self.b @ gains, c=self.c - self.d @ gains)

    def channel(
        self, inputs: Optional[Sequence[str]] = None, outputs: Optional[Sequence[str]] = None
    ) -> LinearSystem:
        """
        Return the system with some inputs and outputs.

        Raises:
            ArgumentError: It has none of a name.
        """
        places = []
        for argument, chosen, known in (
                ('inputs', inputs, self.inputs), ('outputs', outputs, self.outputs)):
            chosen = known if chosen is None else chosen
            missing = [name for name in chosen if name not in known]
            if missing:
                raise ArgumentError(argument, f'names "{missing[0]}", expected some of {known}')
            places.append([known.index(name) for name in chosen])
        u, y = places
        return replace(
            self, b=self.b[:, u], c=self.c[y], d=self.d[np.ix_(y, u)],
            inputs=tuple(self.inputs[k] for k in u), outputs=tuple(self.outputs[k] for k in y),
            input_units=tuple(self.input_units[k] for k in u),
            output_units=tuple(self.output_units[k] for k in y))

    def to_control(self) -> 'control.StateSpace':
        """
        Return the system as python-control's StateSpace, with all names.

        Raises:
            FlexdynError: python-control is not installed.
        """
        try:
            import control
        except ImportError as error:
            raise FlexdynError(
                'Objects of python-control need the package control: pip install control'
            ) from error
        # Names of python-control hold no dots and no commas.
        names = {key: [name.replace('.', '_').replace(',', '_') for name in getattr(self, key)]
                 for key in ('states', 'inputs', 'outputs')}
        return control.ss(self.a, self.b, self.c, self.d, **names)


def damping_ratio(pole: complex) -> float:
    """Return -Re(s) / |s| of a pole; 0 where that is rounding."""
    return -pole.real / abs(pole) if abs(pole.real) > 1e-12 * abs(pole) else 0.0
