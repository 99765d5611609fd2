# SPDX-License-Identifier: Apache-2.0
"""Pictures of the HTML page and of the view in a browser, as `make pictures` makes them."""

from io import BytesIO
from pathlib import Path
import sys

import airo_models
import flexdyn_ros as fd
from flexdyn_ros.simulation import TrackingTorque
from flexdyn_ros.visualization.browser_controls import RIGID, VIBRATION
from flexdyn_ros.visualization.browser_view import BrowserView
from flexdyn_ros.visualization.page import save_page
from flexdyn_ros.visualization.scene import Scene
import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

URDF = Path(__file__).resolve().parents[1] / 'urdf'
CHROMIUM = '/usr/bin/chromium'
ARGUMENTS = ('--no-sandbox', '--disable-gpu', '--disable-background-networking',
             '--disable-component-update', '--disable-sync', '--no-first-run')
WIDTH = 640  # [pixels]
FACTOR, EVERY = 20.0, 2  # of the deflection as drawn; frames of the page to one of the picture
FACTOR_TO = "f => { document.getElementById('factor').value = data.factors.indexOf(f); draw(); }"
FAINT = 0.35  # opacity of the rigid arm beside the bent one
TIMES = (0.0, 0.7, 1.4, 2.0)  # [s]
POINTS = ((-0.6, -1.4, 1.3, 0.0, 0.5, 0.0), (0.8, -0.8, 0.9, 0.4, 0.5, 0.0),
          (0.2, -1.6, 1.6, 0.0, 0.9, 0.0), (-0.6, -1.4, 1.3, 0.0, 0.5, 0.0))  # [rad]
KP, KD = (6e3, 6e3, 4e3, 500.0, 500.0, 500.0), (400.0, 400.0, 200.0, 20.0, 20.0, 20.0)


def ur5e() -> Scene:
    """Return the scene of the UR5e, with its payload and the meshes of its vendor."""
    path = Path(airo_models.get_urdf_path('ur5e'))
    robot = fd.load_robot(path.read_text('utf-8').replace('drake:', ''), base_dir=path.parent,
                          extension=URDF / 'ur5e_extension.flexdyn.xml')
    return Scene(fd.Dynamics(robot), path.parent)


def swing_page(scene: Scene, folder: Path) -> Path:
    """Return the page of a swing."""
    robot = scene.dyn.robot
    law = TrackingTorque(robot, TIMES, POINTS, kp=KP, kd=KD)
    q0 = np.concatenate((POINTS[0], np.zeros(robot.n_modes)))
    motion = fd.simulate(scene.dyn, q0, np.zeros(robot.nv), law, TIMES[-1], 1e-3)
    return save_page(motion, scene, folder / 'ur5e.html', FACTOR)


def shot(page, colours: int = 128) -> Image.Image:
    """Return the picture of a page, at most WIDTH wide, in few colours that cover all it has."""
    image = Image.open(BytesIO(page.screenshot())).convert('RGB')
    image.thumbnail((WIDTH, WIDTH))
    return image.quantize(
        colours, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)


def over_rigid(bent: bytes, rigid: bytes) -> Image.Image:
    """Return the picture of the bent arm, with the rigid one faint behind it."""
    front, behind = (
        np.asarray(Image.open(BytesIO(each)).convert('RGB'), float) for each in (bent, rigid))
    faint = 255.0 - FAINT * (255.0 - behind)
    return Image.fromarray(np.minimum(front, faint).astype(np.uint8)).quantize(
        64, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)


def page_pictures(browser, file: Path, folder: Path) -> None:
    """Keep the page with its controls, and a moving picture of the arm alone."""
    page = browser.new_page(viewport={'width': 800, 'height': 560})
    page.goto(file.as_uri())
    page.click('#play')
    page.evaluate('controls.zoomSpeed = 0, camera.position.lerp(centre, 0.25)')
    move = "k => { const e = document.getElementById('time'); e.value = k; e.oninput(); }"
    page.evaluate(move, 12)
    shot(page).save(folder / 'html_page.png')
    page.set_viewport_size({'width': 400, 'height': 340})
    page.add_style_tag(content='#bar, #head, #legend { display: none !important }')
    frames = []
    for k in range(0, page.evaluate('times.length'), EVERY):
        page.evaluate(move, k)
        pair = []
        for factor in (FACTOR, 0.0):
            page.evaluate(FACTOR_TO, factor)
            pair.append(page.screenshot())
        frames.append(over_rigid(*pair))
    frames[0].save(folder / 'bending_arm.gif', save_all=True, append_images=frames[1:],
                   duration=round(1000 * EVERY / 30), loop=0, optimize=True)


def view_picture(browser, scene: Scene, folder: Path) -> None:
    """Keep the view of a vibration beside the rigid arm."""
    view = BrowserView(scene, port=8480)
    for name, angle in zip(scene.dyn.robot.joint_names, POINTS[1]):
        view.sliders[name].value = angle
    for name, value in {'shown': VIBRATION, 'overlay': RIGID, 'amplitude': 0.1}.items():
        view.controls[name].value = value
    view.step(0.0)
    page = browser.new_page(viewport={'width': 1000, 'height': 720})
    page.goto(view.url)
    page.wait_for_selector('text=deflection [m]')
    page.wait_for_timeout(8000)
    page.locator('.mantine-Notification-closeButton').evaluate_all(
        'all => all.forEach((each) => each.click())')
    page.wait_for_timeout(2000)
    shot(page).save(folder / 'browser_view.png')
    page.close()
    view.stop()


def main(folder: Path) -> None:
    """Write the pictures into a folder."""
    scene = ur5e()
    file = swing_page(scene, folder)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page_pictures(browser, file, folder)
        view_picture(browser, scene, folder)
        browser.close()
    file.unlink()


if __name__ == '__main__':
    main(Path(sys.argv[1]))
