# SPDX-License-Identifier: Apache-2.0
"""
The URDF extension as one table: every element and attribute with its unit, default and meaning.

Validation, suggestions for misspelt names and the page docs/urdf_extension.md all come from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from flexdyn_ros.model.extension_values import KINDS

# Unit of what has none.
PURE = '-'
# Unit of names, words and addresses.
NO_UNIT = ''
# Units of joints that turn and of joints that slide.
TORQUE = 'N m | N'
SPEED = 'rad/s | m/s'


@dataclass(frozen=True)
class Attribute:
    """
    An attribute of an element.

    Attributes:
        name: Its name.
        kind: The kind of its value, a key of `KINDS`.
        unit: SI unit; "-" for pure numbers, '' where the value is no number.
        text: What it means.
        default: The value of an unwritten attribute, as it would be written; None where an
            unwritten attribute differs from every written one.
        required: Whether it must be written.
        choices: The words allowed, for kind "choice".
    """

    name: str
    kind: str
    unit: str
    text: str
    default: Optional[str] = None
    required: bool = False
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> object:
        """Return the value of the text; raise ValueError with what is wrong with it."""
        value = KINDS[self.kind][0](text)
        if self.choices and value not in self.choices:
            raise ValueError(f'is not one of {", ".join(self.choices)}')
        return value


@dataclass(frozen=True)
class Element:
    """
    An element inside <flexdyn>.

    Attributes:
        name: Its tag.
        text: What it means.
        attributes: Its attributes.
        children: Elements that may stand in it.
        key: Attribute that tells one such element from the next; None where there is one only.
        repeats: Whether it may stand several times without a key.
        later: Whether it is checked but cannot be computed yet.
    """

    name: str
    text: str
    attributes: tuple[Attribute, ...] = ()
    children: tuple[Element, ...] = ()
    key: Optional[str] = None
    repeats: bool = False
    later: bool = False

    def attribute(self, name: str) -> Optional[Attribute]:
        """Return the attribute of that name, or None."""
        return next((a for a in self.attributes if a.name == name), None)

    def child(self, name: str) -> Optional[Element]:
        """Return the child element of that name, or None."""
        return next((c for c in self.children if c.name == name), None)


_TIP = Attribute(
    'tip', 'text', 'm',
    'Where the beam ends: a child joint, a link (its frame at zero configuration), or "x y z" '
    'in the link frame. The beam begins at the origin of the link frame.',
    required=True,
)  # fmt: skip
_SECTION = (
    Attribute('young', 'positive', 'Pa', "Young's modulus; bending modes need it."),
    Attribute('shear', 'positive', 'Pa', 'Shear modulus; torsion modes need it.'),
    Attribute('area', 'positive', 'm^2', 'Area of the cross-section.'),
    Attribute('iy', 'positive', 'm^4', 'Second moment of area about y; bending along z needs it.'),
    Attribute('iz', 'positive', 'm^4', 'Second moment of area about z; bending along y needs it.'),
    Attribute('j', 'positive', 'm^4', 'Torsion constant; torsion modes need it.'),
)
_MODES = Attribute(
    'modes', 'count', PURE, 'How many, from the lowest frequency up.', required=True,
)  # fmt: skip
_DAMPING_RATIO = Attribute(
    'damping_ratio', 'fraction', PURE,
    'Damping of each mode against its own stiffness and modal mass.', default='0',
)  # fmt: skip
_MOMENTS = tuple(
    Attribute(name, 'non_negative', 'kg m^2', f'Moment of inertia {name}.', default='0')
    for name in ('ixx', 'iyy', 'izz')
)
_PRODUCTS = tuple(
    Attribute(name, 'number', 'kg m^2', f'Product of inertia {name}, as in URDF.', default='0')
    for name in ('ixy', 'ixz', 'iyz')
)

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

BEAM = Element(
    'beam',
    'A uniform beam, Euler-Bernoulli in bending and Saint-Venant in torsion. x runs along it. '
    'rho = mass / (area length). About its axis it has the polar inertia rho polar per length.',
    (
        _TIP,
        Attribute('y_axis', 'direction', PURE, "The beam's y axis in the link frame, made "
                  "orthogonal; default: the link's y, or z where that is parallel."),
        *_SECTION,
        Attribute('polar', 'non_negative', 'm^4', 'Polar second moment of area; default: j. It '
                  'needs area.'),
        Attribute('mass', 'positive', 'kg', 'Mass; or give density or linear_density, or leave '
                  'it to <inertial>, whose whole mass the beam then takes.'),
        Attribute('density', 'positive', 'kg/m^3', 'Density, instead of mass; it needs area.'),
        Attribute('linear_density', 'positive', 'kg/m', 'Mass per length, instead of mass.'),
        Attribute('rotary_inertia', 'boolean', NO_UNIT, 'Whether cross-sections have rotary '
                  'inertia in bending too; it needs area, iy and iz.', default='false'),
    ),
    (
        Element(
            'bending', 'Bending modes in one direction.',
            (
                Attribute('axis', 'choice', NO_UNIT, 'Direction that the beam deflects along.',
                          required=True, choices=('y', 'z')),
                _MODES,
                _DAMPING_RATIO,
                Attribute('boundary', 'choice', NO_UNIT, 'Boundary conditions of the mode shapes, '
                          'root then tip.', default='clamped-free',
                          choices=('clamped-free', 'pinned-free', 'clamped-clamped',
                                   'clamped-pinned')),
            ),
            key='axis',
        ),
        Element('torsion', 'Torsion modes, clamped at the root.', (_MODES, _DAMPING_RATIO)),
        Element(
            'point_mass', 'A mass on a cross-section; it comes on top of <inertial>.',
            (
                Attribute('at', 'fraction', PURE, 'Fraction of the length.', required=True),
                Attribute('mass', 'non_negative', 'kg', 'Mass.', required=True),
                *_MOMENTS,
            ),
            repeats=True,
        ),
    ),
)  # fmt: skip

MODAL = Element(
    'modal',
    'Modes from a finite-element export or a measurement.',
    (
        Attribute('file', 'text', NO_UNIT, 'Path, package:// or file:// address of the data.',
                  required=True),
        Attribute('format', 'choice', NO_UNIT, 'Its format.', required=True,
                  choices=('sid', 'npz')),
        Attribute('modes', 'mode_numbers', PURE, 'Modes to keep; default: all.'),
        Attribute('damping_ratio', 'fraction', PURE, "Of every mode; default: the file's."),
    ),
    (
        Element(
            'attach', 'Which node carries a child joint.',
            (
                Attribute('joint', 'joint', NO_UNIT, 'A child joint of the link.', required=True),
                Attribute('node', 'node', PURE, 'Node number in the file.', required=True),
            ),
            key='joint',
        ),
    ),
    later=True,
)  # fmt: skip

SEGMENTS = Element(
    'segments',
    'Pseudo-rigid segments joined by springs.',
    (
        Attribute('count', 'count', PURE, 'Number of bodies, at least 2.', required=True),
        Attribute('directions', 'rotation_axes', NO_UNIT, 'Rotation axes of the passive joints.',
                  required=True),
        Attribute('placement', 'choice', NO_UNIT, 'centred: bodies of half length at the ends; '
                  'reference: equal bodies, the first rigid with the link.', default='centred',
                  choices=('centred', 'reference')),
        _TIP,
        *_SECTION,
        _DAMPING_RATIO,
    ),
    (FRICTION,),
    later=True,
)  # fmt: skip

FLEXDYN = Element(
    'flexdyn',
    'Directly under <robot>, as often as needed; all are merged.',
    (
        Attribute('version', 'choice', PURE, 'Version of this extension.', default='1.0',
                  choices=('1.0', '1')),
    ),
    (
        Element('gravity', 'Gravity.', (
            Attribute('xyz', 'vector', 'm/s^2', 'Acceleration of gravity in the root frame; '
                      'without <gravity> it is "0 0 -9.81".', required=True),
        )),
        Element(
            'flexible_link',
            'A link that bends, described by one of <beam>, <modal> and <segments>.',
            (
                Attribute('link', 'link', NO_UNIT, 'The link.', required=True),
                Attribute('inertial', 'choice', NO_UNIT, "What the link's <inertial> describes: "
                          'total: the whole undeformed link; hub: a rigid body beside the beam.',
                          default='total', choices=('total', 'hub')),
                Attribute('geometric_stiffening', 'boolean', NO_UNIT, 'Whether deflection draws '
                          'the tip in along the beam, so that axial loads stiffen it.',
                          default='true'),
                Attribute('rotation', 'choice', NO_UNIT, 'How rotations follow from modes: exact '
                          '(exponential) or linear (first order).', default='exact',
                          choices=('exact', 'linear')),
            ),
            (BEAM, MODAL, SEGMENTS),
            key='link',
        ),
        Element(
            'joint_dynamics',
            'The drive of a revolute, continuous or prismatic joint. With stiffness or <spring> '
            'the joint is elastic: its coordinate is the motor side, and the deflection is the '
            'mode <joint>/elastic.',
            (
                Attribute('joint', 'joint', NO_UNIT, 'The joint.', required=True),
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
                Element('spring', 'A nonlinear spring, instead of stiffness.', (
                    Attribute('points', 'spring_points', 'rad, N m | m, N', 'Deflection and '
                              'torque.', required=True),
                ), later=True),
            ),
            key='joint',
        ),
        Element(
            'payload', 'A rigid body that a link carries.',
            (
                Attribute('link', 'link', NO_UNIT, 'The link.', required=True),
                Attribute('mass', 'non_negative', 'kg', 'Mass.', required=True),
                Attribute('com', 'vector', 'm', 'Centre of mass in the link frame.',
                          default='0 0 0'),
                *_MOMENTS,
                *_PRODUCTS,
            ),
            key='link',
        ),
        Element('base', 'How the root link moves.', (
            Attribute('motion', 'choice', NO_UNIT, 'fixed; prescribed: its acceleration is given; '
                      'free: it floats.', required=True,
                      choices=('fixed', 'prescribed', 'free')),
        )),
        Element(
            'multi_axis_joint', 'Several axes in one joint, written on a URDF joint of type '
            'floating.',
            (
                Attribute('joint', 'joint', NO_UNIT, 'The joint.', required=True),
                Attribute('axes', 'motion_directions', NO_UNIT, 'Its axes.', required=True),
            ),
            key='joint',
            later=True,
        ),
        Element(
            'loop', 'A closed chain: frame1 may not move against frame2 in some directions.',
            (
                Attribute('name', 'text', NO_UNIT, 'Its name.', required=True),
                Attribute('frame1', 'link', NO_UNIT, 'A link frame.', required=True),
                Attribute('frame2', 'link', NO_UNIT, 'A link frame, in which the directions are '
                          'expressed.', required=True),
                Attribute('constrain', 'motion_directions', NO_UNIT, 'Directions without motion.',
                          required=True),
            ),
            key='name',
            later=True,
        ),
        Element('actuated', 'Which joints have motors.', (
            Attribute('joints', 'joints', NO_UNIT, 'Their names; without <actuated> all movable '
                      'joints.', required=True),
        )),
    ),
)  # fmt: skip
