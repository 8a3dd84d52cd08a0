"""`mercer fit`: what it learns, what it says, and how it fails."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.metrics import r2_score
from typer.testing import CliRunner

import mercer as mc
from mercer.cli import app
from mercer.cli.learning import ask, split
from mercer.cli.tables import read_table
from mercer.persistence import read

FIT = sys.modules["mercer.cli.fit"]  # in the package the name is that of the command
FIXED = ["--kernel", "gaussian(2.0)"]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def table(file="t.csv", rows=60, **columns):
    """A CSV file; a column is made by a function of the row."""
    names = columns or {"x": lambda i: i / 7, "z": lambda i: (i * 5) % 11, "y": lambda i: i / 3}
    lines = [",".join(names)]
    lines += [",".join(str(make(i)) for make in names.values()) for i in range(rows)]
    Path(file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def fitted(*words, target="y"):
    """The facts of a fit, which went well."""
    done = run("fit", *words, "--target", target, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def refused(*words, target="y"):
    """The message of a fit that went wrong."""
    done = run("fit", *words, "--target", target)
    assert done.exit_code == 1, done.output
    assert done.stderr.startswith("mercer: ")
    assert "Traceback" not in done.output
    assert not Path("model.mercer").exists()
    return done.stderr


def test_numbers_are_learned_and_told():
    done = run("fit", table(), "--target", "y", "--out", "m.mercer", *FIXED)
    assert done.exit_code == 0, done.output
    assert "60 rows, 2 columns to learn from (2 numbers)" in done.stdout
    assert "y: numbers from 0 to 19.6667; regression" in done.stdout
    assert "on 12 rows held out" in done.stdout
    assert "close in x, z (gaussian, length 2)" in done.stdout
    assert "proved: 1 step, each checked" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert mc.load("m.mercer").kernel_ == mc.Gaussian(2.0)


def test_the_score_is_that_of_a_fit_without_the_rows_held_out():
    told = fitted(table(), *FIXED)
    question = ask(read_table(Path("t.csv")), "y")
    inside, held = split(question, 0.2, 0)
    X = np.column_stack([question.points[name].to_numpy() for name in ("x", "z")])
    trial = mc.KernelRidge(mc.Gaussian(2.0)).fit(X[inside], question.targets[inside])
    score = told["scores"][0]
    found = trial.predict(X[held])
    assert score["name"] == "R2"
    assert np.isclose(score["value"], r2_score(question.targets[held], found), atol=1e-9)
    assert score["low"] <= score["value"] <= score["high"]


def test_the_model_has_learned_from_all_rows():
    told = fitted(table(), *FIXED)
    assert told["fit"]["anchors"] == told["rows"] == 60


def test_the_same_seed_gives_the_same_numbers_and_another_does_not():
    first, second, other = (fitted(table(), *FIXED, "--seed", s)["scores"] for s in (1, 1, 2))
    assert first == second != other


@pytest.mark.parametrize(
    ("values", "task", "classes"),
    [
        (lambda i: "yes" if i % 3 else "no", "classification", ["no", "yes"]),
        (lambda i: i % 3, "classification", [0, 1, 2]),
        (lambda i: i % 2 == 0, "classification", ["false", "true"]),
        (lambda i: i % 30, "regression", []),
        (lambda i: i % 3 + 0.5, "regression", []),
    ],
)
def test_the_task_follows_from_the_target(values, task, classes):
    told = fitted(table(x=lambda i: i % 7 + i / 99, y=values), *FIXED)
    assert told["task"] == task
    assert told["fit"]["classes"] == classes
    assert ("--task regression" in " ".join(told["notes"])) == (classes == [0, 1, 2])


def test_the_task_can_be_forced():
    t = table(x=lambda i: i / 7, y=lambda i: i % 3)
    assert fitted(t, *FIXED, "--task", "regression")["task"] == "regression"
    assert "labels" not in fitted(t, *FIXED, "--task", "classification")


def test_every_class_is_learned_from_even_one_with_a_single_row():
    t = table(x=lambda i: i / 7, y=lambda i: "rare" if i == 30 else "ab"[i % 2])
    assert fitted(t, *FIXED)["fit"]["classes"] == ["a", "b", "rare"]


def test_what_tells_nothing_is_left_out_with_the_reason():
    t = table(
        rows=60,
        id=lambda i: i,
        name=lambda i: f"person {i * 7919}",
        one=lambda _: 5,
        none=lambda _: "",
        x=lambda i: i / 7,
        y=lambda i: i / 3 + 0.1,
    )
    told = fitted(t, *FIXED)
    assert [name for name, *_ in told["columns"]] == ["x"]
    assert told["left_out"].keys() == {"id", "name", "one", "none"}
    kept = fitted(t, "--keep", "id", "--drop", "x", *FIXED)
    assert [name for name, *_ in kept["columns"]] == ["id"]


def test_a_kernel_keeps_the_columns_that_it_names():
    t = table(one=lambda _: 5, x=lambda i: i / 7, y=lambda i: i / 3 + 0.1)
    told = fitted(t, "--kernel", "gaussian.on('x') + linear.on('one')")
    assert [name for name, *_ in told["columns"]] == ["one", "x"]


def test_rows_without_a_target_are_left_out_and_counted():
    t = table(x=lambda i: i / 7, y=lambda i: "" if i % 4 == 0 else i / 3)
    told = fitted(t, *FIXED)
    assert told["rows"] == 45
    assert told["notes"] == ["15 rows left out: the target is missing there"]


def test_a_word_among_numbers_is_missing_and_told():
    t = table(x=lambda i: i / 7, y=lambda i: "unknown" if i == 3 else i / 3)
    told = fitted(t, *FIXED)
    assert told["task"] == "regression"
    assert told["rows"] == 59
    assert any("'unknown'" in note for note in told["notes"])


@pytest.mark.parametrize("rows", [1, 2, 10])
def test_few_rows_are_learned_from_without_holding_any_out(rows):
    told = fitted(table(rows=rows), *FIXED)
    assert told["scored"] == ("no rows were held out" if rows == 1 else "by leave-one-out")


def test_a_constant_target_is_learned():
    told = fitted(table(x=lambda i: i / 7, y=lambda _: 3.5), *FIXED)
    assert [one["name"] for one in told["scores"]] == ["error"]
    assert told["scores"][0]["value"] < 1e-12


def test_parquet_is_read_whatever_it_is_called():
    x = np.linspace(0, 6, 50)
    city = pa.array(["Oslo", "Rome"] * 25).dictionary_encode()
    when = pa.array(np.datetime64("2024-01-01") + np.arange(50))
    columns = {"x": x, "city": city, "when": when, "y": np.sin(x)}
    parquet.write_table(pa.table(columns), "t.csv")
    told = fitted(
        "t.csv", "--kernel", "gaussian.on('x') * delta.on('city') + gaussian.on('when')"
    )
    assert [kind for _, kind, *_ in told["columns"]] == ["number", "category", "date"]


def test_not_a_number_is_missing_in_parquet_too():
    x = np.linspace(0, 6, 50)
    x[::7] = np.nan
    half, flag = x.astype(np.float16), pa.array([True, False, None, True, False] * 10)
    columns = {"x": x, "half": half, "flag": flag, "y": np.where(np.isnan(x), np.nan, x)}
    parquet.write_table(pa.table(columns), "t.parquet")
    told = fitted(
        "t.parquet", "--kernel", "delta.on('x') * missing.on('half') * delta.on('flag')"
    )
    assert told["rows"] == 50 - 8
    assert [kind for _, kind, *_ in told["columns"]] == ["number", "number", "category"]


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_are_found(delimiter):
    text = Path(table()).read_text().replace(",", delimiter)
    Path("t.csv").write_text(text)
    assert len(fitted("t.csv", *FIXED)["columns"]) == 2


def test_a_file_that_is_not_in_utf8_is_read():
    text = Path(table(größe=lambda i: i / 7, y=lambda i: i / 3)).read_text(encoding="utf-8")
    Path("t.csv").write_bytes(text.encode("latin1"))
    assert fitted("t.csv", *FIXED)["columns"][0][0] == "größe"


def test_a_column_whose_type_shows_late_is_read():
    t = table(rows=300, x=lambda i: i if i < 200 else i + 0.5, y=lambda i: i / 3)
    assert fitted(t, "--kernel", "gaussian(20.0)")["columns"][0][:2] == ["x", "number"]


BAD = {
    "norows": ("x,y\n", "no rows"),
    "onecolumn": ("y\n1.5\n2.5\n", "no column to learn from"),
    "empty": ("", "is empty"),
    "blank": ("\n\n  \n", "is empty"),
    "zeros": ("\0\1\2\3" * 20, "no table"),
    "twice": ("x,x,y\n1,2,3\n", "several columns called 'x'"),
    "ragged": ("a,b,y\n1,2,3\n1,2\n", "cannot be read as a table"),
    "infinite": ("x,y\n1,2\n2,3.5\ninf,4.5\n", "1 infinite value, the first in row 3"),
    "targets": ("x,y\n1,\n2,\n", "missing in every row"),
    "ids": ("n,y\n" + "".join(f"name {i},{i}.5\n" for i in range(40)), "names or free text"),
    "one class": ("x,y\n1,a\n2,a\n3,a\n", "no classes to tell apart"),
    "words": ("x,y\n" + "".join(f"{i},word {i}\n" for i in range(40)), "too many for classes"),
    "headless": ("1.5,2.5\n3.5,4.5\n", "the first line of a CSV file names"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_table_that_cannot_be_learned_from_is_a_message(name):
    text, said = BAD[name]
    Path("bad.csv").write_text(text)
    assert said in " ".join(refused("bad.csv").split())


def test_a_column_that_is_not_there_is_looked_for():
    assert "Did you mean 'progression'?" in refused(
        table(x=lambda i: i, progression=lambda i: i / 2), target="progresion"
    )
    assert "Did you mean 'Y'?" in refused(table(x=lambda i: i, Y=lambda i: i / 2))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nosuch.csv"], "No such file"),
        (["."], "Is a directory"),
        (["t.csv", "--kernel", "gaussian(0.5) - linear"], "is not a kernel in general"),
        (["t.csv", "--kernel", "gausian"], "did you mean gaussian?"),
        (["t.csv", "--task", "guess"], "--task is"),
        (["t.csv", "--memory", "lots"], "memory"),
        (["t.csv", "--holdout", "1.5"], "--holdout"),
        (["t.csv", "--drop", "q"], "no column 'q'"),
        (["t.csv", "--out", "t.csv"], "what is to be read"),
        (["t.csv", "--out", "."], "is a folder"),
        (["t.csv", "--out", "none/m.mercer"], "no folder none"),
        (["text.csv", "--task", "regression"], "holds texts such as 'a'"),
    ],
)
def test_a_wish_that_cannot_be_granted_is_a_message(words, said):
    table()
    table("text.csv", x=lambda i: i, y=lambda i: "ab"[i % 2])
    assert said in " ".join(refused(*words).split())


def test_an_error_is_json_where_json_is_asked_for():
    done = run("fit", "nosuch.csv", "--target", "y", "--json")
    assert done.exit_code == 1
    assert "nosuch.csv" in json.loads(done.stdout)["error"]


def test_the_memory_that_is_allowed_is_kept_to_by_the_plan():
    told = fitted(table(rows=400), *FIXED, "--memory", "40 MB")
    assert "40 MB allowed" in told["fit"]["plan"]


def test_the_file_keeps_what_intervals_need_only_if_wanted():
    assert fitted(table(), *FIXED)["intervals"]
    assert not fitted(table(), *FIXED, "--no-intervals")["intervals"]
    assert read("model.mercer").about["target"] == "y"


def test_a_missing_value_that_is_alone_is_not_held_out(rng):
    for seed in range(5):
        t = table(x=lambda i: i / 7, z=lambda i: "" if i == 17 else i % 5, y=lambda i: i / 3)
        question = ask(read_table(Path(t)), "y")
        inside, held = split(question, 0.5, seed)
        assert 17 in inside
        assert sorted([*inside, *held]) == list(range(60))


def test_a_stopped_fit_leaves_the_old_model_and_no_other_file(monkeypatch):
    table()
    Path("model.mercer").write_text("the old one")

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(FIT, "learn", stop)
    done = run("fit", "t.csv", "--target", "y", *FIXED)
    assert done.exit_code == 130
    assert "stopped" in done.stderr
    assert Path("model.mercer").read_text() == "the old one"
    assert {path.name for path in Path().iterdir()} == {"model.mercer", "t.csv"}
