"""`mercer show`: what is in a model file."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated

import typer

from mercer.cli.check import say
from mercer.cli.fit import columns_of_terminal
from mercer.cli.telling import failures
from mercer.errors import InvalidInput
from mercer.persistence import Stored, read
from mercer.plan import readable
from mercer.reports import facts, listed, summary

HELP = """Show what a saved model is: learned from what, how well, and its kernel.

  mercer show houses.mercer --proof
"""


def show(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A file of mercer fit or mercer.save.")
    ],
    proof: Annotated[bool, typer.Option("--proof", help="Print the kernel's proof.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the facts of a model file."""
    with failures(as_json=as_json):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            stored = read(model)
        if not hasattr(stored.machine, "kernel_"):
            raise InvalidInput(
                f"{model} holds {stored.machine}, which was saved before it was fitted: it has "
                "learned nothing yet."
            )
        about = stored.about
        told = facts(stored.machine, _columns(stored))
        size = model.stat().st_size
        if as_json:
            why = {"proof": stored.machine.kernel_.proof().to_dict()} if proof else {}
            head = about | {"fit": told.to_dict(), "bytes": size, "versions": stored.versions}
            say(json.dumps(head | why, indent=1))
            return
        width = columns_of_terminal()
        versions = ", ".join(f"{name} {number}" for name, number in stored.versions.items())
        rest = [("model", f"{model} ({readable(size)})"), ("versions", versions)]
        rest += [("note", str(one.message)) for one in heard]
        say(summary(about if "columns" in about else {}, told, width=width))
        say(listed(rest, width=width))
        if proof:
            say(f"\n{stored.machine.kernel_.proof()}")


def _columns(stored: Stored) -> list[str]:
    """What the coordinates of the points are called."""
    if "columns" in stored.about:
        return [name for name, *_ in stored.about["columns"]]
    return [str(name) for name in getattr(stored.machine, "feature_names_in_", ())]
