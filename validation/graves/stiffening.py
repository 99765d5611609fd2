# SPDX-License-Identifier: Apache-2.0
"""At high rates of rotation: models without dynamic stiffening, with varying inertia or not."""

from __future__ import annotations

from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np
from validation.case import Progress, Row, Verdict
from validation.case_file import inputs, make_rows
from validation.graves.states import by_influence
from validation.registry import Code
from validation.robots import example_robot


def spinning_beam(progress: Progress) -> list[Row]:
    """Return the remaining share of the beam's own stiffness while it spins."""
    start = inputs('gr_stiffening')
    plain = example_robot('spinning_beam', **start['beam'], geometric_stiffening='false')
    drawn_in = example_robot('spinning_beam', **start['beam'], geometric_stiffening='true')
    own = _stiffness(by_influence(plain), 0.0)
    mass = by_influence(plain).mass_matrix(np.zeros(plain.nq))[1, 1]
    rate = start['rate'] * np.sqrt(own / mass)
    varying = _stiffness(by_influence(plain), rate) / own
    constant = _stiffness(by_influence(plain, 'undeformed_inertia'), rate) / own
    stiffened = _stiffness(by_influence(drawn_in), rate) / own
    detail = '{:.3g} of the stiffness at rest'
    return make_rows('gr_stiffening', {
        'varying': Verdict(varying < 0.0, detail.format(varying)),
        'closed_form': varying,
        'constant': Verdict(abs(constant - 1.0) < 1e-9, detail.format(constant)),
        'stiffened': Verdict(stiffened > 1.0, detail.format(stiffened)),
    })


def _stiffness(dyn: Dynamics, rate: float) -> float:
    """Return the force on the mode for a unit of it, in the steady motion at a joint rate."""
    robot = dyn.robot
    qd = np.zeros(robot.nv)
    qd[0] = rate
    by_q, _, _ = dyn.inverse_dynamics_derivatives(np.zeros(robot.nq), qd, np.zeros(robot.nv))
    return float(by_q[1, 1])


CODE = {'gr_stiffening': Code(spinning_beam)}
