# SPDX-License-Identifier: Apache-2.0
"""Shapes of an arm, bent by modes and segments, and the numbers that colour them."""

from pathlib import Path

from drawn_arms import arm, four_bar, INERTIA, LENGTH, SEGMENTS, visual, YOUNG
import flexdyn_ros as fd
from flexdyn_ros.model.beam.body import link_body
from flexdyn_ros.model.modal.files import write_modal_file
from flexdyn_ros.visualization.colours import legend
from flexdyn_ros.visualization.cross_sections import bending_points
from flexdyn_ros.visualization.scene import Scene
import numpy as np
import pytest

MODES = np.array([0.03, -0.01, 0.05, 0.004, 0.1, 1e-4])
ROD = visual(f'<cylinder radius="0.05" length="{LENGTH}"/>', f'{LENGTH / 2} 0 0', '0 1.5707963 0')
RING = np.array([[LENGTH, 0.0, 0.0], [LENGTH, 0.05, 0.0], [LENGTH + 0.1, 0.0, 0.03]])


def scene_of(text, **choices):
    """Return the scene of a description."""
    return Scene(fd.Dynamics(fd.load_robot(text), backend='reference'), **choices)


def drawn(scene, link, *state, **choices):
    """Return the drawn vertices of a link's first shape."""
    return next(d for d in scene.at(*state, **choices) if d.shape.link == link)


@pytest.mark.parametrize('beam', [None, 'centred', 'reference'])
def test_vertices_at_the_tip_move_as_the_tip_frame_does(beam):
    text = arm(boom=ROD) if beam is None else arm(SEGMENTS.format(placement=beam), boom=ROD)
    scene = scene_of(text)
    robot = scene.dyn.robot
    modes = MODES if beam is None else np.random.default_rng(3).uniform(-0.1, 0.1, robot.n_modes)
    q = np.array([0.4, *modes])
    points = bending_points(robot.link('boom'), RING).bent(modes)
    base, tip = (scene.dyn.frame_pose(q, name) for name in ('boom', 'tip'))
    expected = (RING - [LENGTH, 0.0, 0.0]) @ tip[:3, :3].T + tip[:3, 3]
    assert np.allclose(points @ base[:3, :3].T + base[:3, 3], expected, atol=1e-12)
    rod = drawn(scene, 'boom', q)
    far = rod.shape.surface.vertices[:, 0] > LENGTH - 1e-6
    at_tip = rod.shape.surface.vertices[far] - [LENGTH, 0.0, 0.0]
    assert np.allclose(rod.vertices[far], at_tip @ tip[:3, :3].T + tip[:3, 3], atol=1e-7)
    straight = scene.at([0.4, *(0 * modes)])[0]
    assert np.allclose(straight.vertices, rod.shape.surface.placed(base).vertices, atol=1e-12)


def test_cross_sections_stay_perpendicular_to_the_axis():
    """Of Euler and Bernoulli: the rotation of a cross-section is the slope of the axis."""
    link = fd.load_robot(arm()).link('boom')
    modes = 1e-4 * np.array([1.0, 0.3, -0.7, 0.2, 0.0, 0.0])
    x, step = np.linspace(0.05, LENGTH - 0.05, 15), 1e-5
    across = np.eye(3)[1:]
    for direction in across:
        ahead, behind, middle, beside = (
            bending_points(link, points).bent(modes) for points in (
                np.outer(x + step, [1, 0, 0]), np.outer(x - step, [1, 0, 0]),
                np.outer(x, [1, 0, 0]), np.outer(x, [1, 0, 0]) + direction))
        tangent = (ahead - behind) / (2.0 * step)
        assert np.abs(tangent @ direction).max() > 1e-5
        assert np.allclose(np.sum(tangent * (beside - middle), axis=1), 0.0, atol=1e-9)


@pytest.mark.parametrize('axis', [1, 2])
def test_strain_is_minus_y_times_the_curvature_of_a_cantilever(axis):
    """The first mode: Blevins, Formulas for Natural Frequency and Mode Shape, table 8-1."""
    scene = scene_of(arm(boom=ROD))
    q = np.zeros(7)
    q[1 if axis == 1 else 3] = 0.02
    rod = drawn(scene, 'boom', q, quantity='strain')
    places = rod.shape.surface.vertices
    beta, sigma = 1.87510407 / LENGTH, 0.734095514
    bx = beta * np.clip(places[:, 0], 0.0, LENGTH)
    curvature = beta**2 * (np.cosh(bx) + np.cos(bx) - sigma * (np.sinh(bx) + np.sin(bx)))
    expected = -places[:, axis] * 0.02 / 2.0 * curvature  # the shape is 2 at the tip
    assert np.abs(expected).max() > 1e-3
    assert np.allclose(rod.values, expected, atol=1e-6 * np.abs(expected).max())


