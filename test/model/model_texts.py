# SPDX-License-Identifier: Apache-2.0
"""URDF texts for the tests of the model, and the folder of their files."""

from pathlib import Path
import re

from flexdyn_ros.model.load import load_robot
from oracles.random_robots import inertial_xml

DATA = Path(__file__).resolve().parents[1] / 'data'
ARM = DATA / 'arm.urdf'

INERTIAL = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
)


def link(name, inner=INERTIAL):
    """Return a link."""
    return f'<link name="{name}">{inner}</link>'


def joint(name, parent, child, kind='revolute', inner='<axis xyz="0 0 1"/>'):
    """Return a joint."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'{inner}</joint>'
    )


def robot(*parts, attributes=''):
    """Return a robot of the parts."""
    return f'<robot name="r" {attributes}>{"".join(parts)}</robot>'


def one_joint(kind='revolute', inner='<axis xyz="0 0 1"/>', inertial=INERTIAL):
    """Return a robot with links a and b and joint j between them."""
    return robot(link('a', ''), link('b', inertial), joint('j', 'a', 'b', kind, inner))


def flexdyn(*parts):
    """Return an extension of the parts."""
    return f'<flexdyn version="1.0">{"".join(parts)}</flexdyn>'


# All that any mode of a beam needs; link "upper" of the arm has 2 kg in its <inertial>.
SECTION = 'young="7e10" shear="2.6e10" area="1e-3" iy="1e-7" iz="2e-7" j="2.5e-7" mass="1"'
BENDING = '<bending axis="y" modes="1"/>'


def beam(attributes=SECTION, inner=BENDING, tip='elbow', link='upper',
         flexible='geometric_stiffening="false"'):
    """Return a flexible link with a beam."""
    return (
        f'<flexible_link link="{link}" {flexible}><beam tip="{tip}" {attributes}>{inner}</beam>'
        '</flexible_link>'
    )


def arm_with(*parts):
    """Return the arm with an extension of the parts."""
    return load_robot(ARM, extension=flexdyn(*parts))


def inertial(mass, com, moments, products=(0.0, 0.0, 0.0), rpy='0 0 0'):
    """Return an <inertial> with moments ixx iyy izz and products ixy ixz iyz."""
    (xx, yy, zz), (xy, xz, yz) = moments, products
    text = inertial_xml(mass, com, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return text.replace('<origin', f'<origin rpy="{rpy}"')


def arm_text_with_upper(inertial_text):
    """Return the arm's URDF with another <inertial> in link "upper"."""
    return re.sub(
        r'(<link name="upper">).*?(</link>)',
        lambda match: match.group(1) + inertial_text + match.group(2),
        ARM.read_text(),
        flags=re.DOTALL,
    )
