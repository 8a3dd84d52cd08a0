"""Proofs and refutations: the quiz, the table of formulas, random kernels and their mutations.

The random formulas are built by closure rules, so all of them are kernels; a mutation changes
one in a single place, and may be a kernel or not. Every proof is checked after a round trip
through JSON. What is proved is attacked, half of the time by mercer's refuter and half by
`tests/proofs/attack.py`, which shares no arithmetic with it. What is refuted is checked in
exact arithmetic from its JSON, and once more in 70 digits by that other arithmetic.

With no arguments a sample that takes a few minutes; `--full` for 2,000 formulas of each kind.
"""

from __future__ import annotations

from _common import row  # isort: skip - sets the environment first

import argparse
import json
import multiprocessing
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

import mercer as mc
from mercer.errors import InvalidFormula, MercerError
from mercer.proofs.certificates import Refutation
from mercer.proofs.reading import read
from mercer.proofs.refute import refute
from mercer.proofs.verdicts import Verdict

TESTS = Path(__file__).parents[1] / "tests/proofs"
sys.path.append(str(TESTS))

from attack import Undefined, attack, form  # noqa: E402 - found by the line above
from generate import mutate, random_kernel  # noqa: E402

QUIZ_SECONDS, QUIZ_LINES = 5, 15
MOST_UNKNOWN, LEAST_PROVED = 0.05, 0.9
LATE = 1.0  # seconds that a verdict may take beyond its limit


@dataclass(frozen=True)
class Question:
    """A formula, and what is known of it beforehand: pd, not_pd, or nothing."""

    text: str
    domain: str
    assume: str = ""
    expected: str = ""


@dataclass(frozen=True)
class Outcome:
    """What became of a question.

    Attributes:
        question: The formula.
        status: "pd", "not_pd", "unknown", or "refused": no function with a diagonal.
        seconds: Of the verdict.
        wrong: What is wrong with the verdict; empty if nothing is.
        hole: Two points with a value each and none between them, of a proved formula.
        attacked: Seconds of attack that a proof withstood.
        lines: Lines of the proof.
    """

    question: Question
    status: str
    seconds: float
    wrong: str = ""
    hole: str = ""
    attacked: float = 0.0
    lines: int = 0


# ------------------------------------------------------------------------------ one formula


def settle(question: Question, limit: float, seconds: float) -> Outcome:
    """The verdict within a limit, checked; a proof is then attacked for so many seconds."""
    start = time.perf_counter()
    try:
        verdict = mc.prove(
            question.text, question.domain, seconds=limit, assume=question.assume
        )
    except InvalidFormula as error:
        wrong = f"refused: {error}" if question.expected else ""
        return Outcome(question, "refused", time.perf_counter() - start, wrong)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is counted as wrong
        return Outcome(question, "crash", time.perf_counter() - start, repr(error))
    taken = time.perf_counter() - start
    wrong, hole = doubts(question, verdict), ""
    if not wrong and verdict.status == "pd" and seconds > 0:
        wrong, hole = attacked(question, seconds)
    if not wrong and taken > limit + LATE:
        wrong = f"took {taken:.1f} s of {limit:g} s"
    lines = len(str(verdict.proof).splitlines()) if verdict.proof else 0
    spent = seconds if verdict.status == "pd" else 0.0
    return Outcome(question, verdict.status, taken, wrong, hole, spent, lines)


def doubts(question: Question, verdict: Verdict) -> str:
    """What is wrong with a verdict by itself, read back from its JSON."""
    if question.expected and verdict.status not in ("unknown", question.expected):
        return f"{verdict.status}, and it is known to be {question.expected}"
    data = json.loads(json.dumps(verdict.to_dict()))
    try:
        if verdict.proof is not None:
            type(verdict.proof).from_dict(data["proof"]).check()
        if verdict.refutation is not None:
            Refutation.from_dict(data).check()
            if not question.assume and not form(question.text, question.domain, data) < 0:
                return "the form of the refutation is not negative"
    except (MercerError, Undefined) as error:
        return f"{verdict.status} that does not check: {error!r}"
    return ""


def attacked(question: Question, seconds: float) -> tuple[str, str]:
    """What an attack on a proved formula finds: a negative form, and a hole."""
    formula = read(question.text, question.domain, question.assume)
    found = refute(formula, time.monotonic() + seconds / 2, seed=1)
    if found is not None:
        return f"proved, and refuted: {found}", ""
    if question.assume:
        return "", ""
    own = attack(question.text, question.domain, seconds / 2, seed=1)
    if own is None:
        return "", ""
    return (f"proved, and refuted: {own}", "") if own.kind == "negative" else ("", str(own))


