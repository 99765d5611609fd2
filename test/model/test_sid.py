# SPDX-License-Identifier: Apache-2.0
"""SID files: blocks, structures and orders against integrals of a cloud of point masses."""

import flexdyn_ros as fd
from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.check import check_robot
from flexdyn_ros.model.modal.files import read_modal_file, write_arrays
import numpy as np
import pytest

# Two modes, three nodes, with all structures; written out with the traps of real exporters.
SMALL = """\
   2   2    : Export of a test. Alpha = 0. Tangentensystem
 part
      new modal =
           refmod
                mass                            = 2.0D+00
                nelastq                         =     2
                ielastq (   1)                  = Eigen Mode    1 :        1.592 Hz
                ielastq (   2)                  = Eigen Mode    2 :        3.183 Hz
           end refmod
           frame
                new node                        =    6022
                     rframe                     =    body ref
{origin}
{phi}
{psi}
{ap}
                end node
                new node                        =    7
                     rframe                     =    body ref
{origin0}
{zero_phi}
{zero_psi}
                end node
           end frame
{blocks}
      end modal
 end part
"""


def taylor(name, shape, structure, entries='', order=0, modes=2):
    """Return a block with its coefficients, `m0(1,1)=2 m1(1,2,1)=3`."""
    body = ''.join(
        f'    {e.replace("=", " = ")}\n' for e in entries.split()
    )
    return (
        f'{name}\n order = {order}\n nrow = {shape[0]}\n ncol = {shape[1]}\n nq = {modes}\n '
        f'nqn = 0\n structure = {structure}\n{body}end {name}'
    )


def small(**changes):
    """Return the text of a file: 2 kg at x = 1 on two springs, along y and z."""
    # phi_1 = 0.5 y, phi_2 = 0.5 z at the mass: Me = 2 * 0.25 = 0.5 each.
    blocks = {
        'mdCM': taylor('mdCM', (3, 1), 3, 'm0(1,1)=2.0', 1),
        'J': taylor('J', (6, 1), 3, 'm0(2,1)=2.0D+0 m0(3,1)=2', 1),
        'Ct': taylor('Ct', (2, 3), 3, 'm0(1,2)=1.0 m0(2,3)=1.0'),
        'Cr': taylor('Cr', (2, 3), 3,
                     'm0(1,3)=1.0 m0(2,2)=-1.0 m1(1,2,1)=-0.5 m1(2,1,1)=0.5', 1),
        'Me': taylor('Me', (2, 2), 1, 'm0(1,1)=0.5 m0(2,2)=.5'),
        'Gr': taylor('Gr', (3, 6), 3, 'm0(2,1)=-2.0 m0(3,4)=-2.0'),
        'Ge': taylor('Ge', (2, 6), 3, 'm0(1,4)=-1.0 m0(2,1)=1.0'),
        'Oe': taylor('Oe', (2, 6), 3, 'm0(1,4)=1.0 m0(2,6)=1.0 m1(1,1,1)=-0.5 m1(1,1,3)=-0.5 '
                     'm1(2,2,1)=-0.5 m1(2,2,2)=-0.5 m1(1,2,5)=0.5 m1(2,1,5)=0.5', 1),
        'ksigma': taylor('ksigma', (2, 1), 0),
        'Ke': taylor('Ke', (2, 2), 2, 'm0(1,1)=5.0D+1 m0(2,2)=2.0+2'),
        'De': taylor('De', (2, 2), 0),
    }
    blocks.update(changes)
    parts = {
        'origin': taylor('origin', (3, 1), 3, 'm0(1,1)=1.0 m1(2,1,1)=0.5 m1(3,2,1)=0.5', 1),
        'phi': taylor('phi', (3, 2), 3, 'm0(2,1)=0.5 m0(3,2)=0.5'),
        'psi': taylor('psi', (3, 2), 3, 'm0(3,1)=0.7 m0(2,2)=-0.7'),
        'ap': taylor('AP', (3, 3), 4, order=1),
        'origin0': taylor('origin', (3, 1), 0, order=1),
        'zero_phi': taylor('phi', (3, 2), 0), 'zero_psi': taylor('psi', (3, 2), 0),
    }
    parts.update({name: blocks.pop(name) for name in list(blocks) if name in parts})
    return SMALL.format(blocks='\n'.join(blocks.values()), **parts)


