# SPDX-License-Identifier: Apache-2.0
"""`flexdyn reduce` of a solid link: options of its geometry, and the modes of its mesh."""

from __future__ import annotations

import argparse
from dataclasses import replace
import math
from pathlib import Path
from typing import Any, Optional, TYPE_CHECKING

from flexdyn_ros.cli.flex import MATERIALS
from flexdyn_ros.cli.options import positive
from flexdyn_ros.errors import ArgumentError

if TYPE_CHECKING:
    from flexdyn_ros.model.modal.solids import TiedFrame


def add_geometry(parser: argparse.ArgumentParser) -> None:
    """Add the options of a solid link."""
    parser.add_argument('--mesh', metavar='FILE', type=Path,
                        help='tetrahedra (.msh and others), or a closed surface (.stl, .obj, ...)')
    parser.add_argument('--tube', metavar=('D', 'T'), type=positive, nargs=2,
                        help='a tube of diameter D and wall T [m]')
    parser.add_argument('--box', metavar=('W', 'H', 'T'), type=positive, nargs=3,
                        help='a hollow box of width W, height H and wall T [m]')
    parser.add_argument('--length', metavar='L', type=positive, help='of a tube or box [m]')
    parser.add_argument('--taper', metavar='RATIO', type=positive, default=1.0,
                        help='size of the end of a tube or box over that of its root [1] '
                             '(default: 1)')
    parser.add_argument('--along', choices='xyz', default='x',
                        help='link axis along a tube or box (default: x)')
    parser.add_argument('--material', choices=MATERIALS, help='of a solid link')
    for name, what in (('young', "Young's modulus [Pa]"), ('shear', 'shear modulus [Pa]'),
                       ('density', 'density [kg/m^3]')):
        parser.add_argument(f'--{name}', metavar='NUMBER', type=positive,
                            help=f"{what} (default: the material's)")
    parser.add_argument('--element', metavar='SIZE', type=positive,
                        help='size of the elements that are made [m]')
    for name, what in (('root-at', 'the parent joint'), ('interface-at', 'a child joint')):
        parser.add_argument(f'--{name}', metavar=('X', 'Y', 'Z', 'R'), type=float, nargs=4,
                            action='append', default=[],
                            help=f'frame of {what}, and radius of the surface tied to it [m]')


def reduced_solid(call: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """
    Return the modes of a solid link, and the change of its lowest frequency with the mesh.

    Args:
        call: The call, with --mesh, --tube or --box.

    Raises:
        ArgumentError: An option is missing or contradicts another.
        ValueError: The geometry cannot be reduced; the text continues "the model".
    """
    from flexdyn_ros.model.modal.matrix_files import UNITS
    from flexdyn_ros.model.modal.meshes import HollowBar, read_mesh
    from flexdyn_ros.model.modal.solids import LARGEST, Material

    if not call.material and not (call.young and call.shear and call.density):
        raise ArgumentError('--material', 'is missing; or give --young, --shear and --density')
    known = MATERIALS.get(call.material, (0.0, 0.0, 0.0))
    material = Material(*(getattr(call, name) or value for name, value in zip(
        ('young', 'shear', 'density'), known)))
    frames = _frames(call)
    if call.mesh is None:
        if call.length is None:
            raise ArgumentError('--length', 'is missing, expected metres')
        width, height = (call.tube or call.box)[0], call.box[1] if call.box else None
        bar = HollowBar(call.length, width, height, (call.tube or call.box)[-1], call.taper)
        fine, other = (_turned(bar.mesh(call.element, k), call.along) for k in (1, 2))
    else:
        if not call.units:
            raise ArgumentError('--units', 'is missing, expected those of the mesh')
        scale = UNITS[call.units][0]
        try:
            fine = read_mesh(call.mesh, scale, call.element)
        except ValueError as error:
            raise ValueError(f'{call.mesh} {error}') from None
        unknowns = 3 * (fine.nvertices + fine.nedges)
        other = fine.refined() if 8 * unknowns <= LARGEST else None
    given, positions = _modes(call, fine, material, frames)
    name = call.mesh.name if call.mesh else 'a tube' if call.tube else 'a box'
    given['comment'] = f'reduced from {name}, {call.material or "material"} ' \
        f'{material.young:g} Pa {material.density:g} kg/m^3'
    convergence = {'frequency_hz': _lowest(given), 'nodes': positions}
    if other is not None:
        again, positions = _modes(call, other, material, frames, only_lowest=True)
        convergence.update(other_frequency_hz=_lowest(again), other_nodes=positions)
    return given, convergence


def convergence_line(found: dict[str, Any]) -> str:
    """Return the change of the lowest frequency with the mesh, as a line."""
    text = f'  convergence: {found["frequency_hz"]:.6g} Hz with {found["nodes"]} nodes'
    if 'other_nodes' not in found:
        return f'{text}; a refined mesh is too large to compare'
    change = found['other_frequency_hz'] / found['frequency_hz'] - 1.0
    return (f'{text}, {found["other_frequency_hz"]:.6g} Hz with {found["other_nodes"]} '
            f'({100.0 * change:+.2g} percent)')


def _frames(call: argparse.Namespace) -> list['TiedFrame']:
    """Return the root's frame, then those of interfaces."""
    from flexdyn_ros.model.modal.solids import TiedFrame
    import numpy as np

    if len(call.root_at) > 1:
        raise ArgumentError('--root-at', 'is given twice. Keep one')
    for name in ('root_at', 'interface_at'):
        for *place, radius in getattr(call, name):
            if not (np.all(np.isfinite(place)) and 0.0 < radius < np.inf):
                raise ArgumentError(f'--{name.replace("_", "-")}',
                                    'must hold three finite numbers and a positive radius')
    found = [TiedFrame(np.array(place), radius) for *place, radius in
             (*call.root_at, *call.interface_at)]
    if call.mesh is not None:
        if not call.root_at:
            raise ArgumentError('--root-at', 'is missing: place and radius of the clamped face')
        return found
    if call.root_at:
        raise ArgumentError(
            '--root-at', 'is for --mesh; a tube or box is clamped at the origin. Remove it')
    axis = np.eye(3)['xyz'.index(call.along)]
    reach = 2.0 * max((call.tube or call.box)[:-1]) * max(1.0, call.taper)
    ends = [TiedFrame(place * axis, reach, axis) for place in (0.0, call.length or 0.0)]
    return [*ends, *found]


def _turned(mesh: Any, along: str) -> Any:
    """Return a mesh whose x axis becomes another one."""
    import numpy as np

    return replace(mesh, doflocs=np.ascontiguousarray(
        np.roll(mesh.doflocs, 'xyz'.index(along), axis=0)))


def _modes(
    call: argparse.Namespace, mesh: Any, material: Any, frames: list['TiedFrame'],
    only_lowest: bool = False,
) -> tuple[dict[str, Any], int]:
    from flexdyn_ros.model.modal.reduction import reduced_modes
    from flexdyn_ros.model.modal.solids import solid_elements
    import numpy as np

    model = solid_elements(mesh, material, frames)
    origin: Optional[list[float]] = call.origin
    model = replace(model, positions=model.positions - (
        frames[0].origin if origin is None else np.array(origin)))
    interface = list(range(2, len(frames) + 1))
    given = reduced_modes(
        model, [1], interface, call.normal_modes, 1 if only_lowest else call.keep,
        call.stiffening and not only_lowest)
    return given, len(model.node_ids) - len(frames)


def _lowest(given: dict[str, Any]) -> float:
    return math.sqrt(given['stiffness'].diagonal().min()) / (2.0 * math.pi)
