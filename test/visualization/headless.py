# SPDX-License-Identifier: Apache-2.0
"""Chromium without a display, and the content of its pictures."""

from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image
import pytest

CHROMIUM = Path('/usr/bin/chromium')
QUIET = ('--no-sandbox', '--disable-gpu', '--disable-background-networking',
         '--disable-component-update', '--disable-sync', '--no-first-run')
SIZE = {'width': 800, 'height': 600}


@contextmanager
def browser_page():
    """Yield a page; skip where there is no Chromium, or no playwright to drive it."""
    playwright = pytest.importorskip('playwright.sync_api', reason='playwright is not installed')
    if not CHROMIUM.exists():
        pytest.skip(f'there is no {CHROMIUM}')
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        try:
            page = browser.new_page(viewport=SIZE)
            page.set_default_timeout(60_000)
            page.failures = []
            page.on('pageerror', lambda error: page.failures.append(str(error)))
            yield page
            assert not page.failures
        finally:
            browser.close()


def picture(page, left=0, right=SIZE['width']):
    """Return a screenshot, (height, width, 3), between two columns."""
    with Image.open(BytesIO(page.screenshot())) as image:
        return np.array(image.convert('RGB')).astype(int)[:, left:right]


def coloured(pixels, least=40):
    """Return whether each pixel has a colour: its channels differ."""
    return np.ptp(pixels, axis=-1) > least
