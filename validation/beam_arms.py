# SPDX-License-Identifier: Apache-2.0
"""Arms of uniform flexible beams, as text of a description: joints about z, links along x."""

from __future__ import annotations

from typing import Optional, Sequence


def beam_arm_urdf(
    lengths: Sequence[float],
    masses: Sequence[float],
    rigidity: Sequence[float],
    modes: int,
    out_of_plane_modes: int = 0,
    gravity: Sequence[float] = (0.0, 0.0, 0.0),
    tip_mass: float = 0.0,
    locked: bool = False,
    twists: Optional[Sequence[float]] = None,
) -> str:
    """
    Return the URDF of an arm with links link1, link2, ... behind joint1, joint2, ..., and tip.

    Args:
        lengths: Of the links [m].
        masses: Of the links, spread evenly [kg].
        rigidity: Bending stiffness EI of each link, in both planes [N m^2].
        modes: Modes a link along its y; 0 in both planes gives a rigid arm.
        out_of_plane_modes: Modes a link along its z.
        gravity: In the root frame [m/s^2].
        tip_mass: Point mass at the end of the last link [kg].
        locked: Whether the joints are fixed.
        twists: Angle about x by which each link's joint axis is turned against the one before
            [rad]; none, in a plane arm.
    """
    kind = 'fixed' if locked else 'continuous'
    text = ['<robot name="beam_arm"><link name="base"/>']
    inside = [f'<gravity xyz="{" ".join(map(_number, gravity))}"/>']
    bending = ''.join(
        f'<bending axis="{axis}" modes="{count}"/>'
        for axis, count in (('y', modes), ('z', out_of_plane_modes)) if count
    )
    previous, place = 'base', 0.0
    for k, (length, mass, stiffness) in enumerate(zip(lengths, masses, rigidity, strict=True), 1):
        turn = f' rpy="{_number(twists[k - 1])} 0 0"' if twists else ''
        text.append(
            f'<link name="link{k}"/><joint name="joint{k}" type="{kind}">'
            f'<origin xyz="{_number(place)} 0 0"{turn}/><parent link="{previous}"/>'
            f'<child link="link{k}"/><axis xyz="0 0 1"/></joint>'
        )
        inside.append(
            f'<flexible_link link="link{k}" geometric_stiffening="false">'
            f'<beam tip="{_number(length)} 0 0" young="{_number(stiffness * 1e6)}" area="1e-3" '
            f'iy="1e-6" iz="1e-6" mass="{_number(mass)}">{bending}</beam></flexible_link>'
        )
        previous, place = f'link{k}', length
    inertia = ' '.join(f'{entry}="0"' for entry in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'))
    body = (
        f'<inertial><mass value="{_number(tip_mass)}"/><inertia {inertia}/></inertial>'
        if tip_mass else ''
    )
    text.append(
        f'<link name="tip">{body}</link><joint name="tip_joint" type="fixed">'
        f'<origin xyz="{_number(place)} 0 0"/><parent link="{previous}"/>'
        '<child link="tip"/></joint>'
    )
    text.append(f'<flexdyn version="1.0">{"".join(inside)}</flexdyn></robot>')
    return '\n'.join(text)


def _number(value: float) -> str:
    """Return a number exact to the last bit."""
    return repr(float(value))
