"""What the user wants, read strictly."""

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from mercer import plan
from mercer.errors import InvalidParameter
from mercer.plan import Plan, as_plan, free_memory, readable


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (1000, 1000),
        ("1000", 1000),
        ("1 KB", 1000),
        ("1kb", 1000),
        ("2.5 MB", 2_500_000),
        ("4 GB", 4 * 10**9),
        ("1 TB", 10**12),
        ("1 KiB", 1024),
        ("3 GiB", 3 * 2**30),
        ("10 bytes", 10),
        ("10 B", 10),
        ("1e9", 10**9),
        ("1e+9 KB", 10**12),
        (2.5e17, 25 * 10**16),
        (" 2 MiB ", 2**21),
    ],
)
def test_memory_in_words(text, size):
    assert Plan(memory=text).budget() == size
    assert Plan(memory=text) == Plan(memory=size)


@pytest.mark.parametrize(
    "method", ["cholesky", "mixed", "conjugate", "spectral", "landmarks", "smo"]
)
def test_the_methods_of_machines_are_plans(method):
    assert Plan(method=method) == as_plan(method)
    assert str(as_plan(method)) == f"Plan(method='{method}')"


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "many", True, None])
def test_landmarks_are_counted(wrong):
    assert Plan(anchors=np.int64(7)).anchors == 7
    with pytest.raises(InvalidParameter, match="Plan needs anchors"):
        Plan(anchors=wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"memory": value}
        for value in ("", "much", "-1 GB", "1.2.3 GB", "4 XB", -5, True, None, "nan", "inf", 0)
    ]
    + [{"memory": value} for value in ("0 GB", "0.5", "1e400", "9" * 400)]
    + [{"threads": value} for value in (0, -1, 1.5, "two", True, None)]
    + [{"tolerance": value} for value in (0, 1, -1e-3, float("nan"), "small", None, True)]
    + [{"method": "fast"}, {"device": "gpu"}, {"precision": "float16"}, {"method": None}],
)
def test_what_means_nothing_is_an_error(wrong):
    with pytest.raises(InvalidParameter, match=f"Plan needs.*{next(iter(wrong))}"):
        Plan(**wrong)


def test_a_plan_is_a_value():
    chosen = Plan(method="blocked", memory="1 GB", threads=2, tolerance=1e-6)
    assert chosen == pickle.loads(pickle.dumps(chosen)) == copy.deepcopy(chosen)
    assert hash(chosen) == hash(copy.deepcopy(chosen))
    assert eval(repr(chosen)) == chosen
    assert (
        str(chosen) == "Plan(method='blocked', memory=1000000000, tolerance=1e-06, threads=2)"
    )
    assert str(Plan()) == "Plan()"
    with pytest.raises(FrozenInstanceError):
        chosen.threads = 3


def test_a_text_is_the_name_of_a_method():
    assert as_plan("blocked") == Plan(method="blocked")
    assert as_plan("auto") == Plan()
    assert as_plan(Plan(threads=2)) == Plan(threads=2)
    for wrong in (None, 3, {"method": "dense"}):
        with pytest.raises(InvalidParameter, match="plan"):
            as_plan(wrong)


def test_by_default_half_of_what_is_free(monkeypatch):
    monkeypatch.setattr(plan, "free_memory", lambda: 1001)
    assert Plan().budget() == 500


def test_free_memory_where_the_system_does_not_tell(monkeypatch):
    assert free_memory() > 1 << 20

    class Missing:
        def __init__(self, path):
            pass

        def read_text(self):
            raise FileNotFoundError

    monkeypatch.setattr(plan, "Path", Missing)
    assert free_memory() > 1 << 20


def test_threads():
    assert Plan().crew() is None
    assert Plan(threads=3).crew() == 3


@pytest.mark.parametrize(
    ("size", "words"), [(12, "12 bytes"), (1500, "1.5 KB"), (2e9, "2 GB"), (3e15, "3e+03 TB")]
)
def test_bytes_in_words(size, words):
    assert readable(size) == words


def test_numbers_of_numpy_are_numbers():
    chosen = Plan(memory=np.int64(1000), threads=np.int64(2), tolerance=np.float64(1e-6))
    assert repr(chosen) == repr(Plan(memory=1000, threads=2, tolerance=1e-6))


def test_the_limit_of_a_container_counts(monkeypatch, tmp_path):
    texts = {
        "/proc/meminfo": "MemAvailable:   1000000 kB",
        "/sys/fs/cgroup/memory.max": "500000000\n",
        "/sys/fs/cgroup/memory.current": "300000000\n",
        "/sys/fs/cgroup/memory.stat": "anon 1\nfile 250000000\nkernel 2\n",
    }

    def opened(path):
        found = tmp_path / str(path).replace("/", "_")
        if str(path) in texts:
            found.write_text(texts[str(path)])
        return found

    monkeypatch.setattr(plan, "Path", opened)
    # Cached files give way: 500 - (300 - 250) million bytes are left.
    assert free_memory() == 450_000_000
    texts["/sys/fs/cgroup/memory.max"] = "max\n"
    assert free_memory() == 1_024_000_000
