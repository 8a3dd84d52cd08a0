r"""The usual ways to write a formula, in LaTeX, Unicode or Python, brought to one.

A formula is cut into tokens, each with its place, and written down again as Python writes it:
`\min(x, x')` becomes `min(x,y)`, `|x - x'|^2` becomes `abs(x-y)**2`. Nothing is evaluated.

>>> print(plain(r"e^{-\|x - x'\|_1 / 2}").text)
e**(-norm(x-y,1)/2)
>>> print(plain(r"k(x, z) = (x^\top z)^2 / 2\sigma^2", names=("sigma",)).text)
(dot(x,y))**2/(2*sigma**2)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from mercer.errors import InvalidFormula
from mercer.proofs.points import named
from mercer.proofs.signs import CUTS, Token, refuse, tokens
from mercer.proofs.trees import FUNCTIONS

DEEPEST = 80
"""Levels of brackets and operations that are read."""

_CLOSERS = {"(": ")", "[": "]", "{": "}", "⟨": "⟩"}

_CONSTANTS = {"pi", "e", "inf"}

_OPERATORS = {"+", "-", "*", "/", "@", "&", "union", "∆", ",", "<", ">", "<=", ">=", "==", "!="}

_SHOWN = {"union": " | ", "|": " | ", "∆": " ^ ", "^": " ^ ", "&": " & "}

_ON_SETS = {" & ", " | ", " ^ ", "(", ")", "x", "y"}

Pieces = list[tuple[str, int]]
"""Text, each piece with its place in the original."""


@dataclass(frozen=True)
class Plain:
    """A formula as Python writes it, and the place in the original of each character."""

    text: str
    places: tuple[int, ...]


@dataclass(frozen=True)
class _Factor:
    """One of the factors that stand side by side.

    Attributes:
        pieces: The factor as Python writes it.
        at: Where it begins.
        kind: "number", "name", "matrix" or "" for all else.
        glued: Whether it follows what is before it without a space.
        turned: Whether it is transposed.
        raised: Whether it is a power.
    """

    pieces: Pieces
    at: int
    kind: str = ""
    glued: bool = True
    turned: bool = False
    raised: bool = False

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.pieces)


def parted(formula: str) -> tuple[list[Token], str]:
    """The tokens of a formula, and the text after it, which says what is known.

    Raises:
        InvalidFormula: A sign means nothing here.
    """
    found: list[Token] = []
    depth = 0
    for token in tokens(formula):
        if token.kind == "sign":
            depth += {"(": 1, "[": 1, "{": 1, "⟨": 1}.get(token.text, 0)
            depth -= {")": 1, "]": 1, "}": 1, "⟩": 1}.get(token.text, 0)
        says = token.text in CUTS
        if depth == 0 and (says or token.text in {",", ";"}):
            return found, formula[token.end :]
        operand = found and (found[-1].kind != "sign" or found[-1].text in _CLOSERS.values())
        if token.text == "<" and not operand:
            raise refuse(
                "this bracket is not read", formula, token.at,
                "Write the inner product as ⟨x, y⟩ or dot(x, y).",
            )  # fmt: skip
        if says:
            raise refuse(
                f"the word {token.text} stands within brackets", formula, token.at,
                "What is known of the parameters is said at the end.",
            )  # fmt: skip
        found.append(token)
    return found, ""


def plain(
    formula: str,
    names: Iterable[str] = (),
    matrices: Iterable[str] = (),
    *,
    sets: bool = False,
) -> Plain:
    """A formula in Python's notation.

    Args:
        formula: The formula as it was written.
        names: Its parameters.
        matrices: Which of them are matrices.
        sets: Whether its points are sets.

    Raises:
        InvalidFormula: A sign means nothing, a bracket is not closed, or a product may be
            understood in two ways.
    """
    known = frozenset(names) | frozenset(matrices)
    found = named(parted(formula)[0], formula, known)
    try:
        return _Writer(found, formula, known, frozenset(matrices), sets=sets).written()
    except InvalidFormula as error:
        # Two bars may be the bar of a norm, or one absolute value within another.
        if not any(token.text == "||" for token in found):
            raise
        try:
            apart = _apart(found)
            return _Writer(apart, formula, known, frozenset(matrices), sets=sets).written()
        except InvalidFormula:
            raise error from None


def _apart(found: list[Token]) -> list[Token]:
    out: list[Token] = []
    for token in found:
        if token.text == "||":
            out.append(replace(token, text="|", end=token.at + 1))
            out.append(replace(token, text="|", at=token.at + 1, glued=True))
        else:
            out.append(token)
    return out


class _Writer:
    """One walk over the tokens, which writes down what they mean."""

    def __init__(
        self,
        found: list[Token],
        formula: str,
        names: frozenset[str],
        matrices: frozenset[str],
        *,
        sets: bool,
    ) -> None:
        self.tokens, self.formula, self.sets = found, formula, sets
        self.names, self.matrices = names, matrices
        self.n = 0
        self.level = 0
        self.closing: list[frozenset[str]] = []

    def written(self) -> Plain:
        pieces = self.sequence(frozenset())
        if self.peek() is not None:
            raise self.unexpected()
        text = "".join(piece for piece, _ in pieces)
        return Plain(text, tuple(at for piece, at in pieces for _ in piece))

    # Tokens

    def peek(self, ahead: int = 0) -> Token | None:
        return self.tokens[self.n + ahead] if self.n + ahead < len(self.tokens) else None

    def sees(self, *texts: str, ahead: int = 0) -> bool:
        token = self.peek(ahead)
        return token is not None and token.kind == "sign" and token.text in texts

    def take(self) -> Token:
        token = self.peek()
        if token is None:
            raise self.ended()
        self.n += 1
        return token

    def ended(self) -> InvalidFormula:
        return refuse(
            "the formula ends too early", self.formula, max(len(self.formula) - 1, 0),
            "A number, x, y or a function is still to come.",
        )  # fmt: skip

    def unexpected(self) -> InvalidFormula:
        token = self.peek()
        if token is None:
            return self.ended()
        word = {"row": "\\\\", "space": "this", "∆": "the sign of a difference"}
        shown = word.get(token.text, token.text)
        if token.text in _CLOSERS.values():
            message, advice = f"{shown} closes what was never opened", "Remove it, or open it."
        elif token.text == "=":
            message = "an equation is no formula"
            advice = "Write the right-hand side, or k(x, y) = ... with both points."
        else:
            message = f"{shown} has nothing to act on"
            advice = "A number, x, y or a function is to stand before it."
        return refuse(message, self.formula, token.at, advice)

    def nothing(self) -> InvalidFormula:
        """A bracket that closes where an operand is to stand."""
        token = self.tokens[self.n]
        return refuse(
            f"nothing stands before {token.text.replace('row', '//')}", self.formula, token.at,
            "A number, x, y or a function is to stand there.",
        )  # fmt: skip

    def close(self, sign: str, opened: Token) -> None:
        if not self.sees(sign):
            token = self.peek()
            if token is not None and token.text not in _CLOSERS.values():
                raise self.unexpected()
            message = f"{opened.text} is never closed"
            raise refuse(message, self.formula, opened.at, f"Close it with {sign}.")
        self.n += 1

    # Sequences of operations

    def sequence(self, until: frozenset[str]) -> Pieces:
        """What stands between two brackets: operands with operations between them."""
        self.closing.append(until)
        out: Pieces = []
        operand = below = False
        while (token := self.peek()) is not None and not self.ends(operand=operand):
            if self.operates(out, operand=operand):
                if not operand and token.text not in ("+", "-"):
                    raise self.unexpected()
                self.n += 1
                out.append((_SHOWN.get(token.text, token.text), token.at))
                operand, below = False, token.text == "/"
            else:
                out += self.product(below=below)
                operand = True
        ends = self.sees(*self.closing.pop())
        if not operand and ends:
            raise self.nothing()
        if not operand:
            raise self.unexpected()
        return out

    def ends(self, *, operand: bool) -> bool:
        """Whether the next token closes this sequence. A bar does so only after an operand."""
        return self.sees(*self.closing[-1]) and (operand or not self.sees("|", "‖", "||"))

    def operates(self, before: Pieces, *, operand: bool) -> bool:
        """Whether the next token is an operation between two operands."""
        if self.sees(*_OPERATORS):
            return True
        return operand and self.sees("|", "^") and self.sets and _is_set(before)

    def product(self, *, below: bool) -> Pieces:
        """Factors side by side, which are multiplied; below a line they stay together."""
        factors = [self.factor()]
        while self.starts(factors[-1]):
            if self.sees("*", "@"):
                self.n += 1
            factors.append(self.factor())
            if factors[-1].kind == "number":
                raise self.ambiguous(factors[-1].at, "a number after a factor", "2*x or x**2")
        if self.sees("∧", "∨"):
            return self.lesser(factors)
        factors = self.paired(factors)
        if not below or len(factors) == 1:
            return _joined(factors)
        if not _is_run(factors):
            raise self.ambiguous(
                factors[1].at, "what stands below the line is not clear", "a/(b*c) or (a/b)*c"
            )
        return [("(", factors[0].at), *_joined(factors), (")", factors[-1].at)]

    def lesser(self, factors: list[_Factor]) -> Pieces:
        """The lesser of some, x ∧ y, or the larger, where no product stands beside it."""
        sign = self.tokens[self.n]
        first, alone = factors[0], len(factors) == 1 and not factors[0].turned
        before = next((n for n, token in enumerate(self.tokens) if token.at >= first.at), 0) - 1
        alone = alone and not (before >= 0 and self.tokens[before].text in {"*", "/", "@"})
        pieces = [("min(" if sign.text == "∧" else "max(", first.at), *first.pieces]
        last = first
        while self.sees(sign.text):
            at = self.take().at
            last = self.factor()
            alone = alone and not last.turned
            pieces += [(",", at), *last.pieces]
        if not alone or self.starts(last) or self.sees("∧", "∨", "*", "/", "@"):
            raise self.ambiguous(
                sign.at, f"what {sign.text} takes is not clear", "2*(x ∧ y) or (2*x) ∧ y"
            )
        return [*pieces, (")", last.at)]

    def ambiguous(self, at: int, message: str, ways: str) -> InvalidFormula:
        return refuse(message, self.formula, at, f"Say which of both is meant: {ways}.")

    def starts(self, last: _Factor) -> bool:
        """Whether the next token begins a factor, so that a product is understood."""
        token = self.peek()
        if token is None:
            return False
        if self.sees("*", "@"):
            return last.turned or (last.kind == "matrix" and self.n > 1)
        if token.kind != "sign":
            return True
        if self.sees("|", "‖", "||"):
            union = token.text == "|" and self.sets and _is_set(last.pieces)
            return not union and not self.sees(*self.closing[-1])
        return token.text in {"(", "[", "{", "⟨", "√", "frac", "begin"}

    def paired(self, factors: list[_Factor]) -> list[_Factor]:
        """Transposed factors with what they are multiplied by: x' y, or x' A y."""
        out: list[_Factor] = []
        rest = iter(factors)
        for first in rest:
            if not first.turned:
                out.append(first)
                continue
            parts = [first, next(rest, None)]
            if parts[1] is not None and parts[1].kind == "matrix":
                parts.append(next(rest, None))
            vectors = [part for part in parts if part is not None]
            if len(vectors) < len(parts) or vectors[-1].turned:
                raise refuse(
                    "nothing is multiplied by what is transposed", self.formula, first.at,
                    r"Write x^\top y, or x^\top A y, or dot(x, y).",
                )  # fmt: skip
            inner: Pieces = []
            for part in vectors:
                inner += [(",", part.at)] if inner else []
                inner += part.pieces
            pieces = [("dot(", first.at), *inner, (")", vectors[-1].at)]
            out.append(_Factor(pieces, first.at, "", first.glued))
        return out

    # Factors

    def factor(self, *, indexed: bool = True) -> _Factor:
        """An operand with its powers, and with its index, which belongs to what is raised."""
        base = self.operand()
        powers: list[Pieces] = []
        while True:
            token = self.peek()
            if token is None:
                break
            if self.is_turn():
                base = replace(base, turned=True)
            elif token.kind == "raised":
                self.n += 1
                powers.append([(f"({token.text})", token.at)])
            elif self.sees("_") and indexed:
                base = self.subscript(base)
            elif self.sees("**", "^"):
                if self.sees("^") and self.sets and _is_set(base.pieces):
                    break
                self.n += 1
                powers.append(self.exponent())
            else:
                break
        for power in powers:
            base = self.raised(base, power)
        return base

    def raised(self, base: _Factor, exponent: Pieces) -> _Factor:
        if base.turned:
            raise self.ambiguous(base.at, "a power of what is transposed", "(x'*y)**2")
        if base.raised:
            ways = "(x**2)**3 or x**(2**3)"
            raise self.ambiguous(exponent[0][1], "a power after a power", ways)
        if "".join(text for text, _ in exponent).strip("()").isdigit():
            exponent = [(text.strip("()"), at) for text, at in exponent]
        pieces = [*base.pieces, ("**", exponent[0][1]), *exponent]
        return replace(base, pieces=pieces, raised=True)

    def is_turn(self) -> bool:
        """Takes the sign of a transposed vector, if there is one."""
        if self.sees("'", "ᵀ"):
            self.n += 1
            return True
        if not self.sees("^"):
            return False
        ahead = 2 if self.sees("{", ahead=1) else 1
        token = self.peek(ahead)
        transposes = self.sees("ᵀ", "'", ahead=ahead) or (
            token is not None and token.text == "T" and "T" not in self.names
        )
        if not transposes or (ahead == 2 and not self.sees("}", ahead=3)):
            return False
        self.n += 2 * ahead
        return True

    def exponent(self) -> Pieces:
        signs: Pieces = []
        while self.sees("+", "-"):
            token = self.take()
            signs.append((token.text, token.at))
        first, after = self.peek(), self.peek(1)
        with self.deeper():
            power = self.factor(indexed=False)
        if power.turned:
            raise self.ambiguous(power.at, "an exponent that is transposed", "2**dot(x, y)")
        if first is not None and after is not None and self.runs_on(first, after):
            raise self.ambiguous(
                after.at, "where the exponent ends is not clear", "2**(x*y) or 2**x*y"
            )
        return signs + power.pieces

    def runs_on(self, first: Token, after: Token) -> bool:
        """Whether two letters follow each other in an exponent, as in 2^xy."""
        words = first.kind == after.kind == "name" and after.glued
        return words and not {first.text, after.text} & set(FUNCTIONS) and self.peek() is after

    def subscript(self, base: _Factor) -> _Factor:
        """An index: (a)_+ is the positive part of a; the space of an inner product is known."""
        sign = self.take()
        braced = self.sees("{")
        if self.sees("+", ahead=int(braced)):
            self.n += 1 + 2 * braced
            pieces = [("max(0,", base.at), *base.pieces, (")", sign.at)]
            return replace(base, pieces=pieces, kind="")
        if base.text.startswith(("dot(", "norm(")):
            if self.skips_space():
                return base
            if base.text.startswith("dot("):  # whatever its name, it is that of a space
                self.part(sign)
                return base
        raise refuse(
            "an index means nothing here", self.formula, sign.at,
            "Points have no coordinates here; a base of logarithms is written log(z)/log(2).",
        )  # fmt: skip

    def skips_space(self) -> bool:
        """Passes over the name of a space, as in ⟨x, y⟩ with an index R^d."""
        braced = self.sees("{")
        if not self.sees("space", ahead=int(braced)):
            return False
        self.n += 1
        while braced and not self.sees("}"):
            self.take()
        self.n += braced
        return True

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """One level further down: what is read within what, however it is written."""
        self.level += 1
        if self.level > DEEPEST:
            token = self.peek() or self.tokens[-1]
            raise refuse(
                f"more than {DEEPEST} operations within each other", self.formula, token.at,
                "Break the formula up: sums and products of kernels are kernels.",
            )  # fmt: skip
        yield
        self.level -= 1

    def operand(self) -> _Factor:
        with self.deeper():
            return self.atom()

    def atom(self) -> _Factor:
        """A number, a name, a function with its argument, or what stands in brackets."""
        token = self.take()
        at = token.at
        if token.kind == "number":
            text = f"({token.text})" if "/" in token.text else token.text
            return _Factor([(text, at)], at, "number", token.glued)
        if token.kind == "name":
            return self.name(token)
        match token.text:
            case "(" | "{" | "[":
                return self.bracket(token)
            case "|" | "‖" | "||":
                return self.bars(token)
            case "⟨":
                return self.inner(token)
            case "√":
                return self.root(token)
            case "frac":
                above, below = self.part(token), self.part(token)
                pieces = [("((", at), *above, (")/(", at), *below, ("))", at)]
                return _Factor(pieces, at, "", token.glued)
            case "begin":
                return self.matrix(token)
        self.n -= 1
        raise self.unexpected()

    def name(self, token: Token) -> _Factor:
        at, text = token.at, token.text
        known = text in self.names or text in {"x", "y"} | _CONSTANTS
        if text in FUNCTIONS and text not in self.names:
            return self.function(token)
        follows = self.peek()
        if follows is not None and follows.glued and self.is_index(text, known=known):
            raise refuse(
                "an index means nothing here", self.formula, follows.at,
                "Points have no coordinates here: dot(x, y) and norm(x - y) are numbers.",
            )  # fmt: skip
        if not known and self.sees("(", "["):
            # No function has this name: the reader says which one may have been meant.
            inner = self.bracket(self.take(), call=True)
            return _Factor([(text, at), *inner.pieces], at, "", token.glued)
        kind = (
            "matrix" if text in self.matrices or _may_be_matrix(text, known=known) else "name"
        )
        return _Factor([(text, at)], at, kind, token.glued)

    def is_index(self, text: str, *, known: bool) -> bool:
        """Whether x[0] or x(2) follows: a number in brackets right after a point."""
        if self.sees("["):
            return known
        token = self.peek(1)
        number = token is not None and token.kind == "number" and self.sees(")", ahead=2)
        return text in ("x", "y") and self.sees("(") and number

    def bracket(self, opened: Token, *, call: bool = False) -> _Factor:
        """What stands in brackets; a list of lists is a matrix."""
        if opened.text == "[" and self.sees("[") and not call:
            return self.rows(opened)
        sign = _CLOSERS[opened.text]
        if call and self.sees(sign):
            self.n += 1
            return _Factor([("()", opened.at)], opened.at)
        inner = self.sequence(frozenset({sign}))
        self.close(sign, opened)
        pieces = [("(", opened.at), *inner, (")", self.tokens[self.n - 1].at)]
        return _Factor(pieces, opened.at, "", opened.glued)

    def rows(self, opened: Token) -> _Factor:
        pieces: Pieces = [("[", opened.at)]
        while True:
            row = self.take()
            if row.text != "[":
                self.n -= 1
                raise self.unexpected()
            pieces += [("[", row.at), *self.sequence(frozenset("]"))]
            self.close("]", row)
            pieces.append(("]", row.at))
            if not self.sees(","):
                break
            pieces.append((",", self.take().at))
        self.close("]", opened)
        return _Factor([*pieces, ("]", opened.at)], opened.at, "matrix", opened.glued)

    def matrix(self, opened: Token) -> _Factor:
        r"""The entries of `\begin{pmatrix}`."""
        pieces: Pieces = [("[[", opened.at)]
        while True:
            pieces += self.sequence(frozenset({"&", "row", "end"}))
            if self.peek() is None:
                raise refuse("the matrix never ends", self.formula, opened.at)
            token = self.take()
            if token.text == "end":
                break
            pieces.append(("," if token.text == "&" else "],[", token.at))
        return _Factor([*pieces, ("]]", opened.at)], opened.at, "matrix", opened.glued)

    def bars(self, opened: Token) -> _Factor:
        """|a| as abs(a), ‖a‖ as norm(a), ‖a‖_1 as norm(a, 1), with powers on either side."""
        inner = self.sequence(frozenset({opened.text}))
        self.close(opened.text, opened)
        order: Pieces = []
        power: Pieces = []
        name = "abs(" if opened.text == "|" else "norm("
        while True:
            if self.sees("_") and not order:
                self.n += 1
                if not self.skips_space():
                    order = self.part(opened)
                    name = "norm("
            elif self.sees("^", "**") and not power:
                self.n += 1
                power = self.exponent()
            else:
                break
        end = self.tokens[self.n - 1].at
        comma: Pieces = [(",", end)] if order else []
        pieces = [(name, opened.at), *inner, *comma, *order, (")", end)]
        found = _Factor(pieces, opened.at, "", opened.glued)
        return self.raised(found, power) if power else found

    def inner(self, opened: Token) -> _Factor:
        """⟨a, b⟩ as dot(a, b)."""
        first = self.sequence(frozenset({",", "|", "⟩"}))
        if not self.sees(",", "|"):
            raise refuse("an inner product is of two", self.formula, opened.at, "Write ⟨x, y⟩.")
        comma = self.take()
        second_ = self.sequence(frozenset("⟩"))
        self.close("⟩", opened)
        pieces = [("dot(", opened.at), *first, (",", comma.at), *second_, (")", comma.at)]
        return _Factor(pieces, opened.at, "", opened.glued)

    def root(self, sign: Token) -> _Factor:
        degree: Pieces = []
        if self.sees("["):
            opened = self.take()
            degree = self.sequence(frozenset("]"))
            self.close("]", opened)
        argument = self.part(sign)
        at = sign.at
        word = self.tokens[self.n - 1].kind != "sign"
        if self.formula[at] == "√" and word and self.goes_on(glued=True):
            raise self.ambiguous(
                self.tokens[self.n].at, "where the root ends is not clear", "√(xy) or √x*y"
            )
        if not degree:
            return _Factor([("sqrt(", at), *argument, (")", at)], at, "", sign.glued)
        pieces = [("(", at), *argument, (")**(1/(", at), *degree, ("))", at)]
        return _Factor(pieces, at, "", sign.glued)

    def part(self, sign: Token) -> Pieces:
        r"""What \frac, \sqrt or an index acts on: a group, or one operand."""
        if self.sees("{", "("):
            return self.bracket(self.take()).pieces[1:-1]
        token = self.peek()
        if token is None:
            raise refuse("something is missing", self.formula, sign.at, "Write it in braces.")
        one = len(token.text) > 1 and token.text[1:].isdigit() and token.text[0].isalnum()
        if sign.text == "frac" and (token.text.isdigit() or one):
            return self.digit(token)
        return self.operand().pieces

    def digit(self, token: Token) -> Pieces:
        r"""The first sign of a word: \frac12 is a half, and \frac x2 is half of x."""
        if len(token.text) == 1:
            self.n += 1
        else:
            rest = replace(token, kind="number", text=token.text[1:], at=token.at + 1)
            self.tokens[self.n] = rest
        return [(token.text[0], token.at)]

    def function(self, token: Token) -> _Factor:
        """A function with its argument, which may stand without brackets."""
        power: Pieces = []
        if self.sees("_"):
            raise refuse(
                f"{token.text} takes no index", self.formula, token.at,
                "A base of logarithms is written log(z)/log(2).",
            )  # fmt: skip
        if self.sees("^", "**"):
            self.n += 1
            power = self.exponent()
        elif (raised := self.peek()) is not None and raised.kind == "raised":
            self.n += 1
            power = [(f"({raised.text})", raised.at)]
        if any(text.startswith(("-", "(-")) for text, _ in power[:2]):
            raise self.ambiguous(
                token.at, "an inverse, or a negative power", f"a{token.text}(x) or 1/cos(x)"
            )
        argument = self.argument(token)
        pieces = [(token.text, token.at), *argument]
        found = _Factor(pieces, token.at, "", token.glued)
        return self.raised(found, power) if power else found

    def argument(self, token: Token) -> Pieces:
        if self.sees("(", "[", "{"):
            return self.bracket(self.take(), call=True).pieces
        first = self.peek()
        if first is None or not self.starts(_Factor([], token.at)):
            raise refuse(
                f"{token.text} is a function", self.formula, token.at,
                f"Say of what: {token.text}(...).",
            )  # fmt: skip
        factors = [self.factor()]
        while first.kind in ("name", "number") and self.goes_on():
            factors.append(self.factor())
        bare = first.kind in ("name", "number") and first.text not in FUNCTIONS
        if bare and self.sees("(", "[", "{", "|", "‖", "||", "⟨") and self.starts(factors[-1]):
            name, at = token.text, self.tokens[self.n].at
            raise self.ambiguous(
                at,
                f"the argument of {name} is not clear",
                f"{name}(2*(x-y)) or {name}(2)*(x-y)",
            )
        pieces = _joined(self.paired(factors))
        return [("(", token.at), *pieces, (")", token.at)]

    def goes_on(self, *, glued: bool = False) -> bool:
        """Whether a name follows that belongs to an argument without brackets: cos 2x."""
        token = self.peek()
        if token is None or token.kind != "name" or token.text in FUNCTIONS:
            return False
        return token.glued or not glued


def _joined(factors: list[_Factor]) -> Pieces:
    pieces: Pieces = []
    for factor in factors:
        pieces += [("*", factor.at)] if pieces else []
        pieces += factor.pieces
    return pieces


def _is_run(factors: list[_Factor]) -> bool:
    """Whether factors are written as one word: 2s², or xy."""
    return all(part.glued and part.kind == "name" for part in factors[1:]) and (
        factors[0].kind in ("number", "name")
    )


def _is_set(pieces: Pieces) -> bool:
    """Whether the last operand is made of sets."""
    words = {text for text, _ in pieces}
    return words <= _ON_SETS and bool(words & {"x", "y"})


def _may_be_matrix(text: str, *, known: bool) -> bool:
    return not known and len(text) == 1 and text.isupper()
