"""A fit as text: what was learned from what, how well, and with which kernel."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from mercer.reports.facts import Facts
from mercer.reports.scores import Score

LABEL = 10
"""Characters of the column of labels."""

LONGEST = 400
"""Characters of a kernel's text that are told."""


def summary(about: Mapping[str, Any], facts: Facts, *, width: int = 80) -> str:
    """The facts of a fit, a label and a text a line.

    Args:
        about: What was asked: table, rows, columns, target, task, scores and so on.
        facts: What was learned.
        width: Characters a line.
    """
    return listed(_entries(about, facts), width=width)


def listed(entries: Sequence[tuple[str, str]], *, width: int = 80) -> str:
    """Labels and texts, a label a text, broken into lines.

    Example:
        >>> print(listed([("first", "one"), ("second", "two")]))
        first     one
        second    two
    """
    lines: list[str] = []
    for label, text in entries:
        for at, line in enumerate(text.splitlines() or [""]):
            lines += _wrapped(label if at == 0 else "", line, width)
    return "\n".join(lines)


def _wrapped(label: str, line: str, width: int) -> list[str]:
    """A line with its label, broken where it is too long, and indented as it was."""
    indent = " " * (LABEL + len(line) - len(line.lstrip()))
    return textwrap.wrap(
        line.strip(),
        width=max(width, 40),
        initial_indent=f"{label:{LABEL}}"[:LABEL] + indent[LABEL:],
        subsequent_indent=indent + "  ",
        break_on_hyphens=False,
    )


def _entries(about: Mapping[str, Any], facts: Facts) -> list[tuple[str, str]]:
    found = []
    if about:
        found += [
            ("table", f"{about['table']}: {_rows(about)}, {_columns(about['columns'])}"),
            *(("left out", f"{name}: {why}") for name, why in about["left_out"].items()),
            ("target", f"{about['told']}; {about['task']}"),
            ("score", _scores(about)),
        ]
    found.append(("kernel", facts.words))
    text = facts.kernel
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]} ... ({len(text)} characters; all with --json)"
    found += [("text", text), ("proof", facts.proof_in_words())]
    if facts.penalty is not None:
        found.append(("penalty", f"{facts.penalty:.4g}, for {facts.machine}"))
    found += [("plan", facts.plan)] * bool(facts.plan)
    found += [("note", note) for note in about.get("notes", ())]
    return found


def _rows(about: Mapping[str, Any]) -> str:
    return f"{about['rows']} row{'s'[: about['rows'] - 1]}"


def _columns(columns: list[list[Any]]) -> str:
    counts = Counter(kind for _, kind, *_ in columns)
    plural = {"number": "numbers", "category": "categories", "date": "dates"}
    words = [f"{count} {plural[kind] if count > 1 else kind}" for kind, count in counts.items()]
    return f"{len(columns)} column{'s'[: len(columns) - 1]} to learn from ({', '.join(words)})"


def _scores(about: Mapping[str, Any]) -> str:
    if not about["scores"]:
        return f"unknown: {about['scored']}"
    head = f"{about['scored']} (in brackets: 95 of 100 resamplings)"
    scores = [Score(**one) for one in about["scores"]]
    wide = max(len(one.name) for one in scores)
    return "\n".join([head, *(_aligned(one, wide) for one in scores)])


def _aligned(one: Score, wide: int) -> str:
    gap = " " * (wide - len(one.name))
    return str(one).replace(one.name, one.name + gap, 1)
