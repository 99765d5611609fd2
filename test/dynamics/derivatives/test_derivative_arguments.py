# SPDX-License-Identifier: Apache-2.0
"""Arguments and results of derivatives: places for results, refusals, arms that rest."""

from codegen.native import need_compiler
import flexdyn_ros as fd
import numpy as np
from oracles.compare import reference_dynamics
from oracles.small_robots import pendulum
import pytest


@pytest.mark.parametrize('backend', ['reference', 'python', 'c', 'auto'])
def test_results_go_where_they_are_wanted(backend):
    """As `out`, one array each; wrong ones are refused by name."""
    need_compiler(backend)
    robot = pendulum()
    dyn = fd.Dynamics(robot, backend)
    out = tuple(np.empty((1, 1)) for _ in range(3))
    found = dyn.inverse_dynamics_derivatives([0.1], [0.2], [0.3], out=out)
    assert all(a is b for a, b in zip(found, out, strict=True))
    assert np.isfinite(found).all()
    found = dyn.forward_dynamics_derivatives([0.1], [0.2], [0.3], out=out)
    assert all(a is b for a, b in zip(found, out, strict=True))
    place = np.empty((1, 1))
    call = dyn.inverse_dynamics_parameter_derivatives
    assert call([0.1], [0.2], [0.3], ['bob/mass'], out=place) is place
    call = dyn.forward_dynamics_parameter_derivatives
    assert call([0.1], [0.2], [0.3], ['bob/mass'], out=place) is place
    with pytest.raises(fd.FlexdynError, match='out'):
        dyn.inverse_dynamics_derivatives([0.1], [0.2], [0.3], out=(place, place, np.empty(2)))
    for wrong in ((place, place), 3.0):
        with pytest.raises(fd.FlexdynError, match='three'):
            dyn.inverse_dynamics_derivatives([0.1], [0.2], [0.3], out=wrong)
    with pytest.raises(fd.FlexdynError, match='qdd'):
        dyn.inverse_dynamics_derivatives([0.1], [0.2], [float('nan')])


@pytest.mark.parametrize(('names', 'message'), [
    ([], 'empty'), (['bob/mas'], 'bob/mass'), (['bob/mass', 'bob/mass'], 'twice'),
    (['gravity'], 'not a parameter'), (None, 'sequence of names'),
    ([['bob/mass']], 'sequence of names'),
])
def test_wrong_parameters_are_refused(names, message):
    """With a hint."""
    dyn = reference_dynamics(pendulum())
    with pytest.raises(fd.FlexdynError, match=message):
        dyn.inverse_dynamics_parameter_derivatives([0.1], [0.2], [0.3], names)


@pytest.mark.parametrize('backend', ['reference', 'python'])
def test_robots_that_do_not_move(backend):
    """Empty matrices."""
    dyn = fd.Dynamics(fd.load_robot('<robot name="r"><link name="base"/></robot>'), backend)
    for function in (dyn.inverse_dynamics_derivatives, dyn.forward_dynamics_derivatives):
        assert [each.shape for each in function([], [], [])] == [(0, 0)] * 3


@pytest.mark.parametrize('backend', ['reference', 'python'])
def test_what_moves_no_inertia_is_refused(backend):
    """By name, as forward dynamics does."""
    text = (
        '<robot name="r"><link name="base"/><link name="tip"/><joint name="idle" '
        'type="continuous"><parent link="base"/><child link="tip"/></joint></robot>'
    )
    dyn = fd.Dynamics(fd.load_robot(text), backend)
    with pytest.raises(fd.FlexdynError, match='"idle"'):
        dyn.forward_dynamics_derivatives([0.0], [0.0], [0.0])
