# SPDX-License-Identifier: Apache-2.0
"""C sources of the compiled backend: elementary functions over lanes, the call from Python."""
