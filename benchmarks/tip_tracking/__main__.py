# SPDX-License-Identifier: Apache-2.0
"""
Command: python -m benchmarks.tip_tracking [--samples N].

Compares the residual vibration and the tip error of rigid feed-forward with those of stable
inversion. The arms are the Canadarm and a UR5e with payload; writes docs/tip_tracking_study.md. In
seeded samples each mass, stiffness and damping of the plant differs from the model's by a factor
from 0.95 to 1.05.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flexdyn_ros as fd
from flexdyn_ros.tip_tracking.comparison import MethodComparison
from flexdyn_ros.tip_tracking.wrong_models import wrong_descriptions
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / 'docs' / 'tip_tracking_study.md'


@dataclass(frozen=True)
class ArmOnPath:
    """
    One arm on one path.

    Attributes:
        name: For the page.
        texts: The description, then extensions.
        frame: The frame that follows the path.
        outputs: Its components.
        ends: Joint positions at the start and at the end [rad].
        duration: Of the path [s].
        kp: Gains of the demonstration [N m/rad].
        kd: Gains of the demonstration [N m s/rad].
        factors: On these gains.
    """

    name: str
    texts: tuple[str, ...]
    frame: str
    outputs: tuple[str, ...]
    ends: tuple[tuple[float, ...], tuple[float, ...]]
    duration: float
    kp: tuple[float, ...]
    kd: tuple[float, ...]
    factors: tuple[float, float]


def cases() -> tuple[ArmOnPath, ...]:
    """Return the arms."""
    import airo_models

    arm = fd.load_robot(
        ROOT / 'urdf' / 'canadarm.urdf.xacro', xacro_arguments={'damping_ratio': '0.01'})
    vendor = Path(airo_models.get_urdf_path('ur5e')).read_text(encoding='utf-8')
    extension = (ROOT / 'urdf' / 'ur5e_extension.flexdyn.xml').read_text(encoding='utf-8')
    return (
        ArmOnPath(
            'Canadarm', arm.descriptions, 'tool', ('x', 'y', 'rz'),
            ((0.3, -0.8, 0.4), (0.8, -1.2, 0.6)), 5.5, (2000.0, 1000.0, 100.0),
            (3000.0, 1500.0, 150.0), (100.0, 10.0)),
        ArmOnPath(
            'UR5e with 5 kg', (vendor.replace('drake:', ''), extension), 'tool0',
            ('x', 'y', 'z', 'rx', 'ry', 'rz'),
            ((0.2, -1.4, 1.3, -1.2, -1.5, 0.1), (0.8, -1.0, 1.0, -1.4, -1.3, 0.4)), 1.0,
            (600.0, 600.0, 400.0, 100.0, 100.0, 50.0), (60.0, 60.0, 40.0, 10.0, 10.0, 5.0),
            (20.0, 4.5)),
    )


def dynamics(texts: tuple[str, ...]) -> fd.Dynamics:
    """Return the compiled dynamics of a description with extensions."""
    return fd.Dynamics(fd.load_robot(texts[0], extension=list(texts[1:]) or None), 'c')


def ratios(case: ArmOnPath, factors: tuple[float, float], samples: int) -> np.ndarray:
    """Return vibration and tip error of rigid over inversion: exact, then wrong models."""
    dyn = dynamics(case.texts)
    modes = [0.0] * dyn.robot.n_modes
    path = fd.TipPath.between(
        dyn, case.frame, [*case.ends[0], *modes], [*case.ends[1], *modes], case.duration,
        case.outputs)
    comparison = MethodComparison(
        dyn, path, factors[0] * np.array(case.kp), factors[1] * np.array(case.kd))
    references = [comparison.reference(method, 1e-3) for method in ('rigid', 'inversion')]
    rows = []
    for seed in range(-1, samples):
        plant: Any = dyn if seed < 0 else dynamics(wrong_descriptions(case.texts, seed))
        rigid, inverted = (comparison.run(each, plant) for each in references)
        rows.append((rigid.residual_vibration / inverted.residual_vibration,
                     rigid.tip_error / inverted.tip_error))
        print(f'{case.name}: {seed + 1} of {samples}', *np.round(rows[-1], 2), flush=True)
    return np.array(rows)


def page(samples: int) -> str:
    """Return the page."""
    lines = [
        '# Paths of the tip: exact and wrong models', '',
        'Written by `python -m benchmarks.tip_tracking`. Each number is the error of rigid '
        'feed-forward over', 'that of [stable inversion](tip_tracking.md), under the same PD '
        'controllers. Residual vibration is', 'the largest distance of the tip from its mean '
        'after the reference ends, for as long as the path',
        f'lasts. The wrong plants are {samples} seeded samples: each mass, stiffness and damping '
        'differs from', 'the model by up to 5 %.',
        '', '| arm | gains kp, kd | vibration, exact | wrong: median | worst | tip error, exact | '
        'wrong: median | worst |', '|---|---|---|---|---|---|---|---|']
    for case in cases():
        for factors in (case.factors, (1.0, 1.0)):
            found = ratios(case, factors, samples)
            cells = []
            for column in found.T:
                cells += [f'{column[0]:.3g}', f'{np.median(column[1:]):.3g}',
                          f'{column[1:].min():.3g}']
            lines.append(f'| {case.name} | {factors[0]:g}, {factors[1]:g} | '
                         + ' | '.join(cells) + ' |')
    return '\n'.join(lines) + '\n'


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--samples', type=int, default=32, help='wrong models of each arm')
    PAGE.write_text(page(parser.parse_args().samples), encoding='utf-8')
    print(f'Written to {PAGE}.')


if __name__ == '__main__':
    main()
