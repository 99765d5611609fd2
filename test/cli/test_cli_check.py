# SPDX-License-Identifier: Apache-2.0
"""`flexdyn check`."""

import json

from command import ARM, flexdyn, FOREARM
import numpy as np
from oracles.random_robots import inertial_xml
import pytest

LIMIT = '<limit lower="-2" upper="2" effort="50" velocity="10"/>'


def check(folder, text, *words):
    """Write a description, check it, and return the process and the JSON."""
    (folder / 'checked.urdf').write_text(text)
    run = flexdyn('check', 'checked.urdf', '--json', *words, cwd=folder)
    return run, json.loads(run.stdout) if run.stdout else None


def findings(report, severity):
    """Return (element, name) of the findings of one severity."""
    return [(f['element'], f['name']) for f in report['findings'] if f['severity'] == severity]


@pytest.fixture
def sound():
    """Return the arm with inertia in every moving link."""
    body = inertial_xml(1.0, [0.5, 0.0, 0.0], np.diag([0.001, 0.02, 0.02]))
    return ARM.replace('<link name="upper_arm"/>', f'<link name="upper_arm">{body}</link>')


def forearm_with(moments):
    """Return the forearm's <inertial> with other principal moments [kg m^2]."""
    return inertial_xml(0.6, [0.2, 0.0, 0.0], np.diag(moments))


def test_sound_model_passes(folder, sound):
    """No finding, exit code 0, also with --strict; each link has its mass and moments."""
    run, report = check(folder, sound, '--strict')
    assert (run.returncode, run.stderr) == (0, '')
    assert report['passed'] is True
    assert report['findings'] == []
    rows = {row['name']: row for row in report['links']}
    assert list(rows) == ['base', 'upper_arm', 'forearm']
    assert rows['forearm']['mass_kg'] == 0.6
    assert rows['forearm']['principal_moments_kg_m2'] == pytest.approx([0.001, 0.02, 0.02])
    assert rows['forearm']['failed'] == []


@pytest.mark.parametrize(
    ('moments', 'failed', 'excess'),
    [
        ((0.001, 0.02, 0.03), 'triangle', 9 / 30),
        ((-0.005, 0.02, 0.02), 'positive', 1 / 4),
    ],
)
def test_impossible_inertia_is_an_error_with_its_size(folder, sound, moments, failed, excess):
    """The test that failed and its excess, relative to the largest moment; exit code 1."""
    run, report = check(folder, sound.replace(FOREARM, forearm_with(moments)))
    assert run.returncode == 1
    assert report['passed'] is False
    assert findings(report, 'error') == [('link', 'forearm')]
    row = report['links'][2]
    assert row['failed'] == [failed]
    assert row['excess'] == pytest.approx(excess)


def test_massless_motion_names_the_joint_and_its_links(folder):
    """A missing <inertial> is zero mass; forward dynamics will refuse the joint."""
    text = ARM.replace(
        '</robot>', '<link name="tip"/><joint name="wrist" type="continuous">'
        '<parent link="forearm"/><child link="tip"/></joint></robot>',
    )
    run, report = check(folder, text)
    assert run.returncode == 1
    assert findings(report, 'error') == [('joint', 'wrist')]
    assert '"tip"' in report['findings'][0]['message']


def test_warnings_fail_only_with_strict(folder, sound):
    """A declared effort of zero is doubtful, not impossible."""
    doubtful = sound.replace(LIMIT, LIMIT.replace('effort="50"', 'effort="0"'))
    run, report = check(folder, doubtful)
    assert run.returncode == 0
    assert report['passed'] is True
    assert findings(report, 'warning') == [('joint', 'elbow')]
    assert 'effort="0"' in report['findings'][0]['message']
    run, report = check(folder, doubtful, '--strict')
    assert run.returncode == 1
    assert report['passed'] is False


def test_text_lists_links_and_gives_a_verdict(folder, sound):
    """The table, the findings with advice, and a last line that counts them."""
    wrong = sound.replace(FOREARM, forearm_with((0.001, 0.02, 0.03)))
    (folder / 'wrong.urdf').write_text(wrong)
    run = flexdyn('check', 'wrong.urdf', cwd=folder)
    assert run.returncode == 1
    assert run.stderr == ''
    assert 'error: <link> "forearm": the largest principal moment' in run.stdout
    assert 'principal moments [kg m^2]' in run.stdout
    assert 'triangle inequality' in run.stdout
    assert '30 %' in run.stdout
    assert run.stdout.splitlines()[-1] == 'failed: 1 error, 0 warnings, 0 notes'
    run = flexdyn('check', 'flexible.urdf', cwd=folder)
    assert run.returncode == 0
    assert run.stdout.splitlines()[-1].startswith('passed: 0 errors')


def test_a_description_that_does_not_load_is_one_sentence(folder):
    """The element and the name; exit code 1."""
    run, report = check(folder, ARM.replace('</robot>', """<flexdyn version="1.0">
        <flexible_link link="upperarm"/></flexdyn></robot>"""))
    assert run.returncode == 1
    assert report is None
    assert 'flexible_link' in run.stderr
    assert 'Did you mean "upper_arm"?' in run.stderr
    assert run.stderr.count('\n') == 1


def upright(mass):
    """Return a column of unit length and EI, clamped upright, of this mass."""
    return (
        '<robot name="column"><link name="column"/><flexdyn version="1.0">'
        '<gravity xyz="0 0 -10"/><flexible_link link="column"><beam tip="0 0 1" y_axis="0 1 0" '
        f'mass="{mass}" young="1e8" iy="1e-8" iz="2e-8"><bending axis="y" modes="3"/>'
        '<bending axis="z" modes="3"/></beam></flexible_link></flexdyn></robot>'
    )


@pytest.mark.parametrize(('mass', 'buckles'), [(0.77, False), (0.80, True)])
def test_a_column_that_buckles_under_its_weight_is_a_warning(folder, mass, buckles):
    """Greenhill's load is 7.837 EI / L^2; the softer plane gives way, the arm's do not."""
    run, report = check(folder, upright(mass))
    assert run.returncode == 0
    assert findings(report, 'warning') == ([('robot', 'column')] if buckles else [])
    if buckles:
        message = report['findings'][0]['message']
        assert float(message.split('configuration ')[1].split()[0]) == pytest.approx(98.0, abs=0.5)
        assert '"column/bending_z1" first' in message
        hanging = upright(mass).replace('0 0 -10', '0 0 10')
        assert findings(check(folder, hanging)[1], 'warning') == []


@pytest.mark.parametrize(('second', 'words'), [
    (1e-8, None), (1e-17, 'has a frequency of'), (1e10, 'has a frequency of'),
])
def test_frequencies_that_no_arm_has(folder, second, words):
    """Below 0.1 Hz and above 100 kHz; of 1 kg and 1 m, 1.8751^2 sqrt(EI) / 2 pi."""
    text = upright(1.0).replace('0 0 -10', '0 0 0').replace('1e-8', f'{second:g}').replace(
        '2e-8', f'{second:g}').replace('modes="3"', 'modes="1"')
    report = check(folder, text)[1]
    found = [f for f in report['findings'] if 'frequency of' in f['message']]
    assert len(found) == (2 if words else 0)
    rate = 1.8751**2 * (1e8 * second)**0.5 / (2.0 * np.pi)
    for finding in found:
        assert finding['severity'] == 'warning' and 'm^4' in finding['advice']
        shown = float(finding['message'].split('frequency of ')[1].split()[0])
        assert shown == pytest.approx(rate, rel=0.01)
