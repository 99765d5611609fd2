# SPDX-License-Identifier: Apache-2.0
"""Variables of generated Python that are used again."""

import flexdyn_ros as fd
from flexdyn_ros.codegen.emitting.emit_python import emit_python
from flexdyn_ros.codegen.emitting.registers import with_registers
from flexdyn_ros.codegen.emitting.schedule import schedule
from flexdyn_ros.codegen.generate import compile_python
from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.codegen.tracing.loads import Loads
from flexdyn_ros.codegen.tracing.simplify import simplify
import numpy as np
from oracles.random_robots import random_robot_urdf
import pytest


@pytest.mark.parametrize('function', ['inverse_dynamics', 'mass_matrix'])
@pytest.mark.parametrize('seed', range(2))
def test_the_same_numbers_from_fewer_variables(function, seed):
    """A variable is not taken before its last use: results agree bit for bit."""
    robot = fd.load_robot(random_robot_urdf(seed, 4, ('revolute',)))
    plan = schedule(simplify(robot, function, [Request(function)], Loads(), hasty=True).trace)
    packed = with_registers(plan)
    assert 0 < len(set(packed.names.values())) < len(set(plan.names.values()))
    assert set(packed.names) == set(plan.names)
    vectors = np.random.default_rng(seed).normal(size=(3, robot.nv)).tolist()
    values = vectors[: len(plan.trace.inputs)]
    plain = compile_python(emit_python(plan), function)(*values)
    few = compile_python(emit_python(packed, flat=True), function)(*values)
    assert few == (list(np.ravel(plain)) if function == 'mass_matrix' else plain)
