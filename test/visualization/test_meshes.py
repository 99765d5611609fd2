# SPDX-License-Identifier: Apache-2.0
"""Files of meshes: their folders, readers, cuts and reduction."""

import logging
from pathlib import Path
import sys

from drawn_arms import arm, LENGTH, visual
import flexdyn_ros as fd
from flexdyn_ros.visualization.scene import Scene
from flexdyn_ros.visualization.surfaces import (
    box,
    cylinder,
    fitted,
    read_surface,
    sphere,
    swept,
)
from flexdyn_ros.visualization.visuals import package_folders
import numpy as np
import pytest

trimesh = pytest.importorskip(
    'trimesh', reason='trimesh is not installed here: `make test` installs it')
pytest.importorskip(
    'collada', reason='pycollada is not installed here: `make test` installs it')
pytest.importorskip(
    'fast_simplification',
    reason='fast-simplification is not installed here: `make test` installs it')
MESH = visual('<mesh filename="{}" scale="2 1 1"/>')


def rod(length=LENGTH / 2.0, subdivided=0):
    """Return a mesh of a rod along x from the origin with triangles as long as itself."""
    mesh = trimesh.creation.cylinder(0.05, length, sections=24)
    mesh.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2.0, [0, 1, 0]))
    mesh.apply_translation([length / 2.0, 0, 0])
    for _ in range(subdivided):
        mesh = mesh.subdivide()
    return mesh


def scene_of(text, **choices):
    """Return the scene of a description."""
    return Scene(fd.Dynamics(fd.load_robot(text), backend='reference'), **choices)


def boom_of(scene):
    """Return the one shape of the boom."""
    (shape,) = [shape for shape in scene.shapes if shape.link == 'boom']
    return shape


@pytest.mark.parametrize('suffix', ['stl', 'obj', 'dae'])
def test_a_mesh_is_read_scaled_and_cut_along_the_beam(tmp_path, suffix):
    rod().export(tmp_path / f'rod.{suffix}')
    scene = scene_of(arm(boom=MESH.format(f'rod.{suffix}')), base_dir=tmp_path)
    surface = boom_of(scene).surface
    assert np.allclose(np.ptp(surface.vertices, axis=0)[[0, 2]], [LENGTH, 0.1], atol=1e-6)
    along = np.ptp(surface.vertices[surface.triangles, 0], axis=1)
    assert along.max() < LENGTH / 20.0
    assert len(surface.triangles) <= 5000
    assert trimesh.Trimesh(surface.vertices, surface.triangles).is_watertight
    assert not scene.missing


def test_the_unit_of_a_collada_file_is_taken(tmp_path):
    path = tmp_path / 'rod.dae'
    rod(0.5).export(path)
    text = path.read_text()
    unit = '<unit meter="0.001" name="millimeter"/><up_axis>'
    path.write_text(text.replace('<up_axis>', unit, 1))
    assert np.ptp(read_surface(path).vertices[:, 0]) == pytest.approx(0.0005)


@pytest.mark.parametrize('budget', [600, 3000])
def test_a_fine_mesh_gets_no_more_triangles_than_the_budget(tmp_path, budget):
    fine = rod(subdivided=3)
    assert len(fine.faces) > 5000
    fine.export(tmp_path / 'rod.stl')
    scene = scene_of(arm(boom=MESH.format('rod.stl')), base_dir=tmp_path, triangles=budget)
    surface = boom_of(scene).surface
    assert 0.2 * budget < len(surface.triangles) <= budget
    x = surface.vertices[:, 0]
    assert (x.min(), x.max()) == pytest.approx((0.0, LENGTH), abs=0.02)


def test_a_vendors_link_keeps_its_surface_with_few_triangles():
    models = pytest.importorskip('airo_models', reason='airo-models is not installed')
    surface = read_surface(Path(models.get_urdf_path('ur5e')).parent / 'visual' / 'forearm.obj')
    whole = area(surface)
    for budget in (1000, 2500, 5000):
        few = fitted(surface, np.array([-1.0, 0.0, 0.0]), 0.39, budget)
        assert len(few.triangles) <= budget
        assert area(few) == pytest.approx(whole, rel=0.03)


def area(surface):
    """Return the area of a surface [m^2]."""
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()


