# SPDX-License-Identifier: Apache-2.0
"""
Run `flexdyn` many times, each in a process of its own, without paying for the imports each time.

Reads a JSON list of argument lists from stdin and writes a JSON list of [exit code, stdout,
stderr]. Each call is a fork that runs the module as `python -m flexdyn_ros` does.
"""

import json
import os
import runpy
import sys
import tempfile
import traceback

import flexdyn_ros.cli.main  # noqa: F401  (imported before the forks)
import flexdyn_ros.model.check  # noqa: F401
import flexdyn_ros.robot_dynamics  # noqa: F401


def _run_module(words):
    sys.argv = ['flexdyn', *words]
    try:
        runpy.run_module('flexdyn_ros', run_name='__main__')
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 70  # EX_SOFTWARE of sysexits.h: neither of the codes that are allowed
    return 0


def run(words):
    """Return exit code, stdout and stderr of one call."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            code = _run_module(words)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode())
    return [code, *texts]


if __name__ == '__main__':
    print(json.dumps([run(words) for words in json.load(sys.stdin)]))
