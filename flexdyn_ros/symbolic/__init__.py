# SPDX-License-Identifier: Apache-2.0
"""Expression graphs: what the algorithms of `flexdyn_ros.dynamics` become on symbols."""
