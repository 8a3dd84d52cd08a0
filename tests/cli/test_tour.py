"""`mercer tour`: what it prints, what it draws, and how it fails."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import mercer as mc
from mercer.cli import app, main
from mercer.cli.tour import patient_kernel, patients

TOUR = sys.modules["mercer.cli.tour"]  # in the package the name is that of the command
TABLE = "diabetes.csv"
PICTURES = ["discrimination.png", "distance_line.png", "distance_plane.png", "gram.png"]


@pytest.fixture(autouse=True)
def _no_figure_stays():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="module")
def toured(tmp_path_factory):
    """One tour: what it printed and where it drew."""
    folder = tmp_path_factory.mktemp("tour") / "made" / "by" / "the tour"
    result = CliRunner().invoke(app, ["tour", "--out", str(folder)])
    assert result.exit_code == 0, result.output
    return result.output, folder


def command(*words):
    """The installed command, in a process of its own."""
    name = Path(sys.executable).with_name("mercer")
    return subprocess.run(
        [name, *words],
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        timeout=300,
    )


def run_main(monkeypatch, *words):
    """The same entry point, here: its status."""
    monkeypatch.setattr(sys, "argv", ["mercer", *map(str, words)])
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code


def test_the_pictures_are_drawn(toured):
    _, folder = toured
    assert sorted(path.name for path in folder.iterdir()) == sorted([TABLE, *PICTURES])
    for path in folder.glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")


def test_the_kernel_is_shown_with_its_proof(toured):
    output, _ = toured
    k = patient_kernel(patients())
    assert str(k) in output.replace("\n", "")
    lines = {line.strip() for line in str(k.proof()).splitlines()}
    assert lines <= {line.strip() for line in output.splitlines()}
    assert "is positive definite" in output


def test_the_matrix_is_what_the_tour_says_it_is(toured):
    output, _ = toured
    table = patients()
    K = patient_kernel(table)(table)
    assert "442 x 442, symmetric to the last bit: True" in output
    largest = float(re.search(r"from \S+ to ([\d.]+)\.", output)[1])
    assert abs(largest - np.linalg.eigvalsh(K)[-1]) <= 0.05 + 1e-9  # as printed


def test_the_reproducing_property_is_shown_with_its_numbers(toured):
    output, _ = toured
    said = " ".join(output.split())
    shown = re.search(r"f\(x\) = (\S+) and <f, K_x> = ([\d.]+)\.", said)
    assert "reproducing property" in said
    value, inner = map(float, shown.groups())
    table = patients()
    K = patient_kernel(table)(table)
    wanted = K[7, 0] - 2 * K[7, 1] + 0.5 * K[7, 2]
    # Twelve digits are printed, and three values of size 2.5 are good to 2^-40 each.
    assert max(abs(value - wanted), abs(inner - wanted)) <= 1e-12 + 9 * 2.0**-40


def test_what_is_no_kernel_is_refused(toured):
    said = " ".join(toured[0].split())
    for attempt in ("k - gaussian", "-1 * gaussian", "polynomial(2) ** 0.5"):
        assert f"{attempt} is refused" in said


def test_the_most_alike_patients_are_a_pair(toured):
    said = " ".join(toured[0].split())
    i, j = map(int, re.search(r"most alike patients are (\d+) and (\d+)", said).groups())
    table = patients()
    distances = patient_kernel(table).distance(table)
    np.fill_diagonal(distances, np.inf)
    assert i != j
    assert distances[i, j] == distances.min()


def test_the_whole_study_is_written_as_a_table(toured):
    lines = (toured[1] / TABLE).read_text().splitlines()
    assert lines[0] == "age,sex,bmi,bp,s1,s2,s3,s4,s5,s6,progression"
    assert len(lines) == 443
    assert lines[1].startswith("59.0,group 2,32.1,101.0,")


def test_the_tour_may_be_taken_twice(toured):
    _, folder = toured
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert CliRunner().invoke(app, ["tour", "--out", str(folder)]).exit_code == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_by_default_it_draws_into_demo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(TOUR, "draw", lambda k, table, out: [out])
    result = CliRunner().invoke(app, ["tour"])
    assert result.exit_code == 0
    assert "wrote demo\n" in result.output
    assert result.output.endswith("wrote demo/diabetes.csv\n")


def test_the_installed_command(tmp_path):
    done = command("tour", "--out", str(tmp_path / "pictures"))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert sorted(path.name for path in (tmp_path / "pictures").glob("*.png")) == PICTURES
    assert "is positive definite" in done.stdout
    assert "The reproducing property" in done.stdout


def test_help_names_the_command():
    done = command("--help")
    assert done.returncode == 0
    assert "tour" in done.stdout
    assert "Traceback" not in done.stderr


def test_an_unknown_option_is_told():
    done = command("tour", "--folder", "x")
    assert done.returncode == 2
    assert "--folder" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run_main(monkeypatch, "tour", "--out", tmp_path / "pictures") == 1
    said = capsys.readouterr().err
    assert said.startswith("mercer: ")
    assert "mercer[plots]" in said
    assert "Traceback" not in said


def test_a_deliberate_error_is_a_message(monkeypatch, capsys):
    def fail(*_):
        raise mc.errors.InvalidInput("these are no patients.")

    monkeypatch.setattr(TOUR, "draw", fail)
    assert run_main(monkeypatch, "tour") == 1
    assert capsys.readouterr().err == "mercer: these are no patients.\n"


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("no folder")
    done = command("tour", "--out", str(tmp_path / "file" / "pictures"))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("mercer: ")
    assert "--out" in done.stderr
