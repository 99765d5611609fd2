# SPDX-License-Identifier: Apache-2.0
"""
The arms in MuJoCo: rigid pieces behind hinges with springs, its own fourth-order Runge-Kutta.

The tip is a body that is welded to the last piece. MuJoCo itself then moves a force on it into the
joints at each stage of a step. A force applied as joint torques would be held for a whole
step, an error of first order in the step.
"""

from __future__ import annotations

import numpy as np
from validation.other_codes.arm import Arm, Bar, LumpedMass
from validation.other_codes.motion import SAMPLES, TipMotion
from validation.other_codes.pieces import hinge_stiffness, pieces

_NOTHING = LumpedMass(0.0, (0.0, 0.0, 0.0))  # explicit, or the force would not act at the tip


def tip_motion(arm: Arm, count: int, dt: float) -> TipMotion:
    """
    Return the motion of the tip by MuJoCo.

    Args:
        arm: The arm.
        count: Pieces a bar.
        dt: Time step [s], a whole fraction of the time between samples.
    """
    import mujoco
    model = mujoco.MjModel.from_xml_string(mjcf(arm, count, dt))
    data = mujoco.MjData(model)

    def joint(name):
        return mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)

    for bar, angle, torque in zip(arm.bars, arm.angles, arm.torques):
        number = joint(bar.name)
        data.qpos[model.jnt_qposadr[number]] = angle
        data.qfrc_applied[model.jnt_dofadr[number]] = torque
    tip = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, 'tip')
    data.xfrc_applied[tip, :3] = arm.tip_force
    every = round(arm.t_end / dt / (SAMPLES - 1))
    places = []
    for sample in range(SAMPLES):
        if sample:
            mujoco.mj_step(model, data, nstep=every)
        mujoco.mj_kinematics(model, data)
        places.append(data.xpos[tip].copy())
    if arm.satellite is None:
        return TipMotion(np.array(places))
    base = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, 'base')
    return TipMotion(np.array(places), data.xmat[base].reshape(3, 3).copy())


def mjcf(arm: Arm, count: int, dt: float, integrator: str = 'RK4') -> str:
    """Return the arm as a model of MuJoCo."""
    inner = f'<body name="tip" pos="{{place}}">{_inertial(arm.tool or _NOTHING)}</body>'
    for bar in reversed(arm.bars):
        inner = _bar(bar, arm.directions, count, inner)
    inner = inner.format(place=' '.join(map(repr, arm.mount)))
    if arm.satellite is not None:
        inner = f'<body name="base"><freejoint/>{_inertial(arm.satellite)}{inner}</body>'
    return (
        '<mujoco><compiler angle="radian" boundmass="0" boundinertia="0" fusestatic="false"/>'
        f'<option timestep="{dt!r}" integrator="{integrator}" gravity="0 0 0"><flag '
        'contact="disable" constraint="disable"/></option>'
        f'<worldbody>{inner}</worldbody></mujoco>'
    )


def _bar(bar: Bar, directions: str, count: int, carried: str) -> str:
    """
    Return a bar's pieces as nested bodies, its place left open as {place}.

    Args:
        bar: The bar.
        directions: Rotation axes of its hinges.
        count: Pieces.
        carried: The body at its end, its place left open.
    """
    chain = pieces(bar, count)
    text = carried.format(place=f'{chain[-1].length!r} 0 0')
    for k, piece in reversed(list(enumerate(chain))):
        if k == 0:
            place, joints = '{place}', _hinge(bar.name, bar.axis, 0.0)
        else:
            place = f'{piece.at!r} 0 0'
            joints = ''.join(
                _hinge(f'{bar.name}/segment{k + 1}_{axis}', axis,
                       hinge_stiffness(bar, axis, count))
                for axis in directions.split()
            )
        middle = f'{piece.length / 2.0!r} 0 0'
        body = _inertial(LumpedMass(piece.mass, piece.moments), middle)
        text = f'<body pos="{place}">{joints}{body}{text}</body>'
    return text


def _hinge(name: str, axis: str, stiffness: float) -> str:
    vector = ' '.join('1' if axis == other else '0' for other in 'xyz')
    return f'<joint name="{name}" type="hinge" axis="{vector}" stiffness="{stiffness!r}"/>'


def _inertial(lump: LumpedMass, place: str = '0 0 0') -> str:
    moments = ' '.join(map(repr, lump.moments))
    return f'<inertial pos="{place}" mass="{lump.mass!r}" diaginertia="{moments}"/>'
