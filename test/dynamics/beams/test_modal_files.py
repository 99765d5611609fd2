# SPDX-License-Identifier: Apache-2.0
"""Modes from .npz files: the same beam inline and from a file, lumped masses, wrong files."""

import flexdyn_ros as fd
from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.beam.body import modal_body
from flexdyn_ros.model.check import check_robot
from flexdyn_ros.model.modal.files import (
    body_arrays,
    DECLINED,
    read_modal_file,
    write_arrays,
    write_modal_file,
)
from flexdyn_ros.simulation.vibrations import analyse
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.small_robots import state_of
import pytest
from scipy.linalg import eigh

BEAM = (
    '<beam tip="0.9 0.2 0.1" young="7e7" shear="2.6e7" area="1e-3" iy="1e-6" iz="2e-6" j="2.5e-6" '
    'polar="1e-4" mass="0.7" rotary_inertia="true"><bending axis="y" modes="2" '
    'damping_ratio="0.02"/><bending axis="z" modes="1"/><torsion modes="1"/></beam>'
)
# Child joints on the axis and beside it; the nodes are their cross-sections.
TIP, SIDE = np.array([0.9, 0.2, 0.1]), np.array([0.5, 0.2, -0.1])
PAYLOAD = (
    '<payload link="link1" mass="0.2" com="0.75 0.2 0.15" ixx="0.01" iyy="0.01" izz="0.01"/>'
)


def urdf(inside, options='inertial="total"', extra=PAYLOAD):
    """Return an arm whose first link bends by `inside`, with two child joints."""
    inertial = (
        '<inertial><origin xyz="0.4 0.08 0.03"/><mass value="{}"/><inertia ixx="0.2" ixy="0.001" '
        'ixz="0" iyy="0.6" iyz="0" izz="0.6"/></inertial>'
    )
    joint = (
        '<joint name="joint{0}" type="continuous"><origin xyz="{2}" rpy="0.3 0.2 0.1"/>'
        '<parent link="link{1}"/><child link="link{0}"/><axis xyz="0 0.6 0.8"/></joint>'
    )
    return (
        f'<robot name="r"><link name="link0"/><link name="link1">{inertial.format(3)}</link>'
        f'<link name="link2">{inertial.format(0.4)}</link>'
        f'<link name="link3">{inertial.format(0.2)}</link>{joint.format(1, 0, "0 0 0.2")}'
        f'{joint.format(2, 1, "0.9 0.2 0.1")}{joint.format(3, 1, "0.5 0.2 -0.1")}'
        f'<flexdyn version="1.0"><flexible_link link="link1" geometric_stiffening="false" '
        f'{options}>{inside}</flexible_link>{extra}</flexdyn></robot>'
    )


def modal(attributes='', attach='<attach joint="joint2" node="20"/>', name='beam.npz'):
    """Return a <modal> element."""
    return f'<modal file="{name}" format="npz" tolerance="0.2" {attributes}>{attach}</modal>'


@pytest.fixture(scope='module')
def inline():
    """Return the arm with its beam inline."""
    return fd.load_robot(urdf(BEAM))


@pytest.fixture(scope='module')
def folder(inline, tmp_path_factory):
    """Return a folder with the beam's modes in beam.npz, and its arrays."""
    folder = tmp_path_factory.mktemp('modes')
    points = [np.zeros(3), TIP, SIDE, [0.75, 0.2, 0.15]]
    write_modal_file(folder / 'beam.npz', modal_body(inline.link('link1')), points,
                     [10, 20, 30, 40])
    write_arrays(folder / 'beam.sid',
                 body_arrays(modal_body(inline.link('link1')), points, [10, 20, 30, 40]))
    return folder


def arrays_of(folder):
    """Return the arrays of the file, to be changed."""
    with np.load(folder / 'beam.npz') as file:
        return dict(file)


