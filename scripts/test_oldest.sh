#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tests without ROS, on the oldest numpy and scipy that are supported, in .venv-oldest.
# OLDEST_PYTHON=... names a Python 3.10 that is not on the PATH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=$PWD/.venv-oldest
wanted=$(cat requirements/oldest.txt scripts/test_oldest.sh | sha256sum)

find_python() {
  local python
  for python in "${OLDEST_PYTHON:-python3.10}" python3 "$HOME"/.pyenv/versions/3.10.*/bin/python; do
    if [ "$("$python" -c 'import ensurepip, sys, venv; print(sys.version_info[:2])' 2>/dev/null)" = '(3, 10)' ]
    then command -v "$python"; return; fi
  done
  echo 'flexdyn_ros: numpy 1.21.5 needs Python 3.10. Name one: make test-oldest OLDEST_PYTHON=/path/to/python3.10' >&2
  return 1
}

if [ "$(cat "$venv/.ready" 2>/dev/null)" != "$wanted" ]; then
  python=$(find_python)
  rm -rf "$venv"
  "$python" -m venv "$venv"
  unset PIP_TARGET PIP_PREFIX PIP_ROOT
  PIP_USER=0 "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    -r requirements/oldest.txt
  "$venv/bin/python" -c 'import numpy, scipy
assert (numpy.__version__, scipy.__version__) == ("1.21.5", "1.8.0")'
  # The package, for programs that tests start in other folders.
  echo "$PWD" > "$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/flexdyn_ros.pth"
  echo "$wanted" > "$venv/.ready"
fi
# Left out: demo, launching and packaging, which are about ROS and the installed package.
places=(test/test_*.py test/ros2_control/test_active_damping.py)
for folder in cli codegen counts dynamics examples identification linearisation modal_observer \
  modal_testing model nodes position_correction robots scenario simulation symbolic tip_tracking \
  validation visualization
do
  places+=("test/$folder")
done
exec "$venv/bin/python" -m pytest -q --timeout=600 -m 'not ros and not oracle and not slow' \
  "${places[@]}" "$@"
