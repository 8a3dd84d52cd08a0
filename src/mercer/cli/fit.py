"""`mercer fit`: learn from a table, say how well, and save what was learned."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from mercer.cli.check import say
from mercer.cli.learning import (
    Answer,
    Question,
    ask,
    build,
    check_share,
    judge,
    learn,
    left_out_scores,
    split,
)
from mercer.cli.tables import read_table
from mercer.cli.telling import Steps, failures
from mercer.errors import InvalidFile, InvalidParameter
from mercer.kernels import Kernel
from mercer.kernels import kernel as as_kernel
from mercer.machines.least_squares import Fitted
from mercer.persistence import save
from mercer.plan import Plan, readable
from mercer.reports import facts, summary

SMALL = 64_000_000
"""Bytes of eigenvectors up to which a model file keeps them for intervals by itself."""

HELP = """Learn to predict a column of a table from the others.

The kernel is chosen for what the columns hold, and tuned by leave-one-out. \
Some rows are held out first, to see how good the predictions are; then all \
are learned from.

  mercer fit houses.csv --target price --out houses.mercer

  mercer predict houses.mercer new.csv
"""


def fit(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="CSV with a line of names, or Parquet.")
    ],
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file.")] = Path(
        "model.mercer"
    ),
    task: Annotated[
        str, typer.Option(help="regression, classification, or auto: by what the target holds.")
    ] = "auto",
    kernel: Annotated[
        str, typer.Option(help="The text of a kernel, as gaussian(0.5), or auto.")
    ] = "auto",
    keep: Annotated[
        list[str] | None, typer.Option(help="A column to learn from, whatever it holds.")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out.")] = None,
    holdout: Annotated[
        float, typer.Option(help="The share of rows held out for the score; 0 for none.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(help="Draws what is drawn.")] = 0,
    memory: Annotated[
        str, typer.Option(help="The memory to use, as '2 GB'; auto is half of what is free.")
    ] = "auto",
    intervals: Annotated[
        bool | None,
        typer.Option(help="Whether the file keeps what intervals need; by default if small."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Fit, print the summary, and save."""
    with failures(as_json=as_json):
        given = _kernel(kernel)
        if task not in ("auto", "regression", "classification"):
            raise InvalidParameter(
                f"--task is regression, classification or auto, got {task!r}."
            )
        check_share(holdout)
        plan = Plan(memory=memory)
        check_out(out, table)
        began = time.perf_counter()
        with Steps(5, quiet=as_json) as steps:
            steps.next(f"reading {table.name}")
            question = ask(read_table(table), target, task, given, keep or (), drop or ())
            answer = answered(question, given, plan, holdout, seed, steps)
            steps.next(f"saving {out.name}")
            wants = _wants_intervals(answer.machine, asked=intervals)
            about = described(question, answer, table, seed) | {"intervals": wants}
            save(answer.machine, out, about=about, intervals=wants)
        seconds = time.perf_counter() - began
        told = facts(answer.machine, list(question.kinds))
        if as_json:
            extra = {"model": str(out), "bytes": out.stat().st_size, "seconds": seconds}
            say(json.dumps(about | {"fit": told.to_dict()} | extra, indent=1))
            return
        say(summary(about, told, width=columns_of_terminal()))
        size = readable(out.stat().st_size)
        say(f"model     {out} ({size}), fitted in {seconds:.1f} s")
        say(f"\nNext: mercer predict {out} NEW_TABLE")


def answered(
    question: Question, kernel: Kernel | None, plan: Plan, share: float, seed: int, steps: Any
) -> Answer:
    """Hold rows out, fit, judge, and fit all rows."""
    wanted: Any = "auto" if kernel is None else kernel
    fitted, held = split(question, share, seed)
    notes, scores, scored = [], [], "no rows were held out"
    if len(held):
        steps.next(f"fitting {len(fitted)} rows")
        trial = build(question.task, wanted, plan, seed)
        notes += learn(trial, question.points.take(fitted), question.targets[fitted])
        steps.next(f"predicting {len(held)} rows")
        scores = judge(trial, question, fitted, held, seed)
        scored = f"on {len(held)} rows held out"
    steps.next(f"fitting {len(question.targets)} rows")
    machine = build(question.task, wanted, plan, seed)
    notes += learn(machine, question.points, question.targets)
    if not len(held):
        scores = left_out_scores(machine, question, seed)
        scored = "by leave-one-out" if scores else scored
    return Answer(machine, scores, scored, list(dict.fromkeys(notes)))


def described(question: Question, answer: Answer, table: Path, seed: int) -> dict[str, Any]:
    """What was asked and answered, as plain data."""
    return {
        "table": table.name,
        "rows": len(question.targets),
        "target": question.target,
        "told": question.told,
        "task": question.task,
        "columns": [[c.name, c.kind, c.missing, c.distinct] for c in question.columns],
        "left_out": question.left_out,
        "scored": answer.scored,
        "scores": [one.to_dict() for one in answer.scores],
        "notes": question.notes + answer.notes,
        "seed": seed,
    }


def check_out(out: Path, *inputs: Path) -> None:
    """Raise, before any work is done, unless a file may be written there."""
    if any(out.exists() and path.exists() and out.samefile(path) for path in inputs):
        raise InvalidFile(f"{out} is what is to be read.\nName another file with --out.")
    folder = out.parent
    if not folder.is_dir():
        raise InvalidFile(
            f"there is no folder {folder} to write {out.name} to.\nMake it first."
        )
    if out.is_dir():
        raise InvalidFile(f"{out} is a folder.\nName a file with --out.")
    if not os.access(folder, os.W_OK) and not (out.exists() and not out.is_file()):
        raise InvalidFile(f"the folder {folder} cannot be written to.\nName another file.")


def columns_of_terminal() -> int:
    """How wide the terminal is; 80 where there is none."""
    return min(shutil.get_terminal_size((80, 24)).columns, 120)


def _kernel(text: str) -> Kernel | None:
    return None if text == "auto" else as_kernel(text)


def _wants_intervals(machine: Any, *, asked: bool | None) -> bool:
    """Whether the file is to keep what intervals need."""
    fitted = getattr(machine, "_fitted", None)
    if not isinstance(fitted, Fitted) or fitted.spectrum is None or not fitted.is_exact:
        return False
    return fitted.spectrum.vectors.nbytes <= SMALL if asked is None else asked
