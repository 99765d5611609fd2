# SPDX-License-Identifier: Apache-2.0
"""How much faster the generated Python is than the reference backend."""
