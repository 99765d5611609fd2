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
from flexdyn_ros.nodes.torque.code_ahead import CodeAhead, ModelRequest
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
from flexdyn_ros.nodes.torque.torque_terms import TorqueTerms

TERMS = ('gravity', 'coriolis', 'inertia', 'friction')
PARAMETERS = frozenset(('gravity', *PAYLOAD, *(f'compensate.{name}' for name in TERMS)))


def chosen_terms(parameters: Any) -> TorqueTerms:
    """Return the terms that the parameters switch on."""
    return TorqueTerms(*(parameters[f'compensate.{name}'] for name in TERMS))


class ModelChanges:
    """
    Takes parameters of the model over as soon as the code for them is there.

    Attributes:
        pending: What is waited for; empty where the parameters are in force.
    """

    def __init__(
        self, node: Any, feed_forward: FeedForward, run_time_model: RunTimeModel,
        free: tuple[str, ...],
    ):
        """
        Put the present parameters in force; the code for them is there.

        Args:
            node: An InverseDynamicsNode.
            feed_forward: Computes the torques.
            run_time_model: Sets gravity and payload.
            free: Joint coordinates that no force acts on.
        """
        self.pending = ''
        self._lines: list[str] = []
        self._node = node
        self._feed_forward = feed_forward
        self._model = run_time_model
        self._free = free
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
        """What diagnostics warn of, or None."""
        if not self.pending:
            return None
        return f'pending: {self.pending}; the previous model is in force'

    def start(self) -> None:
        """Go on with what a stop has interrupted."""
        self._ahead.forget_problem()

    def stop(self) -> None:
        """Make no more code."""
        self._ahead.cancel()

    def _request(self) -> ModelRequest:
        p = self._node.parameters
        link = p['payload.link']
        flexible = bool(link and self._node.robot.link(link).mode_names)
        return ModelRequest(
            description=self._node.description,
            extension=p['extension_file'],
            backend=p['backend'],
            torque_model=self._feed_forward.mode,
            measured_side=p['measured_side'],
            free=self._free,
            wrench_links=tuple(self._feed_forward.wrenches),
            terms=chosen_terms(p).names,
            carriers=self._carriers,
            section=tuple(p['payload.com']) if flexible else (),
            payload={name: p[name] for name in PAYLOAD},
        )

    def _put_in_force(self) -> None:
        """Change the model between two cycles."""
        node = self._node
        self._feed_forward.terms = chosen_terms(node.parameters)
        self._lines = [self._model.apply(node.parameters)]
        source = 'of ~/reference, else '
        source += 'differentiated velocities' if node.inputs.differentiator else 'zero'
        self._lines.append(
            self._feed_forward.terms.sentence(self._feed_forward.mode, source))

    def log(self) -> None:
        """Log what the torque contains, where that has changed; it takes a millisecond."""
        for line in self._lines:
            self._node.get_logger().info(line)
        self._lines = []
