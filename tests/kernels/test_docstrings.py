"""Every kernel says what it is, why it is one, and what its parameters mean; and the tables of
terms, rules and texts know it.
"""

import inspect
import re
from dataclasses import dataclass, fields

import pytest

import mercer as mc
import mercer.kernels
from mercer.kernels.rules import RULES
from mercer.kernels.terms import FIELDS
from mercer.kernels.text import LATER, LEAVES
from mercer.proofs import FormulaProof

EVERY_RULE = (*RULES.values(), *FormulaProof.table.values())


def kernels():
    for module in (mc, mercer.kernels):
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isclass(found) and issubclass(found, mc.Kernel):
                yield found


KERNELS = sorted({*kernels()} - {mc.Kernel}, key=lambda kernel: kernel.__name__)
SECTION = re.compile(r"^(Args|Example|Attributes|Raises|Returns):$", re.MULTILINE)


def flaws(kernel):
    """What the docstring of a kernel lacks."""
    text = inspect.cleandoc(vars(kernel).get("__doc__") or "")
    if not text or text.startswith(f"{kernel.__name__}("):  # what a dataclass writes itself
        yield "a docstring of its own"
        return
    if not re.search(r"^Why it is a kernel \([^)]+\): \S", text, re.MULTILINE):
        yield "a paragraph 'Why it is a kernel (the theorem): ...'"
    parts = dict(zip(*[iter(SECTION.split(text)[1:])] * 2, strict=True))
    told = re.findall(r"^    (\w+): \S", parts.get("Args", ""), re.MULTILINE)
    wanted = [field.name for field in fields(kernel)]
    if told != wanted:
        yield f"Args for the fields {wanted}, in their order; it has {told}"
    if ">>>" not in parts.get("Example", ""):
        yield "an Example that runs"


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_says_what_it_is_and_why_it_is_one(kernel):
    assert not list(flaws(kernel))


def test_there_are_kernels_to_look_at():
    assert {mc.Gaussian, mc.Sum, mc.Column, mc.FeatureKernel} <= set(KERNELS)


class Bare(mc.Kernel):
    pass


@dataclass(frozen=True)
class Silent(mc.Kernel):
    """A kernel that does not say why."""

    scale: float = 1.0


def test_what_is_missing_is_found():
    assert list(flaws(Bare)) == ["a docstring of its own"]
    assert len(list(flaws(Silent))) == 3  # why, its field, an example


def field_names(kernel):
    """The fields of a class, as terms call them."""
    names = [field.name for field in fields(kernel)]
    if kernel is not mc.FormulaKernel:
        return names
    # Every kernel has a method `text` and a property `domain`.
    return [{"expression": "text", "where": "domain"}.get(name, name) for name in names]


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_tables_know_the_word_of_a_kernel(kernel):
    assert any(kernel.word in rule.cases for rule in EVERY_RULE)
    names = field_names(kernel)
    told = [name for name, _ in FIELDS[kernel.word]]
    parts = [name for name in names if name in {"left", "right", "kernel"}]
    if kernel in {mc.FeatureKernel, mc.FunctionKernel}:  # how to call a function proves nothing
        assert told == names[:1]
    else:
        assert sorted([*told, *parts]) == sorted(names)


def without_a_name():
    """Rules, whose text is not that of a leaf, and code, which has none."""
    combined = {mc.Sum, mc.Product, mc.Scaled, mc.Power, mc.Exp, mc.Series, mc.Normalized}
    return combined | {
        mc.Weighted, mc.Pullback, mc.Column, mc.Filled, mc.Schoenberg, mc.FeatureKernel,
        mc.FunctionKernel,
    }  # fmt: skip


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k not in without_a_name()])
def test_a_named_kernel_has_a_text_and_a_proof_and_a_formula(kernel):
    assert (LEAVES | LATER)[kernel.word] is kernel
    # Every named kernel has defaults, but a formula has to be told.
    k = kernel("exp(x*y)") if kernel is mc.FormulaKernel else kernel()
    assert mc.kernel(str(k)) == k
    k.proof().check()
    assert k.term().latex()
    assert dict(k.term().parameters).keys() == set(field_names(kernel))