def read(tmp_path, text):
    """Return the contents of a file with this text."""
    path = tmp_path / 'link.SID_FEM'
    path.write_bytes(text.encode('latin-1'))
    return read_modal_file(path, 'sid')


def test_all_blocks_of_a_small_file(tmp_path):
    arrays = read(tmp_path, small())
    assert arrays.node_ids.tolist() == [6022, 7]
    assert np.array_equal(arrays.node_positions, [[1, 0, 0], [0, 0, 0]])
    assert np.array_equal(arrays.translation[:, 0], [[0, 0.5, 0], [0, 0, 0.5]])
    assert np.array_equal(arrays.rotation[:, 0], [[0, 0, 0.7], [0, -0.7, 0]])
    assert np.array_equal(arrays.stiffness, np.diag([50, 200]))
    assert np.array_equal(arrays.damping, np.zeros((2, 2)))
    assert np.array_equal(arrays.modal_mass, 0.5 * np.eye(2))
    mass, place, shapes = 2.0, np.array([1.0, 0, 0]), arrays.translation[:, 0]
    assert np.allclose(arrays.second_moment, mass * np.outer(place, place))
    assert np.allclose(arrays.modal_first_moment, mass * shapes)
    assert np.allclose(arrays.modal_second_moment, mass * np.einsum('a,kb->kab', place, shapes))
    assert np.allclose(arrays.modal_product, mass * np.einsum('ka,lb->klab', shapes, shapes))
    assert np.abs(arrays.rotary_coupling).max() == 0.0
    assert arrays.comment == 'Export of a test. Alpha = 0. Tangentensystem'
    assert not arrays.notes


def test_the_identity_lists_nothing_and_a_symmetric_matrix_one_half(tmp_path):
    """Me of structure 4 has no entries in real files."""
    double = small(
        Me=taylor('Me', (2, 2), 4), Ke=taylor('Ke', (2, 2), 2,
                                              'm0(1,1)=110 m0(2,2)=390 m0(2,1)=30')
    ).replace('1.592', '1.645').replace('3.183', '3.156')
    arrays = read(tmp_path, double)
    assert np.array_equal(arrays.modal_mass, np.eye(2))
    assert np.array_equal(arrays.stiffness, [[110, 30], [30, 390]])


