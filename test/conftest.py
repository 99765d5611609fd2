# SPDX-License-Identifier: Apache-2.0
"""
Keep every test run apart from other ROS programs, however pytest was started.

The run gets a DDS domain of its own that no packet leaves the machine from. When another ROS is
sourced in the shell, pytest starts again without it: effects of LD_LIBRARY_PATH and PYTHONPATH on
a running process cannot be undone.
"""

import gc
import importlib.util
import os
from pathlib import Path
import shutil
import signal
import sys
import tempfile

from fork_server import close_servers
import pytest
from simplified import simplified, simplified_once  # noqa: F401  (fixtures)

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))  # benchmarks and validation, which are not installed
_RESTARTED = 'FLEXDYN_TESTS_RESTARTED'
# Before tests load numpy: threads of BLAS that wait for a core take the time of other tests.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
FLAGS, QUICK = 'FLEXDYN_CFLAGS', '-O0'
_run = {}


def _load_isolation():
    """Load the module as a file: importing the package here would be too early for a restart."""
    path = ROOT / 'flexdyn_ros' / 'isolation.py'
    spec = importlib.util.spec_from_file_location('_flexdyn_isolation', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


isolation = _load_isolation()


def _has_own_ros() -> bool:
    """Return whether ROS 2 is part of this virtual environment, rather than of the machine."""
    return (Path(sys.prefix) / 'share/ament_index/resource_index/packages/rclpy').exists()


def _foreign_paths_in_use() -> bool:
    """Return whether libraries or modules of another ROS can reach this process."""
    entries = [
        entry
        for name in isolation.PATH_VARIABLES
        for entry in os.environ.get(name, '').split(os.pathsep)
        if entry and not Path(entry).is_relative_to(sys.prefix)
    ]
    # Set by the wheels after they have extended the path; inherited alone it stops them.
    half_set = '_ROS_WHEELS_BOOTSTRAP_COMPLETE' in os.environ and (
        str(Path(sys.prefix) / 'lib')
        not in os.environ.get('LD_LIBRARY_PATH', '').split(os.pathsep)
    )
    return bool(entries) or half_set or 'PYTHONHOME' in os.environ


def _restart_without_foreign(config) -> None:
    """Run the same pytest again in a clean environment; does not return."""
    capture = config.pluginmanager.getplugin('capturemanager')
    if capture is not None:
        capture.stop_global_capturing()
    sys.stdout.flush()
    environment = isolation.without_foreign(os.environ)
    environment[_RESTARTED] = '1'
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


def pytest_configure(config):
    """Claim a domain and set, never inherit, the variables that keep DDS on this machine."""
    # Below colcon the paths are the workspace's, and on a machine with ROS they are ROS itself.
    if _has_own_ros() and 'COLCON' not in os.environ and _RESTARTED not in os.environ:
        if _foreign_paths_in_use():
            _restart_without_foreign(config)
    os.environ.pop(_RESTARTED, None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # Started in the background of a script; processes under test would inherit it.
        signal.signal(signal.SIGINT, signal.default_int_handler)

    for name in list(os.environ):
        if isolation.steers_network(name):
            del os.environ[name]
    _run['claim'] = isolation.DomainClaim()
    _run['logs'] = tempfile.mkdtemp(prefix='flexdyn_ros_test_log_')
    os.environ.update(isolation.network_variables(_run['claim'].domain_id))
    os.environ['ROS_LOG_DIR'] = _run['logs']
    os.environ['ROS_PYTHON_CHECK_FIELDS'] = '1'
    if config.getoption('markexpr') == 'not slow':
        # Compiles three times as fast; `make test-all` compiles as on a user's machine.
        os.environ.setdefault(FLAGS, QUICK)
    if _has_own_ros():
        # Programs that tests start find this environment first, as under scripts/env.sh.
        prefix = Path(sys.prefix)
        os.environ.setdefault('AMENT_PREFIX_PATH', str(prefix))
        if str(prefix / 'bin') not in os.environ.get('PATH', '').split(os.pathsep):
            os.environ['PATH'] = os.pathsep.join([str(prefix / 'bin'), os.environ['PATH']])


def pytest_unconfigure(config):
    """Give the domain back, remove the logs of the nodes and end the servers of forks."""
    close_servers()
    if 'claim' in _run:
        _run.pop('claim').release()
        shutil.rmtree(_run.pop('logs'), ignore_errors=True)


def pytest_collection_finish(session):
    """Freeze objects that live as long as the run: garbage collection takes a twentieth."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture
def user_flags(monkeypatch):
    """Compile as on a user's machine, where `make test` compiles without optimising."""
    monkeypatch.delenv(FLAGS, raising=False)


def pytest_runtest_setup(item):
    """Skip tests marked `ros` where rclpy is not installed, and name the remedy."""
    if item.get_closest_marker('ros') and importlib.util.find_spec('rclpy') is None:
        pytest.skip('rclpy is not installed here: `make test` installs it')


def pytest_terminal_summary(terminalreporter):
    """Print the measured numbers that tests recorded as the property "measured"."""
    for report in terminalreporter.stats.get('passed', []):
        for name, text in report.user_properties:
            if name == 'measured':
                terminalreporter.section(report.nodeid)
                terminalreporter.write_line(text)
