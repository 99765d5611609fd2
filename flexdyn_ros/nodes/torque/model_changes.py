# SPDX-License-Identifier: Apache-2.0
"""Parameters of the model that are set while the node works, and the model that is in force."""

from __future__ import annotations

from typing import Any, Optional

from flexdyn_ros.nodes.common.run_time_model import (
    keep_loads_as_arguments,
    PAYLOAD,
    payload_carriers,
    RunTimeModel,
)
from flexdyn_ros.nodes.torque.code_ahead import CodeAhead, ModelRequest, PARAMETERS
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
from flexdyn_ros.nodes.torque.torque_terms import COMPENSATED, TorqueTerms

CHANGEABLE = frozenset(('gravity', *PAYLOAD, *COMPENSATED))
"""Parameters of the model that take effect while the node works."""


class ModelChanges:
    """
    Takes parameters of the model over as soon as the code for them is there.

    Attributes:
        pending: The awaited change; empty where the parameters are in force.
    """

    def __init__(self, node: Any, feed_forward: FeedForward, run_time_model: RunTimeModel):
        """
        Put the present parameters in force; the code for them is there.

        Args:
            node: An InverseDynamicsNode.
            feed_forward: Computes the torques.
            run_time_model: Sets gravity and payload.
        """
        self.pending = ''
        self._lines: list[str] = []
        self._node = node
        self._feed_forward = feed_forward
        self._model = run_time_model
        self._carriers = payload_carriers(node.robot, node.parameters)
        keep_loads_as_arguments(node.dyn, self._carriers)
        self._ahead = CodeAhead(node.robot, self._request())
        self._put_in_force()
        self.log()

    def ask(self) -> None:
        """Note that parameters of the model have been set."""
        self.pending = 'changed parameters'
        self._ahead.forget_problem()

    def take(self) -> bool:
        """Put the parameters in force where the code is there; return whether that changed any."""
        if not self.pending:
            return False
        request = self._request()
        if not self._ahead.has(request):
            self.pending = request.sentence()
            if self._ahead.problem:
                self.pending += f', which cannot be made: {self._ahead.problem}'
            return False
        self.pending = ''
        self._put_in_force()
        return True

    @property
    def problem(self) -> Optional[str]:
        """The warning of diagnostics, or None."""
        if not self.pending:
            return None
        return f'pending: {self.pending}; the previous model is in force'

    def start(self) -> None:
        """Go on with the change that a stop has interrupted."""
        self._ahead.forget_problem()

    def stop(self) -> None:
        """Make no more code."""
        self._ahead.cancel()

    def _request(self) -> ModelRequest:
        node, p = self._node, self._node.parameters
        link = p['payload.link']
        flexible = bool(link and node.robot.link(link).mode_names)
        return ModelRequest(
            node.description, node.joints, self._carriers,
            tuple(p['payload.com']) if flexible else (), {name: p[name] for name in PARAMETERS})

    def _put_in_force(self) -> None:
        """Change the model between two cycles."""
        node = self._node
        self._feed_forward.terms = TorqueTerms.of(node.parameters)
        self._lines = [self._model.apply(node.parameters)]
        source = 'of ~/reference, else '
        source += 'differentiated velocities' if node.inputs.differentiator else 'zero'
        self._lines.append(
            self._feed_forward.terms.sentence(self._feed_forward.mode, source))

    def log(self) -> None:
        """Log the contents of the torque, where they have changed; it takes a millisecond."""
        for line in self._lines:
            self._node.get_logger().info(line)
        self._lines = []
