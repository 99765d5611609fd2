# SPDX-License-Identifier: Apache-2.0
"""
Files that other libraries read, in a process of its own: matrices (scipy, pyNastran) and meshes.

These readers do not survive all damaged files, nor check sizes before they take memory. Run as a
script, this module reads one file within a limit of memory and writes its arrays to stdout.
"""

from __future__ import annotations

from io import BytesIO
import os
import subprocess
import sys
from typing import Any, Optional

# Bytes of memory of the process.
LARGEST = 2**30
# Seconds that it may take.
LONGEST = 120


def foreign_matrix(path: str, name: str) -> tuple[Any, Optional[Any]]:
    """
    Return a sparse matrix, and the node and direction (1 to 6, or 0) of its rows or None.

    Args:
        path: The file, .mat, .op4 or .pch.
        name: K or M, with which the matrix starts where the file holds several.

    Raises:
        ValueError: The file cannot be read; the text continues its name.
    """
    from scipy import sparse

    found = foreign_arrays(path, name)
    row, column, value = found['table']
    matrix = sparse.csr_matrix((value, (row.astype(int), column.astype(int))), found['size'])
    return matrix, found['labels'] if len(found['labels']) else None


def foreign_arrays(path: str, what: str) -> dict[str, Any]:
    """
    Return arrays of a file by name.

    Args:
        path: The file.
        what: K or M for a matrix. "volume" for points and corners of tetrahedra (t, 4), without
            any those of triangles (t, 3). "surface" for triangles. Triangles that are not closed
            are left out.

    Raises:
        ValueError: The file cannot be read; the text continues its name.
    """
    import numpy as np

    environment = {**os.environ, 'OPENBLAS_NUM_THREADS': '1'}
    try:
        done = subprocess.run(
            [sys.executable, __file__, path, what], capture_output=True, env=environment,
            timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        raise ValueError(f'takes more than {LONGEST} s to read') from None
    if done.returncode:
        words = done.stderr.decode(errors='replace').strip().splitlines()
        raise ValueError(words[-1] if done.returncode == 1 and words else 'is damaged')
    with np.load(BytesIO(done.stdout), allow_pickle=False) as found:
        return dict(found)


def _main(path: str, what: str) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (LARGEST, LARGEST))
    answer = os.fdopen(os.dup(1), 'wb')
    os.dup2(2, 1)  # messages of libraries
    readers = {'volume': _volume, 'surface': _surface}
    try:
        import numpy as np

        np.savez(answer, **(readers[what](path) if what in readers else _matrix(path, what)))
        answer.close()
    except MemoryError:
        sys.exit(f'needs more than {LARGEST} bytes of memory')
    except NotImplementedError:
        sys.exit('is of MATLAB version 7.3; save it with -v7')
    except Exception:  # of many kinds, in all libraries
        sys.exit('is damaged, or not of the format of its suffix')


def _volume(path: str) -> dict[str, Any]:
    """Return the tetrahedra of a mesh, or the triangles of one without."""
    import meshio
    import numpy as np

    try:
        found = meshio.read(path)
    except SystemExit:  # after a message on stdout
        sys.exit('holds no mesh that meshio reads')
    for corners, kinds in ((4, ('tetra', 'tetra10')), (3, ('triangle', 'triangle6'))):
        cells = [block.data[:, :corners] for block in found.cells if block.type in kinds]
        if cells:
            break
    points = np.asarray(found.points, dtype=float)
    if corners == 4 or not cells:
        return {'points': points, 'corners': np.concatenate(cells or [np.zeros((0, 4), int)])}
    import trimesh

    return _closed(trimesh.Trimesh(points, np.concatenate(cells)))


def _surface(path: str) -> dict[str, Any]:
    """Return the triangles of a closed surface."""
    import trimesh

    return _closed(trimesh.load(path, force='mesh'))


def _closed(found: Any) -> dict[str, Any]:
    """Return the triangles of a surface, none where it is not closed."""
    import numpy as np

    closed = bool(len(found.faces)) and found.is_watertight
    return {'points': np.array(found.vertices, dtype=float),
            'corners': np.array(found.faces if closed else np.zeros((0, 3)), dtype=int)}


def _matrix(path: str, name: str) -> dict[str, Any]:
    """Return the size, entries and labels of a matrix."""
    import numpy as np
    from scipy import sparse

    matrix, labels = (_matlab if path.lower().endswith('.mat') else _nastran)(path, name)
    found = sparse.coo_matrix(matrix)
    if np.iscomplexobj(found.data):
        sys.exit('holds complex numbers')
    if not np.isfinite(found.data).all():
        sys.exit('holds numbers that are not finite')
    return {'size': np.array(found.shape), 'labels': np.array(labels, dtype=int),
            'table': np.vstack([found.row, found.col, found.data]).astype(float)}


def _chosen(known: list[str], name: str) -> str:
    """Return the only matrix, or the only one of that initial."""
    wanted = [n for n in known if n.upper().startswith(name)] or known
    if len(wanted) != 1:
        sys.exit(f'holds the square matrices {sorted(known)}; one must start with {name}')
    return wanted[0]


def _matlab(path: str, name: str) -> tuple[Any, Any]:
    from scipy.io import loadmat, whosmat

    known = [n for n, shape, kind in whosmat(path) if kind in ('double', 'single', 'sparse')
             and len(shape) == 2 and shape[0] == shape[1] > 1]
    wanted = _chosen(known, name)
    return loadmat(path, variable_names=[wanted])[wanted], []


def _nastran(path: str, name: str) -> tuple[Any, Any]:
    """Return a matrix of OUTPUT4, or of DMIG with its labels."""
    binary = path.lower().endswith('.op4')
    try:
        if binary:
            from pyNastran.op4.op4 import read_op4 as read  # type: ignore[import-not-found]
        else:
            from pyNastran.bdf.bdf import read_bdf as read  # type: ignore[import-not-found]
    except ImportError:
        sys.exit('needs pyNastran: pip install pyNastran')
    except Exception as error:  # of versions of NumPy that it does not support
        sys.exit(f'needs a pyNastran that can be imported; this one fails with: {error}')
    if binary:
        found = read(path)
        matrix = found[_chosen(list(found), name)]
        return getattr(matrix, 'data', matrix), []
    found = read(path, punch=True, xref=False, debug=None).dmig
    values, rows, _ = found[_chosen(list(found), name)].get_matrix(
        is_sparse=True, apply_symmetry=True)
    return values, [[int(node), int(way)] for node, way in (rows[k] for k in sorted(rows))]


if __name__ == '__main__':
    del sys.path[0]  # its own folder, whose modules are none of the libraries'
    _main(*sys.argv[1:])
