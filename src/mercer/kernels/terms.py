r"""Terms: the functions that proofs speak of, as data.

A term is a head ("gaussian", "sum"), parameters and children. It knows nothing of kernel
classes, so a proof can be read, checked, saved and printed without them.

>>> k = Term.of("scaled", Term.of("gaussian", scale=0.5), weight=2.0)
>>> print(k)
2.0 * gaussian(0.5)
>>> print(k.latex())
2 \cdot \exp\left(-\frac{\left\| x - y \right\|^2}{2 \cdot 0.5^2}\right)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import EllipsisType, MappingProxyType
from typing import Any

import numpy as np

from mercer.errors import InvalidParameter

REQUIRED: EllipsisType = ...
"""Stands where a field has no default."""

FIELDS: Mapping[str, tuple[tuple[str, object], ...]] = MappingProxyType(
    {
        # vectors
        "linear": (("metric", None),),
        "polynomial": (("degree", 2), ("offset", 1.0), ("scale", 1.0)),
        "gaussian": (("scale", 1.0), ("metric", None)),
        "laplacian": (("scale", 1.0),),
        "exponential": (("scale", 1.0), ("metric", None)),
        "matern": (("nu", 1.5), ("scale", 1.0), ("metric", None)),
        "rational_quadratic": (("scale", 1.0), ("alpha", 1.0), ("metric", None)),
        "periodic": (("period", 1.0), ("scale", 1.0)),
        "cosine": (),
        "generalized_gaussian": (("scale", 1.0), ("p", 2.0), ("power", 2.0)),
        "wendland": (("smoothness", 1), ("scale", 1.0), ("dimension", 3), ("metric", None)),
        "chi2": (("scale", 1.0),),
        "additive_chi2": (),
        "intersection": (),
        "tanimoto": (),
        "white": (),
        "delta": (),
        "bias": (),
        "missing": (),
        # numbers
        "min": (),
        "min_over_max": (),
        "gcd": (),
        "gcd_over_lcm": (),
        "geometric": (),
        "product_power": (("base", 2.0),),
        "sum_power": (("base", 2.0),),
        "cosine_difference": (("frequency", 1.0),),
        # sets
        "set_intersection": (),
        "set_power": (("base", 2.0),),
        "jaccard": (),
        # combinations
        "sum": (),
        "product": (),
        "scaled": (("weight", REQUIRED),),
        "power": (("exponent", REQUIRED),),
        "exp": (),
        "series": (("coefficients", REQUIRED),),
        "normalized": (),
        "weighted": (("function", REQUIRED),),
        "map": (("function", REQUIRED),),
        "on": (("columns", REQUIRED),),
        "filled": (("fill", REQUIRED),),
        "schoenberg": (("rate", REQUIRED),),
        "squared_distance": (),
        # read from a text by mercer.proofs
        "formula": (("text", REQUIRED), ("domain", "reals"), ("given", ""), ("values", ())),
        # the user's own
        "feature_kernel": (("function", REQUIRED),),
        "from_function": (("function", REQUIRED),),
    }
)
"""The parameters of each head, in order, with their defaults."""

ARITY: Mapping[str, int] = MappingProxyType(
    {"sum": 2, "product": 2}
    | dict.fromkeys(("scaled", "power", "exp", "series", "normalized", "weighted", "map"), 1)
    | dict.fromkeys(("on", "filled", "schoenberg", "squared_distance"), 1)
)
"""How many children a head has; the others have none."""

# How tightly a text form binds; what is not named here is an atom, 4.
_BINDING = {"sum": 1, "product": 2, "scaled": 2, "power": 3}


@dataclass(frozen=True)
class Term:
    """A function of two points, as data. It is canonical from birth: fields stand in the order
    of the table, defaults are written out, NumPy numbers and arrays become plain ones.

    Args:
        head: Which function or rule, a key of `FIELDS`.
        parameters: Pairs (field, value).
        children: The functions that it combines.
    """

    head: str
    parameters: tuple[tuple[str, object], ...] = ()
    children: tuple[Term, ...] = ()

    def __post_init__(self) -> None:
        given = {name: _plain(value) for name, value in self.parameters}
        if len(given) < len(self.parameters):
            raise InvalidParameter(
                f"{self.head} got a parameter twice. A parameter has one value: keep one of "
                f"{', '.join(name for name, _ in self.parameters)}."
            )
        known = {name: value for name, value in FIELDS.get(self.head, ()) if value is not ...}
        order = [name for name, _ in FIELDS.get(self.head, ()) if name in known | given]
        order += [name for name in given if name not in order]
        parameters = tuple((name, (known | given)[name]) for name in order)
        object.__setattr__(self, "parameters", parameters)
        object.__setattr__(self, "children", tuple(self.children))

    @classmethod
    def of(cls, head: str, *children: Term, **parameters: object) -> Term:
        """Write a term briefly: `Term.of("scaled", k, weight=2.0)`."""
        return cls(head, tuple(parameters.items()), children)

    def __getitem__(self, name: str) -> Any:
        for field, value in self.parameters:
            if field == name:
                return value
        raise InvalidParameter(
            f"{self.head} has no parameter {name!r}. It has: "
            f"{', '.join(field for field, _ in self.parameters) or 'none'}."
        )

    @property
    def flaw(self) -> str:
        """What keeps the term from meaning anything, in words; empty if nothing does."""
        if self.head not in FIELDS:
            return f"no function is called {self.head!r}"
        arity, fields = ARITY.get(self.head, 0), [name for name, _ in FIELDS[self.head]]
        if len(self.children) != arity:
            return f"{self.head} combines {arity} functions, not {len(self.children)}"
        if [name for name, _ in self.parameters] != fields:
            given = ", ".join(name for name, _ in self.parameters) or "none"
            return f"{self.head} has the parameters {', '.join(fields) or 'none'}, not {given}"
        return ""

    @property
    def has_code(self) -> bool:
        """Whether a user's function is inside, so that the text cannot be read back."""
        mine = any(callable(value) for _, value in self.parameters)
        return mine or any(child.has_code for child in self.children)

    def __str__(self) -> str:
        match "" if self.flaw else self.head, self.children:
            case "sum", (left, right):
                words = f"{_bound(left, 1)} + {_bound(right, 2)}"
            case "product", (left, right):
                words = f"{_bound(left, 2)} * {_bound(right, 3)}"
            case "scaled", (child,):
                words = f"{text(self['weight'])} * {_bound(child, 3)}"
            case "power", (child,):
                words = f"{_bound(child, 4)} ** {text(self['exponent'])}"
            case "on", (child,) if isinstance(self["columns"], tuple):
                words = f"{_bound(child, 4)}.on({', '.join(map(text, self['columns']))})"
            case _:
                words = _call(self)
        return words

    def latex(self) -> str:
        """The formula of $k(x, y)$ with the actual parameters, to be set in math mode."""
        return _formula(self, "x", "y")


