# SPDX-License-Identifier: Apache-2.0
"""Arguments, errors and results of `generate`; its files; parameters that stay arguments."""

from dataclasses import FrozenInstanceError, replace
import shutil
import subprocess

from codegen import cases
from evaluated_program import evaluate_program
import flexdyn_ros as fd
from flexdyn_ros.codegen.tracing.parameters import parameter_names
from flexdyn_ros.codegen.tracing.trace import trace
from flexdyn_ros.errors import NonFiniteResult, SingularMassMatrix
from flexdyn_ros.symbolic.program import operation_counts
import numpy as np
from oracles.small_robots import arm
import pytest
from thinned import thinned

pytestmark = pytest.mark.usefixtures('simplified_once')
PARTS = 4  # of the parameters of a model, each in code of its own
MODEL = cases.robot('flexible chain')
PLAIN = (
    '<robot name="plain"><link name="root"/><link name="arm"/>'
    '<joint name="turn" type="continuous"><parent link="root"/><child link="arm"/>'
    '<axis xyz="0 0 1"/></joint><flexdyn version="1.0">{}</flexdyn></robot>'
)


@pytest.mark.parametrize('changes, message', [
    ({'arguments': None}, 'give a sequence of names'),
    ({'function': 'inverse_dynamic'}, 'inverse_dynamics'),
    ({'function': ''}, 'function'),
    ({'function': 'mass_matrix:link1'}, 'mass_matrix'),
    ({'function': 'mass_matrix+mass_matrix'}, 'twice'),
    ({'function': 'jacobian:link'}, 'link'),
    ({'language': 'fortan'}, 'fortran'),
    ({'language': None}, 'language'),
    ({'arguments': ('gravty',)}, 'gravity'),
    ({'arguments': ('payload:lnk1',)}, 'link1'),
    ({'arguments': ('wrench:lnk1',)}, 'link1'),
    ({'arguments': ('gravity', 'gravity')}, 'twice'),
    ({'arguments': ('link1/mas',)}, 'Did you mean'),
    ({'name': '1st'}, 'name'),
    ({'name': 'lambda'}, 'name'),
    ({'name': 7}, 'name'),
    ({'name': 'double'}, 'a word of C'),
    ({'name': 'main'}, 'a word of C'),
    ({'name': 'SIN'}, 'a word of C'),
    ({'name': 'NULL'}, 'a word of C'),
    ({'name': 'roundf'}, 'a word of C'),
    ({'name': 'Q'}, 'an argument of it'),
    ({'name': 'out'}, 'an argument of it'),
])
def test_wrong_calls_are_refused_with_advice(changes, message):
    """One sentence that names the argument or the likely name."""
    call = {'function': 'inverse_dynamics', **changes}
    with pytest.raises(fd.FlexdynError, match=message):
        fd.generate(MODEL, **call)


@pytest.mark.parametrize('language', ['c', 'python', 'fortran'])
def test_robots_whose_numbers_allow_no_code_are_refused(language):
    """Links without inertia by name, where a function solves; loads that overflow."""
    massless = fd.load_robot(PLAIN.format(''))
    for function in ('forward_dynamics', 'forward_dynamics_derivatives', 'mass_matrix_factors'):
        with pytest.raises(SingularMassMatrix, match='"turn" moves no inertia'):
            fd.generate(massless, function, language)
    assert fd.generate(massless, 'inverse_dynamics', language).counts['mul'] == 0
    far = fd.load_robot(PLAIN.format('<payload link="arm" mass="1" com="1e200 0 0"/>'))
    with pytest.raises(fd.FlexdynError, match='"robot" has numbers too large'):
        fd.generate(far, 'mass_matrix', language)


@pytest.mark.parametrize('backend', ['reference', 'python', 'auto'])
def test_loads_that_overflow_are_refused_alike(backend):
    """On a flexible link the code holds products of the place of a payload."""
    dyn = fd.Dynamics(MODEL, backend)
    dyn.set_payload(MODEL.links[-1].name, 1.0, [1e200] * 3)
    with pytest.raises(NonFiniteResult):
        dyn.mass_matrix(MODEL.neutral_configuration())


def test_the_result_is_frozen_and_says_what_it_is():
    """Contract: source and counts; and language, function, passes, files."""
    code = fd.generate(MODEL, 'gravity_vector')
    assert 'gravity_vector' in code.source
    assert set(code.counts) == {'mul', 'add', 'trig'}
    assert (code.language, code.function, code.name) == ('c', 'gravity_vector', 'gravity_vector')
    assert code.report[0].name == 'traced'
    with pytest.raises(FrozenInstanceError):
        code.source = ''
    with pytest.raises(fd.FlexdynError, match='language'):
        code.compile_python()


