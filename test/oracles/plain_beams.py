# SPDX-License-Identifier: Apache-2.0
"""A single beam on the ground, its frequencies, and roots of equations."""

import flexdyn_ros as fd
from flexdyn_ros.simulation.frequencies import stiffness_matrix
import numpy as np
from oracles.compare import reference_dynamics
from scipy.linalg import eigh

LENGTH, MASS, YOUNG, SHEAR, AREA, IY, IZ, J = 1.3, 0.7, 7e10, 2.6e10, 1e-3, 1e-7, 2e-7, 2.5e-7
UNIFORM = f'young="{YOUNG}" shear="{SHEAR}" area="{AREA}" iy="{IY}" iz="{IZ}" j="{J}"'
UNIT = np.sqrt(YOUNG * IZ / (MASS / LENGTH) / LENGTH**4)


def beam_dynamics(inside, section=UNIFORM, attributes='', joint='fixed', mass=MASS, child=''):
    """Return Dynamics of a beam along x with a frame `tip` at its end, gravity off."""
    text = (
        f'<robot name="b"><link name="base"/><link name="rod"/><link name="tip">{child}</link>'
        f'<joint name="root" type="{joint}"><parent link="base"/><child link="rod"/>'
        f'<axis xyz="0 0 1"/></joint><joint name="end" type="fixed"><origin xyz="{LENGTH} 0 0"/>'
        '<parent link="rod"/><child link="tip"/></joint><flexdyn version="1.0">'
        '<gravity xyz="0 0 0"/><flexible_link link="rod" geometric_stiffening="false">'
        f'<beam tip="end" {section} mass="{mass}" {attributes}>{inside}</beam></flexible_link>'
        '</flexdyn></robot>'
    )
    return reference_dynamics(fd.load_robot(text))


def rates(dyn):
    """Return the natural frequencies above zero [rad/s], ascending."""
    zero = np.zeros(dyn.robot.nq)
    squares = eigh(stiffness_matrix(dyn, zero), dyn.mass_matrix(zero), eigvals_only=True)
    return np.sqrt(squares[squares > 1e-3])


def beam_of(dyn):
    """Return the beam and its families."""
    beam = dyn.robot.link('rod').beam
    return beam, beam.families
