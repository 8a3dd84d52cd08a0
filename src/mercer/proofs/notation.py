r"""The usual ways to write a formula, in LaTeX, Unicode or Python, brought to one.

A formula is cut into tokens, each with its place, and written down again as Python writes it:
`\min(x, x')` becomes `min(x,y)`, `|x - x'|^2` becomes `abs(x-y)**2`. Nothing is evaluated.

>>> print(plain(r"e^{-\|x - x'\|_1 / 2}").text)
e**(-norm(x-y,1)/2)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mercer.errors import InvalidFormula

LONGEST = 4_000
"""Characters of a formula that are read."""

DIGITS = 300
"""Digits of one number that are read."""

_TOKEN = re.compile(
    r"""(?P<skip>\s+|\\[,;:!>\ ]|\\q?quad\b|\\left\b|\\right\b|\\[Bb]igg?[lr]?\b|~)
    |\\(?:mathrm|operatorname|text|mathbf|mathit|mathsf)\s*\{\s*(?P<named>[A-Za-z]+)\s*\}
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+(?![\w.]))?)
    |(?P<word>\\?[^\W\d_][^\W_]*(?:_[^\W_]+)*|\\[|{}])
    |(?P<sign>\*\*|<=|>=|!=|==|[-+*/^@(),<>=|&\[\]{};'_]|.)""",
    re.VERBOSE,
)

_UNICODE = str.maketrans(
    {"−": "-", "–": "-", "·": "*", "×": "*", "∗": "*", "′": "'", "’": "'", "∥": "‖", "∣": "|"}
    | {"≤": "<=", "≥": ">=", "∩": "&", "∪": "|", "△": "∆", "Δ": "∆", "⊤": "ᵀ"}
)

_POWERS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", range(10), strict=True))

_WORDS = {
    r"\cdot": "*", r"\times": "*", r"\ast": "*", r"\cap": "&", r"\cup": "union",
    r"\triangle": "∆", r"\Delta": "∆", r"\ominus": "∆", r"\|": "‖", r"\Vert": "‖",
    r"\lVert": "‖", r"\rVert": "‖", r"\vert": "|", r"\lvert": "|", r"\rvert": "|",
    r"\mid": "|", r"\langle": "⟨", r"\rangle": "⟩", r"\{": "{", r"\}": "}", r"\le": "<=",
    r"\leq": "<=", r"\ge": ">=", r"\geq": ">=", r"\lt": "<", r"\gt": ">", r"\prime": "'",
    r"\infty": "inf", r"\ln": "log", "ln": "log", r"\arccos": "acos", r"\arcsin": "asin",
    "arccos": "acos", "arcsin": "asin", "π": "pi", "σ": "sigma", "λ": "lambda_",
    "lambda": "lambda_", "γ": "gamma", "α": "alpha", "β": "beta", "θ": "theta",
    "maximum": "max", "minimum": "min", "infinity": "inf", "exponential": "exp",
}  # fmt: skip

_QUIET = {"mathrm", "operatorname", "text", "mathbf", "mathit", "boldsymbol", "displaystyle"}

_ENDS = re.compile(r"[\w)\]'ᵀ]$")


@dataclass(frozen=True)
class Plain:
    """A formula as Python writes it, and the place in the original of each character."""

    text: str
    places: tuple[int, ...]


@dataclass
class _Token:
    text: str
    at: int


def refuse(message: str, formula: str, at: int) -> InvalidFormula:
    """An error that points at a column."""
    start = max(0, at - 40)
    shown = formula[start : at + 40].replace("\n", " ")
    shown = "".join(c if c.isprintable() else "?" for c in shown)
    return InvalidFormula(f"{message}, at column {at + 1}:\n  {shown}\n  {' ' * (at - start)}^")


def plain(formula: str) -> Plain:
    """A formula in Python's notation.

    Raises:
        InvalidFormula: It is too long, or holds a sign that means nothing here.
    """
    if len(formula) > LONGEST:
        raise InvalidFormula(
            f"the formula has {len(formula)} characters, and at most {LONGEST} are read.\n"
            "Break it up: sums and products of kernels are kernels."
        )
    tokens = _primes(list(_tokens(formula)))
    tokens = _braces(tokens, formula)
    tokens = _bars(tokens, formula)
    tokens = _transposed(tokens)
    return _written(tokens)


def _tokens(formula: str) -> Iterator[_Token]:
    text = formula.strip().strip("$")
    shift = formula.find(text) if text else 0
    for found in _TOKEN.finditer(text.translate({ord(k): v for k, v in _single().items()})):
        at, word = found.start() + shift, found.group()
        if found.lastgroup == "skip":
            continue
        word = found["named"] or word
        if found.lastgroup == "number" and len(word) > DIGITS:
            raise refuse(
                f"a number of {len(word)} digits; at most {DIGITS} are read", formula, at
            )
        yield from _translated(word, at, formula)


def _single() -> dict[str, str]:
    """The Unicode signs that one plain sign stands for."""
    return {chr(k): v for k, v in _UNICODE.items() if isinstance(v, str) and len(v) == 1}


def _translated(word: str, at: int, formula: str) -> Iterator[_Token]:
    if word in _POWERS:
        yield _Token("^", at)
        yield _Token(str(_POWERS[word]), at)
        return
    if word in "≤≥":
        word = "<=" if word == "≤" else ">="
    word = _WORDS.get(word, word)
    name = word.lstrip("\\")
    if name in _QUIET:
        return
    if name in ("GCD", "LCM", "MIN", "MAX", "EXP", "LOG"):
        name = name.lower()
    if len(name) > 1 and set(name) <= {"x", "y"}:  # xy is x times y
        yield from (_Token(letter, at + n) for n, letter in enumerate(name))
        return
    if name == "sqrt" or word == "√":
        name = "sqrt"
    if word.startswith("\\") and not name.isidentifier():
        raise refuse(f"the command {word} means nothing here", formula, at)
    if len(name) == 1 and not (name.isalnum() or name in "+-*/^@(),<>=|&[]{};'_‖⟨⟩∆ᵀ√"):
        raise refuse(f"the sign {name!r} means nothing here", formula, at)
    yield _Token(name, at)


def _primes(tokens: list[_Token]) -> list[_Token]:
    """X' is y; where y stands as well, the prime transposes instead."""
    has_y = any(token.text in ("y", "Ay", "xy") for token in tokens)
    out: list[_Token] = []
    for token in tokens:
        before = out[-1].text if out else ""
        if token.text in ("top", "T", "ᵀ") and before in ("^", "x", "y", ")", "{"):
            if before == "{" and len(out) > 1 and out[-2].text == "^":
                out.pop()
            if out[-1].text == "^":
                out.pop()
            out.append(_Token("ᵀ", token.at))
        elif token.text == "}" and before == "ᵀ":
            continue
        elif token.text == "'" and before == "x":
            if has_y:
                out.append(_Token("ᵀ", token.at))
            else:
                out[-1] = _Token("y", out[-1].at)
        elif token.text == "'" and before == "^":
            out.pop()
            out[-1] = _Token("y", out[-1].at)
        else:
            out.append(token)
    return out


def _braces(tokens: list[_Token], formula: str) -> list[_Token]:
    r"""`\frac{a}{b}` and braces as brackets."""
    out: list[_Token] = []
    ends: list[str] = []
    n = 0
    while n < len(tokens):
        token = tokens[n]
        if token.text in ("frac", "dfrac", "tfrac"):
            first, after = _group(tokens, n + 1, formula)
            second, n = _group(tokens, after, formula)
            for part, sign in ((first, "/"), (second, "")):
                inner = _braces(part, formula)
                out += [_Token("(", token.at), *inner, _Token(")", token.at)]
                out += [_Token(sign, token.at)] if sign else []
            continue
        if token.text == "{":
            ends.append("}")
            out.append(_Token("(", token.at))
        elif token.text == "}":
            if not ends:
                raise refuse("a brace closes that was never opened", formula, token.at)
            ends.pop()
            out.append(_Token(")", token.at))
        else:
            out.append(token)
        n += 1
    if ends:
        raise refuse("a brace is never closed", formula, len(formula) - 1)
    return out


def _group(tokens: list[_Token], n: int, formula: str) -> tuple[list[_Token], int]:
    """The tokens within the braces that open at n, and where to go on."""
    if n >= len(tokens):
        raise refuse(r"\frac needs {a}{b}", formula, len(formula) - 1)
    if tokens[n].text != "{":
        return [tokens[n]], n + 1
    depth = 0
    for end in range(n, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[end].text, 0)
        if depth == 0:
            return tokens[n + 1 : end], end + 1
    raise refuse("a brace is never closed", formula, tokens[n].at)


def _bars(tokens: list[_Token], formula: str) -> list[_Token]:
    """|a| as abs(a), ‖a‖ as norm(a), ‖a‖_1 as norm(a, 1), ⟨a, b⟩ as dot(a, b)."""
    out: list[_Token] = []
    opened: list[str] = []
    n = 0
    while n < len(tokens):
        token = tokens[n]
        text = token.text
        operand = bool(out) and bool(_ENDS.search(out[-1].text)) and out[-1].text not in _NAMES
        if text in "|‖" and text and not operand:
            out += [_Token("abs" if text == "|" else "norm", token.at), _Token("(", token.at)]
            opened.append(text)
        elif text in "|‖" and text and opened and opened[-1] == text:
            opened.pop()
            if n + 1 < len(tokens) and tokens[n + 1].text == "_":
                order, n = _order(tokens, n + 2, formula)
                out[_opening(out)] = _Token("norm", token.at)
                out += [_Token(",", token.at), *order]
                n -= 1
            out.append(_Token(")", token.at))
        elif text == "⟨":
            out += [_Token("dot", token.at), _Token("(", token.at)]
        elif text == "⟩":
            out.append(_Token(")", token.at))
        else:
            if text in ("(", "["):
                opened.append(text)
            elif text in (")", "]") and opened and opened[-1] in ("(", "["):
                opened.pop()
            out.append(token)
        n += 1
    if any(mark in "|‖" for mark in opened):
        raise refuse("a bar is never closed", formula, len(formula) - 1)
    return out


_NAMES = {"exp", "log", "cos", "sin", "min", "max", "gcd", "lcm", "sqrt", "abs", "len", "where"}


def _order(tokens: list[_Token], n: int, formula: str) -> tuple[list[_Token], int]:
    """The p below a norm: one token, or what stands in brackets."""
    if n < len(tokens) and tokens[n].text == "(":
        end = next((m for m in range(n, len(tokens)) if tokens[m].text == ")"), len(tokens))
        return tokens[n + 1 : end], end + 1
    if n >= len(tokens):
        raise refuse("an index is missing", formula, len(formula) - 1)
    return [tokens[n]], n + 1


def _opening(out: list[_Token]) -> int:
    """Where the name of the bracket stands that is open last."""
    depth = 0
    for n in range(len(out) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(out[n].text, 0)
        if depth < 0:
            return n - 1
    return 0


def _transposed(tokens: list[_Token]) -> list[_Token]:
    """X' y as dot(x, y), x' A y as dot(x, A, y)."""
    out: list[_Token] = []
    n = 0
    while n < len(tokens):
        token = tokens[n]
        if n + 1 < len(tokens) and tokens[n + 1].text == "ᵀ":
            rest = [t.text for t in tokens[n + 2 : n + 4]]
            at = token.at
            if rest and re.fullmatch(r"[A-Z][xy]", rest[0]):
                words, used = ["dot", "(", token.text, ",", rest[0][0], ",", rest[0][1], ")"], 3
            elif len(rest) == 2 and re.fullmatch("[A-Z]", rest[0]) and rest[1] in ("x", "y"):
                words, used = ["dot", "(", token.text, ",", rest[0], ",", rest[1], ")"], 4
            elif rest and rest[0] in ("x", "y"):
                words, used = ["dot", "(", token.text, ",", rest[0], ")"], 3
            else:
                words, used = [token.text, "@"], 2
            out += [_Token(word, at) for word in words]
            n += used
            continue
        out.append(token)
        n += 1
    return out


def _written(tokens: list[_Token]) -> Plain:
    """The tokens as text, with the products that are understood."""
    text, places = "", []
    previous = ""
    for token in tokens:
        word = token.text
        if _touch(previous, word):
            text += "*"
            places.append(token.at)
        shown = {"∆": "^", "union": "|"}.get(word, word)
        spaced = f" {shown} " if shown in _SPACED else shown
        text += spaced
        places += [token.at] * len(spaced)
        previous = word
    return Plain(text, tuple(places))


_SPACED = {"where", "and", "in", "natural", "psd", "whole", "for", "with"}


def _touch(before: str, after: str) -> bool:
    """Whether a product is understood between two neighbours."""
    left = before in ("x", "y", ")", "pi", "e") or (before[:1].isdigit() or before[:1] == ".")
    number = before[:1].isdigit() or before[:1] == "."
    right = after == "(" or after[:1].isalpha() or after[:1].isdigit()
    if after in _SPACED or before in _SPACED or after == "union":
        return False
    return left and right and not (number and after[:1].isdigit())
