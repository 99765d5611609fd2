# SPDX-License-Identifier: Apache-2.0
"""Every attribute of <flexdyn> changes the robot."""

from extension_texts import DRIVE
from model_texts import arm_with, beam, SECTION
import pytest

FULL = {
    'gravity': '<gravity xyz="0 0 -9.81"/>',
    'link': beam('y_axis="0 1 0" rotary_inertia="true" polar="3e-7" ' + SECTION,
                 '<bending axis="y" modes="1" damping_ratio="0.01"/>'
                 '<bending axis="z" modes="1" damping_ratio="0.01"/>'
                 '<torsion modes="1" damping_ratio="0.01"/>'
                 '<point_mass at="0.5" mass="1" ixx="0.1" iyy="0.1" izz="0.1"/>',
                 flexible='geometric_stiffening="false" rotation="exact" inertial="total"'),
    'segments': '<flexible_link link="fore"><segments count="5" directions="x y z" tip="wrist" '
    'y_axis="0 0 1" young="6e10" shear="3e10" area="2e-3" iy="3e-7" iz="4e-7" j="5e-7" '
    'polar="6e-7" density="800" placement="centred" damping_ratio="0.07"><friction viscous="0.7" '
    'coulomb="0.8"/><point_mass at="0.9" mass="3"/></segments></flexible_link>',
    'mode spring': '<flexible_link link="upper">'
    '<mode_spring mode="bending_y1" polynomial="0 0 3e4" linear="keep"/></flexible_link>',
    'drive': DRIVE,
    'spring': '<joint_dynamics joint="shoulder" rotor_inertia="1e-5">'
    '<spring points="-1 -10, 0 0, 1 10, 2 40"/></joint_dynamics>',
    'payload': '<payload link="tool" mass="1.5" com="0 0 0.05" ixx="0.1" iyy="0.2" izz="0.3" '
    'ixy="0.01" ixz="0.02" iyz="0.03"/>',
    'sensor': '<sensor name="gauge" measures="strain" frame="upper" axis="0 1 0" at="0.3" '
    'distance="0.02" noise="1e-6"/>',
    'actuated': '<actuated joints="shoulder elbow"/>',
}
CHANGES = [
    ('xyz="0 0 -9.81"', 'xyz="0 0 -9"'),
    ('tip="elbow"', 'tip="0.999 0 0"'),
    ('y_axis="0 1 0"', 'y_axis="0 1 1"'),
    ('rotary_inertia="true"', 'rotary_inertia="false"'),
    ('inertial="total"', 'inertial="hub"'),
    ('rotation="exact"', 'rotation="linear"'),
    ('geometric_stiffening="false"', 'geometric_stiffening="true"'),
    ('young="7e10"', 'young="7.1e10"'),
    ('shear="2.6e10"', 'shear="2.7e10"'),
    ('area="1e-3"', 'area="1.1e-3"'),
    ('iy="1e-7"', 'iy="1.1e-7"'),
    ('iz="2e-7"', 'iz="2.1e-7"'),
    ('j="2.5e-7"', 'j="2.6e-7"'),
    ('polar="3e-7"', 'polar="3.1e-7"'),
    ('mass="1">', 'mass="1.1">'),
    ('mass="1">', 'density="900">'),
    ('mass="1">', 'linear_density="0.9">'),
    ('axis="y" modes="1"', 'axis="y" modes="2"'),
    ('axis="z" modes="1"', 'axis="z" modes="3"'),
    ('torsion modes="1"', 'torsion modes="2"'),
    ('axis="y" modes="1" damping_ratio="0.01"', 'axis="y" modes="1" damping_ratio="0.02"'),
    ('axis="z" modes="1" damping_ratio="0.01"', 'axis="z" modes="1" damping_ratio="0.02"'),
    ('torsion modes="1" damping_ratio="0.01"', 'torsion modes="1"'),
    ('<torsion', '<axial modes="1"/><torsion'),
    ('<torsion', '<station at="0"/><station at="1"/><torsion'),
    ('mass="1">', 'mass="1" loaded="true">'),
    ('mass="1">', 'mass="1" loss_factor="0.01">'),
    ('mass="1">', 'mass="1" rayleigh_mass="0.01">'),
    ('mass="1">', 'mass="1" rayleigh_stiffness="0.01">'),
    ('axis="y" modes="1"', 'axis="y" modes="1" boundary="clamped-pinned"'),
    ('axis="y" modes="1"', 'axis="y" modes="1" basis="polynomial"'),
    ('axis="y" modes="1"', 'axis="y" modes="1" static_modes="1"'),
    ('axis="y" modes="1"', 'axis="y" modes="1" shear_correction="0.8"'),
    ('at="0.5"', 'at="0.6"'),
    ('at="0.5" mass="1"', 'at="0.5" mass="2"'),
    ('mass="1" ixx="0.1"', 'mass="1" ixx="0.2"'),
    ('ixx="0.1" iyy="0.1"', 'ixx="0.1" iyy="0.2"'),
    ('iyy="0.1" izz="0.1"', 'iyy="0.1" izz="0.2"'),
    ('stiffness="1.2e4"', 'stiffness="1.3e4"'),
    ('points="-1 -10', 'points="-1 -11'),
    ('mode="bending_y1" poly', 'mode="bending_z1" poly'),
    ('polynomial="0 0 3e4"', 'polynomial="0 0 4e4"'),
    ('polynomial="0 0 3e4"', 'points="-1 -1, 0 0"'),
    ('linear="keep"', 'linear="replace"'),
    ('count="5"', 'count="6"'),
    ('directions="x y z"', 'directions="y z"'),
    ('y_axis="0 0 1"', 'y_axis="0 1 1"'),
    ('young="6e10"', 'young="6.1e10"'),
    ('shear="3e10"', 'shear="3.1e10"'),
    ('area="2e-3"', 'area="2.1e-3"'),
    ('iy="3e-7"', 'iy="3.1e-7"'),
    ('iz="4e-7"', 'iz="4.1e-7"'),
    ('j="5e-7"', 'j="5.1e-7"'),
    ('polar="6e-7"', 'polar="6.1e-7"'),
    ('density="800"', 'density="801"'),
    ('placement="centred"', 'placement="reference"'),
    ('damping_ratio="0.07"', 'damping_ratio="0.08"'),
    ('viscous="0.7"', 'viscous="0.8"'),
    ('coulomb="0.8"', 'coulomb="0.9"'),
    ('at="0.9" mass="3"', 'at="0.9" mass="3.1"'),
    ('damping="5"', 'damping="6"'),
    ('rotor_inertia="3e-5"', 'rotor_inertia="4e-5"'),
    ('gear_ratio="100"', 'gear_ratio="101"'),
    ('viscous="4"', 'viscous="5"'),
    ('coulomb="2.1"', 'coulomb="2.2"'),
    ('stribeck="3"', 'stribeck="3.1"'),
    ('stribeck_velocity="0.05"', 'stribeck_velocity="0.06"'),
    ('smoothing_velocity="0.02"', 'smoothing_velocity="0.03"'),
    ('payload link="tool"', 'payload link="fore"'),
    ('mass="1.5"', 'mass="1.6"'),
    ('com="0 0 0.05"', 'com="0 0 0.06"'),
    ('com="0 0 0.05" ixx="0.1"', 'com="0 0 0.05" ixx="0.2"'),
    ('iyy="0.2"', 'iyy="0.3"'),
    ('izz="0.3"', 'izz="0.4"'),
    ('ixy="0.01"', 'ixy="0.02"'),
    ('ixz="0.02"', 'ixz="0.03"'),
    ('iyz="0.03"', 'iyz="0.04"'),
    ('name="gauge"', 'name="other"'),
    ('axis="0 1 0" at', 'axis="0 0 1" at'),
    ('at="0.3"', 'at="0.4"'),
    ('distance="0.02"', 'distance="0.03"'),
    ('noise="1e-6"', 'noise="2e-6"'),
    ('joints="shoulder elbow"', 'joints="shoulder"'),
]


@pytest.mark.parametrize(('before', 'after'), CHANGES, ids=[after for _, after in CHANGES])
def test_every_attribute_changes_the_robot(before, after):
    text = ''.join(FULL.values())
    assert before in text
    assert arm_with(text.replace(before, after)) != arm_with(text)
