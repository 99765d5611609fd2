# SPDX-License-Identifier: Apache-2.0
"""Contents of a scenario, and errors that name the place and the correction."""

from pathlib import Path
import runpy

from flexdyn_ros.scenario import load, run, ScenarioError
import pytest

ROOT = Path(__file__).resolve().parents[2]
ROBOT = ROOT / 'urdf' / 'two_link_arm.urdf.xacro'
TEXT = f"""\
robot: {ROBOT}
arguments: {{modes: 0}}
simulation: {{duration: 0.01}}
trajectories:
  move:
    type: quintic
    points:
      - {{time: 0, positions: {{joint1: 0.1}}}}
      - {{time: 1, positions: {{joint2: 5e-1}}}}
controllers:
  motors: {{type: pd, kp: 10, kd: {{joint1: 1, joint2: 2}}}}
payload: {{link: tip, mass: 1}}
outputs: {{folder: out}}
"""


@pytest.fixture
def file(tmp_path):
    """Return a scenario that runs."""
    path = tmp_path / 'study.yaml'
    path.write_text(TEXT)
    return path


def test_defaults_are_filled_in(file):
    """Also 5e-1, which YAML 1.1 takes for a word."""
    scenario = load(file)
    data = scenario.data
    assert scenario.name == 'study'
    assert data['simulation']['method'] == 'auto'
    assert data['trajectories']['move']['points'][1]['positions'] == {'joint2': 0.5}
    assert data['payload'][0]['velocity'] == 'matched'
    assert data['controllers']['motors']['noise'] == {'position': 0.0, 'velocity': 0.0, 'seed': 0}


def test_changes_leave_the_scenario_as_it_is(file):
    scenario = load(file)
    heavy = scenario.changed({'payload.mass': 3, 'simulation.step': 0.001,
                              'trajectories.move.points.1.time': 2})
    assert heavy.data['payload'][0]['mass'] == 3.0
    assert heavy.data['trajectories']['move']['points'][1]['time'] == 2.0
    assert scenario.data['payload'][0]['mass'] == 1.0
    assert load(file, {'payload.mass': 2}).data['payload'][0]['mass'] == 2.0


WRONG = [
    ({'simulation.methud': 'rk4'}, ':3: simulation.methud', 'Did you mean "method"?'),
    ({'simulation.duration': -1}, ':3: simulation.duration', 'a number > 0 [s]'),
    ({'simulation.method': 'RK46'}, 'simulation.method', 'Did you mean "RK45"?'),
    ({'robot': 'none.urdf'}, ':1: robot', 'does not exist'),
    ({'robot': None}, 'robot', 'is missing'),
    ({'arguments.mode': 1}, ':2: arguments', 'mode'),
    ({'controllers.motors.type': 'pod'}, ':11: controllers.motors.type', 'Did you mean "pd"?'),
    ({'controllers.motors.type': None}, 'controllers.motors', 'has no type'),
    ({'controllers.motors.kp': {'joint1': 1}}, 'controllers.motors.kp', 'joint "joint2"'),
    ({'controllers.motors.kp': {'joint1': 1, 'joint3': 1}}, 'kp', '"joint2"'),
    ({'controllers.motors.trajectory': 'mov'}, 'trajectory', 'Did you mean "move"?'),
    ({'controllers.motors.joints': 'joint_1'}, 'joints', 'Did you mean "joint1"?'),
    ({'controllers.motors.delay': 0.1}, 'controllers.motors.delay', 'Write the rate'),
    ({'controllers.motors.noise.position': 0.1}, 'noise', 'Write the rate'),
    ({'controllers.motors.setpoint': {'joint1': 1}, 'controllers.motors.trajectory': 'move'},
     'setpoint', 'Keep one'),
    ({'controllers.motors.rate': 100, 'controllers.other': {'type': 'pd', 'kp': 1}},
     ':10: controllers.other.rate', 'Write one for each'),
    ({'trajectories.move.points.1.time': -1}, ':9: trajectories.move.points.1.time',
     'in the order of time'),
    ({'trajectories.move.points.1.positions': {'joint7': 1}}, 'points.1.positions', 'joint7'),
    ({'initial.positions': {'joint9': 1}}, 'initial.positions', 'joint9'),
    ({'initial.positions': {'joint1': 'far'}}, 'initial.positions', 'a number for "joint1"'),
    ({'payload.link': 'tap'}, ':12: payload.link', 'Did you mean "tip"?'),
    ({'payload.dropped': 0.5, 'payload.picked_up': 1}, 'payload.dropped', 'later time'),
    ({'disturbances.push': {'type': 'wrench', 'link': 'tup'}}, 'disturbances.push.link', '"tip"'),
    ({'disturbances.push': {'type': 'torque', 'torques': {'joint': 1}}}, 'torques', 'Did you'),
    ({'base.points': {'acceleration': {'tx': 1}}}, 'base', 'motion="prescribed"'),
    ({'outputs.frames': 'tap'}, ':13: outputs.frames', 'Did you mean "tip"?'),
    ({'simulation.rtol': 1e-8}, ':3: simulation.rtol', 'needs an adaptive method'),
    ({'arguments.modes': 1, 'simulation.step': 0.1}, ':3: simulation.step', 'is stable up to'),
    ({'simulation.step': 'fast'}, 'simulation.step', 'a number'),
    ({'controllers.motors': {'type': 'torque'}}, 'controllers.motors', 'has no torque'),
    ({'controllers.motors': {'type': 'torque', 'file': 'x.csv'}}, 'file', 'does not exist'),
    ({'controllers.motors.saturation': 'limit'}, 'saturation', 'a number'),
    ({'payload.0': 1}, 'payload.0', 'is no key'),
    ({'controllers.motor.kp': 1}, 'controllers.motor.kp', 'Did you mean "motors"?'),
    ({'simulation.duration.x': 1}, 'simulation.duration.x', 'below'),
    ({'simulation.duration': 1e-10}, ':3: simulation.duration', 'Write more than'),
    ({'simulation.duration': 1e12}, ':3: simulation.step', 'by outputs.every'),
    ({'arguments.modes': 1, 'simulation.step': 0.1}, ':3: simulation.step', 'or step: null'),
    ({'controllers.motors.type': ['pd']}, ':11: controllers.motors.type', 'one of torque'),
    ({'controllers.motors.joints': ['joint1', 'joint1']}, 'joints', 'names "joint1" twice'),
    ({'controllers.motors.rate': 1e300}, ':11: controllers.motors.rate', '1e-9 to'),
    ({'controllers.motors': {'type': 'pd', 'kp': 1, 'rate': 9, 'delay': 1e300}}, 'delay', 'to 1e'),
    ({'robot': 'a' * 5000}, ':1: robot', 'does not exist'),
]


