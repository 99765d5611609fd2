# SPDX-License-Identifier: Apache-2.0
"""Steps without Python: the same numbers as in Python, for each kind of torque and of joint."""

from pathlib import Path

from codegen.compiled import needs_compiler, QUICK
import flexdyn_ros as fd
from flexdyn_ros.errors import UnknownName
from flexdyn_ros.simulation import SimulationDiverged, TorqueTable, TrackingTorque
from flexdyn_ros.simulation.compiled_steps import CompiledSteps
from flexdyn_ros.simulation.run import Run
from flexdyn_ros.simulation.runge_kutta import RungeKutta
import numpy as np
import pytest
from simulated_robots import FLEXIBLE_PENDULUM, PENDULUM, TUMBLER
from thinned import thinned

pytestmark = needs_compiler
URDF = Path(__file__).resolve().parents[2] / 'urdf'
# Two joints with all kinds of losses, one of them elastic, one carried by a planar joint.
LOSSES = """
<robot name="losses">
  <link name="base"/>
  <link name="cart"><inertial><mass value="3"/><inertia ixx="0.1" iyy="0.1" izz="0.2"
    ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0.3 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.03"
    izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="floor" type="planar"><parent link="base"/><child link="cart"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="swing" type="continuous"><parent link="cart"/><child link="arm"/>
    <axis xyz="0 1 0"/></joint>
  <flexdyn version="1.0">
    <joint_dynamics joint="swing" stiffness="40" damping="0.3" rotor_inertia="1e-3" gear_ratio="5">
      <friction viscous="0.2" coulomb="0.1" stribeck="0.15" stribeck_velocity="0.1"/>
    </joint_dynamics>
  </flexdyn>
</robot>
"""
RECORDED = ('t', 'q', 'qd', 'tau', 'kinetic', 'potential', 'work', 'dissipated', 'tips')
TEXTS = {
    'rigid': PENDULUM, 'floating': TUMBLER, 'flexible': FLEXIBLE_PENDULUM, 'losses': LOSSES,
}


@pytest.fixture(scope='module', params=sorted(TEXTS))
def robot(request):
    """Return each of the robots."""
    return fd.load_robot(TEXTS[request.param])


def forbid_python(monkeypatch):
    """Let a step in Python fail."""
    def step(*_):
        raise AssertionError('a step was done in Python')

    monkeypatch.setattr(Run, '_step', step)


def start(robot, seed=1):
    """Return a state and a torque that move everything."""
    generator = np.random.default_rng(seed)
    q = np.array(robot.neutral_configuration())
    q[robot.nq - robot.n_modes:] = 0.01 * generator.normal(size=robot.n_modes)
    return q, 0.3 * generator.normal(size=robot.nv), generator.normal(size=(5, robot.nv))


def followed(robot):
    """Return the joint coordinates that are their own rates' integrals."""
    return [name for name in robot.joint_names if not name.startswith('free/')]


def torques(robot):
    """Return the kinds of torque that need no Python."""
    _, _, values = start(robot)
    t = np.array([0.0, 0.004, 0.011, 0.013, 0.02])
    found = {'none': None, 'constant': values[0]}
    for interpolation in ('linear', 'cubic', 'hold'):
        found[interpolation] = TorqueTable(t, values, interpolation)
    joints = followed(robot)
    if joints:
        q = 0.1 * values[:, : len(joints)]
        found['pid'] = TrackingTorque(
            robot, t, q, feed_forward=values, kp=30.0, kd=2.0, ki=50.0, joints=joints
        )
        found['pd'] = TrackingTorque(robot, t, q, 10.0 * q, kp=30.0, joints=joints)
    return found


