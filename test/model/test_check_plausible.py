# SPDX-License-Identifier: Apache-2.0
"""Implausible values in `flexdyn check`: units, limits, densities, refusals of other readers."""

from collections import Counter
from contextlib import suppress
from pathlib import Path
import subprocess
import sys

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.check import check_robot
from flexdyn_ros.model.check_plausible import implausible_findings
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.simulation.vibrations import analyse
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
    (arm(mass=2e4, length=1.5), 'warning', 'mass of 2e+04 kg is large', '2e+04 g are 20 kg'),
    (arm(mass=1e-3), 'warning', 'mass of 0.001 kg is small', '0.001 t are 1 kg'),
    (arm(inertial_text='<visual/>'), 'warning', 'no link has a mass', 'data sheet'),
    (arm(limits='<limit lower="-90" upper="170" effort="9" velocity="3"/>'), 'warning',
     'limit of 170 rad is 27.1 turns', '170 degrees are 2.967 rad'),
    (arm(limits=''), 'note', 'there is no <limit>', 'effort="..."'),
    (arm(limits='<limit lower="-2" upper="2" effort="9"/>'), 'note', 'no velocity', 'velocity='),
    (arm().replace('</robot>', '<flexdyn><payload link="c" mass="3"/></flexdyn></robot>'), 'note',
     'it carries 3 kg and weighs 1 kg', 'in kg'),
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


def sized(geometry, mass=1.0, moment=1e-3, length=0.05):
    """Return an arm whose link has some geometry."""
    body = inertial(mass, (0.02, 0, 0), 3 * (moment,))
    return arm(length=length, inertial_text=body + geometry)


BOX = '<collision><origin rpy="0 0 0.3"/><geometry><box size="0.3 0.04 0.04"/></geometry>' \
    '</collision>'


@pytest.mark.parametrize(('text', 'words', 'advice'), [
    (sized(BOX), None, ''),
    (sized(BOX, moment=0.05), 'radius of gyration of 0.274 m is too large for a geometry 0.3',
     'about the centre of mass'),
    (sized(BOX, 40.0, 0.3), 'density of', '40 g are 0.04 kg'),
    (sized(BOX, 40.0, 0.02), 'density of', '40 g are 0.04 kg'),
    (sized('<visual><geometry><cylinder radius="0.2" length="0.5"/></geometry></visual>', 0.1),
     'density of 1.25', '0.1 t are 100 kg'),
    (sized('<visual><geometry><sphere radius="0.1"/></geometry></visual>', 2.0, 0.5),
     'radius of gyration of 0.612 m', ''),
    (sized('<visual><geometry><mesh filename="a.stl" scale="1e-3 1e-3 1e-3"/></geometry></visual>',
           moment=0.05), 'radius of gyration of 0.274 m is too large for a geometry 0.303 m', ''),
    (sized('', moment=0.05), None, ''),  # too short to be a length
    (sized('', moment=0.4, length=0.2),
     'radius of gyration of 0.775 m is too large for a link 0.2', ''),
    (sized('', 1900.0, 40.0, 0.2), 'density of 2.97e+04', '1900 g are 1.9 kg'),
    (sized(BOX.replace('0.3 0.04 0.04', '1e-3 1e-3 1e-3'), moment=0.05), None, ''),  # stand-in
])
def test_mass_against_size(tmp_path, text, words, advice):
    if '.stl' in text:
        trimesh = pytest.importorskip('trimesh', reason='the extra "solids" is not installed')
        trimesh.creation.box((300.0, 40.0, 20.0)).export(tmp_path / 'a.stl')
    findings = implausible_findings(load_robot(text), tmp_path)
    assert [f.name for f in findings] == ['b'] * bool(words)
    for finding in findings:
        assert finding.severity == 'warning'
        assert words in finding.message and advice in finding.advice


REFUSED = {
    'fine': arm(),
    'no <limit>': arm(limits=''),
    'no effort': arm(limits='<limit lower="-1" upper="1" velocity="1"/>'),
    'no velocity': arm(kind='continuous', limits='<limit effort="1"/>'),
    'no damping and no friction': arm(limits=LIMITS + '<dynamics/>'),
    'no k_velocity': arm(limits=LIMITS + '<safety_controller k_position="1"/>'),
    'version="1.3"': arm().replace('<robot', '<robot version="1.3"'),
    'material "m"': arm().replace(
        '</robot>', '<material name="m"><color rgba="1 0 0 1"/></material>' * 2 + '</robot>'),
}


@pytest.mark.parametrize('words', REFUSED)
def test_what_urdfdom_refuses(tmp_path, words):
    """A note, and only where urdfdom itself refuses the description."""
    text = REFUSED[words]
    notes = [f for f in found(text) if 'urdfdom' in f[2]]
    assert len(notes) == (words != 'fine')
    assert not notes or words in notes[0][2]
    program = Path(sys.prefix) / 'bin' / 'check_urdf'
    if program.exists():
        (tmp_path / 'a.urdf').write_text(text)
        answer = subprocess.run([program, tmp_path / 'a.urdf'], capture_output=True, text=True)
        assert ('Successfully' in answer.stdout) is (words == 'fine')


def test_share_and_what_it_costs():
    """5 and 1 percent for a share of one half under a tip load of one and five times the link."""
    moments = (0.1 - 1.0 / 12.0, 0.05, 0.05)  # along the rod: half of a rod's
    for load, percent in ((1.0, 5.1), (5.0, 1.1)):
        body = inertial(load, (0, 0, 0), 3 * (1e-9,))
        text = robot(link('a', ''), link('b', inertial(1.0, (0.5, 0, 0), moments)),
                     link('c', body), joint('j', 'a', 'b'),
                     joint('k', 'b', 'c', 'fixed', '<origin xyz="1 0 0"/>'))
        rates = []
        for mass in ('', 'mass="1"'):
            bent = load_robot(
                text if not mass else text.replace(inertial(1.0, (0.5, 0, 0), moments), ''),
                extension=flexdyn(f'<flexible_link link="b"><beam tip="k" young="7e10" iz="1e-8" '
                                  f'area="1e-4" {mass}><bending axis="y" modes="3"/></beam>'
                                  '</flexible_link>'))
            rates.append(analyse(bent, bent.neutral_configuration())['locked'][0]['frequency'])
            if not mass:
                assert bent.link('b').beam.share == pytest.approx(0.5, rel=1e-9)
                note, = [f for f in check_robot(bent).findings if 'takes 50 percent' in f.message]
                assert f'first frequency by about +{percent} percent' in note.message
                assert 'rigid body at the root' in note.advice
        assert rates[0] / rates[1] == pytest.approx(1.0 + 0.01 * percent, abs=2e-3)


# Links of vendors with inertias ten times those of their size, or masses of their stand-ins.
DOUBTFUL = {
    'baxter.urdf': 4,  # fingers of 20 g with 0.01 kg m^2
    'centauro.urdf': 2,  # cameras
    'simple_humanoid.urdf': 17, 'simple_humanoid_classical.urdf': 19,  # moments of 1 kg m^2
    'tiago_pro.urdf': 2,  # boxes of 1 cm for lasers
}


def test_vendors_arms_are_plausible():
    """No warning on the machines of vendors, but for inertias that are not of their links."""
    warned, seen = Counter(), 0
    for path in vendor_urdfs():
        with suppress(ModelError):  # some are no robots
            findings = implausible_findings(load_robot(path))
            seen += 1
            warned.update(path.name for f in findings if f.severity == 'warning')
    assert seen > 50
    assert warned == DOUBTFUL
