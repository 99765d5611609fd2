# SPDX-License-Identifier: Apache-2.0
"""The mode families, cross-sections and mass of a <beam>: read, and compared with each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Collection, Optional, Sequence

from flexdyn_ros.model.extension.items import Item
from flexdyn_ros.model.extension.mass_reader import beam_mass, refuse_second_mass
from flexdyn_ros.model.records.beam import ModeFamily, Station
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.section import relative_area

_UNITS = {
    'young': 'Pa', 'shear': 'Pa', 'area': 'm^2', 'iy': 'm^4', 'iz': 'm^4', 'j': 'm^4',
    'polar': 'm^4', 'iyz': 'm^4', 'linear_density': 'kg/m',
}  # fmt: skip
# Properties that each kind of modes needs.
NEEDS = {
    'bending_y': ('young', 'iz'),
    'bending_z': ('young', 'iy'),
    'torsion': ('shear', 'j', 'area'),
    'axial': ('young', 'area'),
}


def read_families(item: Item) -> tuple[ModeFamily, ...]:
    """
    Return the families of a <beam> that have modes: bending_y, bending_z, torsion, axial.

    Raises:
        ModelError: A value has no effect, or contradicts the shapes.
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
            'Write 1 for a tip force, 2 for a tip moment as well' if bends
            else f'Write 1, for a tip load along {item.schema.name}',
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
    """Refuse attributes that act on modes, or on natural modes, where there are none."""
    names = [] if family.size else ['damping_ratio', 'shear_correction']
    if not family.count:
        names += ['boundary', 'basis']
    for name in names:
        if item.schema.attribute(name) and item.is_set(name):
            raise item.without_effect(name, ' with modes="0"', 'Remove it, or add modes')


def _check_polynomial(item: Item, family: ModeFamily) -> None:
    if family.shear_correction is not None:
        raise item.place.error(
            'basis="polynomial" has no shear, but shear_correction is given',
            'Use basis="eigen", or remove shear_correction',
        )
    if family.boundary.startswith('pinned'):
        raise item.without_effect(
            'boundary', ' on polynomials: the slope of a pinned root is subtracted',
            'Use boundary="clamped-free", which has the same polynomials')


@dataclass(frozen=True)
class BeamSections:
    """
    The cross-sections of a <beam>.

    Attributes:
        mass: Of the beam [kg].
        given: Names of the properties that are known all along it.
        stations: The stations, every property filled in; empty for a uniform beam.
    """

    mass: float
    given: frozenset[str]
    stations: tuple[Station, ...]


def read_sections(item: Item, link: Link, length: float, hub_only: bool) -> BeamSections:
    """
    Return the sections and the mass of a beam.

    Args:
        item: The <beam> element.
        link: The link as in the URDF.
        length: Of the beam [m].
        hub_only: Whether <inertial> describes the hub alone.

    Raises:
        ModelError: Stations are out of order or incomplete, or mass is missing or given twice.
    """
    stations = list(item.all('station'))
    if not stations:
        return BeamSections(beam_mass(item, link, length, hub_only), written_properties(item), ())
    _check_places(item, stations)
    values = {name: _along(item, stations, name) for name in _UNITS}
    at = [station.value('at') for station in stations]
    law = item.value('interpolation')
    density, areas = values['linear_density'], values['area']
    if density is None:
        mean = None if areas is None else relative_area(at, areas, law)
        mass = beam_mass(item, link, length, hub_only, mean)
        share = [1.0] * len(at) if areas is None else [area / mean for area in areas]
        density = [mass / length * part for part in share]
    else:
        refuse_second_mass(item)
        mass = length * relative_area(at, density, law)
    if values['polar'] is None:
        values['polar'] = values['j']
    found = []
    for k, place in enumerate(at):
        section = {
            name: None if value is None else value[k]
            for name, value in values.items()
            if name != 'linear_density'
        }
        found.append(Station(at=place, linear_density=density[k], **section))
    given = frozenset(name for name, value in values.items() if value is not None)
    return BeamSections(mass, given, tuple(found))


def written_properties(item: Item) -> frozenset[str]:
    """Return the names of the properties of the section that an element itself gives."""
    return frozenset(name for name in _UNITS if item.written(name))


