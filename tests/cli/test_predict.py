"""`mercer predict` and `mercer show`: what they write, and how they fail."""

import csv
import io
import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import mercer as mc
from mercer.cli import app
from mercer.persistence import store

PREDICT = sys.modules["mercer.cli.predict"]  # in the package the name is that of the command
KERNEL = "gaussian(2.0).on('x') * schoenberg(delta, 0.5).on('city')"
CITIES = ("Oslo", "Rome", "007")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A model of numbers and one of classes, made by the command."""
    folder = tmp_path_factory.mktemp("models")
    lines = ["x,city,y,label,extra"]
    lines += [f"{i / 7},{CITIES[i % 3]},{i / 3},{'ab'[i % 2]},{i}" for i in range(60)]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    for name, target, drop in (("numbers", "y", "label"), ("classes", "label", "y")):
        words = ["--target", target, "--drop", drop, "--drop", "extra", "--kernel", KERNEL]
        words += ["--out", str(folder / f"{name}.mercer")]
        done = CliRunner().invoke(app, ["fit", str(folder / "t.csv"), *words])
        assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def predicted(*words):
    done = run("predict", *words)
    assert done.exit_code == 0, done.output
    return rows_of(done.stdout)


def refused(*words):
    done = run(*words)
    assert done.exit_code == 1, done.output
    assert done.stderr.startswith("mercer: ")
    return " ".join(done.stderr.split())


def new(text, name="new.csv"):
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_the_predictions_are_those_of_the_machine_with_every_digit(models):
    told = predicted(models / "numbers.mercer", new("x,city\n1.5,Oslo\n2.5,007\n"))
    machine = mc.load(models / "numbers.mercer")
    wanted = machine.predict(pa.table({"x": [1.5, 2.5], "city": ["Oslo", "007"]}))
    assert [float(row["prediction"]) for row in told] == wanted.tolist()


def test_the_order_of_columns_is_free_and_others_may_be_there(models):
    first = predicted(models / "numbers.mercer", new("x,city\n1.5,Oslo\n2.5,Rome\n"))
    text = "more,city,x,y\n7,Oslo,1.5,\nw,Rome,2.5,9\n"
    assert predicted(models / "numbers.mercer", new(text)) == first


def test_a_category_may_be_new_and_looks_like_a_number_as_it_did(models):
    told = predicted(models / "numbers.mercer", new("x,city\n1.5,007\n1.5,7\n1.5,Paris\n"))
    values = [float(row["prediction"]) for row in told]
    assert values[0] != values[1] == values[2]


def test_classes_come_with_probabilities_if_wanted(models):
    name = new("x,city\n1.5,Oslo\n2.5,Rome\n")
    assert [*predicted(models / "classes.mercer", name)[0]] == ["prediction"]
    for row in predicted(models / "classes.mercer", name, "--proba"):
        each = {label: float(row[f"probability of {label}"]) for label in "ab"}
        assert abs(sum(each.values()) - 1) < 1e-12
        assert row["prediction"] == max(each, key=each.get)


def test_intervals_hold_the_prediction_and_grow_with_their_coverage(models):
    name = new("x,city\n1.5,Oslo\n2.5,Rome\n")
    half, most = (
        predicted(models / "numbers.mercer", name, "--interval", c) for c in (0.5, 0.9)
    )
    for narrow, wide in zip(half, most, strict=True):
        ends = [float(row[k]) for row in (wide, narrow) for k in ("low", "high")]
        assert ends[0] <= ends[2] <= ends[3] <= ends[1]


def test_columns_are_kept_beside_and_quoted_where_needed(models):
    name = new('x,city,note\n1.5,Oslo,"a, b"\n2.5,Rome,é\n')
    done = run("predict", models / "numbers.mercer", name, "--keep", "note", "--keep", "x")
    lines = done.stdout.splitlines()
    assert lines[0] == "note,x,prediction"
    assert lines[1].startswith('"a, b",1.5,')
    assert lines[2].startswith("é,2.5,")


def test_many_rows_are_predicted_in_parts(models, monkeypatch):
    text = "x,city\n" + "".join(f"{i / 9},Oslo\n" for i in range(100))
    whole = predicted(models / "numbers.mercer", new(text))
    monkeypatch.setattr(PREDICT, "ROWS", 7)
    parts = predicted(models / "numbers.mercer", "new.csv")
    values = [[float(row["prediction"]) for row in rows] for rows in (whole, parts)]
    np.testing.assert_allclose(values[1], values[0], rtol=1e-10)


def test_the_predictions_go_to_a_file_that_is_whole_or_not_there(models, monkeypatch):
    name = new("x,city\n1.5,Oslo\n")
    done = run("predict", models / "numbers.mercer", name, "--out", "p.csv")
    assert done.exit_code == 0
    assert done.stdout == ""
    assert Path("p.csv").read_text().startswith("prediction\n")

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(PREDICT, "write_csv", stop)
    done = run("predict", models / "numbers.mercer", name, "--out", "q.csv")
    assert done.exit_code == 130
    assert {path.name for path in Path().iterdir()} == {"new.csv", "p.csv"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x\n1\n", "no column 'city', from which the model predicts"),
        ("a,b\n1,2\n", "no columns 'x', 'city'"),
        ("X,City\n1,2\n", "Did you mean 'X'?"),
        ("x,city\n", "has no rows"),
        ("x,city\nfar,Oslo\n", "column 'x' held numbers when the model was fitted"),
        ("x,city\ninf,Oslo\n", "1 infinite value"),
        ("x,city\n1.5,Oslo\n,Rome\n", "column 'x' has 1 of 2 values missing"),
        ("", "is empty"),
    ],
)
def test_a_table_that_cannot_be_predicted_is_a_message(text, said, models):
    assert said in refused("predict", models / "numbers.mercer", new(text))


def test_a_word_among_numbers_is_told(models):
    text = "x,city\n" + "1.5,Oslo\n" * 20 + "far,Rome\n"
    assert "column 'x' has 1 of 21 values missing" in refused(
        "predict", models / "numbers.mercer", new(text)
    )


def test_a_wish_that_cannot_be_granted_is_a_message(models):
    name = new("x,city,prediction\n1.5,Oslo,3\n")
    numbers, classes = models / "numbers.mercer", models / "classes.mercer"
    assert "--proba is for classes" in refused("predict", numbers, name, "--proba")
    assert "for numbers" in refused("predict", classes, name, "--interval", "0.9")
    assert "between 0 and 1" in refused("predict", numbers, name, "--interval", "9")
    assert "second column" in refused("predict", numbers, name, "--keep", "prediction")
    assert "no column 'q'" in refused("predict", numbers, name, "--keep", "q")
    assert "what is to be read" in refused("predict", numbers, name, "--out", name)
    assert "what is to be read" in refused("predict", numbers, name, "--out", numbers)
    assert "not a model" in refused("predict", name, name)
    assert "No such file" in refused("predict", "none.mercer", name)


def test_a_model_without_what_intervals_need_says_so(models):
    words = ["--target", "y", "--drop", "label", "--drop", "extra", "--kernel", KERNEL]
    done = run("fit", models / "t.csv", *words, "--no-intervals", "--out", "m.mercer")
    assert done.exit_code == 0, done.output
    name = new("x,city\n1.5,Oslo\n")
    assert "--intervals" in refused("predict", "m.mercer", name, "--interval", "0.9")


def test_a_model_saved_in_python_is_shown_but_names_no_columns():
    machine = mc.KernelRidge("gaussian", 0.1).fit([[0.0], [1.0]], [0.0, 1.0])
    mc.save(machine, "m.mercer")
    done = run("show", "m.mercer")
    assert done.exit_code == 0, done.output
    assert "gaussian" in done.stdout
    assert "saved in Python" in refused("predict", "m.mercer", new("x\n1\n"))


def test_a_machine_that_has_learned_nothing_says_so():
    mc.save(mc.KernelRidge(), "m.mercer")
    assert "learned nothing yet" in refused("show", "m.mercer")


def test_show_tells_what_fit_told(models):
    done = run("show", models / "numbers.mercer")
    assert done.exit_code == 0, done.output
    for words in ("t.csv: 60 rows", "on 12 rows held out", "proved", "numpy", "left out"):
        assert words in done.stdout
    assert "is positive definite" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "is positive definite" in run("show", models / "numbers.mercer", "--proof").stdout


def test_show_as_json_has_the_whole_kernel_and_its_proof(models):
    told = json.loads(run("show", models / "numbers.mercer", "--json", "--proof").stdout)
    kernel = mc.kernel(KERNEL)
    assert mc.kernel(told["fit"]["kernel"]) == kernel
    assert told["proof"] == kernel.proof().to_dict()
    assert told["target"] == "y"


def test_a_model_of_another_version_is_used_with_a_warning(models, monkeypatch):
    mine = store.versions()
    monkeypatch.setattr(store, "versions", lambda: mine | {"mercer": "99.0"})
    name = new("x,city\n1.5,Oslo\n")
    done = run("predict", models / "numbers.mercer", name)
    assert done.exit_code == 0
    assert "this is mercer 99.0" in done.stderr
    assert rows_of(done.stdout)
    assert "this is mercer 99.0" in " ".join(
        run("show", models / "numbers.mercer").output.split()
    )


def test_a_hostile_file_is_refused_and_nothing_is_run(models):
    content = (models / "numbers.mercer").read_bytes()
    hostile = content.replace(b'"__loader__": "NdArrayNode"', b'"__loader__": "FunctionNode"')
    assert hostile != content
    Path("h.mercer").write_bytes(hostile)
    assert "m" in refused("show", "h.mercer")
    assert [path.name for path in Path().iterdir()] == ["h.mercer"]
