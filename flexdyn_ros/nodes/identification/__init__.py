# SPDX-License-Identifier: Apache-2.0
"""What identification_node records and plays."""
