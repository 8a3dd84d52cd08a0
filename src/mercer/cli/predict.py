"""`mercer predict`: what a saved model says of the rows of a table, as CSV."""

from __future__ import annotations

import csv
import io
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import numpy as np
import pyarrow as pa
import typer

from mercer.cli.check import say
from mercer.cli.fit import check_out
from mercer.cli.learning import refusals, strange
from mercer.cli.tables import points_of, read_table, require
from mercer.cli.telling import Steps, failures
from mercer.errors import InvalidFile, InvalidInput, InvalidParameter
from mercer.persistence import Stored, read, replacing

ROWS = 20_000
"""Rows that are predicted together."""

HELP = """Predict the rows of a table with a saved model: CSV, a line a row.

Columns may come in any order, and others may be there.

  mercer predict houses.mercer new.csv --out prices.csv
"""


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file of mercer fit.")],
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="CSV with a line of names, or Parquet.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write; by default it is shown.")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add a probability a class.")] = False,
    interval: Annotated[
        float | None,
        typer.Option(help="Add the ends of an interval with this coverage, such as 0.9."),
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="A column of the table to write beside.")
    ] = None,
) -> None:
    """Predict, and write what was predicted."""
    with failures(as_json=False):
        if out is not None:
            check_out(out, table, model)
        with Steps(3, quiet=False) as steps:
            steps.next(f"loading {model.name}")
            stored = loaded(model)
            kinds = {name: kind for name, kind, *_ in stored.about["columns"]}
            _check_wishes(stored, proba=proba, interval=interval)
            steps.next(f"reading {table.name}")
            rows = read_table(table, kinds)
            require(rows, list(kinds), "from which the model predicts")
            require(rows, keep or [], "which --keep names")
            if not len(rows):
                raise InvalidInput(f"{table} has no rows: there is nothing to predict.")
            steps.next(f"predicting {len(rows)} rows")
            notes = strange(rows.select(list(kinds)))
            beside = rows.select(keep or [])
            found = predicted(stored, rows, beside, proba=proba, interval=interval)
        for note in notes:
            say(f"mercer: {note}", err=True)
        if out is None:
            sys.stdout.flush()
            write_csv(found, typer.get_binary_stream("stdout"))
        else:
            with replacing(out) as part, part.open("wb") as file:
                write_csv(found, file)


def loaded(path: Path) -> Stored:
    """A model file of `mercer fit`; what it warns of is told."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        stored = read(path)
    for one in heard:
        say(f"mercer: {one.message}", err=True)
    if "columns" not in stored.about:
        raise InvalidFile(
            f"{path} was saved in Python and does not say which columns of a table it reads.\n"
            "Load it there, mercer.load(path), or fit with mercer fit."
        )
    return stored


def _check_wishes(stored: Stored, *, proba: bool, interval: float | None) -> None:
    """Raise if the model cannot say what is asked for, before anything is computed."""
    labels = stored.about["task"] == "classification"
    if proba and not labels:
        raise InvalidParameter(
            "--proba is for classes, and this model predicts numbers.\n--interval 0.9 says how "
            "sure these are."
        )
    if interval is None:
        return
    if labels:
        raise InvalidParameter(
            "--interval is for numbers, and this model predicts classes.\n--proba says how "
            "sure these are."
        )
    if not 0 < interval < 1:
        raise InvalidParameter(f"--interval is a coverage between 0 and 1, got {interval}.")
    if not stored.about["intervals"]:
        raise InvalidParameter(
            "this model file does not hold what intervals need.\nFit again with --intervals; "
            "it needs all rows as anchors, which many rows do not allow."
        )


def predicted(
    stored: Stored, rows: pa.Table, beside: pa.Table, *, proba: bool, interval: float | None
) -> pa.Table:
    """The predictions as a table: a column of them, and what else was asked for."""
    machine: Any = stored.machine
    kinds = {name: kind for name, kind, *_ in stored.about["columns"]}
    points = points_of(rows, kinds)
    parts: list[dict[str, Any]] = []
    for start in range(0, len(rows), ROWS):
        some = points.slice(start, ROWS)
        with _refusals(stored, some):
            part = {"prediction": machine.predict(some)}
            if proba:
                each = machine.predict_proba(some).T
                names = [f"probability of {label}" for label in machine.classes_]
                part |= dict(zip(names, each, strict=True))
            if interval is not None:
                ends = machine.predict_interval(some, interval).T
                part |= dict(zip(("low", "high"), ends, strict=True))
        parts.append(part)
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    clash = [name for name in beside.column_names if name in found]
    if clash:
        raise InvalidParameter(
            f"--keep {clash[0]} would be a second column called {clash[0]!r}.\nRename it."
        )
    own = {name: beside[name] for name in beside.column_names}
    return pa.table(own | {name: pa.array(values) for name, values in found.items()})


@contextmanager
def _refusals(stored: Stored, points: pa.Table) -> Iterator[None]:
    """Say which column is missing values that were never missing before, if that is why."""
    try:
        with refusals():
            yield
    except InvalidInput as error:
        for name, _, missing, *_ in stored.about["columns"]:
            if points[name].null_count and not missing:
                raise InvalidInput(
                    f"column {name!r} has {points[name].null_count} of {len(points)} values "
                    "missing here, and had none when the model was fitted: it does not know "
                    "what that means.\nMend or drop those rows, or fit with such rows."
                ) from error
        raise


def write_csv(table: pa.Table, out: BinaryIO) -> None:
    """Write a table in UTF-8: numbers with every digit, quotes only where they are needed."""
    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(table.column_names)
    for batch in table.to_batches(max_chunksize=ROWS):
        lines.writerows(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    text.detach()
    out.flush()
