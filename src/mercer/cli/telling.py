"""What the commands share: errors as messages, and a bar while the work goes on."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from mercer.cli.check import say
from mercer.errors import MercerError

FAILED, STOPPED = 1, 130
"""Exit codes: of a deliberate error, and of Ctrl-C."""


@contextmanager
def failures(*, as_json: bool) -> Iterator[None]:
    """A deliberate error is a message and an exit code, not a traceback."""
    try:
        yield
    except KeyboardInterrupt:
        say("mercer: stopped; no file was written.", err=True)
        raise typer.Exit(STOPPED) from None
    except (MercerError, MemoryError) as error:
        reason = str(error)
        if not isinstance(error, MercerError):
            reason = f"the memory does not suffice ({error}).\nAllow less: --memory '1 GB'."
        if as_json:
            say(json.dumps({"error": reason}, indent=1))
        say(f"mercer: {reason}", err=True)
        raise typer.Exit(FAILED) from None


class Steps:
    """A bar on the terminal, a step at a time; nothing where nobody looks."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        console = Console(stderr=True)
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=quiet or not sys.stderr.isatty(),
        )
        self._task = self._bar.add_task("", total=total)
        self._begun = False

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def next(self, words: str) -> None:
        """The step before is done, and this one begins."""
        self._bar.update(self._task, description=words, advance=int(self._begun))
        self._begun = True
