# SPDX-License-Identifier: Apache-2.0
"""Robots, states and the reference's answers for functions of generated code."""

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import flexdyn_ros as fd
from flexdyn_ros.dynamics.reference import ReferenceBackend
import numpy as np
from oracles.random_robots import random_robot_urdf, random_state

# Name to (seed, joints, options of random_robot_urdf): small, so that tests stay quick.
ROBOTS = {
    'rigid tree': (3, 4, {'flexible': 0.0}),
    'flexible chain': (5, 3, {'flexible': 0.9, 'max_modes': 1, 'tree': False}),
    'floating': (6, 2, {'kinds': ('floating', 'revolute'), 'flexible': 0.5, 'max_modes': 1}),
    'multi axis': (9, 2, {'kinds': ('multi_axis', 'quaternion'), 'flexible': 0.3,
                          'max_modes': 1}),
    'planar': (4, 3, {'kinds': ('planar', 'revolute'), 'flexible': 0.5, 'max_modes': 1}),
    'mimic': (13, 4, {'kinds': ('revolute', 'prismatic'), 'flexible': 0.3, 'max_modes': 1,
                      'mimic': True}),
}
FUNCTIONS = (
    'inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics', 'mass_matrix', 'bias_vector',
    'gravity_vector', 'coriolis_vector', 'coriolis_matrix', 'friction_vector', 'elastic_vector',
    'inertia_vector', 'external_force_vector', 'frame_pose', 'jacobian', 'jacobian_rate_qd',
    'kinetic_energy', 'potential_energy', 'dissipated_power', 'quasi_static_torque', 'hybrid_step',
    'composite_inertia',
)
# Functions that give derivatives, by state and by parameters: test_derivatives.py.
DERIVATIVES = ('inverse_dynamics_derivatives', 'forward_dynamics_derivatives')
PARAMETER_DERIVATIVES = (
    'inverse_dynamics_parameter_derivatives', 'forward_dynamics_parameter_derivatives',
)


@lru_cache(maxsize=None)
def robot(name):
    """Return one of the robots."""
    seed, joints, options = ROBOTS[name]
    text = random_robot_urdf(seed, joints, **options)
    return fd.load_robot(text)


def linear_robot():
    """Return a flexible chain whose nodes turn by King's first-order rotations."""
    seed, joints, options = ROBOTS['flexible chain']
    text = random_robot_urdf(seed, joints, **options)
    return fd.load_robot(text.replace('<flexible_link ', '<flexible_link rotation="linear" '))


def loop_robot():
    """Return a chain whose last link a loop ties to the root, one rotation constrained too."""
    text = random_robot_urdf(7, 3, flexible=0.0, kinds=('revolute',), tree=False)
    loop = '<loop name="tie" frame1="link3" frame2="link0" constrain="rx ty tz"/>'
    return fd.load_robot(text.replace('</flexdyn>', loop + '</flexdyn>'))


def state(model, seed=1):
    """Return q, qd, qdd and tau as lists."""
    rng = np.random.default_rng(seed)
    values = [*random_state(model, rng), rng.normal(size=model.nv) * 10.0]
    return [value.tolist() for value in values]


def reference(model, payloads=None, gravity=None):
    """Return the reference backend of a robot."""
    declared = {payload.link: payload.inertia for payload in model.payloads}
    return ReferenceBackend(
        model, list(model.gravity_vector if gravity is None else gravity),
        {**declared, **(payloads or {})},
    )


def vectors(model, seed=1):
    """Return the arguments of all functions by name."""
    q, qd, qdd, tau = state(model, seed)
    joints, modes = model.n_joints, model.n_modes
    modal = [q[model.nq - modes:], qd[joints:], qdd[joints:], np.linspace(-0.1, 0.1, modes)]
    return {
        'q': q, 'qd': qd, 'qdd': qdd, 'tau': tau, 'joint_q': q[: model.nq - modes],
        'joint_qd': qd[:joints], 'joint_qdd': qdd[:joints],
        'modal_state': [float(x) for part in modal for x in part], 'step': [0.002, 0.8],
    }


