# SPDX-License-Identifier: Apache-2.0
"""
Prints which of the demonstration's needs this Python does not meet, as JSON.

Runs as a program, in the environment that the processes of the demonstration get.
"""

import importlib
import json
import sys

MODULES = (
    'rclpy',
    'diagnostic_msgs.msg',
    'geometry_msgs.msg',
    'lifecycle_msgs.srv',
    'rosgraph_msgs.msg',
    'sensor_msgs.msg',
    'std_msgs.msg',
    'std_srvs.srv',
    'trajectory_msgs.msg',
    'visualization_msgs.msg',
    'ament_index_python',
    'matplotlib',
    'numpy',
    'scipy',
    'urdf_parser_py',
    'xacro',
    'yaml',
)


def main() -> None:
    """Print a list of [module, error]."""
    missing = []
    for module in (*MODULES, *sys.argv[1:]):
        try:
            importlib.import_module(module)
        except ImportError as error:
            missing.append([module.partition('.')[0], str(error)])
        except Exception as error:  # noqa: B902 - a module that breaks is as bad as none
            missing.append([module.partition('.')[0], f'{type(error).__name__}: {error}'])
    print(json.dumps(missing))


if __name__ == '__main__':
    main()
