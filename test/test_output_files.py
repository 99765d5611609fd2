# SPDX-License-Identifier: Apache-2.0
"""Files that are written: whole or not there, and named where the disk is full."""

from contextlib import contextmanager
import os
import resource
import stat
import subprocess
import sys

import flexdyn_ros as fd
from flexdyn_ros.cli.main import main
from flexdyn_ros.errors import FileNotWritten
from flexdyn_ros.model.beam.body import modal_body
from flexdyn_ros.model.modal.files import write_modal_file
from flexdyn_ros.output_files import new_file, write_text
from flexdyn_ros.simulation.plot import save_plots
import numpy as np
import pytest

ARM = """<robot name="r"><link name="base"/>
  <link name="boom"/><joint name="j" type="continuous"><parent link="base"/><child link="boom"/>
  <axis xyz="0 0 1"/></joint><flexdyn version="1.0"><flexible_link link="boom">
  <beam tip="1 0 0" young="7e10" iz="1e-8" mass="1"><bending axis="y" modes="1"/></beam>
  </flexible_link></flexdyn></robot>"""


@contextmanager
def full_disk(size=300):
    """Let no file grow beyond a size, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope='module')
def robot():
    """Return an arm of one bending link."""
    return fd.load_robot(ARM)


@pytest.fixture(scope='module')
def motion(robot):
    """Return a motion of it."""
    dyn = fd.Dynamics(robot, backend='reference')
    return fd.simulate(dyn, [0.1, 0.01], [0.0, 0.0], None, 0.02, 0.001)


def _plots(robot, motion, path):
    save_plots(motion, path.parent)


WRITERS = {
    'text': lambda robot, motion, path: write_text(path, 1000 * 'x'),
    'csv': lambda robot, motion, path: motion.to_csv(path),
    'npz': lambda robot, motion, path: motion.save_npz(path),
    'joints.png': _plots,
    'modes.npz': lambda robot, motion, path: write_modal_file(
        path, modal_body(robot.link('boom')), np.eye(3)),
}


@pytest.mark.parametrize('path', [None, 3, b'motion', 'mot\0ion'])
def test_what_is_no_path(motion, path):
    for write in (motion.to_csv, motion.save_npz):
        with pytest.raises(FileNotWritten, match='cannot be written'):
            write(path)


@pytest.mark.parametrize('before', [None, b'what stood there'])
@pytest.mark.parametrize('writer', WRITERS)
def test_a_full_disk(robot, motion, tmp_path, writer, before):
    path = tmp_path / writer
    if before is not None:
        path.write_bytes(before)
    if writer == 'joints.png':
        pytest.importorskip('matplotlib', reason='matplotlib draws it: `make test` installs it')
        WRITERS[writer](robot, motion, path)  # makes the caches of matplotlib
        for file in tmp_path.iterdir():
            file.unlink()
        if before is not None:
            path.write_bytes(before)
    with full_disk(), pytest.raises(FileNotWritten) as caught:
        WRITERS[writer](robot, motion, path)
    assert str(path) in str(caught.value)
    assert 'too large' in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] == ([writer] if before else [])
    assert before is None or path.read_bytes() == before


def test_the_command_line_names_the_file(tmp_path, capsys):
    (tmp_path / 'arm.urdf').write_text(ARM)
    words = ['generate', str(tmp_path / 'arm.urdf'), '-o', str(tmp_path / 'out')]
    with full_disk(1000):
        assert main(words) == 2
    assert f'{tmp_path}/out/' in capsys.readouterr().err
    assert not [file for file in (tmp_path / 'out').iterdir() if file.stat().st_size >= 1000]
    assert main(words) == 0


def test_a_full_standard_output_is_named(tmp_path):
    (tmp_path / 'arm.urdf').write_text(ARM)
    words = [sys.executable, '-m', 'flexdyn_ros', 'info', str(tmp_path / 'arm.urdf')]
    with open('/dev/full', 'w') as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == 'error: Standard output: No space left on device.\n'


def test_what_existed_is_replaced_and_keeps_its_permissions(tmp_path):
    path, link = tmp_path / 'a', tmp_path / 'link'
    path.write_text('old')
    path.chmod(0o640)
    link.symlink_to(path)
    assert write_text(link, 'new') == link
    assert path.read_text() == 'new' and link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert len(list(tmp_path.iterdir())) == 2


def test_an_error_of_the_writer_stays_what_it_is(tmp_path):
    with pytest.raises(ZeroDivisionError), new_file(tmp_path / 'a'):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


def test_a_device_and_a_missing_folder(tmp_path):
    write_text('/dev/null', 'gone')
    assert not os.path.isfile('/dev/null')
    with pytest.raises(FileNotWritten, match='/dev/full cannot be written: No space left'):
        write_text('/dev/full', 'much')
    with pytest.raises(FileNotWritten, match='No such file'):
        write_text(tmp_path / 'none' / 'a', 'text')
