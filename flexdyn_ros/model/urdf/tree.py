# SPDX-License-Identifier: Apache-2.0
"""The tree of links and joints: its one root, its order, and the leaders of mimic joints."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Optional

from flexdyn_ros.errors import did_you_mean, ModelError
from flexdyn_ros.model.records.joint import Joint, Mimic
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.urdf.values import Place

_SINGLE = ('revolute', 'continuous', 'prismatic')


def sort_depth_first(
    links: Iterable[Link], joints: Iterable[Joint], source: str
) -> tuple[tuple[Link, ...], tuple[Joint, ...]]:
    """
    Return links and joints depth first from the root, a link's child joints in file order.

    Raises:
        ModelError: A name occurs twice, a joint's link is missing, a link has two parents, or
            the joints do not form one tree.
    """
    link_of = _by_name('link', links, source)
    joint_of = _by_name('joint', joints, source)
    children: dict[str, list[Joint]] = {name: [] for name in link_of}
    parent_of: dict[str, Joint] = {}
    for joint in joint_of.values():
        _check_ends(joint, link_of, source)
        if joint.child in parent_of:
            first = parent_of[joint.child].name
            raise Place(source, 'link', joint.child).error(
                f'The link has two parent joints, "{first}" and "{joint.name}"',
                'A URDF is a tree: drop one of the joints and close the chain with <loop> inside '
                '<flexdyn>',
            )
        parent_of[joint.child] = joint
        children[joint.parent].append(joint)
    root = _root(link_of, parent_of, source)
    ordered_links, ordered_joints = [link_of[root]], []
    stack = children[root][::-1]
    while stack:
        joint = stack.pop()
        ordered_joints.append(joint)
        ordered_links.append(link_of[joint.child])
        stack.extend(children[joint.child][::-1])
    if len(ordered_links) < len(link_of):
        reached = {link.name for link in ordered_links}
        raise _cycle([name for name in link_of if name not in reached], parent_of, source)
    return tuple(ordered_links), tuple(ordered_joints)


def _by_name(kind: str, items: Iterable, source: str) -> dict:
    found: dict = {}
    for item in items:
        if item.name in found:
            raise Place(source, kind, item.name).error(
                f'The name occurs twice; every {kind} needs its own', f'Rename one {kind}'
            )
        found[item.name] = item
    return found


def _check_ends(joint: Joint, link_of: dict[str, Link], source: str) -> None:
    place = Place(source, 'joint', joint.name)
    for end, name in (('parent', joint.parent), ('child', joint.child)):
        if name not in link_of:
            raise place.error(
                f'The {end} link "{name}" does not exist', did_you_mean(name, link_of)
            )
    if joint.parent == joint.child:
        raise place.error(
            f'The joint has link "{joint.child}" as parent and as child', 'Name two links')


def _root(link_of: dict[str, Link], parent_of: dict[str, Joint], source: str) -> str:
    if not link_of:
        raise ModelError(
            'The description has no <link>',
            file=source,
            element='robot',
            advice='A robot needs at least one link directly under <robot>',
        )
    roots = [name for name in link_of if name not in parent_of]
    if not roots:
        raise _cycle(list(link_of), parent_of, source)
    if len(roots) > 1:
        shown = ', '.join(f'"{name}"' for name in roots[:6])
        raise Place(source, 'link', roots[1]).error(
            f'There are {len(roots)} root links, {shown}',
            'Only one link may be without a parent joint: connect the others by joints',
        )
    return roots[0]


def _cycle(names: list[str], parent_of: dict[str, Joint], source: str) -> ModelError:
    """Return the error for links of which none can be reached from the root."""
    link, seen = names[0], []
    while link not in seen:
        seen.append(link)
        link = parent_of[link].parent
    ring = [*seen[seen.index(link):], link][::-1]
    shown = ' -> '.join(ring[:8]) + (' -> ...' if len(ring) > 8 else '')
    return Place(source, 'joint', parent_of[link].name).error(
        f'The joints form a cycle: {shown}',
        'A URDF is a tree: drop one of the joints and close the chain with <loop> inside '
        '<flexdyn>',
    )


def resolve_mimics(joints: tuple[Joint, ...], source: str) -> tuple[Joint, ...]:
    """
    Return the joints with every mimic pointing at a joint that is itself a coordinate.

    A chain of followers is composed: q = m1 (m2 q_leader + o2) + o1. `<mimic>` on a fixed joint
    is dropped, as it has no effect.

    Raises:
        ModelError: A leader is unknown, has no single coordinate, or a chain closes on itself.
    """
    joint_of = {joint.name: joint for joint in joints}
    return tuple(
        joint if joint.mimic is None else replace(joint, mimic=_leader(joint, joint_of, source))
        for joint in joints
    )


def _leader(joint: Joint, joint_of: dict[str, Joint], source: str) -> Optional[Mimic]:
    place = Place(source, 'joint', joint.name)
    if joint.type == 'fixed':
        return None
    if joint.type not in _SINGLE:
        raise place.error(
            f'<mimic> is not possible on a joint of type "{joint.type}"',
            'Move it to a revolute, continuous or prismatic joint',
        )
    multiplier, offset, follower, chain = 1.0, 0.0, joint, [joint.name]
    while follower.mimic is not None and follower.type in _SINGLE:
        name = follower.mimic.leader
        if name not in joint_of:
            raise Place(source, 'joint', follower.name).error(
                f'<mimic> follows joint "{name}", which does not exist',
                did_you_mean(name, joint_of),
            )
        if name == follower.name:
            raise place.error('<mimic> makes the joint follow itself', 'Name another joint')
        if name in chain:
            shown = ' -> '.join([*chain, name])
            raise place.error(
                f'<mimic> forms a cycle: {shown}', 'One of the joints must lead'
            )
        offset += multiplier * follower.mimic.offset
        multiplier *= follower.mimic.multiplier
        follower = joint_of[name]
        chain.append(name)
    if follower.type not in _SINGLE:
        raise place.error(
            f'<mimic> follows joint "{follower.name}" of type "{follower.type}", which has no '
            'single coordinate',
            'Name a revolute, continuous or prismatic joint',
        )
    return Mimic(follower.name, multiplier, offset)
