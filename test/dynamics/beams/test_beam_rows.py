# SPDX-License-Identifier: Apache-2.0
"""Beams that start away from the link's frame, and several in a row within one link."""

from codegen.compiled import QUICK
import flexdyn_ros as fd
from flexdyn_ros.errors import ModelError
from flexdyn_ros.simulation.vibrations import analyse
from flexdyn_ros.visualization.centre_lines import centre_lines
import numpy as np
from oracles.compare import assert_agree, assert_slope_in_q, reference_dynamics
import pytest
from scipy.linalg import eigh

YOUNG, SHEAR, AREA, SECOND, TWIST, DENSITY = 7e10, 2.6e10, 4e-4, 3e-8, 4e-8, 2700.0
SECTION = (f'young="{YOUNG}" shear="{SHEAR}" area="{AREA}" iy="{SECOND}" iz="{SECOND}" '
           f'j="{TWIST}" density="{DENSITY}"')
NO_MASS = SECTION.partition(' density')[0]
PLAIN = ' geometric_stiffening="false"'
EXACT = ('<bending axis="y" modes="{0}" static_modes="2"/>'
         '<bending axis="z" modes="{0}" static_modes="2"/>'
         '<torsion modes="{0}" static_modes="1"/>')
SMALL = ('<inertial><mass value="{0}"/><inertia ixx="{1}" iyy="{1}" izz="{1}" ixy="0" ixz="0" '
         'iyz="0"/></inertial>')
BODY = SMALL.format(0.7, 0.002)


def arm(beams, end, kind='fixed', link=PLAIN, inertial='', tool='', more='', gravity='0 0 0'):
    """Return a link with these beams, and a tool on it at a place."""
    return fd.load_robot(
        f'<robot name="r"><link name="base"/><link name="boom">{inertial}</link><link name="tool">'
        f'{tool}</link><joint name="root" type="{kind}"><parent link="base"/><child link="boom"/>'
        '<axis xyz="0 0.6 0.8"/></joint><joint name="wrist" type="fixed"><parent link="boom"/>'
        f'<child link="tool"/><origin xyz="{end}"/></joint><flexdyn version="1.0"><gravity '
        f'xyz="{gravity}"/><flexible_link link="boom"{link}>{beams}</flexible_link>{more}'
        '</flexdyn></robot>')


def row(points, modes, section=SECTION):
    """Return beams through points."""
    return ''.join(
        f'<beam tip="{" ".join(f"{x:.12g}" for x in point)}" {section}>{modes}</beam>'
        for point in points)


def compliance(robot):
    """Return the small displacement of the tool under unit forces, (3, 3) [m/N]."""
    dyn, zero = reference_dynamics(robot), np.zeros(robot.nv)
    stiffness = np.array([dyn.elastic_vector(e, zero) for e in np.eye(robot.nv)])
    jacobian = dyn.jacobian(zero, 'tool')[:3]
    return jacobian @ np.linalg.solve(stiffness, jacobian.T)


def test_an_l_shaped_frame_has_its_textbook_compliance():
    """By Castigliano: arms a and b, a force at the end in and out of their plane."""
    a, b = 0.8, 0.5
    robot = arm(row([(a, 0, 0), (a, b, 0)], EXACT.format(0)), f'{a} {b} 0')
    bends, twists = YOUNG * SECOND, SHEAR * TWIST
    found = compliance(robot)
    assert found[0, 0] == pytest.approx(b**3 / (3 * bends) + b * b * a / bends, rel=1e-9)
    assert found[1, 1] == pytest.approx(a**3 / (3 * bends), rel=1e-9)
    assert found[0, 1] == pytest.approx(-b * a * a / (2 * bends), rel=1e-9)
    assert found[2, 2] == pytest.approx(
        (a**3 + b**3) / (3 * bends) + b * b * a / twists, rel=1e-9)


