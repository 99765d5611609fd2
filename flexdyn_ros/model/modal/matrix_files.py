# SPDX-License-Identifier: Apache-2.0
"""
Mass and stiffness matrices of finite-element programs, with their nodes and units.

| name | file |
|---|---|
| .mtx | MatrixMarket; or Abaqus, *MATRIX GENERATE: `node, dof, node, dof, value`, or row, column |
| .sti .mas .txt | row, column and value, one half of a symmetric matrix (CalculiX) |
| .mat | MATLAB, version 7 or older: the square matrix whose name starts with K or M |
| .pch | Nastran DMIG, read by pyNastran |
| .op4 | Nastran, read by pyNastran |
"""

from __future__ import annotations

from functools import partial
from io import StringIO
from pathlib import Path
import re
from typing import Any, Callable, NamedTuple, Optional, Sequence

from flexdyn_ros.model.modal.foreign_files import foreign_matrix
from flexdyn_ros.model.modal.preloads import parsed_load, Preload
from flexdyn_ros.model.modal.reduction import FiniteElements, GENERALISED
import numpy as np

# Bytes of a file, and of the numbers in it.
LARGEST = 2**27
# Length [m], mass [kg] and time [s] of systems of units.
UNITS = {
    'm-kg-s': (1.0, 1.0, 1.0), 'mm-t-s': (1e-3, 1e3, 1.0), 'mm-kg-ms': (1e-3, 1.0, 1e-3),
    'mm-kg-s': (1e-3, 1.0, 1.0), 'in-lbf-s': (0.0254, 175.12683524647636, 1.0),
}
# Rows by node number and direction.
Labels = Optional[list[tuple[int, int]]]


class Matrix(NamedTuple):
    """A sparse matrix, and the node and direction (0 to 5) of each row where its file has them."""

    values: Any
    labels: Labels


def read_finite_elements(
    stiffness: Path,
    mass: Path,
    nodes: Path,
    rows: Optional[Path] = None,
    units: str = 'm-kg-s',
    preloads: Sequence[tuple[str, str, Path]] = (),
) -> FiniteElements:
    """
    Return the matrices and nodes of a link in SI units.

    Args:
        stiffness: File of the stiffness matrix.
        mass: File of the mass matrix.
        nodes: Text with number, x, y and z of each node; of an Abaqus or CalculiX input file the
            first *NODE block.
        rows: Text with node and direction (1 to 6, `12.1` or `12 1`) of each row. It is needed
            where the matrices do not name them, nor have 3 or 6 rows a node in the nodes' order.
            Rows beyond 6 a node are generalised coordinates of a superelement.
        units: A key of UNITS.
        preloads: Load (`acceleration`, `rotation`, `force:NODE`), its amount in SI units and the
            file of the stiffness matrix under it.

    Raises:
        ValueError: A file is wrong, or the files contradict each other; the text starts with its
            name.
    """
    from scipy import sparse

    loads = [parsed_load(*words[:2]) for words in preloads]
    files = [(stiffness, 'K'), (mass, 'M'), *((path, 'K') for *_, path in preloads)]
    given = [_named(path, partial(read_matrix, path, name)) for path, name in files]
    numbers, places = _named(nodes, partial(_read_nodes, nodes))
    labels = given[0].labels
    if rows is not None:
        labels = _named(rows, partial(_read_rows, rows))
    matrices = [each.values if k == 0 else _ordered(each, labels, files[k][0])
                for k, each in enumerate(given)]
    if labels is None:
        labels = _usual_order(numbers, matrices[0].shape[0])
    for matrix, (path, _) in zip(matrices, files):
        if matrix.shape != (len(labels), len(labels)):
            raise ValueError(f'{path}: holds {matrix.shape[0]} rows; the nodes have {len(labels)}')
    index = {number: k for k, number in enumerate(numbers.tolist())}
    missing = [node for node, way in labels if way != GENERALISED and node not in index]
    if missing:
        raise ValueError(f'{nodes}: has no node {missing[0]}, which the matrices hold')
    length, kilograms, seconds = UNITS[units]
    where = np.array([index.get(node, 0) for node, _ in labels], dtype=int)
    ways = np.array([way for _, way in labels], dtype=int)
    # A force a length is mass / time^2; a moment an angle has two lengths more.
    turns = sparse.diags(np.where((ways >= 3) & (ways < GENERALISED), length, 1.0))
    force = kilograms / seconds**2
    weighed, *stiff = [factor * (turns @ matrix @ turns) for factor, matrix in zip(
        (kilograms, *[force] * len(given)), (matrices[1], matrices[0], *matrices[2:]))]
    return FiniteElements(
        numbers, length * places, where, ways, weighed, stiff[0],
        preloads=[Preload(kind, amount, matrix, node)
                  for (kind, amount, node), matrix in zip(loads, stiff[1:])])


def _named(path: Path, reader: Callable[[], Any]) -> Any:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            raise ValueError(f'is no file of at most {LARGEST} bytes')
        return reader()
    except (ValueError, OSError, MemoryError) as error:
        raise ValueError(f'{path}: {error}') from None


def _ordered(matrix: Matrix, labels: Labels, path: Path) -> Any:
    """Return a matrix with rows in the order of labels."""
    if labels is None or matrix.labels is None or matrix.labels == labels:
        return matrix.values
    if len(matrix.labels) > len(labels) or not set(matrix.labels) <= set(labels):
        raise ValueError(f'{path}: holds rows that the stiffness matrix lacks')
    from scipy import sparse

    place = {label: k for k, label in enumerate(labels)}
    at = [place[label] for label in matrix.labels]
    lift = sparse.csr_matrix((np.ones(len(at)), (at, range(len(at)))), (len(labels), len(at)))
    return lift @ matrix.values @ lift.T


