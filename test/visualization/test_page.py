# SPDX-License-Identifier: Apache-2.0
"""The HTML page of a motion: its contents, and pictures in Chromium without a network."""

import sys

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.visualization.page import save_page
from flexdyn_ros.visualization.scene import Scene
from headless import browser_page, coloured, picture
from moving_arm import moving_arm
import numpy as np
import pytest
from robots_of_files import canadarm, ur5, ur5e

pytest.importorskip('trimesh', reason='the page carries the three.js of trimesh')
pytest.importorskip('matplotlib', reason='colours need matplotlib')
LARGEST_FILE = 5e6  # [bytes]


@pytest.fixture(scope='module')
def file(tmp_path_factory):
    """Return the page of a short motion."""
    dyn, motion = moving_arm()
    return save_page(motion, Scene(dyn), tmp_path_factory.mktemp('page') / 'arm.html')


def set_slider(page, name, value):
    """Move a slider as a user does."""
    page.locator(f'#{name}').evaluate(
        "(e, to) => { e.value = to; e.dispatchEvent(new Event('input')); }", value)


def drawn(page):
    """Return the screenshot above the bar of controls, beside the legend."""
    return picture(page)[70:520]


def test_the_page_shows_the_arm_and_its_controls_work(file):
    asked = []
    with browser_page() as page:
        page.on('request', lambda request: asked.append(request.url))
        page.context.set_offline(True)
        page.goto(file.as_uri())
        page.click('#play')
        assert page.inner_text('#play') == 'Play'
        set_slider(page, 'time', 0)
        first = drawn(page)
        assert coloured(first).sum() > 1000  # the arm, by the colours of its deflection
        assert page.inner_text('#quantity') == 'deflection [m]'
        assert float(page.inner_text('#ticks span:last-child')) > 0.01
        assert page.input_value('#factor') == '1' and page.inner_text('#times') == '× 1'

        set_slider(page, 'time', 7)
        later = drawn(page)
        assert page.inner_text('#clock') == '0.23 s'
        assert (first != later).any(axis=-1).sum() > 1000

        set_slider(page, 'factor', 0)
        assert (drawn(page) != later).any(axis=-1).sum() > 500
        set_slider(page, 'factor', 1)
        assert np.array_equal(drawn(page), later)

        page.select_option('#colour', label='energy')
        assert page.inner_text('#quantity') == 'energy [J]'
        page.select_option('#colour', label='link')
        assert not page.locator('#legend').is_visible()
        assert coloured(drawn(page)).sum() < 0.1 * coloured(later).sum()  # grey as the link

        page.click('#play')
        start = page.input_value('#time')
        page.wait_for_function(f"document.getElementById('time').value !== '{start}'")
    assert asked == [file.as_uri()]


def test_the_page_holds_the_bent_vertices_to_a_fraction_of_a_pixel(file):
    """Shapes times weights are the displacements: read by the page's script in Chromium."""
    dyn, motion = moving_arm()
    scene, rows = Scene(dyn), motion.frames()
    number = next(k for k, shape in enumerate(scene.shapes) if shape.pieces)
    with browser_page() as page:
        page.goto(file.as_uri())
        factors = page.evaluate('data.factors')
        for factor, frame in ((1.0, 3), (1.0, 12), (5.0, 6)):
            page.click('#play')
            set_slider(page, 'factor', factors.index(factor))
            set_slider(page, 'time', frame)
            local, pose = page.evaluate(f"""() => {{
              const own = shapes[{number}].drawn;
              return [[...own.geometry.attributes.position.array], own.matrix.toArray()]; }}""")
            pose = np.reshape(pose, (4, 4)).T
            shown = np.reshape(local, (-1, 3)) @ pose[:3, :3].T + pose[:3, 3]
            true = scene.at(motion.q[rows[frame]], factor)[number].vertices
            moved = np.abs(true - scene.at(motion.q[rows[frame]], 0.0)[number].vertices).max()
            assert moved > 0.01
            assert np.abs(shown - true).max() < 2e-3 * moved
            page.click('#play')


@pytest.mark.slow
@pytest.mark.parametrize('robot', [canadarm, ur5, ur5e])
def test_two_seconds_of_an_arm_take_less_than_five_megabytes(robot, tmp_path):
    dyn, scene, q = robot()
    motion = fd.simulate(dyn, q, np.zeros(dyn.robot.nv), None, 2.0, 1e-3, method='implicit')
    path = save_page(motion, scene, tmp_path / 'arm.html', 20.0)
    assert len(motion.frames()) == 61
    assert 7e5 < path.stat().st_size < LARGEST_FILE
    with browser_page() as page:
        page.goto(path.as_uri())
        page.click('#play')
        assert page.inner_text('#times') == '× 20'
        assert coloured(drawn(page)).sum() > 1000


def test_wrong_factors_and_a_missing_library_are_named(tmp_path, monkeypatch):
    dyn, motion = moving_arm()
    with pytest.raises(ArgumentError, match='factor'):
        save_page(motion, Scene(dyn), tmp_path / 'arm.html', -1.0)
    monkeypatch.setitem(sys.modules, 'trimesh', None)
    with pytest.raises(FlexdynError, match='pip install trimesh'):
        save_page(motion, Scene(dyn), tmp_path / 'arm.html')
    assert not list(tmp_path.iterdir())
