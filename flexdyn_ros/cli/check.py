# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn check`: faults and doubtful values of a model, link by link and joint by joint.

Read a description and its <flexdyn> extension, and report errors and doubtful values.

Links: inertias that no rigid body has, with mass [kg], principal moments [kg m^2], failed test and
excess relative to the largest moment. Inertia that contradicts the mass, moduli that no material
has.
Joints: joints that move no mass, limits without effort. Beams: beams too short for their modes,
links or springs that buckle under the weight at zero configuration. Loops: loops that do not close
near the zero configuration. Notes give the share of <inertial> that beams without a mass take.

Sizes: mass and radius of gyration against the geometry of a link, or against its length where
there is none. Meshes are read by trimesh, where it is installed.
Units: masses in grams, moments in kg mm^2 or g mm^2, origins in millimetres, limits in degrees,
densities and frequencies that no arm has. <transmission> data that is not used, and elements that
urdfdom refuses.

Errors are models that forward dynamics refuses, and impossible rigid bodies; they give exit code
1. Warnings give exit code 0, and 1 with --strict. Notes report decisions of the reader.

Examples:
  flexdyn check arm.urdf
  flexdyn check vendor.urdf --extension flexible.xml --strict
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from typing import Any, Iterator, TYPE_CHECKING

from flexdyn_ros.cli.options import description_folder, load, show, with_units
from flexdyn_ros.terminal import heading, paint, table

if TYPE_CHECKING:
    from flexdyn_ros.model.check import CheckReport, Finding
    from flexdyn_ros.model.records.robot import Robot
    from flexdyn_ros.robot_dynamics import Dynamics

_COLOURS = {'error': 'red', 'warning': 'yellow', 'note': 'dim'}
_UNITS = {'mass': 'mass_kg', 'principal_moments': 'principal_moments_kg_m2'}
_TESTS = {
    'mass': 'inertia without mass',
    'positive': 'negative moment',
    'triangle': 'triangle inequality',
}
SUMMARY = 'errors and doubtful values of a model, by link and joint'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument('--strict', action='store_true', help='exit with code 1 on warnings too')


def run(call: argparse.Namespace) -> int:
    """Print the findings and the table of links."""
    robot = load(call)
    from flexdyn_ros.model.check import check_robot

    report = check_robot(robot)
    from flexdyn_ros.model.check_plausible import implausible_findings

    findings = [*report.findings, *implausible_findings(robot, description_folder(call)),
                *_motion_findings(robot)]
    findings.sort(key=lambda finding: list(_COLOURS).index(finding.severity))
    report = replace(report, findings=tuple(findings))
    wrong = ('error', 'warning') if call.strict else ('error',)
    passed = not any(finding.severity in wrong for finding in report.findings)
    show(call, _record(robot, report, passed), _text(robot, report, passed))
    return 0 if passed else 1


def _motion_findings(robot: 'Robot') -> list['Finding']:
    """Return findings on the motion that loops leave, and on modes under the weight."""
    if not (robot.loops or robot.n_modes):
        return []
    from flexdyn_ros.closed_chains.check import loop_findings
    from flexdyn_ros.robot_dynamics import Dynamics

    dyn = Dynamics(robot, backend='reference')
    loops = loop_findings(dyn) if robot.loops else []
    modes = [*_weight_findings(dyn), *_frequency_findings(dyn)] if robot.n_modes else []
    return [*loops, *modes]


def _frequency_findings(dyn: 'Dynamics') -> list['Finding']:
    """Return findings on modes and elastic joints with frequencies that no arm has."""
    from flexdyn_ros.model.check import Finding, WARNING
    from flexdyn_ros.model.check_plausible import HIGHEST, LOWEST
    from flexdyn_ros.simulation.frequencies import stiffness_matrix
    from flexdyn_ros.simulation.modal_coordinates import coordinate_table

    q = dyn.robot.neutral_configuration()
    stiffness = stiffness_matrix(dyn, q)
    rows = coordinate_table(dyn.robot, dyn.mass_matrix(q), stiffness)
    return [*_coupling_findings(dyn, stiffness)] + [
        Finding(
            WARNING, 'robot', dyn.robot.name,
            f'the mode "{row["name"]}" has a frequency of {row["frequency"]:.3g} Hz',
            'Check stiffness and mass: moduli in Pa, second moments in m^4 (1 mm^4 is 1e-12), '
            'joint stiffness in N m/rad',
        )
        for row in rows
        if row['frequency'] is not None and not LOWEST <= row['frequency'] <= HIGHEST
    ]


def _coupling_findings(dyn: 'Dynamics', stiffness: Any) -> Iterator['Finding']:
    """Yield a warning where couplings of modes make the robot unstable at rest."""
    from flexdyn_ros.model.check import Finding, WARNING
    import numpy as np

    modal = stiffness[-dyn.robot.n_modes:, -dyn.robot.n_modes:]
    scale = 1.0 / np.sqrt(np.maximum(np.diag(modal), 1e-300))
    if dyn.robot.couplings and np.linalg.eigvalsh(scale[:, None] * modal * scale)[0] < -1e-6:
        yield Finding(
            WARNING, 'mode_coupling', ' '.join(dyn.robot.couplings[0].modes),
            'the stiffness of the modes at rest is indefinite, so that some deflection grows',
            'Write an energy of two modes below the root of the product of their stiffnesses',
        )


def _weight_findings(dyn: 'Dynamics') -> list['Finding']:
    """Return a warning where the robot's weight buckles it at zero configuration."""
    from flexdyn_ros.model.check import Finding, WARNING
    from flexdyn_ros.simulation.buckling import buckling_load

    found = buckling_load(dyn, dyn.robot.neutral_configuration())
    if found is None or found[0] >= 1.0:
        return []
    factor, mode = found
    return [Finding(
        WARNING, 'robot', dyn.robot.name,
        f'at zero configuration {100.0 * factor:.3g} percent of its weight buckle it, "{mode}" '
        'first',
        'Check stiffness, masses and gravity, or start from a hanging configuration',
    )]


def _record(robot: 'Robot', report: 'CheckReport', passed: bool) -> dict[str, Any]:
    return {
        'name': robot.name,
        'source': robot.source,
        'passed': passed,
        'findings': [asdict(finding) for finding in report.findings],
        'links': with_units([asdict(link) for link in report.links], _UNITS),
    }


def _text(robot: 'Robot', report: 'CheckReport', passed: bool) -> str:
    lines = [f'{heading(robot.name)}  ({robot.source})']
    lines += [_finding(finding) for finding in report.findings]
    lines += ['', heading('links'), table(
        ('link', 'mass [kg]', 'principal moments [kg m^2]', '', '', 'failed', 'by'),
        [
            (link.name, float(link.mass), *(float(m) for m in link.principal_moments),
             ', '.join(_TESTS.get(test, test) for test in link.failed) or '-',
             f'{100.0 * link.excess:.3g} %' if link.failed else '-')
            for link in report.links
        ],
    )]
    counts = ', '.join(
        _count(sum(f.severity == severity for f in report.findings), severity)
        for severity in _COLOURS
    )
    verdict = paint('passed', 'green') if passed else paint('failed', 'red')
    return '\n'.join([*lines, '', f'{verdict}: {counts}'])


def _finding(finding: 'Finding') -> str:
    severity = paint(f'{finding.severity}:', _COLOURS[finding.severity])
    return (
        f'{severity} <{finding.element}> "{finding.name}": {finding.message}. {finding.advice}.'
    )


def _count(number: int, severity: str) -> str:
    return f'{number} {severity}' + ('' if number == 1 else 's')