def plane_frame(points, count):
    """Return the natural frequencies of a clamped plane frame by Hermite's elements [rad/s]."""
    nodes = [np.array([0.0, 0.0])]
    for point in points:
        start = nodes[-1]
        nodes += [start + (np.array(point) - start) * k / count for k in range(1, count + 1)]
    size = 3 * len(nodes)
    stiffness, mass = np.zeros((size, size)), np.zeros((size, size))
    line, bends, stretches = DENSITY * AREA, YOUNG * SECOND, 30 * YOUNG * AREA
    for k, (one, other) in enumerate(zip(nodes, nodes[1:])):
        x, y = other - one
        s = np.hypot(x, y)
        turn = np.array([[x, y, 0.0], [-y, x, 0.0], [0.0, 0.0, s]]) / s
        turn = np.kron(np.eye(2), turn)
        k_e, m_e = np.zeros((6, 6)), np.zeros((6, 6))
        k_e[np.ix_([0, 3], [0, 3])] = stretches / s * np.array([[1.0, -1.0], [-1.0, 1.0]])
        m_e[np.ix_([0, 3], [0, 3])] = line * s / 6 * np.array([[2.0, 1.0], [1.0, 2.0]])
        at = np.ix_([1, 2, 4, 5], [1, 2, 4, 5])
        k_e[at] = bends / s**3 * np.array([
            [12, 6 * s, -12, 6 * s], [6 * s, 4 * s * s, -6 * s, 2 * s * s],
            [-12, -6 * s, 12, -6 * s], [6 * s, 2 * s * s, -6 * s, 4 * s * s]])
        m_e[at] = line * s / 420 * np.array([
            [156, 22 * s, 54, -13 * s], [22 * s, 4 * s * s, 13 * s, -3 * s * s],
            [54, 13 * s, 156, -22 * s], [-13 * s, -3 * s * s, -22 * s, 4 * s * s]])
        rows = slice(3 * k, 3 * k + 6)
        stiffness[rows, rows] += turn.T @ k_e @ turn
        mass[rows, rows] += turn.T @ m_e @ turn
    return np.sqrt(eigh(stiffness[3:, 3:], mass[3:, 3:], eigvals_only=True))


def test_an_l_shaped_frame_vibrates_as_finite_elements_do():
    """The first three frequencies in its plane, of plane frame elements written here."""
    points = [(0.8, 0.0), (0.8, 0.5)]
    modes = '<bending axis="y" modes="2" static_modes="2"/>'
    section = SECTION + ' y_axis="-1 1 0"'  # in the plane, of both
    robot = arm(row([(*p, 0.0) for p in points], modes, section), '0.8 0.5 0')
    found = [2 * np.pi * v['frequency'] for v in analyse(robot, np.zeros(robot.nv))['locked']]
    assert found[:3] == pytest.approx(plane_frame(points, 30)[:3], rel=2e-4)


def test_chords_of_a_quarter_circle_approach_its_closed_form():
    """Castigliano's pi/4, -1/2 and 3 pi/4 - 2 times R^3 / E I, with an error of 1 / n^2."""
    radius, errors = 0.6, []
    unit = radius**3 / (YOUNG * SECOND)
    for count in (3, 6):
        angles = np.pi / 2 * np.arange(1, count + 1) / count
        points = [(radius * np.sin(x), radius * (1 - np.cos(x)), 0.0) for x in angles]
        end = ' '.join(f'{x:.12g}' for x in points[-1])
        modes = '<bending axis="y" modes="0" static_modes="2"/>'
        found = compliance(arm(row(points, modes), end)) / unit
        exact = np.array([np.pi / 4, -0.5, 0.75 * np.pi - 2.0])
        errors.append(found[[0, 0, 1], [0, 1, 1]] / exact - 1.0)
    assert np.abs(errors[-1]).max() < 0.03
    assert errors[0] / errors[1] == pytest.approx([4.0, 4.0, 4.0], rel=0.15)


def test_two_beams_in_line_are_one():
    """The same torques as those of a link behind a fixed joint, and the compliance of one beam."""
    modes = EXACT.format(1)
    both = arm(row([(0.5, 0, 0), (1.2, 0, 0)], modes), '1.2 0 0')
    whole = arm(row([(1.2, 0, 0)], modes), '1.2 0 0')
    assert compliance(both) == pytest.approx(compliance(whole), rel=1e-9, abs=1e-15)
    assert both.total_mass == pytest.approx(whole.total_mass, rel=1e-12)


