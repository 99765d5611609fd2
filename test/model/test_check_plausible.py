# SPDX-License-Identifier: Apache-2.0
"""What `flexdyn check` finds implausible: units, limits, densities, what other readers refuse."""

from contextlib import suppress

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.check import check_robot
from flexdyn_ros.model.check_plausible import implausible_findings
from flexdyn_ros.model.load import load_robot
from model_texts import ARM, flexdyn, INERTIAL, inertial, joint, link, one_joint, robot
from oracles.vendor_robots import vendor_urdfs
import pytest

LIMITS = '<limit lower="-2" upper="2" effort="9" velocity="3"/>'


def found(text, **named):
    """Return severity, name, message and advice of the findings."""
    return [(f.severity, f.name, f.message, f.advice)
            for f in implausible_findings(load_robot(text, **named))]


def arm(mass=1.0, length=0.5, limits=LIMITS, kind='revolute', inertial_text=None):
    """Return an arm of one link, a tool at its end."""
    body = inertial_text or inertial(mass, (0.5 * length, 0, 0), (0.001, 0.02, 0.02))
    return robot(
        link('a', ''), link('b', body), link('c', ''),
        joint('j', 'a', 'b', kind, f'<axis xyz="0 0 1"/>{limits}'),
        joint('k', 'b', 'c', 'fixed', f'<origin xyz="{length} 0 0"/>'),
    )


def test_a_sound_arm_has_no_finding():
    assert found(arm()) == []
    turns = '<limit lower="-314.159265" upper="314.159265" effort="9" velocity="3"/>'
    assert found(arm(limits=turns)) == []
    assert found(ARM) == []


@pytest.mark.parametrize(('text', 'severity', 'message', 'advice'), [
    (arm(length=500.0), 'warning', 'it reaches 500 m', '500 mm are 0.5 m'),
    (arm(mass=2e4), 'warning', 'mass of 2e+04 kg is large', '2e+04 g are 20 kg'),
    (arm(mass=1e-3), 'warning', 'mass of 0.001 kg is small', '0.001 t are 1 kg'),
    (arm(inertial_text='<visual/>'), 'warning', 'no link has a mass', 'data sheet'),
    (arm(limits='<limit lower="-90" upper="170" effort="9" velocity="3"/>'), 'warning',
     'limit of 170 rad is 27.1 turns', '170 degrees are 2.967 rad'),
    (arm(limits=''), 'note', 'no effort and no velocity', 'effort="..."'),
    (arm(limits='<limit lower="-2" upper="2" effort="9"/>'), 'note', 'no velocity', 'velocity='),
    (arm(kind='continuous'), 'note', 'limits are ignored', 'revolute'),
    (arm().replace('name="a">', f'name="a">{INERTIAL}'), 'note', 'of which KDL', 'root link'),
])
def test_one_finding_each(text, severity, message, advice):
    finding, = found(text)
    assert finding[0] == severity
    assert message in finding[2]
    assert advice in finding[3]


@pytest.mark.parametrize(('area', 'mass', 'words'), [
    ('1e-3', '1', None), ('1000', '1', 'density of 0.002'), ('1e-7', '1', 'density of 2e+07'),
])
def test_density_of_a_beam(area, mass, words):
    extension = flexdyn(f'<flexible_link link="b"><beam tip="k" area="{area}" mass="{mass}"/>'
                        '</flexible_link>')
    findings = found(arm(inertial_text='<visual/>'), extension=extension)
    assert [f[1] for f in findings] == ['b'] * bool(words)
    assert not words or words in findings[0][2]


@pytest.mark.parametrize(('mass', 'moment', 'advice'), [
    (1.0, 4000.0, 'Perhaps moments are in kg mm^2: multiply <mass> by 1 and <inertia> by 1e-06'),
    (1.0, 4e6, 'Perhaps moments are in g mm^2'),
    (1500.0, 0.008, 'Perhaps the mass is in g: multiply <mass> by 0.001'),
])
def test_units_that_explain_an_inertia(mass, moment, advice):
    text = one_joint(inertial=inertial(mass, (0.0, 0.1, 0.0), 3 * (moment,)))
    finding, = check_robot(load_robot(text)).findings
    assert finding.advice.startswith(advice)


@pytest.mark.parametrize('tag', ['mechanicalReduction', 'mechanical_reduction'])
def test_transmissions_that_are_not_used(tag):
    """A note names the line that uses them; that line removes it."""
    text = arm().replace('</robot>', f'<transmission name="t"><joint name="j"/><actuator name="m">'
                         f'<{tag}>100</{tag}></actuator></transmission></robot>')
    note, = load_robot(text).notes
    assert note.startswith('The reductions in <transmission> (1 joints) are ignored')
    assert '<joint_dynamics joint="j" gear_ratio="100"' in note
    used = flexdyn('<joint_dynamics joint="j" gear_ratio="100" rotor_inertia="1e-5"/>')
    assert load_robot(text, extension=used).notes == ()
    assert load_robot(text.replace('>100<', '>1<')).notes == ()


def test_vendors_arms_are_plausible():
    """No warning on the machines of vendors, but for limits of real actuators."""
    warned, seen = [], 0
    for path in vendor_urdfs():
        with suppress(ModelError):  # some are no robots
            findings = implausible_findings(load_robot(path))
            seen += 1
            warned += [(path.name, f) for f in findings if f.severity == 'warning']
    assert seen > 50
    assert not warned
