# SPDX-License-Identifier: Apache-2.0
"""Files of a trajectory, and its plots."""

import csv
from random import Random
import subprocess
import sys

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError, UnknownName
from flexdyn_ros.simulation import Trajectory
from flexdyn_ros.simulation.plot import plot_joints, save_plots
from flexdyn_ros.simulation.record import load_npz
import numpy as np
import pytest
from simulated_robots import FLEXIBLE_PENDULUM, PENDULUM, TUMBLER


@pytest.fixture(scope='module')
def motion():
    """Return a short motion of a flexible robot."""
    dyn = fd.Dynamics(fd.load_robot(FLEXIBLE_PENDULUM))
    return fd.simulate(dyn, [0.2, 0, -0.02, 0, 0.05], np.zeros(5), [0.3, 0, 0, 0, 0], 0.01, 1e-3)


def test_arrays_have_the_shapes_of_the_contract(motion):
    """One row a sample; arrays are read-only."""
    assert motion.t.shape == motion.energy.shape == (11,)
    assert motion.q.shape == motion.qd.shape == motion.tau.shape == (11, 5)
    assert motion.tips.shape == (11, 3)
    assert len(motion) == 11
    assert motion.tau[3].tolist() == [0.3, 0, 0, 0, 0]
    assert motion.mode_names == motion.names[1:]
    with pytest.raises(ValueError):
        motion.q[0, 0] = 1.0
    with pytest.raises(AttributeError):
        motion.t = motion.q
    with pytest.raises(UnknownName, match='sholder.*"shoulder"'):
        motion.coordinate('sholder')
    with pytest.raises(UnknownName, match='No coordinate'):
        motion.coordinate(np.zeros(2))
    assert 'flexible_pendulum' in str(motion)


def test_csv_holds_every_number_under_named_units(motion, tmp_path):
    """The table read back is the trajectory, bit for bit."""
    path = motion.to_csv(tmp_path / 'motion.csv')
    with path.open(newline='') as file:
        rows = list(csv.reader(file))
    head, table = rows[0], np.array(rows[1:], dtype=float)
    assert tuple(head) == motion.columns
    assert head[-3:] == ['energy [J]', 'kinetic [J]', 'potential [J]']
    assert all(name.endswith(']') for name in head)
    assert head[:3] == ['t [s]', 'q shoulder [rad]', 'q arm/bending_y1 [m]']
    assert 'qd arm/torsion1 [rad/s]' in head
    assert 'tau shoulder [N m]' in head
    assert 'tip arm/tip_z [m]' in head
    assert table.shape == (11, len(head))
    assert (table[:, 1:6] == motion.q).all()
    assert (table[:, head.index('tau shoulder [N m]')] == motion.tau[:, 0]).all()
    assert (table[:, head.index('energy [J]')] == motion.energy).all()


def test_npz_round_trip_keeps_everything_without_pickle(motion, tmp_path):
    """Arrays bit for bit, names as tuples of str."""
    path = motion.save_npz(tmp_path / 'motion.npz')
    with np.load(path, allow_pickle=False) as stored:
        assert all(stored[name].dtype.kind in 'fU' for name in stored.files)
    again = load_npz(path)
    for name in Trajectory.__dataclass_fields__:
        before, after = getattr(motion, name), getattr(again, name)
        assert type(before) is type(after)
        assert np.array_equal(before, after), name
    assert not again.q.flags.writeable


def test_npz_of_a_rigid_robot_has_empty_tips(tmp_path):
    """No modes, no tips: the empty arrays and tuples survive too."""
    dyn = fd.Dynamics(fd.load_robot(PENDULUM))
    rigid = fd.simulate(dyn, [0.2], [0.0], None, 0.01, 0.005)
    again = load_npz(rigid.save_npz(tmp_path / 'rigid.npz'))
    assert again.tip_names == again.mode_names == ()
    assert again.tips.shape == (3, 0)
    names = [path.name for path in save_plots(rigid, tmp_path)]
    assert names == ['joints.png', 'energy.png']


def test_other_files_are_refused(tmp_path):
    """Text, a foreign archive and a pickle are no trajectories."""
    text, foreign, pickled = (tmp_path / name for name in ('a.npz', 'b.npz', 'c.npz'))
    text.write_text('t,q\n0,1\n')
    np.savez(foreign, x=np.zeros(3))
    np.savez(pickled, t=np.array([object()]))
    for path in (text, foreign, pickled):
        with pytest.raises(ArgumentError, match=path.name):
            load_npz(path)


