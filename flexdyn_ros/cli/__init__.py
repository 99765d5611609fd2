# SPDX-License-Identifier: Apache-2.0
"""The command line `flexdyn`: one module a subcommand."""
