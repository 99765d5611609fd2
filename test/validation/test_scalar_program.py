# SPDX-License-Identifier: Apache-2.0
"""Algorithms on numbers of one precision: right, and nowhere in another precision."""

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.symbolic.graph import Graph
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
import pytest
from validation.beam_arms import beam_arm_urdf
from validation.mohan_saha.canadarm import canadarm
from validation.mohan_saha.canadarm_motion import printed_coriolis_force
from validation.mohan_saha.denoc import BeamLink, move
from validation.mohan_saha.denoc_recursions import bias
from validation.mohan_saha.driven_run import integrate
from validation.mohan_saha.two_solutions import SOLUTIONS, TwoSolutions
from validation.scalar_program import on_numbers


class Tracked:
    """A number of single precision that meets nothing but its like."""

    made = 0

    def __init__(self, value):
        self.value = np.float32(value)
        Tracked.made += 1

    def _with(self, other, operation):
        assert isinstance(other, Tracked), f'{other!r} is of another precision'
        return Tracked(operation(self.value, other.value))

    def __add__(self, other):
        return self._with(other, np.add)

    def __sub__(self, other):
        return self._with(other, np.subtract)

    def __mul__(self, other):
        return self._with(other, np.multiply)

    def __truediv__(self, other):
        return self._with(other, np.divide)

    def __neg__(self):
        return Tracked(-self.value)

    def sin(self):
        return Tracked(np.sin(self.value))

    def cos(self):
        return Tracked(np.cos(self.value))


def state(robot, seed=0):
    """Return coordinates, rates and forces of an arm."""
    rng = np.random.default_rng(seed)
    q, qd, tau = rng.normal(size=(3, robot.nv))
    q[robot.n_joints:] *= 0.05
    return q.astype(np.float32).astype(float), qd, 100.0 * tau


@pytest.mark.parametrize('solution', SOLUTIONS)
def test_nothing_is_computed_in_another_precision(solution):
    """A number that refuses all others goes through both solutions."""
    robot = canadarm(2)
    parts = TwoSolutions(robot, Tracked)
    q, qd, tau = ([Tracked(x) for x in vector] for vector in state(robot))
    before = Tracked.made
    found = parts.accelerations(solution, q, qd, tau)
    assert Tracked.made - before > 400
    single = TwoSolutions(robot, np.float32)
    same = single.accelerations(solution, *([x.value for x in v] for v in (q, qd, tau)))
    assert [x.value for x in found] == same
    assert {type(x) for x in same} == {np.float32}


@pytest.mark.parametrize('solution', SOLUTIONS)
def test_both_solutions_are_forward_dynamics(solution):
    """A plane arm with a payload and gravity."""
    robot = load_robot(beam_arm_urdf(
        [1.0, 0.7], [2.0, 1.5], [80.0, 60.0], 2, gravity=(0.0, -9.81, 0.0), tip_mass=0.5,
    ))
    dyn, parts = reference_dynamics(robot), TwoSolutions(robot, float)
    q, qd, tau = state(robot)
    found = parts.accelerations(solution, q.tolist(), qd.tolist(), tau.tolist())
    assert_agree(np.array(found), dyn.forward_dynamics(q, qd, tau), 1e-11)
    assert_agree(parts.mass_matrix(q.tolist()), dyn.mass_matrix(q), 1e-13)
    assert_agree(np.array(parts.bias(q.tolist(), qd.tolist())), dyn.bias_vector(q, qd), 1e-13)


def test_the_model_is_rounded_where_asked():
    """Masses and stiffness as single precision has them."""
    robot = load_robot(beam_arm_urdf([0.7], [1.1], [80.3], 1))
    exact, rounded = (TwoSolutions(robot, float, model) for model in (float, np.float32))
    q = [0.3, 0.01]
    difference = np.max(np.abs(exact.mass_matrix(q) / rounded.mass_matrix(q) - 1.0))
    assert 1e-9 < difference < 2e-7


def test_functions_that_are_not_there_are_refused():
    """Not every function is known in every precision."""
    graph = Graph()
    with pytest.raises(ValueError, match='tanh'):
        on_numbers([graph.symbol('x').tanh()], ['x'], np.float32)


def test_runs_keep_their_precision_and_stop_where_they_escape():
    """Sums of single precision; a step far beyond the bound ends early."""
    robot = canadarm(1)
    zero = np.zeros(robot.nv)
    pushed = np.full((201, 3), 100.0)
    single = integrate(TwoSolutions(robot, np.float32), 'dense', zero, zero, 1e-3, 100, pushed)
    double = integrate(TwoSolutions(robot, float), 'dense', zero, zero, 1e-3, 100, pushed)
    assert single.finished and np.array_equal(single.q, single.q.astype(np.float32))
    assert_agree(single.q[-1], double.q[-1], 1e-4, floor=1e-9)
    assert double.work[-1] == pytest.approx(pushed[0] @ double.q[-1, :3], rel=1e-6)
    bent = np.full(robot.nv, 0.1)
    escaped = integrate(TwoSolutions(robot, float), 'recursive', bent, zero, 0.1, 100)
    assert not escaped.finished and escaped.end < 10.0


def test_the_printed_coriolis_term():
    """Terms missing in equation 24b, in the plane and by quadrature over points."""
    rng = np.random.default_rng(2)
    q, qd = rng.normal(size=(2, 9))
    q[3:] *= 0.1
    order = [0, 3, 4, 1, 5, 6, 2, 7, 8]
    links = [BeamLink(a, m, 1e5, (2, 0)) for a, m in ((6, 140), (7, 85), (2, 95))]
    twice, once = (bias(move(links, q[order], qd[order], factor), np.zeros(3))
                   for factor in (2.0, 1.0))
    assert_agree(printed_coriolis_force(q, qd)[order], twice - once, 1e-12)
