# SPDX-License-Identifier: Apache-2.0
"""
Frames a second of the view in a browser, measured in headless Chromium.

The link of an arm is a mesh of 20 000 vertices that bends. The view draws a new state 30 times a
second. Three rates are counted:

    sent        states that the view has drawn
    delivered   states whose vertices the page's script has received
    rendered    frames between two calls of requestAnimationFrame in which WebGL buffers of
                vertices are written and something is drawn

Run: python -m benchmarks.browser_view [--vertices N] [--seconds T] [--single-samples]
"""

import argparse
from pathlib import Path
import tempfile
import threading
import time

import flexdyn_ros as fd
from flexdyn_ros.visualization.browser_view import BrowserView
from flexdyn_ros.visualization.scene import Scene
import numpy as np
from playwright.sync_api import Page, sync_playwright
import trimesh

WIDTH, HEIGHT = 480, 360  # of the window [pixels]
LENGTH, SETTLED = 1.2, 4.0  # [m], [s] after the first frames
URDF = f"""<robot name="arm"><link name="base"/><link name="tip"/>
  <link name="boom"><visual><geometry><mesh filename="boom.stl"/></geometry></visual></link>
  <joint name="swing" type="continuous"><parent link="base"/><child link="boom"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="end" type="fixed"><parent link="boom"/><child link="tip"/>
    <origin xyz="{LENGTH} 0 0"/></joint>
  <flexdyn version="1.0"><flexible_link link="boom">
    <beam tip="tip" young="7e10" shear="2.6e10" area="1e-3" iy="4e-8" iz="4e-8" j="8e-8"
          mass="2"><bending axis="y" modes="2"/><bending axis="z" modes="2"/></beam>
  </flexible_link></flexdyn></robot>"""
# States received from the worker that reads the socket; frames that are drawn with new vertices.
COUNTER = """
window.states = window.frames_with_vertices = window.frames = 0;
let written = false, drawn = false;
const Reader = window.Worker;
window.Worker = class extends Reader {
  constructor(...all) {
    super(...all);
    this.addEventListener('message', (event) => {
      const sent = event.data.type === 'message_batch' ? event.data.messages : [];
      if (sent.some((each) => each.updates && each.updates.vertices)) window.states += 1;
    });
  }
};
const own = WebGL2RenderingContext.prototype;
for (const name of ['bufferData', 'bufferSubData']) {
  const call = own[name];
  own[name] = function (...all) {
    const sent = all.find((each) => each instanceof Float32Array);
    if (sent && sent.length > 1000) written = true;
    return call.apply(this, all);
  };
}
const elements = own.drawElements;
own.drawElements = function (...all) { drawn = true; return elements.apply(this, all); };
const frame = () => {
  if (drawn) window.frames += 1;
  if (written && drawn) window.frames_with_vertices += 1;
  written = drawn = false;
  requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
"""
# Smoothing as viser leaves it on: each pixel of an edge is computed from four samples.
SINGLE_SAMPLES = """
const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, given) {
  return get.call(this, kind, {...given, antialias: false});
};
"""
ARGUMENTS = ('--no-sandbox', '--disable-gpu', '--disable-background-networking',
             '--disable-component-update', '--disable-sync', '--no-first-run')


def bending_scene(vertices: int, folder: Path) -> Scene:
    """Return an arm whose link is a tube with about so many vertices."""
    sections = 100
    rings = vertices // sections
    angles = np.linspace(0.0, 2.0 * np.pi, sections, endpoint=False)
    along = np.repeat(np.linspace(0.0, LENGTH, rings), sections)
    around = np.tile(0.05 * np.stack([np.cos(angles), np.sin(angles)], axis=1), (rings, 1))
    k = np.arange(sections * (rings - 1))
    side = k - k % sections + (k + 1) % sections
    faces = np.concatenate([np.stack([k, side, k + sections], axis=1),
                            np.stack([side, side + sections, k + sections], axis=1)])
    trimesh.Trimesh(np.column_stack((along, around)), faces).export(folder / 'boom.stl')
    dyn = fd.Dynamics(fd.load_robot(URDF))
    return Scene(dyn, folder, triangles=10 * vertices)


def measure(scene: Scene, seconds: float, script: str) -> np.ndarray:
    """Return states sent, delivered and rendered, and all frames rendered, a second."""
    view = BrowserView(scene, port=8090, live=True)
    ended, count = threading.Event(), [0]

    def draw():
        while not ended.is_set():
            start = time.monotonic()
            q = np.array([0.2 * np.sin(start), 0.05 * np.sin(3.0 * start), 0.0, 0.0, 0.0])
            view.show(q)
            view.step(start)
            count[0] += 1
            time.sleep(max(0.0, 1.0 / 30.0 - (time.monotonic() - start)))

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path='/usr/bin/chromium', args=ARGUMENTS)
            page = browser.new_page(viewport={'width': WIDTH, 'height': HEIGHT})
            page.add_init_script(script)
            page.goto(view.url)
            page.wait_for_function('window.frames_with_vertices > 10', timeout=120_000)
            page.wait_for_timeout(1000.0 * SETTLED)
            start, before = time.monotonic(), counted(page, count)
            page.wait_for_timeout(1000.0 * seconds)
            rates = (counted(page, count) - before) / (time.monotonic() - start)
            browser.close()
    finally:
        ended.set()
        thread.join()
        view.stop()
    return rates


def counted(page: Page, count: list[int]) -> np.ndarray:
    """Return the counts so far, in the order of `measure`."""
    return np.array(
        count + page.evaluate('[window.states, frames_with_vertices, window.frames]'))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--vertices', type=int, default=20_000)
    parser.add_argument('--seconds', type=float, default=5.0)
    parser.add_argument('--single-samples', action='store_true',
                        help='without the antialiasing that viser asks for')
    call = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scene = bending_scene(call.vertices, Path(folder))
        (shape,) = [shape for shape in scene.shapes if shape.pieces]
        script = COUNTER + SINGLE_SAMPLES * call.single_samples
        sent, delivered, drawn, frames = measure(scene, call.seconds, script)
    print(f'{len(shape.surface.vertices)} vertices that bend, states a second: {sent:.1f} sent, '
          f'{delivered:.1f} delivered to the page, {drawn:.1f} rendered by Chromium in '
          f'{frames:.1f} frames')


if __name__ == '__main__':
    main()