def explicit(points, modes, offset=(0.0, 0.0, 0.0)):
    """Return the beams of a row as links of their own behind fixed joints."""
    links, joints, bends = '', '', ''
    start, parent = np.zeros(3), 'boom'
    place = np.array(offset)
    for number, point in enumerate(points):
        name = f'part{number}'
        links += f'<link name="{name}"/>'
        x, y, z = place - start
        joints += (f'<joint name="j{number}" type="fixed"><parent link="{parent}"/><child '
                   f'link="{name}"/><origin xyz="{x} {y} {z}"/></joint>')
        x, y, z = np.array(point) - place
        bends += (f'<flexible_link link="{name}"><beam tip="{x} {y} {z}" {SECTION}>{modes}'
                  '</beam></flexible_link>')
        start, place, parent = place, np.array(point), name
    x, y, z = place - start
    return fd.load_robot(
        f'<robot name="r"><link name="base"/><link name="boom"/>{links}<link name="tool">{BODY}'
        '</link><joint name="root" type="continuous"><parent link="base"/><child link="boom"/>'
        f'<axis xyz="0 0.6 0.8"/></joint>{joints}<joint name="wrist" type="fixed"><parent '
        f'link="{parent}"/><child link="tool"/><origin xyz="{x} {y} {z}"/></joint>'
        f'<flexdyn version="1.0"><gravity xyz="0 1 -9"/>{bends}</flexdyn></robot>')


MODES = '<bending axis="y" modes="1"/><bending axis="z" modes="1"/><torsion modes="1"/>'
POINTS = [(0.8, 0.1, 0.0), (0.9, 0.5, 0.2)]


ROOT = ' root="0.1 -0.2 0.05"'