@pytest.mark.parametrize(('backend', 'form'), [
    ('reference', 'npz'), ('reference', 'sid'), ('python', 'npz'),
])
def test_the_same_beam_inline_and_as_a_file(inline, folder, backend, form):
    """Every method, to 1e-10, with a payload and joints beside the axis."""
    filed = fd.load_robot(urdf(modal().replace('npz', form)), base_dir=folder)
    assert filed.total_mass == pytest.approx(inline.total_mass, rel=1e-14)
    assert filed.mode_names == tuple(f'link1/mode{k}' for k in (1, 2, 3, 4))
    q, qd, qdd = state_of(inline)
    dynamics = fd.Dynamics(filed, backend=backend), reference_dynamics(inline)
    calls = {
        'inverse_dynamics': (q, qd, qdd), 'forward_dynamics': (q, qd, qdd), 'mass_matrix': (q,),
        'elastic_vector': (q, qd), 'gravity_vector': (q,), 'coriolis_vector': (q, qd),
        'kinetic_energy': (q, qd), 'potential_energy': (q,), 'frame_pose': (q, 'link3'),
        'jacobian': (q, 'link2'), 'jacobian_rate_qd': (q, qd, 'link3'),
    }
    for method, arguments in calls.items():
        if backend == 'python' and method not in ('inverse_dynamics', 'forward_dynamics'):
            continue
        ours, theirs = (getattr(dyn, method)(*arguments) for dyn in dynamics)
        assert_agree(ours, theirs, 1e-10, method)
    wrench = {'link3': [1.0, -2.0, 3.0, 0.1, 0.2, -0.3]}
    ours, theirs = (dyn.inverse_dynamics(q, qd, qdd, wrenches=wrench) for dyn in dynamics)
    assert_agree(ours, theirs, 1e-10)


@pytest.mark.parametrize('options', ['inertial="hub"', 'rotation="linear"'])
def test_hub_and_kings_rotations(folder, options):
    pair = [fd.load_robot(urdf(inside, options), base_dir=folder) for inside in (modal(), BEAM)]
    q, qd, qdd = state_of(pair[0])
    ours, theirs = (reference_dynamics(robot).inverse_dynamics(q, qd, qdd) for robot in pair)
    assert_agree(ours, theirs, 1e-10)


def test_payload_set_at_run_time(inline, folder):
    """On the node nearest to its centre of mass."""
    pair = [fd.load_robot(urdf(inside, extra=''), base_dir=folder) for inside in (modal(), BEAM)]
    q, qd, qdd = state_of(inline)
    answers = []
    for robot in pair:
        dyn = reference_dynamics(robot)
        dyn.set_payload('link1', 1.3, TIP, np.diag([0.02, 0.03, 0.03]))
        answers.append(dyn.inverse_dynamics(q, qd, qdd))
    assert_agree(*answers, 1e-10)


def test_some_modes_with_a_damping_ratio_of_their_own(folder):
    inside = BEAM.replace('modes="2" damping_ratio="0.02"', 'modes="1" damping_ratio="0.05"')
    inside = inside.replace('axis="z" modes="1"', 'axis="z" modes="0"')
    inside = inside.replace('<torsion modes="1"', '<torsion modes="1" damping_ratio="0.05"')
    few = fd.load_robot(urdf(modal('modes="1 4" damping_ratio="0.05"')), base_dir=folder)
    same = fd.load_robot(urdf(inside), base_dir=folder)
    assert few.mode_names == ('link1/mode1', 'link1/mode4')
    q, qd, qdd = state_of(few)
    ours, theirs = (reference_dynamics(r).inverse_dynamics(q, qd, qdd) for r in (few, same))
    assert_agree(ours, theirs, 1e-10)


def test_lumped_nodes_approach_the_beam(inline, folder):
    """200 point masses with the sections' inertia, against the integrals, and nearer with more."""
    body, beam = modal_body(inline.link('link1')), inline.link('link1').beam
    axes = np.array(beam.axes)
    q, qd, qdd = state_of(inline)
    exact = reference_dynamics(inline).inverse_dynamics(q, qd, qdd)
    errors = []
    for count in (50, 200):
        at = (np.arange(count) + 0.5) / count
        nodes = [body.node_at(x * beam.length * axes[:, 0]) for x in (*at, 0.0, 1.0)]
        nodes += [body.node_at(SIDE), body.node_at(np.array([0.75, 0.2, 0.15]))]
        spin = 0.7 / 1e-3 / count * axes @ np.diag([1e-4, 1e-6, 2e-6]) @ axes.T
        mass = np.concatenate((np.full(count, 0.7 / count), np.zeros(4)))
        np.savez(
            folder / f'lumped{count}.npz', format_version=1, node_ids=np.arange(count + 4),
            node_positions=np.array([n.position for n in nodes]),
            translation=np.stack([n.translation for n in nodes], axis=1),
            rotation=np.stack([n.rotation for n in nodes], axis=1),
            modal_mass=body.modal_mass, stiffness=body.stiffness, damping=body.damping,
            node_masses=mass, node_inertias=np.outer(mass > 0.0, spin).reshape(-1, 3, 3),
            frequencies=[mode.frequency / (2 * np.pi) for mode in body.modes],
        )
        robot = fd.load_robot(
            urdf(modal(attach='', name=f'lumped{count}.npz'), 'inertial="hub"'), base_dir=folder)
        hub = fd.load_robot(urdf(BEAM, 'inertial="hub"'))
        exact = reference_dynamics(hub).inverse_dynamics(q, qd, qdd)
        found = reference_dynamics(robot).inverse_dynamics(q, qd, qdd)
        errors.append(np.abs(found - exact).max() / np.abs(exact).max())
    assert errors[1] < 0.1 * errors[0] < 1e-3


