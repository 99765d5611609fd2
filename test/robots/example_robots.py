# SPDX-License-Identifier: Apache-2.0
"""The example robots and their data by hand: files, arguments, names and masses."""

from math import pi
from pathlib import Path
import re
from typing import NamedTuple

from validation.case_file import expected, inputs
import xacro

URDF_FOLDER = Path(__file__).resolve().parents[2] / 'urdf'

TUBES = (
    2700.0 * 0.6 * pi * (0.02**2 - 0.018**2 + 0.0125**2 - 0.011**2)
)  # of one arm of dual_arm [kg]
CASE_4 = {
    'ei_factor': '1',
    'link_mass': '1',
    'modes_z': '1',
    'tip_mass': '0',
    'joint_mass': '2',
    'gravity': '0 0 0',
}


class Variant(NamedTuple):
    """
    An example robot with one set of arguments.

    Attributes:
        robot: File name without `.urdf.xacro`.
        arguments: xacro arguments.
        joints: Expected joint names, depth first.
        modes: Expected mode names, in the order of the coordinates.
        mass: Expected mass of all links, payloads apart [kg].
    """

    robot: str
    arguments: dict
    joints: tuple
    modes: tuple
    mass: float

    def __str__(self):
        """Return the name that tests show."""
        return '-'.join([self.robot, *(f'{k}={v}' for k, v in self.arguments.items())])


def numbered(prefix, count):
    """Return `<prefix>1` to `<prefix>count`."""
    return tuple(f'{prefix}{k + 1}' for k in range(count))


def canadarm_modes(in_plane, out_of_plane=0):
    """Return the Canadarm's mode names, link by link."""
    return tuple(
        f'{link}/{mode}'
        for link in ('upper_arm', 'forearm', 'hand')
        for mode in numbered('bending_y', in_plane) + numbered('bending_z', out_of_plane)
    )


def expand(robot, arguments=None):
    """Return the URDF text of an example robot with the given xacro arguments."""
    path = URDF_FOLDER / f'{robot}.urdf.xacro'
    return xacro.process_file(str(path), mappings=dict(arguments or {})).toprettyxml()


def declared_arguments(robot):
    """Return {name: default} of the xacro arguments that a robot's file declares."""
    text = (URDF_FOLDER / f'{robot}.urdf.xacro').read_text()
    return dict(re.findall(r'<xacro:arg name="(\w+)" default="([^"]*)"/>', text))


CRANE = ('slew', 'luff')
ARM_3 = ('shoulder', 'elbow', 'wrist')
ARM_2 = ('joint1', 'joint2')
ARM_S = ('yaw', 'pitch', 'elbow')
BASE = tuple(f'base_motion/{axis}' for axis in ('tx', 'ty', 'tz', 'rx', 'ry', 'rz'))
ARM_6 = numbered('joint', 6)
ARM_7 = numbered('joint', 7)
FOUR_BAR = ('crank', 'coupler', 'rocker')
LEGS = tuple(
    f'{name}{k}/{axis}' for k in (1, 2, 3) for name, axes in (('leg', ('ry', 'rz', 'tx')),
                                                              ('foot', ('ry', 'rz')))
    for axis in axes
)
DELTA = tuple(
    f'{name}{k}' for k in (1, 2, 3) for name in ('motor', 'knee', 'sway', 'unsway', 'ankle')
)
DUAL = tuple(
    side + name for side in ('left_', 'right_') for name in ('waist', 'shoulder', 'elbow', 'wrist')
)
BEAM_MODES = numbered('beam/bending_y', 4) + numbered('beam/torsion', 4)
FOREARM_MODES = ('link4/bending_y1', 'link4/bending_z1')
ELASTIC = tuple(f'{joint}/elastic' for joint in ARM_7)

# Masses are sums of the published ones: Gaz and others; Paul; Armstrong and others.
PANDA_MASS = 0.629769 + 4.970684 + 0.646926 + 3.228604 + 3.587895 + 1.225946 + 1.666555 + 0.735522
STANFORD_MASS = 9.29 + 5.01 + 4.25 + 1.08 + 0.63 + 0.51
PUMA_MASS = 17.4 + 4.8 + 0.82 + 0.34 + 0.09  # without link 1
BOOM_MASS = 2700.0 * pi * (1.8 * (0.06**2 - 0.055**2) + 1.2 * (0.05**2 - 0.046**2))
SEGMENTED_MASS = 3 * 2700.0 * 0.04**2 * 1.25
SATELLITE_MASS = 120.0 + 2.0 + 1.5 + 2700.0 * 3.0 * 2 * pi * 0.0195 * 0.001
DUAL_MASS = 2 * (2.0 + 0.4 + TUBES)


