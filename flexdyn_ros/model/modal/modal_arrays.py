# SPDX-License-Identifier: Apache-2.0
"""The arrays of a modal file, checked and complete."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import fields
from typing import Sequence

import numpy as np


@dataclass(frozen=True, eq=False)
class ModalArrays:
    """
    What a modal file says of n nodes and m modes; integrals as in modal_body.ModalBody.

    Attributes:
        node_ids: Numbers of the nodes, shape (n,).
        node_positions: Undeformed, in the link frame, shape (n, 3) [m].
        mode_numbers: Numbers of the modes, shape (m,).
        translation: Displacement of the nodes for unit modes, shape (m, n, 3).
        rotation: Rotation vectors of the nodes for unit modes, shape (m, n, 3).
        modal_mass: Shape (m, m).
        stiffness: Shape (m, m).
        damping: Shape (m, m).
        mass: [kg].
        first_moment: Shape (3,).
        second_moment: Shape (3, 3).
        modal_first_moment: Shape (m, 3).
        modal_second_moment: Shape (m, 3, 3).
        modal_product: Shape (m, m, 3, 3).
        rotary_coupling: Shape (m, 3).
    """

    node_ids: np.ndarray
    node_positions: np.ndarray
    mode_numbers: np.ndarray
    translation: np.ndarray
    rotation: np.ndarray
    modal_mass: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    mass: float
    first_moment: np.ndarray
    second_moment: np.ndarray
    modal_first_moment: np.ndarray
    modal_second_moment: np.ndarray
    modal_product: np.ndarray
    rotary_coupling: np.ndarray

    def __repr__(self) -> str:
        """Return the sizes alone."""
        return f'<{len(self.mode_numbers)} modes at {len(self.node_ids)} nodes>'

    def with_modes(self, numbers: Sequence[int]) -> ModalArrays:
        """Return the arrays of some of the modes, in the order of their numbers given."""
        known = self.mode_numbers.tolist()
        if list(numbers) == known:
            return self
        at = [known.index(number) for number in numbers]
        square = ('modal_mass', 'stiffness', 'damping', 'modal_product')
        single = ('mode_numbers', 'translation', 'rotation', 'modal_first_moment',
                  'modal_second_moment', 'rotary_coupling')  # fmt: skip
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values.update({name: values[name][np.ix_(at, at)] for name in square})
        values.update({name: values[name][at] for name in single})
        return ModalArrays(**values)