def test_damaged_files_are_refused_or_read(motion, tmp_path):
    """Bytes changed, cut out and inserted at random give no other error."""
    whole, chance, refused = motion.save_npz(tmp_path / 'whole.npz').read_bytes(), Random(3), 0
    path = tmp_path / 'damaged.npz'
    for _ in range(200):
        content = bytearray(whole)
        for _ in range(chance.choice((1, 2, 8))):
            at = chance.randrange(len(content))
            content[at : at + chance.choice((1, 4, 300))] = chance.randbytes(chance.choice((0, 4)))
        path.write_bytes(content)
        try:
            load_npz(path)
        except ArgumentError as error:
            refused += 1
            assert 'damaged.npz' in str(error)
    assert refused > 100


@pytest.mark.parametrize('time', ['soon', [0.0, 1.0], 1j * np.ones(2), 10 ** 400])
def test_times_that_are_no_numbers_are_refused(motion, time):
    """Infinite ones are all times from or to there."""
    for name in ('start', 'end'):
        with pytest.raises(ArgumentError, match=f'"{name}"'):
            motion.between(**{name: time})
    assert len(motion.between(-np.inf, np.inf)) == len(motion)


def test_missing_and_incomplete_files_are_refused(motion, tmp_path):
    with pytest.raises(ArgumentError, match='none.npz'):
        load_npz(tmp_path / 'none.npz')
    with np.load(motion.save_npz(tmp_path / 'a.npz')) as stored:
        arrays = dict(stored)
    for change, words in (
        (lambda a: a.pop('qd'), 'does not hold "qd"'),
        (lambda a: a.update(x=1.0), 'other arrays too'),
        (lambda a: a.update(q=a['q'][1:]), 'holds q with shape'),
        (lambda a: a.update(t=a['t'] * 1j), 'not as real numbers'),
    ):
        changed = dict(arrays)
        change(changed)
        np.savez(tmp_path / 'b.npz', **changed)
        with pytest.raises(ArgumentError, match=words):
            load_npz(tmp_path / 'b.npz')


def test_plots_are_png_files_with_units(motion, tmp_path):
    """Four files; each has content and its axes carry units."""
    paths = save_plots(motion, tmp_path)
    assert [p.name for p in paths] == [
        'joints.png', 'modes.png', 'tip_deflection.png', 'energy.png',
    ]
    for path in paths:
        data = path.read_bytes()
        assert data[:8] == b'\x89PNG\r\n\x1a\n'
        assert len(data) > 10_000
    axes = plot_joints(motion).axes
    assert [axis.get_ylabel() for axis in axes] == [
        'angle [rad]', 'angular rate [rad/s]', 'torque [N m]',
    ]
    assert axes[-1].get_xlabel() == 'time [s]'
    drawn = axes[0].get_lines()
    assert len(drawn) == 1
    assert np.array_equal(drawn[0].get_ydata(), motion.q[:, 0])


def test_floating_joints_are_plotted_by_unit():
    """Position and quaternion have panels of their own; a torque that is zero has none."""
    robot = fd.load_robot(TUMBLER)
    panels = [
        'position [m]', 'quaternion [-]', 'angular rate [rad/s]', 'velocity [m/s]',
        'torque [N m]', 'force [N]',
    ]
    for torque, shown in ((np.ones(6), panels), (None, panels[:4])):
        motion = fd.simulate(
            fd.Dynamics(robot), robot.neutral_configuration(), np.ones(6), torque, 0.02, 0.01
        )
        assert [axis.get_ylabel() for axis in plot_joints(motion).axes] == shown


def test_simulation_imports_neither_matplotlib_nor_scipy():
    """Plots are requested; until then matplotlib stays out. A missing one is named."""
    code = (
        'import sys, flexdyn_ros, flexdyn_ros.figures, flexdyn_ros.simulation.plot\n'
        'assert "matplotlib" not in sys.modules and "scipy" not in sys.modules\n'
        'sys.modules["matplotlib.figure"] = None\n'
        'try:\n'
        '    flexdyn_ros.figures.grid(1, 1, (1.0, 1.0))\n'
        'except flexdyn_ros.FlexdynError as error:\n'
        '    print(error)\n'
    )
    run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert 'matplotlib' in run.stdout
    assert 'pip install matplotlib' in run.stdout


def test_files_without_work_and_losses_are_read(motion, tmp_path):
    """Files of the first version; missing arrays are not a number."""
    path = motion.save_npz(tmp_path / 'motion.npz')
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    for name in ('work', 'dissipated'):
        del arrays[name]
    np.savez(tmp_path / 'old.npz', **arrays)
    old = Trajectory.load_npz(tmp_path / 'old.npz')
    assert (old.q == motion.q).all()
    assert old.work.shape == old.t.shape and np.isnan(old.work).all()
    assert np.isnan(old.dissipated).all()