def test_energy_is_that_of_the_stiffness_and_deflection_the_way_of_each_point():
    scene = scene_of(arm(boom=ROD))
    q = np.array([0.3, *MODES])
    stiffness = link_body(scene.dyn.robot.link('boom')).stiffness
    energy = drawn(scene, 'boom', q, quantity='energy').values
    assert np.allclose(energy, 0.5 * MODES @ stiffness @ MODES, rtol=1e-12)
    assert 3.0 * YOUNG * INERTIA / LENGTH**3 == pytest.approx(stiffness[0, 0], rel=0.04)
    one, five = (drawn(scene, 'boom', q, factor=factor) for factor in (1.0, 5.0))
    assert np.array_equal(one.values, five.values)
    undeformed = drawn(scene, 'boom', [0.3, *(0 * MODES)]).vertices
    assert np.allclose(one.values, np.linalg.norm(one.vertices - undeformed, axis=1), atol=1e-12)


def test_the_factor_acts_on_the_deflection_from_the_reference():
    scene = scene_of(arm(boom=ROD))
    sag = np.array([0.0, 0.0, -0.04, 0.0, 0.0, 0.0])
    q = np.array([0.3, *(sag + [0.0, 0.0, 0.002, 0.0, 0.0, 0.0])])
    seen = drawn(scene, 'boom', q, factor=10.0, reference=sag)
    same = drawn(scene, 'boom', [0.3, *(sag + [0.0, 0.0, 0.02, 0.0, 0.0, 0.0])])
    assert np.allclose(seen.vertices, same.vertices, atol=1e-12)
    assert seen.values.max() == pytest.approx(0.002, rel=0.01)


@pytest.mark.parametrize('reference', [None, np.array([0.004, -0.001])])
def test_a_mechanism_whose_deflection_is_drawn_larger_stays_closed(reference):
    dyn = four_bar()
    scene, rest = Scene(dyn), np.zeros(dyn.robot.nv)
    held = ['crank', *dyn.robot.mode_names]
    q = dyn.project(np.array([0.3, 0.0, 0.0, 0.006, -0.002]), rest, hold=held)[0]
    start = np.zeros(2) if reference is None else reference
    shown = scene.shown(q, 8.0, reference)
    assert np.abs(dyn.loop_gaps(shown)).max() < 1e-9
    assert shown[0] == q[0] and np.allclose(shown[3:], start + 8.0 * (q[3:] - start))
    assert np.abs(shown[1:3] - q[1:3]).max() > 1e-3
    assert np.array_equal(scene.shown(q), q)
    # The coupler's far end is at the rocker's pin.
    coupler, rocker = (drawn(scene, link, q, 8.0, reference) for link in ('coupler', 'rocker'))
    ends = coupler.shape.surface.vertices
    pin = np.mean(coupler.vertices[ends[:, 0] > ends[:, 0].max() - 1e-9], axis=0)
    far = rocker.shape.surface.vertices
    place = np.mean(far[far[:, 2] > far[:, 2].max() - 1e-9], axis=0)
    assert np.allclose(pin, rocker.pose[:3, :3] @ place + rocker.pose[:3, 3], atol=1e-3)


def test_loops_that_cannot_close_with_the_larger_deflection_do_with_a_smaller_one():
    dyn = four_bar()
    q = dyn.project(np.array([0.0, 0.0, 0.0, 0.01, 0.0]), np.zeros(5),
                    hold=['crank', *dyn.robot.mode_names])[0]
    shown = Scene(dyn).shown(q, 150.0)
    assert np.abs(dyn.loop_gaps(shown)).max() < 1e-9
    assert shown[0] == q[0] and 0.1 < shown[3] < 1.4


def test_a_rigid_shape_is_only_moved():
    box = visual('<box size="0.1 0.2 0.3"/>', '0.1 0 0', '0 0 0.5')
    scene = scene_of(arm(tip=box, boom=ROD))
    q = np.array([0.4, *MODES])
    found = drawn(scene, 'tip', q)
    assert found.vertices is found.shape.surface.vertices
    assert found.values is None
    pose = scene.dyn.frame_pose(q, 'tip') @ found.shape.pose
    assert np.array_equal(found.pose, pose)
    assert np.allclose(found.shape.pose[:2, 0], [np.cos(0.5), np.sin(0.5)])


def test_nodes_of_a_file_bend_a_mesh_as_the_beam_that_they_come_from(tmp_path):
    text = arm(boom=ROD)
    link = fd.load_robot(text).link('boom')
    places = [x * LENGTH * np.eye(3)[0] for x in np.linspace(0.0, 1.0, 21)]
    write_modal_file(tmp_path / 'boom.npz', link_body(link), places)
    text_of_file = arm('<modal file="boom.npz" format="npz"/>', boom=ROD)
    other = fd.load_robot(text_of_file, base_dir=tmp_path)
    file = Scene(fd.Dynamics(other, backend='reference'))
    q = np.array([0.4, *MODES])
    found, beam = drawn(file, 'boom', q), drawn(scene_of(text), 'boom', q)
    assert np.allclose(found.vertices, beam.vertices, atol=2e-6)
    assert np.isnan(drawn(file, 'boom', q, quantity='strain').values).all()