def test_frames_default_to_the_end_of_the_deepest_chain():
    """Named or not, it is the same code; other frames give other code."""
    last = MODEL.links[-1].name
    named = fd.generate(MODEL, f'jacobian:{last}', 'python')
    assert fd.generate(MODEL, 'jacobian', 'python').source.count(last)
    model = cases.robot('rigid tree')
    two = fd.generate(model, 'jacobian:link1+jacobian:link2', 'python')
    assert [output.name for output in two.outputs] == ['jacobian:link1', 'jacobian:link2']
    assert named.outputs[0].shape == (6, MODEL.nv)


def test_lines_of_fortran():
    """At most 132 columns, the limit of Fortran 2003, comments with long names included."""
    link, joint = 'l' * 150, 'two words ' * 15
    model = fd.load_robot(arm().replace('"link2"', f'"{link}"').replace('"joint2"', f'"{joint}"'))
    code = fd.generate(model, f'jacobian:{link}+coriolis_vector', 'fortran', optimise=False)
    assert max(map(len, code.source.splitlines())) <= 132
    comments = [line.strip(' !') for line in code.source.splitlines() if '!' in line]
    assert link in ''.join(comments) and joint.strip() in ' '.join(comments)


def test_c_files_make_a_program(tmp_path):
    """Header, example and CMake snippet; the example compiles as C, the header as C++."""
    code = fd.generate(MODEL, 'inverse_dynamics', name='torques')
    names = {'torques.c', 'torques.h', 'torques_example.c', 'torques.cmake'}
    assert set(code.files) == names
    for name, text in code.files.items():
        (tmp_path / name).write_text(text)
    if shutil.which('gcc') is None:
        pytest.skip('NO COMPILER for c: the example is not tested')
    subprocess.run(
        ['gcc', '-std=c99', '-Wall', '-Wextra', '-Werror', 'torques.c', 'torques_example.c', '-lm',
         '-o', 'example'], check=True, cwd=tmp_path,
    )
    output = subprocess.run(
        [tmp_path / 'example'], check=True, capture_output=True, text=True
    ).stdout
    found = np.array([float(line.split('=')[1]) for line in output.splitlines()])
    zero = [0.0] * MODEL.nv
    expected = cases.reference(MODEL).inverse_dynamics(zero, zero, zero)
    cases.assert_close(found, np.array(expected))
    if shutil.which('g++'):
        (tmp_path / 'user.cpp').write_text('#include "torques.h"\n#include "torques.h"\n')
        subprocess.run(['g++', '-Wall', '-Werror', '-c', 'user.cpp'], check=True, cwd=tmp_path)


def test_an_error_ends_with_its_question():
    """Without a full stop after the question mark."""
    with pytest.raises(fd.FlexdynError) as caught:
        fd.generate(MODEL, 'invers_dynamics')
    assert str(caught.value).endswith('Did you mean "inverse_dynamics"?')


def test_results_without_entries_cause_no_warning(tmp_path):
    """As the modes' accelerations of a rigid arm."""
    if shutil.which('gcc') is None:
        pytest.skip('NO COMPILER for c')
    code = fd.generate(cases.robot('rigid tree'), 'hybrid_dynamics', optimise=False)
    (tmp_path / 'code.c').write_text(code.source)
    subprocess.run(
        ['gcc', '-std=c99', '-O0', '-Wall', '-Wextra', '-Werror', '-c', 'code.c'], check=True,
        cwd=tmp_path,
    )


def test_right_angles_of_ten_digits_cost_nothing():
    """Snapping can be switched off; the values change by no more than the digits that are cut."""
    urdf = """<robot name="r"><link name="a"/>{}</robot>"""
    link = (
        '<link name="l{0}"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/><inertia '
        'ixx="1" iyy="2" izz="2.5" ixy="0.1" ixz="0.2" iyz="0.3"/></inertial></link>'
        '<joint name="j{0}" type="continuous"><parent link="{1}"/><child link="l{0}"/>'
        '<origin xyz="0.4 0 0.1" rpy="1.57079632679 0 0"/><axis xyz="0 0 1"/></joint>'
    )
    text = ''.join(link.format(k, f'l{k - 1}' if k else 'a') for k in range(3))
    model = fd.load_robot(urdf.format(text))
    snapped = fd.generate(model, 'inverse_dynamics', 'python')
    plain = fd.generate(model, 'inverse_dynamics', 'python', rotation_tolerance=0.0)
    assert sum(snapped.counts.values()) < 0.85 * sum(plain.counts.values())
    state = cases.given(model, plain)
    results = [cases.flat(code.compile_python()(*state)) for code in (snapped, plain)]
    cases.assert_close(results[0], results[1], 1e-10)
    expected = cases.answer(model, 'inverse_dynamics')
    cases.assert_close(results[1], expected)


