# SPDX-License-Identifier: Apache-2.0
"""
Columns of the regressor for the losses of a joint.

Law of the description: viscous v + (coulomb + (stribeck - coulomb) exp(-(v / v_s)^2)) tanh(v /
v_0). Beyond it: an offset, a part with v |v|, and unequal levels in the two directions. The load
term grows with |tau| of the rigid arm (Hamon, Gautier, Garrec and Janot, 2010). Presliding is the
force that a joint keeps at standstill. It is the stop operator of Maxwell's slip model (Al-Bender,
Lampaert and Swevers, 2005) on measured positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from flexdyn_ros.arguments import names
from flexdyn_ros.errors import ArgumentError, did_you_mean
import numpy as np

# Whether a term's parameter is zero or more.
POSITIVE = {
    'viscous': True, 'coulomb': True, 'stribeck': True, 'load': True, 'presliding': True,
    'offset': False, 'quadratic': False, 'viscous_asymmetry': False, 'coulomb_asymmetry': False,
}
UNITS = {
    'viscous': 'N m s/rad | N s/m', 'viscous_asymmetry': 'N m s/rad | N s/m', 'load': '-',
    'quadratic': 'N m s^2/rad^2 | N s^2/m^2',
}
DESCRIBED = ('viscous', 'coulomb', 'stribeck')
DEFAULT = ('viscous', 'coulomb', 'offset')
ALL = ('viscous', 'coulomb', 'stribeck', 'offset', 'quadratic', 'load', 'presliding')
# Candidates for the shape of a law: velocities [rad/s | m/s], displacements [rad | m].
STRIBECK_VELOCITIES = tuple(np.geomspace(0.01, 1.0, 13).tolist())
PRESLIDING_LENGTHS = (5e-5, 1e-4, 1.5e-4, 2e-4, 3e-4, 5e-4, 1e-3, 2e-3)


@dataclass(frozen=True)
class FrictionShape:
    """
    Parameters on which the friction of one joint depends nonlinearly.

    Attributes:
        smoothing: v_0 [rad/s | m/s].
        stribeck: v_s [rad/s | m/s].
        presliding: Displacement after which a joint slides [rad | m].
    """

    smoothing: float = 0.02
    stribeck: float = 0.1
    presliding: float = 2e-4


def checked_terms(terms: object) -> tuple[str, ...]:
    """Return the terms of friction by a word or by their names, in a fixed order."""
    named = {'default': DEFAULT, 'all': ALL, 'none': ()}
    if isinstance(terms, str):
        found: Sequence[str] = named.get(terms, (terms,))
    else:
        found = names('friction', terms)
    unknown = [term for term in found if term not in tuple(POSITIVE)]
    if unknown:
        raise ArgumentError(
            'friction', f'names "{unknown[0]}", expected auto, {", ".join(named)}, or some of '
            f'{", ".join(POSITIVE)}. {did_you_mean(unknown[0], ("auto", *named, *POSITIVE))}')
    if 'stribeck' in found and 'coulomb' not in found:
        raise ArgumentError('friction', 'names "stribeck", which needs "coulomb" beside it')
    return tuple(term for term in POSITIVE if term in found)


def friction_columns(
    terms: Sequence[str], shape: FrictionShape, velocity: np.ndarray, places: np.ndarray,
    keep: int, load: np.ndarray,
) -> np.ndarray:
    """
    Return the derivatives of a joint's friction by its parameters, (T, terms).

    Args:
        terms: Names of terms.
        shape: Of the law.
        velocity: (T,) [rad/s | m/s].
        places: Measured positions at keep times the rate, about (keep T,) [rad | m].
        keep: See above.
        load: Torque of the rigid arm, (T,) [N m | N].
    """
    sign = np.tanh(velocity / shape.smoothing)
    slow = np.exp(-(velocity / shape.stribeck) ** 2) if 'stribeck' in terms else 0.0
    columns = {
        'viscous': velocity, 'coulomb': (1.0 - slow) * sign, 'stribeck': slow * sign,
        'offset': np.ones_like(velocity), 'load': np.abs(load) * sign,
        'quadratic': velocity * np.abs(velocity), 'viscous_asymmetry': np.abs(velocity),
        'coulomb_asymmetry': np.abs(sign),
    }
    if 'presliding' in terms:
        columns['presliding'] = stop_operator(places, shape.presliding)[::keep] - sign
    return np.array([columns[term] for term in terms]).T.reshape(len(velocity), -1)


def stop_operator(places: np.ndarray, length: float) -> np.ndarray:
    """Return the state in [-1, 1] of a spring that slips, from positions (T,), zero at first."""
    found, state = [0.0], 0.0
    for step in (np.diff(places) / length).tolist():
        state = min(1.0, max(-1.0, state + step))
        found.append(state)
    return np.array(found)
