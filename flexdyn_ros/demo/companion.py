# SPDX-License-Identifier: Apache-2.0
"""What the demonstration's own node processes share: their call, and a clean end."""

from __future__ import annotations

import argparse
import signal
from typing import Callable
from typing import TypeVar

from flexdyn_ros.demo.plan import Run
from flexdyn_ros.launching.run import stop_with_standard_input
from flexdyn_ros.nodes.bounded import bounded
from flexdyn_ros.nodes.robot_node import STOP_LIMIT
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

AnyNode = TypeVar('AnyNode', bound=Node)


def run_companion(make: Callable[[Run], AnyNode], work: Callable[[AnyNode], None]) -> int:
    """
    Work with a node until SIGINT, SIGTERM or the end of standard input.

    Args:
        make: Makes the node for a run.
        work: Works with it until it is done.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument('run', help='file that describes the run')
    run = Run.load(parser.parse_args().run)
    # rclpy shuts its context down on SIGINT; a KeyboardInterrupt on top of that could strike while
    # the node is taken down, and leave it hanging.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    stop_with_standard_input()
    rclpy.init(args=[])
    node, code = None, 0
    try:
        node = make(run)
        work(node)
    except ExternalShutdownException:
        pass
    except Exception:
        # A callback may be cut off by the shutdown of the context.
        if rclpy.ok():
            code = 1
            raise
    finally:
        with bounded(STOP_LIMIT, code):
            if node is not None:
                node.destroy_node()
            rclpy.try_shutdown()
    return code
