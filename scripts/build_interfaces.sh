#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Build the messages that PyPI lacks into .venv for the tests: tf2_msgs, and control_msgs with
# FollowJointTrajectory alone. Never part of a release.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=${VENV:-$PWD/.venv}

wanted() { # PACKAGE: digest of the inputs of its build
  { find "interfaces/$1" -type f | sort | xargs cat
    cat scripts/build_interfaces.sh; grep '^ros-' requirements/test.txt; } | sha256sum
}
missing=()
for package in tf2_msgs control_msgs; do
  [ "$(cat "$venv/.ready-$package" 2>/dev/null)" = "$(wanted "$package")" ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v c++ >/dev/null; then
  echo "flexdyn_ros: no C++ compiler, so ${missing[*]} are not built and their tests are skipped. Fix:" >&2
  echo '  sudo apt-get install -y g++' >&2
  exit 0
fi
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

for package in "${missing[@]}"; do
  echo "Building $package for the tests ..."
  if { cmake -S "interfaces/$package" -B "$folder/$package" -Wno-dev -DBUILD_TESTING=OFF \
         -DCMAKE_PREFIX_PATH="$venv" -DCMAKE_INSTALL_PREFIX="$venv" \
         -DCMAKE_INSTALL_RPATH="$venv/lib" -DPython3_EXECUTABLE="$venv/bin/python" \
         -DPYTHON_INSTALL_DIR="$site" &&
       cmake --build "$folder/$package" --parallel 2 &&
       cmake --install "$folder/$package"; } > "$venv/$package.log" 2>&1
  then
    wanted "$package" > "$venv/.ready-$package"
  else
    tail -n 20 "$venv/$package.log" >&2
    echo "flexdyn_ros: building $package failed (log: $venv/$package.log); its tests are skipped." >&2
  fi
done