@pytest.mark.parametrize(('backend', 'root', 'bending'), [
    ('reference', '', MODES), ('reference', ROOT, MODES),
    ('python', ROOT, '<bending axis="y" modes="1"/><torsion modes="1"/>'),
    ('c', ROOT, '<bending axis="y" modes="1"/>'),
])
def test_a_row_is_links_behind_fixed_joints(backend, root, bending, monkeypatch):
    """All functions to rounding, in its own frames; kinematic influence; energy balance."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    beams = row(POINTS, bending).replace('<beam', f'<beam{root}', 1)
    robot = arm(beams, '0.9 0.5 0.2', 'continuous', '', tool=BODY, gravity='0 1 -9')
    offset = (0.1, -0.2, 0.05) if root else (0.0, 0.0, 0.0)
    other = explicit(POINTS, bending, offset)
    assert 'boom/beam2_bending_y1' in robot.mode_names
    dyn, apart = fd.Dynamics(robot, backend=backend), reference_dynamics(other)
    rng = np.random.default_rng(6)
    q, qd, qdd = rng.normal(scale=[[0.5], [1.0], [2.0]], size=(3, robot.nv))
    q[1:] *= 0.05
    wrench = {'tool': [3.0, -2.0, 5.0, 0.4, 0.2, -0.3]}
    tau = dyn.inverse_dynamics(q, qd, qdd, wrench)
    assert_agree(tau, apart.inverse_dynamics(q, qd, qdd, wrench), 1e-11)
    assert_agree(dyn.forward_dynamics(q, qd, tau, wrench), qdd, 1e-8)
    if backend == 'c':
        batch = dyn.batch.inverse_dynamics(q[None], qd[None], qdd[None])
        assert_agree(batch[0], apart.inverse_dynamics(q, qd, qdd), 1e-11)
        motion = fd.simulate(dyn, q, qd, None, 0.05, 2e-5, method='rk4')
        assert np.ptp(motion.energy) < 1e-5 * np.abs(motion.energy).max()
        return
    assert_agree(dyn.mass_matrix(q), apart.mass_matrix(q), 1e-11)
    assert_agree(dyn.frame_pose(q, 'tool'), apart.frame_pose(q, 'tool'), 1e-12)
    torque, modes = dyn.hybrid_dynamics(q, qd, qdd[:1])
    same = apart.hybrid_dynamics(q, qd, qdd[:1])
    assert_agree(torque, same[0], 1e-8)
    assert_agree(modes, same[1], 1e-8)
    assert dyn.kinetic_energy(q, qd) == pytest.approx(apart.kinetic_energy(q, qd), rel=1e-11)
    assert dyn.potential_energy(q) == pytest.approx(apart.potential_energy(q), rel=1e-11)
    if backend == 'reference':
        influence = fd.Dynamics(robot, backend=backend, formulation='kinematic_influence')
        assert_agree(influence.inverse_dynamics(q, qd, qdd, wrench), tau, 1e-10)
        slopes = dyn.inverse_dynamics_derivatives(q, qd, qdd)[0]
        assert_slope_in_q(dyn, slopes, q, qd, qdd, 1e-5)


def test_an_offset_start_keeps_names_share_and_rigid_link():
    """A beam at the end of a casting takes its share of <inertial>; the rigid arm is unchanged."""
    inertial = ('<inertial><origin xyz="0.5 0.05 0"/><mass value="4"/><inertia ixx="0.05" '
                'iyy="0.4" izz="0.42" ixy="0.01" ixz="0" iyz="0"/></inertial>')
    beam = (f'<beam root="0.2 0.05 0" tip="1.1 0.05 0" young="{YOUNG}" iy="{SECOND}" '
            f'iz="{SECOND}">' + MODES.replace('<torsion modes="1"/>', '') + '</beam>')
    robot = arm(beam, '1.1 0.05 0', 'continuous', '', inertial, BODY)
    assert robot.mode_names == ('boom/bending_y1', 'boom/bending_z1')
    piece = robot.link('boom/beam')
    assert piece.beam.share > 0.2 and piece.beam.mass == pytest.approx(4 * piece.beam.share)
    rigid = fd.load_robot(robot.descriptions[0].partition('<flexdyn')[0] + '</robot>')
    q = np.array([0.7, 0.0, 0.0])
    assert reference_dynamics(robot).mass_matrix(q)[0, 0] == pytest.approx(
        reference_dynamics(rigid).mass_matrix(q[:1])[0, 0], rel=1e-9)
    tip = fd.load_robot(robot.descriptions[0].replace('<beam root', '<beam remainder="tip" root'))
    assert reference_dynamics(tip).mass_matrix(q)[0, 0] == pytest.approx(
        reference_dynamics(rigid).mass_matrix(q[:1])[0, 0], rel=1e-9)


def test_the_rest_of_inertial_is_the_hub_of_a_row():
    """Beams are part of it, or beside it."""
    inertial = ('<inertial><origin xyz="0.5 0.15 0"/><mass value="6"/><inertia ixx="0.5" '
                'iyy="0.9" izz="1.2" ixy="-0.05" ixz="0" iyz="0"/></inertial>')
    beams = row([(0.8, 0, 0), (0.8, 0.5, 0)], MODES)
    total = arm(beams, '0.8 0.5 0', 'continuous', inertial=inertial)
    assert total.total_mass == pytest.approx(6.0)
    rigid = fd.load_robot(total.descriptions[0].partition('<flexdyn')[0] + '</robot>')
    assert reference_dynamics(total).mass_matrix(np.zeros(total.nv))[0, 0] == pytest.approx(
        reference_dynamics(rigid).mass_matrix(np.zeros(1))[0, 0], rel=1e-6)
    hub = arm(beams, '0.8 0.5 0', 'continuous', ' inertial="hub"', inertial)
    assert hub.total_mass == pytest.approx(6.0 + DENSITY * AREA * 1.3)


def test_payloads_ride_on_the_nearest_beam():
    """Those that the description declares, and those of run time, which clear."""
    end = '0.8 0.5 0'
    beams = row([(0.8, 0, 0), (0.8, 0.5, 0)], MODES)
    payload = '<payload link="boom" mass="2" com="0.8 0.4 0.1"/>'
    loaded = arm(beams, end, 'continuous', more=payload)
    assert [p.link for p in loaded.payloads] == ['boom/beam2']
    assert loaded.payloads[0].inertia.com == pytest.approx((0.0, 0.4, 0.1))
    plain = arm(beams, end, 'continuous')
    dyn = reference_dynamics(plain)
    q = np.concatenate(([0.3], np.full(plain.nv - 1, 0.01)))
    before = dyn.mass_matrix(q)
    dyn.set_payload('boom', 1.0, (0.3, 0.0, 0.1))
    dyn.set_payload('boom', 2.0, (0.8, 0.4, 0.1))
    assert_agree(dyn.mass_matrix(q), reference_dynamics(loaded).mass_matrix(q), 1e-12)
    dyn.clear_payload('boom')
    assert np.array_equal(dyn.mass_matrix(q), before)
    code = fd.generate(plain, 'gravity_vector', arguments=('payload:boom/beam2',))
    assert 'payload' in code.source
    with pytest.raises(fd.FlexdynError, match='payload:boom/beam1, payload:boom/beam2'):
        fd.generate(plain, 'gravity_vector', arguments=('payload:boom',))


def test_markers_draw_each_beam_and_springs_find_its_modes():
    """The drawn ends meet, at the tool."""
    spring = '<mode_spring mode="beam2_bending_z1" polynomial="0 0 5e4"/>'
    robot = arm(row(POINTS, MODES) + spring, '0.9 0.5 0.2', 'continuous', '')
    dyn = reference_dynamics(robot)
    q = np.concatenate(([0.3], np.linspace(-0.03, 0.04, robot.n_modes)))
    shapes = {shape.link: shape for shape in centre_lines(robot, 7)}
    assert list(shapes) == ['boom/beam1', 'boom/beam2']
    drawn = {name: shape.deformed(dyn.frame_pose(q, name), q[1:])
             for name, shape in shapes.items()}
    first, second = drawn.values()
    assert first.line[-1] == pytest.approx(second.line[0], abs=1e-12)
    assert second.line[-1] == pytest.approx(dyn.frame_pose(q, 'tool')[:3, 3], abs=1e-12)
    unsprung = reference_dynamics(arm(row(POINTS, MODES), '0.9 0.5 0.2', 'continuous', ''))
    more = dyn.elastic_vector(q, 0 * q) - unsprung.elastic_vector(q, 0 * q)
    k = robot.coordinate_names.index('boom/beam2_bending_z1')
    assert more[k] == pytest.approx(5e4 * q[k] ** 3, rel=1e-6)
    assert np.count_nonzero(more) == 1


def test_segments_may_start_away_from_the_link_s_frame():
    """As those of a link behind a fixed joint do."""
    segments = f'<segments count="4" directions="y z" root="0.2 0.1 0" tip="1 0.1 0" {SECTION}/>'
    robot = arm(segments, '1 0.1 0', 'continuous', '', tool=BODY)
    assert robot.mode_names[0] == 'boom/segment2_y'
    apart = fd.load_robot(
        robot.descriptions[0].replace('root="0.2 0.1 0" tip="1 0.1 0"', 'tip="0.8 0 0"')
        .replace('link="boom"><segments', 'link="part"><segments')
        .replace('<parent link="boom" />', '<parent link="part"/>')
        .replace('xyz="1 0.1 0"', 'xyz="0.8 0 0"')
        .replace('<flexdyn', '<link name="part"/><joint name="j" type="fixed"><parent '
                 'link="boom"/><child link="part"/><origin xyz="0.2 0.1 0"/></joint><flexdyn'))
    q, qd, qdd = np.random.default_rng(1).normal(scale=0.2, size=(3, robot.nv))
    assert_agree(reference_dynamics(robot).inverse_dynamics(q, qd, qdd),
                 reference_dynamics(apart).inverse_dynamics(q, qd, qdd), 1e-12)


@pytest.mark.parametrize(('beams', 'words'), [
    (row([(0.8, 0, 0), (0.8, 0, 0)], MODES), 'has no length'),
    (row([(0.8, 0, 0), (0.8, 0.3, 0)], MODES, NO_MASS), 'has no <inertial> to take it from'),
    (row([(0.8, 0, 0)], MODES) + row([(0.8, 0.3, 0)], MODES, NO_MASS), 'others have none'),
    (row([(0.8, 0, 0), (0.8, 0.3, 0)], MODES, NO_MASS + ' distribution="fit"'), 'no effect on a'),
    (row([(0.8, 0, 0), (0.8, 0.3, 0)], MODES, NO_MASS + ' remainder="tip"'), 'inside a row'),
    (row([(0.8, 0, 0)], MODES).replace('<beam', '<beam root="0 0 0"'), 'without it'),
    (row([(0.8, 0, 0)], MODES).replace('<beam', '<beam root="elbow"'), 'root "elbow" is neither'),
    (row([(0.8, 0, 0), (0.8, 0.3, 0)], MODES) + '<mode_spring mode="bending_y1" polynomial="3"/>',
     'has no mode "bending_y1"'),
])
def test_refusals(beams, words):
    with pytest.raises(ModelError, match=words):
        arm(beams, '0.8 0 0')
