"""Machine code on disk: found again where it is right, and nowhere else."""

import importlib.util
import pickle

import pytest

from mercer.loops import kept

LOOP = """
from mercer.loops.compiled import compiled

@compiled()
def double(x):
    return 2 * x
"""


@pytest.fixture
def again(tmp_path, monkeypatch):
    """Import the loop as a new process would."""
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    (tmp_path / "loop.py").write_text(LOOP)

    def load():
        spec = importlib.util.spec_from_file_location("loop", tmp_path / "loop.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.double

    return load


def files(folder):
    return sorted((folder / "__pycache__").glob("loop.double*.nb*"))


def hits(loop):
    return sum(loop.stats.cache_hits.values())


def test_code_is_found_again(again, tmp_path):
    first = again()
    assert (first(1.5), first(2)) == (3.0, 4)
    # A file for each signature, and no index that two processes could write at once.
    assert len(files(tmp_path)) == 2
    second = again()
    assert (second(1.5), second(2)) == (3.0, 4)
    assert hits(second) == 2


def test_code_of_other_sources_is_not_found(again, tmp_path, monkeypatch):
    again()(1.5)
    old = files(tmp_path)
    monkeypatch.setattr(kept, "SOURCES", "another")
    loop = again()
    assert loop(1.5) == 3.0
    assert hits(loop) == 0
    assert len(files(tmp_path)) == 1
    assert files(tmp_path) != old


def test_code_of_another_numba_is_not_found(again, monkeypatch):
    again()(1.5)
    monkeypatch.setattr("numba.__version__", "0.0")
    loop = again()
    loop(1.5)
    assert hits(loop) == 0


@pytest.mark.parametrize("content", [b"", b"nonsense", pickle.dumps("too short")[:5]])
def test_a_broken_file_is_compiled_anew(again, tmp_path, content):
    again()(1.5)
    (file,) = files(tmp_path)
    file.write_bytes(content)
    assert again()(1.5) == 3.0
    loop = again()
    loop(1.5)
    assert hits(loop) == 1


def test_a_full_disk_is_no_obstacle(again, tmp_path, monkeypatch):
    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(kept.IndexDataCacheFile, "_save_data", full)
    assert again()(1.5) == 3.0
    assert not files(tmp_path)


def test_where_nothing_can_be_written_it_is_compiled_each_time(again, monkeypatch):
    monkeypatch.setattr(kept.FunctionCache._impl_class, "_locator_classes", [])
    assert again()(1.5) == 3.0


def test_the_cache_can_be_emptied(again, tmp_path):
    loop = again()
    loop(1.5)
    loop._cache.flush()
    assert not files(tmp_path)