def text(value: object) -> str:
    """A parameter as text, every digit of a number; the name of a function in <>."""
    if callable(value):
        return f"<{_name(value)}>"
    if isinstance(value, tuple):
        inside = ", ".join(map(text, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    try:
        return repr(value)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return f"<{type(value).__name__}, too long to be written>"


def escape(words: str) -> str:
    """Words as LaTeX text."""
    signs = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    signs |= {"<": r"\textless{}", ">": r"\textgreater{}"}
    return re.sub(r"[\\~^<>&%$#_{}]", lambda sign: signs.get(sign[0], "\\" + sign[0]), words)


def number(value: object) -> str:
    """A parameter in a formula: 0.5, 2 for 2.0, powers of ten, a tuple or a matrix."""
    if isinstance(value, tuple) and value and all(isinstance(row, tuple) for row in value):
        rows = r" \\ ".join(" & ".join(map(number, row)) for row in value)
        return rf"\begin{{pmatrix}} {rows} \end{{pmatrix}}"
    if isinstance(value, tuple):
        return rf"\left({', '.join(map(number, value))}\right)"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return rf"\text{{{escape(text(value))}}}"
    digits = text(value).removesuffix(".0")
    if not re.fullmatch(r"[-+.e\d]+", digits):  # inf, nan, or too long
        return rf"\text{{{escape(digits)}}}"
    if "e" not in digits:
        return digits
    mantissa, exponent = digits.split("e")
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \cdot {power}"


def _plain(value: object) -> object:
    """NumPy's numbers, arrays and lists as Python's numbers and tuples."""
    if isinstance(value, np.floating):  # item() of a long double is a long double
        return float(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(map(_plain, value)) if isinstance(value, list | tuple) else value


def _name(function: Callable[..., object]) -> str:
    return str(getattr(function, "__name__", type(function).__name__)).strip("<>")


def _bound(term: Term, level: int) -> str:
    """The text of a part, in brackets where it binds less tightly than its place asks."""
    return str(term) if _BINDING.get(term.head, 4) >= level else f"({term})"


def _call(term: Term) -> str:
    """`head(children, parameters)`, without the defaults at the end."""
    fields = [(name, value) for name, value in term.parameters if name != "metric"]
    defaults = dict(FIELDS.get(term.head, ()))
    while fields and fields[-1][0] in defaults and fields[-1][1] == defaults[fields[-1][0]]:
        fields.pop()
    words = [*map(str, term.children), *(text(value) for _, value in fields)]
    words += [
        f"{name}={text(value)}"
        for name, value in term.parameters
        if name == "metric" and value is not None
    ]
    return f"{term.head}({', '.join(words)})" if words else term.head


# ------------------------------------------------------------------------------- formulas

# @x and @y are the points, @a and @b their entries, @k a child (@kxx at the point x twice; a
# capital K may stand in a product), @r the distance in units of the scale, @q and @Q the
# squared distance over 2 and 2 alpha, @S the squared scale and @P the period of a feature,
# @f a user's function; any other word is a parameter.
_FORMULAS: Mapping[str, str] = MappingProxyType(
    {
        "gaussian": r"\exp\left(-@q\right)",
        "laplacian": r"\exp\left(-@r\right)",
        "exponential": r"\exp\left(-@r\right)",
        "rational_quadratic": r"\left(1 + @Q\right)^{-@alpha}",
        "periodic": r"\prod_i \exp\left(-\frac{2}{@S} \sin^2"
        r"\left(\frac{\pi \left(@a - @b\right)}{@P}\right)\right)",
        "cosine": r"\frac{@x^\top @y}{\left\| @x \right\| \left\| @y \right\|}",
        "generalized_gaussian": r"\exp\left(-\left(@r\right)^{@power}\right)",
        "chi2": r"\exp\left(-\sum_i \frac{\left(@a - @b\right)^2}"
        r"{2 \cdot @S \left(@a + @b\right)}\right)",
        "additive_chi2": r"\sum_i \frac{2 @a @b}{@a + @b}",
        "intersection": r"\sum_i \min\left(@a, @b\right)",
        "tanimoto": r"\frac{@x^\top @y}"
        r"{\left\| @x \right\|^2 + \left\| @y \right\|^2 - @x^\top @y}",
        "white": r"\mathbf{1}\left[@x = @y\right]",
        "delta": r"\mathbf{1}\left[@x = @y\right]",
        "bias": "1",
        "missing": r"\mathbf{1}\left[@x, @y \text{ both there or both missing}\right]",
        "min": r"\min\left(@x, @y\right)",
        "min_over_max": r"\frac{\min\left(@x, @y\right)}{\max\left(@x, @y\right)}",
        "gcd": r"\gcd\left(@x, @y\right)",
        "gcd_over_lcm": r"\frac{\gcd\left(@x, @y\right)}"
        r"{\operatorname{lcm}\left(@x, @y\right)}",
        "geometric": r"\frac{1}{1 - @x @y}",
        "product_power": r"\left(@base\right)^{@x @y}",
        "sum_power": r"\left(@base\right)^{@x + @y}",
        "cosine_difference": r"\cos\left(@frequency \left(@x - @y\right)\right)",
        "set_intersection": r"\left| @x \cap @y \right|",
        "set_power": r"\left(@base\right)^{\left| @x \cap @y \right|}",
        "jaccard": r"\frac{\left| @x \cap @y \right|}{\left| @x \cup @y \right|}",
        "sum": r"@k + @l",
        "product": r"@K \cdot @L",
        "scaled": r"@weight \cdot @K",
        "power": r"\left(@k\right)^{@exponent}",
        "exp": r"\exp\left(@k\right)",
        "normalized": r"\frac{@k}{\sqrt{@Kxx \cdot @Kyy}}",
        "weighted": r"@f\left(@x\right) \cdot @K \cdot @f\left(@y\right)",
        "schoenberg": r"\exp\left(-@rate \left(@kxx + @kyy - 2 \cdot @K\right)\right)",
        "squared_distance": r"@kxx + @kyy - 2 \cdot @K",
        "feature_kernel": r"\left\langle @f\left(@x\right), @f\left(@y\right) \right\rangle",
        "from_function": r"@f\left(@x, @y\right)",
    }
)

# Formulas that a factor of a product must bracket.
_SUMS = {"sum", "series", "squared_distance", "additive_chi2", "intersection", "periodic"}


def _formula(term: Term, x: str, y: str) -> str:
    """The formula at the points called x and y."""
    if term.flaw:
        return rf"\text{{{escape(str(term))}}}"
    if term.head in _WRITERS:
        return _WRITERS[term.head](term, x, y)
    return re.sub("@([A-Za-z]+)", lambda mark: _fill(mark[1], term, x, y), _FORMULAS[term.head])


def _fill(mark: str, term: Term, x: str, y: str) -> str:
    """What stands for a mark of a formula."""
    fillings: dict[str, Callable[[], str]] = {
        "x": lambda: x,
        "y": lambda: y,
        "a": lambda: _entry(x),
        "b": lambda: _entry(y),
        "r": lambda: _length(term, x, y),
        "q": lambda: _square(term, x, y, "2"),
        "Q": lambda: _square(term, x, y, rf"2 \cdot {number(term['alpha'])}"),
        "S": lambda: _square_scale(term["scale"]),
        "P": lambda: _each(term["period"]),
        "f": lambda: _code(term),
    }
    if mark in fillings:
        return fillings[mark]()
    if mark[0] in "kKlL":
        child = term.children[mark[0] in "lL"]
        formula = _formula(child, *{"": (x, y), "xx": (x, x), "yy": (y, y)}[mark[1:]])
        bracket = mark[0] in "KL" and child.head in _SUMS
        return rf"\left({formula}\right)" if bracket else formula
    return number(term[mark])


def _entry(x: str) -> str:
    return f"{x}_i" if len(x) == 1 else f"{{{x}}}_i"


def _square_scale(scale: object) -> str:
    return f"{{{number(scale)}}}_i^2" if isinstance(scale, tuple) else f"{_base(scale)}^2"


def _each(lengths: object) -> str:
    return f"{{{number(lengths)}}}_i" if isinstance(lengths, tuple) else number(lengths)


def _base(value: object) -> str:
    """A number fit to carry an exponent."""
    digits = number(value)
    return rf"\left({digits}\right)" if re.search(r"[\^-]", digits) else digits


def _code(term: Term) -> str:
    return rf"\operatorname{{{escape(_name(term['function']))}}}"


def _map(term: Term, x: str, y: str) -> str:
    points = (rf"{_code(term)}\left({point}\right)" for point in (x, y))
    return _formula(term.children[0], *points)


def _on(term: Term, x: str, y: str) -> str:
    columns = term["columns"]
    columns = columns if isinstance(columns, tuple) else (columns,)
    names = escape(", ".join(name if isinstance(name, str) else text(name) for name in columns))
    points = (rf"{{{point}}}_{{\text{{{names}}}}}" for point in (x, y))
    return _formula(term.children[0], *points)


def _filled(term: Term, x: str, y: str) -> str:
    fill = number(term["fill"])
    points = (rf"{{{point}}}_{{\text{{missing}} \to {fill}}}" for point in (x, y))
    return _formula(term.children[0], *points)


def _read(term: Term, x: str, y: str) -> str:
    """A formula that a later stage reads: its text, and where x and y are other points."""
    words = rf"\text{{{escape(str(term['text']))}}}"
    values = term["values"] if isinstance(term["values"], tuple) else ()
    pairs = [pair for pair in values if isinstance(pair, tuple) and len(pair) == 2]
    said = [rf"\text{{{escape(str(name))}}} = {number(value)}" for name, value in pairs]
    said += [f"{name} = {point}" for name, point in (("x", x), ("y", y)) if name != point]
    return words if not said else rf"\left[{words}\right]_{{{', '.join(said)}}}"


def _gap(term: Term, x: str, y: str) -> str:
    """The difference of two points, divided by the scales if each feature has its own."""
    scale = term["scale"]
    if not isinstance(scale, tuple):
        return f"{x} - {y}"
    return rf"\operatorname{{diag}}{number(scale)}^{{-1}} \left({x} - {y}\right)"


def _quadratic(metric: object, x: str, y: str) -> str:
    return rf"{x}^\top {number(metric)} {y}"


def _square(term: Term, x: str, y: str, factor: str) -> str:
    r"""The squared distance over a factor, as in $\|x - y\|^2 / 2 s^2$."""
    gap, scale, metric = _gap(term, x, y), term["scale"], term["metric"]
    square = rf"\left\| {gap} \right\|^2"
    if metric is not None:
        square = _quadratic(metric, rf"\left({gap}\right)", rf"\left({gap}\right)")
    below = factor if isinstance(scale, tuple) else rf"{factor} \cdot {_base(scale)}^2"
    return rf"\frac{{{square}}}{{{below}}}"


def _length(term: Term, x: str, y: str) -> str:
    r"""The distance in units of the scale, as in $\|x - y\| / s$."""
    gap, given = _gap(term, x, y), dict(term.parameters)
    norm = "_1" if term.head == "laplacian" else ""
    norm = f"_{{{number(given['p'])}}}" if "p" in given else norm
    length = rf"\left\| {gap} \right\|{norm}"
    if given.get("metric") is not None:
        square = _quadratic(given["metric"], rf"\left({gap}\right)", rf"\left({gap}\right)")
        length = rf"\sqrt{{{square}}}"
    scale = given["scale"]
    return length if isinstance(scale, tuple) else rf"\frac{{{length}}}{{{number(scale)}}}"


def _linear(term: Term, x: str, y: str) -> str:
    metric = term["metric"]
    return rf"{x}^\top {y}" if metric is None else _quadratic(metric, x, y)


def _polynomial(term: Term, x: str, y: str) -> str:
    scale, inner = term["scale"], rf"{x}^\top {y}"
    if isinstance(scale, tuple):
        inner = rf"{x}^\top \operatorname{{diag}}{number(scale)}^{{-2}} {y}"
    elif scale != 1:
        inner = rf"\frac{{{inner}}}{{{_base(scale)}^2}}"
    return rf"\left({inner} + {number(term['offset'])}\right)^{{{number(term['degree'])}}}"


def _matern(term: Term, x: str, y: str) -> str:
    nu, r = term["nu"], _length(term, x, y)
    if isinstance(nu, float) and nu in {0.5, 1.5, 2.5}:
        root = {0.5: "", 1.5: r"\sqrt{3}\, ", 2.5: r"\sqrt{5}\, "}[nu] + r
        front = {0.5: "", 1.5: rf"\left(1 + {root}\right) "}
        front[2.5] = rf"\left(1 + {root} + \frac{{5}}{{3}} \left({r}\right)^2\right) "
        return rf"{front[nu]}\exp\left(-{root}\right)"
    order = number(nu)
    u = rf"\left(\sqrt{{2 \cdot {order}}}\, {r}\right)"
    below = rf"\Gamma\left({order}\right)"
    return rf"\frac{{2^{{1 - {order}}}}}{{{below}}} {u}^{{{order}}} K_{{{order}}}{u}"


def _wendland(term: Term, x: str, y: str) -> str:
    smoothness, dimension, r = term["smoothness"], term["dimension"], _length(term, x, y)
    if not (
        isinstance(smoothness, int) and isinstance(dimension, int) and 0 <= smoothness <= 3
    ):
        return rf"\phi_{{{number(dimension)}, {number(smoothness)}}}\left({r}\right)"
    n = dimension // 2 + smoothness + 1
    below, coefficients = (
        (1, (1,)),
        (1, (1, n + 1)),
        (3, (3, 3 * n + 6, n**2 + 4 * n + 3)),
        (15, (15, 15 * n + 45, 6 * n**2 + 36 * n + 45, n**3 + 9 * n**2 + 23 * n + 15)),
    )[smoothness]
    tail = _powers(coefficients, rf"\left({r}\right)")
    cut = rf"\left(1 - {r}\right)_+^{{{number(n + smoothness)}}}"
    front = rf"\frac{{1}}{{{below}}} " if below > 1 else ""
    return front + cut + (rf" \left({tail}\right)" if smoothness else "")


def _series(term: Term, x: str, y: str) -> str:
    return _powers(term["coefficients"], rf"\left({_formula(term.children[0], x, y)}\right)")


def _powers(coefficients: object, base: str) -> str:
    """A power series; terms that vanish are left out."""
    if not isinstance(coefficients, tuple):
        return number(coefficients)
    parts = []
    for n, coefficient in enumerate(coefficients):
        factor = "" if coefficient == 1 and n else number(coefficient)
        power = "" if n == 0 else base if n == 1 else f"{base}^{{{n}}}"
        if coefficient != 0:
            parts.append(rf"{factor} \cdot {power}" if factor and power else factor + power)
    return " + ".join(parts) or "0"


# The formulas that a line with marks cannot hold.
_WRITERS: Mapping[str, Callable[[Term, str, str], str]] = MappingProxyType(
    {"linear": _linear, "polynomial": _polynomial, "matern": _matern, "wendland": _wendland}
    | {"series": _series, "map": _map, "on": _on, "filled": _filled, "formula": _read}
)
