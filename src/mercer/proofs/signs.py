r"""The signs of a formula: what LaTeX, Unicode and a keyboard write, cut into tokens.

>>> [token.text for token in tokens(r"2^{|A \cap B|}")]
['2', '^', '{', '|', 'A', '&', 'B', '|', '}']
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from keyword import iskeyword

from mercer.errors import InvalidFormula

LONGEST = 4_000
"""Characters of a formula that are read."""

DIGITS = 300
"""Digits of one number that are read."""

CUTS = frozenset({"where", "with", "for", "if"})
"""Words after which it is said what is known."""

GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ϵ": "epsilon",
    "ζ": "zeta", "η": "eta", "θ": "theta", "κ": "kappa", "λ": "lambda_", "μ": "mu", "µ": "mu",
    "ν": "nu", "ξ": "xi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "ϕ": "phi",
    "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Λ": "Lambda", "Σ": "Sigma",
    "Ω": "Omega", "π": "pi", "ℓ": "ell",
}  # fmt: skip
"""Letters that name parameters, and how Python spells them."""

_SIGNS = {
    "−": "-", "–": "-", "‐": "-", "·": "*", "⋅": "*", "∙": "*", "×": "*", "∗": "*",
    "\u2062": "*",
    "÷": "/", "∕": "/", "⁄": "/", "′": "'", "’": "'", "∥": "‖", "∣": "|", "∩": "&", "⋂": "&",
    "∪": "union", "⋃": "union", "△": "∆", "Δ": "∆", "⊖": "∆", "⊤": "ᵀ", "⊺": "ᵀ", "≤": "<=",
    "≥": ">=", "≔": "=", ":=": "=", "〈": "⟨", "〉": "⟩", "ℝ": "space", "ℋ": "space",
    "⋀": "∧", "⋁": "∨",
}  # fmt: skip

_COMMANDS = {
    "cdot": "*", "times": "*", "ast": "*", "div": "/", "cap": "&", "bigcap": "&",
    "cup": "union", "bigcup": "union", "triangle": "∆", "bigtriangleup": "∆", "Delta": "∆",
    "ominus": "∆", "|": "‖", "Vert": "‖", "lVert": "‖", "rVert": "‖", "vert": "|",
    "lvert": "|", "rvert": "|", "mid": "|", "langle": "⟨", "rangle": "⟩", "{": "{", "}": "}",
    "lbrace": "{", "rbrace": "}", "lbrack": "[", "rbrack": "]", "le": "<=", "leq": "<=",
    "ge": ">=", "geq": ">=", "lt": "<", "gt": ">", "prime": "'", "top": "ᵀ",
    "wedge": "∧", "land": "∧", "vee": "∨", "lor": "∨", "intercal": "ᵀ",
    "coloneqq": "=", "frac": "frac", "dfrac": "frac", "tfrac": "frac", "sqrt": "√",
    "\\": "row", "&": "&", "_": "_",
}  # fmt: skip

_NAMES = {
    "ln": "log", "arccos": "acos", "arcsin": "asin", "arctan": "atan", "infty": "inf",
    "infinity": "inf", "maximum": "max", "minimum": "min", "lambda": "lambda_",
    "varepsilon": "epsilon", "vartheta": "theta", "varphi": "phi", "varrho": "rho",
    "varsigma": "sigma",
} | {name.upper(): name for name in ("gcd", "lcm", "min", "max", "exp", "log")}  # fmt: skip

_WRITTEN = frozenset(GREEK.values()) | {
    "exp", "log", "cos", "sin", "tan", "tanh", "sinh", "cosh", "acos", "asin", "atan", "min",
    "max", "gcd", "lcm", "inf",
}  # fmt: skip
"""What a command may name."""

_ONE_HALF = {"½": "1/2", "⅓": "1/3", "¼": "1/4", "¾": "3/4", "⅔": "2/3"}

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")

_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")

_STYLES = "mathrm operatorname text textrm mathbf mathit mathsf boldsymbol bm vec mathop"

_TOKEN = re.compile(
    rf"""(?P<skip>\s+|~|\u2061|\\[,;:!>\ ]|\\(?:q?quad|left|right|middle|[Bb]igg?[lrm]?
            |displaystyle|textstyle|nolimits)(?![A-Za-z]))
    |\\(?:{_STYLES.replace(" ", "|")})\*?(?![A-Za-z])\s*
        (?:\{{\s*(?P<styled>[A-Za-z]+)\s*\}}|(?P<bare>[A-Za-z])(?![A-Za-z]))
    |(?P<style>\\(?:{_STYLES.replace(" ", "|")})\*?(?![A-Za-z]))
    |(?P<space>\\math(?:bb|cal)\s*(?:\{{\s*[A-Za-z]\s*\}}|[A-Za-z]))
    |\\(?P<matrix>begin|end)\s*\{{[bp]matrix\}}
    |(?P<glued>(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+(?=[A-Za-z_]))
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+(?![\w.]))?)
    |(?P<raised>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+(?:[⁺⁻][⁰¹²³⁴⁵⁶⁷⁸⁹]+)*)
    |(?P<lowered>[₀₁₂₃₄₅₆₇₈₉]+)
    |\\(?P<command>[A-Za-z]+|.)
    |(?P<word>lambda_?(?![A-Za-z0-9])|[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*)
    |(?P<sign>\*\*|\|\||<=|>=|!=|==|:=|.)""",
    re.VERBOSE | re.DOTALL,
)

_MEANT = frozenset("+-*/^@(),<>=|&[]{};'_‖⟨⟩∆ᵀ√∧∨") | {"**", "||", "<=", ">=", "!=", "=="}

_WHY = {
    ".": "Functions are called by their names alone: nothing here has attributes.",
    ":": "There are no slices, dictionaries or functions of your own here.",
    '"': "There are no texts in a formula.",
    "`": "There are no texts in a formula.",
    "\\": "Sets are joined by \\cup, met by \\cap, and compared by \\triangle.",
    "!": "Write factorials as numbers.",
    "%": "Write a percentage as a fraction.",
    "#": "There are no comments in a formula.",
}


@dataclass(frozen=True)
class Token:
    """A piece of a formula.

    Attributes:
        kind: "number", "name", "raised" (a power in small digits) or "sign".
        text: The sign or name in its one spelling.
        at: Where it begins in the formula.
        end: Where what follows begins.
        glued: Whether it follows what is before it without a space.
    """

    kind: str
    text: str
    at: int
    end: int
    glued: bool = True


def refuse(message: str, formula: str, at: int, advice: str = "") -> InvalidFormula:
    """An error that points at a column, and says what to do."""
    start = max(0, at - 40)
    shown = "".join(_seen(sign) for sign in formula[start : at + 40])
    words = f"{message}, at column {at + 1}:\n  {shown}\n  {' ' * (at - start)}^"
    return InvalidFormula(f"{words}\n{advice}" if advice else words)


def _seen(sign: str) -> str:
    """The sign if it takes one column from left to right, else a stand-in that does."""
    if sign.isspace():
        return " "
    narrow = unicodedata.east_asian_width(sign) not in "WF" and not unicodedata.combining(sign)
    left_to_right = unicodedata.bidirectional(sign) not in ("R", "AL", "AN")
    return sign if sign.isprintable() and narrow and left_to_right else "?"


def tokens(formula: str) -> Iterator[Token]:
    """The tokens of a formula, in order.

    Raises:
        InvalidFormula: The formula is too long, or a sign or a command means nothing here.
    """
    text, start = _bounded(formula)
    text = "".join(map(_upright, text))
    glued = False
    for found in _TOKEN.finditer(text, start):
        kind, at, end = str(found.lastgroup), found.start(), found.end()
        if kind in ("skip", "style"):
            glued = glued and kind == "style"
            continue
        if kind == "lowered":
            yield Token("sign", "_", at, at, glued)
        kind, word = _meaning(kind, found[kind], formula, at)
        yield Token(kind, word, at, end, glued)
        glued = True


def _bounded(formula: str) -> tuple[str, int]:
    """The formula up to its end without the marks around it, and where it begins."""
    if len(formula) > LONGEST:
        raise InvalidFormula(
            f"the formula has {len(formula)} characters, and at most {LONGEST} are read.\n"
            "Break it up: sums and products of kernels are kernels."
        )
    end = len(formula.rstrip(" \t\r\n.,;$"))
    start = len(formula) - len(formula.lstrip(" \t\r\n$"))
    if formula[start : start + 2] + formula[end - 2 : end] in (r"\[\]", r"\(\)"):
        start, end = start + 2, start + len(formula[start : end - 2].rstrip(" \t\r\n.,;"))
    return formula[:end], start


def _upright(sign: str) -> str:
    """The plain letter for one of the slanted and bold alphabets of mathematics."""
    if "\U0001d400" <= sign <= "\U0001d7ff":
        return unicodedata.normalize("NFKC", sign)
    return sign


def _meaning(kind: str, word: str, formula: str, at: int) -> tuple[str, str]:
    """What a piece of text is, in its one spelling."""
    match kind:
        case "number":
            if len(word) > DIGITS:
                raise refuse(
                    f"a number of {len(word)} digits", formula, at,
                    f"At most {DIGITS} are read: round it, or write it as a power.",
                )  # fmt: skip
            return "number", word
        case "raised":
            return "raised", word.translate(_RAISED)
        case "glued":
            raise refuse(
                "a power of ten, or Euler's number, is not clear", formula, at,
                f"Say which of both is meant: {word.lower()} * ..., or the number e by itself.",
            )  # fmt: skip
        case "lowered":
            return "number", word.translate(_LOWERED)
        case "space":
            return "sign", "space"
        case "matrix":
            return "sign", word
        case "command":
            return _command(word, formula, at)
        case "sign":
            return _sign(word, formula, at)
    return ("sign", "√") if word == "sqrt" else ("name", _name(word, formula, at))


def _name(word: str, formula: str, at: int) -> str:
    word = _NAMES.get(word, word)
    if iskeyword(word) and word not in CUTS:
        raise refuse(
            f"the word {word} means nothing in a formula", formula, at,
            "A formula is a number for each two points x and y, such as min(x, y).",
        )  # fmt: skip
    return word


def _command(word: str, formula: str, at: int) -> tuple[str, str]:
    if word in _COMMANDS:
        return "sign", _COMMANDS[word]
    name = _NAMES.get(word, word)
    if name in _WRITTEN:
        return "name", name
    raise refuse(
        f"the command \\{word} means nothing here", formula, at,
        r"Read are \frac, \sqrt, \exp, \log, \cos, \min, \max, \cdot, \cap, \langle, \|, Greek "
        "letters and the like.",
    )  # fmt: skip


def _sign(word: str, formula: str, at: int) -> tuple[str, str]:
    if word in GREEK:
        return "name", GREEK[word]
    if word in _ONE_HALF:
        return "number", _ONE_HALF[word]
    if word == "∞":
        return "name", "inf"
    word = _SIGNS.get(word, word)
    if word in _MEANT or word in ("union", "space"):
        return "sign", word
    shown = word if word.isprintable() and not word.isspace() else f"U+{ord(word):04X}"
    raise refuse(
        f"the sign {shown} means nothing here", formula, at,
        _WHY.get(word, "Formulas are made of x, y, numbers, + - * / **, brackets and names."),
    )  # fmt: skip
