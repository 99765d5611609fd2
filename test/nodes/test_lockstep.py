# SPDX-License-Identifier: Apache-2.0
"""The rule of lockstep: which answers count, and the time of waiting for them."""

import threading
from types import SimpleNamespace

from flexdyn_ros.nodes.simulator.pace import Lockstep, LONGEST_WAIT, SHORTEST_WAIT
import pytest


@pytest.fixture
def lockstep():
    """Return one that waits for two inputs, with the state 100 out."""
    made = Lockstep(['efforts', 'reference'])
    made.ask(100)
    return made


def test_all_inputs_must_answer(lockstep):
    assert lockstep.answer('efforts', 100)
    assert lockstep.unanswered == ('reference',)
    assert not lockstep.wait()
    assert lockstep.answer('reference', 100)
    assert lockstep.wait()


@pytest.mark.parametrize('stamp', [99, 101, 0])
def test_an_answer_to_another_state_does_not_count(lockstep, stamp):
    assert not lockstep.answer('efforts', stamp)
    assert lockstep.other_stamp == stamp
    assert lockstep.unanswered == ('efforts', 'reference')


def test_the_first_answer_counts_and_its_repetitions_do_not(lockstep):
    assert lockstep.answer('efforts', 100)
    assert not lockstep.answer('efforts', 100)


def test_a_late_repetition_is_no_answer_to_the_next_state(lockstep):
    for name in lockstep.inputs:
        lockstep.answer(name, 100)
    lockstep.ask(200)
    assert not any(lockstep.answer(name, 100) for name in lockstep.inputs)
    assert not lockstep.wait()


def test_a_repeated_state_keeps_the_answers_that_it_has(lockstep):
    lockstep.answer('efforts', 100)
    lockstep.ask(100)
    assert lockstep.unanswered == ('reference',)


def test_a_message_without_stamp_answers_what_is_out(lockstep):
    assert lockstep.answer('efforts')
    lockstep.ask(200)
    assert lockstep.answer('efforts')


@pytest.mark.parametrize('release', [lambda it: it.answer('efforts', 1), Lockstep.end])
def test_whoever_waits_is_woken_by_the_last_answer_and_by_the_end(release):
    lockstep = Lockstep(['efforts'])
    lockstep.ask(1)
    # Far longer than the test may take, if nothing woke it.
    lockstep._patience = 60.0
    found = []
    thread = threading.Thread(target=lambda: found.append(lockstep.wait()))
    thread.start()
    release(lockstep)
    thread.join(30.0)
    assert found == [True]


def test_a_slow_controller_is_asked_again_later_than_a_quick_one(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(
        'flexdyn_ros.nodes.simulator.pace.time', SimpleNamespace(monotonic=lambda: clock.now))
    lockstep = Lockstep(['efforts'])
    patience = []
    for stamp, took in enumerate((0.001, 0.1, 20.0, 0.001)):
        lockstep.ask(stamp)
        clock.now += took
        lockstep.answer('efforts', stamp)
        patience.append(lockstep._patience)
    assert patience == [SHORTEST_WAIT, pytest.approx(0.4), LONGEST_WAIT, SHORTEST_WAIT]
