# SPDX-License-Identifier: Apache-2.0
"""
Python programs in processes of their own, forked from one with their imports done.

A process of its own costs a second of imports otherwise, which is most of the time of tests of
commands and nodes. Run as a script this is the server. It imports the modules of its arguments,
reads requests from stdin, a JSON object a line, and answers each with a line.
"""

from functools import lru_cache
import gc
from importlib import import_module
from importlib.util import find_spec
import json
import os
from pathlib import Path
import runpy
import subprocess
import sys
import tempfile
import time

ROOT = Path(__file__).resolve().parents[1]
FILES = ('stdin', 'stdout', 'stderr')
# Imports of commands, where they are installed.
COMMANDS = (
    'flexdyn_ros.cli.main', 'flexdyn_ros.model.check', 'flexdyn_ros.robot_dynamics',
    'flexdyn_ros.simulation.integrate', 'flexdyn_ros.simulation.plot',
    'flexdyn_ros.simulation.vibrations', 'urdf_parser_py.urdf', 'scipy.optimize',
    'matplotlib.backends.backend_agg', 'matplotlib.figure',
)
_servers = []


class Forked:
    """A program in a fork; `poll`, `wait` and the signals are those of subprocess.Popen."""

    def __init__(self, modules, words, cwd, env, **files):
        """
        Start a program.

        Args:
            modules: Tuple of the modules that the server has imported.
            words: Name of the module, or path of the script, and its arguments.
            cwd: Folder that it runs in.
            env: Its whole environment.
            files: Paths for stdin, stdout and stderr; /dev/null by default.
        """
        self._server = _server(modules)
        self._code = None
        self.pid = _ask(self._server, {
            'words': [*map(str, words)], 'cwd': str(cwd), 'env': env,
            'files': [str(files.get(name, os.devnull)) for name in FILES],
        })

    def poll(self):
        """Return the exit code, the negative number of the signal, or None while it runs."""
        if self._code is None:
            self._code = _ask(self._server, self.pid)
        return self._code

    def wait(self, timeout):
        """Return the exit code as soon as there is one."""
        end = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired('fork', timeout)
            time.sleep(0.005)
        return self._code

    def send_signal(self, number):
        """Send a signal unless the program has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


def run_forked(modules, words, cwd, env, text=''):
    """Run a program in a fork with text on its stdin; return the completed process."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder) / name for name in FILES}
        files['stdin'].write_text(text)
        code = Forked(modules, words, cwd, env, **files).wait(120.0)
        out, err = (files[name].read_text() for name in FILES[1:])
    return subprocess.CompletedProcess(words, code, out, err)


@lru_cache(maxsize=None)
def _server(modules):
    _servers.append(subprocess.Popen(
        [sys.executable, __file__, *modules], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, env={**os.environ, 'PYTHONPATH': str(ROOT)},
    ))
    return _servers[-1]


def _ask(server, request):
    server.stdin.write(json.dumps(request) + '\n')
    server.stdin.flush()
    return json.loads(server.stdout.readline())


def close_servers():
    """End all servers."""
    while _servers:
        server = _servers.pop()
        server.communicate()


def _code_of(pid):
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _run(words, cwd, env, files):
    for number, (path, flags) in enumerate(zip(files, ('r', 'a', 'a'), strict=True)):
        with open(path, flags) as opened:
            os.dup2(opened.fileno(), number)
    sys.stdin = open(0, closefd=False)
    sys.stdout = open(1, 'w', buffering=1, closefd=False)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = words
    sys.path[1:1] = filter(None, env.get('PYTHONPATH', '').split(os.pathsep))
    if words[0].endswith('.py'):
        sys.path[0] = os.path.dirname(words[0])
        runpy.run_path(words[0], run_name='__main__')
    else:
        sys.path[0] = cwd
        sys.modules.pop(words[0], None)  # imported by the server, and run anew
        runpy.run_module(words[0], run_name='__main__', alter_sys=True)


def _serve(modules):
    for name in modules:
        if find_spec(name.partition('.')[0]):
            import_module(name)
    gc.freeze()  # collections of the forks leave the pages of the server alone
    while line := sys.stdin.readline():
        request = json.loads(line)
        if isinstance(request, int):
            answer = _code_of(request)
        elif (answer := os.fork()) == 0:
            return request
        print(answer if answer is not None else 'null', flush=True)
    return None


if __name__ == '__main__':
    _request = _serve(sys.argv[1:])
    if _request is not None:  # in a fork, which ends as any program does
        _run(**_request)
