# SPDX-License-Identifier: Apache-2.0
"""A beam with a body at its tip in several bases: errors of frequencies and static deflection."""

from __future__ import annotations

import flexdyn_ros as fd
from flexdyn_ros.simulation.frequencies import natural_modes, stiffness_matrix
import numpy as np

# Attributes of <beam>, of <bending> with {n} kept modes, and the number of static ones on top.
BASES = {
    'clamped-free': ('', 'modes="{n}"', 0),
    'clamped-free, one static': ('', 'modes="{n}" static_modes="1"', 1),
    'Craig-Bampton': ('', 'modes="{n}" static_modes="2" boundary="clamped-clamped"', 2),
    'polynomial': ('', 'modes="{n}" basis="polynomial"', 0),
    'loaded': ('loaded="true"', 'modes="{n}"', 0),
}
HINGED = {
    'clamped-free': ('', 'modes="{n}"', 0),
    'pinned-free': ('', 'modes="{n}" boundary="pinned-free"', 0),
    'polynomial': ('', 'modes="{n}" basis="polynomial"', 0),
}
# Beam of unit length, mass and bending stiffness; the body at its tip.
TIP_MASS, TIP_INERTIA = 2.0, 0.1
URDF = """<robot name="beam"><link name="wall"/><link name="beam"/><link name="tip">{tip}</link>
<joint name="root" type="{joint}"><parent link="wall"/><child link="beam"/><axis xyz="0 0 1"/>
</joint><joint name="end" type="fixed"><origin xyz="1 0 0"/><parent link="beam"/>
<child link="tip"/></joint><flexdyn version="1.0"><gravity xyz="0 0 0"/>
<flexible_link link="beam" geometric_stiffening="false"><beam tip="end" mass="1" young="1" iz="1"
 {beam}><bending axis="y" {family}/></beam></flexible_link></flexdyn></robot>"""
TIP = (
    f'<inertial><mass value="{TIP_MASS}"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" '
    f'izz="{TIP_INERTIA}"/></inertial>'
)


def dynamics(basis: tuple[str, str, int], size: int, hinged: bool = False) -> fd.Dynamics:
    """Return Dynamics of the beam with `size` coordinates of a basis."""
    beam, family, static = basis
    if size == static:  # no natural modes, whose boundary would matter
        family = family.replace(' boundary="clamped-clamped"', '')
    text = URDF.format(
        tip='' if hinged else TIP, joint='continuous' if hinged else 'fixed', beam=beam,
        family=family.format(n=size - static),
    )
    return fd.Dynamics(fd.load_robot(text), backend='reference')


def rates(basis: tuple[str, str, int], size: int, hinged: bool = False) -> np.ndarray:
    """Return the natural frequencies above zero, ascending."""
    dyn = dynamics(basis, size, hinged)
    zero = np.zeros(dyn.robot.nv)
    found, _ = natural_modes(dyn.mass_matrix(zero), stiffness_matrix(dyn, zero))
    return found[found > 1e-6]


def deflection_error(basis: tuple[str, str, int], size: int) -> float:
    """Return the missing part of the static deflection under a tip force, over 1 / 3."""
    dyn = dynamics(basis, size)
    zero = np.zeros(dyn.robot.nv)
    shape = dyn.jacobian(zero, 'tip')[1]
    return abs(1.0 - 3.0 * float(shape @ np.linalg.solve(stiffness_matrix(dyn, zero), shape)))


def exact(hinged: bool = False) -> np.ndarray:
    """Return the frequencies that the solver's natural modes of the same problem have."""
    basis = HINGED['pinned-free'] if hinged else BASES['loaded']
    return rates(basis, 10, hinged)
