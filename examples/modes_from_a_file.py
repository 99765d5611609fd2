#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Modes of finite elements in a file (docs/modal_files.md): [FILE.npz [PICTURE.png]]."""

from pathlib import Path
import sys
import tempfile

import flexdyn_ros as fd
from flexdyn_ros.simulation.frequencies import natural_modes, stiffness_matrix
from flexdyn_ros.simulation.mode_pictures import save_mode_shapes
import numpy as np

LENGTH, MASS, RIGIDITY, ELEMENTS, MODES = 1.0, 0.5, 203.5752, 24, 3  # [m, kg, N m^2]
ROBOT = """<robot name="rod"><link name="wall"/><link name="rod"/><link name="tip"/>
<joint name="root" type="fixed"><parent link="wall"/><child link="rod"/></joint>
<joint name="end" type="fixed"><origin xyz="1 0 0"/><parent link="rod"/><child link="tip"/></joint>
<flexdyn version="1.0"><flexible_link link="rod" geometric_stiffening="false">
<modal file="{}" format="npz"><attach joint="end" node="24"/></modal>
</flexible_link></flexdyn></robot>"""


def finite_elements():
    """Return lumped mass and condensed stiffness of the deflections, and slopes from these."""
    h, size = LENGTH / ELEMENTS, 2 * ELEMENTS + 2
    element = np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h],
                        [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h * h, -6 * h, 4 * h * h]])
    whole = np.zeros((size, size))
    for e in range(0, 2 * ELEMENTS, 2):
        whole[e:e + 4, e:e + 4] += RIGIDITY / h**3 * element
    whole = whole[2:, 2:]  # the root is clamped
    slopes = -np.linalg.solve(whole[1::2, 1::2], whole[1::2, ::2])
    mass = MASS / ELEMENTS * np.array([*[1.0] * (ELEMENTS - 1), 0.5])
    return mass, whole[::2, ::2] + whole[::2, 1::2] @ slopes, slopes


def main():
    folder = tempfile.TemporaryDirectory()
    path = Path(*sys.argv[1:2] or [folder.name, 'rod.npz']).resolve()
    mass, stiffness, slopes = finite_elements()
    rates, shapes = natural_modes(np.diag(mass), stiffness)
    translation, rotation = np.zeros((2, MODES, ELEMENTS + 1, 3))
    translation[:, 1:, 1], rotation[:, 1:, 2] = shapes.T[:MODES], (slopes @ shapes).T[:MODES]
    np.savez(
        path, format_version=1, node_ids=np.arange(ELEMENTS + 1),
        node_positions=np.outer(np.linspace(0.0, LENGTH, ELEMENTS + 1), [1.0, 0.0, 0.0]),
        translation=translation, rotation=rotation, modal_mass=np.eye(MODES),
        stiffness=np.diag(rates[:MODES] ** 2), node_masses=[0.5 * MASS / ELEMENTS, *mass],
    )
    dyn = fd.Dynamics(fd.load_robot(ROBOT.format(path)))
    print(dyn.robot, dyn.robot.mode_names)
    stiffness = stiffness_matrix(dyn, np.zeros(MODES))
    rates, _ = natural_modes(dyn.mass_matrix(np.zeros(MODES)), stiffness)
    print('frequencies [Hz]', rates / (2 * np.pi))
    if len(sys.argv) > 2:
        save_mode_shapes(dyn.robot, sys.argv[2])


if __name__ == '__main__':
    main()
