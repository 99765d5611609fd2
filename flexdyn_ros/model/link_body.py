# SPDX-License-Identifier: Apache-2.0
"""The flexible body of a link, wherever its modes come from."""

from __future__ import annotations

from flexdyn_ros.model.beam.beam_body import modal_body
from flexdyn_ros.model.modal.modal_body import ModalBody
from flexdyn_ros.model.modal.modal_data import file_body
from flexdyn_ros.model.robot.link import Link


def link_body(link: Link) -> ModalBody:
    """Return the flexible body of a link that has modes of a beam or of a file."""
    return modal_body(link) if link.modal is None else file_body(link.name, link.modal)
