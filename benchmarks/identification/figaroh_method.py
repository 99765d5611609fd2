# SPDX-License-Identifier: Apache-2.0
"""
FIGAROH's identification of the same arm from the same samples.

FIGAROH (Nguyen, Sabbah, Souères and others, CNRS) takes its regressor from Pinocchio, with
viscous and static friction, rotors and offsets. Its double QR decomposition gives base parameters
by ordinary least squares. Positions and torques pass its filters (median of 5, Butterworth of
order 4 both ways), at our cut-off. Gradients give velocities and accelerations.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Optional

from flexdyn_ros.identification import Motion
import numpy as np

OPTIONS = {'has_friction': True, 'has_actuator_inertia': True, 'has_joint_offset': True}
TRIM = 1.0  # left out at both ends [s]
ROWS = 2000  # of each joint at most, as its decimation leaves


def predicted_by_figaroh(
    urdf: str, fitted: Motion, other: Motion, cutoff: float
) -> Optional[np.ndarray]:
    """
    Return the torques of FIGAROH's fit at the samples of another motion, (T, n); None without it.

    Args:
        urdf: The description as text.
        fitted: The motion that is fitted.
        other: The motion whose torques are predicted.
        cutoff: Of the filters [Hz].
    """
    try:
        from figaroh.tools.qrdecomposition import QRDecomposer
        from figaroh.tools.regressor import RegressorBuilder, RegressorConfig
        import pinocchio
    except ImportError as error:
        print(f'FIGAROH is left out, {error}: pip install figaroh')
        return None
    model = pinocchio.buildModelFromXML(urdf)
    robot = SimpleNamespace(model=model, data=model.createData())
    builder = RegressorBuilder(robot, RegressorConfig(**OPTIONS))
    used = {'act_idxv': list(range(model.nv))}

    def regressor(motion: Motion, every: int, trim: float) -> tuple[np.ndarray, np.ndarray]:
        """Return its rows joint by joint, and the filtered torques likewise."""
        q, tau = (_filtered(values, motion.t, cutoff) for values in (motion.q, motion.tau))
        qd = np.gradient(q, motion.t, axis=0)
        qdd = np.gradient(qd, motion.t, axis=0)
        inside = np.flatnonzero(
            (motion.t >= motion.t[0] + trim) & (motion.t <= motion.t[-1] - trim))[::every]
        rows = builder.build_basic_regressor(q[inside], qd[inside], qdd[inside], used)
        return rows, tau[inside].T.ravel()

    rows, tau = regressor(fitted, max(1, len(fitted.t) // ROWS), TRIM)
    kept = np.flatnonzero(np.sum(rows**2, axis=0) >= 1e-6)  # as its eliminate_non_dynaffect
    decomposer: Any = QRDecomposer()
    names = [str(column) for column in kept]
    base = decomposer.double_decomposition(tau, rows[:, kept], names)[3]
    columns = kept[decomposer.base_indices]
    found = regressor(other, 1, 0.0)[0][:, columns] @ base
    return np.asarray(found.reshape(model.nv, -1).T)


def _filtered(values: np.ndarray, t: np.ndarray, cutoff: float) -> np.ndarray:
    """Return samples (T, n) through a median filter and a Butterworth filter both ways."""
    from scipy.signal import butter, filtfilt, medfilt

    rate = (len(t) - 1) / (t[-1] - t[0])
    b, a = butter(4, cutoff, fs=rate)
    return np.column_stack([filtfilt(b, a, medfilt(column, 5)) for column in values.T])
