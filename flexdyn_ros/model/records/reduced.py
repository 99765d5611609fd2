# SPDX-License-Identifier: Apache-2.0
"""Robots in reduced forms by name: terms that the equations of their flexible links drop."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Optional, Sequence, Union

from flexdyn_ros.arguments import names as names_of
from flexdyn_ros.errors import ArgumentError, did_you_mean, FlexdynError, UnknownName
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import require_robot, Robot

# Form to the attributes `deflection` and `rotation` of <flexible_link>.
FORMS = {
    'exact': ('exact', 'exact'),
    'linearised': ('linearised', 'exact'),
    'undeformed_kinetic_energy': ('undeformed_kinetic_energy', 'exact'),
    'first_order_rotations': ('exact', 'linear'),
}


def reduced(
    robot: Robot, form: str, links: Optional[Union[str, Sequence[str]]] = None
) -> Robot:
    """
    Return a robot whose flexible links follow reduced equations, see docs/reduced_forms.md.

    It replaces the forms that the description gives to the same links. `flexdyn info` and the
    robot's `notes` name the form.

    Args:
        robot: From `load_robot`.
        form: "linearised" (small deflections: linear in the modes' own rows),
            "undeformed_kinetic_energy" (inertia that does not depend on deflections),
            "first_order_rotations" (King's equations, without geometric stiffening), or "exact".
        links: Names of the links; None for all that have mode shapes.

    Raises:
        ArgumentError: There is no such form, a link has no mode shapes, or robot is none.
        FlexdynError: The robot has loops, whose closure needs exact motion, or another link is
            reduced otherwise.
        UnknownName: There is no such link.
    """
    require_robot(robot)
    if not isinstance(form, str) or form not in FORMS:
        advice = did_you_mean(str(form), FORMS)
        if isinstance(form, str) and form == 'quasi_static':
            advice = 'Quasi-static modes are not a form of a robot: use QuasiStatic(dyn)'
        raise ArgumentError('form', f'is "{form}", expected one of {tuple(FORMS)}. {advice}')
    chosen = _chosen(robot, links)
    if robot.loops and form != 'exact':
        raise FlexdynError(
            f'Loop "{robot.loops[0].name}" needs exact motion: the links of robot "{robot.name}" '
            f'cannot have the form "{form}".'
        )
    deflection, rotation = FORMS[form]
    changed = tuple(
        replace(link, deflection=deflection, rotation=rotation) if link.name in chosen else link
        for link in robot.links
    )
    old = form_notes(robot.links)
    notes = [note for note in robot.notes if note not in old]
    result = replace(robot, links=changed, notes=(*notes, *form_notes(changed)))
    contradiction = contradicting_forms(result.links)
    if contradiction:
        raise FlexdynError(f'{contradiction} Give all of them one form, or "exact".')
    return result


def contradicting_forms(links: Iterable[Link]) -> str:
    """Return the fault of the forms of a robot's links, or nothing."""
    forms: dict[str, str] = {}
    for link in links:
        if link.mode_names and link.deflection != 'exact':
            forms.setdefault(link.deflection, link.name)
    if len(forms) < 2:
        return ''
    given = ' and '.join(f'link "{name}" deflection="{form}"' for form, name in forms.items())
    return f'A robot can have one reduced form, and {given}.'


def form_notes(links: Iterable[Link]) -> tuple[str, ...]:
    """Return the notes about links in reduced forms."""
    return tuple(
        f'Link "{link.name}" is in a reduced form, {link.reduced_form}: it drops terms of the '
        'equations, see docs/reduced_forms.md.'
        for link in links if link.reduced_form
    )


def _chosen(robot: Robot, links: Optional[Union[str, Sequence[str]]]) -> tuple[str, ...]:
    """Return the names of the chosen links."""
    bent = [link.name for link in robot.links if _has_shapes(link)]
    if links is None:
        if not bent:
            raise ArgumentError('robot', 'has no link with mode shapes. Add a <flexible_link>')
        return tuple(bent)
    names = names_of('links', links)
    for name in names:
        if name not in robot.frame_names:
            raise UnknownName('link', name, robot.frame_names)
        if name not in bent:
            raise ArgumentError(
                'links', f'names "{name}", which has no mode shapes. Choose among '
                f'{", ".join(bent)}'
            )
    return names


def _has_shapes(link: Link) -> bool:
    """Return whether a link deforms by mode shapes: rigid ones and segments do not."""
    return bool(link.mode_names) and link.segments is None