@pytest.mark.parametrize('backend', ['python', 'reference'])
def test_compiled_steps_give_the_numbers_of_python(robot, backend, user_flags, monkeypatch):
    """All kinds of torque and all methods, to 1e-12 of the largest number."""
    plain, compiled = fd.Dynamics(robot, backend), fd.Dynamics(robot, 'c')
    q, qd, _ = start(robot)
    for kind, torque in torques(robot).items():
        method = {'linear': 'rk10', 'cubic': 'rk2'}.get(kind, 'rk4')
        expected = fd.simulate(plain, q, qd, torque, 0.0255, 1e-3, method)
        with monkeypatch.context() as patch:
            forbid_python(patch)
            found = fd.simulate(compiled, q, qd, torque, 0.0255, 1e-3, method)
        for name in RECORDED:
            ours, theirs = getattr(found, name), getattr(expected, name)
            scale = max(np.nan_to_num(np.abs(theirs)).max(initial=0.0), 1e-3)
            assert np.abs(ours - theirs).max(initial=0.0) < 1e-12 * scale, (kind, name)


PUSH = {'coupler': [1.0, 0.5, -2.0, 0.1, 0.2, -0.3]}
RUBBING = '<joint_dynamics joint="{}"><friction viscous="0.1" coulomb="0.4"/></joint_dynamics>'


def carried(friction):
    """Return an arm that bends on a prescribed base, a state and the loads on it."""
    text = FLEXIBLE_PENDULUM.replace(
        '<axis xyz="0 1 0"/>', f'<axis xyz="0 1 0"/><dynamics friction="{friction}"/>'
    ).replace('upper="3"', 'upper="0.33"').replace(
        '</flexdyn>', '<base motion="prescribed"/><payload link="base" mass="1" ixx="1" iyy="1" '
        'izz="1"/></flexdyn>')
    robot = fd.load_robot(text)
    q, qd, _ = start(robot)
    q[7], qd[6] = 0.3, 1.0
    return robot, q, qd, {
        'base_acceleration': [1.0, -0.5, 2.0, 0.3, 0.1, -0.2],
        'wrenches': {'tip': [0.5, 0.0, -1.0, 0.0, 0.1, 0.0]},
    }


def looped(name, joints, arguments=None, more='', **given):
    """Return a robot with loops and dry friction in some joints, and a closed state."""
    losses = ''.join(map(RUBBING.format, joints)) + more
    robot = fd.load_robot(
        URDF / f'{name}.urdf.xacro', xacro_arguments=arguments,
        extension=f'<flexdyn version="1.0">{losses}</flexdyn>')
    rates = np.zeros(robot.nv)
    rates[6 if 'base' in more else 0] = 1.5
    q, qd = fd.Dynamics(robot).project(robot.neutral_configuration(), rates)
    return robot, q, qd, given


def four_bar_on_a_base(arguments=None):
    """Return a four-bar whose ground turns and rises, pushed at its coupler."""
    return looped(
        'four_bar', [], arguments, '<base motion="prescribed"/>',
        base_acceleration=[1.0, -0.5, 2.0, 0.3, 0.1, -0.2], wrenches=PUSH)


def pushed_four_bar():
    """Return a four-bar with a wrench on its coupler."""
    return looped('four_bar', ['crank'], wrenches=PUSH)


def sprung():
    """Return a joint with friction on a spring that stiffens, and a state across its table."""
    robot = fd.load_robot(LOSSES.replace('stiffness="40" ', '').replace(
        '<friction', '<spring points="-0.1 -30, -0.02 -0.5, 0 0, 0.02 0.5, 0.1 30"/><friction'))
    return robot, *start(robot)[:2], {}


