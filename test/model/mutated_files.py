# SPDX-License-Identifier: Apache-2.0
"""
Readers on files changed at random: each gives an error of its own or a valid model.

`PYTHONPATH=.:test python test/model/mutated_files.py COUNT [READER ...]` prints their figures.
"""

import argparse
from functools import partial
from importlib import import_module
import io
import json
import os
from pathlib import Path
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
import zipfile

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.modal_testing.measured_modes import ModalTest, read_modal_test
from flexdyn_ros.model.modal import foreign_files
from flexdyn_ros.model.modal.body import file_body
from flexdyn_ros.model.modal.files import modal_arrays, read_modal_file, write_arrays
from flexdyn_ros.model.modal.matrix_files import read_finite_elements
from flexdyn_ros.model.modal.meshes import read_mesh
from flexdyn_ros.model.modal.reduction import reduced_modes
from flexdyn_ros.model.records.modal import ModalArrays, ModalData
import numpy as np
from oracles.finite_elements import beam, superelement, write_fem, written
from test_sid import cloud, small

# Number of files from which on processes of readers are forks.
MANY = 100
# Seconds of the processor and bytes that one file may take; a minute in all ends a hang.
LONGEST, LARGEST = 5.0, 10**9
# Start of a sentence that a reader's message continues: `file="path"`.
STARTS = ('is ', 'holds ', 'does ', 'has ', 'ends ', 'declares ', 'cannot ', 'needs ', 'leaves ')
NUMBERS = ('0', '-1', '1', '7', '99999999999999999999', '1e400', '-1e99', '1e-320', 'nan', 'inf',
           '2147483648', '1.5')


def _modes(path, form):
    return read_modal_file(path, form)


def _matrices(paths, root=10, tip=40):
    return modal_arrays(reduced_modes(read_finite_elements(*paths), [root], [tip], 3))


def _sid(folder):
    np.savez(folder / 'a.npz', **cloud())
    write_arrays(folder / 'b.sid', read_modal_file(folder / 'a.npz'))
    (folder / 'a.sid').write_text(small(), encoding='latin-1')
    return {folder / name: partial(_modes, folder / name, 'sid') for name in ('a.sid', 'b.sid')}


def _npz(folder):
    lumped, full = folder / 'a.npz', folder / 'b.npz'
    np.savez(lumped, **cloud())
    write_arrays(full, read_modal_file(lumped))
    return {path: partial(_modes, path, 'npz') for path in (lumped, full)}


def _fem(folder):
    path = folder / 'a.fem'
    write_fem(path, reduced_modes(beam(12, lumped=True), [10], [], 2))
    return {path: partial(_modes, path, 'fem')}


def _format(form, folder):
    paths = written(folder, beam(3), form)
    return {path: partial(_matrices, paths) for path in paths}


def _superelement(folder):
    """Of the root and the tip, then two generalised coordinates, with a file of rows."""
    model = superelement(beam(3), 2)
    for name, matrix in (('k.txt', model.stiffness), ('m.txt', model.mass)):
        np.savetxt(folder / name, [(i + 1, j + 1, matrix[i, j]) for i in range(14)
                                   for j in range(i + 1)], fmt='%d %d %.17e')
    (folder / 'nodes').write_text('10 0 0 0\n40 1.2 0 0\n')
    (folder / 'rows').write_text(''.join(
        f'{node} {way}\n' for node in (10, 40) for way in range(1, 7)) + '1 0\n2 0\n')
    paths = [folder / name for name in ('k.txt', 'm.txt', 'nodes', 'rows')]
    return {path: partial(_matrices, paths) for path in paths}


def _matlab(folder):
    from scipy import io as scipy_io, sparse

    paths = list(written(folder, beam(3), 'matlab'))
    plain = folder / 'plain.mat'
    scipy_io.savemat(plain, {'K': sparse.csc_matrix(beam(3).stiffness), 'M': beam(3).mass})
    return {paths[0]: partial(_matrices, paths),
            plain: partial(_matrices, [plain, plain, paths[2]])}


def _nastran(suffix, folder):
    import_module(NEEDS[suffix[1:]])  # before the forks
    model = beam(1)
    nodes = written(folder, model, 'matrix_market')[2]
    paths = [folder / f'{name}{suffix}' for name in 'km']
    for path, name, matrix in zip(paths, ('KAA', 'MAA'), (model.stiffness, model.mass)):
        if suffix == '.op4':
            from pyNastran.op4.op4 import OP4

            OP4().write_op4(str(path), {name: (6, matrix)}, is_binary=False)
            continue
        rows = [(10, way) for way in range(1, 7)] + [(20, way) for way in range(1, 7)]
        lines = [f'DMIG    {name:8}       0       6       2       0']
        for j, (node, way) in enumerate(rows):
            lines.append(f'DMIG*   {name:16}{node:16d}{way:16d}')
            lines += [f'*       {rows[i][0]:16d}{rows[i][1]:16d}{matrix[i, j]:16.9E}'
                      for i in range(j, 12) if matrix[i, j] or i == j]
        path.write_text('\n'.join(lines) + '\n')
    return {path: partial(_matrices, [*paths, nodes], 10, 20) for path in paths}


