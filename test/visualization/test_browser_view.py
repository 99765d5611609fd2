# SPDX-License-Identifier: Apache-2.0
"""The view in a browser: its states, its controls, its socket, and pictures in Chromium."""

import json
import os
from pathlib import Path
import signal
import subprocess
import sys

from drawn_arms import arm, four_bar
import flexdyn_ros as fd
from flexdyn_ros.cli.main import main
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.simulation.vibrations import analyse
from flexdyn_ros.visualization.scene import Scene
from flexdyn_ros.visualization.shown_states import static_deflection, vibrations
from headless import browser_page, coloured, picture
from moving_arm import moving_arm
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
NQ = 8  # a joint, its spring, and six modes of the boom


@pytest.fixture
def view():
    """Return a function that makes views of the moving arm; they are stopped at the end."""
    pytest.importorskip('viser', reason='viser is not installed')
    from flexdyn_ros.visualization.browser_view import BrowserView

    made = []

    def make(dyn=None, **choices):
        made.append(BrowserView(Scene(dyn or moving_arm()[0]), port=8400, **choices))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def set_controls(view, **values):
    for name, value in values.items():
        {**view.controls, **view.sliders}[name].value = value


def shown_vertices(view, name='arm'):
    """Return the vertices of the boom's meshes in the server's scene, in order of the bands."""
    drawn = view._arm if name == 'arm' else view._overlay
    (bands,) = [own for own, shape in zip(drawn._bands, view._scene.shapes) if shape.pieces]
    found = np.zeros((1 + max(band.vertices.max() for band in bands), 3))
    for band in bands:
        found[band.vertices] = band.mesh.vertices
    return found


def true_vertices(view, q, factor=1.0):
    (drawn,) = [d for d in view._scene.at(q, factor) if d.shape.pieces]
    return drawn.vertices


def listening(process):
    """Return the addresses that a process listens on."""
    return {c.laddr.ip for c in process.net_connections('tcp') if c.status == 'LISTEN'}


# States.

def test_vibrations_are_those_of_the_mode_tables_with_damping():
    text = arm().replace('modes="2"', 'modes="2" damping_ratio="0.02"')
    robot = fd.load_robot(text.replace('modes="1"', 'modes="1" damping_ratio="0.02"'))
    q = np.zeros(robot.nq)
    found = vibrations(fd.Dynamics(robot), q)
    table = analyse(robot, q)['locked']
    assert len(found) == len(table) == robot.n_modes == 6
    for own, row in zip(found, table):
        # The modes of a free beam are orthogonal: each vibrates alone with its own ratio.
        assert own.damping_ratio == pytest.approx(0.02, rel=0.05)
        assert own.frequency == pytest.approx(row['frequency'], rel=1e-6)
        assert np.abs(own.at(0.0)).max() == pytest.approx(1.0)
    assert str(found[0]).endswith('Hz, damping ratio 0.02')


def test_the_static_deflection_is_where_modal_forces_vanish():
    dyn, _ = moving_arm()
    other = fd.Dynamics(dyn.robot)
    for gravity, mass in ((True, 0.0), (True, 3.0), (False, 0.0)):
        other.set_gravity([0.0, 0.0, -9.81 if gravity else 0.0])
        other.clear_payload()
        if mass:
            other.set_payload('tip', mass, np.zeros(3), np.zeros((3, 3)))
        start = np.eye(NQ)[0] * 0.4
        q = static_deflection(dyn, start, gravity, 'tip', mass)
        modes = q[1:]
        assert q[0] == 0.4
        force = other.bias_vector(q, 0.0 * q)[1:]
        assert np.abs(force).max() < 1e-6
        assert (np.abs(modes).max() > 1e-3) == gravity


def test_static_deflection_of_a_mechanism_has_the_least_energy_of_closed_configurations():
    """The crank stands still; on closed configurations around, gravity and bending store more."""
    dyn = four_bar()
    rest = np.zeros(dyn.robot.nv)
    q = dyn.project(0.3 * np.eye(5)[0], rest, hold=['crank', *dyn.robot.mode_names])[0]
    found = static_deflection(dyn, q, True, 'coupler', 50.0)
    assert found[0] == q[0] and np.abs(found[3:]).max() > 1e-4
    assert np.abs(dyn.loop_gaps(found)).max() < 1e-9
    dyn.set_payload('coupler', 50.0)
    least = dyn.potential_energy(found)
    for change in 1e-3 * np.vstack((np.eye(5)[3:], -np.eye(5)[3:])):
        near = dyn.project(found + change, rest, hold=['crank'])[0]
        assert np.abs(near - found).max() > 1e-4
        assert dyn.potential_energy(near) > least
    straight = static_deflection(dyn, q, False)
    assert np.abs(straight - dyn.project(q, rest)[0]).max() < 1e-6


