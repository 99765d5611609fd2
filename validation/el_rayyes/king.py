# SPDX-License-Identifier: Apache-2.0
"""
King's inverse dynamics of flexible links (El-Rayyes 1990, 2.5), over numbers or symbols.

One statement of the equations (2.13) to (2.56), with the corrections of their misprints. These are
the terms h'' and a'' of (2.50), and the pairing of y bending with rotations about z. A link's
quantities are components in its rigid distal frame. `Numbers` counts every product and sum, also
those with zeros: this is a numerically programmed version. The symbolic `Listing` drops zeros and
keeps statements, as the generator FLEX does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

from validation.counts.vector_arithmetic import Vector, VectorArithmetic


@dataclass(frozen=True)
class KingMode:
    """
    An assumed mode of a link.

    Attributes:
        kind: Bending along y or z, or torsion about x.
        shape: Displacement of the tip.
        slope: Rotation of the tip's section, of the sign that its bending has about z or y.
        first: Integral of the shape over the mass.
        moment: Integral of the shape times the place along the link, from the centre of mass.
        second: Integral of the shape squared over the mass; of torsion, over the polar inertia.
        stiffness: Of the coordinate.
        state: Coordinate, rate and acceleration.
    """

    kind: str
    shape: Any
    slope: Any
    first: Any
    moment: Any
    second: Any
    stiffness: Any
    state: tuple[Any, Any, Any]


@dataclass(frozen=True)
class KingLink:
    """
    A link behind a revolute joint.

    Attributes:
        rotation: Of the rigid distal frame in the previous one, three rows.
        reach: From the previous origin to this one, p*.
        com: Of the undeflected link, from its own origin.
        mass: Of the link.
        moments: About that centre, a diagonal.
        modes: Its assumed modes.
        rate: Of the joint.
        acceleration: Of the joint.
    """

    rotation: tuple[Vector, Vector, Vector]
    reach: Vector
    com: Vector
    mass: Any
    moments: Vector
    modes: Sequence[KingMode]
    rate: Any
    acceleration: Any


class King(VectorArithmetic):
    """The recursion over numbers or symbols."""

    def inverse_dynamics(
        self, links: Sequence[KingLink], gravity: Any
    ) -> tuple[list[Any], list[list[Any]]]:
        """Return the torques of the joints, and each link's modal forces; gravity along z0."""
        spin, spun, start = self.nothing, self.nothing, (self.zero, self.zero, gravity)
        bent = []
        for link in links:
            state = _Bent(self, link)
            spin, spun, start = state.move(spin, spun, start)
            bent.append(state)
        force, moment = self.nothing, self.nothing
        torques: list[Any] = []
        forces: list[list[Any]] = []
        for number in reversed(range(len(links))):
            outer = bent[number + 1].link if number + 1 < len(links) else None
            force, moment, modal = bent[number].carry(outer, force, moment)
            axis = (self.zero, self.zero, self.one)
            along = self.apply(self.turned(links[number].rotation), axis)
            torques.insert(0, self.dot(along, moment))
            forces.insert(0, modal)
        return torques, forces


