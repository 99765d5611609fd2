# SPDX-License-Identifier: Apache-2.0
"""Random flexible robots as URDF text with a <flexdyn> element, repeatable by seed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

ONE_AXIS = ('revolute', 'continuous', 'prismatic')


def numbers(values) -> str:
    """Return numbers as an XML attribute, exact to the last bit."""
    return ' '.join(repr(float(v)) for v in np.atleast_1d(values))


def rpy_of(matrix) -> np.ndarray:
    """Return URDF's roll, pitch, yaw of a rotation matrix [rad]."""
    return Rotation.from_matrix(matrix).as_euler('xyz')


def inertial_xml(mass, com, matrix) -> str:
    """Return an <inertial> element; matrix about the centre of mass in link axes [kg m^2]."""
    m = np.asarray(matrix, float)
    entries = {'ixx': m[0, 0], 'ixy': m[0, 1], 'ixz': m[0, 2]}
    entries |= {'iyy': m[1, 1], 'iyz': m[1, 2], 'izz': m[2, 2]}
    tensor = ' '.join(f'{k}="{numbers(v)}"' for k, v in entries.items())
    return (
        f'<inertial><origin xyz="{numbers(com)}"/><mass value="{numbers(mass)}"/>'
        f'<inertia {tensor}/></inertial>'
    )


def physical_inertia(rng, mass: float, size: float = 0.2) -> np.ndarray:
    """Return a random inertia (3, 3) of a body that could exist [kg m^2]."""
    points = rng.normal(size=(5, 3)) * size
    points -= points.mean(axis=0)
    second = points.T @ points / 5.0
    return mass * (np.trace(second) * np.eye(3) - second)


@dataclass
class RandomBeam:
    """
    A beam with its URDF attributes, and its own mass properties computed here.

    Attributes:
        tip: Tip in the link frame [m].
        axes: Rotation from beam to link axes (3, 3).
        attributes: Attributes of <beam>.
        mass: [kg].
        matrix: Inertia about the beam's middle in link axes (3, 3) [kg m^2].
    """

    tip: np.ndarray
    axes: np.ndarray
    attributes: dict[str, str]
    mass: float
    matrix: np.ndarray

    @classmethod
    def draw(cls, rng) -> RandomBeam:
        """Draw direction, section and mass."""
        axes = Rotation.random(random_state=int(rng.integers(2**31))).as_matrix()
        length, mass = rng.uniform(0.5, 1.5), rng.uniform(0.3, 1.5)
        area, polar = rng.uniform(1e-3, 2e-3), rng.uniform(1e-2, 4e-2)
        iy, iz, j = rng.uniform(1e-6, 4e-6, 3)
        rotary = bool(rng.random() < 0.4)
        values = {
            'y_axis': axes[:, 1] * rng.uniform(0.5, 2.0), 'young': rng.uniform(5e7, 2e8),
            'shear': rng.uniform(2e7, 1e8), 'area': area, 'iy': iy, 'iz': iz, 'j': j,
            'polar': polar, 'mass': mass,
        }
        line = mass / (area * length) * length * np.array([polar, rotary * iy, rotary * iz])
        slender = mass * length**2 / 12.0 * np.array([0.0, 1.0, 1.0])
        attributes = {name: numbers(value) for name, value in values.items()}
        attributes['rotary_inertia'] = 'true' if rotary else 'false'
        matrix = axes @ np.diag(slender + line) @ axes.T
        return cls(length * axes[:, 0], axes, attributes, mass, matrix)

    def with_hub(self, mass, com, matrix):
        """Return mass, centre and inertia of the beam and a rigid hub together."""
        middle = 0.5 * self.tip
        total = mass + self.mass
        centre = (mass * np.asarray(com) + self.mass * middle) / total
        joined = np.zeros((3, 3))
        for m, c, own in ((mass, com, matrix), (self.mass, middle, self.matrix)):
            r = np.asarray(c) - centre
            joined += own + m * (r @ r * np.eye(3) - np.outer(r, r))
        return total, centre, joined