# -------------------------------------------------------------------------------- campaigns


def quiz_and_table() -> tuple[list[Question], list[Question]]:
    """The formulas of the table: the quiz, and all."""
    rows = tomllib.loads((TESTS / "formulas.toml").read_text())["formula"]
    questions = [
        Question(r["text"], r["domain"], r.get("assume", ""), r["status"]) for r in rows
    ]
    return [q for q, r in zip(questions, rows, strict=True) if r.get("quiz")], questions


def random_questions(count: int, seed: int) -> tuple[list[Question], list[Question]]:
    """Distinct random kernels, and distinct mutations of them."""
    built: dict[Question, None] = {}
    changed: dict[Question, None] = {}
    turn = 0
    while min(len(built), len(changed)) < count:
        rng = np.random.default_rng([seed, turn])
        text, domain = random_kernel(rng)
        built[Question(text, domain, expected="pd")] = None
        changed[Question(mutate(rng, text, domain), domain)] = None
        turn += 1
    return list(built)[:count], list(changed)[:count]


def each(
    pool: multiprocessing.pool.Pool,
    job: Callable[[Question], Outcome],
    questions: list[Question],
    keep: Path | None,
) -> list[Outcome]:
    """The outcomes, in the order of the questions; also written to a file, a line each."""
    outcomes = []
    for outcome in pool.imap(job, questions):
        outcomes.append(outcome)
        if outcome.wrong:
            print(f"WRONG: {outcome}", file=sys.stderr, flush=True)
        if keep is not None:
            with keep.open("a") as file:
                file.write(json.dumps(asdict(outcome)) + "\n")
    return outcomes


def counts(outcomes: list[Outcome]) -> dict[str, object]:
    """How often each status came, how long it took, and what is wrong."""
    found = dict(Counter(o.status for o in outcomes))
    slowest = max(outcomes, key=lambda o: o.seconds)
    facts: dict[str, object] = {"formulas": len(outcomes), **found}
    facts |= {"slowest_seconds": slowest.seconds, "slowest": slowest.question.text}
    facts["wrong"] = sum(bool(o.wrong) for o in outcomes)
    if any(o.wrong for o in outcomes):
        facts["wrong_are"] = [[o.question.text, o.wrong] for o in outcomes if o.wrong][:5]
    return facts


def share(outcomes: list[Outcome], status: str) -> float:
    """The share of a status."""
    return sum(o.status == status for o in outcomes) / len(outcomes)


def quiz(questions: list[Question]) -> None:
    """The quiz, in this process and with the costs of first calls."""
    start = time.perf_counter()
    outcomes = [settle(q, 10.0, 0.0) for q in questions]
    seconds = time.perf_counter() - start
    longest = max(o.lines for o in outcomes)
    settled = sum(o.status == o.question.expected for o in outcomes)
    row(
        "the quiz in one process, each verdict checked again from its JSON",
        "mercer",
        seconds,
        **counts(outcomes),
        longest_proof_lines=longest,
        at_most_seconds=QUIZ_SECONDS,
        at_most_lines=QUIZ_LINES,
        reached=seconds <= QUIZ_SECONDS
        and longest <= QUIZ_LINES
        and settled == len(outcomes)
        and not any(o.wrong for o in outcomes),
    )


def table(outcomes: list[Outcome], seconds: float) -> None:
    """The table."""
    unknown = share(outcomes, "unknown")
    row(
        "the table: no wrong answer, few unknown; each verdict checked again from its JSON",
        "mercer",
        seconds,
        **counts(outcomes),
        share_unknown=unknown,
        at_most=MOST_UNKNOWN,
        reached=unknown <= MOST_UNKNOWN and not any(o.wrong for o in outcomes),
    )


def kernels(outcomes: list[Outcome], seconds: float, attack_seconds: float) -> None:
    """Random kernels."""
    proved = share(outcomes, "pd")
    domains = Counter(o.question.domain for o in outcomes)
    found = Counter(o.question.domain for o in outcomes if o.status == "pd")
    row(
        "random kernels: most are proved, none is refuted; each proof checked and attacked",
        "mercer",
        seconds,
        **counts(outcomes),
        holes=sum(bool(o.hole) for o in outcomes),
        attack_seconds=attack_seconds,
        share_proved=proved,
        share_by_domain={d: round(found[d] / n, 3) for d, n in sorted(domains.items())},
        at_least=LEAST_PROVED,
        reached=proved >= LEAST_PROVED and not any(o.wrong for o in outcomes),
    )