def check_sections(item: Item, families: tuple[ModeFamily, ...], sections: BeamSections) -> None:
    """
    Compare the given properties with those that modes and rotary inertia need.

    Raises:
        ModelError: A property is missing.
    """
    needs, twisting = [], ''
    for family in families:
        what = family.kind.replace('_', ' along ')
        needs += [(name, f'Modes of {what} need') for name in NEEDS[family.kind]]
        if family.shear_correction is not None:
            needs += [(name, 'shear_correction needs') for name in ('shear', 'area')]
        twisting = 'Torsion modes need' if family.kind == 'torsion' else twisting
    if item.value('rotary_inertia'):
        needs += [(name, 'rotary_inertia="true" needs') for name in ('area', 'iy', 'iz')]
    check_needs(item, sections.given, needs, twisting)
    kinds = {family.kind for family in families}
    bends = {'bending_y', 'bending_z'} <= kinds or item.value('rotary_inertia')
    uniform = (item.value('iy'), item.value('iz'), item.value('iyz'))
    along = [(at.iy, at.iz, at.iyz) for at in sections.stations] or [uniform]
    check_product(item, 'iyz' in sections.given, bends, along)
    if item.is_set('shear_centre') and 'torsion' not in kinds:
        raise item.without_effect(
            'shear_centre', ' without torsion modes', 'Write <torsion modes="1"/>, or take it out')


def check_product(
    item: Item, given: bool, acts: bool, sections: Sequence[Sequence[Optional[float]]]
) -> None:
    """
    Refuse a product of inertia without an effect, or that no area has.

    Args:
        item: The element.
        given: Whether there is one.
        acts: Whether both deflections, or rotary inertia, see it.
        sections: iy, iz and iyz of each cross-section.

    Raises:
        ModelError: As above.
    """
    if given and not acts:
        raise item.place.error(
            'iyz has no effect, as it couples bending along y and z',
            'Bend along both, or remove it',
        )
    for first, second, product in sections if given else ():
        if not first or not second or (product or 0.0) ** 2 >= first * second:
            raise item.place.error(
                f'iyz="{product:g}" is no product of inertia of an area with iy and iz',
                'Its square is below iy iz: check the three numbers',
            )


def check_needs(
    item: Item, given: Collection[str], needs: Sequence[tuple[str, str]], twisting: str
) -> None:
    """
    Refuse a beam or segments without properties of the section that are needed.

    Args:
        item: The element.
        given: Names of the properties that are known.
        needs: Names of properties, each with subject and verb of the sentence on its need.
        twisting: Subject and verb of the sentence on polar inertia; empty where none needs it.

    Raises:
        ModelError: A property is missing, or zero.
    """
    for name, who in needs:
        if name not in given:
            raise item.place.error(f'{who} {name}', f'Write {name}="..." [{_UNITS[name]}]')
    if twisting and item.value('polar') == 0.0:
        raise item.place.error(
            f'{twisting} polar inertia, but polar="0"',
            'Write polar="..." [m^4], or omit it for polar = j',
        )
    name = 'polar' if item.written('polar') else 'j'
    stationed = item.child('station') is not None and {'polar', 'j'}.intersection(given)
    if (item.value(name) or stationed) and 'area' not in given:
        raise item.place.error(
            f'{name} gives inertia about the beam axis, rho {name} with rho = '
            'mass / (area length), and so needs area',
            'Write area="..." [m^2]',
        )


def _check_places(item: Item, stations: list[Item]) -> None:
    at = [station.value('at') for station in stations]
    if len(at) < 2 or at[0] != 0.0 or at[-1] != 1.0:
        raise item.place.error(
            f'The stations are at {" ".join(f"{place:g}" for place in at)}',
            'Begin with one at="0" and end with one at="1"',
        )
    for before, after in zip(at, at[1:]):
        if after < before:
            raise item.place.error(
                f'The station at="{after:g}" follows the one at="{before:g}"',
                'Write the stations from root to tip',
            )
    for place in at:
        most = 1 if place in (0.0, 1.0) else 2
        if at.count(place) > most:
            raise item.place.error(
                f'{at.count(place)} stations stand at="{place:g}"',
                'Two at one place inside the beam are a step; remove the others',
            )


def _along(item: Item, stations: list[Item], name: str) -> Optional[list[float]]:
    """Return a property at each station, None where nothing gives it."""
    own = [station.value(name) if station.written(name) else None for station in stations]
    if not any(value is not None for value in own):
        return None if not item.written(name) else [item.value(name)] * len(stations)
    if item.written(name):
        if all(value is not None for value in own):
            raise item.place.error(
                f'{name}="{item.texts[name]}" of the beam has no effect, since every station '
                'gives it',
                'Remove it from <beam>',
            )
        return [item.value(name) if value is None else value for value in own]
    for station, value in zip(stations, own):
        if value is None:
            raise station.place.error(
                f'The station at="{station.texts["at"]}" omits {name}, which others give',
                f'Write {name}="..." [{_UNITS[name]}] there, or in <beam> for all others',
            )
    return [value for value in own if value is not None]
