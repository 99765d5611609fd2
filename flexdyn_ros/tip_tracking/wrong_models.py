# SPDX-License-Identifier: Apache-2.0
"""Descriptions with masses, stiffnesses and dampings that differ from the given ones."""

from __future__ import annotations

import re
from typing import Sequence
import xml.etree.ElementTree as ET

import numpy as np

# Attributes that share one factor, by element; elements inside <inertial> share its factor.
SCALED = {
    'beam': (('young', 'shear'), ('mass',)), 'bending': (('damping_ratio',),),
    'joint_dynamics': (('stiffness',), ('damping',), ('rotor_inertia',)),
    'payload': (('mass', 'ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz'),),
}
INERTIA = ('value', 'ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')


def wrong_descriptions(
    texts: Sequence[str], seed: int, deviation: float = 0.05
) -> tuple[str, ...]:
    """
    Return descriptions whose masses, stiffnesses and dampings have seeded factors.

    Args:
        texts: A URDF, then extensions; prefixes of foreign elements are dropped.
        seed: Of the random numbers.
        deviation: Factors are uniform from 1 - deviation to 1 + deviation.
    """
    random = np.random.default_rng(seed)
    return tuple(_scaled(ET.fromstring(re.sub(r'(</?)\w+:', r'\1', text)), random, deviation)
                 for text in texts)


def _scaled(root: ET.Element, random: np.random.Generator, deviation: float) -> str:
    for element in root.iter():
        if element.tag == 'inertial':
            factor = 1.0 + deviation * random.uniform(-1.0, 1.0)
            for child in element:
                _scale(child, INERTIA, factor)
        for names in SCALED.get(str(element.tag), ()):
            _scale(element, names, 1.0 + deviation * random.uniform(-1.0, 1.0))
    return ET.tostring(root, encoding='unicode')


def _scale(element: ET.Element, names: tuple[str, ...], factor: float) -> None:
    for name in names:
        if name in element.attrib:
            element.set(name, repr(float(element.get(name, '')) * factor))
