# SPDX-License-Identifier: Apache-2.0
"""The unknown parameters of a robot, and its torques as a linear function of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Mapping, Optional, Sequence, Union

from flexdyn_ros.dynamics.joint_terms import DRIVEN
from flexdyn_ros.errors import NotYetSupported
from flexdyn_ros.identification.bodies import (
    body_of,
    INERTIAL_UNITS,
    moving_bodies,
    NOMINAL,
    ten_numbers,
)
from flexdyn_ros.identification.friction import friction_columns, FrictionShape, POSITIVE, UNITS
from flexdyn_ros.identification.regressor import (
    INERTIAL,
    inertial_regressor,
    known_forces,
)
from flexdyn_ros.identification.signals import Stretch
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.joint import Friction, Joint, JointDynamics
from flexdyn_ros.model.records.link import Payload
from flexdyn_ros.model.records.robot import Robot
import numpy as np


@dataclass(frozen=True)
class Columns:
    """
    The columns of a stretch that do not depend on friction.

    Attributes:
        stretch: The samples.
        linear: Shape (T, n, p): inertia, rotors, springs, gravity.
        known: Torques that no parameter changes, shape (T, n).
    """

    stretch: Stretch
    linear: np.ndarray
    known: np.ndarray


class TorqueModel:
    """
    The torques of a robot as known + columns @ parameters.

    Attributes:
        robot: The robot as described.
        coordinates: Names of the n coordinates that the motions have, joints first.
        joints: The joints with a motor, in the order of the coordinates.
        terms: Terms of friction, of any joint.
        terms_of: Terms of friction of each joint.
        places: Places of the parameters of friction of each joint.
        bodies: Links whose ten numbers are parameters, each with its description.
        names: Of all parameters.
        units: Of all parameters.
        gains: Places of the parameters that are gains of drives.
        values: Their values in the description.
        positive: Whether each of them is zero or more; those of bodies are left to the inertia.
    """

    def __init__(
        self, robot: Robot, coordinates: Sequence[str],
        terms: Union[Sequence[str], Mapping[str, Sequence[str]]],
        payload: Optional[str] = None, gravity: bool = False, inertia: bool = True,
        rotors: bool = True, gains: bool = False,
    ):
        """
        Choose the parameters.

        Args:
            robot: The robot.
            coordinates: Names of the coordinates that the motions have.
            terms: Terms of friction, or those of each joint by name; without any, that of the
                description stays.
            payload: Link whose payload alone is unknown, beside friction.
            gravity: Whether the direction of gravity alone is unknown, beside friction.
            inertia: Whether the inertia of links is unknown.
            rotors: Whether the inertia of rotors is unknown.
            gains: Whether the gains of drives are unknown, as factors on measured torques.
        """
        if robot.loops or robot.quaternion_starts:
            raise NotYetSupported(
                'Identification does not support loops and quaternions yet', name=robot.name,
                advice='Identify the tree without <loop>, on a fixed base')
        self.robot, self.coordinates = robot, tuple(coordinates)
        self.payload, self.gravity, self._gains = payload, gravity, gains
        self._places = [robot.coordinate_names.index(name) for name in coordinates]
        self.joints = tuple(
            j for j in robot.joints if j.name in coordinates and j.type in DRIVEN)
        self.terms_of = [tuple(terms.get(j.name, ()) if isinstance(terms, Mapping) else terms)
                         for j in self.joints]
        self.terms = tuple(term for term in POSITIVE if any(term in own for own in self.terms_of))
        alone = gravity or payload is not None
        self.bodies = {} if alone or not inertia else moving_bodies(robot)
        if payload is not None:
            carried = {each.link: each.inertia for each in robot.payloads}
            self.bodies = {robot.link(payload).name: carried.get(payload, NOMINAL)}
        self._rotors = self.joints if rotors and self.bodies and not alone else ()
        self._springs = () if alone else tuple(
            j for j in self.joints
            if j.dynamics.stiffness is not None and j.elastic_name in coordinates)
        self._name_parameters()

    def _name_parameters(self) -> None:
        """List names, units, described values and signs."""
        suffix = 'payload/' if self.payload is not None else ''
        table: list[tuple[str, str, float, bool]] = []
        for link, body in self.bodies.items():
            table += [(f'{link}/{suffix}{name}', unit, value, False)
                      for name, unit, value in zip(INERTIAL, INERTIAL_UNITS, ten_numbers(body))]
        for joint in self._rotors:
            value = joint.dynamics.reflected_inertia
            table.append((f'{joint.name}/reflected_inertia', 'kg m^2 | kg', value, True))
        for joint in self._springs:
            drive = joint.dynamics
            table.append((f'{joint.name}/stiffness', 'N m/rad | N/m', drive.stiffness, True))
            table.append((f'{joint.name}/damping', 'N m s/rad | N s/m', drive.damping, True))
        if self.gravity:
            table += [(f'gravity/{axis}', 'm/s^2', value, False)
                      for axis, value in zip('xyz', self.robot.gravity_vector)]
        self.gains = slice(len(table), len(table) + len(self.joints) * self._gains)
        if self._gains:
            table += [(f'{joint.name}/gain', '-', 1.0, True) for joint in self.joints]
        self.n_linear = len(table)
        self.places = []
        for joint, terms in zip(self.joints, self.terms_of):
            self.places.append(slice(len(table), len(table) + len(terms)))
            losses = joint.dynamics.losses
            described = {'viscous': losses.viscous, 'coulomb': losses.coulomb,
                         'stribeck': losses.breakaway}
            table += [(f'{joint.name}/{term}', UNITS.get(term, 'N m | N'),
                       described.get(term, 0.0), POSITIVE[term]) for term in terms]
        names, units, values, positive = zip(*table) if table else ((), (), (), ())
        self.names: tuple[str, ...] = names
        sliding = {joint.name for joint in self.joints if joint.type == 'prismatic'}
        self.units: tuple[str, ...] = tuple(
            unit.split(' | ')[' | ' in unit and name.rpartition('/')[0] in sliding]
            for name, unit in zip(names, units))
        self.values, self.positive = np.array(values, float), np.array(positive, bool)

    def sampled(self, stretch: Stretch) -> Columns:
        """Return the columns of a stretch that do not depend on friction."""
        q, qd, qdd = (self._full(each) for each in (stretch.q, stretch.qd, stretch.qdd))
        parts = [inertial_regressor(self.robot, q, qd, qdd, tuple(self.bodies))]
        for joint in self._rotors:
            parts.append(self._column(joint.name, qdd, joint.name))
        for joint in self._springs:
            parts.append(self._column(joint.elastic_name, q, joint.elastic_name))
            parts.append(self._column(joint.elastic_name, qd, joint.elastic_name))
        bare = self._without_friction()
        if self.gravity:
            still = np.zeros_like(qd)
            falls = [known_forces(replace(bare, gravity_vector=tuple(axis)), q, still, still)
                     for axis in np.vstack([np.zeros(3), np.eye(3)]).tolist()]
            parts.append(np.stack([fall - falls[0] for fall in falls[1:]], axis=2))
        # Columns of gains hold predicted torques, which `with_gains` adds.
        parts.append(np.zeros((*q.shape, len(self.joints) * self._gains)))
        linear = np.concatenate(parts, axis=2)
        # With nominal bodies too, where the description has none.
        described = self._with_bodies(bare, self.bodies)
        known = known_forces(described, q, qd, qdd) - linear @ self.values[: self.n_linear]
        if stretch.load is not None:
            link = self.robot.link(stretch.load.link).name
            others = tuple(each for each in described.payloads if each.link != link)
            loaded = replace(described, payloads=(*others, stretch.load))
            known += known_forces(loaded, q, qd, qdd) - known_forces(described, q, qd, qdd)
        return Columns(stretch, linear[:, self._places], known[:, self._places])

    def friction(
        self, found: Columns, shapes: Sequence[FrictionShape], values: np.ndarray,
        only: Optional[int] = None,
    ) -> list[np.ndarray]:
        """
        Return the derivatives of each joint's friction by its own parameters, (T, terms) each.

        Args:
            found: From `sampled`.
            shapes: Shape of the friction of each joint.
            values: Parameters, of which those of bodies give the load.
            only: Number of the one joint to compute, or None.
        """
        stretch, load = found.stretch, found.known + found.linear @ values[: self.n_linear]
        parts = []
        for k, (joint, shape) in enumerate(zip(self.joints, shapes)):
            if only not in (None, k):
                continue
            at = self.coordinates.index(joint.name)
            parts.append(friction_columns(
                self.terms_of[k], shape, stretch.qd[:, at], stretch.places[:, at], stretch.keep,
                load[:, at]))
        return parts

    def joined(self, linear: np.ndarray, friction: Sequence[np.ndarray]) -> np.ndarray:
        """Return all columns, (T, n, p), from those of `Columns` and of `friction`."""
        result = np.zeros((*linear.shape[:2], len(self.names)))
        result[:, :, : self.n_linear] = linear
        for joint, place, own in zip(self.joints, self.places, friction):
            result[:, self.coordinates.index(joint.name), place] = own
        return result

    def with_gains(
        self, columns: np.ndarray, known: np.ndarray, values: np.ndarray,
        measured: Optional[np.ndarray] = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return columns (R, n, p) with those of gains, and the gains, (n,).

        A gain g scales a measured torque m: g m = columns @ parameters + known. Linearised about
        the predicted torque, the column of g is less the prediction over g. It has no noise,
        unlike m itself.

        Args:
            columns: Those of all parameters, zeros for gains.
            known: Torques that no parameter changes, (R, n).
            values: Parameters so far, (p,).
            measured: Torques in place of predicted ones, (R, n), or None.
        """
        gains = np.ones(columns.shape[1])
        at = [self.coordinates.index(joint.name) for joint in self.joints]
        places = np.arange(self.gains.start, self.gains.stop)
        if not len(places):
            return columns, gains
        gains[at] = values[places]
        signal = (columns @ values + known) / gains if measured is None else measured
        columns = columns.copy()
        columns[:, at, places] = -signal[:, at]
        return columns, gains

    def shapes(self, smoothing: Optional[float]) -> list[FrictionShape]:
        """Return the initial shapes of friction, the description's where it has some."""
        found = []
        for joint in self.joints:
            law, shape = joint.dynamics.friction, FrictionShape()
            if law.coulomb or law.stribeck:
                shape = replace(shape, smoothing=law.smoothing_velocity)
            if law.stribeck is not None:
                shape = replace(shape, stribeck=law.stribeck_velocity)
            found.append(shape if smoothing is None else replace(shape, smoothing=smoothing))
        return found

    def identified(self, values: np.ndarray, shapes: Sequence[FrictionShape]) -> Robot:
        """Return the robot with values of parameters, except terms that a description lacks."""
        of = dict(zip(self.names, values.tolist()))
        robot = self.robot
        if self.gravity:
            vector = np.array([of[f'gravity/{axis}'] for axis in 'xyz'])
            vector *= np.linalg.norm(robot.gravity) / np.linalg.norm(vector)
            robot = replace(robot, gravity_vector=tuple(vector.tolist()))
        found = {link: body_of(values[10 * k : 10 * k + 10])
                 for k, link in enumerate(self.bodies)}
        robot = self._with_bodies(robot, found)
        drives = {joint.name: self._drive(joint, of, shape, terms)
                  for joint, shape, terms in zip(self.joints, shapes, self.terms_of)}
        return replace(robot, joints=tuple(
            replace(joint, dynamics=drives.get(joint.name, joint.dynamics))
            for joint in robot.joints))

    def _drive(
        self, joint: Joint, of: Mapping[str, float], shape: FrictionShape, terms: Sequence[str],
    ) -> JointDynamics:
        """Return a joint's dynamics with values of the parameters."""
        drive = joint.dynamics

        def value(name: str, otherwise: float) -> float:
            return of.get(f'{joint.name}/{name}', otherwise)

        if set(terms) & {'viscous', 'coulomb', 'stribeck'}:
            law = drive.losses
            coulomb = value('coulomb', law.coulomb)
            stribeck = value('stribeck', law.breakaway) if 'stribeck' in terms else None
            drive = replace(
                drive, damping=drive.damping if drive.elastic else 0.0,
                friction=Friction(
                    value('viscous', law.viscous), coulomb, stribeck,
                    shape.stribeck if stribeck is not None else Friction.stribeck_velocity,
                    shape.smoothing))
        reflected = value('reflected_inertia', drive.reflected_inertia)
        drive = replace(drive, rotor_inertia=reflected / drive.gear_ratio**2)
        if joint in self._springs:
            drive = replace(drive, stiffness=value('stiffness', 0.0),
                            damping=value('damping', 0.0))
        return drive

    def _without_friction(self) -> Robot:
        """Return the robot without the losses that are parameters."""
        names = {joint.name for joint, terms in zip(self.joints, self.terms_of) if terms}
        return replace(self.robot, joints=tuple(
            replace(joint, dynamics=replace(
                joint.dynamics, friction=Friction(),
                damping=joint.dynamics.damping if joint.dynamics.elastic else 0.0))
            if joint.name in names else joint for joint in self.robot.joints))

    def _with_bodies(self, robot: Robot, bodies: Mapping[str, Inertia]) -> Robot:
        """Return the robot with bodies in place of its payload or of the inertia of links."""
        if self.payload is not None:
            others = tuple(each for each in robot.payloads if each.link != self.payload)
            return replace(robot, payloads=(
                *others, *(Payload(link, body) for link, body in bodies.items())))
        return replace(robot, links=tuple(
            replace(link, inertia=bodies.get(link.name, link.inertia))
            for link in robot.links))

    def _full(self, values: np.ndarray) -> np.ndarray:
        """Return values (T, n) of the motions in all coordinates, others at zero, (T, nv)."""
        found = np.zeros((len(values), self.robot.nv))
        found[:, self._places] = values
        return found

    def _column(self, row: str, values: np.ndarray, source: str) -> np.ndarray:
        """Return the column that has a coordinate's values in one row, (T, nv, 1)."""
        names = self.robot.coordinate_names
        found = np.zeros((*values.shape, 1))
        found[:, names.index(row), 0] = values[:, names.index(source)]
        return found
