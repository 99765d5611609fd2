#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/setup.sh run|docs|test|validate: make .venv with the needs of the demo. docs adds the site
# of documents, test the tests, validate also the comparison with other codes.
# A second call with nothing changed returns at once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
level=${1:-run}
venv=$PWD/.venv

requirements=(-r requirements/run.txt)
options=(--no-cache-dir)  # the demo leaves nothing outside this folder
if [ "$level" != run ]; then options=(); fi
case $level in
  docs) requirements+=(-r requirements/docs.txt) ;;
  test) requirements+=(-r requirements/test.txt) ;;
  validate) requirements+=(-r requirements/test.txt -r requirements/validate.txt) ;;
esac

wanted=$({ echo "$PWD"; cat requirements/*.txt package.xml pyproject.toml setup.py setup.cfg \
  scripts/setup.sh scripts/link_package.py; } | sha256sum | cut -d' ' -f1)
matches() { [ "$(cat "$venv/.ready-$1" 2>/dev/null)" = "$wanted" ]; }
minor() { "$1" -I -S -c 'import sys; print("%d%d" % sys.version_info[:2])' 2>/dev/null; }
# PYTHON=... rebuilds an environment that another Python made.
same_python() { [ -z "${PYTHON:-}" ] || [ "$(minor "$PYTHON")" = "$(minor "$venv/bin/python")" ]; }

# Levels that hold all of this one.
case $level in
  run) enough='run docs test validate' ;;
  test) enough='test validate' ;;
  *) enough=$level ;;
esac
for one in $enough; do
  if same_python && matches "$one"; then exit 0; fi
done

python=$(scripts/find_python.sh)
# A folder that was moved leaves scripts that point to the old place.
if ! minor "$venv/bin/python" >/dev/null || ! same_python ||
   [ "$(cat "$venv/.made-at" 2>/dev/null)" != "$PWD" ]; then
  rm -rf "$venv"
  "$python" -m venv "$venv"
  echo "$PWD" > "$venv/.made-at"
fi
version=$(minor "$venv/bin/python")
rm -f "$venv/.ready-$level"

# Settings of the user's pip that would install elsewhere.
unset PIP_TARGET PIP_PREFIX PIP_ROOT PIP_REQUIRE_VIRTUALENV
export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
pip=("$venv/bin/python" -m pip install --quiet --constraint "requirements/constraints-py$version.txt")

echo "Setting up .venv for the ${level/run/demo} (Python ${version:0:1}.${version:1}); the first time takes minutes ..."
# A dot every second on a terminal, while pip is quiet.
if [ -t 1 ]; then
  while sleep 1; do printf .; done & dots=$!
  trap 'kill "$dots"; echo' EXIT
fi
if ! { "${pip[@]}" "${options[@]}" setuptools wheel &&
       "${pip[@]}" "${options[@]}" "${requirements[@]}"; }; then
  echo 'flexdyn_ros: installing from PyPI failed. Is there a network, and 2 GB of free disk?' >&2
  echo 'Behind a mirror, set PIP_INDEX_URL; then run the same command again.' >&2
  exit 1
fi
"${pip[@]}" --no-deps --no-build-isolation --use-pep517 --editable .
"$venv/bin/python" scripts/link_package.py "$venv"
echo "$wanted" > "$venv/.ready-$level"
if [ "$level" = validate ]; then echo "$wanted" > "$venv/.ready-test"; fi
