# SPDX-License-Identifier: Apache-2.0
"""Modal files that are damaged, absurd or large: a clear error each, before data are read."""

from io import BytesIO
import struct
import tracemalloc
import zipfile

from flexdyn_ros.model.modal import files
from flexdyn_ros.model.modal.files import read_modal_file
import numpy as np
import pytest


def arrays(m=2, n=3):
    """Return a consistent modal file of m modes at n nodes with lumped masses."""
    translation = np.zeros((m, n, 3))
    translation[:, 1:, 1] = np.random.default_rng(1).normal(size=(m, n - 1))
    mass = np.full(n, 1.0 / n)
    modal_mass = np.einsum('n,kna,lna->kl', mass, translation, translation)
    position = np.zeros((n, 3))
    position[:, 0] = np.linspace(0.0, 1.0, n)
    return {
        'format_version': 1, 'node_ids': np.arange(n), 'node_positions': position,
        'translation': translation, 'rotation': np.zeros((m, n, 3)), 'modal_mass': modal_mass,
        'stiffness': 100.0 * modal_mass, 'node_masses': mass,
    }


def members(content):
    """Return the members of a modal file as bytes, by name."""
    found = {}
    for name, values in content.items():
        stream = BytesIO()
        np.save(stream, values)
        found[name + '.npy'] = stream.getvalue()
    return found


def write(path, found, method=zipfile.ZIP_DEFLATED):
    """Write members, in the order given."""
    with zipfile.ZipFile(path, 'w', method) as file:
        for name, content in found.items():
            file.writestr(name, content)
    return path


def header(shape, dtype='<f8', version=(1, 0)):
    """Return an array's header without any numbers."""
    text = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    width = '<H' if version == (1, 0) else '<I'
    return b'\x93NUMPY' + bytes(version) + struct.pack(width, len(text)) + text


@pytest.fixture
def path(tmp_path):
    """Return the path of a test's file."""
    return tmp_path / 'a.npz'


