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
        Attribute('stribeck_velocity', 'positive', SPEED, 'Speed scale of the decay to coulomb; '
                  'stribeck needs it.'),
        Attribute('smoothing_velocity', 'positive', SPEED, 'Width of the smoothed sign.',
                  default='0.01'),
    ),
)  # fmt: skip
_TIP = Attribute(
    'tip', 'text', 'm',
    'End of the beam: a child joint, a link (its frame at zero configuration), or "x y z" in the '
    'link frame. The beam starts at the origin of the link frame.',
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
    'modes', 'count', PURE, 'Number of modes, from the lowest frequency up.', required=True,
)  # fmt: skip
_DAMPING_RATIOS = Attribute(
    'damping_ratio', 'damping_ratios', PURE,
    'Damping ratio with respect to stiffness and modal mass: one number for all modes, or one for '
    'each.',
    default='0',
)  # fmt: skip
_BASIS = Attribute(
    'basis', 'choice', NO_UNIT, 'Shapes. eigen: natural modes. polynomial: polynomials of rising '
    'degree that meet the clamped or pinned ends, each orthogonal over the length to those '
    'before.',
    default='eigen', choices=('eigen', 'polynomial'),
)  # fmt: skip
_STATIC_MODES = Attribute(
    'static_modes', 'count', PURE, 'Additional residual-static modes: 1 for a force or torque at '
    'the tip along the family, in bending 2 for a tip moment too. The static deflection under '
    'such a force or moment is then exact with any number of modes.', default='0',
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
    'A beam, Euler-Bernoulli (or Timoshenko) in bending and Saint-Venant in torsion. It is '
    'uniform, or its section varies through stations. The axis x points along it. rho is mass per '
    'length / area. The polar inertia about the beam axis is rho polar per length.',
    (
        _TIP,
        Attribute('y_axis', 'direction', PURE, "The beam's y axis in the link frame, projected "
                  "orthogonal to the beam; default: the link's y, or z if that is parallel."),
        *_SECTION,
        Attribute('polar', 'non_negative', 'm^4', 'Polar second moment of area; default: j. It '
                  'needs area.'),
        Attribute('mass', 'positive', 'kg', 'Mass. Alternatives: density, linear_density, or none '
                  'of them; the beam then takes the whole mass of <inertial>.'),
        Attribute('density', 'positive', 'kg/m^3', 'Density, instead of mass; it needs area.'),
        Attribute('linear_density', 'positive', 'kg/m', 'Mass per length, instead of mass.'),
        Attribute('rotary_inertia', 'boolean', NO_UNIT, 'Whether cross-sections have rotary '
                  'inertia in bending; it needs area, iy and iz. With shear deformation it also '
                  'enters the shapes of natural modes.', default='false'),
        Attribute('interpolation', 'choice', NO_UNIT, 'Interpolation of properties between '
                  'stations. linear: each property is linear. conical: similar sections on a '
                  'cone; areas follow the square and second moments the fourth power of a linear '
                  'size.',
                  default='linear', choices=('linear', 'conical')),
        Attribute('loaded', 'boolean', NO_UNIT, 'Whether the shapes are those of the loaded beam: '
                  'with point masses, payload, and child links as rigid bodies with every joint '
                  'at zero. Damping then includes their mass.',
                  default='false'),
        Attribute('loss_factor', 'non_negative', PURE, 'Loss factor of the material, as '
                  "equivalent viscous damping at the link's own natural frequencies. The damping "
                  'ratio is half of it. All kinds of damping add up.', default='0'),
        Attribute('rayleigh_mass', 'non_negative', '1/s', 'Rayleigh damping: factor of the '
                  'modal mass.', default='0'),
        Attribute('rayleigh_stiffness', 'non_negative', 's', 'Rayleigh damping: factor of the '
                  'stiffness.', default='0'),
    ),
    (
        Element(
            'bending', 'Bending modes in one direction.',
            (
                Attribute('axis', 'choice', NO_UNIT, 'Direction of the deflection.',
                          required=True, choices=('y', 'z')),
                _MODES,
                _DAMPING_RATIOS,
                Attribute('boundary', 'choice', NO_UNIT, 'Boundary conditions of the mode shapes, '
                          'root then tip. At a pinned root the slope is subtracted, since the '
                          'joint rotates. Shapes have unit deflection at the tip. If the tip does '
                          'not move, they have unit largest deflection.', default='clamped-free',
                          choices=('clamped-free', 'pinned-free', 'clamped-clamped',
                                   'clamped-pinned')),
                _BASIS,
                _STATIC_MODES,
                Attribute('shear_correction', 'positive', PURE, "Timoshenko's shear coefficient, "
                          'such as 0.8333. The beam then also deforms in shear, with the rigidity '
                          'shear_correction shear area. It needs shear and area.'),
            ),
            key='axis',
        ),
        Element('torsion', 'Torsion modes, clamped at the root, free at the tip.',
                (_MODES, _DAMPING_RATIOS, _BASIS, _STATIC_MODES)),
        Element('axial', 'Modes that stretch the beam, clamped at the root, free at the tip; they '
                'need young and area.', (_MODES, _DAMPING_RATIOS, _BASIS, _STATIC_MODES)),
        Element(
            'station', 'The cross-section at one place of a non-uniform beam, from root to tip. '
            'Two at one place are a step. A property that a station omits has the value of '
            '<beam>. Mass is distributed like the area.',
            (
                Attribute('at', 'fraction', PURE, 'Fraction of the length; the first is 0, the '
                          'last 1.', required=True),
                *_PROPERTIES,
            ),
            repeats=True,
        ),
        Element(
            'point_mass', 'A mass on a cross-section, in addition to <inertial>.',
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
    'Modes from a finite-element export or a measurement. Their names are <link>/mode1 and so on, '
    'and they keep the scaling of the file. docs/modal_files.md describes the files. A rigid arm '
    'connects a payload to the nearest node. There is no geometric stiffening.',
    (
        Attribute('file', 'text', NO_UNIT, 'Path, package:// or file:// address of the data.',
                  required=True),
        Attribute('format', 'choice', NO_UNIT, 'Format of the data; sid is not supported yet.',
                  required=True, choices=('sid', 'npz')),
        Attribute('modes', 'mode_numbers', PURE, 'Modes to keep; default: all.'),
        Attribute('damping_ratio', 'fraction', PURE, 'Damping ratio of every mode; default: the '
                  "file's."),
        Attribute('tolerance', 'positive', 'm', 'Largest distance of a child joint from its node; '
                  'a rigid arm connects them.', default='0.001'),
    ),
    (
        Element(
            'attach', 'The node that carries a child joint; default: the nearest one.',
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
    'A uniform beam as a chain of `count` rigid bodies with passive joints between them. Each '
    'joint has springs of EI/s (GJ/s about x), with s the length between two joints. Modes are '
    'the joint angles, named after the outer body: <link>/segment2_z is the first joint, about z. '
    'Geometric stiffening is inherent. A child of the link is attached to the body at its place '
    'along the beam.',
    (
        Attribute('count', 'count', PURE, 'Number of bodies, at least 2.', required=True),
        Attribute('directions', 'rotation_axes', NO_UNIT, 'Rotation axes of the passive joints '
                  'in beam axes, applied x, y, z: z bends along y, y along z, x twists.',
                  required=True),
        Attribute('placement', 'choice', NO_UNIT, 'centred: bodies of half length at the ends, '
                  'with an error of second order in 1/count. reference: equal bodies, the first '
                  'rigid with the link, with a stiffness error of first order.',
                  default='centred', choices=('centred', 'reference')),
        _TIP,
        *_SECTION,
        *_BEAM_DATA,
        Attribute('damping_ratio', 'fraction', PURE, 'Damping ratio of the first vibration of the '
                  'clamped link alone, about each direction. The dampers of the passive joints '
                  'are proportional to their springs: faster vibrations decay faster.',
                  default='0'),
    ),
    (
        Element('friction', 'Friction in each passive joint, about each direction, by the law of '
                'joint friction.', FRICTION.attributes),
        *(child for child in BEAM.children if child.name == 'point_mass'),
    ),
)  # fmt: skip
MODE_SPRING = Element(
    'mode_spring',
    'Nonlinear stiffness of a mode: a force that depends on its own coordinate x, and derives '
    'from an energy. It acts beside the linear stiffness and the coupling of modes, or replaces '
    'the linear stiffness. Damping ratios refer to the linear stiffness.',
    (
        Attribute('mode', 'text', NO_UNIT, 'The mode, without the link: bending_y1, segment2_z.',
                  required=True),
        Attribute('points', 'spring_points', 'm, N | rad, N m', 'A table of deflection and force, '
                  'interpolated like the <spring> of a joint.'),
        Attribute('polynomial', 'coefficients', 'N/m^n | N m/rad^n', 'k1 k2 ... of the force k1 x '
                  '+ k2 x^2 + ...; "0 0 k3" is the cubic law of Duffing. A law of odd powers '
                  'alone is symmetric.'),
        Attribute('linear', 'choice', NO_UNIT, 'keep: the force is added to that of the linear '
                  'stiffness; replace: it replaces that force.', default='keep',
                  choices=('keep', 'replace')),
    ),
    key='mode',
)  # fmt: skip
FLEXIBLE_LINK = Element(
    'flexible_link',
    'A link that bends, described by one of <beam>, <modal> and <segments>.',
    (
        Attribute('link', 'link', NO_UNIT, 'The link.', required=True),
        Attribute('inertial', 'choice', NO_UNIT, "Meaning of the link's <inertial>. total: the "
                  'whole undeformed link. hub: a rigid body beside the beam.',
                  default='total', choices=('total', 'hub')),
        Attribute('geometric_stiffening', 'boolean', NO_UNIT, 'Whether bending moves each point '
                  'along the beam axis (foreshortening), exactly to second order in the slopes. '
                  'Axial forces then stiffen or soften the beam. With rotation="linear", King\'s '
                  'equations, there is none.',
                  default='true'),
        Attribute('rotation', 'choice', NO_UNIT, 'Rotations as functions of modes: exact '
                  '(exponential) or linear (first order).', default='exact',
                  choices=('exact', 'linear')),
        Attribute('deflection', 'choice', NO_UNIT, 'Order of the equations of motion in the '
                  "link's modes. exact: all terms. linearised: small deflections; linear in "
                  "deflections and rates in the modes' equations, of second order in the joints'. "
                  'undeformed_kinetic_energy: inertia of the undeformed arm. See '
                  'docs/reduced_forms.md.', default='exact',
                  choices=('exact', 'linearised', 'undeformed_kinetic_energy')),
    ),
    (BEAM, MODAL, SEGMENTS, MODE_SPRING),
    key='link',
)  # fmt: skip
