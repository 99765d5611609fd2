# SPDX-License-Identifier: Apache-2.0
"""
A description whose stiffness and damping are adjusted: which numbers these are, and their change.

A parameter is named as the modes that it governs: `<link>/bending_y` (the beam's iz),
`<link>/bending_z` (iy), `<link>/torsion` (j) and the same of segments. Others are
`<joint>/elastic`, and `<link>/mode3` of a file. Shapes of a uniform beam do not depend on these
numbers.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional
from xml.etree.ElementTree import Element, fromstring, tostring

from flexdyn_ros.errors import NotYetSupported
from flexdyn_ros.identification.description import identified_urdf
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.modal.body import file_body
from flexdyn_ros.model.modal.files import write_arrays
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot
import numpy as np

# Attribute of a beam, and the child or the direction of segments that uses it.
_MOMENTS = {'bending_y': ('iz', 'y', 'z'), 'bending_z': ('iy', 'z', 'y'),
            'torsion': ('j', '', 'x')}


class AdjustableModel:
    """A robot as it was read, and others with changed stiffness and damping."""

    def __init__(self, robot: Robot, base_dir: Optional[Path]):
        """
        Find the parameters.

        Args:
            robot: As `load_robot` returned it.
            base_dir: The folder of relative file names in its description.

        Raises:
            NotYetSupported: The robot does not come from a description.
        """
        if not robot.descriptions:
            raise NotYetSupported(
                'Only robots that load_robot read can be updated', name=robot.name,
                advice='Load the robot by load_robot')
        self.robot, self._base_dir = robot, base_dir
        self._texts = robot.descriptions
        self.names = (
            *(name for name, *_ in self._places(map(fromstring, self._texts))),
            *(name for link in robot.links if link.modal is not None for name in link.mode_names))

    def changed(
        self, stiffness: Mapping[str, float], damping: Mapping[str, float]
    ) -> Robot:
        """
        Return the robot with stiffnesses times factors and other dampings.

        Args:
            stiffness: Factors by parameter.
            damping: Damping ratio by parameter; of an elastic joint, N m s/rad or N s/m.
        """
        roots = [fromstring(text) for text in self._texts]
        for name, element, attribute, damped in self._places(roots):
            factor = stiffness.get(name, 1.0)
            for each in (element, *element.findall('station')):
                if attribute in each.attrib:
                    if attribute == 'j':  # which polar inertia follows unless it is given
                        each.attrib.setdefault('polar', each.attrib['j'])
                    each.set(attribute, repr(float(each.attrib[attribute]) * float(factor)))
            if name in damping:
                damped.set('damping' if name.endswith('/elastic') else 'damping_ratio',
                           repr(float(damping[name])))
        texts = [tostring(root, encoding='unicode') for root in roots]
        robot = load_robot(texts[0], base_dir=self._base_dir, extension=texts[1:] or None)
        return replace(robot, links=tuple(
            _changed_file(link, stiffness, damping) for link in robot.links))

    def written(self, robot: Robot, path: Path) -> list[Path]:
        """
        Write a changed robot as URDF, and the modes of its files beside it; return the paths.

        Args:
            robot: Of `changed`.
            path: Of the URDF.
        """
        from flexdyn_ros.output_files import write_text

        text, files = identified_urdf(robot, robot), []
        root = fromstring(text)
        for element in root.iter('flexible_link'):
            modal = element.find('modal')
            link = robot.link(element.get('link', ''))
            if modal is None or link.modal is None or link.modal.arrays is None:
                continue
            file = path.with_name(f'{path.stem}_{link.name}.npz')
            write_arrays(file, link.modal.arrays)
            files.append(file)
            modal.attrib.update(file=file.name, format='npz')
            for name in ('body_frame', 'damping_ratio'):
                modal.attrib.pop(name, None)
        head = '<?xml version="1.0"?>\n'
        return [write_text(path, head + tostring(root, encoding='unicode') + '\n'), *files]

    def _places(self, roots: Any) -> Iterator[tuple[str, Element, str, Element]]:
        """Yield each parameter's name, element, attribute, and the element of its damping."""
        for root in roots:
            for element in root.iter('flexible_link'):
                for kind, (moment, axis, about) in _MOMENTS.items():
                    for beam in element.findall('beam'):
                        modes = (beam.findall('torsion') if not axis else
                                 [b for b in beam.findall('bending') if b.get('axis') == axis])
                        for child in modes:
                            yield f'{element.get("link")}/{kind}', beam, moment, child
                    for segments in element.findall('segments'):
                        if about in segments.get('directions', ''):
                            yield f'{element.get("link")}/{kind}', segments, moment, segments
            for joint in root.iter('joint_dynamics'):
                if 'stiffness' in joint.attrib:
                    yield f'{joint.get("joint")}/elastic', joint, 'stiffness', joint


def _changed_file(
    link: Link, stiffness: Mapping[str, float], damping: Mapping[str, float]
) -> Link:
    """Return a link whose modes from a file have other stiffness and damping."""
    data = link.modal
    if data is None or data.arrays is None:
        return link
    factor = np.sqrt([stiffness.get(name, 1.0) for name in link.mode_names])
    arrays = data.arrays
    changed = np.array(file_body(link.name, data).damping)
    stiff = arrays.stiffness * np.outer(factor, factor)
    for k, name in enumerate(link.mode_names):
        if name in damping:
            changed[k] = changed[:, k] = 0.0
            changed[k, k] = 2.0 * damping[name] * np.sqrt(stiff[k, k] * arrays.modal_mass[k, k])
    arrays = replace(arrays, stiffness=stiff, damping=changed)
    return replace(link, modal=replace(data, arrays=arrays, damping_ratio=None))
