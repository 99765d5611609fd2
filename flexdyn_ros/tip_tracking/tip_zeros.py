# SPDX-License-Identifier: Apache-2.0
"""
The zeros of the arm from joint torques to its outputs, at rest.

With the outputs held, admissible displacements are q = Z eta, J Z = 0, where eta are the unforced
coordinates. The unforced rows of the equations of motion become

    E2 eta'' + E1 eta' + E0 eta = 0,   Ek = (derivative of the unforced forces) Z.

Its finite eigenvalues are the invariant zeros (A. De Luca and B. Siciliano, Inversion-based
nonlinear control of robot arms with flexible links, 1993; R. Seifried, Dynamics of Underactuated
Multibody Systems, 2014, section 3.2). Elastic joints are locked: their deflections follow from
the motion of the link, and add one stable zero each, -stiffness / damping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.tip_tracking.tip_outputs import Outputs
import numpy as np
from scipy.integrate import simpson
from scipy.interpolate import BSpline
from scipy.linalg import eig

# Smallest ratio of singular values of the decoupling matrix.
SINGULAR = 1e-8
# Of its absolute value: the least distance of a zero from the imaginary axis.
NEAREST = 0.01
# Remainder of an excited zero, of the largest unforced force in its period.
EXCITED = 1e-3


class NotInvertible(FlexdynError):
    """The torques that move the tip along a path are not defined or not bounded."""


@dataclass(frozen=True)
class Zeros:
    """
    The zeros at one configuration.

    Attributes:
        values: The zeros, (k,) [1/s].
        vectors: Left eigenvectors times the pencil's E, (k, 2 m): a row times the state
            (eta, eta') is the amplitude of that zero's part.
        forcing: Rows that give the force on that part from unforced forces, scaled to a largest
            entry of one, (k, m).
        sign: Sign of the determinant of the decoupling matrix, up to one that does not change.
    """

    values: np.ndarray
    vectors: np.ndarray
    forcing: np.ndarray
    sign: float

    @property
    def undecayed(self) -> np.ndarray:
        """Whether each zero lies next to the imaginary axis, (k,)."""
        return np.asarray(np.abs(self.values.real) < NEAREST * np.abs(self.values))

    @property
    def stable(self) -> np.ndarray:
        """Whether the part of each zero is given at the start, (k,)."""
        return (self.values.real < 0.0) | self.undecayed

    def amplitudes(self, stable: bool) -> np.ndarray:
        """Return real rows that give the amplitudes of stable or of unstable parts, (k, 2 m)."""
        chosen = self.stable == stable
        # Complex pairs count once, by real and imaginary part.
        upper = chosen & (self.values.imag >= 0.0)
        rows = self.vectors[upper]
        turned = self.values.imag[upper] > 0.0
        real = np.vstack([rows.real, rows[turned].imag])
        return real / np.linalg.norm(real, axis=1, keepdims=True) if len(real) else real


def find_zeros(
    dyn: Any, outputs: Outputs, q: np.ndarray, driven: np.ndarray, free: np.ndarray, time: float
) -> Zeros:
    """
    Return the zeros at a configuration at rest.

    Args:
        dyn: The dynamics.
        outputs: The prescribed quantities, n values.
        q: Configuration at static equilibrium, (nq,).
        driven: Entries of the driven joints in v, (n,).
        free: Entries of the unforced coordinates that move, (m,).
        time: When the path passes there, for errors [s].

    Raises:
        NotInvertible: The decoupling matrix is singular, which a mode without inertia makes too.
    """
    rest = np.zeros(dyn.robot.nv)
    by_q, by_rate, mass = dyn.inverse_dynamics_derivatives(q, rest, rest)
    jacobian = outputs.jacobian(dyn, q[np.newaxis])[0]
    if _singular(jacobian[:, driven]):
        raise NotInvertible(_singular_at(time))
    z = np.zeros((dyn.robot.nv, len(free)))
    z[driven] = -np.linalg.solve(jacobian[:, driven], jacobian[:, free])
    z[free] = np.eye(len(free))
    e2, e1, e0 = (each[free] @ z for each in (mass, by_rate, by_q))
    if _singular(e2):
        raise NotInvertible(_singular_at(time))
    sign = float(np.sign(np.linalg.det(jacobian[:, driven])) * np.linalg.slogdet(e2)[0])
    return Zeros(*_eigenvalues(e2, e1, e0), sign)


def _singular(matrix: np.ndarray) -> bool:
    if not matrix.size:
        return False
    # Rows and columns have different units: compare them on one scale.
    scaled = matrix / np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1e-300)
    values = np.linalg.svd(scaled, compute_uv=False)
    return bool(values[-1] <= SINGULAR * values[0])


def _singular_at(time: float) -> str:
    return (
        f'The decoupling matrix is singular at {time:.4g} s: joints and modes cannot move the '
        'outputs independently there. Move the path away from that pose, or choose other outputs.')


def _eigenvalues(
    e2: np.ndarray, e1: np.ndarray, e0: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the eigenvalues of the quadratic pencil, with vectors and forcing of `Zeros`."""
    m = len(e0)
    if not m:
        return np.zeros(0, complex), np.zeros((0, 0), complex), np.zeros((0, 0), complex)
    # Time in units of the fastest motion and rows of one size.
    unit = float(np.sqrt(max(np.abs(e0).max(), np.finfo(float).tiny) / np.abs(e2).max()))
    size = np.maximum(np.abs(e0).max(axis=1, keepdims=True),
                      unit**2 * np.abs(e2).max(axis=1, keepdims=True))
    one, zero = np.eye(m), np.zeros((m, m))
    left = np.block([[one, zero], [zero, e2 * unit**2 / size]])
    right = np.block([[zero, one], [-e0 / size, -e1 * unit / size]])
    values, vectors = eig(right, left, left=True, right=False)
    own = vectors.conj().T
    rows, forcing = own @ left, own[:, m:] / size.T
    rows[:, m:] /= unit
    return values * unit, rows, forcing / np.abs(forcing).max(axis=1, keepdims=True)


def require_invertible(zeros: Sequence[Zeros], times: np.ndarray) -> None:
    """Raise NotInvertible where the decoupling matrix becomes singular between two times."""
    for before, after, time in zip(zeros, zeros[1:], times[1:]):
        if before.sign != after.sign:
            raise NotInvertible(_singular_at(time))


def require_hyperbolic(zeros: Sequence[Zeros], times: np.ndarray, forces: BSpline) -> None:
    """
    Raise NotInvertible where an excited zero lies next to the imaginary axis.

    A zero i w is excited where forces f(t) leave a vibration: w |int f exp(-i w t) dt| is not
    small against f.

    Args:
        zeros: Along the path.
        times: Their times, (T,) [s].
        forces: Unforced forces of the motion through configurations at rest, of width m.

    Raises:
        NotInvertible: Naming zero and time.
    """
    for each, time in zip(zeros, times):
        near = each.undecayed & (each.values.imag >= 0.0)
        for value, row in zip(each.values[near], each.forcing[near]):
            rate = abs(value)
            count = 2 * max(int(5.0 * rate * times[-1]), 500) + 1
            t = np.linspace(0.0, times[-1], count)
            f = forces(t)
            left = rate * abs(simpson((f @ row) * np.exp(-1j * value.imag * t), x=t))
            if left > EXCITED * np.abs(f).max():
                zero = f'{value.real:.3g} {value.imag:+.3g}j 1/s'
                raise NotInvertible(
                    f'The zero {zero} at {time:.4g} s lies within 1 % of the imaginary axis. '
                    'The path excites it, and its torque does not decay. Choose other outputs, '
                    'a slower path, or give the modes damping.')