class _Bent:
    """A link with the quantities that depend on its modes."""

    def __init__(self, king: King, link: KingLink):
        self.king, self.link = king, link
        zero, one = king.zero, king.one
        by = {kind: [mode for mode in link.modes if mode.kind == kind] for kind in 'xyz'}

        def along(what: str, order: int) -> Vector:
            """Return the sum of coordinates times a property, of y and z bending."""
            return (zero, self._sum(by['y'], what, order), self._sum(by['z'], what, order))

        def about(order: int) -> Vector:
            """Return the rotation of the tip's section."""
            return (
                self._sum(by['x'], 'slope', order), -self._sum(by['z'], 'slope', order),
                self._sum(by['y'], 'slope', order),
            )

        self.w, self.wd, self.wdd = (along('shape', order) for order in range(3))
        self.c, self.cd, self.cdd = (along('first', order) for order in range(3))
        (x, y, z), self.turn_d, self.turn_dd = (about(order) for order in range(3))
        self.tilt = ((one, -z, y), (z, one, -x), (-y, x, one))
        g, self.gd, self.gdd = (along('moment', order) for order in range(3))
        self.hd, self.hdd = ((zero, -v[2], v[1]) for v in (self.gd, self.gdd))
        self.pairs = list(zip(by['y'], by['z']))
        self.ad, self.add = (
            (self._swept(order), zero, zero) for order in (1, 2)
        )
        rigid = tuple(
            tuple(link.moments[i] if i == k else zero for k in range(3)) for i in range(3)
        )
        self.inertia = self._plus(
            rigid, self._first_order(g), self._second_order(by, 0)
        )
        self.inertia_rate = self._plus(
            self._first_order(self.gd), self._second_order(by, 1)
        )

    def _sum(self, modes: Sequence[KingMode], what: str, order: int) -> Any:
        out = self.king.out
        terms = [out.multiply(mode.state[order], getattr(mode, what)) for mode in modes]
        return out.add(self.king.zero, *terms)

    def _swept(self, order: int) -> Any:
        """Return the sum of m (y z' - z y') over pairs of modes, (2.31), or its rate."""
        out = self.king.out
        terms = [
            out.multiply(y.second, out.add(
                out.multiply(y.state[0], z.state[order]),
                -out.multiply(z.state[0], y.state[order]),
            )) for y, z in self.pairs
        ]
        return out.add(self.king.zero, *terms)

    def _plus(self, *matrices: Any) -> Any:
        return tuple(self.king.plus(*rows) for rows in zip(*matrices))

    def _first_order(self, g: Vector) -> Any:
        """Return the inertia that is linear in the deflection, (2.35)."""
        zero = self.king.zero
        return ((zero, -g[1], -g[2]), (-g[1], zero, zero), (-g[2], zero, zero))

    def _second_order(self, by: dict, rate: int) -> Any:
        """Return the inertia that is quadratic in the deflection, (2.36), or its rate."""
        out, zero = self.king.out, self.king.zero
        factor = (self.king.two,) if rate else ()

        def total(terms: list) -> Any:
            return out.add(zero, *terms)

        yy, zz = (total([
            out.multiply(*factor, mode.second, mode.state[0], mode.state[rate])
            for mode in by[kind]
        ]) for kind in 'yz')
        yz = total([
            term for y, z in self.pairs for term in (
                out.multiply(y.second, y.state[0], z.state[rate]),
                *([out.multiply(y.second, y.state[1], z.state[0])] if rate else []),
            )
        ])
        return ((out.add(yy, zz), zero, zero), (zero, zz, -yz), (zero, -yz, yy))

    def move(self, spin: Vector, spun: Vector, start: Vector) -> tuple[Vector, Vector, Vector]:
        """Return the motion of this link's true frame; keep its inertial force and moment."""
        king, link, zero = self.king, self.link, self.king.zero
        back = king.turned(link.rotation)
        rate, change = (zero, zero, link.rate), (zero, zero, link.acceleration)
        gyro = king.cross(spin, rate)
        w = king.apply(back, king.plus(spin, rate))
        wd = king.apply(back, king.plus(spun, change, gyro))
        origin = king.plus(
            king.cross(wd, link.reach), king.twice_turned(w, link.reach), king.apply(back, start)
        )
        com = king.plus(origin, king.cross(wd, link.com), king.twice_turned(w, link.com))
        self.spin, self.spun, self.at_com = w, wd, com
        self._inertial()
        untilt = king.turned(self.tilt)
        tip = king.plus(
            origin, king.cross(wd, self.w), king.twice_turned(w, self.w),
            king.times(king.two, king.cross(w, self.wd)), self.wdd,
        )
        return (
            king.apply(untilt, king.plus(w, self.turn_d)),
            king.apply(untilt, king.plus(wd, king.cross(w, self.turn_d), self.turn_dd)),
            king.apply(untilt, tip),
        )

    def _inertial(self) -> None:
        """Keep force (2.49) and moment (2.50)."""
        king, w, wd = self.king, self.spin, self.spun
        self.force = king.plus(
            king.times(self.link.mass, self.at_com), king.cross(wd, self.c),
            king.twice_turned(w, self.c), king.times(king.two, king.cross(w, self.cd)), self.cdd,
        )
        self.moment = king.plus(
            king.apply(self.inertia, wd), king.apply(self.inertia_rate, w),
            king.cross(w, king.apply(self.inertia, w)), king.cross(self.c, self.at_com),
            king.cross(w, king.plus(self.hd, self.ad)), self.hdd, self.add,
        )

    def carry(
        self, outer: Any, force: Vector, moment: Vector
    ) -> tuple[Vector, Vector, list[Any]]:
        """Return force (2.51) and moment (2.52) at this link, and its modal forces."""
        king, link = self.king, self.link
        if outer is not None:
            force = king.apply(self.tilt, king.apply(outer.rotation, force))
            moment = king.apply(self.tilt, king.apply(outer.rotation, moment))
        modal = [self._modal(mode, force, moment) for mode in link.modes]
        return king.plus(force, self.force), king.plus(
            moment, king.cross(king.plus(link.reach, self.w), force),
            king.cross(king.plus(link.reach, link.com), self.force), self.moment,
        ), modal

    def _modal(self, mode: KingMode, force: Vector, moment: Vector) -> Any:
        """Return a modal force, (2.48) and (2.54) to (2.56)."""
        king, out, zero = self.king, self.king.out, self.king.zero
        own = [
            out.multiply(mode.second, mode.state[2]), out.multiply(mode.stiffness, mode.state[0]),
        ]
        if mode.kind == 'x':
            return out.add(*own, king.dot((mode.slope, zero, zero), moment))
        y = mode.kind == 'y'
        number = [own for own in self.link.modes if own.kind == mode.kind].index(mode)
        other = self.pairs[number][y] if number < len(self.pairs) else None
        m, g = mode.second, mode.moment
        shape = (zero, mode.shape, zero) if y else (zero, zero, mode.shape)
        slope = (zero, zero, mode.slope) if y else (zero, -mode.slope, zero)
        first = (zero, mode.first, zero) if y else (zero, zero, mode.first)
        lever = (zero, zero, g) if y else (zero, -g, zero)
        bent = out.multiply(m, mode.state[0])
        cross = out.multiply(m, other.state[0]) if other else zero
        drift = out.multiply(king.two, m, other.state[1]) if other else zero
        by_rate = (-cross if y else cross, zero, zero)
        twist = (-drift if y else drift, zero, zero)
        # A quadratic form of the rates: minus half of the inertia's derivative.
        form = (
            (-bent, g if y else zero, zero if y else g), (zero, zero if y else -bent, cross),
            (zero, zero, -bent if y else zero),
        )
        turned = king.apply(form, self.spin)
        return out.add(
            *own, king.dot(self.at_com, first), king.dot(self.spun, king.plus(lever, by_rate)),
            king.dot(self.spin, twist), king.dot(self.spin, turned), king.dot(slope, moment),
            king.dot(shape, force),
        )
