# SPDX-License-Identifier: Apache-2.0
"""A folder with the models that the command line's tests read."""

from command import ARM, EXTENSION, FLEXIBLE_ARM
import pytest


@pytest.fixture(scope='session')
def folder(tmp_path_factory):
    """Return a folder with arm.urdf (rigid), flexible.xml (its extension) and flexible.urdf."""
    path = tmp_path_factory.mktemp('models')
    (path / 'arm.urdf').write_text(ARM)
    (path / 'flexible.xml').write_text(EXTENSION)
    (path / 'flexible.urdf').write_text(FLEXIBLE_ARM)
    return path
