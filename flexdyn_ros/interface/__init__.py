# SPDX-License-Identifier: Apache-2.0
"""What stands between a user's call and a backend: checks, direct calls, many samples at once."""
