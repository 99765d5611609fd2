# SPDX-License-Identifier: Apache-2.0
"""What an arm looks like: its visual meshes, bent by modes and segments, and their colours."""
