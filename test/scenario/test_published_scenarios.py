# SPDX-License-Identifier: Apache-2.0
"""Scenarios of the sources against the rows of the validation."""

from pathlib import Path

from flexdyn_ros.scenario import load, run
import numpy as np
import pytest
from validation.case_file import case_entry
from validation.van_der_merwe.four_links import four_links

STUDIES = Path(__file__).resolve().parents[2] / 'examples' / 'scenarios'


def row(case, key):
    """Return the expected value of a row of the validation, and its tolerance."""
    found = case_entry(case)['rows'][key]
    value = np.array(found['expected'])
    return value, found.get('absolute') or found['relative'] * abs(value)


def test_the_forced_canadarm_meets_the_validation():
    """Angles at 1 and 2 s of figures 4 and 5, by the validation's own torque function."""
    found = run(load(STUDIES / 'canadarm_forced.yaml', {'simulation.duration': 2}), False)
    expected, _ = row('ms_canadarm_motion', 'angles')
    at = [round(t / found.step) for t in (1, 2)]
    assert found.motion.q[at][:, :3] == pytest.approx(expected[:2], abs=1e-6)


def test_four_links_meet_the_validation():
    """States at 0.1 to 1 s, and the constraint force at the end by another description."""
    found = run(load(STUDIES / 'four_links.yaml', {'simulation.duration': 1}), False)
    expected, tolerance = row('vm_four_links_simulation', 'q')
    at = [round(t / 2e-3) for t in (0.1, 0.25, 0.5, 1.0)]
    assert found.motion.q[at] == pytest.approx(expected, abs=tolerance)
    q, qd = found.motion.q[-1], found.motion.qd[-1]
    force = -four_links(backend='python').constraint_forces(q, qd, -0.25 * qd)
    forces, allowed = row('vm_four_links_simulation', 'force')
    assert force[[2, 4]] == pytest.approx(forces[-1], abs=10.0 * allowed)


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'case', 'rows'), [
    ('hslm_held', 'sim1', {'lowest': min, 'fifth': -1}),
    ('hslm_lifted', 'sim2', {'highest': max, 'second': 200, 'fifth': -1}),
    ('hslm_lifted_by_slides', 'sim3', {'highest': max, 'fifth': -1}),
])
def test_three_legs_under_pid_move_as_the_validation_of_one_leg(name, case, rows):
    found = run(load(STUDIES / f'{name}.yaml'), False)
    height = found.frames['tip'][:, 2]
    for key, place in rows.items():
        expected, tolerance = row('vm_hslm_control', f'{case}_{key}')
        value = place(height) if callable(place) else height[place]
        assert value == pytest.approx(expected, abs=tolerance)


def test_the_flexible_double_pendulum_leaves_the_rigid_one_as_in_the_validation():
    """Largest deviations of samples each 5 ms, by an independent model of case 3."""
    rigid = run(load(STUDIES / 'double_pendulum_soft.yaml', {'arguments.modes': 0}), False)
    for kind in ('soft', 'stiff'):
        found = run(load(STUDIES / f'double_pendulum_{kind}.yaml'), False)
        expected, tolerance = row('er_case3', f'{kind}_1')
        deviation = np.abs(found.motion.q[::10, :2] - rigid.motion.q[::10]).max(axis=0)
        assert (np.abs(deviation - expected) <= tolerance).all()


@pytest.mark.slow
@pytest.mark.parametrize(('number', 'mode', 'key'), [
    (1, 'link2/bending_y1', 'regression'), (2, 'link2/bending_z1', 'regression'),
    (3, 'link1/bending_z1', 'high_regression'), (4, 'link1/bending_z1', 'high_regression'),
])
def test_two_links_vibrate_as_in_the_validation(number, mode, key):
    """The loudest frequency of case 4, above 15 Hz in the cases with a slow one."""
    found = run(load(STUDIES / f'two_links_case4_{number}.yaml', {
        'simulation.duration': 2, 'simulation.step': 5e-4}), False)
    samples = found.motion.coordinate(mode)
    size = 16 * len(samples)
    spectrum = np.abs(np.fft.rfft(np.hanning(len(samples)) * (samples - samples.mean()), size))
    frequencies = np.fft.rfftfreq(size, 5e-4)
    spectrum[frequencies < (15.0 if number > 2 else 1.0)] = 0.0
    expected, tolerance = row(f'er_case4_{number}', key)
    assert frequencies[np.argmax(spectrum)] == pytest.approx(expected, abs=2.0 * tolerance)


@pytest.mark.slow
def test_three_analyses_of_segments_swing_alike():
    """T1 to T3 of Martins and Machado: in the plane the further rotations stay at rest."""
    expected, _ = row('mm_segments', 'angles')
    for name in ('segments_t1', 'segments_t2', 'segments_t3'):
        found = run(load(STUDIES / f'{name}.yaml', {
            'simulation.duration': 1, 'simulation.step': 1e-4, 'outputs.every': 5000}), False)
        degrees = np.degrees(found.motion.q[1:3, :2])
        assert degrees == pytest.approx(expected[:2], abs=2e-3)