def test_forward_dynamics_inverts_inverse_dynamics_with_lumped_masses(folder):
    """Modal mass and products of the file need not agree to the last digit."""
    robot = fd.load_robot(
        urdf(modal(attach='', name='lumped50.npz'), 'inertial="hub"'), base_dir=folder)
    dyn = reference_dynamics(robot)
    q, qd, qdd = state_of(robot)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    assert_agree(dyn.forward_dynamics(q, qd, tau), qdd, 1e-9)
    assert_agree(dyn.mass_matrix(q) @ qdd + dyn.bias_vector(q, qd), tau, 1e-10)


def test_package_addresses(folder, tmp_path, monkeypatch):
    package = tmp_path / 'arm_modes'
    package.mkdir()
    (package / 'package.xml').write_text('<package/>')
    (package / 'beam.npz').write_bytes((folder / 'beam.npz').read_bytes())
    monkeypatch.setenv('ROS_PACKAGE_PATH', str(tmp_path))
    found = fd.load_robot(urdf(modal(name='package://arm_modes/beam.npz')))
    assert found.link('link1').modal.digest == fd.load_robot(
        urdf(modal()), base_dir=folder).link('link1').modal.digest


def test_stiffening_is_refused_where_asked_for_and_noted_where_not_written(folder):
    text = urdf(modal())
    with pytest.raises(ModelError, match='needs its terms'):
        fd.load_robot(text.replace('g="false"', 'g="true"'), base_dir=folder)
    robot = fd.load_robot(text.replace(' geometric_stiffening="false"', ''), base_dir=folder)
    assert any('no geometric stiffening' in str(f) for f in check_robot(robot).findings)
    assert not fd.load_robot(text, base_dir=folder).notes


def _rigid_mode(a):
    a['stiffness'][0, :] = a['stiffness'][:, 0] = 0.0


def _moved_root(a):
    a['translation'] += 0.1


def _swap(name, change):
    def edit(a):
        a[name] = change(a[name])
    return edit


WRONG = {
    'does not hold the array "stiffness"': lambda a: a.pop('stiffness'),
    'neither node_masses nor the integral "first_moment"': lambda a: a.pop('first_moment'),
    'unknown array "shapes"': lambda a: a.update(shapes=a['translation']),
    'format_version 2': lambda a: a.update(format_version=2),
    'translation with shape (4, 3, 4)': _swap('translation', lambda v: np.swapaxes(v, 1, 2)),
    'not finite': _swap('stiffness', lambda v: v * np.nan),
    'not as real numbers': _swap('stiffness', lambda v: v.astype(complex)),
    'modal_mass that is not symmetric': _swap('modal_mass', lambda v: v + np.eye(4, k=1)),
    'not positive definite': _swap('modal_mass', lambda v: -v),
    'rigid-body modes': _rigid_mode,
    'whole numbers, each once': _swap('node_ids', lambda v: 0 * v),
    'frequencies': lambda a: a.update(frequencies=np.ones(4)),
    'damping and damping_ratio': lambda a: a.update(damping_ratio=np.ones(4)),
    'would add energy': _swap('damping', lambda v: -v),
    'must be positive': _swap('mass', lambda v: -v),
    'contradict each other': _swap('modal_first_moment', lambda v: 1e3 * v),
    'modal_product with': _swap('modal_product', lambda v: v + np.eye(4, k=1)[..., None, None]),
    'first_moment and node_masses': lambda a: a.update(node_masses=np.ones(4)) or a.pop('mass'),
    'node_inertias without node_masses': lambda a: a.update(node_inertias=np.ones((4, 3, 3))),
    'Mode 1 moves node 10': _moved_root,
    'as pickled objects': lambda a: a.update(mode_numbers=np.array([{}, 1, 2, 3], dtype=object)),
    'm away from joint "joint2"': _swap('node_positions', lambda v: 1000.0 * v),
    'is not a physical rigid body': lambda a: a.update(
        mass=1e3 * a['mass'], first_moment=1e3 * a['first_moment'],
        second_moment=1e3 * a['second_moment']),
}


