"""The scheduler: every task once, the first exception raised, nothing left running."""

import multiprocessing
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from mercer.loops import DOT, Pairwise, Profile, available, dense, multiply, run


def nothing():
    return None


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_every_task_is_done_once(threads):
    done = []
    run(lambda task, own: done.append(task), range(1000), threads, nothing)
    assert sorted(done) == list(range(1000))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_nothing_to_do(threads):
    run(lambda task, own: pytest.fail("there was no task"), [], threads, nothing)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_each_thread_has_its_own_scratch(threads):
    used = {}
    made = []

    def make():
        made.append([])
        return made[-1]

    def work(task, own):
        used.setdefault(id(own), set()).add(threading.get_ident())
        own.append(task)

    run(work, range(200), threads, make)
    assert len(made) == threads
    assert all(len(users) == 1 for users in used.values())
    assert sorted(task for own in made for task in own) == list(range(200))


class Broken(Exception):
    pass


@pytest.mark.parametrize("error", [Broken, KeyboardInterrupt, SystemExit, MemoryError])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_first_exception_stops_the_others_and_is_raised(error, threads):
    done = []

    def work(task, own):
        if task == 5:
            raise error("here")
        time.sleep(1e-4)
        done.append(task)

    before = threading.active_count()
    with pytest.raises(error, match="here"):
        run(work, range(100_000), threads, nothing)
    assert len(done) < 1000
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", [1, 3])
def test_an_exception_in_the_tasks_or_in_the_scratch_is_raised(threads):
    def tasks():
        yield 1
        raise Broken("in the tasks")

    def broken():
        raise Broken("in the scratch")

    with pytest.raises(Broken, match="in the tasks"):
        run(lambda task, own: None, tasks(), threads, nothing)
    with pytest.raises(Broken, match="in the scratch"):
        run(lambda task, own: None, range(3), threads, broken)


def test_an_interrupt_of_the_caller_waits_for_the_helpers():
    # The caller is in a task of its own while the helper is busy.
    main = threading.get_ident()
    finished = []

    def work(task, own):
        if threading.get_ident() == main:
            raise KeyboardInterrupt
        time.sleep(0.05)
        finished.append(task)

    before = threading.active_count()

    def often():
        for _ in range(20):  # the caller must get one of the tasks sooner or later
            run(work, range(20), 2, nothing)

    with pytest.raises(KeyboardInterrupt):
        often()
    assert threading.active_count() == before


INTERRUPTED = """
import os, signal, threading, time
from mercer.loops import run
done = []
def work(task, own):
    time.sleep(0.01)
    done.append(task)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    run(work, range(10_000), 2, lambda: None)
except KeyboardInterrupt:
    print("interrupted", 0 < len(done) < 5000, threading.active_count() <= 2)
run(work, range(3), 2, lambda: None)  # and the scheduler is as before
print("usable")
"""


def test_ctrl_c():
    found = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert found.stdout.split() == ["interrupted", "True", "True", "usable"], found.stderr


def test_available_follows_threadpoolctl():
    with threadpool_limits(1):
        assert available() == 1
    assert available() >= 1


def product_and_matrix(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(700, 5))
    tiles = Pairwise(X, X, DOT, Profile())
    return dense(tiles), multiply(tiles, rng.normal(size=(700, 3)), is_symmetric=True)


def test_right_from_four_threads_at_once():
    wanted = product_and_matrix()
    found = [None] * 4

    def work(place):
        for _ in range(5):
            found[place] = product_and_matrix()

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for matrix, product in found:
        np.testing.assert_array_equal(matrix, wanted[0])
        np.testing.assert_array_equal(product, wanted[1])


def inside_a_worker():
    return available(), *product_and_matrix()


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_one_thread_inside_joblib_workers_and_the_same_numbers(backend):
    wanted = product_and_matrix()
    for threads, matrix, product in Parallel(n_jobs=2, backend=backend)(
        delayed(inside_a_worker)() for _ in range(2)
    ):
        assert threads == 1
        np.testing.assert_array_equal(matrix, wanted[0])
        np.testing.assert_array_equal(product, wanted[1])


FORK = """
import multiprocessing, os, sys
import numpy as np
from mercer.loops import DOT, Pairwise, Profile, dense, multiply
rng = np.random.default_rng(0)
X, V = rng.normal(size=(700, 5)), rng.normal(size=(700, 3))
tiles = Pairwise(X, X, DOT, Profile())
def both():
    return dense(tiles, threads=2), multiply(tiles, V, is_symmetric=True, threads=2)
wanted = both()  # threads ran before the fork
def child(queue):
    queue.put(all(np.array_equal(a, b) for a, b in zip(both(), wanted)))
context = multiprocessing.get_context("fork")
queue = context.Queue()
process = context.Process(target=child, args=(queue,))
process.start()
print(queue.get(timeout=60))
process.join(60)
assert process.exitcode == 0
"""


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork"
)
def test_right_after_a_fork():
    # In a fresh process: pytest's own threads would make the fork a matter of luck.
    found = subprocess.run(
        [sys.executable, "-c", FORK], capture_output=True, text=True, timeout=120, check=False
    )
    assert found.stdout.strip() == "True", found.stderr


def test_an_interrupt_between_two_starts_leaves_nothing_running(monkeypatch):
    start, started, done = threading.Thread.start, [], []

    def interrupted(thread):
        if started:
            raise KeyboardInterrupt
        started.append(thread)
        start(thread)

    def work(task, own):
        time.sleep(1e-3)
        done.append(task)

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(work, range(1000), 3, nothing)
    assert not started[0].is_alive()
    assert len(done) < 1000
