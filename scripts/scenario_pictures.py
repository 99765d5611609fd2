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
COLUMNS = (('joints.png',), ('tip_deflection.png', 'frames.png'))
WIDTH = 480  # of one figure [pixels]


def draw(file: Path) -> Path:
    """Run a scenario and draw its joints, and beside them its tips and frames."""
    found = run(load(file))
    with tempfile.TemporaryDirectory() as folder:
        save_plots(found.motion, folder, found.references, found.frames)
        columns = [[_small(Path(folder) / name) for name in column
                    if (Path(folder) / name).exists()] for column in COLUMNS]
    columns = [column for column in columns if column]
    height = max(sum(image.height for image in column) for column in columns)
    sheet = Image.new('RGB', (WIDTH * len(columns), height), 'white')
    for k, column in enumerate(columns):
        top = 0
        for image in column:
            sheet.paste(image, (k * WIDTH, top))
            top += image.height
    picture = PICTURES / f'{file.stem}.png'
    # As a palette that keeps every hue, thin lines included.
    sheet.quantize(96, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE).save(
        picture, optimize=True)
    return picture


def _small(path: Path) -> Image.Image:
    """Return a picture at WIDTH."""
    with Image.open(path) as image:
        size = (WIDTH, round(image.height * WIDTH / image.width))
        return image.convert('RGB').resize(size, Image.Resampling.LANCZOS)


def main() -> None:
    """Draw the scenarios that the call names, or all."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    chosen = [SCENARIOS / f'{name}.yaml' for name in sys.argv[1:]]
    for file in chosen or sorted(SCENARIOS.glob('*.yaml')):
        print(draw(file).relative_to(ROOT), flush=True)


if __name__ == '__main__':
    main()
