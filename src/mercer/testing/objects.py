"""The laws of kernels as Python values, and of the proofs that they carry."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, fields
from types import MappingProxyType
from typing import Any

from mercer.errors import InvalidProof, NoTextForm
from mercer.kernels import Kernel, Proof
from mercer.kernels import kernel as read
from mercer.testing.case import Case
from mercer.testing.report import BrokenLaw, NotApplicable
from mercer.testing.rounding import parts


def _proof(case: Case) -> None:
    kernel = case.kernel
    tree = kernel.proof()
    if not isinstance(tree, Proof):
        raise BrokenLaw(f"k.proof() must be a Proof, and is a {type(tree).__name__}.")
    if tree.claim != kernel.term() or tree.property != "pd":
        raise BrokenLaw(
            f"the proof is about {tree.claim} ({tree.property}), not about {kernel}."
        )
    try:
        tree.check()
    except InvalidProof as error:
        raise BrokenLaw(f"the proof does not hold: {error}") from None


def _text_form(case: Case) -> None:
    kernel = case.kernel
    if kernel.term().has_code:
        raise NotApplicable("it holds user code, which has no text form")
    strangers = [
        part
        for part, _ in parts(kernel, case.points)
        if not type(part).__module__.startswith("mercer.")
    ]
    if strangers:
        raise NotApplicable(f"{type(strangers[0]).__name__} is not a kernel of mercer's own")
    try:
        text = kernel.text()
    except NoTextForm as reason:
        raise NotApplicable(str(reason)) from None
    for said in (str(kernel), text):
        again = read(said)
        if again != kernel:
            raise BrokenLaw(f"the text {said!r} is read back as {again!r}, not {kernel!r}.")


def _pasted(case: Case) -> None:
    kernel = case.kernel
    if kernel.term().has_code:
        raise NotApplicable("it holds user code, which has no repr that can be pasted")
    names = {type(part).__name__: type(part) for part, _ in parts(kernel, case.points)}
    again = eval(repr(kernel), {"__builtins__": {}}, names)  # noqa: S307 - its own repr
    if again != kernel:
        raise BrokenLaw(f"pasting repr(k), {kernel!r}, makes another kernel.")


def _pickled(case: Case) -> None:
    kernel = case.kernel
    try:
        data = pickle.dumps(kernel)
    except Exception as error:
        if kernel.term().has_code:
            raise NotApplicable(f"its function cannot be pickled ({error})") from None
        raise BrokenLaw(f"the kernel cannot be pickled: {error}") from error
    again = pickle.loads(data)  # noqa: S301 - made by the lines above
    _same_value(again, kernel, "what comes out of a pickle")


def _copied(case: Case) -> None:
    if (
        copy.deepcopy(case.kernel) is not case.kernel
        or copy.copy(case.kernel) is not case.kernel
    ):
        raise BrokenLaw("a kernel is immutable, so copy and deepcopy return the kernel itself.")


def _immutable(case: Case) -> None:
    for name in [*(field.name for field in fields(case.kernel)), "a_new_name"]:
        before = getattr(case.kernel, name, None)
        try:
            setattr(case.kernel, name, before)
        except FrozenInstanceError:
            continue
        raise BrokenLaw(f"k.{name} can be set: write @dataclass(frozen=True) above the class.")


def _equality(case: Case) -> None:
    kernel: Any = case.kernel
    if kernel in (0, str(kernel)) or kernel != kernel:  # noqa: PLR0124 - that is the law
        raise BrokenLaw("a kernel equals itself, and no number and no text.")
    if 2 * kernel == kernel or hash(2 * kernel) != hash(2 * kernel):
        raise BrokenLaw("2 * k is another kernel than k, and equal kernels have equal hashes.")


def _replaced(case: Case) -> None:
    kernel = case.kernel
    _same_value(kernel.replace(**kernel.parameters()), kernel, "k.replace(**k.parameters())")


def _same_value(again: Any, kernel: Kernel, what: str) -> None:
    if type(again) is not type(kernel) or again != kernel:
        raise BrokenLaw(f"{what} is {again!r}, not {kernel!r}.")
    if hash(again) != hash(kernel):
        raise BrokenLaw(f"{what} is equal to the kernel and has another hash.")


OBJECTS: Mapping[str, Callable[[Case], None]] = MappingProxyType(
    {
        "the proof is there and holds": _proof,
        "mercer.kernel(str(k)) == k": _text_form,
        "repr(k) can be pasted": _pasted,
        "k can be pickled": _pickled,
        "k is its own copy": _copied,
        "k is immutable": _immutable,
        "k is equal and hashed by value": _equality,
        "k.replace(**k.parameters()) == k": _replaced,
    }
)
"""Each law in words, and its check."""
