"""The examples run, with no more installed than the docs ask for."""

import runpy
import sys
from pathlib import Path

import pytest
from matplotlib import pyplot as plt

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))
ONLY_FOR_TESTS = ("pandas", "polars", "pyarrow", "hypothesis", "mpmath")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_draws_its_pictures(example, monkeypatch):
    for name in ONLY_FOR_TESTS:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(plt, "show", lambda: None)
    try:
        runpy.run_path(str(example), run_name="__main__")
        assert all(axes.has_data() for n in plt.get_fignums() for axes in plt.figure(n).axes)
        assert plt.get_fignums()
    finally:
        plt.close("all")
