# SPDX-License-Identifier: Apache-2.0
"""Printed closed chains of van der Merwe, and what compares with their digits."""

import numpy as np
from oracles.compare import load_data

CASES = load_data('van_der_merwe')
PRINTED = 6e-8  # seven decimals


def close(ours, theirs, tolerance=PRINTED):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance)


def turned(six):
    """Return rows or entries with the angular part first."""
    return np.concatenate((six[3:], six[:3]))


def mobility(dyn, q, frame):
    """Return the inverse of the operational-space inertia, angular part first."""
    order = [3, 4, 5, 0, 1, 2]
    return dyn.operational_space_inertia(q, frame, inverse=True)[np.ix_(order, order)]
