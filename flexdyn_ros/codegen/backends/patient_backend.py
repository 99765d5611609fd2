# SPDX-License-Identifier: Apache-2.0
"""
The backend behind "auto": compiled code, or "python" where there is no compiler.

What was generated before, in this process or another, answers from the first call on. Generating
anew takes as long as thousands of calls, so the first calls of a function are left to the
reference backend, and some more to the extension's interpreter where it is there, for which no
compiler has to run: who tries a model in a session or a script does not wait for one. Calls are
counted apart for each set of payloads and for changed gravity, and begin anew when such a set
comes back, so that clearing a payload leads back to what computed before, bit for bit. All
backends agree to round-off. Who would rather wait at the first call than later sets no patience.
"""

from __future__ import annotations

from functools import lru_cache
import logging
from typing import Any
from typing import Callable
from typing import Mapping
from typing import Optional
from typing import Union

from flexdyn_ros.codegen.backends.c_backend import CBackend
from flexdyn_ros.codegen.backends.interpreted_backend import InterpretedBackend
from flexdyn_ros.codegen.backends.kernel_backend import Listener
from flexdyn_ros.codegen.backends.python_backend import PythonBackend
from flexdyn_ros.codegen.backends.turns import Turn
from flexdyn_ros.codegen.backends.without_compiler import python_backend
from flexdyn_ros.codegen.native.compiler import CompilationFailed
from flexdyn_ros.codegen.native.compiler import NoCompiler
from flexdyn_ros.codegen.native.extension import extension
from flexdyn_ros.codegen.tracing.functions import FUNCTIONS
from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.robot import Robot

# Calls of one function that the reference backend answers, without a change of loads between.
PATIENCE = 20
# Calls that are interpreted before a compiler runs, as a multiple of those.
INTERPRETED = 10
# Robots with more coordinates than this take long to generate code for.
SMALL = 12


def patience_with(nv: int) -> int:
    """
    Return how many calls of a function of nv coordinates the reference backend answers.

    For large robots, about as many as take as long as generating its code.
    """
    return PATIENCE if nv <= SMALL else nv * nv


Generated = Union[CBackend, PythonBackend]
_logger = logging.getLogger('flexdyn_ros.codegen')


def _patient(name: str) -> Callable[..., Any]:
    """Return a method that leaves the work to the backend whose turn it is."""

    def call(self: PatientBackend, *arguments: Any) -> Any:
        backend = self.whose_turn(name, *arguments)
        try:
            return getattr(backend, name)(*arguments)
        except CompilationFailed as error:
            self.give_up_compiling(error)
            return getattr(self.whose_turn(name, *arguments), name)(*arguments)

    call.__name__ = name
    call.__doc__ = f'See ReferenceBackend.{name}.'
    return call


