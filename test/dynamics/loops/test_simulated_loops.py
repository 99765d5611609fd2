# SPDX-License-Identifier: Apache-2.0
"""Simulated loops: compiled steps against those in Python, energy, flat positions, bending."""

import flexdyn_ros as fd
from flexdyn_ros.closed_chains.stepping import LoopMotion
from flexdyn_ros.model.beam.body import modal_body
from flexdyn_ros.model.modal.files import write_modal_file
import numpy as np
from oracles.compare import assert_agree
from oracles.linkages import linkage
from oracles.mechanisms import mechanism, URDF
import pytest
from validation.beams_and_linkages.four_bar import joint_values
import xacro

START, TURNING, _ = joint_values(1.0, 6.0)
BENDING = (
    'young="7e10" shear="2.6e10" area="1e-4" iy="2e-10" iz="2e-10" j="4e-10" linear_density="1"'
)


@pytest.fixture
def compiled_only(monkeypatch):
    """Refuse stages of loops in Python."""
    def refuse(*_):
        raise AssertionError('a stage was taken in Python')

    monkeypatch.setattr(LoopMotion, 'acceleration', refuse)
    monkeypatch.setattr(LoopMotion, 'end_step', refuse)


@pytest.mark.parametrize('method', ['rk4', 'rk2'])
@pytest.mark.parametrize('constrain', ['tx tz', 'rx rz tx ty tz'])
def test_compiled_steps_are_those_in_python(constrain, method):
    """To 1e-12, with constraints that repeat each other too."""
    robot = mechanism('four_bar', constrain=constrain)
    runs = [
        fd.simulate(fd.Dynamics(robot, backend), START, TURNING, [0.5, 0, 0], 0.1, 1e-3, method)
        for backend in ('c', 'python')
    ]
    for name in ('q', 'qd', 'energy', 'work'):
        assert_agree(*(getattr(run, name) for run in runs), 1e-12, name)


def test_energy_of_the_four_bar_is_kept_with_the_order_of_the_method(compiled_only):
    """A turn of the crank without losses: errors fall with the fourth power of the step."""
    dyn = fd.Dynamics(mechanism('four_bar'), 'c')
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        run = fd.simulate(dyn, START, TURNING, None, 1.0, step, energy_tolerance=None)
        errors.append(np.abs(run.energy - run.energy[0]).max() / np.ptp(run.kinetic))
        gaps = [np.abs(dyn.loop_gaps(q)).max() for q in run.q]
        assert max(gaps) < 1e-12
        assert np.abs(dyn.loop_jacobian(run.q[-1]) @ run.qd[-1]).max() < 1e-11
    assert errors[2] < 1e-7
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.5)
    assert errors[1] / errors[2] == pytest.approx(16.0, rel=0.5)


@pytest.mark.parametrize('constrain', ['tx ty', 'rx ry tx ty tz'])
def test_a_parallelogram_passes_its_flat_position_without_python(constrain, compiled_only):
    """It swings through, stays a parallelogram, and moves as its closed form."""
    robot = linkage(2.0, 1.0, 2.0, 1.0, constrain)
    dyn = fd.Dynamics(robot, 'c')
    start, rate = np.array([0.6, -0.6, 0.6]), np.array([-4.0, 4.0, -4.0])
    run = fd.simulate(dyn, start, rate, None, 0.6, 1e-3)
    angle, velocity = run.q[:, 0], run.qd[:, 0]
    assert angle.min() < -0.6 < 0.6 <= angle.max()
    np.testing.assert_allclose(run.q, np.outer(angle, (1, -1, 1)), atol=1e-9)
    # Two cranks turn about their pins, and the coupler moves on a circle.
    inertia, pull = 2 * (1.0 / 3.0) + 2.0, 9.81 * (2 * 0.5 + 2.0)
    energy = 0.5 * inertia * velocity**2 + pull * np.sin(angle)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-8)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-7


def test_exactly_flat_starts():
    """From the change point along either branch, and near it, on both sides of the tolerance."""
    dyn = fd.Dynamics(linkage(2.0, 1.0, 2.0, 1.0), 'c')
    for angle in (0.0, 1e-11, 1e-8, 1e-5):
        at, along = angle * np.array([1.0, -1.0, 1.0]), np.array([2.0, -2.0, 2.0])
        run = fd.simulate(dyn, at, along, None, 0.2, 1e-3)
        # Gaps of 1e-11 m count as closed, which leave this much across the branch at 2 mrad.
        np.testing.assert_allclose(run.q, np.outer(run.q[:, 0], (1, -1, 1)), atol=1e-8)
        # The first step begins with one constraint less, which the second one then gives back.
        limit = 1e-5 if angle < 1e-9 else 1e-10
        assert np.abs(run.energy - run.energy[0]).max() < limit


