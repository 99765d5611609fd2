# SPDX-License-Identifier: Apache-2.0
"""Solid links to modes: a steel tube against closed forms, Exudyn, the beam and segments."""

import sys

import flexdyn_ros as fd
from flexdyn_ros.model.modal.files import modal_arrays, write_arrays
from flexdyn_ros.model.modal.meshes import HollowBar, read_mesh
from flexdyn_ros.model.modal.reduction import reduced_modes
from flexdyn_ros.model.modal.solids import Material, solid_elements, TiedFrame
import numpy as np
import pytest
from scipy.linalg import eigh

NEEDS = 'the extra "solids" is not installed: pip install scikit-fem meshio trimesh gmsh'
pytest.importorskip('skfem', reason=NEEDS)
STEEL = Material(2.1e11, 8.1e10, 7850.0)
LENGTH, OUTER, WALL = 1.5, 0.03, 0.002
INNER = OUTER - 2.0 * WALL
AREA, SECOND = np.pi / 4 * (OUTER**2 - INNER**2), np.pi / 64 * (OUTER**4 - INNER**4)
X = np.array([1.0, 0.0, 0.0])


def ends(length, reach=0.1):
    return [TiedFrame(x * X, reach, X) for x in (0.0, length)]


@pytest.fixture(scope='module')
def tube():
    return solid_elements(HollowBar(LENGTH, OUTER, None, WALL).mesh(None, 2), STEEL, ends(LENGTH))


def test_a_steel_tube_against_closed_forms(tube):
    """Three bending pairs of a cantilever and its torsion, within 1 percent."""
    arrays = modal_arrays(reduced_modes(tube, [1], [2], 16, 0, True))
    found = np.sqrt(np.diag(arrays.stiffness))
    for root in (1.8751040687119611, 4.694091132974174, 7.854757438237612):
        exact = root**2 / LENGTH**2 * np.sqrt(STEEL.young * SECOND / (STEEL.density * AREA))
        assert np.sum(np.abs(found / exact - 1.0) < 0.01) == 2, root
    twist = 0.5 * np.pi / LENGTH * np.sqrt(STEEL.shear / STEEL.density)
    assert np.abs(found / twist - 1.0).min() < 0.01
    assert arrays.mass == pytest.approx(STEEL.density * AREA * LENGTH, rel=1e-3)
    inertia = np.trace(arrays.second_moment) * np.eye(3) - arrays.second_moment
    spin = 2.0 * STEEL.density * SECOND * LENGTH
    across = 0.5 * spin + STEEL.density * AREA * LENGTH**3 / 3.0
    assert np.allclose(np.diag(inertia), [spin, across, across], rtol=2e-3)
    # A unit force at the end: L^3 / 3 EI, shear and ovalisation included within 1 percent.
    tip = arrays.node_ids.tolist().index(2)
    push = arrays.translation[:, tip, 1]
    static = push @ np.linalg.solve(arrays.stiffness, push)
    assert static == pytest.approx(LENGTH**3 / (3.0 * STEEL.young * SECOND), rel=0.01)
    slope = push @ np.linalg.solve(arrays.stiffness, arrays.rotation[:, tip])
    assert slope[2] == pytest.approx(LENGTH**2 / (2.0 * STEEL.young * SECOND), rel=0.01)
    turn = arrays.rotation[:, tip, 0]
    static = turn @ np.linalg.solve(arrays.stiffness, turn)
    assert static == pytest.approx(LENGTH / (2.0 * STEEL.shear * SECOND), rel=0.01)
    # The first mode draws its end in by 1.1619 / 2 L of its squared deflection (clamped-free).
    drawn = arrays.stiffening.nodes[tip][0, 0] / np.sum(arrays.translation[0, tip]**2)
    assert drawn == pytest.approx(-1.1619 / LENGTH, rel=0.01)


