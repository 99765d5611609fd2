# SPDX-License-Identifier: Apache-2.0
"""
Dynamics by the method of kinematic influence: Jacobians of points, and projection on them.

The method of P. L. Graves (Dynamical Modeling of Serial Manipulators with Flexible Links and
Joints Using the Method of Kinematic Influence), for trees of bodies and exact. The mass matrix is
sum J^T Pi J over the links (24), with the inertia Pi of the deflected link in place of (25).
Nonlinear accelerations follow (27), completed by the terms that the print leaves out. All forces
reach joint-and-mode space by J^T (13). It shares no recursion with newton_euler, mass_matrix and
articulated_body. The paper's approximations are in model.py; by default none is made.
"""

from __future__ import annotations

from typing import Iterable, Optional

from flexdyn_ros.dynamics.influence.geometry import link_places, LinkPlace, place_on_section
from flexdyn_ros.dynamics.influence.link_inertia import link_inertia
from flexdyn_ros.dynamics.influence.loads import (
    LinkMotion,
    nonlinear_load,
    printed_motion,
    project,
    propagated_motion,
    swept,
    Twist,
    twist_of,
)
from flexdyn_ros.dynamics.influence.model import InfluenceModel, Lump
from flexdyn_ros.dynamics.internal_forces import elastic_energy
from flexdyn_ros.dynamics.multibody import Frame, Multibody
from flexdyn_ros.dynamics.newton_euler import FrameWrench
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import (
    add,
    apply,
    apply_transposed,
    BodyWrench,
    congruence,
    cross,
    dot,
    Matrix,
    multiply,
    negate,
    scale,
    Vector,
    ZERO,
)


def mass_matrix(model: InfluenceModel, q: list) -> list[list[Scalar]]:
    """Return the mass matrix (24), (nv, nv), rotors included."""
    tree = model.tree
    matrix: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for index, place in enumerate(link_places(tree, q)):
        inertia = model.inertia(index, place, q)
        columns = list(place.jacobian(place.origin).items())
        first = place.body.velocity_modes
        for number, (i, (linear, angular)) in enumerate(columns):
            force, moment, modal = inertia.momentum(linear, angular)
            for j, (other_linear, other_angular) in columns[: number + 1]:
                shared = dot(other_linear, force) + dot(other_angular, moment)
                matrix[i][j] = matrix[i][j] + shared
                if i != j:
                    matrix[j][i] = matrix[j][i] + shared
            for k, shared in enumerate(modal, start=first):
                matrix[i][k] = matrix[i][k] + shared
                matrix[k][i] = matrix[k][i] + shared
        for k, row in enumerate(inertia.modal_mass, start=first):
            for other, shared in enumerate(row, start=first):
                matrix[k][other] = matrix[k][other] + shared
    for index, rotor in tree.rotors:
        matrix[index][index] = matrix[index][index] + rotor
    return matrix


def generalised_forces(
    model: InfluenceModel,
    q: list,
    qd: Optional[list] = None,
    qdd: Optional[list] = None,
    gravity: Optional[Vector] = None,
    wrenches: Iterable[FrameWrench] = (),
) -> list[Scalar]:
    """
    Return the generalised forces of inertia, gravity and outside wrenches (28), (nv,).

    Friction and springs are in internal_forces.py.

    Args:
        model: The robot.
        q: Configuration, (nq,).
        qd: Velocity, (nv,); None for none.
        qdd: Acceleration, (nv,); None for none.
        gravity: Acceleration of gravity in the root frame [m/s^2]; None for none.
        wrenches: Wrenches that the environment exerts on the robot.
    """
    tree = model.tree
    places = link_places(tree, q, qd)
    tau: list[Scalar] = [0.0] * tree.nv
    motions = [] if qd is None else _link_motions(model, places, qd)
    for index, place in enumerate(places):
        body, columns = place.body, place.jacobian(place.origin)
        loads: list[BodyWrench] = []
        if gravity is not None:
            loads.append(model.inertia(index, place, q, exact=True).weight(gravity))
        if qdd is not None:
            inertia = model.inertia(index, place, q)
            loads.append(inertia.momentum(*twist_of(columns, qdd)))
            loads.append(inertia.modal_momentum(body.mode_rates(qdd)))
        lump = model.lumps[index] if model.approximations.lumped_mass else None
        if qd is not None and lump is not None:
            _add_lumped(model, lump, place, motions[index], (q, qd), tau)
        elif qd is not None:
            loads.append(_nonlinear(model, index, place, motions[index], q, qd))
        for load in loads:
            project(columns, body.velocity_modes, load, tau)
    for wrench in wrenches:
        _add_wrench(tree, places, FrameWrench(*wrench), tau)
    if qdd is not None:
        for index, rotor in tree.rotors:
            tau[index] = tau[index] + rotor * qdd[index]
    return tau