def dual_modes(count):
    """Return the dual arm's mode names, arm by arm."""
    return tuple(
        f'{side}{name}'
        for side in ('left_', 'right_')
        for name in ('shoulder/elastic',)
        + tuple(
            f'{link}/{mode}'
            for link in ('upper_arm', 'forearm')
            for mode in numbered('bending_y', count) + numbered('bending_z', count)
        )
    )


def segment_modes(count, axes, spring=False):
    """Return the segmented arm's mode names, outward; joint 3's spring before link 3."""
    links = [
        tuple(f'{link}/segment{k}_{axis}' for k in range(2, count + 1) for axis in axes)
        for link in ('link2', 'link3')
    ]
    return links[0] + (('joint3/elastic',) if spring else ()) + links[1]


def satellite_modes(bending, torsion=0):
    """Return the satellite arm's mode names, tube by tube."""
    return tuple(
        f'{link}/{mode}'
        for link in ('upper_arm', 'forearm')
        for mode in numbered('bending_y', bending) + numbered('bending_z', bending)
        + numbered('torsion', torsion)
    )


VARIANTS = (
    Variant('canadarm', {}, ARM_3, canadarm_modes(2), 320.0),
    Variant(
        'canadarm',
        {'modes': '3', 'out_of_plane_modes': '1', 'damping_ratio': '0.02'},
        ARM_3,
        canadarm_modes(3, 1),
        320.0,
    ),
    Variant('canadarm', {'modes': '0'}, ARM_3, (), 320.0),
    Variant('canadarm', {'payload_mass': '50'}, ARM_3, canadarm_modes(2), 320.0),
    Variant('flexible_beam', {}, (), BEAM_MODES, 0.5),
    Variant(
        'flexible_beam',
        {'hinged': 'true', 'torsion_modes': '0', 'gravity': '0 -9.81 0'},
        ('hinge',),
        numbered('beam/bending_y', 4),
        0.5,
    ),
    Variant(
        'flexible_beam',
        {'modes': '2', 'modes_z': '1', 'torsion_modes': '1', 'damping_ratio': '0.05',
         'hardening': '1e5'},
        (),
        ('beam/bending_y1', 'beam/bending_y2', 'beam/bending_z1', 'beam/torsion1'),
        0.5,
    ),
    Variant('two_link_arm', {}, ARM_2, ('link1/bending_y1', 'link2/bending_y1'), 2.0),
    Variant(
        'two_link_arm',
        {'ei_factor': '0.05', 'modes': '2', 'damping_ratio': '0.01'},
        ARM_2,
        numbered('link1/bending_y', 2) + numbered('link2/bending_y', 2),
        2.0,
    ),
    Variant(
        'two_link_arm',
        CASE_4,
        ARM_2,
        tuple(
            f'{link}/{mode}'
            for link in ('link1', 'link2')
            for mode in ('bending_y1', 'bending_z1')
        ),
        4.0,
    ),
    Variant(
        'two_link_arm',
        {**CASE_4, 'torsion_modes': '1', 'joint_inertia': '0.0125'},
        ARM_2,
        (
            'link1/bending_y1',
            'link1/bending_z1',
            'link1/torsion1',
            'link2/bending_y1',
            'link2/bending_z1',
        ),
        4.0,
    ),
    Variant('cobot7', {}, ARM_7, FOREARM_MODES, PANDA_MASS),
    Variant(
        'cobot7',
        {'elastic_joints': 'true', 'joint_stiffness': '10000'},
        ARM_7,
        ELASTIC[:4] + FOREARM_MODES + ELASTIC[4:],
        PANDA_MASS,
    ),
    Variant(
        'cobot7',
        {'elastic_joints': 'true', 'friction': 'false', 'flexible_forearm': 'false'},
        ARM_7,
        ELASTIC,
        PANDA_MASS,
    ),
    Variant('cobot7', {'flexible_forearm': 'false', 'friction': 'false'}, ARM_7, (), PANDA_MASS),
    Variant(
        'cobot7',
        {'elastic_joints': 'true', 'joint_spring': 'strain_wave', 'flexible_forearm': 'false'},
        ARM_7,
        ELASTIC,
        PANDA_MASS,
    ),
    Variant(
        'cobot7',
        {'modes': '2', 'torsion_modes': '1'},
        ARM_7,
        numbered('link4/bending_y', 2) + numbered('link4/bending_z', 2) + ('link4/torsion1',),
        PANDA_MASS,
    ),
    Variant('segmented_arm', {}, ('joint2', 'joint3'), segment_modes(5, 'z'), SEGMENTED_MASS),
    Variant(
        'segmented_arm',
        {'segments': '3', 'directions': 'x y z', 'placement': 'centred', 'damping_ratio': '0.01',
         'first_joint': 'continuous', 'joint_spring': 'true'},
        ('joint1', 'joint2', 'joint3'),
        segment_modes(3, 'xyz', spring=True),
        SEGMENTED_MASS,
    ),
    Variant('four_bar', {}, FOUR_BAR, (), 3.8),
    Variant('four_bar', {'modes': '1', 'constrain': 'rx rz tx ty tz'}, FOUR_BAR,
            ('coupler/bending_z1',), 3.8),
    Variant('hslm', {}, LEGS, (), 12.5),
    Variant('delta', {}, DELTA, ('arm1/bending_y1', 'arm1/bending_z1'), 1.98),
    Variant('delta', {'modes': '0', 'payload_mass': '0.5'}, DELTA, (), 1.98),
    Variant('stanford_arm', {}, ARM_6, (), STANFORD_MASS),
    Variant('stanford_arm', {'d2': '0.2'}, ARM_6, (), STANFORD_MASS),
    Variant('puma560', {}, ARM_6, (), PUMA_MASS + 10.0),
    Variant('puma560', {'link1': 'published'}, ARM_6, (), PUMA_MASS),
    Variant('puma560', {'drives': 'true'}, ARM_6, (), PUMA_MASS + 10.0),
    Variant('puma560', {'model': 'el_rayyes'}, ARM_6, (), PUMA_MASS + 10.0),
    Variant(
        'spinning_beam', {}, ('spin',), numbered('beam/bending_y', 3) + ('beam/bending_z1',), 12.0
    ),
    Variant(
        'spinning_beam',
        {'hub_radius': '0.5', 'modes': '1', 'modes_z': '0', 'tip_mass': '3'},
        ('spin',),
        ('beam/bending_y1',),
        15.0,
    ),
    Variant('satellite_arm', {}, BASE + ARM_S, satellite_modes(1), SATELLITE_MASS),
    Variant(
        'satellite_arm',
        {'base_motion': 'prescribed', 'modes': '2', 'torsion_modes': '1', 'payload_mass': '3'},
        BASE + ARM_S,
        satellite_modes(2, 1),
        SATELLITE_MASS,
    ),
    Variant(
        'satellite_arm', {'base_motion': 'fixed'}, ARM_S, satellite_modes(1), SATELLITE_MASS
    ),
    Variant('dual_arm', {}, DUAL, dual_modes(1), DUAL_MASS),
    Variant('dual_arm', {'modes': '2', 'payload_mass': '0'}, DUAL, dual_modes(2), DUAL_MASS),
    Variant(
        'telescopic_boom',
        {},
        CRANE,
        (
            'boom/bending_y1', 'boom/bending_y_static1', 'boom/bending_z1',
            'boom/bending_z_static1', 'boom/torsion1',
        ),
        BOOM_MASS + 20.0,
    ),
    Variant(
        'telescopic_boom',
        {'boundary': 'clamped-clamped', 'static_modes': '2', 'torsion_modes': '0',
         'axial_modes': '1', 'hoist_mass': '5'},
        CRANE,
        tuple(
            f'boom/bending_{axis}{mode}'
            for axis in 'yz'
            for mode in ('1', '_static1', '_static2')
        ) + ('boom/axial1',),
        BOOM_MASS + 5.0,
    ),
    Variant(
        'telescopic_boom',
        {'modes': '2', 'basis': 'polynomial', 'static_modes': '0', 'torsion_modes': '0',
         'loaded': 'false', 'shear': 'false'},
        CRANE,
        numbered('boom/bending_y', 2) + numbered('boom/bending_z', 2),
        BOOM_MASS + 20.0,
    ),
)
ROBOTS = tuple(sorted({variant.robot for variant in VARIANTS}))

# Torques of the Stanford arm of Paul and the Puma 560 of Armstrong and others, as the validation
# compares them. Beside them stands the gravity torque of Corke's Robotics Toolbox.
_CASES = {'stanford_arm': 'er_stanford_vectors', 'puma560': 'er_puma_vectors'}
STATE = inputs('er_stanford_vectors')
REFERENCES = {
    robot: {key: expected(case, key) for key in ('torque', 'gravity', 'mass_matrix')}
    for robot, case in _CASES.items()
}
PUMA_GRAVITY_CASE = inputs('er_puma_gravity')['q'], expected('er_puma_gravity', 'gravity')
# Mass matrix of the rigid Canadarm, stretched out: slender rods of 6, 7, 2 m and 140, 85, 95 kg.
CANADARM_MASS_MATRIX = (
    (28350.0, 13845.0, 4085.0 / 3),
    (13845.0, 7500.0, 2375.0 / 3),
    (4085.0 / 3, 2375.0 / 3, 380.0 / 3),
)
