# SPDX-License-Identifier: Apache-2.0
"""<flexible_link> with every element and attribute: beams, modes from files, segments."""

from __future__ import annotations

from flexdyn_ros.model.extension.schema import (
    Attribute,
    Element,
    MOMENTS_OF_INERTIA,
    NO_UNIT,
    PURE,
)

# Units of joints that turn and of joints that slide.
TORQUE = 'N m | N'
SPEED = 'rad/s | m/s'
FRICTION = Element(
    'friction',
    'Friction on the motor side, in output units: viscous qd + (coulomb + (stribeck - coulomb) '
    'exp(-(qd/stribeck_velocity)^2)) tanh(qd/smoothing_velocity). It replaces '
    '<dynamics> of the URDF.',
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
_DAMPING_RATIOS = Attribute(
    'damping_ratio', 'damping_ratios', PURE,
    'Damping against stiffness and modal mass: one number for all modes, or one for each.',
    default='0',
)  # fmt: skip
_BASIS = Attribute(
    'basis', 'choice', NO_UNIT, 'Shapes: eigen: natural modes; polynomial: of rising degree, '
    'meeting the clamped or pinned ends, each made orthogonal over the length to those before.',
    default='eigen', choices=('eigen', 'polynomial'),
)  # fmt: skip
_STATIC_MODES = Attribute(
    'static_modes', 'count', PURE, 'Residual-static modes on top: 1 for a tip load along the '
    'family (force or torque), in bending 2 for a tip moment too. With them such a load has its '
    'exact static deflection, however few modes there are.', default='0',
)  # fmt: skip
_PROPERTIES = tuple(
    Attribute(name, 'positive', unit, text)
    for name, unit, text in (
        ('area', 'm^2', 'Area of the cross-section.'),
        ('iy', 'm^4', 'Second moment of area about y.'),
        ('iz', 'm^4', 'Second moment of area about z.'),
        ('j', 'm^4', 'Torsion constant.'),
        ('polar', 'm^4', 'Polar second moment of area; default: j.'),
        ('young', 'Pa', "Young's modulus."),
        ('shear', 'Pa', 'Shear modulus.'),
        ('linear_density', 'kg/m', 'Mass per length.'),
    )
)  # fmt: skip
BEAM = Element(
    'beam',
    'A beam, Euler-Bernoulli (or Timoshenko) in bending and Saint-Venant in torsion; uniform, or '
    'with a section that runs through stations. x runs along it. rho = mass per length / area. '
    'About its axis it has the polar inertia rho polar per length.',
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
                  'inertia in bending too; it needs area, iy and iz. The shapes of natural modes '
                  'take it in where shear deforms.', default='false'),
        Attribute('interpolation', 'choice', NO_UNIT, 'How properties run between stations: '
                  'linear; conical: as of similar sections on a cone, areas with the square and '
                  'second moments with the fourth power of a size that runs linearly.',
                  default='linear', choices=('linear', 'conical')),
        Attribute('loaded', 'boolean', NO_UNIT, 'Whether the shapes are those of the beam with '
                  'all that it carries: point masses, the payload, child links as rigid bodies '
                  'with every joint at zero. Damping then goes by their mass too.',
                  default='false'),
        Attribute('loss_factor', 'non_negative', PURE, 'Loss factor of the material, as '
                  "equivalent viscous damping at the link's own natural frequencies: a ratio of "
                  'half of it. All kinds of damping add up.', default='0'),
        Attribute('rayleigh_mass', 'non_negative', '1/s', 'Rayleigh damping: factor of the '
                  'modal mass.', default='0'),
        Attribute('rayleigh_stiffness', 'non_negative', 's', 'Rayleigh damping: factor of the '
                  'stiffness.', default='0'),
    ),
    (
        Element(
            'bending', 'Bending modes in one direction.',
            (
                Attribute('axis', 'choice', NO_UNIT, 'Direction that the beam deflects along.',
                          required=True, choices=('y', 'z')),
                _MODES,
                _DAMPING_RATIOS,
                Attribute('boundary', 'choice', NO_UNIT, 'Boundary conditions of the mode shapes, '
                          'root then tip. Of a pinned root the slope is taken off, as the joint '
                          'turns. Shapes are unit at the tip, or where that stands still at their '
                          'largest deflection.', default='clamped-free',
                          choices=('clamped-free', 'pinned-free', 'clamped-clamped',
                                   'clamped-pinned')),
                _BASIS,
                _STATIC_MODES,
                Attribute('shear_correction', 'positive', PURE, "Timoshenko's shear coefficient, "
                          'such as 0.8333: the beam deforms in shear too, with the rigidity '
                          'shear_correction shear area. It needs shear and area.'),
            ),
            key='axis',
        ),
        Element('torsion', 'Torsion modes, clamped at the root, free at the tip.',
                (_MODES, _DAMPING_RATIOS, _BASIS, _STATIC_MODES)),
        Element('axial', 'Modes that stretch the beam, clamped at the root, free at the tip; they '
                'need young and area.', (_MODES, _DAMPING_RATIOS, _BASIS, _STATIC_MODES)),
        Element(
            'station', 'The cross-section at one place of a beam that is not uniform, from root '
            'to tip; two at one place are a step. What a station does not give is the value of '
            '<beam>. Mass is spread like the area.',
            (
                Attribute('at', 'fraction', PURE, 'Fraction of the length; the first is 0, the '
                          'last 1.', required=True),
                *_PROPERTIES,
            ),
            repeats=True,
        ),
        Element(
            'point_mass', 'A mass on a cross-section; it comes on top of <inertial>.',
            (
                Attribute('at', 'fraction', PURE, 'Fraction of the length.', required=True),
                Attribute('mass', 'non_negative', 'kg', 'Mass.', required=True),
                *MOMENTS_OF_INERTIA,
            ),
            repeats=True,
        ),
    ),
)  # fmt: skip
MODAL = Element(
    'modal',
    'Modes from a finite-element export or a measurement; their names are <link>/mode1 and so on, '
    'and they keep the scaling of the file. docs/modal_files.md describes the files. A payload '
    'hangs on the nearest node, by a rigid arm. There is no geometric stiffening.',
    (
        Attribute('file', 'text', NO_UNIT, 'Path, package:// or file:// address of the data.',
                  required=True),
        Attribute('format', 'choice', NO_UNIT, 'Its format; sid is not computed yet.',
                  required=True, choices=('sid', 'npz')),
        Attribute('modes', 'mode_numbers', PURE, 'Modes to keep; default: all.'),
        Attribute('damping_ratio', 'fraction', PURE, "Of every mode; default: the file's."),
        Attribute('tolerance', 'positive', 'm', 'How far a child joint may stand from the node '
                  'that carries it; it hangs on the node by a rigid arm.', default='0.001'),
    ),
    (
        Element(
            'attach', 'Which node carries a child joint; without it, the nearest one.',
            (
                Attribute('joint', 'joint', NO_UNIT, 'A child joint of the link.', required=True),
                Attribute('node', 'node', PURE, 'Node number in the file.', required=True),
            ),
            key='joint',
        ),
    ),
)  # fmt: skip
# As those of <beam>, whose data <segments> are.
_BEAM_DATA = tuple(
    a for a in BEAM.attributes
    if a.name in ('y_axis', 'polar', 'mass', 'density', 'linear_density')
)
SEGMENTS = Element(
    'segments',
    'A uniform beam as a chain of `count` rigid bodies with passive joints between them, springs '
    'of EI/s (GJ/s about x) in each, s the length between two joints. Modes are the joint angles, '
    'named after the body that turns: <link>/segment2_z is the first joint, about z. Geometric '
    'stiffening is inherent. What hangs on the link hangs on the body that holds its place.',
    (
        Attribute('count', 'count', PURE, 'Number of bodies, at least 2.', required=True),
        Attribute('directions', 'rotation_axes', NO_UNIT, 'Rotation axes of the passive joints '
                  'in beam axes, applied x, y, z: z bends along y, y along z, x twists.',
                  required=True),
        Attribute('placement', 'choice', NO_UNIT, 'centred: bodies of half length at the ends, '
                  'with an error of second order in 1/count; reference: equal bodies, the first '
                  'rigid with the link, too stiff with an error of first order.',
                  default='centred', choices=('centred', 'reference')),
        _TIP,
        *_SECTION,
        *_BEAM_DATA,
        Attribute('damping_ratio', 'fraction', PURE, 'Of the first vibration of the clamped link '
                  'alone about each direction. The dampers of the passive joints are in '
                  'proportion to their springs, so that faster vibrations decay faster.',
                  default='0'),
    ),
    (
        Element('friction', 'Friction in each passive joint, about each direction; the law of '
                'joint friction.', FRICTION.attributes),
        *(child for child in BEAM.children if child.name == 'point_mass'),
    ),
)  # fmt: skip
MODE_SPRING = Element(
    'mode_spring',
    'Nonlinear stiffness of a mode: a force of its own coordinate x, and the energy that it '
    'is the derivative of. It acts beside the linear stiffness and the coupling of modes, or in '
    'place of the first. Damping ratios keep counting from the linear stiffness.',
    (
        Attribute('mode', 'text', NO_UNIT, 'The mode, without the link: bending_y1, segment2_z.',
                  required=True),
        Attribute('points', 'spring_points', 'm, N | rad, N m', 'A table of deflection and force, '
                  'interpolated as the <spring> of a joint is.'),
        Attribute('polynomial', 'coefficients', 'N/m^n | N m/rad^n', 'k1 k2 ... of the force '
                  'k1 x + k2 x^2 + ...; "0 0 k3" is the cubic law of Duffing. Odd powers alone '
                  'make the law symmetric.'),
        Attribute('linear', 'choice', NO_UNIT, 'keep: the force comes on top of the linear '
                  'stiffness; replace: it stands for it.', default='keep',
                  choices=('keep', 'replace')),
    ),
    key='mode',
)  # fmt: skip
FLEXIBLE_LINK = Element(
    'flexible_link',
    'A link that bends, described by one of <beam>, <modal> and <segments>.',
    (
        Attribute('link', 'link', NO_UNIT, 'The link.', required=True),
        Attribute('inertial', 'choice', NO_UNIT, "What the link's <inertial> describes: "
                  'total: the whole undeformed link; hub: a rigid body beside the beam.',
                  default='total', choices=('total', 'hub')),
        Attribute('geometric_stiffening', 'boolean', NO_UNIT, 'Whether bending draws every '
                  'point of the beam in along it, exactly to second order in the slopes, so that '
                  'loads along the beam stiffen it, or soften it; with rotation="linear", King\'s '
                  'equations, there is none.',
                  default='true'),
        Attribute('rotation', 'choice', NO_UNIT, 'How rotations follow from modes: exact '
                  '(exponential) or linear (first order).', default='exact',
                  choices=('exact', 'linear')),
        Attribute('deflection', 'choice', NO_UNIT, 'How far the equations of motion go in the '
                  "link's modes: exact (all terms), or linearised, the small-deflection model: "
                  'linear in the deflections and their rates in the rows of the modes, of second '
                  'order in those of the joints; undeformed_kinetic_energy: inertia as of the '
                  'undeformed arm; see docs/reduced_forms.md.', default='exact',
                  choices=('exact', 'linearised', 'undeformed_kinetic_energy')),
    ),
    (BEAM, MODAL, SEGMENTS, MODE_SPRING),
    key='link',
)  # fmt: skip