@pytest.mark.slow
def test_the_same_span_by_dense_algebra():
    """A short box: Craig-Bampton with explicit ties and inverses."""
    bar = HollowBar(0.3, 0.05, 0.03, 0.004, taper=0.7)
    model = solid_elements(bar.mesh(0.1), STEEL, ends(0.3))
    free = np.flatnonzero(model.ties.diagonal() != 0.0)
    ties = model.ties[:, free].toarray()
    k, m = (ties.T @ matrix @ ties for matrix in (model.stiffness, model.mass))
    inner = np.arange(12, len(free))
    static = -np.linalg.solve(k[np.ix_(inner, inner)], k[np.ix_(inner, range(6, 12))])
    _, modes = eigh(k[np.ix_(inner, inner)], m[np.ix_(inner, inner)], subset_by_index=[0, 4])
    span = np.zeros((len(free), 11))
    span[6:12, :6], span[12:, :6], span[12:, 6:] = np.eye(6), static, modes
    expected = eigh(span.T @ k @ span, span.T @ m @ span, eigvals_only=True)
    found = np.diag(reduced_modes(model, [1], [2], 5)['stiffness'])
    assert np.allclose(found, expected, rtol=1e-6)
    # The whole box turns and moves without force, and has its weight.
    rigid = np.zeros((len(model.nodes), 3))
    rigid[model.directions < 3] = np.eye(3)[model.directions[model.directions < 3]]
    assert np.abs(model.stiffness @ rigid).max() < 1e-6 * model.stiffness.max()
    width, height = (np.array([side, 0.7 * side]) for side in (0.05, 0.03))
    area = width * height - (width - 0.008) * (height - 0.008)  # linear along the taper
    weight = 0.3 * 7850 * area.mean()
    assert (rigid.T @ model.mass @ rigid)[0, 0] == pytest.approx(weight, rel=1e-9)


def test_against_the_reduction_of_exudyn(tube):
    """The same matrices: frequencies of the clamped tube to 1e-6."""
    pytest.importorskip('exudyn', reason='the oracle Exudyn is not installed')
    from exudyn.FEM import FEMinterface, HCBstaticModeSelection

    solid = np.flatnonzero(tube.nodes >= 2)
    fem = FEMinterface()
    fem.nodes = {'Position': tube.positions[2:]}
    for name in ('mass', 'stiffness'):
        setattr(fem, f'{name}Matrix', getattr(tube, name)[solid][:, solid])
    faces = [np.flatnonzero(np.abs(tube.positions[2:, 0] - x) < 1e-9).tolist()
             for x in (0.0, LENGTH)]
    fem.ComputeHurtyCraigBamptonModes(faces, 8, True, HCBstaticModeSelection.RBE2)
    shapes = fem.modeBasis['matrix']
    theirs = eigh(*(shapes.T @ getattr(tube, name)[solid][:, solid] @ shapes
                    for name in ('stiffness', 'mass')), eigvals_only=True)
    ours = np.diag(reduced_modes(tube, [1], [2], 8)['stiffness'])
    assert np.allclose(np.sqrt(ours), np.sqrt(theirs), rtol=1e-6)


ARM = """<robot name="arm"><link name="base"/><link name="boom"/><link name="hand"><inertial>
<mass value="95"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="boom"/>
<axis xyz="0 0 1"/></joint><joint name="end" type="fixed"><origin xyz="6 0 0"/>
<parent link="boom"/><child link="hand"/></joint><flexdyn version="1.0"><gravity xyz="0 0 0"/>
<flexible_link link="boom">%s</flexible_link></flexdyn></robot>"""


