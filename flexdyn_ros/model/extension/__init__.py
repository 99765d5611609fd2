# SPDX-License-Identifier: Apache-2.0
"""The extension <flexdyn>: its schema and page, one reader for each kind of element."""
