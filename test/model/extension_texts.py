# SPDX-License-Identifier: Apache-2.0
"""Elements of <flexdyn> that several tests use."""

DRIVE = (
    '<joint_dynamics joint="elbow" stiffness="1.2e4" damping="5" rotor_inertia="3e-5" '
    'gear_ratio="100"><friction viscous="4" coulomb="2.1" stribeck="3" stribeck_velocity="0.05" '
    'smoothing_velocity="0.02"/></joint_dynamics>'
)
