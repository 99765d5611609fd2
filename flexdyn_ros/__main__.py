# SPDX-License-Identifier: Apache-2.0
"""`python -m flexdyn_ros` is the `flexdyn` command."""

import sys

from flexdyn_ros.cli.main import main

if __name__ == '__main__':
    sys.exit(main())