def test_vibrations_of_a_mechanism_are_those_of_the_mode_tables():
    dyn = four_bar()
    q = dyn.project(dyn.robot.neutral_configuration(), np.zeros(dyn.robot.nv))[0]
    table = analyse(dyn.robot, q)['locked']
    found = vibrations(dyn, q)
    assert len(found) == len(table) > 0
    for own, row in zip(found, table):
        assert own.frequency == pytest.approx(row['frequency'], rel=1e-3)
        assert np.abs(dyn.loop_jacobian(q) @ own.at(0.0)).max() < 1e-9
        assert own.shape[0] == 0.0


# Controls.

def test_sliders_factor_and_overlay_move_what_is_drawn(view):
    own = view()
    robot, q = moving_arm()[0].robot, np.zeros(NQ)
    assert tuple(own.sliders) == robot.coordinate_names
    assert (own.sliders['swing'].min, own.sliders['swing'].max) == (-2.0, 2.0)
    set_controls(own, **{'swing': 0.5, 'boom/bending_y1': 0.05})
    own.step(0.0)
    q[[0, 2]] = own.sliders['swing'].value, own.sliders['boom/bending_y1'].value
    assert np.allclose(shown_vertices(own), true_vertices(own, q), atol=1e-6)
    set_controls(own, factor=5.0, overlay='rigid arm')
    own.step(0.1)
    assert np.allclose(shown_vertices(own), true_vertices(own, q, 5.0), atol=1e-6)
    assert np.allclose(shown_vertices(own, 'overlay'), true_vertices(own, q, 0.0), atol=1e-6)
    assert own._overlay.visible
    assert 'deflection [m]' in own.controls['legend'].content
    set_controls(own, colour='strain', overlay='none')
    own.step(0.2)
    assert 'strain [m/m]' in own.controls['legend'].content and not own._overlay.visible


def test_vibrations_are_animated_one_by_one_and_static_deflection_follows_loads(view):
    own = view()
    dyn, _ = moving_arm()
    set_controls(own, shown='vibration', amplitude=0.05)
    own.step(0.0)
    options = own.controls['mode'].options
    every = vibrations(dyn, np.zeros(NQ))
    assert options == tuple(f'{k}: {each}' for k, each in enumerate(every, 1))
    for option, each in zip(options[:2], every):
        set_controls(own, mode=option)
        own.step(0.3)
        q = 0.05 * each.at(2.0 * np.pi * 0.5 * 0.3)
        assert np.allclose(shown_vertices(own), true_vertices(own, q), atol=1e-6)
    for mass in (0.0, 4.0):
        set_controls(own, shown='static deflection', mass=mass)
        own.step(0.4)
        q = static_deflection(dyn, np.zeros(NQ), True, 'tip', mass)
        assert np.allclose(shown_vertices(own), true_vertices(own, q), atol=1e-6)


def test_a_mechanism_is_drawn_closed(view, monkeypatch):
    dyn, drawn = four_bar(), {}
    own = view(dyn=dyn)
    for arm_ in (own._arm, own._overlay):
        def draw(q, *choices, arm_=arm_, before=arm_.draw):
            drawn[arm_] = q
            return before(q, *choices)

        monkeypatch.setattr(arm_, 'draw', draw)
    set_controls(own, crank=0.3, mass=20.0, link='coupler', overlay='rigid arm')
    for shown in ('sliders', 'static deflection', 'vibration'):
        set_controls(own, shown=shown)
        for now in (0.2, 0.4):
            own.step(now)
            assert own.controls['status'].content == ''
            bent, rigid = drawn[own._arm], drawn[own._overlay]
            for q in (bent, rigid):
                assert np.abs(dyn.loop_gaps(q)).max() < 1e-9
                assert q[0] == own.sliders['crank'].value
            assert (np.abs(bent[3:]).max() > 1e-6) == (shown != 'sliders')
            assert not rigid[3:].any()


def test_motions_play_beside_each_other_and_others_are_refused(view):
    _, motion = moving_arm()
    slower = motion.__class__(**{**vars(motion), 'q': 0.5 * motion.q})
    own = view(motions=(motion, slower))
    assert own.controls['shown'].value == 'recording'
    assert own.controls['time'].max == pytest.approx(0.4)
    own.step(100.0)
    own.step(100.1)
    row = 100
    assert np.allclose(shown_vertices(own), true_vertices(own, motion.q[row]), atol=1e-6)
    assert np.allclose(
        shown_vertices(own, 'overlay'), true_vertices(own, slower.q[row]), atol=1e-6)
    set_controls(own, play=False, time=0.3)
    own.step(200.0)
    assert np.allclose(shown_vertices(own), true_vertices(own, motion.q[300]), atol=1e-6)
    other = motion.__class__(**{**vars(motion), 'names': ('a',) * NQ})
    with pytest.raises(ArgumentError, match='other coordinates'):
        view(motions=(other,))


