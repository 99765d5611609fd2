# SPDX-License-Identifier: Apache-2.0
"""Sweeps: the same rows on any number of processes, after a kill, after a stop, on Dask."""

from collections import deque
import csv
import json
import multiprocessing
from pathlib import Path
import sys

from flexdyn_ros.cli.main import main
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.scenario import ScenarioError, sweep as sweeps
from flexdyn_ros.scenario.sweep import sweep_row, sweep_rows
from flexdyn_ros.scenario.sweep_points import parsed_axis, Sweep
from flexdyn_ros.scenario.sweep_table import columns, save_sweep_plot, write_table
import pytest

URDF = """<robot name="arm"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 -0.4"/>
<mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="pivot" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
</joint></robot>"""
SCENARIO = """
robot: arm.urdf
simulation: {duration: 0.2, step: 0.002}
trajectories: {up: {type: cycloidal, end: {pivot: 0.4}, duration: 0.2}}
controllers:
  pd: {type: pd, trajectory: up, kp: 50, kd: 5, rate: 500, noise: {position: 0.001, seed: 7}}
payload: {link: rod, mass: 1, com: [0, 0, -0.8]}
"""
AXES = ('payload.mass=0:5:3', 'controllers.pd.kp=50,200')


@pytest.fixture
def study(tmp_path):
    """Return the file of a scenario."""
    (tmp_path / 'arm.urdf').write_text(URDF)
    (tmp_path / 'study.yaml').write_text(SCENARIO)
    return str(tmp_path / 'study.yaml')


def grid(study):
    """Return a sweep of six points and its rows, computed in this process."""
    sweep = Sweep.of(study, [parsed_axis(text) for text in AXES])
    return sweep, [sweep_row(study, {}, point) for point in sweep.points]


def test_rows_hold_values_and_results(study):
    sweep, rows = grid(study)
    assert [tuple(point.values()) for point in sweep.points] == [
        (mass, kp) for mass in (0, 2.5, 5) for kp in (50, 200)]
    assert set(rows[0]) == {
        'payload.mass', 'controllers.pd.kp', 'pivot/error_largest_rad', 'pivot/error_final_rad',
        'pivot/error_rms_rad', 'pivot/largest_effort_n_m', 'pivot/final_rad'}
    assert rows[4]['pivot/error_rms_rad'] > rows[0]['pivot/error_rms_rad']
    assert rows[0]['pivot/error_rms_rad'] > rows[1]['pivot/error_rms_rad']


def test_a_killed_process_loses_nothing_and_a_stopped_sweep_goes_on(study, tmp_path):
    """Two processes, of which one is killed after the second row; then half a line of a stop."""
    sweep, expected = grid(study)
    fractions = []

    def progress(fraction):
        fractions.append(fraction)
        if len(fractions) == 2:
            multiprocessing.active_children()[0].kill()

    assert sweep_rows(sweep, tmp_path, 2, progress=progress) == expected
    assert fractions[-1] == 1.0 and len(fractions) == 6
    kept = (tmp_path / 'rows.jsonl').read_text().splitlines(keepends=True)
    (tmp_path / 'rows.jsonl').write_text(''.join(kept[:-1]) + kept[-1][:20])
    again = []
    assert sweep_rows(sweep, tmp_path, 1, progress=again.append) == expected
    assert again == [1.0]
    other = Sweep.of(study, [parsed_axis('payload.mass=0:4:2')])
    with pytest.raises(ArgumentError, match='another sweep'):
        sweep_rows(other, tmp_path)


def test_a_changed_file_of_the_scenario_is_another_sweep(study, tmp_path):
    """The file that all points read, and one that a single point reads."""
    folder = tmp_path / 'sweep'
    folder.mkdir()
    files = [tmp_path / name for name in ('up.csv', 'down.csv')]
    for file, end in zip(files, (0.4, -0.4)):
        file.write_text(f't,pivot\n0,0\n0.1,{end / 2}\n0.2,{end}\n')
    text = SCENARIO.replace(
        '{type: cycloidal, end: {pivot: 0.4}, duration: 0.2}', '{type: csv, file: up.csv}')
    Path(study).write_text(text)
    axis = parsed_axis('trajectories.up.file=up.csv,down.csv')
    sweep = Sweep.of(study, [axis])
    rows = sweep_rows(sweep, folder)
    assert [row['pivot/final_rad'] > 0.0 for row in rows] == [True, False]
    assert sweep_rows(sweep, folder, progress=pytest.fail) == rows
    for file in files:
        kept = file.read_text()
        file.write_text(kept + '0.3,0\n')
        with pytest.raises(ArgumentError, match='another sweep'):
            sweep_rows(sweep, folder)
        file.write_text(kept)
    assert sweep_rows(sweep, folder, progress=pytest.fail) == rows


def test_a_point_that_ends_its_processes_fails_alone(monkeypatch, study):
    """The others keep their rows; it is tried three times."""
    sweep, tries, rows = Sweep.of(study, [parsed_axis('payload.mass=0:5:4')]), [], {}

    def run_in_pool(sweep, waiting, workers, finished):
        running = [waiting.popleft() for _ in range(min(workers, len(waiting)))]
        tries.append((workers, running))
        if 2 in running:
            return running
        for k in running:
            finished(k, {})
        return []

    monkeypatch.setattr(sweeps, '_run_in_pool', run_in_pool)
    sweeps._run_here(sweep, [0, 1, 2, 3], 3, rows.__setitem__)
    assert tries == [(1, [0]), (3, [1, 2, 3]), (1, [1]), (1, [2]), (1, [3]), (1, [2])]
    assert rows[2]['error'] == 'Its process ended.' and rows[1] == rows[3] == {}
    assert deque(rows) == deque([0, 1, 3, 2])


