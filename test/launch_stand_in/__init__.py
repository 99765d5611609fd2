# SPDX-License-Identifier: Apache-2.0
"""Starting launch files: by launch_ros where it is installed, else by a stand-in of our own."""
