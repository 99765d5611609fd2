# SPDX-License-Identifier: Apache-2.0
"""The extension <flexdyn>: its schema, one reader for each kind of element."""
