# SPDX-License-Identifier: Apache-2.0
"""
The high stiffness, low mass mechanism of van der Merwe held by its controller.

Its checks and all its simulations are validation cases.
"""

import flexdyn_ros as fd
import numpy as np
from oracles.compare import reference_dynamics
from oracles.mechanisms import mechanism
import pytest
from validation.case_file import expected
from validation.van_der_merwe.three_legs import CONTROL, controlled, one_leg


def test_the_controller_holds_the_mechanism():
    """It drops, stops, and creeps back as the integral grows."""
    heights, _ = controlled(one_leg()[1], [1, 2], 1.0)
    assert heights.min() == pytest.approx(float(expected(CONTROL, 'sim1_lowest')), rel=0.02)
    assert int(np.argmin(heights)) * 5e-3 == pytest.approx(0.23, abs=0.011)
    assert heights[-1] == pytest.approx(float(expected(CONTROL, 'sim1_second')), rel=0.02)


def test_the_whole_mechanism_moves_as_one_leg():
    """The example robot under the same three forces falls as its symmetric third."""
    dyn = reference_dynamics(mechanism('hslm'))
    robot = dyn.robot
    tau = np.zeros(robot.nv)
    tau[[robot.joint_names.index(f'leg{k}/tx') for k in (1, 2, 3)]] = -30.0
    run = fd.simulate(dyn, np.zeros(15), np.zeros(15), tau, 0.1, 2e-2)
    leg, q = one_leg()
    third = fd.simulate(leg, q, np.zeros(3), [0.0, -30.0, 0.0], 0.1, 2e-2)
    height = dyn.frame_pose(run.q[-1], 'tip')[2, 3]
    assert height == pytest.approx(leg.frame_pose(third.q[-1], 'tip')[1, 3], abs=1e-8)
    assert np.abs(dyn.loop_gaps(run.q[-1])).max() < 1e-12
