# SPDX-License-Identifier: Apache-2.0
"""The pace of a simulation: steady real time, no pause, or a clock that others publish."""

import threading
import time

from flexdyn_ros.nodes.simulator.pace import LARGEST_CLOCK_LAG, SimulationThread
import pytest

LIMIT = 30.0  # of every wait [s]


class Counter:
    """Counts calls; lets a test wait for a number of them."""

    def __init__(self):
        """Start at zero."""
        self.dues = []
        self.thread = None
        self._changed = threading.Condition()

    def __call__(self):
        """Count."""
        with self._changed:
            self.dues.append(self.thread.due)
            self._changed.notify_all()

    def wait_for(self, count):
        """Return once there were so many calls."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.dues) >= count, LIMIT), len(self.dues)


class Clock:
    """A clock that a test sets; it counts its readings."""

    def __init__(self):
        """Start at zero."""
        self.now = 0.0
        self.reads = 0

    def __call__(self):
        """Return the time."""
        self.reads += 1
        return self.now

    def let_read(self, times=20):
        """Return after the thread has looked at the clock so many times."""
        seen, end = self.reads, time.monotonic() + LIMIT
        while self.reads < seen + times:
            assert time.monotonic() < end
            time.sleep(0.001)


@pytest.fixture
def make():
    """Return a function that starts a thread; all are stopped at the end."""
    threads = []

    def start(period, clock=None):
        counter = Counter()
        counter.thread = SimulationThread(counter, period, clock)
        threads.append(counter.thread)
        counter.thread.start()
        return counter

    yield start
    for thread in threads:
        thread.stop()


def test_cycles_keep_their_absolute_times(make):
    begun = time.monotonic()
    counter = make(0.02)
    counter.wait_for(11)
    assert time.monotonic() - begun >= 0.2
    steps = [b - a for a, b in zip(counter.dues, counter.dues[1:])]
    # On time, or starting anew after a lag that is not caught up.
    assert all(step == pytest.approx(0.02) or step > 0.1 for step in steps)


def test_without_a_period_there_is_no_pause(make):
    make(0.0).wait_for(1000)


def test_cycles_follow_a_clock_that_others_set(make):
    clock = Clock()
    counter = make(0.1, clock)
    counter.wait_for(1)
    clock.let_read()
    assert len(counter.dues) == 1  # the clock stands still
    clock.now = 0.55
    counter.wait_for(6)
    clock.let_read()
    assert counter.dues == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])


def test_a_clock_that_is_turned_back_or_far_ahead_begins_anew(make):
    clock = Clock()
    clock.now = 100.0
    counter = make(0.1, clock)
    counter.wait_for(1)
    clock.let_read()
    clock.now = 5.0
    clock.let_read()
    assert len(counter.dues) == 1
    clock.now = 5.15
    counter.wait_for(2)
    assert counter.dues[1] == pytest.approx(5.1)
    clock.let_read()
    clock.now = 20.0 + LARGEST_CLOCK_LAG
    counter.wait_for(3)
    clock.let_read()
    assert len(counter.dues) == 3  # not thousands


def test_stopping_ends_a_wait_for_a_clock_that_stands(make):
    clock = Clock()
    counter = make(0.1, clock)
    counter.wait_for(1)
    clock.let_read()
    counter.thread.stop()
    assert len(counter.dues) == 1
