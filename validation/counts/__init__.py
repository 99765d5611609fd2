# SPDX-License-Identifier: Apache-2.0
"""Operation counts of generated code beside the published ones."""
