# SPDX-License-Identifier: Apache-2.0
"""Colours of a quantity on drawn links, by the colour maps of matplotlib, and their legend."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Sequence

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.visualization.scene import Drawn, QUANTITIES
from flexdyn_ros.visualization.visuals import GREY
import numpy as np

_MAPS = {'deflection': 'turbo', 'strain': 'coolwarm', 'energy': 'inferno'}


@dataclass(frozen=True)
class Legend:
    """
    Map from values to colours.

    Attributes:
        quantity: The drawn quantity.
        low: Value at the start of the colour map.
        high: Value at its end; equal to `low` where nothing deflects.
    """

    quantity: str
    low: float
    high: float

    @property
    def title(self) -> str:
        """The quantity and its unit, "deflection [m]"."""
        return f'{self.quantity} [{QUANTITIES[self.quantity]}]'

    def ticks(self, count: int = 5) -> list[tuple[float, str]]:
        """Return values from low to high at equal distances, and their texts."""
        return [(float(v), f'{v:.3g}') for v in np.linspace(self.low, self.high, count)]

    def colours(self, values: np.ndarray) -> np.ndarray:
        """
        Return red, green, blue and opacity in 0 ... 1 of values, shape (n, 4); grey for NaN.

        Raises:
            FlexdynError: matplotlib is not installed.
        """
        try:
            from matplotlib import colormaps
        except ImportError as error:
            raise FlexdynError(
                'Colours need matplotlib, which is not installed. Install python3-matplotlib or '
                '"pip install matplotlib".') from error
        span = self.high - self.low
        shares = (np.asarray(values, dtype=float) - self.low) / (span if span > 0.0 else 1.0)
        found = colormaps[_MAPS[self.quantity]](np.nan_to_num(shares))
        found[np.isnan(shares)] = GREY
        return np.asarray(found)


def legend(drawn: Sequence[Drawn], quantity: str, limit: float = 0.0) -> Legend:
    """
    Return the legend of drawn shapes.

    Args:
        drawn: The shapes.
        quantity: "deflection", "strain" or "energy".
        limit: Largest magnitude in the legend; 0 takes that of the shapes.
    """
    sizes = [np.abs(d.values[np.isfinite(d.values)]).max(initial=0.0) for d in drawn
             if d.values is not None]
    high = limit or float(max(sizes, default=0.0))
    return Legend(quantity, -high if quantity == 'strain' else 0.0, high)


def rounded_up(value: float) -> float:
    """Return the next of 1, 2 and 5 times a power of ten; 0 for 0."""
    if value <= 0.0:
        return 0.0
    decade = 10.0 ** math.floor(math.log10(value))
    return next(k * decade for k in (1.0, 2.0, 5.0, 10.0) if k * decade >= value * (1 - 1e-9))