@pytest.mark.slow
def test_a_link_of_the_canadarm_by_beam_elements_and_segments(tmp_path):
    """EI of 1e5 N m^2, 6 m and 140 kg (Mohan and Saha, table 2); 95 kg at the end."""
    young, outer = 7e10, 0.1
    second = 1e5 / young
    inner = (outer**4 - 64.0 * second / np.pi)**0.25
    area = np.pi / 4.0 * (outer**2 - inner**2)
    bar = HollowBar(6.0, outer, None, 0.5 * (outer - inner))
    model = solid_elements(bar.mesh(0.15, 2), Material(young, 2.6e10, 140.0 / (6.0 * area)),
                           ends(6.0))
    write_arrays(tmp_path / 'boom.npz', modal_arrays(reduced_modes(model, [1], [2], 10, 10, True)))
    beam = f'young="{young}" area="1e-3" iy="{second}" iz="{second}" mass="140"'
    texts = {
        'beam': f'<beam tip="end" {beam}><bending axis="y" modes="5"/></beam>',
        'solid': '<modal file="boom.npz" format="npz"><attach joint="end" node="2"/></modal>',
        'segments': f'<segments count="12" directions="z" tip="end" {beam}/>',
    }
    torque, tips = 1500.0, {}
    for name, text in texts.items():
        robot = fd.load_robot(ARM % text, base_dir=tmp_path)
        dyn = fd.Dynamics(robot, backend='python')

        def push(t, q, qd, nv=robot.nv):
            return np.r_[torque * np.sin(np.pi * t), np.zeros(nv - 1)]

        run = fd.simulate(dyn, np.zeros(robot.nq), np.zeros(robot.nv), push, 2.0, 2e-3,
                          method='implicit', progress=False)
        tips[name] = np.array([
            np.linalg.inv(dyn.frame_pose(np.r_[q[0], np.zeros(robot.nq - 1)], 'hand'))
            @ dyn.frame_pose(q, 'hand') for q in run.q[::20]])[:, :2, 3]
        tips[name + '_at'] = np.array([dyn.frame_pose(q, 'hand')[:2, 3] for q in run.q[::20]])
    deflection = np.abs(tips['beam']).max()
    moved = np.abs(tips['beam_at'] - tips['beam_at'][0]).max()
    assert deflection > 0.1
    for name in ('solid', 'segments'):
        assert np.abs(tips[name] - tips['beam']).max() < 0.01 * deflection, name
        assert np.abs(tips[name + '_at'] - tips['beam_at']).max() < 0.01 * moved, name


def bending_rates(mesh):
    """Return the two lowest rates of a box of 0.4 x 0.06 x 0.04 m along x; check its mass."""
    model = solid_elements(mesh, STEEL, [TiedFrame(x * X, 0.04) for x in (0.0, 0.4)])
    given = reduced_modes(model, [1], [2], 6)
    assert given['mass'] == pytest.approx(7850 * 0.4 * 0.06 * 0.04, rel=1e-9)
    rates = np.sqrt(np.diag(given['stiffness']))[:2]
    exact = 1.8751040687**2 / 0.4**2 * np.sqrt(2.1e11 / 7850 / 12.0) * np.array([0.04, 0.06])
    assert np.allclose(rates, exact, rtol=0.03)  # Euler-Bernoulli, of a stout bar
    return rates


@pytest.fixture
def box():
    """Return tetrahedra, points [mm] first, and the triangles around them."""
    import skfem

    grid = skfem.MeshHex.init_tensor(
        np.linspace(0.0, 400.0, 17), np.linspace(-30.0, 30.0, 4), np.linspace(-20.0, 20.0, 3))
    tetrahedra = grid.to_meshtet()
    around = tetrahedra.facets[:, tetrahedra.boundary_facets()].T
    centre = tetrahedra.p[:, around].mean(axis=2).T - np.array([200.0, 0.0, 0.0])
    a, b, c = (tetrahedra.p[:, column].T for column in around.T)
    inward = np.einsum('na,na->n', np.cross(b - a, c - a), centre) < 0.0
    around[inward] = around[inward][:, ::-1]
    return tetrahedra.p.T, tetrahedra.t.T, around


@pytest.mark.parametrize(('form', 'binary'), [('gmsh22', False), ('gmsh', True), ('gmsh', False)])
def test_volume_meshes_of_gmsh_s_file(tmp_path, box, form, binary):
    """Tetrahedra, and those beside the triangles around them; gmsh is not needed."""
    meshio = pytest.importorskip('meshio', reason=NEEDS)
    points, cells, around = box
    blocks = [('triangle', around), ('tetra', cells)] if form == 'gmsh22' else [('tetra', cells)]
    meshio.write(
        tmp_path / 'box.msh', meshio.Mesh(points, blocks), file_format=form, binary=binary)
    mesh = read_mesh(tmp_path / 'box.msh', 1e-3, None)
    assert mesh.t.shape == (4, len(cells))
    bending_rates(mesh)


