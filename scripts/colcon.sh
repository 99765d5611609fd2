#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/colcon.sh build|test [FOLDER]: the package through colcon, as on a machine with ROS 2.
# Results go to build/, install/ and log/ below FOLDER (the repository by default).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
verb=$1
folder=${2:-$root}
mkdir -p "$folder"
cd "$folder"
export ROS_VERSION=2 ROS_PYTHON_VERSION=3 COLCON_LOG_LEVEL=40
# Tests of a freshly built workspace, of a minute: manifest, linters, isolation, the model from URDF
# and the parameters of the nodes. `make test` runs everything.
quick=(test/packaging test/model/test_urdf.py test/model/test_extension.py
  test/nodes/test_parameters.py)
places=(--base-paths "$root" --build-base build --install-base install)
case $verb in
  build)
    python -m colcon --log-base log build "${places[@]}" --event-handlers console_direct+ ;;
  test)
    python -m colcon --log-base log test "${places[@]}" --return-code-on-test-failure \
      --event-handlers console_direct+ --pytest-args -q -m 'not slow and not oracle' \
      "${quick[@]/#/$root/}" ;;
esac
