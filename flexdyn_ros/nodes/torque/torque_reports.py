# SPDX-License-Identifier: Apache-2.0
"""Reports of the inverse dynamics node on its inputs and on its torque."""

from __future__ import annotations

from typing import Any

from flexdyn_ros.nodes.common.diagnostics import ERROR, listed, OK, WARN

NEVER = 'never received'


class TorqueReports:
    """Reports of one node to its diagnostics and its log."""

    def __init__(self, node: Any):
        """Prepare; `node` is the node."""
        self._node = node
        self._named: set[str] = set()  # joints that the log has named as missing

    def work(self) -> None:
        """Report that torque is published, with saturated joints and other problems."""
        node = self._node
        saturated = node.cycle.saturated
        warnings = [f'saturated: {", ".join(saturated)}'] if saturated else []
        warnings += filter(None, [
            node.feed_forward.base.problem, node.inputs.gravity.problem, node.changes.problem,
            node.inputs.wrenches.problem])
        if warnings:
            node.diagnostics.report(WARN, '; '.join(warnings))
        else:
            node.diagnostics.report(OK, 'working')

    def missing(self, problems: dict[str, str]) -> None:
        """Report joints without a state; log once those missing in the states that come."""
        node = self._node
        missing = {name for name, why in problems.items() if why == NEVER} - self._named
        if missing and len(problems) < len(node.measured.names):
            self._named |= missing
            node.get_logger().warning(
                f'no torque: joint_states lack {", ".join(sorted(missing))}. Publish them, or '
                'leave them out by `joints`')
        level = ERROR if set(problems.values()) != {NEVER} else WARN
        node.diagnostics.report(level, f'waiting for joint_states ({listed(problems)})')

    def values(self, now: float) -> dict[str, Any]:
        """Return timing and the state of the inputs at the steady time `now` [s]."""
        node = self._node
        values: dict[str, Any] = {
            'input_age': node.measured.age(now),
            'over_budget': node.times.over_budget,
            'missed_cycles': node.times.missed,
            'compute_budget': node.times.budget,
            'stale_policy': node.cycle.policy,
            'stops': node.cycle.stops,
            'pending': node.changes.pending,
        }
        values.update(node.inputs.values(now))
        values.update(node.times.summary())
        for group, counts in (
            ('dropped', node.measured.faults), ('lost', node.lost),
            ('trajectory_saturated', node.trajectories.saturated),
        ):
            values.update({f'{group}/{name}': count for name, count in counts.items()})
        for name in node.joints:
            values[f'saturated/{name}'] = name in node.cycle.saturated
        return values