CONSTRAINED = {
    'nonlinear spring': (sprung, (), 'implicit'),
    'nonlinear spring, explicit between events': (sprung, (), 'auto'),
    'base, rk4': (carried, (0.0,), 'rk4'),
    'base, implicit with stops': (carried, (0.4,), 'implicit'),
    'loop': (looped, ('four_bar', ['crank', 'coupler', 'rocker']), 'implicit'),
    'loop of repeated constraints': (looped, ('four_bar', ['crank', 'rocker'], {
        'constrain': 'rx rz tx ty tz'}), 'implicit'),
    'loop that is pushed, rk4': (pushed_four_bar, (), 'rk4'),
    'loop that is pushed': (pushed_four_bar, (), 'implicit'),
    'loop on a base, rk4': (four_bar_on_a_base, (), 'rk4'),
    'loop of repeated constraints on a base, rk4': (
        four_bar_on_a_base, ({'constrain': 'rx rz tx ty tz'},), 'rk4'),
    'spatial loops': (looped, ('delta', ['motor1', 'motor2', 'knee1', 'ankle2']), 'implicit'),
}


@pytest.mark.parametrize('case', thinned(CONSTRAINED, lambda case: case != 'spatial loops'))
def test_compiled_steps_on_bases_and_with_loops_are_those_of_python(case, monkeypatch):
    """Constant accelerations of a base, wrenches, friction and stops, to rounding."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    make, arguments, method = CONSTRAINED[case]
    robot, q, qd, given = make(*arguments)
    run = q, qd, None, 0.0605, 1e-3, method
    given = {**given, 'energy_tolerance': None, 'stops': 'stops' in case}
    expected = fd.simulate(fd.Dynamics(robot, 'python'), *run, **given)
    forbid_python(monkeypatch)
    found = fd.simulate(fd.Dynamics(robot, 'c'), *run, **given)
    assert np.ptp(found.q, axis=0).max() > 1e-3
    for name in RECORDED:
        ours, theirs = getattr(found, name), getattr(expected, name)
        scale = max(np.nan_to_num(np.abs(theirs)).max(initial=0.0), 1e-3)
        # With loops the impulses of friction are not unique.
        close = scale * (1e-8 if name == 'dissipated' and robot.loops else 1e-11)
        assert np.allclose(ours, theirs, rtol=0.0, atol=close, equal_nan=True), name


def test_loads_that_changed_reach_the_compiled_steps(monkeypatch):
    """A payload and another gravity are constants of the compiled functions."""
    forbid_python(monkeypatch)
    robot = fd.load_robot(FLEXIBLE_PENDULUM)
    ends = []
    for backend in ('c', 'reference'):
        dyn = fd.Dynamics(robot, backend)
        dyn.set_payload('tip', 0.3, (0.02, 0.0, 0.01), np.diag((1e-3, 2e-3, 2e-3)))
        dyn.set_gravity((1.0, 0.0, -3.0))
        if backend == 'c':
            ends.append(fd.simulate(dyn, [0.2, 0, 0, 0, 0], np.zeros(5), None, 0.02, 1e-3))
    with pytest.raises(AssertionError, match='in Python'):
        fd.simulate(dyn, [0.2, 0, 0, 0, 0], np.zeros(5), None, 0.02, 1e-3)
    q = ends[0].q[5], ends[0].qd[5]
    assert ends[0].potential[5] == pytest.approx(dyn.potential_energy(q[0]), rel=1e-12)
    assert ends[0].kinetic[5] == pytest.approx(dyn.kinetic_energy(*q), rel=1e-12)


def test_constant_wrenches_push_and_work(monkeypatch):
    """As the torques -J^T w in a function of the state, with their work, in Python and without."""
    robot = fd.load_robot(FLEXIBLE_PENDULUM)
    wrenches = {'tip': [1.0, 0.5, -0.3, 0.1, 0.0, 0.2], 'arm': [0, 0.2, 0.1, 0, 0.1, 0]}
    plain, compiled = fd.Dynamics(robot, 'python'), fd.Dynamics(robot, 'c')
    compiled.set_payload('tip', 0.3, (0.02, 0.0, 0.01), np.diag((1e-3, 2e-3, 2e-3)))
    plain.set_payload('tip', 0.3, (0.02, 0.0, 0.01), np.diag((1e-3, 2e-3, 2e-3)))
    state = ([0.2, 0, 0, 0, 0], np.zeros(5))
    expected = fd.simulate(
        plain, *state, lambda t, q, qd: -plain.external_force_vector(q, wrenches), 0.02, 1e-3
    )
    forbid_python(monkeypatch)
    found = fd.simulate(compiled, *state, None, 0.02, 1e-3, wrenches=wrenches)
    for name in ('q', 'qd', 'work', 'kinetic'):
        theirs = getattr(expected, name)
        assert np.abs(getattr(found, name) - theirs).max() < 1e-12 * np.abs(theirs).max(), name
    assert not found.tau.any()
    monkeypatch.undo()
    slow = fd.simulate(plain, *state, None, 0.02, 1e-3, wrenches=wrenches)
    assert np.abs(slow.work - expected.work).max() < 1e-12 * np.abs(expected.work).max()
    with pytest.raises(UnknownName, match='tipp'):
        fd.simulate(plain, *state, None, 0.02, 1e-3, wrenches={'tipp': [0] * 6})


def test_a_step_that_is_in_doubt_is_done_in_python(monkeypatch):
    """The loop stops before it, Python does it, and the loop goes on."""
    from flexdyn_ros.simulation import compiled_steps

    dyn = fd.Dynamics(fd.load_robot(FLEXIBLE_PENDULUM), 'c')
    args = ([0.2, 0, 0, 0, 0], np.zeros(5), None, 0.02, 1e-3)
    expected = fd.simulate(dyn, *args)
    done, before = [], RungeKutta.step

    def counted(self, t, *rest):
        done.append(t)
        return before(self, t, *rest)

    monkeypatch.setattr(RungeKutta, 'step', counted)
    monkeypatch.setattr(compiled_steps, 'DOUBTFUL_PIVOT', 2.0)
    found = fd.simulate(dyn, *args)
    assert len(done) == 20
    assert np.abs(found.q - expected.q).max() < 1e-14
    assert (found.t == expected.t).all()


def test_divergence_is_reported_as_in_python():
    """The same last sample, and the same coordinate."""
    robot = fd.load_robot(FLEXIBLE_PENDULUM)
    errors = []
    for backend in ('c', 'python'):
        with pytest.raises(SimulationDiverged) as caught:
            fd.simulate(
                fd.Dynamics(robot, backend), [0, *[1e-3] * 4], np.zeros(5), None, 1.0, 5e-3,
                force=True,
            )
        errors.append(caught.value)
    assert errors[0].time == errors[1].time > 0.0
    assert errors[0].coordinate == errors[1].coordinate
    assert len(errors[0].trajectory) == len(errors[1].trajectory)


def test_a_run_whose_steps_all_take_python_goes_on(monkeypatch):
    """More than a thousand of them in a row, after any stop of the compiled loop."""
    dyn = fd.Dynamics(fd.load_robot(PENDULUM))
    run = dyn, [0.1], [0.0], None, 1.2, 1e-3
    compiled = fd.simulate(*run)

    def stuck(steps, step, stop, q, qd):
        steps._data.next = step
        return q, qd

    monkeypatch.setattr(CompiledSteps, 'run', stuck)
    assert np.abs(fd.simulate(*run).q - compiled.q).max() < 1e-12


def test_work_and_losses_balance_the_energy(robot):
    """Energy gained is work less losses, to the error of the method; it falls with its order."""
    dyn = fd.Dynamics(robot)
    q, qd, values = start(robot)
    worst = []
    for dt in (1e-3, 5e-4):
        motion = fd.simulate(dyn, q, qd, values[0], 0.1, dt)
        assert np.ptp(motion.work) > 1e-3
        assert (np.diff(motion.dissipated) >= -1e-15).all()
        worst.append(np.abs(motion.residual).max() / motion.kinetic.max())
    assert worst[0] < 1e-3
    assert worst[1] < max(worst[0] / 8.0, 1e-12)
