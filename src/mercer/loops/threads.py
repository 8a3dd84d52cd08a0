"""The scheduler: tasks on a few threads, with nothing that outlives the call.

Compiled loops release the interpreter and are single-threaded, so the threads here are the
only ones. They are started for one piece of work and joined before it returns: there is no
pool to break after a fork, and four callers at once do not wait for each other. Which thread
runs a task never changes a result, because a task writes only what is its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import cache
from typing import TypeVar

from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")
Local = TypeVar("Local")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def available() -> int:
    """How many threads work may use: the limit of threadpoolctl, and one inside a joblib
    worker, whose siblings use the other cores.
    """
    backend, _ = get_active_backend()
    if getattr(backend, "nesting_level", 0):
        return 1
    limits = [library["num_threads"] for library in _controller().info()]
    return max(1, min(limits, default=1))


def run(
    work: Callable[[Task, Local], None],
    tasks: Iterable[Task],
    threads: int,
    local: Callable[[], Local],
) -> None:
    """Call `work(task, own)` on every task, from `threads` threads, the caller's among them.

    The first exception, an interrupt from the keyboard included, stops the others after
    their current task and is raised here.

    Args:
        work: What to do. It writes only what belongs to the task.
        tasks: Taken in order, one at a time, by whichever thread is free.
        threads: How many threads.
        local: Makes the scratch space `own` of each thread.
    """
    queue = iter(tasks)
    if threads <= 1:
        own = local()
        for task in queue:
            work(task, own)
        return
    lock = threading.Lock()
    done = object()
    failures: list[BaseException] = []

    def drain() -> None:
        try:
            own = local()
            while not failures:
                with lock:
                    task = next(queue, done)
                if task is done:
                    return
                work(task, own)  # type: ignore[arg-type]
        except BaseException as failure:  # noqa: BLE001 - raised again by the caller, below
            failures.append(failure)

    helpers = [threading.Thread(target=drain, daemon=True) for _ in range(threads - 1)]
    try:
        for helper in helpers:
            helper.start()
        drain()
        for helper in helpers:
            helper.join()
    except BaseException as interrupt:
        failures.append(interrupt)
        # One that is only about to start will see the failure, and do nothing.
        for helper in helpers:
            if helper.is_alive():
                helper.join()
        raise
    if failures:
        raise failures[0]