def test_a_full_stiffness_matrix_couples_the_modes(folder, tmp_path):
    """Forces K delta, and SciPy's eigenvalues of K and M with the joints held."""
    arrays = arrays_of(folder)
    own = np.sqrt(np.diag(arrays['stiffness']))
    share = np.array([[0.0, 0.3, -0.2, 0.1], [0.3, 0.0, 0.25, -0.1],
                      [-0.2, 0.25, 0.0, 0.2], [0.1, -0.1, 0.2, 0.0]])
    arrays['stiffness'] = arrays['stiffness'] + share * np.outer(own, own)
    arrays.pop('frequencies', None)
    np.savez(tmp_path / 'full.npz', **arrays)
    robot = fd.load_robot(urdf(modal(name='full.npz'), extra=''), base_dir=tmp_path)
    dyn, modes = reference_dynamics(robot), slice(robot.n_joints, None)
    q = np.linspace(-0.01, 0.02, robot.nv)
    force = dyn.elastic_vector(q, 0.0 * q)[modes]
    assert force == pytest.approx(arrays['stiffness'] @ q[modes], rel=1e-12)
    zero = np.zeros(robot.nv)
    squares = eigh(arrays['stiffness'], dyn.mass_matrix(zero)[modes, modes], eigvals_only=True)
    rates = [v['frequency'] for v in analyse(robot, zero)['locked']]
    assert rates == pytest.approx(np.sqrt(squares) / (2.0 * np.pi), rel=1e-7)


@pytest.mark.parametrize('words', WRONG)
def test_wrong_arrays(folder, tmp_path, words):
    arrays = arrays_of(folder)
    WRONG[words](arrays)
    np.savez(tmp_path / 'wrong.npz', **arrays)
    with pytest.raises(ModelError) as caught:
        fd.load_robot(urdf(modal(name='wrong.npz')), base_dir=tmp_path)
    assert words in str(caught.value)
    assert caught.value.element in ('modal', 'attach')
    assert caught.value.name == 'link1'
    assert caught.value.advice


@pytest.mark.parametrize('content', [b'', b'PK\x03\x04nonsense', b'words', None])
def test_files_that_are_no_archives(tmp_path, content):
    if content is None:
        np.save(tmp_path / 'wrong.npy', np.ones(3))
        content = (tmp_path / 'wrong.npy').read_bytes()
    (tmp_path / 'wrong.npz').write_bytes(content)
    with pytest.raises(ModelError, match=r'is (no|a single)') as caught:
        fd.load_robot(urdf(modal(name='wrong.npz')), base_dir=tmp_path)
    assert caught.value.element == 'modal'


@pytest.mark.parametrize('suffix', DECLINED)
def test_formats_that_are_declined_with_advice(tmp_path, suffix):
    (tmp_path / f'wrong{suffix}').write_bytes(b'')
    with pytest.raises(ModelError, match='cannot be read') as caught:
        fd.load_robot(urdf(modal(name=f'wrong{suffix}')), base_dir=tmp_path)
    assert DECLINED[suffix] in str(caught.value)


@pytest.mark.parametrize(('inside', 'words'), [
    (modal('modes="1 7"'), 'holds 7, which the file lacks'),
    (modal(attach='<attach joint="joint2" node="21"/>'), 'has no node 21'),
    (modal().replace('tolerance="0.2"', 'tolerance="0.01"'), 'joint "joint3"'),
    (modal(attach='<attach joint="joint2" node="30"/>'), 'Node 30 at'),
    (modal(attach='<attach joint="joint1" node="10"/>'), 'not a child joint'),
])
def test_mistakes_of_the_element(folder, inside, words):
    with pytest.raises(ModelError) as caught:
        fd.load_robot(urdf(inside), base_dir=folder)
    assert words in str(caught.value) and caught.value.advice


def test_an_attached_node_carries_its_joint(folder):
    """Another node, farther away, gives another arm."""
    far = modal(attach='<attach joint="joint3" node="20"/>').replace('"0.2"', '"1.0"')
    near, other = (fd.load_robot(urdf(m), base_dir=folder) for m in (modal(), far))
    assert near != other
    q, _, _ = state_of(near)
    assert not np.allclose(*(reference_dynamics(r).mass_matrix(q) for r in (near, other)))


def test_a_file_reads_back(folder):
    arrays = read_modal_file(folder / 'beam.npz')
    assert arrays.node_ids.tolist() == [10, 20, 30, 40]
    assert arrays.translation.shape == (4, 4, 3)
    assert repr(arrays) == '<4 modes at 4 nodes>'
