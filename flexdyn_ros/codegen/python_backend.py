# SPDX-License-Identifier: Apache-2.0
"""
The "python" backend: generated straight-line Python, made function by function when first used.

It has the methods of the reference backend. Payloads and gravity that differ from the
description's, and wrenches, are arguments of variants of their own; without them the plain
function runs, so that clearing them restores results bit for bit. Sources are kept on disk.
"""

from __future__ import annotations

from dataclasses import replace
from threading import RLock
from typing import Any
from typing import Callable
from typing import Mapping
from typing import Optional
from typing import Sequence

from flexdyn_ros.codegen import source_cache
from flexdyn_ros.codegen.chosen_parameters import ChosenParameters
from flexdyn_ros.codegen.emit_python import emit_python
from flexdyn_ros.codegen.functions import function_identifier
from flexdyn_ros.codegen.functions import Request
from flexdyn_ros.codegen.generate import compile_python
from flexdyn_ros.codegen.loads import Loads
from flexdyn_ros.codegen.schedule import schedule
from flexdyn_ros.codegen.simplify import simplify
from flexdyn_ros.codegen.snap import ROUND_OFF
from flexdyn_ros.codegen.traced_dynamics import DENSE
from flexdyn_ros.codegen.traced_dynamics import RECURSIVE
from flexdyn_ros.dynamics.newton_euler import FrameWrench
from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.model.link import Inertia
from flexdyn_ros.model.link import Link
from flexdyn_ros.model.robot import Robot

Floats = list[float]
Wrenches = Sequence[FrameWrench]
# Frame of each wrench, and the frame whose axes it is given in.
Places = tuple[tuple[str, Optional[str]], ...]

# Functions that gravity, and inertia, changes.
GRAVITY_MATTERS = frozenset((
    'inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics', 'bias_vector', 'gravity_vector',
    'potential_energy', 'loop_equations', 'inverse_dynamics_derivatives',
    'forward_dynamics_derivatives',
    'inverse_dynamics_parameter_derivatives', 'forward_dynamics_parameter_derivatives',
))
INERTIA_MATTERS = GRAVITY_MATTERS | frozenset((
    'mass_matrix', 'coriolis_vector', 'inertia_vector', 'kinetic_energy',
))

# Forward dynamics by method, as a name and how it solves for accelerations.
_FORWARD = {
    'auto': 'forward_dynamics', 'recursive': 'forward_dynamics/recursive',
    'cholesky': 'forward_dynamics/cholesky',
}
_SOLVERS = {'recursive': RECURSIVE, 'cholesky': DENSE, '': None}

# Functions made in this process, by entry.
_made: dict[str, Callable] = {}
_lock = RLock()

# A pivot this far below the largest one may be round-off: the reference backend then decides.
DOUBTFUL_PIVOT = 1e-10


