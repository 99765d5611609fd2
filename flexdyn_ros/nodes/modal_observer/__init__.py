# SPDX-License-Identifier: Apache-2.0
"""What the modal observer node reads."""
