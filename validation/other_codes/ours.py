# SPDX-License-Identifier: Apache-2.0
"""The arms in this package: with modes, or in segments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Union

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.integrate import simulate
from flexdyn_ros.simulation.record import Trajectory
import numpy as np
from validation.other_codes.arm import Arm, Bar, LumpedMass
from validation.other_codes.motion import sample_times, SAMPLES, TipMotion


@dataclass(frozen=True)
class Modes:
    """
    Bars as beams with modes.

    Attributes:
        bending: Modes in each plane.
        torsion: Torsion modes.
        stiffening: Whether a bent beam is drawn in along its axis.
        rotary_inertia: Whether cross-sections have inertia about the axes of bending.
        static: Whether each family has its residual-static modes too: of a force and a moment at
            the tip in bending, of a torque in torsion.
        boundary: Boundary conditions of the modes of bending.
    """

    bending: int
    torsion: int = 0
    stiffening: bool = True
    rotary_inertia: bool = False
    static: bool = False
    boundary: str = 'clamped-free'


@dataclass(frozen=True)
class Segments:
    """
    Bars as rigid bodies behind springs.

    Attributes:
        count: Bodies a bar.
    """

    count: int


Form = Union[Modes, Segments]


def urdf(arm: Arm, form: Form) -> str:
    """Return the arm as URDF with <flexdyn>."""
    text = ['<robot name="arm">', _link('base', arm.satellite)]
    inside = ['<gravity xyz="0 0 0"/>']
    if arm.satellite is not None:
        inside.append('<base motion="free"/>')
    parent, place = 'base', ' '.join(map(repr, map(float, arm.mount)))
    for k, bar in enumerate(arm.bars, 1):
        text.append(
            f'<link name="{bar.name}"/><joint name="joint{k}" type="continuous">'
            f'<origin xyz="{place}"/><parent link="{parent}"/><child link="{bar.name}"/>'
            f'<axis xyz="{int(bar.axis == "x")} {int(bar.axis == "y")} {int(bar.axis == "z")}"/>'
            '</joint>'
        )
        inside.append(_flexible_link(bar, form, arm.directions))
        parent, place = bar.name, f'{bar.length!r} 0 0'
    text.append(_link('tip', arm.tool))
    text.append(
        f'<joint name="tip_joint" type="fixed"><origin xyz="{place}"/><parent link="{parent}"/>'
        '<child link="tip"/></joint>'
    )
    text.append(f'<flexdyn version="1.0">{"".join(inside)}</flexdyn></robot>')
    return ''.join(text)


def _link(name: str, lump: Union[LumpedMass, None]) -> str:
    if lump is None:
        return f'<link name="{name}"/>'
    ixx, iyy, izz = lump.moments
    return (
        f'<link name="{name}"><inertial><mass value="{lump.mass!r}"/><inertia ixx="{ixx!r}" '
        f'iyy="{iyy!r}" izz="{izz!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def _flexible_link(bar: Bar, form: Form, directions: str) -> str:
    section = (
        f'tip="{bar.length!r} 0 0" young="{bar.young!r}" shear="{bar.shear!r}" '
        f'area="{bar.area!r}" iy="{bar.second_moment!r}" iz="{bar.second_moment!r}" '
        f'j="{bar.torsion_constant!r}" polar="{2.0 * bar.second_moment!r}" mass="{bar.mass!r}"'
    )
    if isinstance(form, Segments):
        return (
            f'<flexible_link link="{bar.name}"><segments count="{form.count}" '
            f'directions="{directions}" {section}/></flexible_link>'
        )
    planes = 'y' if directions == 'z' else 'yz'
    families = ''.join(
        f'<bending axis="{axis}" modes="{form.bending}" boundary="{form.boundary}" '
        f'static_modes="{2 * form.static:d}"/>'
        for axis in planes
    )
    if form.torsion:
        families += f'<torsion modes="{form.torsion}" static_modes="{form.static:d}"/>'
    return (
        f'<flexible_link link="{bar.name}" '
        f'geometric_stiffening="{str(form.stiffening).lower()}"><beam '
        f'rotary_inertia="{str(form.rotary_inertia).lower()}" {section}>{families}</beam>'
        '</flexible_link>'
    )


@lru_cache(maxsize=None)
def _robot(text: str) -> Robot:
    return load_robot(text)


def simulated(arm: Arm, form: Form, dt: float) -> tuple[Robot, Trajectory]:
    """
    Return the robot and its motion by the classical Runge-Kutta method.

    Args:
        arm: The arm.
        form: Model of its bars.
        dt: Time step [s], a whole fraction of the time between samples.
    """
    robot = _robot(urdf(arm, form))
    dyn = Dynamics(robot)
    free = 6 if arm.satellite is not None else 0
    q = robot.neutral_configuration()
    q[free + bool(free):][:len(arm.bars)] = arm.angles
    inside = np.zeros(robot.nv)
    inside[free:free + len(arm.bars)] = arm.torques
    wrench = np.array([*arm.tip_force, 0.0, 0.0, 0.0])

    def pushed(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return inside + dyn.jacobian(q, 'tip').T @ wrench

    torque = pushed if np.any(wrench) else inside
    return robot, simulate(dyn, q, np.zeros(robot.nv), torque, arm.t_end, dt, progress=False)


def tip_motion(arm: Arm, form: Form, dt: float) -> TipMotion:
    """Return the motion of the tip by this package."""
    return tip_motion_of(arm, *simulated(arm, form, dt))


def tip_motion_of(arm: Arm, robot: Robot, motion: Trajectory) -> TipMotion:
    """Return the tip of a motion at the sample times."""
    every = round((len(motion.t) - 1) / (SAMPLES - 1))
    if not np.allclose(motion.t[::every], sample_times(arm.t_end), rtol=0.0, atol=1e-9):
        raise ValueError('the time step is no whole fraction of the time between samples')
    dyn = Dynamics(robot)
    tip = np.array([dyn.frame_pose(q, 'tip')[:3, 3] for q in motion.q[::every]])
    if arm.satellite is None:
        return TipMotion(tip)
    return TipMotion(tip, dyn.frame_pose(motion.q[-1], 'base')[:3, :3])