class PythonBackend:
    """Evaluates one robot under one gravity and one set of payloads by generated Python."""

    name = 'python'

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
        self._loads = _loads_of(robot, self._gravity, self._payloads)
        self._functions: dict[Any, tuple[Callable, tuple]] = {}

    @property
    def loads(self) -> Loads:
        """What differs from the description and so is an argument of the generated code."""
        return self._loads

    def under(self, gravity: Floats, payloads: Mapping[str, Inertia]) -> PythonBackend:
        """Return a backend of the same robot under other gravity and payloads."""
        return PythonBackend(self._robot, gravity, payloads, self._digest)

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
        try:
            qdd, pivots = self._loaded(_FORWARD[method], (q, qd, tau), wrenches)
            if min(pivots) > DOUBTFUL_PIVOT * max(pivots):
                return qdd
        except (ArithmeticError, ValueError):
            pass
        return self._exact.forward_dynamics(q, qd, tau, wrenches, method)

    def hybrid_dynamics(
        self, q: Floats, qd: Floats, joint_qdd: Floats, wrenches: Wrenches
    ) -> tuple[Floats, Floats]:
        """Return joint torques (n_joints,) and modal accelerations (n_modes,)."""
        if not self._n_modes:
            return self._loaded('inverse_dynamics', (q, qd, joint_qdd), wrenches), []
        try:
            tau, qdd, pivots = self._loaded('hybrid_dynamics', (q, qd, joint_qdd), wrenches)
            if min(pivots) > DOUBTFUL_PIVOT * max(pivots):
                return tau, qdd
        except (ArithmeticError, ValueError):
            pass
        return self._exact.hybrid_dynamics(q, qd, joint_qdd, wrenches)

    def inverse_dynamics_derivatives(
        self, q: Floats, qd: Floats, qdd: Floats, wrenches: Wrenches = ()
    ) -> tuple:
        """Return the derivatives of the forces by q, qd and qdd, (nv, nv) each."""
        return self._loaded('inverse_dynamics_derivatives', (q, qd, qdd), wrenches)

    def forward_dynamics_derivatives(
        self, q: Floats, qd: Floats, tau: Floats, wrenches: Wrenches = ()
    ) -> tuple:
        """Return the derivatives of the accelerations by q, qd and tau, (nv, nv) each."""
        if not self._nv:
            return [], [], []
        try:
            *found, pivots = self._loaded('forward_dynamics_derivatives', (q, qd, tau), wrenches)
            if min(pivots) > DOUBTFUL_PIVOT * max(pivots):
                return tuple(found)
        except (ArithmeticError, ValueError):
            pass
        return self._exact.forward_dynamics_derivatives(q, qd, tau, wrenches)

    def inverse_dynamics_parameter_derivatives(
        self, q: Floats, qd: Floats, qdd: Floats, chosen: ChosenParameters,
        wrenches: Wrenches = (),
    ) -> list:
        """Return the derivatives of the forces by parameters of the model, (nv, n)."""
        name = 'inverse_dynamics_parameter_derivatives'
        return self._loaded(name, (q, qd, qdd), wrenches, chosen)

    def forward_dynamics_parameter_derivatives(
        self, q: Floats, qd: Floats, tau: Floats, chosen: ChosenParameters,
        wrenches: Wrenches = (),
    ) -> list:
        """Return the derivatives of the accelerations by parameters of the model, (nv, n)."""
        name = 'forward_dynamics_parameter_derivatives'
        if not self._nv:
            return []
        try:
            found, pivots = self._loaded(name, (q, qd, tau), wrenches, chosen)
            if min(pivots) > DOUBTFUL_PIVOT * max(pivots):
                return found
        except (ArithmeticError, ValueError):
            pass
        return self._exact.forward_dynamics_parameter_derivatives(q, qd, tau, chosen, wrenches)

    def mass_matrix(self, q: Floats) -> list[Floats]:
        """Return the mass matrix, (nv, nv)."""
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

    def jacobian(self, q: Floats, frame: str) -> list[Floats]:
        """Return the (6, nv) Jacobian of a link's frame."""
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
        ordered = sorted((FrameWrench(*wrench) for wrench in wrenches), key=_frame_of)
        places = tuple((wrench.frame, wrench.axes) for wrench in ordered)
        parameters = chosen.parameters if chosen else ()
        key = (name, places, parameters) if parameters else (name, places)
        found = self._functions.get(key)
        if found is None:
            request = Request(name, parameters=parameters)
            found = self._functions[key] = self._make(request, places)
        function, extra = found
        values = [(*wrench.force, *wrench.moment) for wrench in ordered]
        return function(*vectors, *extra, *values, *(chosen.arguments() if chosen else ()))

    def _make(self, request: Request, places: Places) -> tuple[Callable, tuple]:
        """Return a function with wrenches at these places, and the values of its other loads."""
        name, _, solver = request.name.partition('/')
        request = replace(request, name=name)
        loads = self._loads
        gravity = loads.gravity and request.name in GRAVITY_MATTERS
        payloads = loads.payloads if request.name in INERTIA_MATTERS else ()
        loads = replace(loads, gravity=gravity, payloads=payloads)
        loads = replace(
            loads, parameters=request.parameters, wrenches=tuple(frame for frame, _ in places),
            axes={frame: axes for frame, axes in places if axes is not None},
        )
        extra = [tuple(self._gravity)] if gravity else []
        extra += [_payload_values(self._payloads[link]) for link in payloads]
        return _function(self._robot, self._digest, request, loads, solver), tuple(extra)


def _frame_of(wrench: FrameWrench) -> str:
    return wrench.frame


def _loads_of(robot: Robot, gravity: Floats, payloads: Mapping[str, Inertia]) -> Loads:
    """Return what differs from the description and so must be an argument."""
    declared = {payload.link: payload.inertia for payload in robot.payloads}
    changed = tuple(sorted(
        link for link, inertia in payloads.items() if declared.get(link) != inertia
    ))
    sections = {
        link: _section(robot.link(link), payloads[link].com)
        for link in changed if robot.link(link).mode_names
    }
    return Loads(tuple(gravity) != tuple(robot.gravity_vector), changed, sections)


def _section(link: Link, com: Vector) -> Vector:
    """Return the point that chooses the cross-section, or the segment, that carries a payload."""
    return com if link.segments is None else link.segments.middle(link.segments.holder(com))


def _payload_values(inertia: Inertia) -> tuple[float, ...]:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.matrix
    return (inertia.mass, *inertia.com, xx, yy, zz, xy, xz, yz)


def _function(
    robot: Robot, digest: str, request: Request, loads: Loads, solver: str
) -> Callable:
    """Return a generated function: made before, kept on disk, or made now."""
    entry = source_cache.entry_name('python', digest, repr(request), repr(loads), solver)
    with _lock:
        found = _made.get(entry)
        if found is None:
            source = source_cache.read(entry)
            if source is None:
                source = _generate(robot, request, loads, solver)
                source_cache.write(entry, source)
            found = _made[entry] = compile_python(source, function_identifier([request]))
    return found


def _generate(robot: Robot, request: Request, loads: Loads, solver: str) -> str:
    found = simplify(
        robot, request.name, [request], loads, snap=ROUND_OFF, pivots=True, hasty=True,
        method=_SOLVERS[solver],
    )
    return emit_python(schedule(found.trace))
