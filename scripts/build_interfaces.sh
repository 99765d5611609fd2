#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Build tf2_msgs, which PyPI lacks, into .venv for the tests of TF. Never part of a release.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=$PWD/.venv
stamp=$venv/.ready-tf2_msgs
wanted=$({ cat interfaces/tf2_msgs/{CMakeLists.txt,package.xml,msg/*} scripts/build_interfaces.sh
           grep '^ros-' requirements/test.txt; } | sha256sum)
[ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || exit 0

if ! command -v c++ >/dev/null; then
  echo 'flexdyn_ros: no C++ compiler, so tf2_msgs is not built and the tests of TF are skipped. Fix:' >&2
  echo '  sudo apt-get install -y g++' >&2
  exit 0
fi
echo 'Building tf2_msgs for the tests ...'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The CMake files of the wheels name the include folders of the machine that built them.
eval "$("$venv/bin/python" -c 'import numpy, sysconfig
print("include=%s numpy=%s site=%s" % (
    sysconfig.get_paths()["include"], numpy.get_include(),
    sysconfig.get_paths()["purelib"][len(sysconfig.get_paths()["data"]) + 1:]))')"
{ grep -rl '/opt/python/cp3' "$venv"/share/*/cmake || true; } | xargs -r sed -i -E \
  -e "s#/opt/python/cp[0-9]+-cp[0-9]+/lib/python3\.[0-9]+/site-packages/numpy/_?core/include#$numpy#g" \
  -e "s#/opt/python/cp[0-9]+-cp[0-9]+/include/python3\.[0-9]+#$include#g"

if ! { cmake -S interfaces/tf2_msgs -B "$folder" -Wno-dev -DBUILD_TESTING=OFF \
         -DCMAKE_PREFIX_PATH="$venv" -DCMAKE_INSTALL_PREFIX="$venv" \
         -DCMAKE_INSTALL_RPATH="$venv/lib" -DPython3_EXECUTABLE="$venv/bin/python" \
         -DPYTHON_INSTALL_DIR="$site" &&
       cmake --build "$folder" --parallel 2 && cmake --install "$folder"; } > "$venv/tf2_msgs.log" 2>&1
then
  tail -n 20 "$venv/tf2_msgs.log" >&2
  echo "flexdyn_ros: building tf2_msgs failed (log: $venv/tf2_msgs.log); the tests of TF are skipped." >&2
  exit 0
fi
echo "$wanted" > "$stamp"