def test_packages_are_found_by_an_option_and_by_ros_package_path(tmp_path, monkeypatch):
    folder = tmp_path / 'vendor_description'
    folder.mkdir()
    (folder / 'package.xml').write_text('<package/>')
    rod().export(folder / 'rod.stl')
    text = arm(boom=MESH.format('package://vendor_description/rod.stl'))
    packages = package_folders((f'vendor_description={folder}',), '--package')
    assert boom_of(scene_of(text, packages=packages)).visual is not None
    assert boom_of(scene_of(text)).visual is None
    monkeypatch.setenv('ROS_PACKAGE_PATH', str(tmp_path))
    assert boom_of(scene_of(text)).visual is not None
    for word, problem in (('vendor', 'NAME=PATH'), ('a=/none', 'does not exist')):
        with pytest.raises(fd.FlexdynError, match=problem):
            package_folders((word,), '--package')


def test_missing_meshes_are_named_once_and_replaced(tmp_path, caplog):
    (tmp_path / 'broken.stl').write_text('solid nothing')
    text = arm(boom=2 * MESH.format('gone.stl'), tip=MESH.format('broken.stl'))
    with caplog.at_level(logging.WARNING, logger='flexdyn_ros'):
        scene = scene_of(text, base_dir=tmp_path)
    assert set(scene.missing) == {'gone.stl', 'broken.stl'}
    assert len(caplog.records) == 1
    assert caplog.text.count('gone.stl" does not exist') == 1
    assert boom_of(scene).name == 'boom:beam'
    assert boom_of(scene).surface.vertices[:, 0].max() == pytest.approx(LENGTH)


@pytest.mark.parametrize('name', ['trimesh', 'collada', 'fast_simplification'])
def test_without_a_library_the_beam_is_drawn_and_the_warning_has_what_to_install(
        tmp_path, monkeypatch, name):
    if name == 'collada':
        (tmp_path / 'rod.dae').write_text('<COLLADA/>')
    else:
        rod(subdivided=3).export(tmp_path / 'rod.stl')
    monkeypatch.setitem(sys.modules, name, None)
    suffix = 'dae' if name == 'collada' else 'stl'
    scene = scene_of(arm(boom=MESH.format(f'rod.{suffix}')), base_dir=tmp_path)
    assert 'pip install trimesh pycollada fast-simplification' in str(scene.missing)
    assert boom_of(scene).name == 'boom:beam'


def test_rigid_meshes_are_left_to_the_viewer_where_it_reads_them(tmp_path):
    rod().export(tmp_path / 'rod.stl')
    text = arm(tip=MESH.format('rod.stl'))
    scenes = [scene_of(text, base_dir=tmp_path, rigid_meshes=each) for each in (True, False)]
    read, left = ([s for s in scene.shapes if s.link == 'tip'][0] for scene in scenes)
    assert np.ptp(read.surface.vertices[:, 0]) == pytest.approx(LENGTH)
    assert len(left.surface.vertices) == 0


@pytest.mark.parametrize(('surface', 'volume'), [
    (box((0.1, 0.4, 0.2)), 0.008),
    (box((0.5, 0.4, 0.2)), 0.04),
    (cylinder(0.1, 0.5), 0.5 * 8.0 * 0.01 * np.sin(np.pi / 8.0)),  # of 16 corners
    (swept(np.array([[1, -1], [1, 1], [-1, 1], [-1, -1.0]]), np.array([0, 0, 3.0, 3.0])), 12.0),
])
def test_primitives_are_closed_outward_and_of_their_volume(surface, volume):
    mesh = trimesh.Trimesh(surface.vertices, surface.triangles)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(volume)


def test_a_sphere_is_round():
    mesh = sphere(0.3)
    assert np.allclose(np.linalg.norm(mesh.vertices, axis=1), 0.3)
    assert trimesh.Trimesh(mesh.vertices, mesh.triangles).volume > 0.1


def test_a_mirrored_mesh_keeps_its_outside(tmp_path):
    rod().export(tmp_path / 'rod.stl')
    text = arm(tip=visual('<mesh filename="rod.stl" scale="1 -1 1"/>'))
    (shape,) = [s for s in scene_of(text, base_dir=tmp_path).shapes if s.link == 'tip']
    assert trimesh.Trimesh(shape.surface.vertices, shape.surface.triangles).volume > 0.0
