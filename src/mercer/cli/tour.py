"""`mercer tour`: what a kernel is, shown on a small table of patients."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from mercer.errors import InvalidInput, NotAKernel
from mercer.functions import Function, section
from mercer.kernels import Delta, Gaussian, Kernel, Linear, Polynomial
from mercer.plots import DiscriminationDisplay, GramDisplay, SetDistanceDisplay
from mercer.plots.axes import new_axes

COLUMNS = ("age", "sex", "bmi", "bp")


def tour(
    out: Annotated[Path, typer.Option(help="The folder for the pictures.")] = Path("demo"),
) -> None:
    """A kernel on a real table: its values, its proof, its geometry, its pictures."""
    console = Console()
    make_folder(out)
    table = patients()
    show_table(console, table)
    k = patient_kernel(table)
    show_kernel(console, k, table)
    show_refusals(console, k)
    show_function(console, k, table)
    for picture in draw(k, table, out):
        console.print(f"wrote {picture}")
    console.print(f"wrote {write_table(out)}", soft_wrap=True)


def make_folder(out: Path) -> None:
    """Make the folder for the pictures, before there is anything to lose."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unusable(out, error) from error


def unusable(out: Path, error: OSError) -> InvalidInput:
    """The error of a folder that cannot be written to."""
    return InvalidInput(
        f"{out} cannot hold the pictures ({error.strerror}).\nName another folder with --out."
    )


def study() -> dict[str, Any]:
    """442 patients of a diabetes study: what was measured, and how the illness progressed."""
    # Half a second, which the other commands are spared.
    from sklearn.datasets import load_diabetes  # noqa: PLC0415

    data = load_diabetes(scaled=False)
    table: dict[str, Any] = dict(zip(data.feature_names, data.data.T, strict=True))
    # The study codes the sexes as 1 and 2 and does not say which is which.
    table["sex"] = [f"group {int(code)}" for code in table["sex"]]
    return table | {"progression": data.target}


def patients() -> dict[str, Any]:
    """The patients as a small table: three numbers and a category."""
    table = study()
    return {name: table[name] for name in COLUMNS}


def write_table(out: Path) -> Path:
    """The whole study as a CSV file, for `mercer fit`."""
    table, path = study(), out / "diabetes.csv"
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(table)
            lines.writerows(zip(*table.values(), strict=True))
    except OSError as error:
        raise unusable(out, error) from error
    return path


def patient_kernel(table: dict[str, Any]) -> Kernel:
    """Patients are alike when body and age are, more so within a group."""
    spread = {name: round(float(np.std(table[name])), 1) for name in ("age", "bmi", "bp")}
    body = Gaussian(scale=(spread["bmi"], spread["bp"])).on("bmi", "bp")
    return body * (1 + Delta().on("sex")) + 0.5 * Gaussian(scale=spread["age"]).on("age")


def show_table(console: Console, table: dict[str, Any]) -> None:
    """The first rows."""
    shown = Table(title=f"{len(table['age'])} patients, the first four")
    for name in table:
        shown.add_column(name, justify="right")
    for i in range(4):
        shown.add_row(*(str(column[i]) for column in table.values()))
    console.print(shown)


def show_kernel(console: Console, k: Kernel, table: dict[str, Any]) -> None:
    """The text of the kernel, its proof, and a few of its numbers."""
    console.rule("a kernel on this table")
    console.print(str(k), highlight=False)
    proof = k.proof()
    proof.check()
    console.rule("why it is one: every step checked")
    console.print(str(proof), highlight=False, soft_wrap=True)
    console.rule("what it sees")
    K = k(table)
    values = np.linalg.eigvalsh(K)
    console.print(
        f"Its Gram matrix is {len(K)} x {len(K)}, symmetric to the last bit: "
        f"{bool((K == K.T).all())}.\n"
        f"Its eigenvalues go from {values[0]:.2e} to {values[-1]:.1f}."
    )
    distances = k.distance(table)
    np.fill_diagonal(distances, np.inf)
    i, j = np.unravel_index(int(np.argmin(distances)), distances.shape)
    rows = "; ".join(", ".join(f"{n} {table[n][r]}" for n in table) for r in (i, j))
    console.print(f"The two most alike patients are {i} and {j}: {rows}.")


def show_refusals(console: Console, k: Kernel) -> None:
    """What the algebra does not let you build."""
    attempts: tuple[tuple[str, Callable[[], object]], ...] = (
        ("k - gaussian", lambda: k - Gaussian()),
        ("-1 * gaussian", lambda: -1 * Gaussian()),
        ("polynomial(2) ** 0.5", lambda: Polynomial(2) ** 0.5),
    )
    for text, attempt in attempts:
        try:
            attempt()
        except NotAKernel as refusal:
            console.print(
                f"[bold]{text}[/bold] is refused: {str(refusal).splitlines()[0]}",
                highlight=False,
            )


def show_function(console: Console, k: Kernel, table: dict[str, Any]) -> None:
    """An element of the space, and the property that makes the space what it is."""
    few = {name: column[:3] for name, column in table.items()}
    f = Function(k, few, [1.0, -2.0, 0.5])
    patient = {name: column[7] for name, column in table.items()}
    value, inner = float(f([patient])[0]), f @ section(k, patient)
    console.print(
        f"f = K_0 - 2 K_1 + 0.5 K_2 has norm {f.norm():.6f}. The reproducing property, at "
        f"patient 7: f(x) = {value:.12f} and <f, K_x> = {inner:.12f}."
    )


def draw(k: Kernel, table: dict[str, Any], out: Path) -> list[Path]:
    """The pictures: the Gram matrix, distances to sets, and two sets told apart."""
    kernels = (Linear(), Gaussian(scale=1.0), Gaussian(scale=0.2))
    written = []

    def save(axes: Any, name: str) -> None:
        path = out / name
        try:
            axes.figure.savefig(path, dpi=120)
        except OSError as error:
            raise unusable(out, error) from error
        written.append(path)

    display = GramDisplay.from_kernel(k, table, labels=table["sex"])
    display.ax_.set_title("patients, by group", fontsize=10)
    save(display.ax_, "gram.png")

    row = new_axes(ncols=3, figsize=(10.5, 3.2))
    for ax, kind in zip(row, kernels, strict=True):
        SetDistanceDisplay.from_kernel(kind, [[2.0], [3.0]], 0.0, 5.0, ax=ax)
    save(row[0], "distance_line.png")

    row = new_axes(ncols=3, figsize=(12, 3.4))
    for ax, kind in zip(row, kernels, strict=True):
        SetDistanceDisplay.from_kernel(kind, [[1, 1], [1, 2], [2, 2]], 0.0, 3.5, ax=ax)
    save(row[0], "distance_plane.png")

    row = new_axes(ncols=3, figsize=(12, 3.4))
    for ax, kind in zip(row, kernels, strict=True):
        DiscriminationDisplay.from_kernel(
            kind, [[1, 1], [1, 2]], [[1, 3], [2, 2]], 0.0, 4.0, ax=ax
        )
    save(row[0], "discrimination.png")
    return written
