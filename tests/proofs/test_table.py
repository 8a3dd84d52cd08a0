"""The table of formulas: what it holds, and that no answer contradicts it.

A part of the table is settled here; `benchmarks/proofs.py` settles all of it, with more time.
"""

import tomllib
from collections import Counter
from pathlib import Path

import pytest

import mercer as mc
from mercer.proofs import FormulaProof
from mercer.proofs.reading import read

TABLE = tomllib.loads((Path(__file__).parent / "formulas.toml").read_text(encoding="utf-8"))
ROWS = TABLE["formula"]
FURTHER = [row for row in ROWS if not row.get("quiz")]

EACH = 12
"""One row of so many is settled here."""

SECONDS = 2.0


def name(row):
    return f"{row['text']} on {row['domain']}"[:60]


def test_the_table_has_150_formulas_besides_the_quiz_and_half_of_each_kind():
    kinds = Counter(row["status"] for row in FURTHER)
    assert len(FURTHER) >= 150
    assert set(kinds) == {"pd", "not_pd"}
    assert min(kinds.values()) >= 0.45 * len(FURTHER)


def test_each_formula_is_decided_by_something_with_a_name():
    assert all(row["why"].strip() for row in ROWS)
    assert {key for row in ROWS for key in row} <= {
        "text", "domain", "status", "why", "assume", "quiz",
    }  # fmt: skip


def test_no_formula_is_there_twice():
    seen = Counter(
        (str(read(row["text"], row["domain"], row.get("assume", "")).tree), row["domain"],
         row.get("assume", ""))
        for row in ROWS
    )  # fmt: skip
    assert [key for key, count in seen.items() if count > 1] == []


@pytest.mark.parametrize("row", FURTHER[::EACH], ids=name)
def test_no_answer_contradicts_the_table(row):
    verdict = mc.prove(row["text"], row["domain"], SECONDS, assume=row.get("assume", ""))
    assert verdict.status in (row["status"], "unknown")
    data = verdict.to_dict()
    if verdict.proof is not None:
        FormulaProof.from_dict(data["proof"]).check()
    if verdict.refutation is not None:
        mc.Refutation.from_dict(data).check()