def mutations(outcomes: list[Outcome], seconds: float, attack_seconds: float) -> None:
    """Mutations of random kernels."""
    row(
        "random mutations: each pd attacked, each not_pd checked in exact arithmetic",
        "mercer",
        seconds,
        **counts(outcomes),
        holes=sum(bool(o.hole) for o in outcomes),
        attack_seconds=attack_seconds,
        at_most_wrong=0,
        reached=not any(o.wrong for o in outcomes),
    )


def long_attacks(outcomes: list[Outcome], seconds: float, each_seconds: float) -> None:
    """Proofs that were drawn at random and attacked for long."""
    row(
        "proved formulas drawn at random, attacked for long",
        "mercer",
        seconds,
        formulas=len(outcomes),
        attack_seconds=each_seconds,
        wrong=sum(bool(o.wrong) for o in outcomes),
        at_most_wrong=0,
        reached=not any(o.wrong for o in outcomes),
    )


def strength(outcomes: list[Outcome], pool: multiprocessing.pool.Pool, seconds: float) -> None:
    """What share of refuted formulas the other arithmetic refutes too: it can see errors."""
    refuted = [o.question for o in outcomes if o.status == "not_pd"][:100]
    start = time.perf_counter()
    found = sum(pool.imap(partial(is_seen, seconds=seconds / 2), refuted))
    row(
        "refuted mutations that the independent attack alone refutes as well",
        "attack",
        time.perf_counter() - start,
        formulas=len(refuted),
        share_seen=found / max(1, len(refuted)),
        at_least=0.9,
        reached=found >= 0.9 * len(refuted),
    )


def is_seen(question: Question, seconds: float) -> bool:
    """Whether the independent attack refutes a formula."""
    found = attack(question.text, question.domain, seconds)
    return found is not None and found.kind == "negative"


def again(question: Question, seconds: float) -> Outcome:
    """A longer attack on a formula that was proved."""
    wrong, hole = attacked(question, seconds)
    return Outcome(question, "pd", 0.0, wrong, hole, seconds)


def drawn(outcomes: list[Outcome], count: int, seed: int) -> list[Question]:
    """Proved formulas at random."""
    proved = [o.question for o in outcomes if o.status == "pd"]
    chosen = np.random.default_rng(seed).permutation(len(proved))[:count]
    return [proved[n] for n in chosen]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="2,000 of each, and long attacks")
    parser.add_argument("--count", type=int, help="random kernels, and as many mutations")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1.0, help="for a verdict")
    parser.add_argument("--attack", type=float, help="seconds of attack on each proof")
    parser.add_argument("--long", type=int, help="proofs that are attacked for long")
    parser.add_argument("--long-seconds", type=float, help="of such an attack")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a file for every outcome, a line each")
    given = parser.parse_args()
    size = (2_000, 1.0, 50, 60.0) if given.full else (200, 0.5, 2, 10.0)
    for name, value in zip(("count", "attack", "long", "long_seconds"), size, strict=True):
        if getattr(given, name) is None:
            setattr(given, name, value)
    return given


def main(given: argparse.Namespace) -> None:
    asked, rows = quiz_and_table()
    quiz(asked)
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool:

        def run(job: Callable[[Question], Outcome], questions: list[Question]) -> Iterator:
            start = time.perf_counter()
            yield each(pool, job, questions, given.keep)
            yield time.perf_counter() - start

        table(*run(partial(settle, limit=given.seconds, seconds=0.0), rows))
        built, changed = random_questions(given.count, given.seed)
        job = partial(settle, limit=given.seconds, seconds=given.attack)
        kernels(*run(job, built), given.attack)
        outcomes, seconds = run(job, changed)
        mutations(outcomes, seconds, given.attack)
        strength(outcomes, pool, given.attack)
        chosen = drawn(outcomes, given.long, given.seed)
        job = partial(again, seconds=given.long_seconds)
        long_attacks(*run(job, chosen), given.long_seconds)


if __name__ == "__main__":
    main(arguments())
