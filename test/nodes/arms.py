# SPDX-License-Identifier: Apache-2.0
"""Small arms for the node tests, as URDF text."""

LINK = """
  <link name="{name}"><inertial><origin xyz="{x} 0 0"/><mass value="{mass}"/>
    <inertia ixx="0.01" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """
  <joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
    <origin xyz="{x} 0 0"/><axis xyz="0 1 0"/>{extra}
    <limit lower="-3" upper="3" velocity="3" effort="{effort}"/></joint>"""


def rigid_arm(efforts=(100, 50), extra='', joints=('shoulder', 'elbow'), limits=True):
    """Return two links in a vertical plane; `extra` goes into the shoulder."""
    parts = [
        '<robot name="two"><link name="base"/>',
        LINK.format(name='upper', x=0.5, mass=2, i=0.1),
        LINK.format(name='fore', x=0.3, mass=1, i=0.05),
        JOINT.format(
            name=joints[0], parent='base', child='upper', x=0, extra=extra, effort=efforts[0]
        ),
        JOINT.format(
            name=joints[1], parent='upper', child='fore', x=1, extra='', effort=efforts[1]
        ),
        '</robot>',
    ]
    text = ''.join(parts)
    return text if limits else text.replace('revolute', 'continuous').replace(
        'lower="-3" upper="3" velocity="3" effort="50"', 'velocity="3"'
    )


def flexible_arm(young=2e9, damping_ratio=0.02):
    """Return the two-link arm with an upper link that bends in the plane, two modes."""
    beam = f"""
  <flexdyn version="1.0">
    <flexible_link link="upper" inertial="hub" geometric_stiffening="false">
      <beam tip="elbow" y_axis="0 1 0" young="{young}" area="1e-3" iy="4e-8" iz="4e-8" mass="1.0">
        <bending axis="z" modes="2" damping_ratio="{damping_ratio}"/>
      </beam>
    </flexible_link>
  </flexdyn></robot>"""
    return rigid_arm().replace('</robot>', beam)


def elastic_joint_arm(stiffness=500.0):
    """Return the two-link arm with a spring in the shoulder."""
    spring = f"""
  <flexdyn version="1.0">
    <joint_dynamics joint="shoulder" stiffness="{stiffness}" damping="5" rotor_inertia="1e-4"
                    gear_ratio="100"/>
  </flexdyn></robot>"""
    return rigid_arm().replace('</robot>', spring)


BODY = """<robot name="two"><link name="world"/>
  <joint name="body" type="{kind}"><parent link="world"/><child link="base"/>
    <axis xyz="{axis}"/></joint>
  <link name="base"><inertial><mass value="{mass}"/>
    <inertia ixx="1" iyy="2" izz="1.5" ixy="0.1" ixz="0" iyz="0"/></inertial></link>"""


def moving_arm(arm, kind='floating', mass=10, axis='0 0 1', gravity='0 0 0'):
    """Return an arm on a body that floats in space, or moves in a plane, with this gravity."""
    body = BODY.format(kind=kind, axis=axis, mass=mass)
    text = arm.replace('<robot name="two"><link name="base"/>', body)
    if '<flexdyn' in text:
        return text.replace('<flexdyn version="1.0">', f'<flexdyn version="1.0">'
                            f'<gravity xyz="{gravity}"/>')
    return text.replace(
        '</robot>', f'<flexdyn version="1.0"><gravity xyz="{gravity}"/></flexdyn></robot>')
