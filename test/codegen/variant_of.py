# SPDX-License-Identifier: Apache-2.0
"""Functions of a robot as the backends generate them."""

from flexdyn_ros.codegen.backends.variants import CompiledAhead, Variants
from flexdyn_ros.codegen.compile import cache
from flexdyn_ros.codegen.tracing.functions import Request, tip_link
from flexdyn_ros.dynamics.functions import FUNCTIONS


def variant_of(robot, function, places=()):
    """Return the variant of a function under the loads of the description."""
    declared = {payload.link: payload.inertia for payload in robot.payloads}
    variants = Variants(
        robot, cache.model_digest(robot), list(robot.gravity_vector), declared, CompiledAhead()
    )
    frame = tip_link(robot) if FUNCTIONS[function].of_frame else None
    return variants.variant(Request(function, frame), places)
