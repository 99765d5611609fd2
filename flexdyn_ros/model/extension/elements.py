# SPDX-License-Identifier: Apache-2.0
"""
The URDF extension as one table: every element and attribute with its unit, default and meaning.

Validation, suggestions for misspelt names and the page docs/urdf_extension.md all come from it.
"""

from __future__ import annotations

from flexdyn_ros.model.extension.flexible_link_schema import FLEXIBLE_LINK, FRICTION
from flexdyn_ros.model.extension.schema import (
    Attribute,
    Element,
    MOMENTS_OF_INERTIA,
    NO_UNIT,
    PURE,
)

JOINT_DYNAMICS = Element(
    'joint_dynamics',
    'The drive of a revolute, continuous or prismatic joint. With stiffness or <spring> '
    'the joint is elastic: its coordinate is the motor side, and the deflection is the '
    'mode <joint>/elastic.',
    (
        Attribute('joint', 'joint', NO_UNIT, 'The joint, or one axis of a multi-axis joint, '
                  '<joint>/tx, which has no spring.', required=True),
        Attribute('stiffness', 'positive', 'N m/rad | N/m', 'Spring between motor and '
                  'link side; default: stiff.'),
        Attribute('damping', 'non_negative', 'N m s/rad | N s/m', 'Viscous damping; across the '
                  'spring of an elastic joint.', default='0'),
        Attribute('rotor_inertia', 'non_negative', 'kg m^2 | kg', 'Inertia of the rotor, on the '
                  'motor side of the gear.', default='0'),
        Attribute('gear_ratio', 'positive', PURE, 'Motor turns per turn of the output.',
                  default='1'),
    ),
    (
        FRICTION,
        Element(
            'spring',
            'A nonlinear spring, instead of stiffness: hardening, softening or with a dead zone. '
            'Between its points the torque is the monotone cubic interpolant of Fritsch and '
            'Carlson (PCHIP), constant between two equal torques. Beyond the ends it continues '
            'with the slope at the end. Two points are a straight line. The energy is the exact '
            'integral of the torque.',
            (
                Attribute('points', 'spring_points', 'rad, N m | m, N', 'Deflection and torque '
                          'of each point; torques may not fall.', required=True),
            ),
        ),
    ),
    key='joint',
)  # fmt: skip
_PRODUCTS = tuple(
    Attribute(name, 'number', 'kg m^2', f'Product of inertia {name}, as in URDF.', default='0')
    for name in ('ixy', 'ixz', 'iyz')
)
FLEXDYN = Element(
    'flexdyn',
    'A child of <robot>, any number of times; all are merged.',
    (
        Attribute('version', 'choice', NO_UNIT, 'Version of this extension.', default='1.0',
                  choices=('1.0', '1')),
    ),
    (
        Element('gravity', 'Gravity.', (
            Attribute('xyz', 'vector', 'm/s^2', 'Acceleration of gravity in the root frame; '
                      'without <gravity> it is "0 0 -9.81".', required=True),
        )),
        FLEXIBLE_LINK,
        JOINT_DYNAMICS,
        Element(
            'payload', 'A rigid body that a link carries.',
            (
                Attribute('link', 'link', NO_UNIT, 'The link.', required=True),
                Attribute('mass', 'non_negative', 'kg', 'Mass.', required=True),
                Attribute('com', 'vector', 'm', 'Centre of mass in the link frame.',
                          default='0 0 0'),
                *MOMENTS_OF_INERTIA,
                *_PRODUCTS,
            ),
            key='link',
        ),
        Element(
            'base', 'Motion of the root link. A moving base adds a fixed root link "world" '
            '("base_motion/world" if there is a "world" already). The floating joint '
            '"base_motion" connects it to the former root. Gravity, wrenches and poses are in '
            'axes of "world". The first six entries of a torque are the wrench on the base: force '
            "[N], then moment [N m]. It acts at the base frame's origin, in its axes.",
            (
                Attribute('motion', 'choice', NO_UNIT, 'fixed: no motion. prescribed: the '
                          'acceleration is given (hybrid dynamics, forward dynamics and '
                          'simulation with base_acceleration), and the required wrench is a '
                          'result. free: the base '
                          'floats.', required=True, choices=('fixed', 'prescribed', 'free')),
            ),
        ),
        Element(
            'multi_axis_joint', 'Several axes in one joint without links between them, on a URDF '
            'joint of type floating. The child frame rotates about its own x, y and z axis in '
            'that order. It then translates along its own axes. Coordinates are <joint>/rx and so '
            'on.',
            (
                Attribute('joint', 'joint', NO_UNIT, 'The joint.', required=True),
                Attribute('axes', 'motion_directions', NO_UNIT, 'Its axes, [rad] and [m].',
                          required=True),
                Attribute('rotation', 'choice', NO_UNIT, 'angles: one coordinate for each axis. '
                          'quaternion: x y z w, with the angular velocity in child axes as rate; '
                          'it needs rx ry rz and has no singular position.',
                          default='angles', choices=('angles', 'quaternion')),
            ),
            key='joint',
        ),
        Element(
            'loop', 'A closed chain: frame1 cannot move relative to frame2 in some directions. '
            'With tx ty tz the origins coincide, with rx ry rz the axes do. With two rotations '
            'the axes of the third one coincide. With one rotation the frames rotate like two '
            'shafts of a constant-velocity joint about that axis; in a plane this means equal '
            'angles.',
            (
                Attribute('name', 'text', NO_UNIT, 'Its name.', required=True),
                Attribute('frame1', 'link', NO_UNIT, 'A link frame.', required=True),
                Attribute('frame2', 'link', NO_UNIT, 'A link frame, in which the directions are '
                          'expressed.', required=True),
                Attribute('constrain', 'motion_directions', NO_UNIT, 'Directions without relative '
                          'motion.',
                          required=True),
            ),
            key='name',
        ),
        Element('actuated', 'The joints with motors.', (
            Attribute('joints', 'joints', NO_UNIT, 'Their names, or coordinates of multi-axis '
                      'joints, <joint>/tx. Default without <actuated>: all movable joints. With '
                      'loops, inverse dynamics computes torques of these alone.', required=True),
        )),
    ),
)  # fmt: skip
