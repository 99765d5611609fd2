# SPDX-License-Identifier: Apache-2.0
"""A flexible arm on a satellite that floats: ours against three codes, momentum and work."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation import Trajectory
import numpy as np
from validation.case import Picture, Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.other_codes import exudyn_solids, mujoco_segments, ours, pinocchio_segments
from validation.other_codes.arm import Arm, read_arm
from validation.other_codes.comparison import CodeComparison, first_missing
from validation.other_codes.motion import distances, TipMotion
from validation.other_codes.picture import draw_tips
from validation.registry import Code

NAME = 'codes_satellite'
_EVERY = 500  # steps between states whose momentum is counted


def compare(progress: Progress) -> list[Row]:
    """Return the rows against each code, and those of momentum and work."""
    given, found = inputs(NAME), CodeComparison()
    best, divided = _best(), ours.Segments(given['pieces'])

    def solids() -> None:
        found.tips('solids', _ours(best), _solids())

    def mujoco() -> None:
        found.tips('mujoco', _ours(best), _mujoco())
        same = mujoco_segments.tip_motion(_arm(), given['pieces'], given['dt'])
        found.alike('mujoco', _ours(divided), same)

    def pinocchio() -> None:
        found.tips('pinocchio', _ours(best), _pinocchio())
        found.alike('pinocchio', _ours(divided), _pinocchio())
        found.results['pinocchio_momentum'] = _momentum_by_pinocchio(divided)

    found.results['momentum'], found.results['work'] = _momentum(best), _work(best)
    progress(0.2)
    found.with_code('solids', ['exudyn', 'ngsolve'], ['tip', 'path', 'turn'], solids)
    progress(0.45)
    found.with_code('mujoco', ['mujoco'], ['tip', 'path', 'turn', 'alike'], mujoco)
    found.results['static_modes'] = first_missing(['mujoco']) or _static_modes()
    progress(0.75)
    found.with_code('pinocchio', ['pinocchio'], ['tip', 'path', 'turn', 'alike', 'momentum'],
                    pinocchio)
    return make_rows(NAME, found.results, found.computed)


def draw(folder: Path) -> list[Picture]:
    """Draw all tips, and their distances."""
    shown = {'ours, with modes': _ours(_best())}
    for label, modules, motion in (
        ('Exudyn, reduced solids', ['exudyn', 'ngsolve'], _solids),
        ('MuJoCo, 9 pieces a bar', ['mujoco'], _mujoco),
        ('Pinocchio, 5 pieces a bar', ['pinocchio'], _pinocchio),
    ):
        if first_missing(modules) is None:
            shown[label] = motion()
    draw_tips(folder / f'{NAME}.png', shown, _arm().t_end, (1, 2))
    return [Picture(
        f'{NAME}.png', 'A flexible arm turns itself and the satellite that carries it. Shown are '
        "the path of the tip in space, seen along x, and the distance of each code's tip from "
        'ours.',
    )]


def _static_modes() -> Verdict:
    """Return the tip's distance from MuJoCo's with residual-static modes, and without."""
    alone = ours.Modes(**inputs(NAME)['modes_alone'])
    far, near = (distances(_ours(form), _mujoco()).max() for form in (alone, _best()))
    return Verdict(bool(near < far), f'{near:.2g} m in place of {far:.2g} m')


def _momentum(form: ours.Form) -> float:
    """
    Return the largest momentum, and angular momentum about the origin, over the satellite's.

    The first six rows of M qd are the momentum in the satellite's axes and the angular momentum
    about its origin.
    """
    robot, motion = _simulated(form)
    dyn, satellite = Dynamics(robot), _arm().satellite
    assert satellite is not None
    rows, own = [], []
    for q, qd in zip(motion.q[::_EVERY], motion.qd[::_EVERY]):
        pose = dyn.frame_pose(q, 'base')
        linear, angular = (pose[:3, :3] @ part for part in np.split(
            (dyn.mass_matrix(q) @ qd)[:6], 2))
        rows.append([linear, angular + np.cross(pose[:3, 3], linear)])
        own.append([satellite.mass * qd[:3], np.array(satellite.moments) * qd[3:6]])
    return _largest(rows, own)


def _momentum_by_pinocchio(form: ours.Segments) -> float:
    """Return the same, about the centre of mass, as Pinocchio counts it in our motion."""
    import pinocchio as pin
    robot, motion = _simulated(form)
    model = pinocchio_segments.chain(_arm(), form.count).model
    data, satellite = model.createData(), _arm().satellite
    assert satellite is not None
    places = [
        model.joints[model.getJointId(name.replace('joint', 'link'))].idx_v
        for name in robot.coordinate_names[6:]
    ]
    rows, own = [], []
    for q, qd in zip(motion.q[::_EVERY], motion.qd[::_EVERY]):
        there, rate = pin.neutral(model), np.zeros(model.nv)
        there[:7], rate[:6] = q[:7], qd[:6]
        there[np.array(places) + 1], rate[places] = q[7:], qd[6:]
        found = pin.computeCentroidalMomentum(model, data, there, rate)
        rows.append([found.linear, found.angular])
        own.append([satellite.mass * qd[:3], np.array(satellite.moments) * qd[3:6]])
    return _largest(rows, own)


def _largest(rows: Any, own: Any) -> float:
    """Return the largest of (linear, angular) rows, each over the largest of `own`."""
    size, scale = (np.linalg.norm(np.array(part), axis=2).max(axis=0) for part in (rows, own))
    return float(np.max(size / scale))


def _work(form: ours.Form) -> float:
    """Return the growth of energy over the work of the constant joint torques."""
    _, motion = _simulated(form)
    turned = motion.q[-1, 7:7 + len(_arm().bars)] - _arm().angles
    return float((motion.energy[-1] - motion.energy[0]) / (_arm().torques @ turned))


def _best() -> ours.Modes:
    return ours.Modes(**inputs(NAME)['modes'])


@lru_cache(maxsize=None)
def _arm() -> Arm:
    return read_arm(inputs(NAME))


@lru_cache(maxsize=None)
def _simulated(form: ours.Form) -> tuple[Robot, Trajectory]:
    return ours.simulated(_arm(), form, inputs(NAME)['dt'])


@lru_cache(maxsize=None)
def _ours(form: ours.Form) -> TipMotion:
    return ours.tip_motion_of(_arm(), *_simulated(form))


@lru_cache(maxsize=None)
def _solids() -> TipMotion:
    return exudyn_solids.tip_motion(_arm(), **inputs(NAME)['solids'])


@lru_cache(maxsize=None)
def _mujoco() -> TipMotion:
    given = inputs(NAME)['mujoco']
    return mujoco_segments.tip_motion(_arm(), given['pieces'], given['dt'])


@lru_cache(maxsize=None)
def _pinocchio() -> TipMotion:
    return pinocchio_segments.tip_motion(_arm(), inputs(NAME)['pieces'])


CODE = {NAME: Code(compare, draw)}
