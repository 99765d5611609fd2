# SPDX-License-Identifier: Apache-2.0
"""Torques by terms, spectra of vibrations, and the one style of all plots."""

from pathlib import Path
import re

import flexdyn_ros as fd
from flexdyn_ros.figures import COLOURS, save
from flexdyn_ros.simulation.motion_plots import (
    amplitude_spectrum,
    plot_spectrum,
    plot_torque_terms,
    TERMS,
    torque_terms,
)
from flexdyn_ros.simulation.plot import plot_energy
import numpy as np
import pytest

URDF = Path(__file__).parents[2] / 'urdf'


@pytest.fixture(scope='module')
def swing():
    """Return the dynamics and a swing of the two-link arm."""
    dyn = fd.Dynamics(fd.load_robot(URDF / 'two_link_arm.urdf.xacro'), backend='reference')
    q0 = dyn.robot.neutral_configuration()
    q0[0] = -0.5
    return dyn, fd.simulate(dyn, q0, np.zeros(dyn.robot.nv), None, 0.5, 2e-3, method='rk4')


def test_the_terms_sum_up_to_the_torque_and_each_is_its_own(swing):
    dyn, motion = swing
    t, terms = torque_terms(motion, dyn)
    assert tuple(terms) == TERMS
    assert np.allclose(sum(terms.values()), motion.tau, atol=1e-8)
    k = len(t) // 2
    q, qd = motion.q[k], motion.qd[k]
    assert np.allclose(terms['gravity'][k], dyn.gravity_vector(q))
    assert np.allclose(terms['inertia'][k], -dyn.bias_vector(q, qd), atol=1e-8)
    assert t[k] == motion.t[k]


def test_loops_have_a_term_of_their_own():
    dyn = fd.Dynamics(fd.load_robot(URDF / 'four_bar.urdf.xacro'), backend='reference')
    q0, qd0 = dyn.project(dyn.robot.neutral_configuration(), np.zeros(dyn.robot.nv))
    motion = fd.simulate(dyn, q0, qd0, None, 0.02, 1e-3)
    _, terms = torque_terms(motion, dyn)
    assert np.abs(terms['loops']).max() > 1e-3
    assert np.allclose(sum(terms.values()), motion.tau, atol=1e-9)


def test_the_stack_reaches_the_sums_of_positive_and_of_negative_terms(swing):
    dyn, motion = swing
    _, terms = torque_terms(motion, dyn)
    figure = plot_torque_terms(motion, dyn)
    assert len(figure.axes) == dyn.robot.n_joints
    parts = np.array([values[:, 0] for values in terms.values()])
    corners = np.concatenate([
        path.vertices for area in figure.axes[0].collections for path in area.get_paths()])
    assert corners[:, 1].max() == pytest.approx(np.maximum(parts, 0.0).sum(axis=0).max())
    assert corners[:, 1].min() == pytest.approx(np.minimum(parts, 0.0).sum(axis=0).min())
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert labels == [*TERMS, 'sum']
    assert '[N m]' in figure.axes[0].get_ylabel()
    assert figure.axes[-1].get_xlabel() == 'time [s]'


def test_a_sine_is_a_peak_of_its_amplitude_at_its_frequency():
    t = np.linspace(0.0, 2.0, 2000, endpoint=False)
    values = np.stack([3e-3 * np.sin(2 * np.pi * 7.0 * t) + 0.2 + 0.1 * t], axis=1)
    frequencies, amplitudes = amplitude_spectrum(t, values)
    peak = int(np.argmax(amplitudes[:, 0]))
    assert frequencies[peak] == pytest.approx(7.0, abs=0.01)
    assert amplitudes[peak, 0] == pytest.approx(3e-3, rel=0.01)
    assert np.all(amplitudes[frequencies > 10.0] < 1e-5)


def test_a_vibrating_arm_has_its_peak_at_the_marked_frequency():
    """A cantilever has no joints: its first natural frequency."""
    robot = fd.load_robot(
        URDF / 'flexible_beam.urdf.xacro', xacro_arguments={'modes': 1, 'torsion_modes': 0})
    dyn = fd.Dynamics(robot, backend='reference')
    q0 = robot.neutral_configuration()
    q0[robot.mode_names.index('beam/bending_y1')] = 0.01
    motion = fd.simulate(dyn, q0, np.zeros(robot.nv), None, 1.0, 1e-3, method='rk4')
    (axes, *_) = plot_spectrum(motion, dyn, ['beam/tip_y']).axes
    (spectrum,) = [line for line in axes.lines if line.get_label() == 'beam/tip_y']
    x, y = spectrum.get_data()
    beta = 1.87510407  # of the first mode of a cantilever (Blevins, table 8-1)
    stiffness = 2e11 * np.pi * 0.006**4 / 4.0
    frequency = beta**2 * np.sqrt(stiffness / 0.5) / (2.0 * np.pi)
    marked = [line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == '--']
    assert marked == pytest.approx([frequency], rel=1e-3)
    assert x[int(np.argmax(y))] == pytest.approx(frequency, abs=1.0)
    assert axes.get_ylabel() == 'amplitude [m]'
    assert axes.get_xlabel() == 'frequency [Hz]'
    with pytest.raises(fd.FlexdynError, match='No signal is called "elbow"'):
        plot_spectrum(motion, dyn, ['elbow'])


def test_figures_are_written_as_png_and_svg_in_one_style(tmp_path, swing):
    _, motion = swing
    figure = plot_energy(motion)
    assert save(figure, tmp_path / 'energy.png').read_bytes().startswith(b'\x89PNG')
    text = save(figure, tmp_path / 'energy.svg').read_text()
    assert text.lstrip().startswith('<?xml') and '<svg' in text
    assert COLOURS[0].lower() in text
    with pytest.raises(fd.FlexdynError, match='must end in .png or .svg'):
        save(figure, tmp_path / 'energy.jpg')
    package = Path(fd.__file__).parent
    others = [str(path.relative_to(package)) for path in package.rglob('*.py')
              if re.search(r'matplotlib\.(figure|backends)', path.read_text(encoding='utf-8'))]
    assert others == ['figures.py']


def test_a_part_of_a_motion_and_a_motion_of_another_robot(swing):
    dyn, motion = swing
    part = motion.between(0.1, 0.3)
    assert (part.t[0], part.t[-1]) == pytest.approx((0.1, 0.3))
    assert len(part.q) == len(part.tau) == len(part.t) == 101
    assert len(motion.between()) == len(motion)
    with pytest.raises(fd.FlexdynError, match='hold no sample'):
        motion.between(2.0, 3.0)
    other = fd.Dynamics(fd.load_robot(URDF / 'flexible_beam.urdf.xacro'), backend='reference')
    for draw in (plot_torque_terms, plot_spectrum):
        with pytest.raises(fd.FlexdynError, match='other coordinates'):
            draw(motion, other)
