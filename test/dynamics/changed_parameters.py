# SPDX-License-Identifier: Apache-2.0
"""Descriptions of robots, and a change of each attribute that the dynamics must show."""

BASE = """
<robot name="r"><link name="link0"/>
<link name="link1"><inertial><origin xyz="0.4 0.01 0.02"/><mass value="3"/>
<inertia ixx="0.9" ixy="0.01" ixz="0.02" iyy="1.1" iyz="0.03" izz="1.2"/></inertial></link>
<link name="link2"><inertial><origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/><mass value="1.5"/>
<inertia ixx="0.02" ixy="0.001" ixz="0.002" iyy="0.03" iyz="0.003" izz="0.04"/></inertial></link>
<link name="link3"><inertial><mass value="0.5"/>
<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial></link>
<joint name="joint1" type="revolute"><origin xyz="0 0 0.3" rpy="0.1 0.2 0.3"/>
<parent link="link0"/><child link="link1"/><axis xyz="0 0.6 0.8"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/>
<dynamics damping="0.5" friction="0.3"/></joint>
<joint name="joint2" type="revolute"><origin xyz="0.8 0.1 0.05" rpy="0.3 0.1 0.2"/>
<parent link="link1"/><child link="link2"/><axis xyz="0 0.6 0.8"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="joint3" type="prismatic"><origin xyz="0.1 0 0" rpy="0.3 0.1 0.2"/>
<parent link="link2"/><child link="link3"/><axis xyz="1 0 0"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/>
<mimic joint="joint1" multiplier="0.7" offset="0.2"/></joint>
<flexdyn version="1.0"><gravity xyz="1 2 -9"/>
<flexible_link link="link1" inertial="total" geometric_stiffening="false" rotation="exact">
<beam tip="0.9 0.2 0.1" y_axis="0.1 1 0.2" young="2e8" shear="8e7" area="1e-3" iy="2e-5" iz="3e-5"
 j="4e-5" polar="5e-5" iyz="5e-6" mass="0.7" rotary_inertia="false" shear_centre="0.01 0.02">
<bending axis="y" modes="2" damping_ratio="0.02"/>
<bending axis="z" modes="1" damping_ratio="0.03"/>
<torsion modes="1" damping_ratio="0.01"/><axial modes="1" damping_ratio="0.01"/>
<point_mass at="0.6" mass="0.4" ixx="0.01" iyy="0.02" izz="0.03"/></beam></flexible_link>
<joint_dynamics joint="joint1" damping="0.4" rotor_inertia="2e-4" gear_ratio="30"
 parallel_stiffness="5" rest_position="0.1" parallel_damping="0.2"/>
<joint_dynamics joint="joint2" stiffness="300" damping="0.6" rotor_inertia="1e-4" gear_ratio="50">
<bearing directions="rx ty" stiffness="4000 1e5" damping="3 4"/>
<friction viscous="0.4" coulomb="0.5" stribeck="0.9" stribeck_velocity="0.8"
 smoothing_velocity="0.5"/></joint_dynamics>
<payload link="link1" mass="0.6" com="0.5 0.1 0.2" ixx="0.01" iyy="0.02" izz="0.02" ixy="0.001"
 ixz="0.002" iyz="0.003"/>
<mode_coupling modes="link1/bending_y1 link1/torsion1" powers="1 2" energy="90"/></flexdyn></robot>
"""
# A link in segments behind a nonlinear spring, with nonlinear stiffness in two passive joints.
SEGMENTED = """
<robot name="s"><link name="link0"/><link name="link1"/><link name="link2"><inertial>
<mass value="0.5"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial>
</link><joint name="joint1" type="continuous"><parent link="link0"/><child link="link1"/>
<axis xyz="0 0.6 0.8"/></joint>
<joint name="joint2" type="continuous"><origin xyz="0.8 0.1 0.05" rpy="0.3 0.1 0.2"/>
<parent link="link1"/><child link="link2"/><axis xyz="0 0.6 0.8"/></joint>
<flexdyn version="1.0"><flexible_link link="link1">
<segments count="3" directions="x y z" placement="centred" tip="0.9 0.2 0.1" y_axis="0.1 1 0.2"
 young="2e8" shear="8e7" area="1e-3" iy="2e-5" iz="3e-5" j="4e-5" polar="5e-5" mass="0.7"
 iyz="5e-6" damping_ratio="0.02"><friction viscous="0.4" coulomb="0.5" stribeck="0.9"
 stribeck_velocity="0.8" smoothing_velocity="0.5"/>
<point_mass at="0.6" mass="0.4" ixx="0.01" iyy="0.02" izz="0.03"/></segments>
<mode_spring mode="segment2_y" polynomial="0 40 900" linear="keep"/>
<mode_spring mode="segment3_z" points="-0.1 -9, 0 0, 0.01 1, 0.1 20"/></flexible_link>
<joint_dynamics joint="joint1" rotor_inertia="2e-4" gear_ratio="30">
<spring points="-0.1 -9, 0 0, 0.01 1, 0.1 20"/></joint_dynamics></flexdyn></robot>
"""
BEAM = 'flexdyn/flexible_link/beam'
SEGMENTS = 'flexdyn/flexible_link/segments'
MODE_SPRING = 'flexdyn/flexible_link/mode_spring'
JOINT2 = "flexdyn/joint_dynamics[@joint='joint2']"
MULTI_AXIS, LOOP = 'flexdyn/multi_axis_joint', 'flexdyn/loop'
# Attributes that choose the subject of an element, or that have one possible value.
NAMES = {
    ('flexdyn', 'version'), ('flexdyn/flexible_link', 'link'), ('flexdyn/joint_dynamics', 'joint'),
    ('flexdyn/payload', 'link'), ('flexdyn/base', 'motion'), ('flexdyn/actuated', 'joints'),
    (MULTI_AXIS, 'joint'), (f'{MULTI_AXIS}/axis', 'name'),
    *((LOOP, name) for name in ('name', 'frame1', 'frame2')),
}
# Of files, each attribute matters in test_modal_files.py.
MODAL = 'flexdyn/flexible_link/modal'
# (element's path in the base text, attribute, changed value).
CHANGES = [
    *(('flexdyn/gravity', 'xyz', v) for v in ('1.1 2 -9', '1 2.1 -9', '1 2 -9.1')),
    ('flexdyn/flexible_link', 'inertial', 'hub'), ('flexdyn/flexible_link', 'rotation', 'linear'),
    ('flexdyn/flexible_link', 'geometric_stiffening', 'true'),
    ('flexdyn/flexible_link', 'deflection', 'linearised'),
    *((BEAM, 'tip', v) for v in ('0.95 0.2 0.1', '0.9 0.25 0.1', '0.9 0.2 0.15', 'joint2')),
    (BEAM, 'y_axis', '0.1 1 0.3'), (BEAM, 'young', '2.1e8'), (BEAM, 'shear', '8.1e7'),
    (BEAM, 'area', '1.1e-3'), (BEAM, 'iy', '2.1e-5'), (BEAM, 'iz', '3.1e-5'),
    (BEAM, 'iyz', '6e-6'), (BEAM, 'shear_centre', '0.01 0.03'), (BEAM, 'root', '0.05 0 0'),
    (BEAM, 'j', '4.1e-5'), (BEAM, 'polar', '5.1e-5'), (BEAM, 'mass', '0.75'),
    (BEAM, 'rotary_inertia', 'true'), (f"{BEAM}/bending[@axis='y']", 'axis', 'z'),
    (f"{BEAM}/bending[@axis='y']", 'modes', '3'), (f'{BEAM}/torsion', 'modes', '2'),
    *((f"{BEAM}/bending[@axis='{a}']", 'damping_ratio', '0.05') for a in 'yz'),
    (f'{BEAM}/torsion', 'damping_ratio', '0.02'), (f'{BEAM}/point_mass', 'at', '0.7'),
    (f'{BEAM}/axial', 'damping_ratio', '0.02'), (f'{BEAM}/axial', 'modes', '2'),
    (f"{BEAM}/bending[@axis='y']", 'boundary', 'pinned-free'),
    (f"{BEAM}/bending[@axis='y']", 'boundary', 'clamped-clamped'),
    (f"{BEAM}/bending[@axis='y']", 'boundary', 'clamped-pinned'),
    (f"{BEAM}/bending[@axis='z']", 'shear_correction', '0.8'),
    *((f'{BEAM}/{family}', name, value) for family in ("bending[@axis='z']", 'torsion', 'axial')
      for name, value in (('basis', 'polynomial'), ('static_modes', '1'))),
    (BEAM, 'loaded', 'true'), (BEAM, 'loss_factor', '0.1'), (BEAM, 'rayleigh_mass', '0.3'),
    (BEAM, 'rayleigh_stiffness', '0.01'),
    (f'{BEAM}/point_mass', 'mass', '0.5'),
    *((f'{BEAM}/point_mass', name, '0.025') for name in ('ixx', 'iyy', 'izz')),
    (JOINT2, 'stiffness', '310'), (JOINT2, 'damping', '0.7'), (JOINT2, 'rotor_inertia', '2e-4'),
    ("flexdyn/joint_dynamics[@joint='joint1']", 'parallel_stiffness', '6'),
    ("flexdyn/joint_dynamics[@joint='joint1']", 'rest_position', '0.2'),
    ("flexdyn/joint_dynamics[@joint='joint1']", 'parallel_damping', '0.3'),
    (f'{JOINT2}/bearing', 'directions', 'rz ty'),
    (f'{JOINT2}/bearing', 'stiffness', '4000 1.1e5'), (f'{JOINT2}/bearing', 'damping', '3 5'),
    ('flexdyn/mode_coupling', 'modes', 'link1/bending_y1 joint2/bearing_rx'),
    ('flexdyn/mode_coupling', 'powers', '2 1'), ('flexdyn/mode_coupling', 'energy', '100'),
    (JOINT2, 'pitch', '0.05'), (JOINT2, 'gear_ratio', '51'),
    ("flexdyn/joint_dynamics[@joint='joint1']", 'damping', '0.5'),
    ("flexdyn/joint_dynamics[@joint='joint1']", 'rotor_inertia', '3e-4'),
    ("flexdyn/joint_dynamics[@joint='joint1']", 'gear_ratio', '31'),
    *((f'{JOINT2}/friction', name, '0.7') for name in (
        'viscous', 'coulomb', 'stribeck', 'stribeck_velocity', 'smoothing_velocity')),
    ('flexdyn/payload', 'mass', '0.7'),
    *(('flexdyn/payload', 'com', v) for v in ('0.6 0.1 0.2', '0.5 0.2 0.2', '0.5 0.1 0.3')),
    *(('flexdyn/payload', name, '0.015') for name in ('ixx', 'iyy', 'izz')),
    *(('flexdyn/payload', name, '0.004') for name in ('ixy', 'ixz', 'iyz')),
]
SEGMENT_CHANGES = [
    (SEGMENTS, 'count', '4'), (SEGMENTS, 'directions', 'y z'),
    (SEGMENTS, 'placement', 'reference'), (SEGMENTS, 'tip', '0.9 0.25 0.1'),
    (SEGMENTS, 'y_axis', '0.1 1 0.3'),
    (SEGMENTS, 'young', '2.1e8'), (SEGMENTS, 'shear', '8.1e7'), (SEGMENTS, 'area', '1.1e-3'),
    (SEGMENTS, 'iy', '2.1e-5'), (SEGMENTS, 'iz', '3.1e-5'), (SEGMENTS, 'j', '4.1e-5'),
    (SEGMENTS, 'iyz', '6e-6'), (SEGMENTS, 'root', '0.05 0 0'),
    (SEGMENTS, 'polar', '5.1e-5'), (SEGMENTS, 'mass', '0.75'), (SEGMENTS, 'damping_ratio', '0.03'),
    (f'{SEGMENTS}/point_mass', 'at', '0.7'), (f'{SEGMENTS}/point_mass', 'mass', '0.5'),
    *((f'{SEGMENTS}/point_mass', name, '0.025') for name in ('ixx', 'iyy', 'izz')),
    *((f'{SEGMENTS}/friction', name, '0.7') for name in (
        'viscous', 'coulomb', 'stribeck', 'stribeck_velocity', 'smoothing_velocity')),
    (f'{MODE_SPRING}[1]', 'mode', 'segment2_x'), (f'{MODE_SPRING}[1]', 'polynomial', '0 41 900'),
    (f'{MODE_SPRING}[1]', 'linear', 'replace'),
    (f'{MODE_SPRING}[2]', 'points', '-0.1 -9, 0 0, 0.01 2, 0.1 20'),
    ('flexdyn/joint_dynamics/spring', 'points', '-0.1 -9, 0 0, 0.01 2, 0.1 20'),
]
URDF_CHANGES = [
    ("link[@name='link2']/inertial/mass", 'value', '1.6'),
    *(("link[@name='link2']/inertial/origin", 'xyz', v) for v in (
        '0.2 0.2 0.3', '0.1 0.3 0.3', '0.1 0.2 0.4')),
    *(("link[@name='link2']/inertial/origin", 'rpy', v) for v in (
        '0.2 0.2 0.3', '0.1 0.3 0.3', '0.1 0.2 0.4')),
    *(("link[@name='link2']/inertial/inertia", name, '0.035') for name in ('ixx', 'iyy', 'izz')),
    *(("link[@name='link2']/inertial/inertia", name, '0.004') for name in ('ixy', 'ixz', 'iyz')),
    *(("joint[@name='joint2']/origin", 'xyz', v) for v in (
        '0.7 0.1 0.05', '0.8 0.2 0.05', '0.8 0.1 0.1')),
    *(("joint[@name='joint2']/origin", 'rpy', v) for v in (
        '0.4 0.1 0.2', '0.3 0.2 0.2', '0.3 0.1 0.3')),
    ("joint[@name='joint2']/axis", 'xyz', '0 0.8 0.6'),
    ("joint[@name='joint1']/dynamics", 'damping', '0.6'),
    ("joint[@name='joint1']/dynamics", 'friction', '0.4'),
    ("joint[@name='joint3']/mimic", 'multiplier', '0.8'),
    ("joint[@name='joint3']/mimic", 'offset', '0.3'),
]
# A beam of stations in the place of the uniform one.
TAPERED = BASE.replace(' young="2e8" shear="8e7" area="1e-3" iy="2e-5" iz="3e-5"\n j="4e-5" '
                       'polar="5e-5" iyz="5e-6" mass="0.7"', '').replace('<torsion', """
<station at="0" young="2e8" shear="8e7" area="1e-3" iy="2e-5" iz="3e-5" j="4e-5" polar="5e-5"
 iyz="5e-6" linear_density="0.8"/>
<station at="0.4" young="2e8" shear="8e7" area="9e-4" iy="1.8e-5" iz="2.8e-5" j="3e-5"
 polar="4e-5" iyz="5e-6" linear_density="0.7"/>
<station at="1" young="1.9e8" shear="7e7" area="5e-4" iy="1e-5" iz="2e-5" j="2e-5" polar="3e-5"
 iyz="4e-6" linear_density="0.5"/><torsion""", 1)
STATION_CHANGES = [
    ('young', '2.1e8'), ('shear', '8.1e7'), ('area', '1.1e-3'), ('iy', '2.1e-5'),
    ('iz', '3.1e-5'), ('j', '4.1e-5'), ('polar', '5.1e-5'), ('linear_density', '0.9'),
    ('at', '0.5'), ('iyz', '6e-6'),
]
