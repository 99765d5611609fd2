# SPDX-License-Identifier: Apache-2.0
"""
The "python" backend: generated straight-line Python, made function by function when first used.

It has the methods of the reference backend. Payloads and gravity that differ from the
description's, and wrenches, are arguments of variants of their own; without them the plain
function runs, so that clearing them restores results bit for bit. Sources are kept on disk.
"""

from __future__ import annotations

from typing import Any
from typing import Callable
from typing import Mapping
from typing import Optional
from typing import Sequence

from flexdyn_ros.codegen.backends.generated_derivatives import GeneratedDerivatives
from flexdyn_ros.codegen.backends.generated_functions import generated_function
from flexdyn_ros.codegen.backends.generated_functions import is_generated
from flexdyn_ros.codegen.backends.variants import Floats
from flexdyn_ros.codegen.backends.variants import FORWARD
from flexdyn_ros.codegen.backends.variants import loads_of
from flexdyn_ros.codegen.backends.variants import ordered_wrenches
from flexdyn_ros.codegen.backends.variants import Places
from flexdyn_ros.codegen.backends.variants import places_of
from flexdyn_ros.codegen.backends.variants import resolved
from flexdyn_ros.codegen.backends.variants import TAKES_WRENCHES
from flexdyn_ros.codegen.backends.variants import Wrenches
from flexdyn_ros.codegen.emitting.batch_loop import DOUBTFUL_PIVOT
from flexdyn_ros.codegen.native import source_cache
from flexdyn_ros.codegen.tracing.chosen_parameters import ChosenParameters
from flexdyn_ros.codegen.tracing.functions import FUNCTIONS
from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.codegen.tracing.loads import Loads
from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.robot import Robot


