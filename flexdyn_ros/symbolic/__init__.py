# SPDX-License-Identifier: Apache-2.0
"""Expression graphs: the results of the algorithms of `flexdyn_ros.dynamics` on symbols."""
