"""From a table to a machine: what is asked, who answers, and how well. Nothing is printed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from mercer.cli.tables import (
    DATE,
    NUMBER,
    Column,
    as_kind,
    kind_of,
    points_of,
    require,
    strange_in,
    survey,
    values_of,
)
from mercer.errors import InvalidInput, InvalidParameter, MercerError
from mercer.kernels import Column as ColumnKernel
from mercer.kernels import Kernel
from mercer.machines import KernelLogisticRegression, KernelRidge
from mercer.machines.base import KernelMachine
from mercer.plan import Plan
from mercer.reports import Score, score

REGRESSION, CLASSIFICATION = "regression", "classification"

CLASSES = 10
"""Distinct whole numbers up to which a target is taken for classes, unless it is said."""

LABELS = 200
"""Classes beyond which a text is no label."""

FEW = 10
"""Rows up to which none is held out."""

MOST = 10_000
"""Rows that are held out at most: more tell no more."""


@dataclass(frozen=True, eq=False)
class Question:
    """What is to be learned.

    Attributes:
        points: The columns to learn from.
        targets: Numbers, or labels.
        task: "regression" or "classification".
        target: The name of the column to predict.
        told: The target in words.
        columns: The columns to learn from.
        left_out: The other columns, each with the reason.
        notes: What the user should know.
    """

    points: pa.Table
    targets: NDArray[Any]
    task: str
    target: str
    told: str
    columns: list[Column]
    left_out: dict[str, str]
    notes: list[str]

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column to learn from."""
        return {column.name: column.kind for column in self.columns}


@dataclass(frozen=True, eq=False)
class Answer:
    """A machine, and how good it is.

    Attributes:
        machine: Fitted on all rows.
        scores: How good it is on rows that it has not seen.
        scored: Which rows these are, in words.
        notes: What the user should know.
    """

    machine: KernelMachine
    scores: list[Score]
    scored: str
    notes: list[str]


