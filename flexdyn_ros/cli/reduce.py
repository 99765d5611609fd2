# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn reduce`: a file of modes from geometry, from matrices of finite elements, or another file.

Write a modal file (docs/modal_files.md), .npz or SID by the name of the output.

With --stiffness, --mass and --nodes the modes are those of Craig and Bampton: static shapes of
the interface nodes and natural modes with these held. --normal-modes 0 is Guyan's reduction. The
root nodes are clamped; the origin of the link frame is in their middle, its axes are those of the
nodes. Formats by suffix: MatrixMarket and Abaqus .mtx, CalculiX .sti .mas, MATLAB .mat, Nastran
.op4 .pch (with pyNastran). With --preload, geometric stiffening follows from the stiffness
matrices of a slender link under loads along it, away from its root. These are an acceleration
field, rotation about the root, and a force at each interface node.

With --tube, --box or --mesh the matrices are those of the solid itself, of quadratic elements.
They need scikit-fem; meshes also need meshio, surfaces trimesh and gmsh. A tube or box is clamped
at the origin; node 1 is its root, node 2 its end. In a mesh --root-at and --interface-at name
places and radii: the surface within moves as a rigid body with that frame. Node 1 is the root, 2,
3, ... the interfaces. A second mesh shows the convergence of the lowest frequency.

With --modal FILE the modes of an SID, .fem (MBDyn) or .npz file are written in the other format.

Examples:
  flexdyn reduce --tube 0.08 0.003 --length 0.9 --material aluminium -o forearm.npz
  flexdyn reduce --mesh forearm.stl --units mm-t-s --material steel --root-at 0 0 0 0.05 \
--interface-at 0 0 0.4 0.04 --plot modes.png -o forearm.npz
  flexdyn reduce --stiffness k.mtx --mass m.mtx --nodes nodes.csv --units mm-t-s --root 1 \
--interface 24 -o forearm.npz
  flexdyn reduce --stiffness a.sti --mass a.mas --nodes a.inp --rows a.dof --root 1 2 3 \
--interface 90 --keep 8 -o forearm.npz
  flexdyn reduce --stiffness k.mtx --mass m.mtx --nodes nodes.csv --units m-kg-s --root 1 \
--interface 24 --preload acceleration 9.81 kg.mtx --preload rotation 10 kw.mtx \
--preload force:24 100 kf.mtx -o blade.npz
  flexdyn reduce --modal forearm.SID_FEM -o forearm.npz
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any, TYPE_CHECKING

from flexdyn_ros.cli.options import print_json
from flexdyn_ros.cli.reduce_geometry import add_geometry, convergence_line, reduced_solid
from flexdyn_ros.errors import ArgumentError, ModelError
from flexdyn_ros.progress import ProgressBar
from flexdyn_ros.terminal import heading, table

if TYPE_CHECKING:
    from flexdyn_ros.model.records.modal import ModalArrays

_MATRICES = ('stiffness', 'mass', 'nodes')
_ADVICE = 'docs/modal_files.md describes the formats'
# Of --units; matrix_files.py states them, and is imported where it is used.
_UNITS = ('m-kg-s', 'mm-t-s', 'mm-kg-ms', 'mm-kg-s', 'in-lbf-s')


SUMMARY = 'file of modes from finite elements, or from another file of modes'
READS_ROBOT = False


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    for name in _MATRICES:
        what = 'numbers and positions of the nodes' if name == 'nodes' else f'{name} matrix'
        parser.add_argument(f'--{name}', metavar='FILE', type=Path, help=what)
    parser.add_argument('--rows', metavar='FILE', type=Path,
                        help='node and direction of each row of the matrices')
    parser.add_argument('--units', choices=_UNITS, help='units of matrices and nodes; required')
    parser.add_argument('--root', metavar='NODE', type=int, nargs='+', default=[],
                        help='nodes at the parent joint, which are clamped')
    parser.add_argument('--interface', metavar='NODE', type=int, nargs='+', default=[],
                        help='nodes that carry child joints')
    parser.add_argument('--origin', metavar=('X', 'Y', 'Z'), type=float, nargs=3,
                        help='origin of the link frame [m] (default: middle of the root nodes)')
    parser.add_argument('--normal-modes', metavar='N', type=int, default=6,
                        help='modes with the interface held (default: 6)')
    parser.add_argument('--keep', metavar='N', type=int, default=0,
                        help='modes to keep, from the lowest frequency up (default: all)')
    parser.add_argument('--stiffening', action='store_true',
                        help='add geometric stiffening; the nodes must lie on a line')
    parser.add_argument('--preload', metavar=('LOAD', 'AMOUNT', 'FILE'), nargs=3, default=[],
                        action='append', help='stiffness matrix under a load: acceleration '
                        '[m/s^2], rotation [rad/s] or force:NODE [N]')
    add_geometry(parser)
    parser.add_argument('--modal', metavar='FILE', type=Path, help='file of modes to convert')
    parser.add_argument('--plot', metavar='FILE', help='picture of the modes, PNG or SVG')
    parser.add_argument('-o', '--output', metavar='FILE', required=True, help='file to write')


