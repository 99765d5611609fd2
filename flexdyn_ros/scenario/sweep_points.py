# SPDX-License-Identifier: Apache-2.0
"""The points of a sweep: a grid, or random samples, of values of a scenario."""

from __future__ import annotations

from dataclasses import dataclass
import hashlib
import itertools
import json
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

from flexdyn_ros import __version__
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.scenario.load import load
import numpy as np
import yaml


@dataclass(frozen=True)
class SweepAxis:
    """
    A key of a scenario and its values.

    Attributes:
        key: The key, dots between sections.
        values: Values of a grid; the ends of a range, or the choices of samples.
        is_range: Whether samples are uniform between the first and the last value.
    """

    key: str
    values: tuple[Any, ...]
    is_range: bool = False

    def sample(self, random: np.random.Generator) -> Any:
        """Return a random value."""
        if self.is_range:
            return float(random.uniform(self.values[0], self.values[-1]))
        return self.values[int(random.integers(len(self.values)))]


@dataclass(frozen=True)
class Sweep:
    """
    Points of a scenario.

    Attributes:
        source: The scenario's file.
        changes: Values that all points have in common, by key.
        points: Changed values of each point, by key.
    """

    source: str
    changes: Mapping[str, Any]
    points: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(
        cls, source: str, axes: Sequence[SweepAxis], changes: Optional[Mapping[str, Any]] = None,
        samples: int = 0, seed: int = 0,
    ) -> Sweep:
        """
        Return the grid of all values, or random samples.

        Args:
            source: The scenario's file.
            axes: The varied keys.
            changes: Other values of the scenario.
            samples: Number of samples; 0 for the grid.
            seed: Of the samples.

        Raises:
            ArgumentError: No key varies, or one comes twice.
            ScenarioError: The scenario does not take a value.
        """
        keys = [axis.key for axis in axes]
        if not keys or len(set(keys)) < len(keys):
            raise ArgumentError('over', f'names {keys}, expected different keys, at least one')
        common = dict(changes or {})
        for axis in axes:
            for value in axis.values:
                first = {each.key: each.values[0] for each in axes}
                load(source, {**common, **first, axis.key: value})
        if samples:
            random = np.random.default_rng(seed)
            points = [{axis.key: axis.sample(random) for axis in axes} for _ in range(samples)]
        else:
            grid = itertools.product(*(axis.values for axis in axes))
            points = [dict(zip(keys, values)) for values in grid]
        return cls(str(source), common, tuple(points))

    def digest(self) -> str:
        """Return a digest of all that the rows depend on, with the contents of named files."""
        first = {**self.changes, **self.points[0]}
        scenario = load(self.source, first)
        names = {self.source, *scenario.files}
        for key, value in {each for point in self.points for each in point.items()
                           if isinstance(each[1], str)}:
            names.update(load(self.source, {**first, key: value}).files)
        parts = (__version__, dict(self.changes), list(self.points), scenario.robot.descriptions,
                 {name: _contents(Path(name)) for name in names})
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _contents(path: Path) -> list[str]:
    """Return digests of a file or of the files in a folder; none for addresses and XML."""
    try:
        files = sorted(path.rglob('*')) if path.is_dir() else [path] * path.is_file()
        return [hashlib.sha256(each.read_bytes()).hexdigest() for each in files if each.is_file()]
    except OSError:  # XML is longer than a name may be
        return []


def parsed_axis(text: str) -> SweepAxis:
    """
    Read KEY=FROM:TO:COUNT, KEY=FROM:TO for samples, or KEY=VALUE,VALUE...

    Raises:
        ArgumentError: It is none of these.
    """
    key, _, value = text.partition('=')
    parts = value.split(':')
    try:
        if key and len(parts) in (2, 3):
            low, high = map(float, parts[:2])
            count = int(parts[2]) if len(parts) == 3 else 2
            if count >= 1 and np.isfinite([low, high]).all():
                values = np.linspace(low, high, count).tolist()
                return SweepAxis(
                    key, tuple(int(x) if x == int(x) else x for x in values), True)
        elif key and value and len(parts) == 1:
            found = yaml.safe_load(f'[{value}]')
            return SweepAxis(key, tuple(found))
    except (ValueError, yaml.YAMLError):
        pass
    raise ArgumentError(
        'over', f'is "{text}", expected KEY=FROM:TO:COUNT, KEY=FROM:TO or KEY=VALUE,VALUE')