def _nonlinear(
    model: InfluenceModel, index: int, place: LinkPlace, motion: LinkMotion, q: list, qd: list
) -> BodyWrench:
    """Return the load of a link's nonlinear accelerations, in root axes."""
    rotation, body = place.rotation, place.body
    in_link_axes = LinkMotion(*(apply_transposed(rotation, vector) for vector in motion))
    force, moment, modal = nonlinear_load(
        model.fields[index], in_link_axes, body.mode_values(q), body.mode_rates(qd),
        model.approximations.undeformed_inertia,
    )
    return BodyWrench(apply(rotation, force), apply(rotation, moment), modal)


def _add_lumped(
    model: InfluenceModel,
    lump: Lump,
    place: LinkPlace,
    motion: LinkMotion,
    state: tuple[list, list],
    tau: list,
) -> None:
    """Add the nonlinear load of a rigid body at the centre of mass, as printed after (27)."""
    q, qd = state
    centre = place_on_section(place, lump.node, lump.offset, q, qd)
    columns = centre.jacobian(centre.origin)
    if model.approximations.printed_recursion:
        link = twist_of(place.jacobian(place.origin), qd)
        motion = printed_motion(motion, link, twist_of(columns, qd))
    else:
        motion = propagated_motion(motion, centre, qd)
    inertia: Matrix = congruence(centre.rotation, lump.inertia)
    gyroscopic = cross(motion.angular_velocity, apply(inertia, motion.angular_velocity))
    moment = add(apply(inertia, motion.angular_acceleration), gyroscopic)
    project(columns, 0, BodyWrench(scale(lump.mass, motion.acceleration), moment, []), tau)


def _link_motions(model: InfluenceModel, places: list[LinkPlace], qd: list) -> list[LinkMotion]:
    """Return the motion of each link's frame for qdd = 0, in root axes."""
    motions: list[LinkMotion] = []
    twists: list[Twist] = []
    for place in places:
        parent = place.body.parent
        if model.approximations.printed_recursion:
            twists.append(twist_of(place.jacobian(place.origin), qd))
        if parent < 0:
            motions.append(LinkMotion(ZERO, ZERO, ZERO))
        elif model.approximations.printed_recursion:
            motions.append(printed_motion(motions[parent], twists[parent], twists[-1]))
        else:
            motions.append(propagated_motion(motions[parent], place, qd))
    return motions


def _add_wrench(
    tree: Multibody, places: list[LinkPlace], wrench: FrameWrench, tau: list
) -> None:
    """Take a wrench of the environment off tau."""
    force, moment = wrench.force, wrench.moment
    if wrench.axes is not None:
        axes = tree.frames[wrench.axes]
        rotation = multiply(places[axes.body].rotation, axes.rotation)
        force, moment = apply(rotation, force), apply(rotation, moment)
    frame = tree.frames[wrench.frame]
    place = places[frame.body]
    columns = place.jacobian(place.point(frame.position))
    project(columns, 0, BodyWrench(negate(force), negate(moment), []), tau)


def jacobian(tree: Multibody, q: list, frame: Frame) -> list[list[Scalar]]:
    """Return the (6, nv) Jacobian of a frame's origin, linear rows first, in root axes."""
    place = link_places(tree, q)[frame.body]
    rows: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(6)]
    for index, (linear, angular) in place.jacobian(place.point(frame.position)).items():
        for row, value in zip(rows, (*linear, *angular)):
            row[index] = value
    return rows


def frame_motion(
    places: list[LinkPlace], qd: list, frame: Frame
) -> tuple[Twist, Twist]:
    """Return velocity, and acceleration for qdd = 0, of a frame's origin, in root axes."""
    place = places[frame.body]
    arm = apply(place.rotation, frame.position)
    twist = twist_of(place.jacobian(add(place.origin, arm)), qd)
    path = []
    while place.body.parent >= 0:
        path.append(place)
        place = places[place.body.parent]
    motion = LinkMotion(ZERO, ZERO, ZERO)
    for link in reversed(path):
        motion = propagated_motion(motion, link, qd)
    alpha = motion.angular_acceleration
    linear = add(motion.acceleration, swept(motion.angular_velocity, alpha, arm))
    return twist, (linear, alpha)


def potential_energy(model: InfluenceModel, q: list, gravity: Vector) -> Scalar:
    """Return the energy of gravity, zero at the root frame's origin, and of elasticity [J]."""
    energy = elastic_energy(model.tree, q)
    for place, fields in zip(link_places(model.tree, q), model.fields):
        first = link_inertia(fields, place.body.mode_values(q)).first
        moment = add(scale(place.body.mass, place.origin), apply(place.rotation, first))
        energy = energy - dot(gravity, moment)
    return energy