def _surface(folder):
    import trimesh

    box = trimesh.creation.box((0.4, 0.05, 0.04))
    for suffix in ('stl', 'obj', 'ply', 'off', 'glb'):
        box.export(folder / f'a.{suffix}')

    def read(path):
        found = foreign_files.foreign_arrays(str(path), 'surface')
        if not len(found['corners']):
            raise ValueError('holds no closed surface')  # as read_mesh does
        return found

    return {path: partial(read, path) for path in folder.iterdir()}


def _measured(folder):
    sensors = [{'link': 'boom', 'at': [x, 0, 0], 'direction': [0, 1, 0]} for x in (0.8, 1.5)]
    given = {'sensors': sensors, 'modes': [
        {'frequency_hz': 7.0, 'damping_ratio': 0.015, 'shape': [0.37, 1.0]}],
        'stiffness': [{**sensors[0], 'stiffness_n_per_m': 1250}]}
    (folder / 'a.json').write_text(json.dumps(given, indent=1))
    (folder / 'a.yaml').write_text(
        'sensors:\n  - {link: boom, at: [1, 0, 0], direction: [0, 1, 0]}\nmodes:\n  - '
        'frequency_hz: 7.0\n    damping_ratio: 0.01\n    shape: [1.0]\n')
    return {path: partial(read_modal_test, path, 'boom') for path in folder.glob('a.*')}


def _universal(folder):
    import pyuff

    f, nodes = np.arange(2.0, 40.0, 0.5), np.array([1, 2])
    places = pyuff.prepare_15([1, 2], [0] * 2, [0] * 2, [0] * 2, [0.1, 0.2], [0.0] * 2, [0.0] * 2)
    shape = pyuff.prepare_55(
        model_type=1, id1='a', id2='a', id3='a', id4='a', id5='a', analysis_type=2, data_ch=2,
        spec_data_type=8, data_type=2, r1=np.zeros(2), r2=np.array([0.4, 1.0]), r3=np.zeros(2),
        n_data_per_node=3, node_nums=nodes, load_case=1, mode_n=1, modal_m=1.0, freq=20.0,
        modal_damp_vis=0.01, modal_damp_his=0.0)
    measured = [pyuff.prepare_58(
        func_type=4, rsp_node=int(node), rsp_dir=2, ref_node=1, ref_dir=2,
        ordinate_spec_data_type=8, orddenom_spec_data_type=13, x=f, abscissa_min=f[0],
        abscissa_inc=0.5, num_pts=len(f), data=node / (400.0 - f**2 + 0.8j * f)) for node in nodes]
    for name, sets in (('a.unv', [shape]), ('b.uff', measured)):
        pyuff.UFF(str(folder / name)).write_sets([places, *sets])
    return {path: partial(read_modal_test, path, 'boom') for path in folder.iterdir()}


def _mesh(folder):
    import meshio

    points = np.array([[x, y, z] for x in (0, 1, 2) for y in (0, 1) for z in (0, 1)], float)
    cells = np.array([[0, 1, 2, 4], [1, 2, 3, 7], [1, 2, 4, 7], [1, 4, 5, 7], [2, 4, 6, 7],
                      [4, 5, 6, 8], [5, 6, 7, 11]])
    found = meshio.Mesh(points, [('tetra', cells)])
    for name, form, more in (('a.msh', 'gmsh22', {'binary': False}), ('b.msh', 'gmsh', {}),
                             ('a.vtk', 'vtk42', {}), ('a.inp', 'abaqus', {})):
        meshio.write(folder / name, found, file_format=form, **more)
    return {path: partial(read_mesh, path, 1.0, None) for path in folder.iterdir()}


# Each writes its files and returns, by the file to change, the function that reads them.
READERS = {
    'sid': _sid, 'npz': _npz, 'fem': _fem,
    **{form: partial(_format, form) for form in ('matrix_market', 'calculix', 'abaqus')},
    'superelement': _superelement, 'matlab': _matlab,
    **{suffix[1:]: partial(_nastran, suffix) for suffix in ('.op4', '.pch')},
    'measured': _measured, 'universal': _universal, 'mesh': _mesh,
    'surface': _surface,
}
# Needs of readers beyond scipy.
NEEDS = {'op4': 'pyNastran', 'pch': 'pyNastran.bdf.bdf', 'universal': 'pyuff', 'mesh': 'meshio',
         'surface': 'trimesh'}


def mutated(chance, content):
    """Return bytes changed, taken out or repeated, numbers replaced, and the end cut off."""
    content = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 6))):
        at, length = chance.randrange(len(content)), chance.choice((1, 1, 4, 60))
        kind = chance.randrange(6)
        if kind == 0:
            content[at:at + length] = chance.randbytes(length)
        elif kind == 1:
            content[at:at + length] = bytes(
                chance.choice(b'0123456789.-+,DeE(=:[]{} \n') for _ in range(length))
        elif kind == 2:
            del content[at:at + length]
        elif kind == 3:
            content[at:at] = content[at:at + 40 * length]
        elif kind == 4:
            number = re.compile(rb'[-+.\dDeE]{1,30}').search(content, at)
            if number:
                content[slice(*number.span())] = chance.choice(NUMBERS).encode()
        elif chance.random() < 0.3:
            del content[at:]
        content = content or bytearray(b' ')
    return bytes(content)