@dataclass
class RandomRobot:
    """The pieces of a random robot while it is being drawn."""

    rng: np.random.Generator
    links: list[str] = field(default_factory=list)
    joints: list[str] = field(default_factory=list)
    extension: list[str] = field(default_factory=list)
    beams: dict[int, RandomBeam] = field(default_factory=dict)
    drives: list[str] = field(default_factory=list)
    leaders: list[str] = field(default_factory=list)

    def add_link(self, k: int, flexible: bool, max_modes: int, may_be_empty: bool) -> None:
        """Draw link k: rigid (empty perhaps), or a beam with a hub in one of three ways."""
        rng = self.rng
        mass = rng.uniform(0.2, 2.0)
        com, matrix = rng.normal(size=3) * 0.2, physical_inertia(rng, mass)
        if not flexible:
            body = '' if may_be_empty and rng.random() < 0.4 else inertial_xml(mass, com, matrix)
            self.links.append(f'<link name="link{k}">{body}</link>')
            return
        beam = self.beams[k] = RandomBeam.draw(rng)
        style = ('none', 'hub', 'total')[int(rng.integers(3))]
        if style == 'total':
            mass, com, matrix = beam.with_hub(mass, com, matrix)
        body = '' if style == 'none' else inertial_xml(mass, com, matrix)
        self.links.append(f'<link name="link{k}">{body}</link>')
        inertial = '' if style == 'none' else f' inertial="{style}"'
        stiffening = ' geometric_stiffening="false"' if k % 3 == 0 else ''
        attributes = ' '.join(f'{n}="{v}"' for n, v in beam.attributes.items())
        self.extension.append(
            f'<flexible_link link="link{k}"{inertial}{stiffening}>'
            f'<beam tip="{numbers(beam.tip)}" {attributes}>'
            f'{self._modes(max_modes)}{self._point_masses()}</beam></flexible_link>'
        )

    def _modes(self, max_modes: int) -> str:
        counts = self.rng.integers(0, max_modes + 1, 3)
        tags = ('bending axis="y"', 'bending axis="z"', 'torsion')
        damping = self.rng.choice([0.0, 0.02, 0.1], 3)
        return ''.join(
            f'<{tag} modes="{n}" damping_ratio="{z}"/>'
            for tag, n, z in zip(tags, counts, damping, strict=True) if n
        )

    def _point_masses(self) -> str:
        text = ''
        for at in ([1.0] if self.rng.random() < 0.3 else []) + (
            [self.rng.uniform(0.2, 0.9)] if self.rng.random() < 0.4 else []
        ):
            mass = self.rng.uniform(0.1, 0.5)
            values = [numbers(v) for v in np.diag(physical_inertia(self.rng, mass, 0.1))]
            given = 'ixx="{}" iyy="{}" izz="{}"'.format(*values)
            text += f'<point_mass at="{numbers(at)}" mass="{numbers(mass)}" {given}/>'
        return text

    def _place(self, parent: int) -> np.ndarray:
        rng = self.rng
        if parent not in self.beams:
            return rng.normal(size=3) * 0.5
        beam = self.beams[parent]
        along = rng.choice([1.0, rng.uniform(0.2, 0.9), 1.2, -0.1], p=[0.4, 0.4, 0.1, 0.1])
        beside = rng.normal(size=3) * 0.2 * (rng.random() < 0.6)
        return along * beam.tip + beside

    def add_joint(self, k: int, parent: int, kind: str, mimic: bool) -> None:
        """Draw joint k from link `parent` to link k."""
        rng = self.rng
        name = f'joint{k}'
        axis = rng.normal(size=3) if rng.random() < 0.6 else np.eye(3)[int(rng.integers(3))]
        axis = axis / np.linalg.norm(axis)
        place, turn = self._place(parent), rng.normal(size=3)
        inside = f'<origin xyz="{numbers(place)}" rpy="{numbers(turn)}"/>'
        inside += f'<parent link="link{parent}"/><child link="link{k}"/>'
        if kind in ('multi_axis', 'quaternion', 'general'):
            self._general_axes(name) if kind == 'general' else self._axes(name, kind)
            kind = 'floating'
        if kind == 'screw':
            pitch = numbers(rng.uniform(-0.3, 0.3))
            self.drives.append(f'<joint_dynamics joint="{name}" pitch="{pitch}"/>')
            kind = 'revolute'
        if kind not in ('fixed', 'floating'):
            inside += f'<axis xyz="{numbers(axis)}"/>'
        if kind in ('revolute', 'prismatic'):
            inside += '<limit lower="-3" upper="3" effort="100" velocity="10"/>'
        follows = mimic and kind in ONE_AXIS and self.leaders
        if follows:
            leader = rng.choice(self.leaders)
            ratio, offset = numbers(rng.uniform(-2.0, 2.0)), numbers(rng.uniform(-0.5, 0.5))
            inside += f'<mimic joint="{leader}" multiplier="{ratio}" offset="{offset}"/>'
        if kind in ONE_AXIS:
            if rng.random() < 0.5:
                losses = numbers(rng.uniform(0, 2)), numbers(rng.uniform(0, 1))
                inside += '<dynamics damping="{}" friction="{}"/>'.format(*losses)
            self._drive(name, elastic=not follows)
            if not follows:
                self.leaders.append(name)
        self.joints.append(f'<joint name="{name}" type="{kind}">{inside}</joint>')

    def _axes(self, name: str, kind: str) -> None:
        names = np.array(['rx', 'ry', 'rz', 'tx', 'ty', 'tz'])
        kept = self.rng.random(6) < 0.6
        if kind == 'quaternion':
            kept[:3] = True
        elif not kept.any():
            kept[:] = True
        axes = ' '.join(names[kept])
        rotation = ' rotation="quaternion"' if kind == 'quaternion' else ''
        self.drives.append(f'<multi_axis_joint joint="{name}" axes="{axes}"{rotation}/>')
        for axis in names[kept]:
            if self.rng.random() < 0.5 and not (rotation and axis[0] == 'r'):
                self._drive(f'{name}/{axis}', elastic=False)

    def _general_axes(self, name: str) -> None:
        """Draw axes in any direction and place: turns, screws and slides."""
        rng, axes = self.rng, ''
        for k, motion in enumerate(rng.choice(['turn', 'screw', 'slide'], 3)):
            axes += f'<axis name="a{k}" xyz="{numbers(rng.normal(size=3))}"'
            if motion == 'slide':
                axes += ' motion="slide"/>'
                continue
            axes += f' through="{numbers(rng.normal(size=3) * 0.3)}"'
            pitch = rng.uniform(-0.3, 0.3) if motion == 'screw' else 0.0
            axes += f' pitch="{numbers(pitch)}"/>'
        self.drives.append(f'<multi_axis_joint joint="{name}">{axes}</multi_axis_joint>')
        self._drive(f'{name}/a1', elastic=False)

    def _drive(self, name: str, elastic: bool) -> None:
        rng = self.rng
        attributes, inside = '', ''
        springy = elastic and rng.random() < 0.4
        if springy:
            attributes += f' stiffness="{numbers(rng.uniform(50, 500))}"'
        if springy or rng.random() < 0.6:
            attributes += f' rotor_inertia="{numbers(rng.uniform(1e-4, 1e-3))}"'
            if rng.random() < 0.8:
                attributes += f' gear_ratio="{numbers(rng.uniform(5, 30))}"'
        if rng.random() < 0.5:
            attributes += f' damping="{numbers(rng.uniform(0, 3))}"'
        if rng.random() < 0.5:
            law = {'viscous': rng.uniform(0, 2), 'coulomb': rng.uniform(0.1, 1.0)}
            if rng.random() < 0.5:
                law |= {'stribeck': 1.5, 'stribeck_velocity': rng.uniform(0.1, 1.0)}
                law |= {'smoothing_velocity': rng.uniform(0.01, 0.3)}
            inside = '<friction ' + ' '.join(f'{n}="{numbers(v)}"' for n, v in law.items()) + '/>'
        if attributes or inside:
            self.drives.append(
                f'<joint_dynamics joint="{name}"{attributes}>{inside}</joint_dynamics>'
            )

    def add_payload(self, k: int) -> None:
        """Draw a payload on link k."""
        mass = self.rng.uniform(0.2, 1.0)
        com = self.rng.normal(size=3) * 0.3
        if k in self.beams:
            com = com + self.rng.uniform(0.3, 1.1) * self.beams[k].tip
        m = physical_inertia(self.rng, mass)
        entries = [('ixx', m[0, 0]), ('iyy', m[1, 1]), ('izz', m[2, 2])]
        entries += [('ixy', m[0, 1]), ('ixz', m[0, 2]), ('iyz', m[1, 2])]
        tensor = ' '.join(f'{n}="{numbers(v)}"' for n, v in entries)
        self.extension.append(
            f'<payload link="link{k}" mass="{numbers(mass)}" com="{numbers(com)}" {tensor}/>'
        )

    def urdf(self) -> str:
        """Return the URDF text."""
        gravity = numbers(self.rng.normal(size=3) * 6.0)
        inside = f'<gravity xyz="{gravity}"/>' + ''.join(self.extension + self.drives)
        body = '\n'.join([*self.links, *self.joints])
        extension = f'<flexdyn version="1.0">{inside}</flexdyn>'
        return f'<robot name="random">\n{body}\n{extension}\n</robot>'


