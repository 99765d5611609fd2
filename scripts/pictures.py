# SPDX-License-Identifier: Apache-2.0
"""Write pictures of examples and of the views in a browser into docs/pictures."""

import os
from pathlib import Path
import subprocess
import sys
import tempfile

import browser_pictures
from browser_pictures import WIDTH
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES, PICTURES = ROOT / 'examples', ROOT / 'docs' / 'pictures'
NEEDS_A_LAUNCH_FILE = 'draw_topics.py'


def command(example: Path, folder: Path) -> list[str]:
    """Return the command that makes an example write its picture into a folder."""
    name = example.name.partition('.')[0]
    picture = str(folder / f'{name}.png')
    if example.name.endswith('.launch.py'):
        return ['-m', 'launch_stand_in', str(example), f'picture:={picture}']
    arguments = {
        'animate_a_swing': [picture.replace('.png', '.gif')],
        'modes_from_a_file': [str(folder / 'modes.npz'), picture],
        'simulate_a_swing': [str(folder)],
    }
    return [str(example), *arguments.get(name, [picture])]


def keep(folder: Path) -> None:
    """Keep the pictures, small."""
    for path in folder.glob('*.gif'):
        path.rename(PICTURES / path.name)
    (folder / 'tip_deflection.png').rename(folder / 'simulate_a_swing.png')
    for unused in ('energy.png', 'joints.png', 'modes.png'):
        (folder / unused).unlink()
    for path in folder.glob('*.png'):
        with Image.open(path) as image:
            if image.mode != 'P':  # as the screenshots are, already
                width = WIDTH if image.width < 2 * image.height else 3 * WIDTH // 2
                size = (width, round(image.height * width / image.width))
                # A palette that keeps every hue, thin lines included.
                image = image.convert('RGB').resize(size, Image.Resampling.LANCZOS).quantize(
                    64, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
            image.save(PICTURES / path.name, optimize=True)


def main() -> None:
    """Run all examples and views and keep their pictures."""
    PICTURES.mkdir(exist_ok=True)
    environment = dict(os.environ, PYTHONPATH=f'{ROOT}{os.pathsep}{ROOT / "test"}')
    with tempfile.TemporaryDirectory(dir=ROOT / 'build') as name:
        for example in sorted(EXAMPLES.glob('*.py')):
            if example.name != NEEDS_A_LAUNCH_FILE:
                words = [sys.executable, *command(example, Path(name))]
                subprocess.run(words, check=True, env=environment, stdout=subprocess.DEVNULL)
                print(example.name, flush=True)
        browser_pictures.main(Path(name))
        keep(Path(name))


if __name__ == '__main__':
    main()