def mutated_file(chance, content):
    """Return a changed file; of an archive, half of the time a changed member."""
    if content[:2] != b'PK' or chance.random() < 0.5:
        return mutated(chance, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = chance.choice(list(members))
    members[name] = mutated(chance, members[name])
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w') as archive:
        for each, inside in members.items():
            archive.writestr(each, inside)
    return stream.getvalue()


def assert_valid(found):
    """Check that the result of a reader is a model."""
    if isinstance(found, ModalArrays):
        body = file_body('link', ModalData('', '', tuple(found.mode_numbers.tolist()),
                                           arrays=found), found.stiffening is not None)
        for name, value in body.integrals().items():
            assert np.isfinite(value).all(), name
        assert np.linalg.eigvalsh(found.modal_mass)[0] > 0.0
        assert np.isfinite(body.node_at(np.ones(3)).translation).all()
    elif isinstance(found, ModalTest):
        assert found.modes or found.stiffness or found.sensors
        for mode in found.modes:
            assert 0.0 < mode.frequency < np.inf
            assert mode.shape is None or np.isfinite(mode.shape).all()
        for sensor in found.sensors:
            assert np.isfinite([sensor.at, sensor.direction]).all()
    elif isinstance(found, dict):
        assert found['corners'].shape[1] == 3 and len(found['points'])
    else:
        assert np.isfinite(found.p).all() and found.t.shape[1] > 0


def _forked(command, **_):
    """Run the process of foreign_files.py as a fork, which spares its imports."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            sys.stdout, sys.stderr = (open(fd, 'w', closefd=False) for fd in (1, 2))
            code = 0
            try:
                foreign_files._main(*command[2:])
            except SystemExit as error:
                print(error, file=sys.stderr)
                code = 1
            except BaseException as error:
                print(repr(error), file=sys.stderr)
                code = 3
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
    return subprocess.CompletedProcess(command, code, *texts)


def _peak():
    """Return the largest memory of this process, and of those that it started [bytes]."""
    return [1024 * resource.getrusage(who).ru_maxrss
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]


def _cpu():
    """Return the processor's time of this process, and of those that it started [s]."""
    return sum(os.times()[:4])


def _run(name, count, folder):
    """Return the figures of a reader on `count` changed files; raise where it fails."""
    warnings.simplefilter('ignore')
    if count > MANY:
        foreign_files.subprocess.run = _forked
    chance = random.Random(f'{name} 7')
    reads = READERS[name](folder)
    whole = {path: path.read_bytes() for path in reads}
    for read in reads.values():
        assert_valid(read())
    start, errors, slowest = _peak(), 0, 0.0
    for _ in range(count):
        path = chance.choice(list(reads))
        content = mutated_file(chance, whole[path])
        path.write_bytes(content)
        kept = Path(tempfile.gettempdir()) / f'unread_{name}{path.suffix}'
        kept.write_bytes(content)
        signal.alarm(60)  # of a hang, ends this process
        began = _cpu()
        try:
            assert_valid(reads[path]())
        except (FlexdynError, ValueError) as error:
            errors += 1
            text = re.sub(rf'^\S*{re.escape(str(folder))}\S*[:"] ', '', str(error))
            assert text.startswith(STARTS) or name not in ('sid', 'npz', 'fem'), text
        except Exception as error:
            raise AssertionError(f'{name}: {kept}: {error!r}') from error
        finally:
            signal.alarm(0)
        slowest = max(slowest, _cpu() - began)
        path.write_bytes(whole[path])
        kept.unlink(missing_ok=True)
    used = [end - begin for begin, end in zip(start, _peak())]
    used[1] = _peak()[1]
    return {'reader': name, 'files': count, 'models': count - errors, 'errors': errors,
            'slowest_cpu_s': round(slowest, 3), 'memory_mb': round(max(used) / 1e6, 1)}


def figures(name, count, folder):
    """Return the figures of a reader, found in a fork, so that a crash or hang ends that alone."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            answer = _run(name, count, folder)
        except BaseException as error:  # to the parent
            answer = {'failure': repr(error)}
        os.write(writing, json.dumps(answer).encode()[:60000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, 'rb') as answer:
        text = answer.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code == 0, f'{name}: ended by {signal.Signals(-code).name}'
    found = json.loads(text)
    assert 'failure' not in found, found['failure']
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('count', type=int)
    parser.add_argument('readers', nargs='*', default=list(READERS))
    call = parser.parse_args()
    for name in call.readers or READERS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                print(json.dumps(figures(name, call.count, Path(folder))), flush=True)
            except (AssertionError, ImportError) as error:
                print(f'{name}: {error}', flush=True)


if __name__ == '__main__':
    sys.exit(main())
