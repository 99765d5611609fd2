# SPDX-License-Identifier: Apache-2.0
"""Every numeric method: out=, any sequence of numbers, wrong shapes and non-finite values."""

from array import array
from pathlib import Path
import re
import warnings

import flexdyn_ros as fd
import numpy as np
from oracles.compare import reference_dynamics
from oracles.random_robots import random_robot_urdf, random_state
from oracles.small_robots import arm
import pytest

URDF = Path(__file__).resolve().parents[2] / 'urdf' / 'two_link_arm.urdf.xacro'
ROBOT = fd.load_robot(random_robot_urdf(91, 3, ('revolute', 'floating'), 0.8, tree=False))
DYN = reference_dynamics(ROBOT)
Q, QD, QDD = random_state(ROBOT, np.random.default_rng(2))
FRAME = ROBOT.links[-1].name
WRENCHES = {FRAME: np.array([1.0, -2.0, 3.0, 0.1, 0.2, 0.3])}
TAU = DYN.inverse_dynamics(Q, QD, QDD)
JOINT_QDD = QDD[:ROBOT.n_joints]
# Method name to its arguments, in the order of its signature.
METHODS = {
    'inverse_dynamics': {'q': Q, 'qd': QD, 'qdd': QDD},
    'forward_dynamics': {'q': Q, 'qd': QD, 'tau': TAU},
    'hybrid_dynamics': {'q': Q, 'qd': QD, 'joint_qdd': JOINT_QDD},
    'mass_matrix': {'q': Q},
    'bias_vector': {'q': Q, 'qd': QD},
    'gravity_vector': {'q': Q},
    'coriolis_vector': {'q': Q, 'qd': QD},
    'coriolis_matrix': {'q': Q, 'qd': QD},
    'composite_inertia': {'q': Q, 'frame': FRAME},
    'articulated_inertia': {'q': Q, 'frame': FRAME},
    'friction_vector': {'qd': QD},
    'elastic_vector': {'q': Q, 'qd': QD},
    'inertia_vector': {'q': Q, 'qdd': QDD},
    'external_force_vector': {'q': Q, 'wrenches': WRENCHES},
    'frame_pose': {'q': Q, 'frame': FRAME},
    'jacobian': {'q': Q, 'frame': FRAME},
    'jacobian_rate_qd': {'q': Q, 'qd': QD, 'frame': FRAME},
    'kinetic_energy': {'q': Q, 'qd': QD},
    'potential_energy': {'q': Q},
}
NV = ROBOT.nv
SHAPES = {
    'mass_matrix': (NV, NV), 'frame_pose': (4, 4), 'jacobian': (6, NV), 'jacobian_rate_qd': (6,),
    'kinetic_energy': (), 'potential_energy': (), 'coriolis_matrix': (NV, NV),
    'composite_inertia': (6, 6), 'articulated_inertia': (6, 6),
}
VECTORS = [
    (method, name) for method, given in METHODS.items() for name in given
    if name not in ('frame', 'wrenches')
]


