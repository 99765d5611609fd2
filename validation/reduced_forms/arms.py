# SPDX-License-Identifier: Apache-2.0
"""The arms of the study of reduced forms, and their forms."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, Iterable

from flexdyn_ros.model.records.reduced import reduced
from flexdyn_ros.model.records.robot import Robot
import numpy as np
from validation.robots import example_robot

# Forms whose modes move, and their names in a picture.
FORMS = {
    'linearised': 'linearised deflections',
    'undeformed_kinetic_energy': 'kinetic energy of the undeformed arm',
    'first_order_rotations': 'first-order rotations',
}
TITLES = {'two_link_arm': 'Two-link arm of 2 m', 'canadarm': 'Canadarm, 14.6 m'}


@lru_cache(maxsize=None)
def exact_arm(name: str, modes: int) -> Robot:
    """Return an example arm with geometric stiffening and without gravity."""
    robot = example_robot(name, modes=str(modes))
    links = (
        replace(link, geometric_stiffening=True) if link.beam is not None else link
        for link in robot.links
    )
    return replace(robot, links=tuple(links), gravity_vector=(0.0, 0.0, 0.0))


def forms_of(robot: Robot) -> dict[str, Robot]:
    """Return a robot in each form that leaves its modes their motion."""
    return {form: reduced(robot, form) for form in FORMS}


def plain_ticks(axes: Any, places: Iterable[float]) -> None:
    """Label a logarithmic axis with these numbers and no others."""
    axes.set_xticks(list(places), [f'{x:g}' for x in places])
    axes.set_xticks([], minor=True)


def order(errors: np.ndarray, sizes: np.ndarray) -> float:
    """Return the power of its size that an error goes with, between the two smallest sizes."""
    small = np.argsort(sizes)[:2]
    return float(np.diff(np.log(errors[small]))[0] / np.diff(np.log(sizes[small]))[0])
