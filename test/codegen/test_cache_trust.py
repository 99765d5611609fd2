# SPDX-License-Identifier: Apache-2.0
"""Files of other users are not executed, and special files are not waited for."""

import logging
import os
from pathlib import Path
import socket

from codegen import cases
import flexdyn_ros as fd
from flexdyn_ros.codegen.compile import cache
import pytest

NAME = f'{"0" * 64}.py'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a cache below two folders of one's own."""
    made = tmp_path / 'home' / 'cache'
    made.mkdir(parents=True, mode=0o700)
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(made))
    return made


@pytest.fixture
def warnings(caplog, monkeypatch):
    """Return the messages of the log so far."""
    monkeypatch.setattr(logging.getLogger('flexdyn_ros'), 'propagate', True)
    caplog.set_level(logging.WARNING, 'flexdyn_ros.codegen')
    return lambda: [record.getMessage() for record in caplog.records]


def owned_by_another(monkeypatch, *folders):
    """Let folders look as if another user owned them."""
    real = os.stat

    def seen(path, *arguments, **named):
        state = real(path, *arguments, **named)
        if not isinstance(path, int) and Path(path) in folders:
            fields = list(state)
            fields[4] = os.getuid() + 12345
            return os.stat_result(fields)
        return state

    monkeypatch.setattr(cache.os, 'stat', seen)


def assert_refused(folder, place, warnings):
    """Check that no file is written or read, and that one warning names the place."""
    before = sorted(folder.iterdir())
    assert not cache.write(NAME, b'text')
    assert cache.read(NAME) is None and cache.path_of(NAME) is None
    assert sorted(folder.iterdir()) == before
    assert [str(folder) in text and text.endswith('a folder of your own.') and f' {place}.' in text
            for text in warnings()] == [True]
    # Code works nevertheless, made anew.
    model = cases.robot('rigid tree')
    q = cases.state(model)[0]
    cases.assert_close(
        fd.Dynamics(model, 'python').gravity_vector(q),
        fd.Dynamics(model, 'reference').gravity_vector(q),
    )


@pytest.mark.parametrize('mode', [0o777, 0o770, 0o1777])
def test_a_cache_that_others_can_write_to(folder, mode, warnings):
    """Its group, or all; that only owners remove from it does not help."""
    folder.chmod(mode)
    assert_refused(folder, folder, warnings)
    folder.chmod(0o700)
    assert cache.write(NAME, b'text')
    assert cache.read(NAME) == b'text'


@pytest.mark.parametrize('mode', [0o777, 0o770, 0o772])
def test_a_parent_that_others_can_write_to(folder, mode, warnings):
    """They could put another folder in the place of the cache."""
    cache.write(NAME, b'text')
    folder.parent.chmod(mode)
    assert_refused(folder, folder.parent, warnings)
    folder.parent.chmod(0o1777)  # as /tmp
    assert cache.read(NAME) == b'text'


@pytest.mark.parametrize('which', ['cache', 'parent', 'grandparent'])
def test_a_folder_on_the_way_that_another_user_owns(folder, which, warnings, monkeypatch):
    """Up to the root."""
    cache.write(NAME, b'text')
    place = {'cache': folder, 'parent': folder.parent, 'grandparent': folder.parents[2]}[which]
    owned_by_another(monkeypatch, place)
    assert_refused(folder, place, warnings)


def test_a_link_leads_to_a_folder_that_is_checked(folder, tmp_path, warnings, monkeypatch):
    """With the folders on the way to it."""
    cache.write(NAME, b'text')
    link = tmp_path / 'link'
    link.symlink_to(folder)
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(link))
    assert cache.read(NAME) == b'text'
    # The loaded file is the checked one: the link may lead elsewhere by then.
    assert cache.path_of(NAME) == folder / NAME
    folder.parent.chmod(0o777)
    assert cache.read(NAME) is None
    assert str(folder.parent) in warnings()[0]


def test_entries_that_others_can_write_or_own(folder, monkeypatch):
    """They count as none, and are written anew."""
    for mode in (0o666, 0o620):
        assert cache.write(NAME, b'text')
        assert cache.read(NAME) == b'text'
        (folder / NAME).chmod(mode)
        assert cache.read(NAME) is None
    assert cache.write(NAME, b'text')
    real = os.fstat

    def others(handle):
        fields = list(real(handle))
        fields[4] = os.getuid() + 12345
        return os.stat_result(fields)

    monkeypatch.setattr(cache.os, 'fstat', others)
    assert cache.read(NAME) is None


def fifo(path):
    """Make a FIFO without a writer."""
    os.mkfifo(path, 0o600)


def directory(path):
    """Make a folder with something in it."""
    path.mkdir(mode=0o700)
    (path / 'file').write_text('')


def loop(path):
    """Make a link to itself."""
    path.symlink_to(path)


def nowhere(path):
    """Make a link to a missing file."""
    path.symlink_to(path.parent / 'nowhere')


def pipe(path):
    """Make a link to a FIFO."""
    fifo(path.with_suffix('.fifo'))
    path.symlink_to(path.with_suffix('.fifo'))


def device(path):
    """Make a link to a device that never ends."""
    path.symlink_to('/dev/zero')


def local_socket(path):
    """Make a socket."""
    place = os.getcwd()
    os.chdir(path.parent)  # whose name is too long for a socket's
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(place)


@pytest.mark.timeout(60)
@pytest.mark.parametrize('make', [fifo, directory, loop, nowhere, pipe, device, local_socket])
def test_what_is_no_file_is_no_entry(make, folder):
    """The cache does not wait for it; where a file can take its place, one does."""
    make(folder / NAME)
    assert cache.read(NAME) is None and cache.path_of(NAME) is None
    assert cache.write(NAME, b'text') == (make is not directory)
    assert (cache.read(NAME) == b'text') == (make is not directory)
    assert not list(folder.glob('*.tmp'))


@pytest.mark.timeout(60)
@pytest.mark.parametrize('make', [fifo, loop, local_socket])
def test_what_is_no_folder_is_no_cache(make, tmp_path, monkeypatch):
    """Neither is a loop of links on the way to it."""
    make(tmp_path / 'cache')
    for name in ('cache', 'cache/below'):
        monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path / name))
        assert not cache.write(NAME, b'text')
        assert cache.read(NAME) is None
        made = cache.build_folder()
        assert made.is_dir() and tmp_path not in made.parents
        made.rmdir()