def random_robot_urdf(
    seed: int,
    n_joints: int = 5,
    kinds=('revolute', 'continuous', 'prismatic', 'fixed'),
    flexible: float = 0.5,
    max_modes: int = 2,
    tree: bool = True,
    mimic: bool = False,
) -> str:
    """
    Return the URDF text of a random robot.

    Args:
        seed: Same seed, same text.
        n_joints: Number of joints; links are one more.
        kinds: Joint types to draw from, multi_axis and quaternion (a multi-axis joint with one)
            among them.
        flexible: Chance that a link is a beam, the root included.
        max_modes: Largest number of modes of each family.
        tree: Whether links may branch.
        mimic: Whether every third one-axis joint follows another.
    """
    robot = RandomRobot(np.random.default_rng(seed))
    rng = robot.rng
    robot.add_link(0, rng.random() < 0.5 * flexible, max_modes, True)
    for k in range(1, n_joints + 1):
        parent = int(rng.integers(max(0, k - 3), k)) if tree else k - 1
        kind = str(rng.choice(kinds))
        robot.add_link(k, rng.random() < flexible, max_modes, kind == 'fixed')
        robot.add_joint(k, parent, kind, mimic and k % 3 == 0)
    if rng.random() < 0.7:
        robot.add_payload(int(rng.integers(0, n_joints + 1)))
    return robot.urdf()


def random_state(robot, rng, amplitude: float = 0.04):
    """Return random q (nq,), qd and qdd (nv,), with modes at about `amplitude` [m, rad]."""
    q = []
    for joint in robot.joints:
        own = rng.normal(size=len(joint.position_names))
        at = joint.quaternion_place
        if at is not None:
            own[at: at + 4] /= np.linalg.norm(own[at: at + 4])
        q += list(own)
    q += list(amplitude * rng.normal(size=robot.n_modes))
    return np.array(q), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
