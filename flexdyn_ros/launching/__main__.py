# SPDX-License-Identifier: Apache-2.0
"""`python -m flexdyn_ros.launching LAUNCH_FILE [NAME:=VALUE ...]`."""

import sys

from flexdyn_ros.launching.run import main

if __name__ == '__main__':
    sys.exit(main())