def _usual_order(numbers: np.ndarray, size: int) -> list[tuple[int, int]]:
    """Return labels of 3 or 6 rows a node, and of generalised coordinates behind these."""
    count = 3 if size == 3 * len(numbers) else 6
    if size < count * len(numbers):
        raise ValueError(
            f'the matrices have {size} rows and there are {len(numbers)} nodes. Give the node and '
            'direction of each row in a file'
        )
    known = [(number, way) for number in numbers.tolist() for way in range(count)]
    return known + [(0, GENERALISED)] * (size - len(known))


def read_matrix(path: Path, name: str) -> Matrix:
    """
    Return a matrix by the suffix of its file.

    Args:
        path: The file.
        name: K or M, the name to prefer where a file holds several.

    Raises:
        ValueError: The file cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix in ('.mat', '.op4', '.pch'):
        values, labels = foreign_matrix(str(path), name)
        return Matrix(values, None if labels is None else [_label(*pair) for pair in labels])
    if suffix not in ('.mtx', '.sti', '.mas', '.txt'):
        raise ValueError(f'has the suffix "{suffix}"; known are .mtx .sti .mas .txt .mat .op4 '
                         '.pch. Export one of these, or shapes as SID (.npz, .fem)')
    with open(path, encoding='latin-1') as file:
        head = file.readline(100).lower().split()
    table = _table(path)
    if table.shape[1] == 5:
        return _labelled(table)
    if table.shape[1] != 3:
        raise ValueError(f'has {table.shape[1]} columns; row, column and value are 3')
    if head[:1] == ['%%matrixmarket']:  # scipy's own reader does not survive damaged files
        if head[1:4] not in (['matrix', 'coordinate', kind] for kind in ('real', 'integer')):
            raise ValueError(f'is not a sparse matrix of real numbers, but {" ".join(head[1:])}')
        if table[0, 2] != len(table) - 1 or table[0, :2].max() < table[1:, :2].max(initial=0):
            raise ValueError(f'announces the size {table[0].tolist()} and holds another')
        size, table = int(table[0, :2].max()), table[1:]
    else:
        size = int(table[:, :2].max())
    if not 0 < size < 10**7 or table[:, :2].min(initial=1) < 1:
        raise ValueError('has rows that are not numbered from 1')
    return Matrix(_coordinates(table[:, 0] - 1, table[:, 1] - 1, table[:, 2], size), None)


def _table(path: Path) -> np.ndarray:
    """Return the numbers of a text file, separated by blanks or commas."""
    text = path.read_text(encoding='latin-1').replace(',', ' ')
    if 'D' in text or 'd' in text:  # Fortran's exponents
        text = text.replace('D', 'E').replace('d', 'E')
    if not re.search(r'^\s*[-+.\d]', text, re.MULTILINE):
        raise ValueError('holds no numbers')
    table = np.loadtxt(StringIO(text), comments=['*', '#', '%'], ndmin=2)
    if not np.isfinite(table).all():
        raise ValueError('holds numbers that are not finite')
    return table


def _coordinates(row: Any, column: Any, value: Any, size: int) -> Any:
    """Return a symmetric matrix of its entries, of both halves or of one."""
    from scipy import sparse

    matrix = sparse.coo_matrix((value, (row.astype(int), column.astype(int))), (size, size))
    matrix = matrix.tocsr()
    lower, upper = sparse.tril(matrix, -1), sparse.triu(matrix, 1)
    return matrix if lower.nnz and upper.nnz else matrix + (lower + upper).T


def _labelled(table: np.ndarray) -> Matrix:
    """Return a matrix of node, direction, node, direction, value."""
    if table[:, [1, 3]].min() < 1 or table[:, [1, 3]].max() > 6:
        raise ValueError('has directions other than 1 to 6, such as Lagrange multipliers')
    pairs = np.concatenate([table[:, :2], table[:, 2:4]]).astype(int)
    labels, at = np.unique(pairs, axis=0, return_inverse=True)
    row, column = np.reshape(at, (2, len(table)))
    values = _coordinates(row, column, table[:, 4], len(labels))
    return Matrix(values, [(int(node), int(way) - 1) for node, way in labels])


def _read_nodes(path: Path) -> tuple[np.ndarray, np.ndarray]:
    lines = path.read_text(encoding='latin-1').replace(',', ' ').splitlines()
    heads = [k for k, line in enumerate(lines) if line.upper().startswith('*NODE')]
    if heads:
        lines = lines[heads[0] + 1:]
        ends = [k for k, line in enumerate(lines) if line.startswith('*')
                and not line.startswith('**')]
        lines = lines[: ends[0]] if ends else lines
    lines = [line for line in lines if re.match(r'\s*\d', line)]  # without a heading
    table = np.loadtxt(lines, ndmin=2) if lines else np.zeros((1, 0))
    if table.shape[1] != 4 or len(np.unique(table[:, 0])) != len(table):
        raise ValueError('does not hold number, x, y and z of each node, each once')
    return table[:, 0].astype(int), table[:, 1:]


def _read_rows(path: Path) -> list[tuple[int, int]]:
    table = _table(path)
    if table.shape[1] == 1:  # 12.1 is node 12, direction 1
        node = np.floor(table[:, 0] + 1e-6)
        table = np.stack([node, np.rint(10.0 * (table[:, 0] - node))], axis=1)
    if table.shape[1] != 2 or table[:, 1].min() < 0 or table[:, 1].max() > 6:
        raise ValueError('does not hold node and direction 1 to 6 (0: generalised) of each row')
    return [_label(*pair) for pair in table]


def _label(node: float, way: float) -> tuple[int, int]:
    return int(node), int(way) - 1 if 1 <= way <= 6 else GENERALISED