@pytest.mark.parametrize('method', [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize('kind', ['float64', 'float32', '>f8', 'longdouble', 'fortran'])
def test_numbers_read_as_they_were_written(path, method, kind):
    given = arrays()
    change = np.asfortranarray if kind == 'fortran' else np.dtype(kind).type
    given['translation'] = (
        change(given['translation']) if kind == 'fortran' else given['translation'].astype(kind)
    )
    read = read_modal_file(write(path, members(given), method))
    assert np.allclose(read.translation, arrays()['translation'], rtol=1e-6)
    assert read.translation.dtype == np.float64
    assert read.mass == pytest.approx(1.0)


def test_rigid_modes_are_separated(path):
    """Beside others they are left out; modes of a free body that they couple with are refused."""
    plain, given = arrays(), arrays()
    given['translation'] = np.concatenate([np.zeros((1, 3, 3)), plain['translation']])
    given['translation'][0, :, 2] = 1.0
    given['rotation'] = np.zeros((3, 3, 3))
    for name in ('modal_mass', 'stiffness'):
        given[name] = np.zeros((3, 3))
        given[name][1:, 1:] = plain[name]
    given['modal_mass'][0, 0], given['stiffness'][0, 0] = 1.0, 1e-12
    given['frequencies'] = np.array([2e-7, 10.0, 10.0]) / (2.0 * np.pi)
    found = read_modal_file(write(path, members(given)))
    assert found.mode_numbers.tolist() == [2, 3]
    assert found.notes[0] == 'its modes 1 are rigid motions and are left out'
    assert np.allclose(found.translation, plain['translation'])
    assert np.allclose(found.modal_product, read_modal_file(
        write(path, members(plain))).modal_product)
    given['modal_mass'][0, 1] = given['modal_mass'][1, 0] = 0.01
    with pytest.raises(ValueError, match='rigid-body modes'):
        read_modal_file(write(path, members(given)))


ABSURD = {
    'its shape (1000000000000,) needs 8000000000000': header((10**12,)),
    'and its shape (1099511627776, 1099511627776, 3)': header((2**40, 2**40, 3)),
    'has a header of': b'\x93NUMPY\x02\x00' + struct.pack('<I', 2**32 - 1) + b'{' * 100,
    'no header that can be read': b'\x93NUMPY\x01\x00' + struct.pack('<H', 6000) + b'(' * 6000,
    'not an array of plain numbers': b'\x93NUMPY\x09\x00' + b'{}' * 50,
    'not an array of plain': b'12345678' * 8,
    'as pickled objects': header((2, 3, 3), '|O'),
    'not as real numbers': header((2, 3, 3), '<c16') + bytes(16 * 18),
    'not as real': header((2, 3, 3), [('a', '<f8')]) + bytes(8 * 18),
    'with shape (-2, 3, 3)': header((-2, 3, 3)),
    'has 0 bytes of numbers': header((2, 3, 3)),
    'has 200 bytes of numbers': header((2, 3, 3)) + bytes(200),
    'ends too early': b'\x93NUMPY\x01',
    'holds translation with shape (18,)': header((18,)) + bytes(8 * 18),
}


@pytest.mark.parametrize('words', ABSURD)
def test_absurd_headers(path, words):
    found = members(arrays())
    found['translation.npy'] = ABSURD[words]
    with pytest.raises(ValueError) as caught:
        read_modal_file(write(path, found))
    assert words in str(caught.value)


@pytest.mark.parametrize(('name', 'value', 'words'), [
    ('stiffness', 1e308, 'with a magnitude of 1e+308, and quantities'),
    ('modal_mass', 1e-310, 'more than 5 percent'),
    ('node_positions', -1e200, 'with a magnitude of 1e+200'),
    ('node_positions', np.inf, 'not finite'),
    ('translation', 1e99, 'more than 5 percent'),
    ('node_masses', 1e99, 'more than 5 percent'),
    ('node_ids', 1e60, 'too large'),
])
def test_numbers_out_of_range(path, name, value, words):
    given = arrays()
    given[name] = given[name] * 1.0
    given[name][..., 1] = value
    if name in ('stiffness', 'modal_mass'):
        given[name] = value * np.eye(2)
    with pytest.raises(ValueError, match='holds') as caught:
        read_modal_file(write(path, members(given)))
    assert words in str(caught.value)


@pytest.mark.parametrize('method', [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressions_that_numpy_does_not_write(path, method):
    with pytest.raises(ValueError, match='compression'):
        read_modal_file(write(path, members(arrays()), method))


def test_names_are_checked_before_data(path):
    """Data that cannot be read come after a name that is wrong."""
    found = {'wrong.npy': members(arrays(2, 2000))['rotation.npy'], **members(arrays(2, 2000))}
    write(path, found, zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    for name in (b'wrong.npy', b'translation.npy'):
        at = content.index(name) + len(name) + 20000
        content[at] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match='unknown array "wrong"'):
        read_modal_file(path)


def test_a_name_twice_and_an_encrypted_member(path):
    with pytest.warns(UserWarning, match='Duplicate'), zipfile.ZipFile(path, 'w') as file:
        for _ in range(2):
            file.writestr('node_ids.npy', members(arrays())['node_ids.npy'])
    with pytest.raises(ValueError, match='node_ids twice'):
        read_modal_file(path)
    write(path, members(arrays()))
    content = path.read_bytes()
    at = content.index(b'PK\x01\x02') + 8
    path.write_bytes(content[:at] + b'\x01' + content[at + 1 :])
    with pytest.raises(ValueError, match='encrypted'):
        read_modal_file(path)


def test_a_list_of_very_many_members(path):
    with zipfile.ZipFile(path, 'w') as file:
        for number in range(2000):
            file.writestr(f'a{number}.npy', b'')
    with pytest.raises(ValueError, match='no NumPy'):
        read_modal_file(path)


@pytest.mark.parametrize(('m', 'n', 'lumped'), [
    (3, 20000, True), (3, 20000, False), (150, 2, False), (150, 2, True), (60, 1000, True),
])
def test_memory_stays_below_twice_the_largest_file(path, monkeypatch, m, n, lumped):
    """The limit is set to the need of the file."""
    given = arrays(m, n)
    if lumped:
        given['node_inertias'] = np.zeros((n, 3, 3))
        given['modal_mass'] += 1e-9 * np.eye(m)
    else:
        del given['node_masses']
        given |= {'mass': 1.0, 'first_moment': np.zeros(3), 'second_moment': np.eye(3)}
        given |= {'modal_first_moment': np.zeros((m, 3)), 'modal_mass': np.eye(m)}
        given |= {'modal_second_moment': np.zeros((m, 3, 3)),
                  'modal_product': np.zeros((m, m, 3, 3))}
    given['stiffness'] = given['modal_mass'] * 100.0
    write(path, members(given))
    sizes = [8 * np.size(values) for values in given.values()]
    limit = sum(sizes) + (8 * 9 * (m + m * m) if lumped else 0) + 100 * m + 1000
    monkeypatch.setattr(files, 'LARGEST', limit)
    tracemalloc.start()
    try:
        arrays_read = read_modal_file(path)
        arrays_read.with_modes(list(range(m, 0, -1)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * limit + 2**20  # and a little for zip files, of any size
    monkeypatch.setattr(files, 'LARGEST', limit // 2)
    with pytest.raises(ValueError, match='at most'):
        read_modal_file(path)
