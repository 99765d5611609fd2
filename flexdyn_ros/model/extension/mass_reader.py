# SPDX-License-Identifier: Apache-2.0
"""The mass of a <beam> or <segments>: written in one of three ways, or left to <inertial>."""

from __future__ import annotations

from typing import Optional

from flexdyn_ros.model.extension.items import Item
from flexdyn_ros.model.records.link import Link

# Ways to give the mass of a beam.
_MASSES = ('mass', 'density', 'linear_density')


def refuse_second_mass(item: Item) -> None:
    """Refuse a mass or density beside the mass per length of stations."""
    for name in ('mass', 'density'):
        if item.written(name):
            raise item.place.error(
                f'The mass is given twice, by {name} and linear_density', 'Keep one of them'
            )


def has_own_mass(item: Item) -> bool:
    """Return whether a <beam> or <segments> gives the mass of its beam, by one of three ways."""
    stations = item.all('station') if item.schema.child('station') else ()
    return any(item.written(name) for name in _MASSES) or any(
        station.written('linear_density') for station in stations
    )


def beam_mass(
    item: Item, link: Link, length: float, hub_only: bool, area: Optional[float] = None
) -> float:
    """
    Return the mass of a beam [kg]: written in one of three ways, or that of <inertial>.

    Args:
        item: The <beam> or <segments> element.
        link: The link as in the URDF.
        length: Of the beam [m].
        hub_only: Whether <inertial> describes the hub alone.
        area: Mean area of the cross-section [m^2]; the written one where None.
    """
    area = item.value('area') if area is None else area
    given = [name for name in _MASSES if item.written(name)]
    if len(given) > 1:
        raise item.place.error(
            f'The mass is given twice, by {" and ".join(given)}', 'Keep one of them'
        )
    if item.written('density'):
        if area is None:
            raise item.place.error('density needs area', 'Write area="..." [m^2]')
        return float(item.value('density') * area * length)
    if item.written('linear_density'):
        return float(item.value('linear_density') * length)
    if item.written('mass'):
        return float(item.value('mass'))
    if hub_only:
        raise item.place.error(
            'The beam has no mass, and with inertial="hub" <inertial> is the hub alone',
            'Write mass="..." [kg], density or linear_density',
        )
    if link.inertia is None or link.inertia.mass == 0.0:
        raise item.place.error(
            'The beam has no mass, and the link has no <inertial> to take it from',
            'Write mass="..." [kg], density or linear_density',
        )
    return link.inertia.mass