def parts(result):
    """Return a method's results as a list of arrays."""
    return [np.asarray(r) for r in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize('method', list(METHODS))
def test_shapes(method):
    """Results have the contract's shapes."""
    results = parts(getattr(DYN, method)(**METHODS[method]))
    if method == 'hybrid_dynamics':
        assert [r.shape for r in results] == [(ROBOT.n_joints,), (ROBOT.n_modes,)]
    else:
        assert [r.shape for r in results] == [SHAPES.get(method, (NV,))]


@pytest.mark.parametrize('method', list(METHODS))
def test_arguments_may_stand_in_order(method):
    """Positional arguments in the contract's order."""
    given = METHODS[method]
    expected = parts(getattr(DYN, method)(**given))
    for ours, theirs in zip(parts(getattr(DYN, method)(*given.values())), expected, strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize('method', list(METHODS))
def test_out_is_filled_and_returned(method):
    """The arrays passed as `out` receive the result."""
    expected = parts(getattr(DYN, method)(**METHODS[method]))
    buffers = [np.full(r.shape, np.nan) for r in expected]
    out = tuple(buffers) if len(buffers) > 1 else buffers[0]
    result = getattr(DYN, method)(**METHODS[method], out=out)
    returned = result if isinstance(result, tuple) else (result,)
    for buffer, value, back in zip(buffers, expected, returned, strict=True):
        assert np.array_equal(buffer, value)
        assert back is buffer or np.ndim(value) == 0


@pytest.mark.parametrize('method', list(METHODS))
def test_out_of_a_wrong_shape_is_refused(method):
    """The error names `out`."""
    with pytest.raises(fd.FlexdynError, match='out'):
        getattr(DYN, method)(**METHODS[method], out=np.zeros((2, 3, 5)))


@pytest.mark.parametrize('convert', [list, lambda v: array('d', v), lambda v: np.float32(v)])
@pytest.mark.parametrize('method', list(METHODS))
def test_any_sequence_of_numbers_serves(method, convert):
    """Lists, array.array and single-precision arrays give the results of numpy arrays."""
    given = {
        name: convert(value) if isinstance(value, np.ndarray) else value
        for name, value in METHODS[method].items()
    }
    same = {
        name: np.array(value, float) if name not in ('frame', 'wrenches') else value
        for name, value in given.items()
    }
    expected = parts(getattr(DYN, method)(**same))
    for ours, theirs in zip(parts(getattr(DYN, method)(**given)), expected, strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize('method, name', VECTORS)
def test_a_wrong_length_is_refused_by_name(method, name):
    """One too few, one too many, and a matrix."""
    given = METHODS[method]
    for wrong in (given[name][:-1], np.append(given[name], 0.0), given[name][None]):
        with pytest.raises(fd.FlexdynError, match=f'"{name}"'):
            getattr(DYN, method)(**{**given, name: wrong})


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('method, name', VECTORS)
def test_what_is_not_finite_is_refused_by_name(method, name, value):
    """NaN and infinities."""
    bad = METHODS[method][name].copy()
    bad[-1] = value
    with pytest.raises(fd.FlexdynError, match=f'"{name}"'):
        getattr(DYN, method)(**{**METHODS[method], name: bad})


@pytest.mark.parametrize('wrench', [[1, 2, 3], [np.nan] * 6, np.zeros((2, 6))])
def test_wrong_wrenches_are_refused(wrench):
    """A wrench of a wrong shape or that is not finite."""
    for method in ('inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics'):
        with pytest.raises(fd.FlexdynError, match='wrenches'):
            getattr(DYN, method)(**METHODS[method], wrenches={FRAME: wrench})


def test_unknown_frames_are_named_with_a_suggestion():
    """In wrenches and in frame arguments."""
    wrong = FRAME + 'x'
    with pytest.raises(fd.FlexdynError, match=f'{wrong}.*{FRAME}'):
        DYN.frame_pose(Q, wrong)
    with pytest.raises(fd.FlexdynError, match=f'{wrong}.*{FRAME}'):
        DYN.inverse_dynamics(Q, QD, QDD, wrenches={wrong: np.zeros(6)})


class NoArray:
    """A value that cannot be made an array."""

    def __array__(self, dtype=None, copy=None):
        """Fail as other libraries do."""
        raise RuntimeError('no array')


MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[True, False, False])
NO_NUMBERS = [
    MASKED, list(MASKED), NoArray(), [np.zeros((2, 2)), np.zeros((2, 3))],
    np.full(3, np.longdouble('1e4000')), [np.longdouble('1e4000')] * 3, np.zeros((0,), complex),
]


@pytest.mark.parametrize('value', NO_NUMBERS, ids=range(len(NO_NUMBERS)))
@pytest.mark.parametrize('robot', [ROBOT, fd.load_robot(arm())], ids=['modes', 'no modes'])
def test_values_that_numpy_stumbles_over_are_refused_by_name(robot, value):
    """Masked entries, ragged arrays, long floats beyond the range: no other error or warning."""
    dyn = reference_dynamics(robot)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        for call, name in (
            (dyn.gravity_vector, '"q"'), (dyn.friction_vector, '"qd"'),
            (dyn.batch.gravity_vector, '"q"'), (dyn.set_gravity, '"vector"'),
            (lambda value: dyn.external_force_vector(
                robot.neutral_configuration(), {robot.frame_names[-1]: value}), 'wrenches'),
        ):
            with pytest.raises(fd.FlexdynError, match=name):
                call(value)


def test_rows_that_are_not_aligned_give_the_same():
    """Of samples in a message's bytes, for instance."""
    rows = np.frombuffer(bytearray(8 * Q.size + 1), offset=1).reshape(1, -1)
    rows[...] = Q
    assert not rows.flags.aligned
    found = fd.Dynamics(ROBOT).batch.gravity_vector(rows)
    assert np.array_equal(found, fd.Dynamics(ROBOT).batch.gravity_vector(Q[None]))


@pytest.mark.parametrize('wrong', [None, 3, '', ['link1'], b'link1', np.ones(3)])
def test_names_that_are_no_text_are_refused_too(wrong):
    """Of frames and links, wherever one is named."""
    for call in (
        lambda: DYN.frame_pose(Q, wrong),
        lambda: DYN.jacobian(Q, wrong),
        lambda: DYN.jacobian_rate_qd(Q, QD, wrong),
        lambda: DYN.batch.frame_pose(Q[None], wrong),
        lambda: DYN.set_payload(wrong, 1.0, [0, 0, 0], np.eye(3)),
    ):
        with pytest.raises(fd.FlexdynError, match='called'):
            call()
    with pytest.raises(fd.FlexdynError, match='called'):
        DYN.clear_payload('' if wrong is None else wrong)
    with pytest.raises(fd.FlexdynError, match='called'):
        ROBOT.joint(wrong)


@pytest.mark.parametrize('wrong', [
    np.zeros(NV), np.zeros((2, 3)), (np.zeros(ROBOT.n_joints),), (None,) * 3, 1.0, 'no array',
])
def test_outs_of_a_wrong_number_are_refused(wrong):
    """Where there are two results, or three."""
    given = METHODS['hybrid_dynamics']
    rows = {name: value[None] for name, value in given.items()}
    for call in (
        lambda: DYN.hybrid_dynamics(**given, out=wrong),
        lambda: DYN.batch.hybrid_dynamics(**rows, out=wrong),
    ):
        with pytest.raises(fd.FlexdynError, match='"out" must be two arrays'):
            call()
    outs = wrong[:2] if isinstance(wrong, tuple) else wrong
    for dyn, (q, qd, qdd) in ((DYN, (Q, QD, QDD)), (DYN.batch, (Q[None], QD[None], QDD[None]))):
        with pytest.raises(fd.FlexdynError, match='"out" must be three arrays'):
            dyn.inverse_dynamics_derivatives(q, qd, qdd, out=outs)


DOUBTFUL = {
    (1.0, 1.0, 2.001): 'the largest .* exceeds the sum of the others by 0.05 percent',
    (0.0, 0.0, 0.3): 'the largest .* exceeds the sum of the others by 100 percent',
}
IMPOSSIBLE = {
    (1.0, 1.0, -0.01): 'a principal moment is negative by 1 percent',
    (-1.0, -1.0, -1.0): 'a principal moment is negative by 100 percent',
}


@pytest.mark.parametrize('moments', [(0, 0, 0), (0, 1, 1), (1, 1, 2.0001), (1, 1, -5e-5)])
def test_payloads_within_the_tolerance_of_the_check_are_taken(moments, caplog):
    """Point masses, thin rods, and moments that are rounded to few digits."""
    dyn = reference_dynamics(ROBOT)
    with caplog.at_level('WARNING', 'flexdyn_ros'):
        dyn.set_payload(FRAME, 1.0, [0, 0, 0], np.diag(moments))
    assert not caplog.records


@pytest.mark.parametrize('moments', DOUBTFUL)
def test_payloads_that_break_the_triangle_inequality_are_taken_with_a_warning(moments, caplog):
    """Models of planar arms have such bodies."""
    dyn = reference_dynamics(ROBOT)
    before = dyn.inverse_dynamics(Q, QD, QDD)
    with caplog.at_level('WARNING', 'flexdyn_ros'):
        dyn.set_payload(FRAME, 1.0, [0, 0, 0], np.diag(moments))
    assert re.search(f'{DOUBTFUL[moments]}.*CAD', caplog.text)
    assert not np.array_equal(dyn.inverse_dynamics(Q, QD, QDD), before)


def test_a_payload_without_more_is_a_point_mass_at_the_frame():
    """Centre of mass and inertia are zero without a value."""
    short, whole = reference_dynamics(ROBOT), reference_dynamics(ROBOT)
    short.set_payload(FRAME, 2.5)
    whole.set_payload(FRAME, 2.5, [0, 0, 0], np.zeros((3, 3)))
    assert np.array_equal(short.mass_matrix(Q), whole.mass_matrix(Q))
    assert not np.array_equal(short.mass_matrix(Q), DYN.mass_matrix(Q))


@pytest.mark.parametrize('method', ('gravity_vector', 'mass_matrix'))
def test_a_mapping_is_refused_with_the_order_to_use(method):
    """Values by name have no place in a vector."""
    with pytest.raises(fd.FlexdynError, match='"q" is a mapping.*coordinate_names'):
        getattr(DYN, method)(dict(zip(ROBOT.coordinate_names, Q)))


def test_calls_that_newcomers_make():
    """Joints alone, lists of functions, and URDF's names of losses get a sentence that helps."""
    robot = fd.load_robot(URDF)
    dyn = fd.Dynamics(robot, 'reference')
    zero = np.zeros(robot.nv)
    for call in (
        lambda joints: dyn.gravity_vector(joints),
        lambda joints: fd.simulate(dyn, joints, zero, None, 0.1, 0.001),
        lambda joints: fd.simulate(dyn, zero, zero, joints, 0.1, 0.001),
        lambda joints: fd.simulate(dyn, zero, zero, lambda t, q, qd: joints, 0.1, 0.001),
    ):
        with pytest.raises(fd.FlexdynError, match='of the joints, expected .4,.. The 2 modes'):
            call([0.1, 0.2])
    with pytest.raises(fd.FlexdynError, match='joined by "\\+"'):
        fd.generate(robot, ['mass_matrix', 'bias_vector'])
    for call in (
        lambda: dyn.inverse_dynamics_parameter_derivatives(zero, zero, zero, ['joint1/damping']),
        lambda: fd.generate(robot, 'inverse_dynamics', arguments=['joint1/friction']),
    ):
        with pytest.raises(fd.FlexdynError, match='"joint1/viscous".*"joint1/coulomb"'):
            call()
    with pytest.raises(fd.FlexdynError, match=r'pass Dynamics\(robot\)'):
        fd.simulate(robot, zero, zero, None, 0.1, 0.01)
    dyn.set_payload('tip', 1.5)
    with pytest.raises(fd.FlexdynError, match='coordinate_names'):
        dyn.gravity_vector({'joint1': 0.3})


def test_run_time_settings_refuse_bad_values():
    """Gravity and payload arguments are checked as the states are."""
    dyn = reference_dynamics(ROBOT)
    unit = np.eye(3)
    with pytest.raises(fd.FlexdynError, match='vector'):
        dyn.set_gravity([0.0, 0.0])
    with pytest.raises(fd.FlexdynError, match='vector'):
        dyn.set_gravity([0.0, 0.0, np.nan])
    with pytest.raises(fd.FlexdynError, match='mass'):
        dyn.set_payload(FRAME, np.nan, [0, 0, 0], unit)
    with pytest.raises(fd.FlexdynError, match='mass'):
        dyn.set_payload(FRAME, -1.0, [0, 0, 0], unit)
    with pytest.raises(fd.FlexdynError, match='com'):
        dyn.set_payload(FRAME, 1.0, [0, 0], unit)
    with pytest.raises(fd.FlexdynError, match='inertia'):
        dyn.set_payload(FRAME, 1.0, [0, 0, 0], np.eye(2))
    for moments, words in IMPOSSIBLE.items():
        with pytest.raises(fd.FlexdynError, match=f'"inertia" is impossible: {words}.*CAD'):
            dyn.set_payload(FRAME, 1.0, [0, 0, 0], np.diag(moments))
    dyn_plain = reference_dynamics(ROBOT)
    assert np.array_equal(dyn.inverse_dynamics(Q, QD, QDD), dyn_plain.inverse_dynamics(Q, QD, QDD))


def test_inputs_are_left_alone_and_results_are_fresh():
    """No method writes into its arguments, and no result is overwritten by the next call."""
    copies = [np.array(a) for a in (Q, QD, QDD)]
    first = DYN.inverse_dynamics(Q, QD, QDD)
    kept = first.copy()
    DYN.inverse_dynamics(Q, QD, 2 * QDD)
    assert np.array_equal(first, kept)
    for before, now in zip(copies, (Q, QD, QDD), strict=True):
        assert np.array_equal(before, now)