def ask(
    table: pa.Table,
    target: str,
    task: str = "auto",
    kernel: Kernel | None = None,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> Question:
    """The question that a table asks.

    Args:
        table: The table.
        target: The column to predict.
        task: "regression", "classification" or "auto".
        kernel: The kernel, if one is given: the columns that it names are not left out.
        keep: Columns to keep, whatever they hold.
        drop: Columns to leave out.
    """
    require(table, [target], "which is to be predicted")
    require(table, [*keep, *drop], "which --keep or --drop names")
    if not len(table):
        raise InvalidInput("the table has no rows: there is nothing to learn from.")
    notes = []
    missing = _missing(table, target)
    unknown = int(pc.sum(missing).as_py() or 0)
    if unknown == len(table):
        raise InvalidInput(f"the target {target!r} is missing in every row.")
    if unknown:
        notes += strange(table.select([target]))
        table = table.filter(pc.invert(missing))
        notes.append(f"{_many(unknown, 'row')} left out: the target is missing there")
    notes += strange(table)
    task, targets, told, note = _targets(table, target, task)
    notes += note
    named = () if kernel is None else _named(kernel)
    columns, left_out = survey(table, target, (*keep, *named), drop)
    if not columns:
        why = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise InvalidInput(
            f"there is no column to learn from{f' ({why})' if why else ''}.\nA table needs "
            "a column beside the target; --keep keeps one that was left out."
        )
    points = points_of(table, {column.name: column.kind for column in columns})
    return Question(points, targets, task, target, told, columns, left_out, notes)


def strange(table: pa.Table) -> list[str]:
    """What is no number in columns of numbers, told."""
    notes = []
    for name in table.column_names:
        found = strange_in(table[name])
        if len(found) and kind_of(table[name]) == NUMBER:
            such = str(found[0].as_py())[:30]
            notes.append(
                f"{_many(len(found), 'value')} of {name!r} taken for missing: no number, as "
                f"{such!r}"
            )
    return notes


def _named(kernel: Kernel) -> tuple[str, ...]:
    """The columns that a kernel names."""
    own = tuple(map(str, kernel.columns)) if isinstance(kernel, ColumnKernel) else ()
    return own + tuple(name for child in kernel.children() for name in _named(child))


def _missing(table: pa.Table, target: str) -> pa.ChunkedArray:
    """Where the target is missing, or is no number among numbers."""
    numbers = kind_of(table[target]) == NUMBER
    column = as_kind(table, target, NUMBER) if numbers else table[target]
    return pc.is_null(column, nan_is_null=numbers)


def _targets(
    table: pa.Table, target: str, task: str
) -> tuple[str, NDArray[Any], str, list[str]]:
    """The task, the targets, what they are in words, and notes."""
    column, notes = table[target], []
    kind = kind_of(column)
    if kind in ("", DATE):
        raise InvalidInput(
            f"the target {target!r} holds {column.type}, and numbers or labels can be "
            "predicted.\nConvert it to numbers first."
        )
    numbers = None
    if kind == NUMBER:
        numbers = values_of(as_kind(table, target, NUMBER))
        found = np.unique(numbers)
        whole = bool((numbers == np.floor(numbers)).all() and np.abs(found).max() < 2**53)
        few = whole and 2 <= len(found) <= CLASSES and len(numbers) >= 5 * len(found)
        if task == "auto" and few:
            notes.append(
                f"the target has {len(found)} distinct whole numbers, which were taken for "
                "classes; --task regression takes them for quantities"
            )
        if task == "auto":
            task = CLASSIFICATION if few else REGRESSION
        if task == REGRESSION:
            low, high = f"{found[0]:.6g}", f"{found[-1]:.6g}"
            return task, numbers, f"{target}: numbers from {low} to {high}", notes
        labels = numbers.astype(np.int64) if whole else numbers.astype(str)
    else:
        if task == REGRESSION:
            first = column.drop_null()[0].as_py()
            raise InvalidInput(
                f"the target {target!r} holds texts such as {str(first)[:40]!r}, and "
                "regression predicts numbers.\nMend the column, or use --task classification."
            )
        labels = values_of(as_kind(table, target, kind))
    classes = np.unique(labels)
    _check_classes(target, classes, len(labels))
    shown = ", ".join(map(str, classes[:6])) + (", ..." if len(classes) > 6 else "")
    return CLASSIFICATION, labels, f"{target}: {len(classes)} classes ({shown})", notes


def _check_classes(target: str, classes: NDArray[Any], rows: int) -> None:
    if len(classes) < 2:
        raise InvalidInput(
            f"the target {target!r} is {str(classes[0])!r} in every row: there are no classes "
            "to tell apart."
        )
    if len(classes) > LABELS or (rows > FEW and len(classes) > rows / 2):
        raise InvalidInput(
            f"the target {target!r} has {len(classes)} distinct values in {rows} rows, too "
            "many for classes.\nIf they are numbers, mend those that are written otherwise, "
            "or use --task regression."
        )


def split(
    question: Question, share: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows to fit, and those that are held out; of each class its share.

    Args:
        question: What is asked.
        share: The part of the rows that is held out.
        seed: Draws them.
    """
    rows = len(question.targets)
    chance = np.random.default_rng(seed)
    if rows <= FEW or not share > 0:
        return np.arange(rows), np.empty(0, dtype=np.int64)
    share = min(share, MOST / rows)
    order = chance.permutation(rows)
    if question.task == REGRESSION:
        out = order[: max(1, round(share * rows))]
    else:
        held = []
        for label in np.unique(question.targets):
            members = order[question.targets[order] == label]
            held.append(members[: min(round(share * len(members)), len(members) - 1)])
        out = np.concatenate(held)
    out = np.setdiff1d(out, _needed(question, out))
    return np.setdiff1d(np.arange(rows), out), out


def _needed(question: Question, out: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows that cannot be held out: a kernel that has seen no value missing in a column has no
    part for that.
    """
    needed = [np.empty(0, dtype=np.int64)]
    for column in question.points.columns:
        missing = np.flatnonzero(pc.is_null(column).to_numpy())
        if missing.size and np.isin(missing, out).all():
            needed.append(missing)
    return np.concatenate(needed)


def build(task: str, kernel: Any, plan: Plan, seed: int) -> KernelMachine:
    """The machine for a task, not fitted."""
    kind = KernelRidge if task == REGRESSION else KernelLogisticRegression
    return kind(kernel, plan=plan, random_state=seed)


def learn(machine: Any, points: pa.Table, targets: NDArray[Any]) -> list[str]:
    """Fit a machine; the warnings are returned.

    Raises:
        MercerError: It cannot learn from these data.
    """
    with warnings.catch_warnings(record=True) as heard, refusals():
        warnings.simplefilter("always")
        machine.fit(points, targets)
    return list(dict.fromkeys(str(one.message).split("\n")[0] for one in heard))


@contextmanager
def refusals() -> Iterator[None]:
    """What scikit-learn refuses is a deliberate error, too."""
    try:
        yield
    except MercerError:
        raise
    except ValueError as error:
        raise InvalidInput(str(error)) from error


def judge(machine: Any, question: Question, fitted: Any, held: Any, seed: int) -> list[Score]:
    """How good a machine is on the rows that were held out."""
    points, targets = question.points.take(pa.array(held)), question.targets[held]
    with refusals():
        predictions = machine.predict(points)
    if question.task == REGRESSION:
        return score(targets, predictions, question.targets[fitted].mean(), seed=seed)
    classes = machine.classes_
    counts = np.array([(question.targets[fitted] == label).sum() for label in classes])
    places = np.searchsorted(classes, targets)
    return score(
        places,
        np.searchsorted(classes, predictions),
        int(counts.argmax()),
        machine.predict_proba(points),
        counts / counts.sum(),
        seed,
    )


def left_out_scores(machine: Any, question: Question, seed: int) -> list[Score]:
    """Scores by leave-one-out, where the machine knows what it predicts for each row."""
    told = getattr(machine, "loo_predictions_", None)
    if question.task != REGRESSION or told is None or len(told) < 2:
        return []
    return score(question.targets, told, question.targets.mean(), seed=seed)


def check_share(share: float) -> None:
    """Raise unless it is a share of the rows that leaves some."""
    if not 0 <= share < 1:
        raise InvalidParameter(
            f"--holdout is a share of the rows from 0 up to but not 1, got {share}."
        )


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s'[: count != 1]}"
