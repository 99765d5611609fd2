# SPDX-License-Identifier: Apache-2.0
"""`flexdyn generate` and `flexdyn count`: files, tables and JSON."""

import json

from command import flexdyn
import flexdyn_ros as fd


def test_c_is_written_with_what_a_project_needs(folder):
    """The source that the library gives, its header, example and CMake snippet."""
    run = flexdyn('generate', 'arm.urdf', '-o', 'code', '--name', 'torques', cwd=folder)
    assert run.returncode == 0, run.stderr
    names = {'torques.c', 'torques.h', 'torques_example.c', 'torques.cmake'}
    assert {path.name for path in (folder / 'code').iterdir()} == names
    code = fd.generate(fd.load_robot(folder / 'arm.urdf'), 'inverse_dynamics', name='torques')
    assert (folder / 'code' / 'torques.c').read_text() == code.source
    for name in names:
        assert f'code/{name}' in run.stdout
    assert f'{code.counts["mul"]} multiplications' in run.stdout


def test_json_says_what_was_written(folder):
    """Files, counts and the meaning of the arguments; other languages, loads as arguments."""
    for language, ending in (('python', '.py'), ('fortran', '.f90')):
        run = flexdyn(
            'generate', 'arm.urdf', '--language', language, '--function',
            'gravity_vector+mass_matrix', '--argument', 'gravity', '--json', '-o', 'code',
            cwd=folder,
        )
        found = json.loads(run.stdout)
        assert found['files'] == [f'code/gravity_vector_mass_matrix{ending}']
        assert found['arguments']['q'] == ['shoulder', 'elbow']
        assert len(found['arguments']['gravity']) == 3
        assert (folder / found['files'][0]).is_file()


def test_count_shows_all_functions(folder):
    """A row each, with fewer operations after the passes than before."""
    run = flexdyn('count', 'arm.urdf', cwd=folder)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[1].split() == ['function', 'traced', 'mul', 'add', 'calls', 'total']
    rows = {line.split()[0]: line.split()[1:] for line in lines[2:]}
    code = fd.generate(fd.load_robot(folder / 'arm.urdf'), 'inverse_dynamics')
    assert [int(n) for n in rows['inverse_dynamics'][1:4]] == list(code.counts.values())
    assert all(int(row[0]) >= int(row[4]) for row in rows.values())


def test_count_as_json_of_chosen_functions(folder):
    """Traced and optimised counts of the requested functions."""
    run = flexdyn('count', 'arm.urdf', '--function', 'mass_matrix', '--json', cwd=folder)
    found = json.loads(run.stdout)
    assert list(found['functions']) == ['mass_matrix']
    assert set(found['functions']['mass_matrix']) == {'traced', 'optimised'}
