# SPDX-License-Identifier: Apache-2.0
"""Run the scenarios of examples/scenarios and draw them into docs/pictures/scenarios."""

from pathlib import Path
import sys
import tempfile

from flexdyn_ros.scenario import load, run
from flexdyn_ros.simulation.plot import save_plots
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
SCENARIOS, PICTURES = ROOT / 'examples' / 'scenarios', ROOT / 'docs' / 'pictures' / 'scenarios'
SHOWN = ('joints.png', 'tip_deflection.png', 'frames.png')
WIDTH = 480  # of one figure [pixels]


def draw(file: Path) -> Path:
    """Run a scenario and draw its joints, tips and frames beside each other."""
    found = run(load(file))
    with tempfile.TemporaryDirectory() as folder:
        save_plots(found.motion, folder, found.references, found.frames)
        images = []
        for name in SHOWN:
            path = Path(folder) / name
            if path.exists():
                with Image.open(path) as image:
                    size = (WIDTH, round(image.height * WIDTH / image.width))
                    images.append(image.convert('RGB').resize(size))
    sheet = Image.new(
        'RGB', (WIDTH * len(images), max(image.height for image in images)), 'white')
    for k, image in enumerate(images):
        sheet.paste(image, (k * WIDTH, 0))
    picture = PICTURES / f'{file.stem}.png'
    sheet.quantize(32).save(picture, optimize=True)
    return picture


def main() -> None:
    """Draw the scenarios that the call names, or all."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    chosen = [SCENARIOS / f'{name}.yaml' for name in sys.argv[1:]]
    for file in chosen or sorted(SCENARIOS.glob('*.yaml')):
        print(draw(file).relative_to(ROOT), flush=True)


if __name__ == '__main__':
    main()