@pytest.mark.parametrize(('changes', 'place', 'advice'), WRONG)
def test_errors_name_the_place_and_what_to_write(file, changes, place, advice):
    with pytest.raises(ScenarioError) as caught:
        run(load(file, changes))
    assert place in str(caught.value)
    assert advice in str(caught.value)
    assert str(caught.value).startswith(str(file)) or caught.value.line is None


@pytest.mark.parametrize(('text', 'line', 'problem'), [
    ('robot: a\nrobot: b\n', 2, 'stands twice, in lines 1 and 2'),
    ('robot: [a\n', 2, 'is no YAML'),
    ('- robot\n', 1, 'Expected a section'),
    ('robot: a\nname: a\x00b\n', 2, 'special characters are not allowed'),
    ('robot: a\ninitial: &a\n  positions: *a\n', 2, 'initial.positions: has no end'),
    ('robot: a\nsimulation:\n  step: !!float x\n', 3, 'step: is "x", which is no value'),
    ('robot: a\nsimulation:\n  stops: !!bool x\n', 3, 'stops: is "x", which is no value'),
    ('robot: a\nsimulation:\n  step: 2020-99-99\n', 3, 'step: is "2020-99-99"'),
    ('robot: a\n? [a, b]\n: 1\n', 2, 'has a key that is no word'),
    ('robot: a\n? {a: b}\n: 1\n', 2, 'has a key that is no word'),
])
def test_documents_that_are_none(tmp_path, text, line, problem):
    path = tmp_path / 'wrong.yaml'
    path.write_text(text)
    with pytest.raises(ScenarioError, match=problem) as caught:
        load(path, {'payload.mass': 1})
    assert caught.value.line == line


@pytest.mark.parametrize('section', [
    "trajectories: {move: {type: csv, file: 'FILE'}}",
    "controllers: {motors: {type: torque, file: 'FILE'}}",
])
@pytest.mark.parametrize(('rows', 'problem'), [
    ('0,1,1\n1,nan,1\n2,1,1', 'holds a number of "joint1" that is not finite'),
    ('1,1,1\n0,1,1', 'whose times do not ascend'), ('0,1,1\n0,1,1', 'whose times do not ascend'),
    ('0,a,1\n1,1,1', 'line 2: a value is not a number'), ('', 'has no complete row'),
])
def test_tables_that_are_wrong(tmp_path, section, rows, problem):
    table, path = tmp_path / 'table.csv', tmp_path / 'study.yaml'
    kind = '/effort' if 'torque' in section else ''
    table.write_text(f't,joint1{kind},joint2{kind}\n{rows}\n')
    path.write_text(f'robot: {ROBOT}\n{section.replace("FILE", str(table))}\n')
    with pytest.raises(ScenarioError) as caught:
        run(load(path))
    assert problem in str(caught.value) and str(caught.value).startswith(f'{path}:2: ')


def test_a_file_that_is_missing(tmp_path):
    with pytest.raises(ScenarioError, match='No such file'):
        load(tmp_path / 'none.yaml')


def test_two_payloads_on_one_link(file):
    both = [{'link': 'tip', 'mass': 1}, {'link': 'tip', 'mass': 2, 'picked_up': 0.005}]
    with pytest.raises(ScenarioError, match='carries another'):
        run(load(file, {'payload': both}))


def test_the_page_is_that_of_the_schema():
    page = runpy.run_path(str(ROOT / 'scripts' / 'schema_pages.py'))['scenario_page']
    text = (ROOT / 'docs' / 'scenarios.md').read_text()
    assert text == page(), 'run scripts/env.sh python scripts/schema_pages.py'


@pytest.mark.parametrize(
    'path', sorted((ROOT / 'examples' / 'scenarios').glob('*.yaml')), ids=lambda path: path.stem)
def test_every_example_fits_the_schema(path):
    load(path)
    assert path.stem in (ROOT / 'docs' / 'scenario_studies.md').read_text()
    assert (ROOT / 'docs' / 'pictures' / 'scenarios' / f'{path.stem}.png').exists()
