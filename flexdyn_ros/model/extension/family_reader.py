# SPDX-License-Identifier: Apache-2.0
"""From <bending>, <torsion> and <axial> to families of modes."""

from __future__ import annotations

from typing import Optional

from flexdyn_ros.model.extension.extension_reader import Item
from flexdyn_ros.model.robot.link import ModeFamily


def read_families(item: Item) -> tuple[ModeFamily, ...]:
    """
    Return the families of a <beam> that have modes: bending_y, bending_z, torsion, axial.

    Raises:
        ModelError: A value has no effect, or says what the shapes cannot be.
    """
    bending = {child.value('axis'): child for child in item.all('bending')}
    candidates: list[tuple[str, Optional[Item]]] = [
        ('bending_y', bending.get('y')),
        ('bending_z', bending.get('z')),
        ('torsion', item.child('torsion')),
        ('axial', item.child('axial')),
    ]
    families = [_family(kind, child) for kind, child in candidates if child is not None]
    return tuple(family for family in families if family.size)


def _family(kind: str, item: Item) -> ModeFamily:
    bends = kind.startswith('bending')
    family = ModeFamily(
        kind=kind,
        count=item.value('modes'),
        damping_ratio=item.value('damping_ratio'),
        boundary=item.value('boundary') if bends else 'clamped-free',
        basis=item.value('basis'),
        static_modes=item.value('static_modes'),
        shear_correction=item.value('shear_correction') if bends else None,
    )
    _check_effects(item, family)
    most = 2 if bends else 1
    if family.static_modes > most:
        raise item.place.error(
            f'static_modes="{family.static_modes}" is more than {most}',
            'There is one for a tip force and one for a tip moment' if bends
            else f'There is one, for a tip load along {item.schema.name}',
        )
    if family.basis == 'polynomial':
        _check_polynomial(item, family)
    ratios = family.damping_ratio
    if isinstance(ratios, tuple) and len(ratios) != family.size:
        raise item.place.error(
            f'damping_ratio="{item.texts["damping_ratio"]}" holds {len(ratios)} numbers, but '
            f'there are {family.size} modes',
            'Write one number for all, or one for each',
        )
    return family


def _check_effects(item: Item, family: ModeFamily) -> None:
    """Refuse what acts on modes, or on natural modes, where there are none."""
    names = [] if family.size else ['damping_ratio', 'shear_correction']
    if not family.count:
        names += ['boundary', 'basis']
    for name in names:
        if item.schema.attribute(name) and item.says(name):
            raise item.place.error(
                f'{name}="{item.texts[name]}" has no effect, as modes="0"',
                'Take it out, or ask for modes',
            )


def _check_polynomial(item: Item, family: ModeFamily) -> None:
    if family.shear_correction is not None:
        raise item.place.error(
            'basis="polynomial" knows no shear, but shear_correction is given',
            'Use basis="eigen", or take shear_correction out',
        )
    if family.boundary.startswith('pinned'):
        raise item.place.error(
            f'boundary="{family.boundary}" has no effect on polynomials, as the slope of a pinned '
            'root is taken off',
            'Use boundary="clamped-free", which gives these polynomials',
        )