def test_a_full_inertia_is_the_packed_one(tmp_path):
    """Packed as xx yy zz xy xz yz."""
    inertia = np.array([[1.0, 0.11, 0.12], [0.11, 2.2, 0.13], [0.12, 0.13, 2.3]])
    packed = [inertia[a, b] for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    six = ' '.join(f'm0({k},1)={value}' for k, value in enumerate(packed, 1))
    nine = ' '.join(f'm0({a + 1},{b + 1})={inertia[a, b]}' for a in range(3) for b in range(3))
    found = [read(tmp_path, small(J=taylor('J', shape, 3, entries))).second_moment
             for shape, entries in (((6, 1), six), ((3, 3), nine))]
    for second in found:
        assert np.allclose(np.trace(second) * np.eye(3) - second, inertia)


def cloud():
    """Return modes of a random cloud of 40 point masses, as arrays of a modal file."""
    chance = np.random.default_rng(3)
    mass, place = chance.uniform(0.1, 0.2, 40), chance.normal(size=(40, 3))
    shapes = chance.normal(size=(3, 40, 3)) * 0.3
    shapes[:, 0], place[0] = 0.0, 0.0
    modal_mass = np.einsum('n,kna,lna->kl', mass, shapes, shapes)
    return {
        'format_version': 1, 'node_ids': np.arange(40), 'node_positions': place,
        'translation': shapes, 'rotation': 0.1 * shapes[..., ::-1], 'modal_mass': modal_mass,
        'stiffness': np.diag([30.0, 50.0, 70.0]), 'node_masses': mass, 'damping': np.eye(3),
        'comment': 'a cloud: of "masses"',
    }


def coefficients(text):
    """Return the coefficients of a file by block and indices."""
    found, block = {}, []
    for line in text.splitlines():
        if line.isidentifier() or line.startswith('new '):
            block.append(line)
        elif line.startswith('end '):
            block.pop()
        elif line.startswith(('m0', 'm1')):
            place, _, number = line.partition(' = ')
            found[(*block, place)] = float(number.replace('D', 'e'))
    return found


def test_every_number_from_npz_to_sid_and_back(tmp_path):
    np.savez(tmp_path / 'a.npz', **cloud())
    first = read_modal_file(tmp_path / 'a.npz')
    write_arrays(tmp_path / 'b.sid', first)
    second = read_modal_file(tmp_path / 'b.sid', 'sid')
    write_arrays(tmp_path / 'c.npz', second)
    third = read_modal_file(tmp_path / 'c.npz')
    write_arrays(tmp_path / 'd.sid', third)
    numbers = {name for name, value in vars(first).items() if isinstance(value, np.ndarray)}
    assert len(numbers) == 14
    for name in numbers:
        given = getattr(first, name)
        assert np.allclose(getattr(second, name), given, rtol=1e-14, atol=1e-14), name
        assert np.array_equal(getattr(third, name), getattr(second, name)), name
    assert first.comment == third.comment == 'a cloud: of "masses"'
    ours, theirs = (coefficients((tmp_path / name).read_text()) for name in ('b.sid', 'd.sid'))
    assert len(ours) > 1000
    for place in {*ours, *theirs}:
        assert ours.get(place, 0.0) == pytest.approx(theirs.get(place, 0.0), rel=1e-12, abs=1e-14)


def test_coefficients_of_first_order_against_the_cloud(tmp_path):
    """Without Gr of order 1, products come from Oe and Cr, or Oe and Ge."""
    np.savez(tmp_path / 'a.npz', **cloud())
    exact = read_modal_file(tmp_path / 'a.npz').modal_product
    write_arrays(tmp_path / 'b.sid', read_modal_file(tmp_path / 'a.npz'))
    lines = (tmp_path / 'b.sid').read_text().splitlines()
    for dropped in (['Gr'], ['Gr', 'Cr']):
        kept, block = [], ''
        for line in lines:
            block = line if line.isidentifier() else block
            if block in dropped and line.startswith('m1'):
                continue
            kept.append('order = 0' if block in dropped and line == 'order = 1' else line)
        found = read(tmp_path, '\n'.join(kept)).modal_product
        assert np.allclose(found, exact, atol=1e-13)


WRONG = {
    'is no SID file': small().replace('   2   2', 'x'),
    'declares 3 modes in the first line and nelastq = 2': small().replace('2   2 ', '2   3 '),
    'declares 9 nodes': small().replace('   2   2 ', '   9   2 '),
    'holds no block "Gr"': small(Gr=''),
    'unknown block "Gx"': small(Ge=taylor('Gx', (2, 6), 0)),
    'holds 2 blocks "Ke"': small(Ge=taylor('Ke', (2, 2), 4)),
    'holds mdCM with 4x1': small(mdCM=taylor('mdCM', (4, 1), 0)),
    'm0(1, 3) in Ke, outside': small(Ke=taylor('Ke', (2, 2), 3, 'm0(1,3)=1')),
    'm1(1, 1, 1) in Ke, outside': small(Ke=taylor('Ke', (2, 2), 3, 'm1(1,1,1)=1')),
    'its structure 1 excludes': small(Ke=taylor('Ke', (2, 2), 1, 'm0(1,2)=1')),
    'its structure 0 excludes': small(Ke=taylor('Ke', (2, 2), 0, 'm0(1,1)=1')),
    'order 2': small(Oe=taylor('Oe', (2, 6), 0, order=2)),
    'structure 7': small(Oe=taylor('Oe', (2, 6), 7)),
    'is not square': small(Ct=taylor('Ct', (2, 3), 4)),
    'the coefficient occurs twice': small(Ke=taylor('Ke', (2, 2), 3, 'm0(1,1)=1 m0(1,1)=2')),
    'nq other than the 2 modes': small(Cr=taylor('Cr', (2, 3), 0, order=1, modes=5)),
    'neither a block nor a value': small(Ge='two words'),
    'the open block is "Ge"': small(Ge='Ge\nend Gr'),
    'ends within the block': small().replace(' end part', ''),
    'nested too deep': small(Ge='a\nb\nc\nd\ne\nf\ng'),
    'ksigma, a stress at rest': small(ksigma=taylor('ksigma', (2, 1), 3, 'm0(1,1)=1')),
    'Ke that depends on deflections': small(
        Ke=taylor('Ke', (2, 2), 3, 'm0(1,1)=50 m0(2,2)=200 m1(1,1,1)=1', 1)),
    'a node without a number': small().replace('    6022', '    tip'),
    'whole numbers, each once': small().replace('    6022', '    7'),
    'frequencies [1.692, 3.183] Hz': small().replace('1.592', '1.692'),
    'not positive definite': small(Me=taylor('Me', (2, 2), 1, 'm0(1,1)=-0.5 m0(2,2)=.5')),
    'rigid-body modes': small(Ke=taylor('Ke', (2, 2), 1, 'm0(2,2)=200')),
    'must be positive': small().replace('2.0D+00', '-2.0D+00'),
    'contradict each other': small().replace('2.0D+00', '2.0D-03'),
    'mass = "two"': small().replace('2.0D+00', 'two'),
    'holds Oe with order = ""': small(Oe='Oe\nend Oe'),
    'the number is too large': small(Ke=taylor('Ke', (2, 2), 3, 'm0(1,1)=1D+200')),
    'not finite': small().replace('2.0D+00', '2.0D+999'),
}


@pytest.mark.parametrize('words', WRONG)
def test_wrong_files(tmp_path, words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011, the words are compared below
        read(tmp_path, WRONG[words])
    assert words in str(caught.value)


def robot(tmp_path, text, attach='6022', origin='1 0 0'):
    """Return an arm whose link bends by a file with this text."""
    (tmp_path / 'link.SID_FEM').write_text(text)
    return fd.load_robot(
        f"""<robot name="r"><link name="base"/><link name="rod"/><link name="hand"><inertial>
        <mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        </link><joint name="root" type="continuous"><parent link="base"/><child link="rod"/>
        <axis xyz="0 0 1"/></joint><joint name="wrist" type="fixed"><origin xyz="{origin}"/>
        <parent link="rod"/><child link="hand"/></joint><flexdyn version="1.0">
        <flexible_link link="rod" geometric_stiffening="false"><modal file="link.SID_FEM"
        format="sid"><attach joint="wrist" node="{attach}"/></modal></flexible_link></flexdyn>
        </robot>""", base_dir=tmp_path)


def test_an_arm_with_an_sid_link(tmp_path):
    """Its mass matrix is that of two point masses and a hand on them."""
    arm = robot(tmp_path, small())
    assert arm.mode_names == ('rod/mode1', 'rod/mode2')
    found = fd.Dynamics(arm, backend='reference').mass_matrix([0.0, 0.0, 0.0])
    # Hand: 1 kg that moves with the node, and 1 kg m^2 that turns with its rotation of 0.7.
    yaw, first, second = 2.0 + 1.0 + 1.0, 0.5 + 0.25 + 0.49, 1.0 + 0.5 + 0.7
    assert np.allclose(found, [[yaw, second, 0], [second, first, 0], [0, 0, first]])
    notes = [str(finding) for finding in check_robot(arm).findings]
    assert any('It is: Export of a test. Alpha = 0. Tangentensystem.' in note for note in notes)


def test_millimetres_are_recognised(tmp_path):
    with pytest.raises(ModelError, match='millimetres'):
        robot(tmp_path, small(origin=taylor('origin', (3, 1), 3, 'm0(1,1)=1000')))
    with pytest.raises(ModelError, match='no node 8'):
        robot(tmp_path, small(), attach='8')


def test_doubtful_files_load_with_a_note(tmp_path):
    """Integrals of coarse lumping, and stiffening that is dropped."""
    coupled = small(Ct=taylor('Ct', (2, 3), 3, 'm0(1,2)=1.1 m0(2,3)=1.1'))
    assert 'percent more than any mass distribution' in read(tmp_path, coupled).notes[0]
    shapes = 'm0(2,1)=0.5 m0(3,2)=0.5 m1(1,1,1)=-0.3'
    stiff = read(tmp_path, small(phi=taylor('phi', (3, 2), 3, shapes, 1)))
    assert np.allclose(np.abs(stiff.stiffening.direction), [1, 0, 0]) and not stiff.notes
    bent = read(tmp_path, small(phi=taylor('phi', (3, 2), 3, shapes + ' m1(2,2,2)=-0.3', 1)))
    assert 'is dropped' in bent.notes[0] and bent.stiffening is None
    swapped = small(Oe=taylor('Oe', (2, 6), 3, 'm0(1,4)=1.0 m0(2,5)=1.0'))
    assert 'Oe and Gr contradict' in read(tmp_path, swapped).notes[0]