def test_what_is_shown_is_recorded_and_played(view):
    own = view()
    own._on_record(None)
    for k in range(10):
        set_controls(own, swing=0.1 * k)
        own.step(0.1 * k)
    own._on_record(None)
    assert own.controls['shown'].value == 'recording'
    set_controls(own, play=False, time=0.5)
    own.step(7.0)
    q = np.zeros(NQ)
    q[0] = 0.5
    assert np.allclose(shown_vertices(own), true_vertices(own, q), atol=2e-3)


def test_states_from_topics_are_drawn_with_the_computed_one(view):
    own = view(live=True)
    own.step(0.0)
    assert own.controls['status'].content == 'Waiting for topics.'
    for bands, drawn in zip(own._arm._bands, own._scene.at(np.zeros(NQ))):
        if not drawn.shape.pieces:  # others hold their place in their vertices
            assert np.allclose(bands[0].mesh.position, drawn.pose[:3, 3], atol=1e-9)
    q, second = np.zeros(NQ), np.zeros(NQ)
    q[:3], second[:3] = (0.2, 0.0, 0.03), (0.2, 0.0, 0.01)
    own.show(q, second)
    set_controls(own, overlay='second state')
    own.step(0.1)
    assert own.controls['status'].content == ''
    assert np.allclose(shown_vertices(own), true_vertices(own, q), atol=1e-6)
    assert np.allclose(shown_vertices(own, 'overlay'), true_vertices(own, second), atol=1e-6)


# Socket and command line.

@pytest.mark.parametrize('words', [
    (), pytest.param(('--host', '0.0.0.0'), marks=pytest.mark.slow)])
def test_the_server_binds_this_machine_alone_unless_a_host_is_given(tmp_path, words):
    psutil = pytest.importorskip('psutil', reason='psutil is not installed')
    pytest.importorskip('viser', reason='viser is not installed')
    (tmp_path / 'arm.urdf').write_text(arm())
    call = [sys.executable, '-m', 'flexdyn_ros', 'view', 'arm.urdf', '--port', '8431', '--json']
    with subprocess.Popen(
        [*call, *words], cwd=tmp_path, stdout=subprocess.PIPE,
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
    ) as process:
        try:
            lines = []
            while not lines or lines[-1] != b'}\n':
                lines.append(process.stdout.readline())
                assert lines[-1], 'the command ended'
            host = words[1] if words else '127.0.0.1'
            assert json.loads(b''.join(lines))['url'].startswith(f'http://{host}:84')
            assert listening(psutil.Process(process.pid)) == {host}
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_without_viser_the_command_names_what_to_install(tmp_path, monkeypatch, capsys):
    (tmp_path / 'arm.urdf').write_text(arm())
    monkeypatch.setitem(sys.modules, 'viser', None)
    assert main(['view', str(tmp_path / 'arm.urdf')]) == 1
    assert 'pip install viser' in capsys.readouterr().err


# Chromium.

def test_chromium_shows_the_bent_arm_and_its_controls(view):
    own = view()
    set_controls(own, **{'boom/bending_y1': 0.1})
    own.step(0.0)
    with browser_page() as page:
        page.goto(own.url)
        page.wait_for_selector('text=deflection [m]')
        page.wait_for_selector('text=boom/')
        words = page.inner_text('body')
        for name in ('swing', 'bending_y1', 'torsion1', 'factor', 'payload', 'Record'):
            assert name in words
        page.wait_for_function("document.querySelector('canvas') !== null")

        def arm_pixels():
            """Return the part beside the panel and the notice of a slow browser."""
            return picture(page, 0, 460)[180:]

        for _ in range(40):
            first = arm_pixels()
            if coloured(first).sum() > 500:
                break
            page.wait_for_timeout(250)
        assert coloured(first).sum() > 500
        set_controls(own, swing=0.8)
        own.step(0.1)
        for _ in range(40):
            later = arm_pixels()
            if (first != later).any(axis=-1).sum() > 500:
                break
            page.wait_for_timeout(250)
        assert (first != later).any(axis=-1).sum() > 500
        page.fill('input[value="0.8"]:visible', '-0.4')
        page.keyboard.press('Enter')
        for _ in range(40):
            if own.sliders['swing'].value == -0.4:
                break
            page.wait_for_timeout(250)
        assert own.sliders['swing'].value == -0.4
