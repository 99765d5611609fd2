# SPDX-License-Identifier: Apache-2.0
"""Elements of <flexdyn>: one reader for each kind, and how they change a robot."""
