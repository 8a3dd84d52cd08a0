"""`mercer check`: is a formula positive definite? The exit code is the answer."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from mercer.errors import MercerError
from mercer.proofs import Verdict, prove

MISUSE = 3
"""The exit code where there is no answer: 0, 1 and 2 are answers."""

HELP = """Is a formula in x and y positive definite?

Prints a proof, a refutation, or what is known. Exit code: 0 positive definite, 1 not positive
definite, 2 unknown, 3 no answer, as the formula cannot be read.

  mercer check "min(x, y) / max(x, y)" --domain positive

  mercer check "exp(-s * abs(x - y)**q)" --assume "s > 0, 0 < q <= 2"
"""


class CheckCommand(TyperCommand):
    """A command whose exit code 2 means "unknown": it is not that of a wrong option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if getattr(error, "exit_code", None) == 2:
                error.exit_code = MISUSE  # type: ignore[attr-defined]
            raise


def check(
    formula: Annotated[str, typer.Argument(help="A function of x and y, as text.")],
    domain: Annotated[
        str,
        typer.Option(
            help="Where the points live: reals, positive, nonnegative, naturals, "
            "interval(a, b), vectors, vectors(d), sphere(d), circle or sets."
        ),
    ] = "reals",
    assume: Annotated[
        list[str] | None,
        typer.Option(
            "--assume", "--given", help="What is known of parameters, such as 's > 0'."
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(help="How long to search.")] = 10.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the verdict, and end with its exit code."""
    try:
        verdict = prove(formula, domain, seconds, assume=", ".join(assume or ()))
        said = told(verdict, as_json=as_json)
    except Exception as error:  # noqa: BLE001 - a crash must not end with an answer's exit code
        reason = str(error)
        if not isinstance(error, MercerError):
            reason = f"{type(error).__name__}, a mistake in mercer itself: {reason}"
        if as_json:
            say(json.dumps({"error": reason, "formula": formula, "domain": domain}, indent=1))
        say(f"mercer: {reason}", err=True)
        raise typer.Exit(MISUSE) from None
    say(said)
    raise typer.Exit(verdict.exit_code)


def told(verdict: Verdict, *, as_json: bool) -> str:
    """The verdict as text or as JSON."""
    return json.dumps(verdict.to_dict(), indent=1) if as_json else str(verdict)


def say(words: str, *, err: bool = False) -> None:
    """Print, whatever signs the terminal knows."""
    known = (sys.stderr if err else sys.stdout).encoding or "utf-8"
    typer.echo(words.encode(known, "backslashreplace").decode(known), err=err)