def test_a_loop_with_quaternions_is_stepped_without_python(compiled_only):
    """A body on a floating joint that a loop ties to a pendulum, as with a spherical joint."""
    text = """
    <robot name="tied"><link name="base"/>
    <link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="1"/><inertia ixx="0.01"
      ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
    <link name="body"><inertial><origin xyz="0.1 0.05 0.2"/><mass value="2"/><inertia ixx="0.2"
      ixy="0.01" ixz="0" iyy="0.1" iyz="0" izz="0.15"/></inertial></link>
    <joint name="arm" type="revolute"><parent link="base"/><child link="arm"/>
      <axis xyz="0 1 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
    <joint name="free" type="floating"><parent link="base"/><child link="body"/>
      <origin xyz="1 0 0"/></joint>
    <link name="end"/><joint name="end" type="fixed"><parent link="arm"/><child link="end"/>
      <origin xyz="1 0 0"/></joint>
    <flexdyn version="1.0"><loop name="ball" frame1="body" frame2="end" constrain="tx ty tz"/>
    </flexdyn></robot>"""
    robot = fd.load_robot(text)
    dyn = fd.Dynamics(robot, 'c')
    q, qd = dyn.project(robot.neutral_configuration(), [0.4, 0, 0, 0, 2.0, -3.0, 1.5])
    run = fd.simulate(dyn, q, qd, None, 0.5, 1e-3)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-8 * np.ptp(run.kinetic)
    assert max(np.abs(dyn.loop_gaps(q)).max() for q in run.q) < 1e-12
    assert np.abs(np.linalg.norm(run.q[:, 4:], axis=1) - 1.0).max() < 1e-12


def test_a_coupler_in_segments(compiled_only):
    """Its loop bends it; energy is kept, and more segments move as the beam's modes."""
    ends = []
    for inside in (
        f'<segments count="6" directions="z" tip="tip" y_axis="0 1 0" {BENDING}/>',
        f'<beam tip="tip" {BENDING}><bending axis="y" modes="2"/></beam>',
    ):
        robot = linkage(
            1.0, 0.3, 0.9, 0.7, inside=f'<flexible_link link="coupler">{inside}</flexible_link>'
        )
        dyn = fd.Dynamics(robot, 'c')
        start = np.r_[1.0, -0.6, 1.8, np.zeros(robot.n_modes)]
        q, qd = dyn.project(start, 0.0 * start, hold=('crank', *robot.mode_names))
        run = fd.simulate(dyn, q, qd, None, 0.1, 1e-4)
        assert np.abs(run.energy - run.energy[0]).max() < 1e-6 * np.ptp(run.kinetic)
        assert np.abs(run.q[:, 3:]).max() > 1e-5
        ends.append(run.q[-1, :3] - run.q[0, :3])
    np.testing.assert_allclose(ends[0], ends[1], rtol=4e-2)


def test_a_coupler_whose_modes_come_from_a_file(tmp_path):
    """The beam's modes by a file: every function of the loop, and a simulated motion."""
    text = xacro.process_file(
        str(URDF / 'four_bar.urdf.xacro'), mappings={'modes': '1'}).toprettyxml()
    start, end = text.index('<beam'), text.index('</beam>') + len('</beam>')
    text = text.replace('<flexible_link', '<flexible_link geometric_stiffening="false"', 1)
    beam = fd.load_robot(text)
    points = [np.zeros(3), np.array([0.9, 0.0, 0.0])]
    write_modal_file(tmp_path / 'coupler.npz', modal_body(beam.link('coupler')), points, [1, 2])
    start, end = text.index('<beam'), text.index('</beam>') + len('</beam>')
    modal = '<modal file="coupler.npz" format="npz" tolerance="0.2">'
    modal += '<attach joint="coupler_end" node="2"/></modal>'
    filed = fd.load_robot(text[:start] + modal + text[end:], base_dir=tmp_path)
    dynamics = [fd.Dynamics(robot, 'c') for robot in (filed, beam)]
    q, qd = dynamics[1].project([0.2, -0.1, 0.1, 1e-3], [1.0, 0.5, -0.5, 0.01])
    tau = np.array([0.4, 0.0, 0.0, 0.0])
    for name in ('forward_dynamics', 'inverse_dynamics', 'constraint_forces'):
        given = tau if name != 'inverse_dynamics' else dynamics[1].forward_dynamics(q, qd, tau)
        assert_agree(*(getattr(dyn, name)(q, qd, given) for dyn in dynamics), 1e-9, name)
    runs = [fd.simulate(dyn, q, qd, tau, 0.02, 1e-4) for dyn in dynamics]
    assert_agree(runs[0].q, runs[1].q, 1e-9)


def test_passive_joints_move_as_if_driven_by_the_loops():
    """Torques of a simulated motion by inverse dynamics: those of the crank alone."""
    robot = mechanism('four_bar')
    dyn = fd.Dynamics(robot, 'c')
    run = fd.simulate(dyn, START, TURNING, [0.7, 0.0, 0.0], 0.2, 1e-3)
    for q, qd in zip(run.q[::40], run.qd[::40]):
        qdd = dyn.forward_dynamics(q, qd, [0.7, 0.0, 0.0])
        np.testing.assert_allclose(
            dyn.inverse_dynamics(q, qd, qdd), [0.7, 0.0, 0.0], rtol=1e-9, atol=0.0)
        torque, modal = dyn.hybrid_dynamics(q, qd, qdd)
        np.testing.assert_allclose(torque, [0.7, 0.0, 0.0], rtol=1e-9, atol=0.0)
        assert not modal.size
