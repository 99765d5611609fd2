# SPDX-License-Identifier: Apache-2.0
"""The record of a simulated motion, and its files."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields, replace
from io import StringIO
import os
from pathlib import Path
from typing import Any, Optional, Union

from flexdyn_ros.arguments import real_numbers
from flexdyn_ros.errors import ArgumentError, require_known
from flexdyn_ros.model.modal.archive import read_archive
from flexdyn_ros.output_files import new_file
from flexdyn_ros.simulation.tip_deflections import Names
import numpy as np

# Bytes that a file and all its arrays may take.
LARGEST = 2**32
FRAMES_PER_SECOND, MOST_FRAMES = 30.0, 600
# Arrays that older files do not hold.
_LATER = ('work', 'dissipated', 'events')
PathLike = Union[str, 'os.PathLike[str]']


@dataclass(frozen=True, eq=False)
class Trajectory:
    """
    A simulated motion, sampled once a step; its arrays are read-only.

    Attributes:
        t: Times, (T,) [s].
        q: Configurations, (T, nq) [rad | m].
        qd: Velocities, (T, nv) [rad/s | m/s].
        tau: Generalised forces applied, (T, nv) [N m | N].
        energy: Kinetic plus potential energy, (T,) [J].
        kinetic: Kinetic energy, (T,) [J].
        potential: Energy of gravity (zero at the root frame's origin) and of deflection, (T,) [J].
        work: Work of tau, of wrenches and of the forces that move a prescribed base or loops
            since the start, (T,) [J]. It is integrated by the method's stages; for quasi-static
            modes it is not a number.
        dissipated: Energy that friction and damping took since the start, (T,) [J], likewise.
        tips: Tip deflections of flexible links in beam axes, (T, n_tips) [m | rad]. Each is the
            sum of a family's modal coordinates, as each of them has unit deflection at the tip. Of
            links in segments it is the true one.
        names: Names of the configuration coordinates, (nq,).
        units: Their units, (nq,).
        velocity_names: Names of the velocity coordinates, (nv,).
        velocity_units: Their units, (nv,).
        effort_units: Units of tau, (nv,).
        tip_names: `<link>/tip_y`, `<link>/tip_z` and `<link>/tip_twist`, (n_tips,).
        tip_units: Their units, (n_tips,).
        mode_names: Names of the modes: the last entries of names and of velocity_names.
        robot_name: The robot's name.
        method: The integration method.
        events: Events found by an adaptive method, (E, 2 + nq + nv): number of the event's
            function from 0, time [s], configuration and velocity.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    energy: np.ndarray
    kinetic: np.ndarray
    potential: np.ndarray
    work: np.ndarray
    dissipated: np.ndarray
    tips: np.ndarray
    names: Names
    units: Names
    velocity_names: Names
    velocity_units: Names
    effort_units: Names
    tip_names: Names
    tip_units: Names
    mode_names: Names
    robot_name: str
    method: str
    events: np.ndarray

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.t)

    def __str__(self) -> str:
        """Return one line: robot, samples, duration."""
        return (
            f'Trajectory of "{self.robot_name}": {len(self)} samples to t = {self.t[-1]:g} s '
            f'by {self.method}'
        )

    def coordinate(self, name: str) -> np.ndarray:
        """
        Return one configuration coordinate over time, (T,).

        Raises:
            UnknownName: The robot has no coordinate of this name.
        """
        require_known('coordinate', [name], self.names)
        return self.q[:, self.names.index(name)]

    def between(self, start: Optional[float] = None, end: Optional[float] = None) -> Trajectory:
        """
        Return the samples from start to end [s], those included; None for the motion's own.

        Raises:
            ArgumentError: There are none, or a time is no number.
        """
        low = self.t[0] if start is None else _time('start', start)
        high = self.t[-1] if end is None else _time('end', end)
        kept = (self.t >= low - 1e-9) & (self.t <= high + 1e-9)
        if not kept.any():
            raise ArgumentError('start', f'and end, {low:g} and {high:g} s, hold no sample. '
                                'Widen them')
        rows = {
            item.name: getattr(self, item.name)[kept] for item in fields(self)
            if item.type == 'np.ndarray' and item.name != 'events'
        }
        return replace(self, **rows)

    def frames(self) -> np.ndarray:
        """Return the samples that pictures in motion show: 30 a second, at most 600, (n,)."""
        t = self.t
        rate = min(FRAMES_PER_SECOND, MOST_FRAMES / max(t[-1] - t[0], 1e-9))
        rows = np.searchsorted(t, np.arange(t[0], t[-1] + 0.5 / rate, 1.0 / rate))
        return np.unique(rows.clip(max=len(t) - 1))

    @property
    def columns(self) -> Names:
        """Headings of the CSV file, with quantity, name and unit."""
        return (
            't [s]',
            *(f'q {n} [{u}]' for n, u in zip(self.names, self.units)),
            *(f'qd {n} [{u}]' for n, u in zip(self.velocity_names, self.velocity_units)),
            *(f'tau {n} [{u}]' for n, u in zip(self.velocity_names, self.effort_units)),
            *(f'tip {n} [{u}]' for n, u in zip(self.tip_names, self.tip_units)),
            'energy [J]',
            'kinetic [J]',
            'potential [J]',
        )

    @property
    def residual(self) -> np.ndarray:
        """Integration error, energy gained beside work and losses since the start, (T,) [J]."""
        return np.asarray(self.energy - self.energy[0] - self.work + self.dissipated)

    def to_csv(self, path: PathLike) -> Path:
        """Write one line a sample under a line of headings, in full precision; return the path."""
        table = np.column_stack((
            self.t, self.q, self.qd, self.tau, self.tips, self.energy, self.kinetic,
            self.potential,
        ))
        headings = StringIO()
        csv.writer(headings, lineterminator='\n').writerow(self.columns)
        with new_file(path) as file:
            file.write(headings.getvalue().encode())
            np.savetxt(file, table, fmt='%.17g', delimiter=',')
        return Path(path)

    def save_npz(self, path: PathLike) -> Path:
        """Write all attributes as numpy arrays, compressed; return the path."""
        arrays: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            # A numpy array of no names has no text type of its own; give it one.
            arrays[item.name] = (
                value if isinstance(value, np.ndarray) else np.array(value, dtype=str)
            )
        with new_file(path) as file:
            np.savez_compressed(file, **arrays)
        return Path(path)

    @classmethod
    def load_npz(cls, path: PathLike) -> 'Trajectory':
        """
        Read a file of `save_npz`; of older files work and losses are not a number.

        Raises:
            ArgumentError: The file is not such a file. Nothing pickled is read.
        """
        values: dict[str, Any] = {}
        try:
            stored = read_archive(Path(path), _check_arrays, LARGEST, text=True)
            for name, array in stored.items():
                values[name] = array
                if array.dtype.kind == 'U':
                    values[name] = str(array) if array.ndim == 0 else tuple(map(str, array))
        except ValueError as error:
            raise ArgumentError(
                'path', f'names {path}, expected a file of save_npz: it {error}'
            ) from error
        for name in _LATER[:2]:
            values.setdefault(name, np.full(len(values['t']), np.nan))
        width = 2 + values['q'].shape[1] + values['qd'].shape[1]
        values.setdefault('events', np.zeros((0, width)))
        return cls(**values)


def _check_arrays(shapes: dict[str, tuple[int, ...]]) -> None:
    """Refuse an archive with other arrays than those of a trajectory, or not one row a time."""
    for item in fields(Trajectory):
        if item.name not in shapes:
            if item.name in _LATER:
                continue
            raise ValueError(f'does not hold "{item.name}"')
        one_a_time = item.type == 'np.ndarray' and item.name != 'events'
        if one_a_time and shapes[item.name][:1] != shapes['t'][:1]:
            raise ValueError(f'holds {item.name} with shape {shapes[item.name]}')
    if len(shapes) > len(fields(Trajectory)):
        raise ValueError('holds other arrays too')


def _time(argument: str, value: float) -> float:
    """Return a time, which may be infinite, or raise ArgumentError."""
    found = real_numbers(argument, value, 'a time [s]')
    if found.shape:
        raise ArgumentError(argument, f'has shape {found.shape}, expected a time [s]')
    return float(found)


def load_npz(path: PathLike) -> Trajectory:
    """Read a trajectory that `Trajectory.save_npz` wrote."""
    return Trajectory.load_npz(path)
