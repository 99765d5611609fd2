# SPDX-License-Identifier: Apache-2.0
"""Rate and delay of the inverse dynamics node over DDS."""
