# SPDX-License-Identifier: Apache-2.0
"""The package's public names, which are imported when they are first used."""

import inspect
from pathlib import Path
import pydoc
import re
import subprocess
import sys

import flexdyn_ros
import pytest


def test_every_public_name_is_there_and_listed():
    assert flexdyn_ros.__all__ == [
        '__version__', 'ActiveDamping', 'corrected_positions', 'CorrectedMotion',
        'CorrectionChoices', 'CorrectionRefused', 'damping_controller', 'Dynamics', 'FlexdynError',
        'generate', 'Identification', 'identify', 'identify_modes', 'linearise', 'LinearSystem',
        'load_robot', 'ModalObserver', 'Motion', 'QuasiStatic', 'reduced', 'Robot', 'simulate',
        'simulate_quasi_static', 'stable_inversion', 'TipPath', 'TipTrajectory', 'Trajectory',
        'TrajectoryPoints',
    ]
    assert set(flexdyn_ros.__all__) <= set(dir(flexdyn_ros))
    for name in flexdyn_ros.__all__[1:]:
        assert getattr(flexdyn_ros, name).__name__ == name
        assert getattr(flexdyn_ros, name).__module__.startswith('flexdyn_ros.')


def test_help_lists_every_public_name_in_a_group():
    """The docstring of the package is the head of help(), and the page of the Python API."""
    groups = re.findall(r'^(\w[\w ]*):\n((?:    .*\n)+)', flexdyn_ros.__doc__, re.MULTILINE)
    listed = [name for _, names in groups for name in re.findall(r'[\w.]+', names)]
    assert len(groups) > 8
    assert len(listed) == len(set(listed))
    methods = {name for name in dir(flexdyn_ros.Dynamics) if not name.startswith('_')}
    assert set(listed) == {
        *flexdyn_ros.__all__[1:], *(f'Dynamics.{name}' for name in methods),
    }
    assert pydoc.render_doc(flexdyn_ros).index('Closed chains:') < 5000


@pytest.mark.parametrize('name', [
    name for name, method in inspect.getmembers(flexdyn_ros.Dynamics, inspect.isfunction)
    if name[0] != '_' and 'out' in inspect.signature(method).parameters
])
def test_docstrings_of_numeric_methods_have_shapes_and_units(name):
    """Arguments and errors that all have in common are in the docstring of the class."""
    text = inspect.getdoc(getattr(flexdyn_ros.Dynamics, name)) + '\n'
    assert re.search(r'\((?:n\w+|[2-9](?:, |,)|\)).*?|\(\)', text), 'no shape'
    assert re.search(r'\[[^]]*(?:\b(?:N|J|W|m|kg|rad)\b|-)[^]]*\]', text), 'no unit'
    common = inspect.getdoc(flexdyn_ros.Dynamics)
    for argument in inspect.signature(getattr(flexdyn_ros.Dynamics, name)).parameters:
        documented = re.compile(rf'\b{argument}\b', re.IGNORECASE)
        assert argument == 'self' or documented.search(text) or documented.search(common)


def test_docstrings_of_properties_begin_without_a_colon():
    """Sphinx takes words before a colon as the type of a property."""
    classes = [each for name in flexdyn_ros.__all__[1:]
               if inspect.isclass(each := getattr(flexdyn_ros, name))]
    found = [(each.__name__, name, re.sub('`[^`]*`', '', inspect.getdoc(member)).split('\n')[0])
             for each in classes
             for name, member in inspect.getmembers(each, lambda one: isinstance(one, property))
             if not name.startswith('_')]
    assert len(found) > 20
    assert not [each for each in found if ':' in each[2]]


def test_a_name_is_the_one_of_its_module():
    from flexdyn_ros.errors import FlexdynError
    from flexdyn_ros.model.load import load_robot

    assert flexdyn_ros.FlexdynError is FlexdynError
    assert flexdyn_ros.load_robot is load_robot


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'flexdyn_ros' has no attribute 'dynamic'"):
        assert flexdyn_ros.dynamic
    assert not hasattr(flexdyn_ros, '__path_of_nothing__')
    with pytest.raises(ImportError):
        from flexdyn_ros import load_robots  # noqa: F401


@pytest.mark.parametrize(('statement', 'imported'), [
    ('import flexdyn_ros; dir(flexdyn_ros)', False),
    ('from flexdyn_ros import FlexdynError', False),
    ('from flexdyn_ros import load_robot', True),
    ('from flexdyn_ros import *', True),
])
def test_numpy_is_imported_when_it_is_needed(statement, imported):
    program = f'import sys\n{statement}\nsys.exit("numpy" in sys.modules)'
    root = Path(flexdyn_ros.__file__).parents[1]
    assert subprocess.run([sys.executable, '-c', program], cwd=root).returncode == imported
