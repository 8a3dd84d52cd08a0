"""What a check says: which laws hold, which were skipped and why, and which is broken."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mercer.errors import MercerError


class BrokenLaw(MercerError, AssertionError):
    """A kernel breaks a law that every kernel keeps, or a machine one of machines."""


class NotApplicable(Exception):
    """A law says nothing of this kernel; the reason is the message."""


@dataclass(frozen=True)
class Outcome:
    """One law on one kernel.

    Attributes:
        law: The law in words.
        skipped: Why it was skipped; empty if it was checked, and held.
    """

    law: str
    skipped: str = ""


@dataclass(frozen=True)
class Report:
    """The laws that a kernel or a machine was held against, all of which it keeps. Print it.

    Attributes:
        kernel: The kernel or the machine, as text.
        points: The number of points.
        error: The relative error that was allowed: |computed - k(x, y)| is at most this times
            sqrt(k(x, x) k(y, y)).
        outcomes: What became of each law.
    """

    kernel: str
    points: int
    error: float
    outcomes: tuple[Outcome, ...]

    @property
    def checked(self) -> tuple[str, ...]:
        """The laws that were checked, and hold."""
        return tuple(outcome.law for outcome in self.outcomes if not outcome.skipped)

    @property
    def skipped(self) -> dict[str, str]:
        """The laws that were skipped, each with the reason."""
        return {outcome.law: outcome.skipped for outcome in self.outcomes if outcome.skipped}

    def __str__(self) -> str:
        head = f"{self.kernel} keeps {len(self.checked)} laws on {self.points} points"
        lines = [f"{head}, up to a relative error of {self.error:.1e}:"]
        lines += [f"  {law}" for law in self.checked]
        for law, reason in self.skipped.items():
            short = textwrap.shorten(reason, 300)
            lines += textwrap.wrap(
                f"skipped: {law}: {short}", 94, initial_indent="  ", subsequent_indent="    "
            )
        return "\n".join(lines)


def held_to(
    laws: Mapping[str, Callable[[Any], None]], case: Any, subject: Any
) -> tuple[Outcome, ...]:
    """What becomes of each law on a case.

    Raises:
        BrokenLaw: One is broken, or its check raised another error.
    """
    outcomes = []
    for name, law in laws.items():
        try:
            law(case)
            outcomes.append(Outcome(name))
        except NotApplicable as reason:
            outcomes.append(Outcome(name, str(reason)))
        except BrokenLaw as broken:
            raise BrokenLaw(f"{subject} breaks a law: {name}.\n{broken}") from None
        except Exception as failure:
            said = f"{type(failure).__name__}: {failure}"
            raise BrokenLaw(f"{subject} breaks a law: {name}.\nThis raised {said}") from failure
    return tuple(outcomes)
