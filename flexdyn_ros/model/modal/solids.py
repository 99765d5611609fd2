# SPDX-License-Identifier: Apache-2.0
"""
Finite elements of a solid link: stiffness and mass of a mesh, frames tied to its faces.

Displacements are quadratic in each element (Bathe, Finite Element Procedures, 1996, sections 5.3
and 5.5; shapes and quadrature of scikit-fem). The material is linear and isotropic. The nodes of a
face that carries a joint move as a rigid body with its frame: u_i = u + theta x (r_i - r).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Sequence

from flexdyn_ros.model.modal.meshes import library
from flexdyn_ros.model.modal.reduction import FiniteElements
import numpy as np

# Unknowns of a model: its factors take about 2 GB.
LARGEST = 120_000


@dataclass(frozen=True)
class Material:
    """
    A linear isotropic material.

    Attributes:
        young: Young's modulus [Pa].
        shear: Shear modulus [Pa].
        density: [kg/m^3].
    """

    young: float
    shear: float
    density: float

    @property
    def poisson(self) -> float:
        """Poisson's ratio."""
        return self.young / (2.0 * self.shear) - 1.0


@dataclass(frozen=True, eq=False)
class TiedFrame:
    """
    A frame, and the place of the nodes that move with it as a rigid body.

    Attributes:
        origin: Of the frame, which has the link's axes, shape (3,) [m].
        radius: Of the ball about the origin that holds the nodes on the surface [m].
        normal: Of the plane through the origin that holds them besides, unit vector. None takes
            the axis whose plane holds most nodes that span a face, or no plane where none does.
    """

    origin: np.ndarray
    radius: float
    normal: Optional[np.ndarray] = None


def solid_elements(mesh: Any, material: Material, frames: Sequence[TiedFrame]) -> FiniteElements:
    """
    Return matrices of a mesh, in which nodes 1, 2, ... are the frames and others follow.

    Args:
        mesh: Tetrahedra, or hexahedra of second order, of scikit-fem.
        material: Of all elements.
        frames: The root, then those that carry child joints.

    Raises:
        ValueError: A frame finds no face, or the model is too large.
    """
    fem = library('skfem')
    from scipy import sparse

    if not -1.0 < material.poisson < 0.5:
        raise ValueError(f"has a Poisson's ratio E / 2 G - 1 of {material.poisson:g}; it must "
                         'be above -1 and below 0.5')
    tetrahedra = type(mesh).__name__.startswith('MeshTet')
    points = (mesh.nvertices + mesh.nedges) if tetrahedra else mesh.doflocs.shape[1]
    if 3 * points > LARGEST:
        raise ValueError(f'has {3 * points} unknowns; at most {LARGEST} are solved. Take larger '
                         'elements')
    basis = fem.Basis(mesh, fem.ElementTetP2() if tetrahedra else fem.ElementHex2(), intorder=4)
    count, places = len(frames), basis.doflocs.T
    head = sparse.csr_matrix((6 * count, 6 * count))
    mass, stiffness = (sparse.block_diag([head, own], format='csr')
                       for own in _matrices(basis, material))
    surface = np.isin(np.arange(len(places)), basis.get_dofs().flatten())
    corner = np.isin(np.arange(len(places)), basis.nodal_dofs)
    return FiniteElements(
        1 + np.arange(count + len(places)),
        np.vstack([*(frame.origin for frame in frames), places]),
        np.concatenate([np.repeat(np.arange(count), 6),
                        np.repeat(count + np.arange(len(places)), 3)]),
        np.concatenate([np.tile(np.arange(6), count), np.tile(np.arange(3), len(places))]),
        mass, stiffness, _ties(frames, places, surface),
        np.concatenate([np.ones(count, bool), surface & corner]),
    )


