#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/env.sh COMMAND ...: run a command with the ROS 2 of .venv, apart from any other ROS.
# VENV=... names another environment.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Before any Python starts: these could break or redirect it.
unset LD_LIBRARY_PATH PYTHONHOME PYTHONPATH
prefix=${VENV:-$root/.venv}
python=$prefix/bin/python
[ -x "$python" ] || python=$("$root/scripts/find_python.sh")
exec "$python" -I -S "$root/scripts/isolated.py" --prefix "$prefix" "$@"
