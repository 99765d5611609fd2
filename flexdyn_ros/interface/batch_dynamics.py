# SPDX-License-Identifier: Apache-2.0
"""Functions of Dynamics over many samples at once: vectors of lanes, threads, no interpreter."""

from __future__ import annotations

import os
from typing import Any
from typing import Callable
from typing import Optional
from typing import Sequence
from typing import TYPE_CHECKING

from flexdyn_ros.codegen.backends.kernel_backend import KernelBackend
from flexdyn_ros.codegen.backends.patient_backend import PatientBackend
from flexdyn_ros.codegen.backends.variants import FORWARD
from flexdyn_ros.codegen.native.compiler import CompilationFailed
from flexdyn_ros.codegen.tracing.functions import FUNCTIONS
from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.interface.arguments import targets
from flexdyn_ros.interface.checked_arguments import Wrenches
from flexdyn_ros.interface.direct_calls import OPEN_METHODS
from flexdyn_ros.interface.sample_arrays import must_copy
from flexdyn_ros.interface.sample_arrays import refuse_infinite
from flexdyn_ros.interface.sample_arrays import sample_rows
from flexdyn_ros.interface.sample_arrays import sample_wrenches
from flexdyn_ros.interface.sample_arrays import target_array
import numpy as np

if TYPE_CHECKING:
    from flexdyn_ros.robot_dynamics import Dynamics

THREADS_VARIABLE = 'FLEXDYN_THREADS'
# Samples below which a thread of its own does not pay.
SAMPLES_OF_A_THREAD = 1024
Out = Optional[np.ndarray]
Outs = Optional[tuple[np.ndarray, np.ndarray, np.ndarray]]


