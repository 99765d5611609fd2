# SPDX-License-Identifier: Apache-2.0
"""<joint_dynamics> and <friction> with every attribute."""

from __future__ import annotations

from flexdyn_ros.model.schema.schema import Attribute
from flexdyn_ros.model.schema.schema import Element
from flexdyn_ros.model.schema.schema import NO_UNIT
from flexdyn_ros.model.schema.schema import PURE

# Units of joints that turn and of joints that slide.
TORQUE = 'N m | N'
SPEED = 'rad/s | m/s'

FRICTION = Element(
    'friction',
    'Friction on the motor side, in output units: viscous qd + (coulomb + (stribeck - coulomb) '
    'exp(-(qd/stribeck_velocity)^2)) tanh(qd/smoothing_velocity). It replaces what the URDF '
    'says in <dynamics>.',
    (
        Attribute('viscous', 'non_negative', 'N m s/rad | N s/m', 'Viscous part.', default='0'),
        Attribute('coulomb', 'non_negative', TORQUE, 'Level at speed.', default='0'),
        Attribute('stribeck', 'non_negative', TORQUE, 'Level at break-away; default: coulomb.'),
        Attribute('stribeck_velocity', 'positive', SPEED, 'Speed scale of its decay; stribeck '
                  'needs it.'),
        Attribute('smoothing_velocity', 'positive', SPEED, 'Width of the smoothed sign.',
                  default='0.01'),
    ),
)  # fmt: skip

JOINT_DYNAMICS = Element(
    'joint_dynamics',
    'The drive of a revolute, continuous or prismatic joint. With stiffness or <spring> '
    'the joint is elastic: its coordinate is the motor side, and the deflection is the '
    'mode <joint>/elastic.',
    (
        Attribute('joint', 'joint', NO_UNIT, 'The joint, or one axis of a joint of several, '
                  '<joint>/tx, which has no spring.', required=True),
        Attribute('stiffness', 'positive', 'N m/rad | N/m', 'Spring between motor and '
                  'link side; default: stiff.'),
        Attribute('damping', 'non_negative', 'N m s/rad | N s/m', 'Viscous; across the '
                  'spring where there is one.', default='0'),
        Attribute('rotor_inertia', 'non_negative', 'kg m^2 | kg', 'Inertia of the rotor, '
                  'before the gear.', default='0'),
        Attribute('gear_ratio', 'positive', PURE, 'Motor turns per turn of the output.',
                  default='1'),
    ),
    (
        FRICTION,
        Element(
            'spring',
            'A nonlinear spring, instead of stiffness: hardening, softening or with a dead zone. '
            'Between its points the torque is the monotone cubic interpolant of Fritsch and '
            'Carlson (PCHIP), constant between two equal torques; beyond the ends it goes on '
            'with the slope that it has there, and with two points it is a straight line. The '
            'energy is its exact integral.',
            (
                Attribute('points', 'spring_points', 'rad, N m | m, N', 'Deflection and torque '
                          'of each point; torques may not fall.', required=True),
            ),
        ),
    ),
    key='joint',
)  # fmt: skip