def given(model, code, seed=1):
    """Return the arguments of a generated function without loads."""
    known = vectors(model, seed)
    return [known[each.name] for each in code.inputs if each.name in known]


def answer(model, function, frame=None, seed=1, wrenches=(), backend=None):
    """Return the result of a backend (the reference by default), as one vector."""
    known = vectors(model, seed)
    q, qd, qdd, tau = (known[name] for name in ('q', 'qd', 'qdd', 'tau'))
    motion = [known[name] for name in ('joint_q', 'joint_qd', 'joint_qdd')]
    dyn = backend or reference(model)
    arguments = {
        'quasi_static_torque': (*motion, wrenches),
        'hybrid_step': (*motion, known['modal_state'], known['step'], wrenches),
        'inverse_dynamics': (q, qd, qdd, wrenches),
        'forward_dynamics': (q, qd, tau, wrenches, 'auto'),
        'hybrid_dynamics': (q, qd, qdd[:model.n_joints], wrenches),
        'mass_matrix': (q,), 'bias_vector': (q, qd), 'gravity_vector': (q,),
        'coriolis_vector': (q, qd), 'coriolis_matrix': (q, qd),
        'friction_vector': (qd,), 'elastic_vector': (q, qd),
        'inertia_vector': (q, qdd), 'external_force_vector': (q, wrenches),
        'frame_pose': (q, frame), 'jacobian': (q, frame), 'jacobian_rate_qd': (q, qd, frame),
        'kinetic_energy': (q, qd), 'potential_energy': (q,),
        'dissipated_power': (qd,), 'composite_inertia': (q, frame),
    }[function]
    return flat(getattr(dyn, function)(*arguments))


def flat(value):
    """Return numbers nested in any way as one vector."""
    if isinstance(value, (list, tuple)):
        return np.concatenate([np.zeros(0), *(flat(item) for item in value)])
    return np.array(value, dtype=float).ravel()


def assert_close(found, expected, tolerance=1e-12):
    """Compare relative to the largest entry."""
    assert found.shape == expected.shape
    scale = np.abs(expected).max(initial=0.0)
    assert np.abs(found - expected).max(initial=0.0) <= tolerance * scale + 1e-300


def arm_with_point_tip(mass):
    """Return an arm of two joints whose tip has this mass and no moments of inertia."""
    inertia = 'ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"'
    text = (
        '<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/><inertia '
        'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="tip">'
        f'<inertial><mass value="{mass}"/><inertia {inertia}/></inertial></link>'
        '<joint name="one" type="continuous"><parent link="base"/><child link="arm"/></joint>'
        '<joint name="two" type="continuous"><parent link="arm"/><child link="tip"/></joint>'
        '</robot>'
    )
    return fd.load_robot(text)


def light_wrist_on_a_heavy_arm():
    """Return a robot whose pivots are so different that they are in doubt."""
    body = (
        '<link name="{0}"><inertial><mass value="{1}"/><inertia ixx="{1}" iyy="{1}" izz="{1}" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    return fd.load_robot(
        '<robot name="r"><link name="base"/>' + body.format('arm', 1e7) + body.format('tip', 1e-6)
        + '<joint name="one" type="continuous"><parent link="base"/><child link="arm"/></joint>'
        '<joint name="two" type="continuous"><parent link="arm"/><child link="tip"/></joint>'
        '</robot>'
    )


def assert_same_in_threads(dyn):
    """Call a function in four threads at once, and compare with one call after the other."""
    q, qd, qdd = (np.array(each) for each in state(dyn.robot)[:3])
    scales = np.linspace(0.1, 2.0, 400)
    expected = [dyn.inverse_dynamics(q, s * qd, qdd) for s in scales]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda s: dyn.inverse_dynamics(q, s * qd, qdd), scales))
    assert all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))
