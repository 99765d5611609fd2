# SPDX-License-Identifier: Apache-2.0
"""
The environment that `make test` sets up has all that tests would otherwise be skipped for.

Elsewhere, as below colcon or on the oldest numpy, tests without their oracle are skipped with a
reason. Here no need may be missing but a compiler, which the machine may lack.
"""

import ast
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
import re
import shutil
import sys

from clean_environment import ROOT
import pytest
from source_files import imported_modules, syntax_nodes

in_full_environment = pytest.mark.skipif(
    not (Path(sys.prefix) / '.ready-test').exists(),
    reason='this is another environment than the one that `make test` sets up',
)

NOT_ON_PYPI = {'launch', 'launch_ros', 'control_msgs'}
"""Packages that test/launch_stand_in stands in for, and messages that the nodes do without."""

FOR_VALIDATION = {'exudyn', 'ngsolve'}
"""Codes that `make validate` installs; a case names those that are missing."""


def requirements():
    """Return (name, exact version or None) of all that `make test` installs."""
    for file in ('run.txt', 'test.txt'):
        for line in (ROOT / 'requirements' / file).read_text().splitlines():
            if line and not line.startswith('#'):
                name, _, exact = line.partition('==')
                yield re.split(r'[=<>~! ]', name)[0], exact or None


@in_full_environment
def test_every_requirement_is_installed():
    """A wheel that someone removed, or that another version replaced, is named."""
    wrong = []
    for name, exact in requirements():
        try:
            found = version(name)
        except PackageNotFoundError:
            found = 'nothing'
        if found == 'nothing' or (exact and found != exact):
            wrong.append(f'{name}: {found} in place of {exact or "any version"}')
    assert not wrong


def modules_asked_for():
    """Return every module without which a test is skipped."""
    for _, node in syntax_nodes('test'):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith('importorskip'):
            yield ast.literal_eval(node.args[0])


def test_codes_for_validation_are_those_that_make_validate_installs():
    """`requirements/validate.txt` names them."""
    lines = (ROOT / 'requirements' / 'validate.txt').read_text().splitlines()
    assert {line for line in lines if not line.startswith('#')} == FOR_VALIDATION


@pytest.mark.slow
@in_full_environment
def test_every_module_of_the_tests_can_be_imported():
    """Oracles, message packages and tools are there, and their libraries load."""
    asked_for = set(modules_asked_for()) - FOR_VALIDATION
    assert {'pinocchio', 'mujoco', 'xacro', 'colcon_core'} <= asked_for
    own = {path.stem for path in (ROOT / 'test').rglob('*')}
    own |= {'benchmarks', 'setup', 'validation'}
    needed = imported_modules('test', 'examples', 'flexdyn_ros', 'validation') - own - NOT_ON_PYPI
    extras = {'pyNastran', 'gmsh'}  # their errors name them; gmsh needs libraries of X11
    asked_for -= extras
    needed -= FOR_VALIDATION | extras
    assert {'pycparser', 'rclpy', 'sensor_msgs'} <= needed
    if shutil.which('c++') is None:
        # Built from source, see scripts/build_interfaces.sh.
        asked_for -= {'tf2_msgs.msg', 'control_msgs.action'}
        needed.discard('tf2_msgs')
    wrong = []
    for name in sorted(asked_for | needed):
        try:
            import_module(name)
        except ImportError as error:
            wrong.append(str(error))
    assert not wrong


def test_every_reason_for_a_skip_is_stated():
    """`make test` lists skipped tests; each line names the requirement."""
    silent = [
        f'{path}:{node.lineno}'
        for path, node in syntax_nodes('test')
        if isinstance(node, ast.Call) and not _states_reason(node)
    ]
    assert not silent


def _states_reason(call):
    name = ast.unparse(call.func).split('.')[-1]
    if name in ('importorskip', 'skipif'):
        return any(keyword.arg == 'reason' for keyword in call.keywords)
    if ast.unparse(call.func) in ('pytest.skip', 'pytest.mark.skip', 'pytest.xfail'):
        return bool(call.args or call.keywords)
    return True