def _matrices(basis: Any, material: Material) -> tuple[Any, Any]:
    """
    Return mass and stiffness, rows 3 n + a of node n along a.

    Let D_ia,jb be int d_a N_i d_b N_j dV. The stiffness of an isotropic material is lambda D_ia,jb
    + mu D_ib,ja + mu delta_ab sum_c D_ic,jc (Bathe, section 4.2.3).
    """
    from scipy import sparse

    value = np.stack([np.asarray(field[0]) for field in basis.basis], axis=1)  # (e, i, q)
    slope = np.stack([field[0].grad for field in basis.basis], axis=0).transpose(2, 0, 1, 3)
    weight, (e, k) = basis.dx[:, None], value.shape[:2]
    inertia = material.density * (value * weight) @ value.transpose(0, 2, 1)
    flat = slope.reshape(e, 3 * k, -1)
    each = ((flat * weight) @ flat.transpose(0, 2, 1)).reshape(e, k, 3, k, 3)
    first = material.poisson * material.young / (
        (1.0 + material.poisson) * (1.0 - 2.0 * material.poisson))
    whole = first * each + material.shear * each.transpose(0, 1, 4, 3, 2)
    along = material.shear * np.einsum('eicjc->eij', each)
    dofs = basis.element_dofs.T
    for a in range(3):
        whole[:, :, a, :, a] += along
    rows = (3 * dofs[:, :, None] + np.arange(3)).reshape(e, -1)
    size = (3 * basis.N, 3 * basis.N)

    def assembled(part: np.ndarray, rows: np.ndarray, size: tuple[int, int]) -> Any:
        at = [np.broadcast_to(one, part.shape).ravel() for one in (
            rows[:, :, None], rows[:, None])]
        return sparse.coo_matrix((part.ravel(), tuple(at)), size).tocsr()

    scalar = assembled(inertia, dofs, (basis.N, basis.N))
    stiffness = assembled(whole.reshape(e, 3 * k, 3 * k), rows, size)
    return sparse.kron(scalar, np.eye(3), format='csr'), stiffness


def _ties(frames: Sequence[TiedFrame], places: np.ndarray, surface: np.ndarray) -> Any:
    """Return all displacements by those that are free, (6 f + 3 n, 6 f + 3 n)."""
    from scipy import sparse

    size = 6 * len(frames)
    free = np.ones(size + 3 * len(places))
    own = sparse.lil_matrix((len(free), len(free)))
    for k, frame in enumerate(frames):
        arms = places - frame.origin
        tied = _face(arms, frame, surface)
        if tied is None:
            raise ValueError(f'has no face within {frame.radius:g} m of '
                             f'({" ".join(f"{x:g}" for x in frame.origin)}) m')
        rows = size + 3 * np.flatnonzero(tied)
        if not np.all(free[rows]):
            raise ValueError('has a face within reach of two frames; give smaller radii')
        x, y, z = arms[tied].T
        for a, (b, c), (plus, minus) in ((0, (4, 5), (z, y)), (1, (5, 3), (x, z)),
                                         (2, (3, 4), (y, x))):
            free[rows + a] = 0.0
            own[rows + a, 6 * k + a] = 1.0
            own[rows + a, 6 * k + b], own[rows + a, 6 * k + c] = plus, -minus
    return (sparse.diags(free) + own).tocsr()


def _face(arms: np.ndarray, frame: TiedFrame, surface: np.ndarray) -> Optional[np.ndarray]:
    """Return whether each node moves with a frame, (n,); None where they span no face."""
    near = surface & (np.linalg.norm(arms, axis=1) <= frame.radius)
    found, tolerance = [], 1e-3 * frame.radius
    for normal in np.eye(3) if frame.normal is None else [frame.normal]:
        flat = near & (np.abs(arms @ normal) <= 0.1 * tolerance)
        if flat.any() and np.linalg.matrix_rank(
                arms[flat] - arms[flat].mean(axis=0), tol=tolerance) == 2:
            found.append(flat)
    if found:
        return max(found, key=np.count_nonzero)
    if frame.normal is not None or not near.any():
        return None
    spread = np.linalg.matrix_rank(arms[near] - arms[near].mean(axis=0), tol=tolerance)
    return near if spread >= 2 else None