def run(call: argparse.Namespace) -> int:
    """Write the file; print mass, centre of mass and frequencies."""
    from flexdyn_ros.model.modal.files import write_arrays

    convergence: dict[str, Any] = {}
    with ProgressBar(label='reducing'):
        arrays = _converted(call.modal) if call.modal else _reduced(call, convergence)
    write_arrays(call.output, arrays)
    if call.plot is not None:
        from flexdyn_ros.simulation.mode_pictures import save_file_shapes

        save_file_shapes(arrays, call.plot)
    record = _record(arrays, call.output)
    if convergence:
        record['convergence'] = convergence
    if call.json:
        print_json(record)
        return 0
    rows = list(zip(record['mode_numbers'], record['frequencies_hz']))
    count = f'{len(rows)} mode{"s" * (len(rows) != 1)}'
    print(f'{heading(call.output)}: {count} at {record["nodes"]} nodes')
    print(f'  mass {record["mass_kg"]:.6g} kg, centre of mass '
          f'{" ".join(f"{x:.6g}" for x in record["com_m"])} m')
    print(table(('mode', 'frequency [Hz]'), rows))
    if convergence:
        print(convergence_line(convergence))
    for note in record['notes']:
        print(f'  note: {note}')
    return 0


def _converted(path: Path) -> 'ModalArrays':
    from flexdyn_ros.model.modal.files import read_modal_file, READERS

    suffix = path.suffix.lower().lstrip('.')
    try:
        return read_modal_file(path, suffix if suffix in READERS else 'sid')
    except ValueError as error:
        raise ModelError(f'file="{path}" {error}', advice=_ADVICE) from None


def _reduced(call: argparse.Namespace, convergence: dict[str, Any]) -> 'ModalArrays':
    from flexdyn_ros.model.modal.files import modal_arrays
    from flexdyn_ros.model.modal.matrix_files import read_finite_elements
    from flexdyn_ros.model.modal.preloads import parsed_load
    from flexdyn_ros.model.modal.reduction import reduced_modes
    import numpy as np

    sources = [f'--{name}' for name in ('stiffness', 'mesh', 'tube', 'box') if getattr(call, name)]
    if len(sources) > 1:
        raise ArgumentError(sources[1], f'contradicts {sources[0]}: give one of them')
    solid = bool(sources) and sources[0] != '--stiffness'
    for name in () if solid else (*_MATRICES, 'units', 'root'):
        if not getattr(call, name):
            raise ArgumentError(f'--{name}', 'is missing. Or use --tube, --box or --mesh for a '
                                'solid, --modal for a file of modes')
    for load, amount, _ in call.preload:
        try:
            parsed_load(load, amount)
        except ValueError as error:
            raise ArgumentError(
                '--preload', f'is wrong: {error}. Write LOAD AMOUNT FILE') from None
    for name, least in (('normal_modes', 0), ('keep', 0)):
        if getattr(call, name) < least:
            raise ArgumentError(f'--{name.replace("_", "-")}', 'must not be negative')
    try:
        if solid:
            given, found = reduced_solid(call)
            convergence.update(found)
            return modal_arrays(given)
        model = read_finite_elements(
            call.stiffness, call.mass, call.nodes, call.rows, call.units,
            [(load, amount, Path(file)) for load, amount, file in call.preload],
        )
        known = model.positions[np.isin(model.node_ids, call.root)]
        origin = known.mean(axis=0) if call.origin is None and len(known) else call.origin
        if origin is not None:
            model = replace(model, positions=model.positions - origin)
        given = reduced_modes(model, call.root, call.interface, call.normal_modes, call.keep,
                              call.stiffening)
        given['comment'] = f'reduced from {call.stiffness.name}, units {call.units}'
        return modal_arrays(given)
    except ArgumentError:
        raise
    except ValueError as error:
        raise ModelError(f'The model of finite elements is wrong: {error}',
                         advice=_ADVICE) from None


def _record(arrays: 'ModalArrays', output: str) -> dict[str, Any]:
    from flexdyn_ros.model.check_plausible import HEAVY, LIGHT
    import numpy as np

    rates = np.linalg.eigvals(np.linalg.solve(arrays.modal_mass, arrays.stiffness)).real
    size = np.linalg.norm(arrays.node_positions, axis=1).max()
    notes = list(arrays.notes)
    if not LIGHT * size < arrays.mass < HEAVY * size:
        notes.append(f'{arrays.mass:.4g} kg over {size:.4g} m are of no link: check the units')
    return {
        'file': output, 'nodes': len(arrays.node_ids), 'mass_kg': arrays.mass,
        'com_m': (np.round(arrays.first_moment / arrays.mass, 12) + 0.0).tolist(),
        'mode_numbers': arrays.mode_numbers.tolist(),
        'frequencies_hz': (np.sqrt(np.sort(np.abs(rates))) / (2.0 * np.pi)).tolist(),
        'notes': notes,
    }
