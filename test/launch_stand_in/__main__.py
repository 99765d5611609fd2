# SPDX-License-Identifier: Apache-2.0
"""`python -m launch_stand_in LAUNCH_FILE [NAME:=VALUE ...]`."""

import sys

from launch_stand_in.run import main

if __name__ == '__main__':
    sys.exit(main())