def test_surfaces_in_gmsh_s_file(tmp_path, box, monkeypatch):
    """A closed one without gmsh gives advice; an open one, and a damaged file, are refused."""
    meshio = pytest.importorskip('meshio', reason=NEEDS)
    pytest.importorskip('trimesh', reason=NEEDS)
    points, _, around = box
    monkeypatch.setitem(sys.modules, 'gmsh', None)
    for name, faces in (('box', around), ('open', around[1:])):
        meshio.write(tmp_path / f'{name}.msh', meshio.Mesh(points, [('triangle', faces)]),
                     file_format='gmsh22', binary=False)
    (tmp_path / 'bad.msh').write_text('$MeshFormat\n9 9 9\n')
    for name, words in (('open', 'closed surface'), ('bad', 'no mesh'), ('none', 'is no file')):
        with pytest.raises(ValueError, match=words):
            read_mesh(tmp_path / f'{name}.msh', 1e-3, None)
    with pytest.raises(fd.FlexdynError, match='pip install .*gmsh.*apt install .*tetrahedra'):
        read_mesh(tmp_path / 'box.msh', 1e-3, None)


def test_closed_surfaces_are_filled(tmp_path, box):
    """Those of STL and of gmsh's file, by gmsh; tetrahedra written and read again are the same."""
    trimesh = pytest.importorskip('trimesh', reason=NEEDS)
    gmsh = pytest.importorskip('gmsh', reason=NEEDS)
    meshio = pytest.importorskip('meshio', reason=NEEDS)
    points, _, around = box
    surface = trimesh.creation.box((400.0, 60.0, 40.0))
    surface.apply_translation((200.0, 0.0, 0.0))
    surface.export(tmp_path / 'box.stl')
    meshio.write(tmp_path / 'box.msh', meshio.Mesh(points, [('triangle', around)]),
                 file_format='gmsh22', binary=False)
    for name in ('box.stl', 'box.msh'):
        mesh = read_mesh(tmp_path / name, 1e-3, 0.04)
        rates = bending_rates(mesh)
        meshio.write(tmp_path / 'box.vtk', meshio.Mesh(1e3 * mesh.p.T, [('tetra', mesh.t.T)]))
        again = bending_rates(read_mesh(tmp_path / 'box.vtk', 1e-3, None))
        assert np.allclose(rates, again, rtol=1e-9)
    gmsh.initialize(interruptible=False)
    gmsh.model.occ.addBox(0.0, -30.0, -20.0, 400.0, 60.0, 40.0)
    gmsh.model.occ.synchronize()
    gmsh.option.setNumber('Mesh.MeshSizeMax', 20.0)
    for order in (2, 1):
        gmsh.model.mesh.generate(3)
        gmsh.model.mesh.setOrder(order)
        gmsh.write(str(tmp_path / 'own.msh'))
        bending_rates(read_mesh(tmp_path / 'own.msh', 1e-3, None))
    gmsh.finalize()


@pytest.mark.parametrize(('frames', 'words'), [
    ([TiedFrame(np.array([0.0, 9.0, 0.0]), 0.1)], 'no face within 0.1 m'),
    (ends(0.3, 0.5) + [TiedFrame(np.zeros(3), 0.1)], 'two frames'),
])
def test_frames_that_find_no_face_of_their_own(frames, words):
    mesh = HollowBar(0.3, 0.05, 0.03, 0.004).mesh(0.1, 2)
    with pytest.raises(ValueError, match=words):
        solid_elements(mesh, STEEL, frames)


def test_bars_and_materials_that_cannot_be():
    with pytest.raises(ValueError, match='no hole'):
        HollowBar(0.3, 0.05, 0.03, 0.015).mesh()
    mesh = HollowBar(0.3, 0.05, 0.03, 0.004).mesh(0.1, 2)
    with pytest.raises(ValueError, match='Poisson'):
        solid_elements(mesh, Material(2.1e11, 2e10, 7850.0), ends(0.3))
