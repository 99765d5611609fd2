# SPDX-License-Identifier: Apache-2.0
"""Operation counts of derivatives, beside those of the functions that they belong to."""