class PatientBackend:
    """Evaluates one robot under one gravity and one set of payloads."""

    def __init__(
        self,
        robot: Robot,
        gravity: list[float],
        payloads: Mapping[str, Inertia],
        listener: Optional[Listener] = None,
        before: Optional[PatientBackend] = None,
        patient: bool = True,
    ):
        """
        Prepare; nothing is computed yet.

        Args:
            robot: The robot.
            gravity: Acceleration of gravity in the root frame, (3,) [m/s^2].
            payloads: Inertia in link axes by link name.
            listener: See CBackend.
            before: The backend of the same robot under other loads.
            patient: Whether the first calls are the reference's; otherwise none is.
        """
        self._robot, self._gravity, self._payloads = robot, list(gravity), dict(payloads)
        self._reference: Optional[ReferenceBackend] = None
        self.patience = patience_with(robot.nv) if patient else 0
        self._listener: Optional[Listener] = listener if before is None else before._listener
        # By loads, function and variant.
        self._turns: dict[tuple, Turn] = {} if before is None else before._turns
        # What answers between the reference and compiled code, if anything does.
        self._interpreted: Optional[InterpretedBackend] = None
        if before is not None:
            self._generated: Generated = before._generated.under(gravity, payloads)
            if before._interpreted is not None:
                self._interpreted = before._interpreted.under(gravity, payloads)
        else:
            self._generated = _best(robot, gravity, payloads, listener)
            if patient and isinstance(self._generated, CBackend):
                self._interpreted = _in_between(self._generated, robot, gravity, payloads)
        self._loads = repr(self._generated.loads)
        for (loads, *_), turn in self._turns.items():
            if loads == self._loads:
                turn.come_back()

    @property
    def name(self) -> str:
        """Name of the backend that answers what is called often."""
        return self._generated.name

    def under(self, gravity: list[float], payloads: Mapping[str, Inertia]) -> PatientBackend:
        """Return a backend of the same robot under other gravity and payloads."""
        return PatientBackend(
            self._robot, gravity, payloads, before=self, patient=self.patience > 0
        )

    def whose_turn(
        self, name: str, *arguments: Any
    ) -> Union[CBackend, PythonBackend, ReferenceBackend]:
        """Return the backend that answers a call."""
        if name not in FUNCTIONS:
            return self._generated  # which leaves it to the reference
        stages: list[Generated] = [self._generated]
        if self._interpreted is not None:
            stages.insert(0, self._interpreted)
        key = (self._loads, name, *self._generated.variant(name, arguments))
        turn = self._turns.get(key)
        if turn is None:
            made = [stage for stage, each in enumerate(stages, 1) if each.is_made(name, arguments)]
            turn = self._turns[key] = Turn(max(made, default=0))
        patience = (self.patience, INTERPRETED * self.patience)[: len(stages)]
        stage = turn.next_call(patience)
        if stage:
            return stages[min(stage, len(stages)) - 1]
        if self._reference is None:
            self._reference = ReferenceBackend(self._robot, self._gravity, self._payloads)
        return self._reference

    @property
    def generated(self) -> Generated:
        """The backend that answers what is called often."""
        return self._generated

    def give_up_compiling(self, error: CompilationFailed) -> None:
        """Use the backend "python" from now on, and say so."""
        _logger.warning('The backend "python" is used instead of compiled code. %s', error)
        self._interpreted = None
        self._generated = python_backend(
            self._robot, self._gravity, self._payloads, self._listener
        )

    def prepared(self, name: str) -> Optional[tuple[Callable, tuple]]:
        """Return the generated Python function of this name, and its loads, if it is made."""
        generated = self._generated
        return generated.prepared(name) if isinstance(generated, PythonBackend) else None

    inverse_dynamics = _patient('inverse_dynamics')
    forward_dynamics = _patient('forward_dynamics')
    hybrid_dynamics = _patient('hybrid_dynamics')
    inverse_dynamics_derivatives = _patient('inverse_dynamics_derivatives')
    forward_dynamics_derivatives = _patient('forward_dynamics_derivatives')
    inverse_dynamics_parameter_derivatives = _patient('inverse_dynamics_parameter_derivatives')
    forward_dynamics_parameter_derivatives = _patient('forward_dynamics_parameter_derivatives')
    mass_matrix = _patient('mass_matrix')
    bias_vector = _patient('bias_vector')
    gravity_vector = _patient('gravity_vector')
    coriolis_vector = _patient('coriolis_vector')
    friction_vector = _patient('friction_vector')
    elastic_vector = _patient('elastic_vector')
    inertia_vector = _patient('inertia_vector')
    external_force_vector = _patient('external_force_vector')
    frame_pose = _patient('frame_pose')
    jacobian = _patient('jacobian')
    jacobian_rate_qd = _patient('jacobian_rate_qd')
    kinetic_energy = _patient('kinetic_energy')
    potential_energy = _patient('potential_energy')
    loop_poses = _patient('loop_poses')
    loop_jacobian = _patient('loop_jacobian')
    loop_free_jacobian = _patient('loop_free_jacobian')
    loop_bias = _patient('loop_bias')
    loop_equations = _patient('loop_equations')


def _best(
    robot: Robot, gravity: list[float], payloads: Mapping[str, Inertia],
    listener: Optional[Listener],
) -> Generated:
    """Return the fastest backend that this machine allows, and say which."""
    try:
        backend = CBackend(robot, gravity, payloads, listener=listener)
    except NoCompiler as error:
        found = python_backend(robot, gravity, payloads, listener)
        _say_once(found.runs_on, found.times_c, str(error))
        return found
    _logger.info('Robot "%s" uses the backend "c": %s.', robot.name, backend.compiler.version)
    return backend


def _in_between(
    backend: CBackend, robot: Robot, gravity: list[float], payloads: Mapping[str, Inertia]
) -> Optional[InterpretedBackend]:
    """Return what answers while nothing is compiled yet; it leaves its traces to the compiler."""
    if extension(build=False) is None:
        return None
    found = InterpretedBackend(robot, gravity, payloads, backend.digest)
    found.traces = backend.traces = {}
    return found


@lru_cache(maxsize=None)
def _say_once(runs_on: str, times: float, problem: str) -> None:
    _logger.warning(
        'The backend is "python", run by %s, some %g times slower than "c". %s',
        runs_on, times, problem,
    )