def test_samples_depend_on_the_seed_alone(study):
    axes = [parsed_axis('payload.mass=0:5'), parsed_axis('controllers.pd.kp=50,200')]
    one, same, other = (
        Sweep.of(study, axes, samples=5, seed=seed).points for seed in (3, 3, 4))
    assert one == same != other
    assert all(0.0 <= point['payload.mass'] <= 5.0 for point in one)


@pytest.mark.parametrize('kind', ['csv', 'parquet'])
def test_table_and_pictures(tmp_path, kind):
    """Failed points have an error and no results; one, two and three keys are drawn."""
    if kind == 'parquet':
        parquet = pytest.importorskip(
            'pyarrow.parquet', reason='pyarrow is not installed here: pip install pyarrow')
    rows = [{'a': 1, 'b': 'x', 'c': 0.1, 'y': 0.1 + 0.2},
            {'a': 2, 'b': 'z', 'c': 2.0, 'error': 'no'}]
    assert columns(rows) == ['a', 'b', 'c', 'y', 'error']
    path = write_table(rows, tmp_path, kind)
    if kind == 'csv':
        found = list(csv.DictReader(path.open()))
        assert float(found[0]['y']) == 0.1 + 0.2 and found[1]['error'] == 'no'
    else:
        found = parquet.read_table(path).to_pylist()
        assert found[0]['y'] == 0.1 + 0.2 and found[1]['y'] is None
    for keys in (['a'], ['a', 'b'], ['a', 'b', 'c']):
        save_sweep_plot(rows, keys, tmp_path / 'sweep.png', ['y'])
        assert (tmp_path / 'sweep.png').read_bytes().startswith(b'\x89PNG')


@pytest.mark.parametrize('text', ['a', 'a=', '=1,2', 'a=1:x:3', 'a=0:1:0', 'a=1:2:3:4'])
def test_wrong_axes_are_refused(text):
    with pytest.raises(ArgumentError, match='expected KEY='):
        parsed_axis(text)


@pytest.mark.parametrize('words, problem', [
    (['payload.mas=0:1:2'], 'payload.mas'), (['payload.mass=0:1'], 'count'),
    (['payload.mass=-1,2'], 'payload.mass'), (['payload.mass=1,2'] * 2, 'different keys')])
def test_wrong_calls_are_named(study, tmp_path, capsys, words, problem):
    over = [word for text in words for word in ('--over', text)]
    assert main(['sweep', study, *over, '--out', str(tmp_path / 'out')]) == 2
    assert problem in capsys.readouterr().err
    assert not (tmp_path / 'out').exists()


def test_the_command_shows_its_progress_on_a_terminal(study, tmp_path, monkeypatch, capsys):
    """Here in one process, as if each point took a while."""
    def run_here(sweep, missing, workers, finished):
        for k in missing:
            finished(k, sweep_row(sweep.source, sweep.changes, sweep.points[k]))

    monkeypatch.setattr(sweeps, '_run_here', run_here)
    monkeypatch.setattr('flexdyn_ros.progress._QUIET_TIME', 0.001)
    monkeypatch.setattr('flexdyn_ros.progress._INTERVAL', 0.0)
    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.setattr(sys.stderr, 'isatty', lambda: True)
    assert main(['sweep', study, '--over', AXES[0], '--table', 'csv', '--format', 'svg', '--out',
                 str(tmp_path / 'out')]) == 0
    assert '<svg' in (tmp_path / 'out' / 'sweep.svg').read_text()
    shown = capsys.readouterr().err.replace('\n', '\r').split('\r')
    bars = [line for line in shown if line.startswith('sweeping [')]
    assert all(any(f' {k} % ' in line for line in bars) for k in (33, 67, 100))
    assert all(line.endswith(' s left') for line in bars)


@pytest.mark.slow
def test_the_command_writes_the_same_table_on_one_and_on_eight_workers(study, tmp_path, capsys):
    over = [word for text in AXES for word in ('--over', text)]
    tables = []
    for workers in ('1', '8'):
        out = tmp_path / workers
        code = main(['sweep', study, *over, '--samples', '9', '--seed', '5', '--workers', workers,
                     '--table', 'csv', '--json', '--out', str(out)])
        answer = json.loads(capsys.readouterr().out)
        assert (code, answer['points'], answer['failed']) == (0, 9, 0)
        assert {Path(file).name for file in answer['files']} == {'sweep.csv', 'sweep.png'}
        tables.append((out / 'sweep.csv').read_bytes())
    assert tables[0] == tables[1]


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_rows(study, tmp_path):
    distributed = pytest.importorskip(
        'distributed', reason='Dask is not installed here: pip install dask distributed')
    sweep, expected = grid(study)
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        killed = []

        def progress(fraction):
            if not killed:
                killed.append(cluster.workers[0].pid)
                cluster.workers[0].process.process.kill()

        found = sweep_rows(
            sweep, tmp_path, dask=cluster.scheduler_address, progress=progress)
    assert found == expected and killed


def test_a_wrong_value_is_an_error_of_the_scenario(study):
    with pytest.raises(ScenarioError, match='payload.mass'):
        Sweep.of(study, [parsed_axis('payload.mass=heavy')])
