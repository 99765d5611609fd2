# SPDX-License-Identifier: Apache-2.0
"""Van der Merwe's four links on a pivot in motion; their first step is a validation case."""

from functools import lru_cache

import flexdyn_ros as fd
import numpy as np
import pytest
from validation.case_file import expected, inputs
from validation.van_der_merwe.four_links import FIRST_STEP, four_links, MOTION, REST, viscous


def test_redundant_constraints_are_reported_once(caplog):
    dyn = four_links.__wrapped__()
    dyn.forward_dynamics(REST, REST, REST)
    dyn.constraint_forces(REST, REST, REST)
    assert dyn.loop_report(REST).rank == expected(FIRST_STEP, 'rank_A_tip')
    assert [r.getMessage().count('rank 2') for r in caplog.records] == [1]


@lru_cache(maxsize=None)
def four_link_run(friction=True, dt=2e-3, t_end=1.01):
    dyn = four_links(backend='python')
    return dyn, fd.simulate(dyn, REST, REST, viscous if friction else None, t_end, dt)


def test_motion_of_the_four_links():
    """States and forces by another program; the peak force is in the validation's slow case."""
    dyn, run = four_link_run()
    at = [round(t / 2e-3) for t in inputs(MOTION)['times']]
    assert run.q[at] == pytest.approx(expected(MOTION, 'q'), abs=2e-7)
    assert run.qd[at] == pytest.approx(expected(MOTION, 'qd'), abs=2e-6)
    force = [
        -dyn.constraint_forces(run.q[k], run.qd[k], viscous(0, 0, run.qd[k]))[[2, 4]] for k in at
    ]
    assert np.array(force) == pytest.approx(expected(MOTION, 'force'), abs=1e-4)
    assert np.abs(dyn.loop_gaps(run.q[-1])).max() < 1e-12


def test_energy_of_the_four_links_without_friction():
    _, run = four_link_run(friction=False, dt=4e-3, t_end=1.2)
    assert run.energy[0] == pytest.approx(expected(MOTION, 'energy'))
    assert np.abs(run.energy - run.energy[0]).max() < 1e-4