class PythonBackend(GeneratedDerivatives):
    """Evaluates one robot under one gravity and one set of payloads by generated Python."""

    name = 'python'
    # What runs the functions, and how many times slower than compiled ones they are, about.
    runs_on = 'CPython'
    times_c = 30.0

    def __init__(
        self,
        robot: Robot,
        gravity: Floats,
        payloads: Mapping[str, Inertia],
        digest: Optional[str] = None,
    ):
        """
        Prepare; nothing is generated before it is used.

        Args:
            robot: The robot.
            gravity: Acceleration of gravity in the root frame, (3,) [m/s^2].
            payloads: Inertia in link axes by link name.
            digest: Digest of the robot where it is known.
        """
        self._robot = robot
        self._nv, self._n_modes = robot.nv, robot.n_modes
        self._gravity = list(gravity)
        self._payloads = dict(payloads)
        self._digest = digest or source_cache.model_digest(robot)
        self._reference: Optional[ReferenceBackend] = None
        self._loads = loads_of(robot, self._gravity, self._payloads)
        self._functions: dict[Any, tuple[Callable, tuple]] = {}

    @property
    def loads(self) -> Loads:
        """What differs from the description and so is an argument of the generated code."""
        return self._loads

    @property
    def digest(self) -> str:
        """Digest of the robot."""
        return self._digest

    def under(self, gravity: Floats, payloads: Mapping[str, Inertia]) -> PythonBackend:
        """Return a backend of the same robot under other gravity and payloads."""
        return PythonBackend(self._robot, gravity, payloads, self._digest)

    def prepared(self, name: str) -> Optional[tuple[Callable, tuple]]:
        """Return the function of this name without wrenches, and its loads, if it is made."""
        return self._functions.get(name)

    def inverse_dynamics(
        self, q: Floats, qd: Floats, qdd: Floats, wrenches: Wrenches = ()
    ) -> Floats:
        """Return joint torques and modal forces, (nv,)."""
        found = None if wrenches else self._functions.get('inverse_dynamics')
        if found is None:
            return self._loaded('inverse_dynamics', (q, qd, qdd), wrenches)
        function, extra = found
        return function(q, qd, qdd, *extra)

    def forward_dynamics(
        self, q: Floats, qd: Floats, tau: Floats, wrenches: Wrenches, method: str
    ) -> Floats:
        """
        Return accelerations, (nv,).

        Args:
            q: Configuration, (nq,).
            qd: Velocity, (nv,).
            tau: Generalised forces, (nv,).
            wrenches: Wrenches on frames.
            method: "auto" for the one with fewer operations, "recursive" or "cholesky".
        """
        if not self._nv:
            return []
        found = self._solved(FORWARD[method], (q, qd, tau), wrenches)
        if found is None:
            return self._exact.forward_dynamics(q, qd, tau, wrenches, method)
        return found[0]

    def hybrid_dynamics(
        self, q: Floats, qd: Floats, joint_qdd: Floats, wrenches: Wrenches
    ) -> tuple[Floats, Floats]:
        """Return joint torques (n_joints,) and modal accelerations (n_modes,)."""
        if not self._n_modes:
            return self._loaded('inverse_dynamics', (q, qd, joint_qdd), wrenches), []
        found = self._solved('hybrid_dynamics', (q, qd, joint_qdd), wrenches)
        if found is None:
            return self._exact.hybrid_dynamics(q, qd, joint_qdd, wrenches)
        return found[0], found[1]

    def mass_matrix(self, q: Floats) -> Floats:
        """Return the mass matrix by rows, (nv * nv,)."""
        return self._plain('mass_matrix', q)

    def bias_vector(self, q: Floats, qd: Floats) -> Floats:
        """Return gravity, Coriolis, friction and elastic forces together, (nv,)."""
        return self._plain('bias_vector', q, qd)

    def gravity_vector(self, q: Floats) -> Floats:
        """Return the forces that hold the robot against gravity, (nv,)."""
        return self._plain('gravity_vector', q)

    def coriolis_vector(self, q: Floats, qd: Floats) -> Floats:
        """Return the forces of Coriolis and centrifugal accelerations, (nv,)."""
        return self._plain('coriolis_vector', q, qd)

    def inertia_vector(self, q: Floats, qdd: Floats) -> Floats:
        """Return M qdd, (nv,)."""
        return self._plain('inertia_vector', q, qdd)

    def external_force_vector(self, q: Floats, wrenches: Wrenches) -> Floats:
        """Return -J^T w, (nv,)."""
        return self._loaded('external_force_vector', (q,), wrenches)

    def friction_vector(self, qd: Floats) -> Floats:
        """Return the losses of the joints, (nv,)."""
        return self._plain('friction_vector', qd)

    def elastic_vector(self, q: Floats, qd: Floats) -> Floats:
        """Return stiffness and damping forces of modes and springs, (nv,)."""
        return self._plain('elastic_vector', q, qd)

    def frame_pose(self, q: Floats, frame: str) -> tuple:
        """Return rotation, 3 rows, and position of a link's frame in the root frame."""
        x, y, z, _ = self._of_frame('frame_pose', frame, q)
        return (x[:3], y[:3], z[:3]), (x[3], y[3], z[3])

    def jacobian(self, q: Floats, frame: str) -> Floats:
        """Return the Jacobian of a link's frame by rows, (6 * nv,)."""
        return self._of_frame('jacobian', frame, q)

    def jacobian_rate_qd(self, q: Floats, qd: Floats, frame: str) -> Floats:
        """Return dJ/dt qd of a link's frame, (6,)."""
        return self._of_frame('jacobian_rate_qd', frame, q, qd)

    def loop_poses(self, q: Floats) -> list[Floats]:
        """Return rotation (9, by rows) and place (3) of frame1 in frame2 of each loop."""
        return self._plain('loop_poses', q)

    def loop_jacobian(self, q: Floats) -> list[Floats]:
        """Return the Jacobian of the loops' constraints, (n_constraints, nv)."""
        return self._plain('loop_jacobian', q)

    def loop_free_jacobian(self, q: Floats) -> list[Floats]:
        """Return the Jacobian of the directions that the loops leave free."""
        return self._exact.loop_free_jacobian(q)

    def loop_bias(self, q: Floats, qd: Floats) -> Floats:
        """Return the loops' accelerations for qdd = 0, (n_constraints,)."""
        return self._plain('loop_bias', q, qd)

    def loop_equations(self, q: Floats, qd: Floats, wrenches: Wrenches = ()) -> tuple:
        """Return mass matrix, bias, and Jacobian, bias and poses of the loops."""
        return self._loaded('loop_equations', (q, qd), wrenches)

    def kinetic_energy(self, q: Floats, qd: Floats) -> float:
        """Return the kinetic energy [J]."""
        return self._plain('kinetic_energy', q, qd)

    def potential_energy(self, q: Floats) -> float:
        """Return the potential energy [J]."""
        return self._plain('potential_energy', q)

    @property
    def _exact(self) -> ReferenceBackend:
        """The reference backend, which decides in doubt."""
        if self._reference is None:
            self._reference = ReferenceBackend(self._robot, self._gravity, self._payloads)
        return self._reference

    def _plain(self, name: str, *vectors: Floats) -> Any:
        """Evaluate a function without wrenches."""
        found = self._functions.get(name)
        if found is None:
            found = self._functions[name] = self._make(Request(name), ())
        function, extra = found
        return function(*vectors, *extra)

    def _of_frame(self, name: str, frame: str, *vectors: Floats) -> Any:
        """Evaluate a function of a frame."""
        found = self._functions.get((name, frame))
        if found is None:
            found = self._functions[name, frame] = self._make(Request(name, frame), ())
        function, extra = found
        return function(*vectors, *extra)

    def _loaded(
        self,
        name: str,
        vectors: tuple,
        wrenches: Wrenches,
        chosen: Optional[ChosenParameters] = None,
    ) -> Any:
        """Evaluate a function under wrenches, perhaps about parameters."""
        if not wrenches and chosen is None:
            found = self._functions.get(name)
            if found is None:
                return self._plain(name, *vectors)
            function, extra = found
            return function(*vectors, *extra)
        ordered = ordered_wrenches(wrenches)
        places = places_of(ordered)
        parameters = chosen.parameters if chosen else ()
        key = (name, places, parameters) if parameters else (name, places)
        found = self._functions.get(key)
        if found is None:
            request = Request(name, parameters=parameters)
            found = self._functions[key] = self._make(request, places)
        function, extra = found
        values = [(*wrench.force, *wrench.moment) for wrench in ordered]
        return function(*vectors, *extra, *values, *(chosen.arguments() if chosen else ()))

    def _solved(
        self,
        name: str,
        vectors: tuple,
        wrenches: Wrenches,
        chosen: Optional[ChosenParameters] = None,
    ) -> Optional[list]:
        """Return the results of a function that solves, or None where a pivot is in doubt."""
        try:
            *found, pivots = self._loaded(name, vectors, wrenches, chosen)
            if min(pivots) > DOUBTFUL_PIVOT * max(pivots):
                return found
        except (ArithmeticError, ValueError):
            pass
        return None

    def variant(self, name: str, arguments: Sequence[Any]) -> tuple[Request, Places]:
        """Return which variant of a function answers a call with these arguments."""
        function, rest = FUNCTIONS[name], list(arguments[len(FUNCTIONS[name].inputs):])
        frame = rest.pop(0) if function.of_frame else None
        parameters = rest.pop(0).parameters if function.of_parameters else ()
        wrenches = rest[0] if rest and name in TAKES_WRENCHES else ()
        if name == 'forward_dynamics':
            name = FORWARD[arguments[-1]]
        elif name == 'hybrid_dynamics' and not self._n_modes:
            name = 'inverse_dynamics'
        return Request(name, frame, parameters), places_of(ordered_wrenches(wrenches))

    def is_made(self, name: str, arguments: Sequence[Any]) -> bool:
        """Return whether a call with these arguments needs no generation any more."""
        request, loads, solver, _ = self._resolved(*self.variant(name, arguments))
        return is_generated(self._digest, request, loads, solver)

    def _make(self, request: Request, places: Places) -> tuple[Callable, tuple]:
        """Return a function with wrenches at these places, and the values of its other loads."""
        request, loads, solver, extra = self._resolved(request, places)
        return generated_function(self._robot, self._digest, request, loads, solver), extra

    def _resolved(self, request: Request, places: Places) -> tuple[Request, Loads, str, tuple]:
        """Return a variant's function, its loads, how it solves, and the values of its loads."""
        return resolved(request, places, self._loads, self._gravity, self._payloads)