def test_more_zero_entries_mean_fewer_operations():
    """Base parameters: the traced program is smaller with them."""
    model = cases.robot('rigid tree')
    counts = [
        operation_counts(trace(model, 'inverse_dynamics', base_parameters=on).program.outputs)
        for on in (True, False)
    ]
    assert sum(counts[0].values()) < sum(counts[1].values())


def _values(model, name):
    """Return the numbers that a parameter has in the model, changed, and the changed model."""
    owner, _, kind = name.rpartition('/')
    links = {link.name: link for link in model.links}
    joints = {joint.name: joint for joint in model.joints}
    if owner in links:
        body = links[owner].inertia
        m = [list(row) for row in body.matrix]
        values = {
            'mass': [body.mass], 'com': list(body.com),
            'inertia': [m[0][0], m[1][1], m[2][2], m[0][1], m[0][2], m[1][2]],
        }[kind]
        values = [1.3 * x for x in values]
        if kind == 'inertia':
            xx, yy, zz, xy, xz, yz = values
            changed = replace(body, matrix=((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
        else:
            changed = replace(body, **{kind: values[0] if kind == 'mass' else tuple(values)})
        new = replace(links[owner], inertia=changed)
        return values, replace(
            model, links=tuple(new if link.name == owner else link for link in model.links)
        )
    drive = joints[owner].dynamics
    if kind in ('viscous', 'coulomb'):
        loss = 0.7
        law = replace(drive.friction, **{kind: loss})
        if kind == 'coulomb' and drive.friction.stribeck == drive.friction.coulomb:
            law = replace(law, stribeck=loss)
        damping = 0.0 if kind == 'viscous' and not drive.elastic else drive.damping
        new_drive, value = replace(drive, friction=law, damping=damping), loss
    else:
        value = 1.7 if kind == 'rotor_inertia' else 1.3 * getattr(drive, kind)
        new_drive = replace(drive, **{kind: value})
    new_joint = replace(joints[owner], dynamics=new_drive)
    return [value], replace(
        model, joints=tuple(new_joint if j.name == owner else j for j in model.joints)
    )


@pytest.mark.parametrize('part', range(PARTS))
@pytest.mark.parametrize('name', thinned(
    ['flexible chain', 'rigid tree', 'mimic', 'planar', 'floating'], ('rigid tree', 'floating'),
))
def test_parameters_stay_arguments(name, part):
    """Every parameter of links and joints, changed: the code follows the changed model."""
    model = cases.robot(name)
    modes = set(model.mode_names)
    asked = [p for p in parameter_names(model) if p.rpartition('/')[0] not in modes]
    asked += [p for p in parameter_names(model) if p.endswith('/elastic/stiffness')]
    chosen = asked[part::PARTS]
    values, changed = [], model
    for parameter in chosen:
        numbers, changed = _values(changed, parameter)
        values.append(numbers if len(numbers) > 1 else numbers[0])
    vectors = [*cases.state(model)[:3], *values]
    if part == 0:
        code = fd.generate(model, 'inverse_dynamics', 'python', arguments=chosen)
        found = cases.flat(code.compile_python()(*vectors))
    else:  # the passes of the others would prove nothing more
        traced = trace(model, 'inverse_dynamics', chosen)
        symbols = [symbol for each in traced.inputs for symbol in each.symbols]
        point = dict(zip(symbols, cases.flat(vectors).tolist(), strict=True))
        found = np.array(evaluate_program(traced.program, point))
    cases.assert_close(found, cases.answer(changed, 'inverse_dynamics'), 1e-11)


def test_modal_stiffness_stays_an_argument():
    """A mode's own stiffness, changed: its elastic force follows."""
    mode = next(m for m in MODEL.mode_names if '/bending' in m or '/torsion' in m)
    code = fd.generate(MODEL, 'elastic_vector', 'python', arguments=(f'{mode}/stiffness',))
    q, qd, _, _ = cases.state(MODEL)
    place = MODEL.coordinate_names.index(mode)
    function = code.compile_python()
    change = np.array(function(q, qd, 300.0)) - np.array(function(q, qd, 100.0))
    expected = np.zeros(MODEL.nv)
    expected[place] = 200.0 * q[place]
    cases.assert_close(change, expected, 1e-9)
