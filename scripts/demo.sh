#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run the demo in the environment that `make setup` made; arguments are passed on.
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/env.sh" flexdyn demo "$@"