class BatchDynamics:
    """
    The functions of a Dynamics over N samples.

    Each argument has one row a sample; results have one entry a sample: (N, nv), matrices
    (N, nv, nv), energies (N,). A wrench is one for all samples, (6,), or one for each, (N, 6).
    Payloads and gravity are those of the Dynamics. Compiled code, machine code of our own and the
    extension's interpreter take several samples at once and share them among threads
    ($FLEXDYN_THREADS, by default one for each processor) while other Python threads run; the
    reference and CPython go through the samples one by one.
    """

    def __init__(self, dyn: Dynamics):
        """Take the dynamics of a robot."""
        self._dyn = dyn
        self._robot = dyn.robot

    def inverse_dynamics(
        self, q: Any, qd: Any, qdd: Any, wrenches: Wrenches = None, out: Out = None
    ) -> np.ndarray:
        """Return joint torques [N m | N], then modal forces, (N, nv)."""
        return self._run('inverse_dynamics', {'q': q, 'qd': qd, 'qdd': qdd}, out, wrenches)

    def forward_dynamics(
        self,
        q: Any,
        qd: Any,
        tau: Any,
        wrenches: Wrenches = None,
        out: Out = None,
        method: str = 'auto',
    ) -> np.ndarray:
        """Return the accelerations of joints and modes, (N, nv)."""
        if method not in FORWARD:
            raise ArgumentError('method', f'is "{method}", expected one of {tuple(FORWARD)}')
        vectors = {'q': q, 'qd': qd, 'tau': tau}
        return self._run('forward_dynamics', vectors, out, wrenches, method)

    def hybrid_dynamics(
        self,
        q: Any,
        qd: Any,
        joint_qdd: Any,
        wrenches: Wrenches = None,
        out: Optional[tuple[np.ndarray, np.ndarray]] = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return joint torques (N, n_joints) and modal accelerations (N, n_modes)."""
        vectors = {'q': q, 'qd': qd, 'joint_qdd': joint_qdd}
        if not self._robot.n_modes:
            joint_out, modal_out = targets(out, 'two arrays', 2)
            vectors = {'q': q, 'qd': qd, 'qdd': joint_qdd}
            tau = self._run('inverse_dynamics', vectors, joint_out, wrenches, renamed='joint_qdd')
            none = np.zeros((len(tau), 0))
            return tau, none if modal_out is None else target_array('out', modal_out, none.shape)
        return self._run('hybrid_dynamics', vectors, out, wrenches)

    def inverse_dynamics_derivatives(
        self, q: Any, qd: Any, qdd: Any, wrenches: Wrenches = None, out: Outs = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return d tau / dq, d tau / d qd and d tau / d qdd, (N, nv, nv) each."""
        vectors = {'q': q, 'qd': qd, 'qdd': qdd}
        return self._run('inverse_dynamics_derivatives', vectors, out, wrenches)

    def forward_dynamics_derivatives(
        self, q: Any, qd: Any, tau: Any, wrenches: Wrenches = None, out: Outs = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return d qdd / dq, d qdd / d qd and d qdd / d tau, (N, nv, nv) each."""
        vectors = {'q': q, 'qd': qd, 'tau': tau}
        return self._run('forward_dynamics_derivatives', vectors, out, wrenches)

    def mass_matrix(self, q: Any, out: Out = None) -> np.ndarray:
        """Return the mass matrices, (N, nv, nv)."""
        return self._run('mass_matrix', {'q': q}, out)

    def bias_vector(self, q: Any, qd: Any, out: Out = None) -> np.ndarray:
        """Return gravity, Coriolis, friction and elastic forces together, (N, nv)."""
        return self._run('bias_vector', {'q': q, 'qd': qd}, out)

    def gravity_vector(self, q: Any, out: Out = None) -> np.ndarray:
        """Return the forces that hold the robot against gravity, (N, nv)."""
        return self._run('gravity_vector', {'q': q}, out)

    def coriolis_vector(self, q: Any, qd: Any, out: Out = None) -> np.ndarray:
        """Return the forces of Coriolis and centrifugal accelerations, (N, nv)."""
        return self._run('coriolis_vector', {'q': q, 'qd': qd}, out)

    def friction_vector(self, qd: Any, out: Out = None) -> np.ndarray:
        """Return the losses of the joints, (N, nv)."""
        return self._run('friction_vector', {'qd': qd}, out)

    def elastic_vector(self, q: Any, qd: Any, out: Out = None) -> np.ndarray:
        """Return stiffness and damping forces of modes and springs, (N, nv)."""
        return self._run('elastic_vector', {'q': q, 'qd': qd}, out)

    def inertia_vector(self, q: Any, qdd: Any, out: Out = None) -> np.ndarray:
        """Return M qdd, (N, nv)."""
        return self._run('inertia_vector', {'q': q, 'qdd': qdd}, out)

    def external_force_vector(self, q: Any, wrenches: Wrenches, out: Out = None) -> np.ndarray:
        """Return -J^T w, (N, nv)."""
        return self._run('external_force_vector', {'q': q}, out, wrenches)

    def frame_pose(self, q: Any, frame: str, out: Out = None) -> np.ndarray:
        """Return the transforms of a link's frame in the root frame, (N, 4, 4)."""
        return self._run('frame_pose', {'q': q}, out, frame=self._dyn._frame(frame))

    def jacobian(self, q: Any, frame: str, out: Out = None) -> np.ndarray:
        """Return the Jacobians at a frame's origin in root axes, linear first, (N, 6, nv)."""
        return self._run('jacobian', {'q': q}, out, frame=self._dyn._frame(frame))

    def jacobian_rate_qd(self, q: Any, qd: Any, frame: str, out: Out = None) -> np.ndarray:
        """Return dJ/dt qd at a frame's origin in root axes, linear first, (N, 6)."""
        vectors = {'q': q, 'qd': qd}
        return self._run('jacobian_rate_qd', vectors, out, frame=self._dyn._frame(frame))

    def kinetic_energy(self, q: Any, qd: Any, out: Out = None) -> np.ndarray:
        """Return the kinetic energies [J], (N,)."""
        return self._run('kinetic_energy', {'q': q, 'qd': qd}, out)

    def potential_energy(self, q: Any, out: Out = None) -> np.ndarray:
        """Return gravity's and elastic energies [J], (N,)."""
        return self._run('potential_energy', {'q': q}, out)

    def _run(
        self,
        name: str,
        vectors: dict[str, Any],
        out: Any,
        wrenches: Wrenches = None,
        method: str = 'auto',
        frame: Optional[str] = None,
        renamed: str = '',
    ) -> Any:
        """Evaluate a function over all samples."""
        samples = sample_rows(vectors, self._dyn._widths, renamed)
        count = len(next(iter(samples.values())))
        loads = sample_wrenches(wrenches, count, self._dyn._frame)
        shapes = self._shapes(name, count)
        single = len(shapes) == 1
        words = 'two arrays' if len(shapes) == 2 else 'three arrays'
        given = [out] if single else targets(out, words, len(shapes))
        results = [
            np.empty(shape) if each is None else target_array('out', each, shape)
            for each, shape in zip(given, shapes)
        ]
        taken = (*samples.values(), *loads.values())
        aside = [
            np.empty(each.shape) if must_copy(each, taken) else each for each in results
        ]

        def evaluate(k: int) -> Any:
            """Evaluate one sample as a call of its own, with the errors of one."""
            own = [sample[k] for sample in samples.values()]
            own += [frame] if frame is not None else []
            if loads:
                own.append({f: w if w.ndim == 1 else w[k] for f, w in loads.items()})
            more = {'method': method} if name == 'forward_dynamics' else {}
            found = getattr(self._dyn, name)(*own, **more)
            return (found,) if single else found

        doubtful: Sequence[int] = range(count)
        run = self._compiled(name, method, frame, loads, count) if count else None
        if run is None:
            refuse_infinite(samples, renamed)
        else:
            doubtful = run(tuple(samples.values()), loads, tuple(aside), count)
            # Compiled code tells which samples to look at.
            if doubtful:
                refuse_infinite(samples, renamed)
        for k in doubtful:
            for result, value in zip(aside, evaluate(k)):
                result[k] = value
        for result, found in zip(results, aside):
            if result is not found:
                result[...] = found
        return results[0] if single else tuple(results)

    def _shapes(self, name: str, count: int) -> list[tuple[int, ...]]:
        nv, n_joints = self._dyn._widths['qd'], self._dyn._widths['joint_qdd']
        sizes: dict[str, tuple[int, ...]] = {
            'matrix': (nv, nv), 'pose': (4, 4), 'energy': (), 'jacobian': (6, nv), 'twist': (6,),
            'joint force': (n_joints,), 'modal acceleration': (nv - n_joints,),
        }
        kinds = [kind for _, kind in FUNCTIONS[name].outputs]
        return [(count, *sizes.get(kind, (nv,))) for kind in kinds]

    def _compiled(
        self, name: str, method: str, frame: Optional[str], loads: dict, count: int
    ) -> Optional[Callable[..., Sequence[int]]]:
        """Return a compiled function over samples, or None where there is none."""
        backend: Any = self._dyn._backend
        patient = backend if isinstance(backend, PatientBackend) else None
        backend = backend if patient is None else patient.generated
        if not isinstance(backend, KernelBackend) or not self._dyn._widths['qd']:
            return None
        if self._robot.loops and name in OPEN_METHODS:
            return None  # a matter of rank, sample by sample
        request = Request(FORWARD[method] if name == 'forward_dynamics' else name, frame)
        places = tuple((each, None) for each in loads)
        try:
            wait = patient is None or count >= patient.patience
            found = backend.batch(request, places, wait)
        except CompilationFailed as error:
            if patient is None:
                raise
            patient.give_up_compiling(error)
            return None
        if found is None:
            return None
        function, constants = found

        def run(samples: tuple, wrenches: dict, results: tuple, n: int) -> Sequence[int]:
            inputs = (*samples, *constants, *wrenches.values())
            strides = (
                *(each.shape[1] for each in samples), *(0 for _ in constants),
                *(6 if each.ndim == 2 else 0 for each in wrenches.values()),
            )
            flags = np.empty(n, dtype=np.uint8)
            function(n, inputs, strides, results, flags, _threads(n))
            return np.flatnonzero(flags).tolist() if flags.any() else ()

        return run


def _threads(count: int) -> int:
    """Return among how many threads samples are shared."""
    try:
        wanted = int(os.environ[THREADS_VARIABLE])
    except (KeyError, ValueError):
        affinity = getattr(os, 'sched_getaffinity', None)
        wanted = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(wanted, count // SAMPLES_OF_A_THREAD))
