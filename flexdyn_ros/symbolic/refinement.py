# SPDX-License-Identifier: Apache-2.0
"""
A longer search for a cheaper network, which also changes scales and merges squares.

The numbers in a program are not its own: most of them come from the units of what is computed on
the way. So between any two steps of the search some polynomials are computed in other units
(scales.py), at first without a gain, until what is in common shows. What is multiplied out has no
square of a sine beside that of a cosine (squares.py).
"""

from __future__ import annotations

from functools import partial
from random import Random

from flexdyn_ros.symbolic.extraction import attempt
from flexdyn_ros.symbolic.extraction import drawn
from flexdyn_ros.symbolic.extraction import open_about
from flexdyn_ros.symbolic.network import Network
from flexdyn_ros.symbolic.scales import rescale
from flexdyn_ros.symbolic.squares import merge_squares

# Changes of scales that are tried before each step.
RESCALINGS = 10


def refine(network: Network, steps: int, patience: int, seed: int = 1) -> None:
    """
    Look for a cheaper network, step by step; see `extraction.search`, which comes before.

    Args:
        network: The network; changed in place.
        steps: How many steps to try.
        patience: Steps without a gain after which the search ends.
        seed: Of the random numbers; the same one gives the same result.
    """
    random = network.index.random = Random(seed)
    least, since = network.total, 0
    for atom in drawn(network, steps, random):
        for other in random.choices(list(network.polynomials), k=RESCALINGS):
            if other in network.polynomials:
                attempt(network, partial(rescale, network, other, random))
        if network.users.get(atom) and atom in network.polynomials:
            attempt(network, partial(_open, network, atom, random))
        since += 1
        if network.total < least:
            least, since = network.total, 0
        elif since >= patience:
            return


def _open(network: Network, atom: int, random: Random) -> bool:
    """Multiply out a polynomial and some near it, without two squares where one is enough."""
    done = open_about(network, atom, random)
    if done and network.partners:
        for each in network.changed:
            merge_squares(network, each)
    return done
