# SPDX-License-Identifier: Apache-2.0
"""
Measured modes of an arm with its joints held: YAML or JSON, and universal files (UFF, UNV).

Universal files are read by pyuff: shapes from dataset 55, or frequency responses from dataset 58.
Near each peak of the latter, with one pole common to all responses j of displacement X_j,

    X_j (w_n^2 - w^2 + 2 i z w_n w) = b_j + c_j w^2 + d_j w^4

is linear in w_n^2, 2 z w_n, b_j, c_j and d_j (least squares; Ewins, Modal Testing, 2000, section
4.4). The shape is the right side at w_n; its change with w stands for the other modes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

from flexdyn_ros.errors import FlexdynError, ModelError
import numpy as np

LARGEST = 2**26
# Powers of i w by which a response exceeds displacement: ordinate types of dataset 58.
_POWERS = {0: 0, 8: 0, 11: 1, 12: 2}
_NORMAL, _COMPLEX = 2, (3, 7)  # analysis types of dataset 55
_FREQUENCY_RESPONSE = 4


@dataclass(frozen=True, eq=False)
class Sensor:
    """
    One direction at a point of a link.

    Attributes:
        link: The link's name.
        at: The point in the link frame, undeformed, shape (3,) [m].
        direction: Unit vector in link axes, shape (3,).
        name: Of the signal in recordings, or empty.
    """

    link: str
    at: np.ndarray
    direction: np.ndarray
    name: str = ''


@dataclass(frozen=True, eq=False)
class MeasuredMode:
    """
    A mode of an arm with its joints held.

    Attributes:
        frequency: [Hz].
        damping_ratio: None where it is not measured.
        shape: Displacement at the sensors, of any scale, shape (sensors,); None without.
    """

    frequency: float
    damping_ratio: Optional[float] = None
    shape: Optional[np.ndarray] = None


@dataclass(frozen=True, eq=False)
class ModalTest:
    """
    Measurements on an arm with its joints held.

    Attributes:
        modes: Frequencies, damping and shapes.
        sensors: Places and directions of the shapes.
        stiffness: Places with direction, and the force there over the deflection [N/m].
    """

    modes: tuple[MeasuredMode, ...]
    sensors: tuple[Sensor, ...] = ()
    stiffness: tuple[tuple[Sensor, float], ...] = ()


def read_modal_test(path: Path, link: Optional[str] = None) -> ModalTest:
    """
    Return the measured modes of a file.

    Args:
        path: YAML, JSON, .uff or .unv.
        link: The link that carries the nodes of a universal file, in its axes.

    Raises:
        ModelError: The file holds no measured modes.
        FlexdynError: pyuff is missing.
    """
    if not path.is_file() or path.stat().st_size > LARGEST:
        raise ModelError(f'"{path}" is wrong, expected a file of at most {LARGEST} bytes')
    try:
        if path.suffix.lower() not in ('.uff', '.unv'):
            return _described(path)
        if link is None:
            raise ValueError('needs --link, the link that carries its nodes')
        return _universal(path, link)
    except (ValueError, KeyError, TypeError, IndexError, ArithmeticError,
            np.linalg.LinAlgError) as error:
        text = f'lacks {error}' if isinstance(error, KeyError) else str(error)
        raise ModelError(f'"{path}" {text}', advice='Compare it with docs/modal_files.md'
                         ) from None


def _described(path: Path) -> ModalTest:
    import yaml

    try:
        given = yaml.safe_load(path.read_text(encoding='utf-8'))
    except (yaml.YAMLError, UnicodeDecodeError):
        raise ValueError('is neither YAML nor JSON') from None
    if not isinstance(given, dict):
        raise ValueError('holds no sensors, modes and stiffness by name')
    _only(given, ('sensors', 'modes', 'stiffness'))
    sensors = tuple(_sensor(each) for each in given.get('sensors') or ())
    modes = []
    for each in given.get('modes') or ():
        _only(each, ('frequency_hz', 'damping_ratio', 'shape'))
        shape = None if each.get('shape') is None else _vector(each['shape'], len(sensors))
        ratio = each.get('damping_ratio')
        modes.append(MeasuredMode(
            _positive(each['frequency_hz']), None if ratio is None else _positive(ratio), shape))
    pushed = tuple(
        (_sensor(each, ('stiffness_n_per_m',)), _positive(each['stiffness_n_per_m']))
        for each in given.get('stiffness') or ())
    return checked(ModalTest(tuple(modes), sensors, pushed))


def checked(test: ModalTest) -> ModalTest:
    """Return a test that has something to fit, or sensors; raise ValueError for another."""
    if not test.modes and not test.stiffness and not test.sensors:
        raise ValueError('holds neither modes nor stiffness nor sensors')
    shapes = [mode.shape for mode in test.modes if mode.shape is not None]
    ratios = np.array([mode.damping_ratio or 0.0 for mode in test.modes])
    places = [sensor.at for sensor in test.sensors]
    if not all(np.isfinite(values).all() for values in (*shapes, ratios, *places)):
        raise ValueError('holds numbers that are not finite')
    if not all(np.any(shape) for shape in shapes):
        raise ValueError('holds a shape of zeros')
    return test


def _only(given: Mapping[str, Any], names: Sequence[str]) -> None:
    if unknown := set(given) - set(names):
        raise ValueError(f'holds unknown names {sorted(map(str, unknown))}; known are '
                         f'{", ".join(names)}')


def _sensor(given: Mapping[str, Any], more: Sequence[str] = ()) -> Sensor:
    _only(given, ('link', 'at', 'direction', 'name', *more))
    direction = _vector(given['direction'], 3)
    if not np.any(direction):
        raise ValueError('holds a direction of zeros')
    return Sensor(str(given['link']), _vector(given.get('at', (0.0, 0.0, 0.0)), 3),
                  direction / np.linalg.norm(direction), str(given.get('name', '')))


def _vector(values: Any, size: int) -> np.ndarray:
    found = np.array(values, dtype=float)
    if found.shape != (size,) or not np.all(np.isfinite(found)):
        raise ValueError(f'holds {values!r}, not {size} finite numbers')
    return found


def _positive(value: Any) -> float:
    found = float(value)
    if not 0.0 < found < np.inf:
        raise ValueError(f'holds {value!r}, not a positive number')
    return found


def _universal(path: Path, link: str) -> ModalTest:
    try:
        import pyuff
    except ImportError:
        raise FlexdynError('Universal files need pyuff: pip install pyuff') from None
    try:
        sets = pyuff.UFF(str(path)).read_sets()
    except Exception:  # of its many datasets
        raise ValueError('is no universal file that pyuff reads') from None
    sets = sets if isinstance(sets, list) else [sets]
    places: dict[int, np.ndarray] = {}
    for each in sets:
        if each['type'] in (15, 2411):
            places.update(zip(
                np.asarray(each['node_nums'], dtype=int).tolist(),
                np.column_stack([each[axis] for axis in 'xyz']).astype(float)))
    if not places:
        raise ValueError('holds no positions of nodes (dataset 15 or 2411)')
    shapes = [each for each in sets if each['type'] == 55]
    if shapes:
        modes, degrees = _shapes(shapes)
    else:
        modes, degrees = _responses([each for each in sets if each['type'] == 58])
    for node, _ in degrees:
        if node not in places:
            raise ValueError(f'holds no position of node {node}')
    return checked(ModalTest(tuple(modes), tuple(
        Sensor(link, places[node], np.eye(3)[axis]) for node, axis in degrees)))


def _shapes(sets: Sequence[Mapping[str, Any]]) -> tuple[list[MeasuredMode], list[Any]]:
    """Return modes and the node and axis of each sensor, of datasets 55."""
    found = []
    for each in sets:
        kind = int(each['analysis_type'])
        if kind == _NORMAL:
            frequency, ratio = float(each['freq']), float(each.get('modal_damp_vis', 0.0))
        elif kind in _COMPLEX:
            pole = complex(each['eig'])
            frequency, ratio = abs(pole) / (2.0 * np.pi), -pole.real / abs(pole)
        else:
            continue
        numbers = np.asarray(each['node_nums'], dtype=int).tolist()
        moved = np.column_stack([each[f'r{a}'] for a in (1, 2, 3)])
        found.append((frequency, ratio, dict(zip(numbers, moved))))
    if not found:
        raise ValueError('holds no modes in its datasets 55')
    common = sorted(set.intersection(*(set(moved) for *_, moved in found)))
    table = np.array([[moved[node] for node in common] for *_, moved in found])
    # A direction in which nothing ever moves is not measured.
    used = np.argwhere(np.any(table != 0.0, axis=0))
    degrees = [(common[n], int(a)) for n, a in used]
    modes = [
        MeasuredMode(_positive(f), z if z > 0.0 else None, real_shape(row[tuple(used.T)]))
        for (f, z, _), row in zip(found, table)]
    return modes, degrees


def real_shape(shape: np.ndarray) -> np.ndarray:
    """Return a complex shape turned to the phase in which it is largest, real part."""
    phase = 0.5 * np.angle(np.sum(shape.astype(complex)**2))
    return np.asarray((shape * np.exp(-1j * phase)).real)


def _responses(sets: Sequence[Mapping[str, Any]]) -> tuple[list[MeasuredMode], list[Any]]:
    """Return modes and the node and axis of each sensor, of frequency responses."""
    sets = [each for each in sets if int(each['func_type']) == _FREQUENCY_RESPONSE
            and 1 <= abs(int(each['rsp_dir'])) <= 3]
    if not sets:
        raise ValueError('holds neither modes (dataset 55) nor frequency responses (58)')
    reference = (sets[0]['ref_node'], sets[0]['ref_dir'])
    sets = [each for each in sets if (each['ref_node'], each['ref_dir']) == reference]
    f = np.asarray(sets[0]['x'], dtype=float)
    rows, degrees = [], []
    for each in sets:
        if not np.array_equal(np.asarray(each['x'], dtype=float), f):
            raise ValueError('holds frequency responses at different frequencies')
        power = _POWERS.get(int(each.get('ordinate_spec_data_type', 0)), 0)
        side = np.sign(int(each['rsp_dir']))
        with np.errstate(divide='ignore', invalid='ignore'):
            rows.append(side * np.asarray(each['data'], complex) / (2j * np.pi * f)**power)
        degrees.append((int(each['rsp_node']), abs(int(each['rsp_dir'])) - 1))
    return fitted_modes(f[f > 0.0], np.array(rows)[:, f > 0.0]), degrees


def fitted_modes(frequencies: np.ndarray, responses: np.ndarray) -> list[MeasuredMode]:
    """
    Return the modes at the peaks of frequency responses of displacement.

    Args:
        frequencies: Ascending, positive, shape (n,) [Hz].
        responses: Complex, shape (sensors, n).

    Raises:
        ValueError: They have no peaks.
    """
    from scipy.signal import find_peaks

    size = np.log10(np.maximum(np.sum(np.abs(responses)**2, axis=0), 1e-300))
    peaks, _ = find_peaks(size, prominence=0.3)
    found = []
    for k, peak in enumerate(peaks):
        left = peaks[k - 1] if k else 0
        right = peaks[k + 1] if k + 1 < len(peaks) else len(size) - 1
        near = np.arange(left + int(np.argmin(size[left:peak + 1])),
                         peak + int(np.argmin(size[peak:right + 1])) + 1)
        near = near[size[near] > size[peak] - 1.0]  # down to a third of the peak
        near = np.union1d(near, np.arange(max(peak - 3, 0), min(peak + 4, len(size))))
        pole = _pole(2.0 * np.pi * frequencies[near], responses[:, near])
        if pole is not None:
            found.append(pole)
    if not found:
        raise ValueError('holds frequency responses without peaks of a damped mode')
    return found


def _pole(rates: np.ndarray, responses: np.ndarray) -> Optional[MeasuredMode]:
    """Return the mode that fits responses near a peak; None where it is not damped."""
    centre = rates.mean()  # scaled, as squares of rates are large
    w, count = rates / centre, len(responses)
    own = np.kron(np.eye(count), np.column_stack([np.ones_like(w), w**2, w**4]))
    flat, ws = responses.ravel(), np.tile(w, count)
    matrix = np.column_stack([-flat, -1j * ws * flat, own])
    # Two real unknowns; complex ones for each response.
    parts = np.block([[matrix.real[:, :2], own, np.zeros_like(own)],
                      [matrix.imag[:, :2], np.zeros_like(own), own]])
    wanted = -ws**2 * flat
    answer = np.linalg.lstsq(parts, np.concatenate([wanted.real, wanted.imag]), rcond=None)[0]
    square, drag = answer[:2]
    if square <= 0.0 or drag <= 0.0:
        return None
    rate = np.sqrt(square)
    numerators = answer[2:].reshape(2, count, 3)
    shape = (numerators[0] + 1j * numerators[1]) @ [1.0, square, square**2]
    return MeasuredMode(float(rate * centre / (2.0 * np.pi)), float(0.5 * drag / rate),
                        real_shape(shape))
