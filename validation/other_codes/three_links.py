# SPDX-License-Identifier: Apache-2.0
"""Planar arm of three links: ours against four models of other codes, and its convergence."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from validation.case import Picture, Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.other_codes import (
    exudyn_cables,
    exudyn_solids,
    mujoco_segments,
    ours,
    pinocchio_segments,
)
from validation.other_codes.arm import Arm, read_arm
from validation.other_codes.comparison import CodeComparison, first_missing
from validation.other_codes.motion import distances, TipMotion
from validation.other_codes.picture import draw_tips
from validation.registry import Code

NAME, CONVERGENCE = 'codes_three_links', 'codes_convergence'


def compare(progress: Progress) -> list[Row]:
    """Return the rows against each code."""
    given, found = inputs(NAME), CodeComparison()
    best = ours.Modes(given['modes'])
    solid = ours.Modes(given['modes'], stiffening=False, rotary_inertia=True)
    divided = ours.Segments(given['pieces'])

    def cables() -> None:
        found.tips('cables', _ours(best), _cables())

    def solids() -> None:
        found.tips('solids', _ours(best), _solids())
        found.alike('solids', _ours(solid), _solids())

    def mujoco() -> None:
        found.tips('mujoco', _ours(best), _mujoco())
        found.alike('mujoco', _ours(divided), _mujoco())

    def pinocchio() -> None:
        found.tips('pinocchio', _ours(best), _pinocchio())
        found.alike('pinocchio', _ours(divided), _pinocchio())

    _ours(best)
    progress(0.2)
    found.with_code('cables', ['exudyn'], ['tip', 'path'], cables)
    progress(0.3)
    found.with_code('solids', ['exudyn', 'ngsolve'], ['tip', 'path', 'alike'], solids)
    progress(0.6)
    found.with_code('mujoco', ['mujoco'], ['tip', 'path', 'alike'], mujoco)
    progress(0.8)
    found.with_code('pinocchio', ['pinocchio'], ['tip', 'path', 'alike'], pinocchio)
    return make_rows(NAME, found.results, found.computed)


def converge(progress: Progress) -> list[Row]:
    """Return the rows of more modes and of more segments."""
    given, truth = inputs(CONVERGENCE), _cables()
    forms = [*map(ours.Modes, given['modes']), *map(ours.Segments, given['segments'])]
    far = []
    for k, form in enumerate(forms):
        far.append(float(distances(_ours(form), truth).max()))
        progress((k + 1) / len(forms))
    split = len(given['modes'])
    return make_rows(CONVERGENCE, {
        'modes': far[:split],
        'modes_fall': _falling(far[:split]),
        'segments': far[split:],
        'segments_fall': _falling(far[split:]),
    })


def draw(folder: Path) -> list[Picture]:
    """Draw all tips, and their distances."""
    given = inputs(NAME)
    shown = {f'ours, {given["modes"]} modes': _ours(ours.Modes(given['modes']))}
    for label, modules, motion in (
        ('Exudyn, ANCF cables', ['exudyn'], _cables),
        ('Exudyn, reduced solids', ['exudyn', 'ngsolve'], _solids),
        ('MuJoCo, 5 pieces a link', ['mujoco'], _mujoco),
        ('Pinocchio, 5 pieces a link', ['pinocchio'], _pinocchio),
    ):
        if first_missing(modules) is None:
            shown[label] = motion()
    draw_tips(folder / f'{NAME}.png', shown, _arm().t_end, (0, 1))
    return [Picture(
        f'{NAME}.png', 'Planar arm of three links, pushed at its tip. Shown are the path of the '
        "tip in all codes, one line on the other, and the distance of each code's tip from ours.",
    )]


def draw_convergence(folder: Path) -> list[Picture]:
    """Draw the distances from Exudyn's cables."""
    given = inputs(CONVERGENCE)
    shown = {'Exudyn, ANCF cables': _cables()}
    for count in given['modes']:
        shown[f'ours, {count} mode{"s" * (count > 1)}'] = _ours(ours.Modes(count))
    for count in given['segments']:
        shown[f'ours, {count} segments'] = _ours(ours.Segments(count))
    draw_tips(folder / f'{CONVERGENCE}.png', shown, _arm().t_end, (0, 1))
    return [Picture(
        f'{CONVERGENCE}.png', 'The same arm with more modes and more segments a link. Shown are '
        "the path of the tip, and the distance of ours from that of Exudyn's cables.",
    )]


def _falling(far: list[float]) -> Verdict:
    holds = all(after < before for before, after in zip(far, far[1:]))
    return Verdict(holds, ', '.join(f'{value:.2g}' for value in far) + ' m')


@lru_cache(maxsize=None)
def _arm() -> Arm:
    return read_arm(inputs(NAME))


@lru_cache(maxsize=None)
def _ours(form: ours.Form) -> TipMotion:
    return ours.tip_motion(_arm(), form, inputs(NAME)['dt'])


@lru_cache(maxsize=None)
def _cables() -> TipMotion:
    return exudyn_cables.tip_motion(_arm(), **inputs(NAME)['cables'])


@lru_cache(maxsize=None)
def _solids() -> TipMotion:
    return exudyn_solids.tip_motion(_arm(), **inputs(NAME)['solids'])


@lru_cache(maxsize=None)
def _mujoco() -> TipMotion:
    return mujoco_segments.tip_motion(_arm(), inputs(NAME)['pieces'], inputs(NAME)['dt'])


@lru_cache(maxsize=None)
def _pinocchio() -> TipMotion:
    return pinocchio_segments.tip_motion(_arm(), inputs(NAME)['pieces'])


CODE = {
    NAME: Code(compare, draw),
    CONVERGENCE: Code(converge, draw_convergence),
}
