"""What a machine is and what it has learned, as facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mercer.kernels import Kernel, Proof
from mercer.machines.base import KernelMachine
from mercer.reports.words import in_words


@dataclass(frozen=True)
class Facts:
    """The facts of a fitted machine.

    Attributes:
        machine: Its name.
        kernel: The text of the kernel.
        words: The kernel in words.
        proof: "proved" or "assumed".
        steps: How many steps the proof has.
        penalty: The penalty.
        anchors: How many points the function is a sum over.
        norm: The norm of the function, a number for each if there are several.
        plan: What was chosen to compute it, and why.
        solution: The evidence that the equations are solved.
        classes: The labels of a classifier.
    """

    machine: str
    kernel: str
    words: str
    proof: str
    steps: int
    penalty: float | None
    anchors: int | None
    norm: Any
    plan: str
    solution: str
    classes: tuple[Any, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain data."""
        return asdict(self) | {"classes": list(self.classes)}

    def proof_in_words(self) -> str:
        """Whether the kernel is one, and who says so."""
        if self.proof == "assumed":
            return "assumed: it holds code that nobody proved"
        return f"proved: {self.steps} step{'s'[: self.steps - 1]}, each checked"


def facts(machine: KernelMachine, columns: Sequence[str] = ()) -> Facts:
    """The facts of a fitted machine.

    Args:
        machine: The machine.
        columns: What the coordinates of its points are called, if they have names.

    Example:
        >>> import mercer as mc
        >>> model = mc.KernelRidge("gaussian(2.0)", 0.1).fit([[0.0], [1.0]], [0.0, 1.0])
        >>> facts(model).proof_in_words()
        'proved: 1 step, each checked'
    """
    kernel: Kernel = machine.kernel_
    proof = kernel.proof()
    proof.check()
    function = getattr(machine, "function_", None)
    penalty = getattr(machine, "penalty_", None)
    norm = None if function is None else np.asarray(function.norm()).tolist()
    return Facts(
        machine=type(machine).__name__,
        kernel=str(kernel),
        words=in_words(kernel, columns),
        proof="assumed" if proof.is_assumed else "proved",
        steps=count_steps(proof),
        penalty=None if penalty is None else float(penalty),
        anchors=None if function is None else len(function.anchors),
        norm=norm,
        plan=str(getattr(machine, "plan_", "")),
        solution=str(getattr(machine, "solution_", "")),
        classes=tuple(np.asarray(getattr(machine, "classes_", ())).tolist()),
    )


def count_steps(proof: Proof) -> int:
    """The steps of a proof: its own, and those of its premises."""
    return 1 + sum(map(count_steps, proof.premises))
