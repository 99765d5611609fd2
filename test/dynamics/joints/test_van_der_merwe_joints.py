# SPDX-License-Identifier: Apache-2.0
"""
Van der Merwe's open chains against the particle model.

Every digit that the work prints of them is a validation case, in test/validation.
"""

import numpy as np
from oracles.particle_model import ParticleModel
import pytest
from validation.case_file import expected, inputs
from validation.van_der_merwe.open_chains import chain, STANFORD, valve_motion

VALVE = 'vm_valve_task'


@pytest.mark.parametrize('k', range(len(inputs(VALVE)['times'])))
def test_valve_task(k):
    """A joint that turns and slides at once; the moment opposes the gripper in phase two."""
    dyn = chain(STANFORD)
    q, qd, qdd, moment = valve_motion(inputs(VALVE)['times'][k])
    along = dyn.frame_pose(q, 'tip')[:3, 0]
    wrench = {'tip': np.concatenate(([0, 0, 0], -moment * along))}
    tau = dyn.inverse_dynamics(q, qd, qdd, wrenches=wrench)
    particles = ParticleModel(dyn.robot).inverse_dynamics(q, qd, qdd, wrenches=wrench)
    assert tau == pytest.approx(particles, abs=1e-12)


def test_several_axes_at_once():
    """Joints of four, three and two axes, turning and sliding."""
    name = 'vm_several_axes'
    dyn, tau = chain(name), expected(name, 'tau')
    q, qd, qdd = (np.array(inputs(name)[key]) for key in ('q', 'qd', 'qdd'))
    found = ParticleModel(dyn.robot).inverse_dynamics(q, qd, qdd)
    assert found == pytest.approx(tau, abs=2e-9)
    assert dyn.forward_dynamics(q, qd, tau) == pytest.approx(qdd, abs=1e-6)
