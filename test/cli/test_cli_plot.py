# SPDX-License-Identifier: Apache-2.0
"""`flexdyn plot`."""

import json

from command import flexdyn
import pytest


@pytest.fixture(scope='module')
def run(folder, tmp_path_factory):
    """Return the folder of a simulated swing."""
    place = tmp_path_factory.mktemp('run')
    done = flexdyn('simulate', folder / 'flexible.urdf', '--t-end', '0.1', '--q0', 'shoulder=0.4',
                   '--no-plots', '--out', place, cwd=place)
    assert done.returncode == 0, done.stderr
    return place


@pytest.mark.parametrize(('kind', 'what'), [
    ('png', ('joints', 'modes', 'tips', 'energy', 'torques', 'spectrum')),
    ('svg', ('energy', 'torques'))])
def test_plots_are_written(folder, run, tmp_path, kind, what):
    chosen = () if kind == 'png' else ('--what', *what)
    done = flexdyn('plot', folder / 'flexible.urdf', run / 'trajectory.npz', *chosen, '--format',
                   kind, '--out', tmp_path, '--json', cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    names = [f'{name}.{kind}' for name in what]
    assert json.loads(done.stdout)['files'] == [str(tmp_path / name) for name in names]
    for name in names:
        start = (tmp_path / name).read_bytes()[:6]
        assert start == (b'\x89PNG\r\n' if kind == 'png' else b'<?xml ')


def test_a_wrong_file_signal_or_time_is_an_error_of_the_call(folder, run, tmp_path):
    for words, problem in (
        ((tmp_path / 'none.npz',), 'none.npz, expected a file of save_npz: it cannot be read: No'),
        ((run / 'trajectory.npz', '--what', 'spectrum', '--signal', 'nose'), '"nose"'),
        ((run / 'trajectory.npz', '--from', '5'), 'hold no sample'),
    ):
        done = flexdyn('plot', folder / 'flexible.urdf', *words, '--out', tmp_path, cwd=tmp_path)
        assert done.returncode == 2
        assert problem in done.stderr
