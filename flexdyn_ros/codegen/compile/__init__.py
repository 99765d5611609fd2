# SPDX-License-Identifier: Apache-2.0
"""From code to something to call: compiler, cache on disk, the extension."""