def test_nodes_of_a_solid_carry_what_is_near():
    from flexdyn_ros.visualization.cross_sections import _interpolated
    grid = np.stack(np.meshgrid(*3 * [np.linspace(0.0, 1.0, 5)]), axis=-1).reshape(-1, 3)
    values = np.column_stack([grid @ [1.0, 2.0, -1.0], np.ones(len(grid))])
    near = grid[::7] + 1e-9
    assert np.allclose(_interpolated(grid, values, near), values[::7], atol=1e-6)
    between = np.random.default_rng(0).uniform(0.0, 1.0, (50, 3))
    assert np.allclose(_interpolated(grid, values, between)[:, 1], 1.0)


def test_links_without_a_visual_are_tubes_nodes_and_bars(tmp_path):
    scene = scene_of(arm())
    names = {shape.name: shape for shape in scene.shapes}
    assert set(names) == {'base:swing', 'boom:beam'}
    assert np.allclose(np.linalg.norm(names['boom:beam'].surface.vertices[:16, 1:], axis=1),
                       np.sqrt(1e-3 / np.pi))
    end = names['base:swing'].surface.vertices[-1]
    assert np.allclose(end, [0.1, 0.0, 0.4])
    places = [x * LENGTH * np.eye(3)[0] for x in np.linspace(0.0, 1.0, 9)]
    write_modal_file(tmp_path / 'boom.npz', link_body(scene.dyn.robot.link('boom')), places)
    text = arm('<modal file="boom.npz" format="npz"/>')
    (cloud,) = [s for s in Scene(fd.Dynamics(fd.load_robot(text, base_dir=tmp_path))).shapes
                if s.pieces]
    assert cloud.surface.triangles.shape == (0, 3)
    assert np.allclose(cloud.surface.vertices, places)


def test_a_link_of_two_beams_is_drawn_along_both():
    beam = ('<beam tip="{}" y_axis="0 1 0" young="7e10" area="1e-3" iy="4e-8" iz="4e-8" mass="1">'
            '<bending axis="z" modes="1"/></beam>')
    bent = beam.format('0.6 0 0') + beam.format('tip')
    scene = scene_of(arm(bent, boom=ROD))
    q = np.array([0.2, 0.02, -0.01])
    rod = drawn(scene, 'boom', q)
    assert len(rod.shape.pieces) == 2
    tip = scene.dyn.frame_pose(q, 'tip')
    far = rod.shape.surface.vertices[:, 0] > LENGTH - 1e-6
    at_tip = rod.shape.surface.vertices[far] - [LENGTH, 0.0, 0.0]
    assert np.allclose(rod.vertices[far], at_tip @ tip[:3, :3].T + tip[:3, 3], atol=1e-7)


def test_colours_run_over_a_map_of_matplotlib_and_the_legend_has_units():
    from matplotlib import colormaps
    scene = scene_of(arm(boom=ROD))
    found = scene.at([0.0, *MODES], quantity='strain')
    scale = legend(found, 'strain')
    values = found[0].values
    assert scale.title == 'strain [m/m]'
    assert (scale.low, scale.high) == (-np.abs(values).max(), np.abs(values).max())
    colours = scale.colours([scale.low, 0.0, scale.high, np.nan])
    assert np.allclose(colours[:3], colormaps['coolwarm']([0.0, 0.5, 1.0]), atol=0.01)
    assert tuple(colours[3]) == (0.7, 0.7, 0.7, 1.0)
    assert [text for _, text in legend(found, 'deflection', 0.2).ticks(3)] == ['0', '0.1', '0.2']


def test_a_wrong_call_is_an_error():
    scene = scene_of(arm())
    with pytest.raises(fd.FlexdynError, match='"quantity" must be one of deflection'):
        scene.at(np.zeros(7), quantity='stress')
    with pytest.raises(fd.FlexdynError, match='"q" and reference must be'):
        scene.at(np.zeros(6))
    with pytest.raises(fd.FlexdynError, match='<capsule> is unknown'):
        scene_of(arm(tip=visual('<capsule/>')))


def test_every_example_robot_is_drawn():
    for path in sorted(Path(__file__).parents[2].glob('urdf/*_arm.urdf.xacro')):
        scene = Scene(fd.Dynamics(fd.load_robot(path), backend='reference'))
        found = scene.at(scene.dyn.robot.neutral_configuration())
        assert len(found) >= len(scene.dyn.robot.links) - 1
