"""Random formulas for the prover: kernels built by the closure rules, and mutations of them.

`random_kernel` returns a formula that is p.d. by the way it was built. `mutate` changes it in
one place, the same way on both sides of the symmetry; the result may be p.d. or not, and may
leave the domain of its functions (the logarithm of what has become negative).
"""

import ast
import copy
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

# ---------------------------------------------------------------------- the building blocks


@dataclass(frozen=True)
class Kernel:
    """A formula in x and y that is p.d., and the least known bound of k(x, x)."""

    text: str
    bound: float = math.inf


@dataclass(frozen=True)
class World:
    """What a domain offers: leaves with bounds, c.n.d. functions, weights, and maps out of it.

    In a text {c} is a positive constant, {p} one in (0, 1], {q} one in (0, 2], {t} one below 1.
    A weight comes with its bound. A map sends x to a point of the domain that it names.
    """

    leaves: tuple[tuple[str, float], ...]
    distances: tuple[str, ...]
    weights: tuple[tuple[str, float], ...]
    maps: tuple[tuple[str, str], ...]


inf = math.inf

LINE_LEAVES = (
    ("exp(-{c}*abs(x-y))", 1),
    ("exp(-{c}*(x-y)**2)", 1),
    ("exp(-abs(x-y)**{q})", 1),
    ("1/(1+{c}*(x-y)**2)", 1),
    ("1/(1+{c}*abs(x-y))", 1),
    ("cos({c}*(x-y))", 1),
    ("1/cosh(x-y)", 1),
    ("max(0, 1-{c}*abs(x-y))", 1),
    ("(1+abs(x-y))*exp(-abs(x-y))", 1),
    ("exp(cos(x-y))", math.e),
    ("x*y", inf),
    ("(1+x*y)**2", inf),
    ("exp({t}*x*y)", inf),
    ("cosh({t}*x*y)", inf),
)
LINE_DISTANCES = ("abs(x-y)", "(x-y)**2", "abs(x-y)**{q}", "abs(sin(x-y))", "sin(x-y)**2")
LINE_WEIGHTS = (("x", inf), ("cos(x)", 1), ("(1+x**2)", inf), ("exp(-x**2)", 1), ("sin(x)", 1))

SPACE_LEAVES = (
    ("exp(-{c}*norm(x-y))", 1),
    ("exp(-{c}*norm(x-y)**2)", 1),
    ("exp(-norm(x-y)**{q})", 1),
    ("exp(-{c}*norm(x-y, 1))", 1),
    ("1/(1+{c}*norm(x-y)**2)", 1),
    ("1/sqrt(1+norm(x-y)**2)", 1),
    ("(1+norm(x-y))*exp(-norm(x-y))", 1),
    ("dot(x,y)", inf),
    ("({c}+dot(x,y))**2", inf),
    ("exp({t}*dot(x,y))", inf),
)
SPACE_DISTANCES = ("norm(x-y)", "norm(x-y)**2", "norm(x-y, 1)", "norm(x-y, 1.5)")
SPACE_WEIGHTS = (("(1+dot(x,x))", inf), ("exp(-dot(x,x))", 1), ("cos(dot(x,x))", 1))
ASKEY = ("max(0, 1-{c}*norm(x-y))**2", 1)  # p.d. up to dimension 3
SUP_NORM = ("exp(-{c}*norm(x-y, inf))", 1)  # p.d. up to dimension 2

WORLDS = {
    "reals": World(
        LINE_LEAVES,
        LINE_DISTANCES,
        LINE_WEIGHTS,
        (
            ("2*x+1", "reals"),
            ("sin(x)", "reals"),
            ("x**2", "nonnegative"),
            ("abs(x)", "nonnegative"),
            ("1+abs(x)", "positive"),
            ("sin(x)/2", "interval(-1, 1)"),
        ),
    ),
    "positive": World(
        (
            ("1/(x+y)", inf),
            ("1/(x+y)**{p}", inf),
            ("min(x,y)", inf),
            ("min(x,y)**{p}", inf),
            ("min(x,y)/max(x,y)", 1),
            ("1/max(x,y)", inf),
            ("1/(1+x+y)", 1),
            ("x*y/(x+y)", inf),
            ("2*sqrt(x*y)/(x+y)", 1),
            ("(x*y)**{p}", inf),
            ("exp(-{c}*(x+y))", 1),
            ("exp(-{c}*sqrt(x+y))", 1),
            ("exp(-{c}*(x-y)**2/(x+y))", 1),
            ("log(1+min(x,y))", inf),
        ),
        ("abs(x-y)", "(x-y)**2/(x+y)", "abs(log(x)-log(y))", "x+y", "log(1+x+y)"),
        (("sqrt(x)", inf), ("1/(1+x)", 1), ("log(1+x)", inf), ("exp(-x)", 1)),
        (
            ("log(x)", "reals"),
            ("1/x", "positive"),
            ("sqrt(x)", "positive"),
            ("x**2", "positive"),
            ("x", "reals"),
        ),
    ),
    "nonnegative": World(
        (
            ("min(x,y)", inf),
            ("min(x,y)**{p}", inf),
            ("1/(1+max(x,y))", 1),
            ("1/(1+x+y)", 1),
            ("exp(-{c}*(x+y))", 1),
            ("exp(-max(x,y))", 1),
            ("sqrt(x)+sqrt(y)-sqrt(x+y)", inf),
        ),
        ("abs(x-y)", "(x-y)**2", "x+y", "sqrt(x+y)", "max(x,y)"),
        (("x", inf), ("1/(1+x)", 1), ("sqrt(x)", inf), ("exp(-x)", 1)),
        (
            ("sqrt(x)", "nonnegative"),
            ("1+x", "positive"),
            ("x/(1+x)", "interval(-1, 1)"),
            ("x", "reals"),
        ),
    ),
    "naturals": World(
        (
            ("gcd(x,y)", inf),
            ("gcd(x,y)**{p}", inf),
            ("gcd(x,y)/lcm(x,y)", 1),
            ("1/lcm(x,y)", 1),
            ("log(gcd(x,y))", inf),
            ("gcd(x,y)/(x+y)", 0.5),
            ("1/(x+y-1)", 1),
            ("min(x,y)", inf),
            ("{t}**abs(x-y)", 1),
            ("(-1)**(x+y)", 1),
        ),
        ("abs(x-y)", "log(lcm(x,y))", "log(lcm(x,y)/gcd(x,y))", "x+y"),
        (("1/x", 1), ("(-1)**x", 1), ("sqrt(x)", inf)),
        (("x**2", "naturals"), ("2*x", "naturals"), ("x", "positive"), ("x", "reals")),
    ),
    "interval(-1, 1)": World(
        (
            ("1/(1-x*y)", inf),
            ("1/(1-x*y)**{p}", inf),
            ("-log(1-x*y)", inf),
            ("(1+x*y)/(1-x*y)", inf),
            ("asin(x*y)", math.pi / 2),
            ("1/(2-x*y)", 1),
            ("exp(x*y)", math.e),
            ("x*y", 1),
            ("1-abs(x-y)", 1),
            ("1/cos(x*y)", 2),
        ),
        ("abs(x-y)", "(x-y)**2", "1-x*y"),
        (("x", 1), ("(2+x)", 3), ("sqrt(1-x**2)", 1)),
        (("x", "reals"), ("1+x", "positive"), ("x**2", "interval(-1, 1)")),
    ),
    "interval(0, 1)": World(
        (
            ("min(x,y)-x*y", 0.25),
            ("1-max(x,y)", 1),
            ("1-abs(x-y)", 1),
            ("-log(max(x,y))", inf),
            ("1/(2-x-y)", inf),
            ("x*y", 1),
        ),
        ("abs(x-y)", "(x-y)**2", "max(x,y)", "x+y"),
        (("x", 1), ("(1-x)", 1), ("sqrt(x)", 1)),
        (
            ("x", "interval(-1, 1)"),
            ("x", "positive"),
            ("1-x", "interval(0, 1)"),
            ("-log(x)", "positive"),
        ),
    ),
    "vectors": World(
        SPACE_LEAVES,
        SPACE_DISTANCES,
        SPACE_WEIGHTS,
        (("dot(x,x)", "nonnegative"), ("2*x", "vectors")),
    ),
    "vectors(2)": World(
        (*SPACE_LEAVES, ASKEY, SUP_NORM),
        (*SPACE_DISTANCES, "norm(x-y, inf)"),
        SPACE_WEIGHTS,
        (("dot(x,x)", "nonnegative"), ("2*x", "vectors(2)")),
    ),
    "vectors(3)": World(
        (*SPACE_LEAVES, ASKEY),
        SPACE_DISTANCES,
        SPACE_WEIGHTS,
        (("dot(x,x)", "nonnegative"), ("2*x", "vectors(3)")),
    ),
    "sphere(3)": World(
        (
            ("dot(x,y)", 1),
            ("exp({t}*dot(x,y))", math.e),
            ("exp(-{c}*acos(dot(x,y)))", 1),
            ("1/(2-dot(x,y))", 1),
            ("asin(dot(x,y))", math.pi / 2),
            ("pi-acos(dot(x,y))", math.pi),
            ("2-norm(x-y)", 2),
            ("dot(x,y)**2-0.3", 0.7),
        ),
        ("acos(dot(x,y))", "1-dot(x,y)", "norm(x-y)"),
        (("{c}", 3),),
        (("x", "vectors(3)"),),
    ),
    "circle": World(
        (
            ("cos(x-y)", 1),
            ("cos(2*(x-y))", 1),
            ("dot(x,y)", 1),
            ("exp(cos(x-y))", math.e),
            ("1/(2-cos(x-y))", 1),
            ("exp(-{c}*acos(dot(x,y)))", 1),
            ("1-abs(sin(x-y))", 1),
            ("1+cos(x-y)/2", 1.5),
        ),
        ("1-cos(x-y)", "acos(dot(x,y))", "abs(sin(x-y))"),
        (("cos(x)", 1), ("sin(x)", 1), ("(2+cos(x))", 3)),
        (("cos(x)", "reals"), ("sin(x)/2", "interval(-1, 1)"), ("2+sin(x)", "positive")),
    ),
    "sets": World(
        (
            ("len(x & y)", inf),
            ("2**len(x & y)", inf),
            ("{t}**len(x ^ y)", 1),
            ("{t}**len(x | y)", 1),
            ("1/(1+len(x | y))", 1),
            ("1/(1+len(x ^ y))", 1),
            ("exp(-{c}*len(x ^ y))", 1),
            ("(1+len(x & y))/(1+len(x | y))", 1),
            ("len(x & y)/len(x | y)", 1),
            ("min(len(x), len(y))", inf),
        ),
        ("len(x ^ y)", "len(x ^ y)/(1+len(x | y))", "len(x | y)"),
        (("len(x)", inf), ("0.5**len(x)", 1), ("(1+len(x))", inf)),
        (("len(x)", "nonnegative"), ("1+len(x)", "naturals")),
    ),
}
CONSTANTS = {
    "c": ("0.2", "0.5", "0.7", "1", "1.5", "2", "3"),
    "p": ("0.25", "0.3", "0.5", "0.8", "1"),
    "q": ("0.4", "0.5", "1", "1.2", "1.5", "1.9", "2"),
    "t": ("0.1", "0.3", "0.5", "0.9"),
}
LARGE = 20.0  # a bound above this is not put into an exponential or below a fraction

# --------------------------------------------------------------------------------- building


def random_kernel(rng: np.random.Generator) -> tuple[str, str]:
    """A formula that is p.d. by the closure rules, one to three of them deep; its domain."""
    domain = pick(rng, tuple(WORLDS))
    kernel = build(rng, domain, int(rng.integers(1, 4)))
    return tidy(kernel.text), domain


def pick(rng: np.random.Generator, options):
    """One of the options, all with the same chance."""
    return options[int(rng.integers(len(options)))]


def tidy(text: str) -> str:
    """The same formula without idle brackets."""
    return ast.unparse(ast.parse(text, mode="eval"))


def fill(rng: np.random.Generator, text: str) -> str:
    """The text with a constant for each of its blanks."""
    return text.format(**{name: pick(rng, values) for name, values in CONSTANTS.items()})


def at(text: str, x: str, y: str) -> str:
    """The text with these in the place of x and y."""
    points = {"x": x, "y": y}
    return re.sub(r"\b[xy]\b", lambda found: f"({points[found.group()]})", text)


def leaf(rng: np.random.Generator, domain: str) -> Kernel:
    """A kernel that a theorem names."""
    text, bound = pick(rng, WORLDS[domain].leaves)
    return Kernel(fill(rng, text), bound)


def distance(rng: np.random.Generator, domain: str) -> str:
    """A non-negative function that is c.n.d., as a leaf or as a Bernstein function of one."""
    psi = fill(rng, pick(rng, WORLDS[domain].distances))
    form = pick(rng, ("{0}", "{0}", "({0})**{p}", "log(1+{0})", "{0}/(1+{0})", "{c}*({0})"))
    return fill(rng, form.replace("{0}", f"({psi})"))


def build(rng: np.random.Generator, domain: str, depth: int) -> Kernel:
    """A kernel on the domain: a leaf, or a rule applied to kernels of less depth."""
    if depth == 0:
        return leaf(rng, domain)
    return pick(rng, RULES)(rng, domain, depth)


def total(rng: np.random.Generator, domain: str, depth: int) -> Kernel:
    """A sum."""
    a, b = build(rng, domain, depth - 1), build(rng, domain, depth - 1)
    return Kernel(f"({a.text})+({b.text})", a.bound + b.bound)


def product(rng: np.random.Generator, domain: str, depth: int) -> Kernel:
    """A product, by Schur."""
    a, b = build(rng, domain, depth - 1), build(rng, domain, 0)
    return Kernel(f"({a.text})*({b.text})", a.bound * b.bound)


def multiple(rng: np.random.Generator, domain: str, depth: int) -> Kernel:
    """A positive multiple, with a positive constant added."""
    k, factor, constant = build(rng, domain, depth - 1), fill(rng, "{c}"), fill(rng, "{t}")
    return Kernel(f"{factor}*({k.text})+{constant}", 3 * k.bound + 1)


def power(rng: np.random.Generator, domain: str, depth: int) -> Kernel:
    """A whole power."""
    k, exponent = build(rng, domain, depth - 1), pick(rng, (2, 3))
    return Kernel(f"({k.text})**{exponent}", k.bound**exponent)


def bounded(rng: np.random.Generator, domain: str, depth: int) -> Kernel:
    """A kernel with a bound that an exponential or a fraction can bear."""
    k = build(rng, domain, depth)
    return k if k.bound <= LARGE else normalised(rng, domain, depth)


def exponential(rng: np.random.Generator, domain: str, depth: int) -> Kernel:
    """An exponential."""
    k = bounded(rng, domain, depth - 1)
    return Kernel(f"exp({k.text})", math.exp(k.bound))


def reciprocal(rng: np.random.Generator, domain: str, depth: int) -> Kernel:
    """1/(c-k) with c above the bound of k: a geometric series."""
    k = bounded(rng, domain, depth - 1)
    above = math.floor(k.bound) + 2
    return Kernel(f"1/({above}-({k.text}))", 1)


def normalised(rng: np.random.Generator, domain: str, depth: int) -> Kernel:
    """One plus a leaf, divided by the square roots of its diagonal."""
    text = f"(1+{leaf(rng, domain).text})"
    scale = f"sqrt({at(text, 'x', 'x')}*{at(text, 'y', 'y')})"
    return Kernel(f"{text}/{scale}", 1)


def weighted(rng: np.random.Generator, domain: str, depth: int) -> Kernel:
    """f(x) k(x, y) f(y)."""
    k = build(rng, domain, depth - 1)
    text, bound = pick(rng, WORLDS[domain].weights)
    f = fill(rng, text)
    return Kernel(f"{f}*({k.text})*{at(f, 'y', 'y')}", bound**2 * k.bound)


def pulled_back(rng: np.random.Generator, domain: str, depth: int) -> Kernel:
    """k(phi(x), phi(y))."""
    phi, target = pick(rng, WORLDS[domain].maps)
    k = build(rng, target, depth - 1)
    return Kernel(at(k.text, phi, at(phi, "y", "y")), k.bound)


def schoenberg(rng: np.random.Generator, domain: str, depth: int) -> Kernel:
    """A completely monotone function of a c.n.d. function."""
    form = pick(rng, ("exp(-{c}*({0}))", "1/(1+({0}))", "1/({c}+({0}))**{p}", "exp(-({0}))"))
    bound = 5.0 if "{c}+" in form else 1.0
    return Kernel(fill(rng, form.replace("{0}", distance(rng, domain))), bound)


Rule = Callable[[np.random.Generator, str, int], Kernel]
RULES: tuple[Rule, ...] = (
    total,
    product,
    multiple,
    power,
    exponential,
    reciprocal,
    normalised,
    weighted,
    pulled_back,
    schoenberg,
)

# -------------------------------------------------------------------------------- mutations

FAMILIES = (
    ("min", "max"),
    ("gcd", "lcm"),
    ("exp", "log"),
    ("cos", "sin"),
    ("cosh", "sinh", "exp"),
    ("sqrt", "abs", "log"),
    ("acos", "asin"),
)
SET_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor)
NUMBER_OPERATORS = (ast.Add, ast.Sub, ast.Mult)
COLLECTIONS = ("vectors", "sphere", "sets")
TRIES = 60

Mutation = Callable[[np.random.Generator, ast.expr], ast.expr | None]


def mutate(rng: np.random.Generator, text: str, domain: str) -> str:
    """The formula with one change, made on both sides of its symmetry where it has two."""
    tree = ast.parse(text, mode="eval").body
    places = list(targets(tree, domain))
    for _ in range(TRIES):
        old = pick(rng, places)
        new = pick(rng, MUTATIONS)(rng, copy.deepcopy(old))
        if new is None:
            continue
        changed = Replace(old, new).visit(copy.deepcopy(tree))
        if symmetric(changed) and speaks_of_both(changed) and ast.unparse(changed) != text:
            return ast.unparse(changed)
    return f"-({text})"


def targets(tree: ast.expr, domain: str) -> Iterator[ast.expr]:
    """The places that may change: no bare points, on the circle no frequencies."""
    frequencies = {
        id(inner)
        for node in ast.walk(tree)
        if domain == "circle" and is_call(node, "cos", "sin")
        for inner in ast.walk(node.args[0])
        if isinstance(inner, ast.Constant)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or isinstance(node, ast.Name):
            continue
        if id(node) not in frequencies and not is_collection(node, domain):
            yield node


def is_call(node: ast.AST, *names: str) -> bool:
    """Whether the node calls one of these functions."""
    return isinstance(node, ast.Call) and node.func.id in names


def is_collection(node: ast.expr, domain: str) -> bool:
    """Whether the node is a vector, which only the mutation of a difference could keep one."""
    if not domain.startswith(COLLECTIONS) or domain == "sets":
        return False
    if isinstance(node, ast.Name):
        return node.id in ("x", "y")
    if not isinstance(node, ast.BinOp) or is_difference(node):
        return False
    return is_collection(node.left, domain) or is_collection(node.right, domain)


def is_difference(node: ast.AST) -> bool:
    """Whether the node is u-v for u in x alone and v the same in y."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and ast.dump(swapped(node.left)) == ast.dump(node.right)
        and speaks_of_both(node)
    )


def speaks_of_both(node: ast.expr) -> bool:
    """Whether x and y both occur."""
    return {"x", "y"} <= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def flip_sign(rng: np.random.Generator, node: ast.expr) -> ast.expr | None:
    """-u for u, or u for -u."""
    if isinstance(node, ast.UnaryOp):
        return node.operand
    if is_difference(node) or is_set(node):
        return None
    return ast.UnaryOp(ast.USub(), node)


def is_set(node: ast.expr) -> bool:
    """Whether the node is a union, an intersection or a symmetric difference."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, SET_OPERATORS)


def change_number(rng: np.random.Generator, node: ast.expr) -> ast.expr | None:
    """A number near it, twice, half, its negative, or its inverse, with few digits."""
    if not isinstance(node, ast.Constant):
        return None
    value = float(node.value)
    near = (value + 1, value + 0.1, 2 * value, value / 2, 1.1 * value, 0.9 * value, value - 1)
    number = round(pick(rng, near), 4)
    constant = ast.Constant(int(abs(number)) if number == int(number) else abs(number))
    return ast.UnaryOp(ast.USub(), constant) if number < 0 else constant


def change_function(rng: np.random.Generator, node: ast.expr) -> ast.expr | None:
    """Another function of the same family: max for min, log for exp."""
    if not isinstance(node, ast.Call):
        return None
    names = [name for family in FAMILIES if node.func.id in family for name in family]
    others = [name for name in names if name != node.func.id]
    if not others:
        return None
    node.func.id = pick(rng, others)
    return node


def change_operator(rng: np.random.Generator, node: ast.expr) -> ast.expr | None:
    """Another operator: a union for an intersection, a difference for a sum."""
    if not isinstance(node, ast.BinOp):
        return None
    family = SET_OPERATORS if is_set(node) else NUMBER_OPERATORS
    if not isinstance(node.op, family) or is_difference(node):
        return None
    node.op = pick(rng, [op for op in family if not isinstance(node.op, op)])()
    return node


def sum_for_difference(rng: np.random.Generator, node: ast.expr) -> ast.expr | None:
    """x+y for x-y."""
    if not is_difference(node):
        return None
    node.op = ast.Add()
    return node


def drop_term(rng: np.random.Generator, node: ast.expr) -> ast.expr | None:
    """One side of a sum, a product or a quotient alone."""
    if not isinstance(node, ast.BinOp) or is_difference(node) or is_set(node):
        return None
    return pick(rng, (node.left, node.right))


def add_power(rng: np.random.Generator, node: ast.expr) -> ast.expr | None:
    """A root or a power of a function, or the power above it changed."""
    if not isinstance(node, ast.Call):
        return None
    exponent = ast.Constant(pick(rng, (0.5, 1.5, 2, 2.5, 3)))
    return ast.BinOp(node, ast.Pow(), exponent)


MUTATIONS: tuple[Mutation, ...] = (
    flip_sign,
    change_number,
    change_number,
    change_function,
    change_operator,
    sum_for_difference,
    drop_term,
    add_power,
)

# --------------------------------------------------------------------------------- symmetry


class Swap(ast.NodeTransformer):
    """Exchanges x and y."""

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name({"x": "y", "y": "x"}.get(node.id, node.id), node.ctx)


def swapped(node: ast.expr) -> ast.expr:
    """The formula with x and y exchanged."""
    return Swap().visit(copy.deepcopy(node))


class Replace(ast.NodeTransformer):
    """Puts a new formula for an old one, and its mirror image for the mirror image."""

    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self.table = {
            ast.dump(swapped(old)): swapped(new),
            ast.dump(old): new,  # last: an old one that is its own mirror image stays as it is
        }

    def visit(self, node: ast.AST) -> ast.AST:
        new = self.table.get(ast.dump(node))
        return self.generic_visit(node) if new is None else copy.deepcopy(new)


def symmetric(node: ast.expr) -> bool:
    """Whether exchanging x and y gives the same formula, up to order and sign."""
    return canonical(node) == canonical(swapped(node))


EVEN = ("abs", "cos", "cosh", "norm")
ODD = ("sin", "sinh", "tanh", "asin")
UNORDERED = ("min", "max", "gcd", "lcm")

Signed = tuple[int, str]  # a sign, and the text of what it stands before


def canonical(node: ast.expr) -> Signed:
    """The formula in an order of its own, with its sign in front."""
    if isinstance(node, ast.UnaryOp):
        sign, text = canonical(node.operand)
        return -sign, text
    if isinstance(node, ast.Call):
        return canonical_call(node)
    if isinstance(node, ast.BinOp):
        return canonical_operation(node)
    return 1, ast.unparse(node)


def plain(signed: Signed) -> str:
    """The sign and the text in one."""
    return f"{'-' if signed[0] < 0 else '+'}{signed[1]}"


def canonical_call(node: ast.Call) -> Signed:
    """Arguments of symmetric functions sorted, signs taken out of even and odd ones."""
    name, arguments = node.func.id, [canonical(a) for a in node.args]
    sign = 1
    if name == "dot":
        sign = math.prod(s for s, _ in arguments)
        texts = sorted(text for _, text in arguments)
    elif name in EVEN or name in ODD:
        sign = arguments[0][0] if name in ODD else 1
        texts = [arguments[0][1], *(plain(a) for a in arguments[1:])]
    else:
        texts = [plain(a) for a in arguments]
        texts = sorted(texts) if name in UNORDERED else texts
    return sign, f"{name}({', '.join(texts)})"


def canonical_operation(node: ast.BinOp) -> Signed:
    """Terms and factors sorted."""
    if isinstance(node.op, ast.Add | ast.Sub):
        here = terms(node, 1)
        there = [(-sign, text) for sign, text in here]
        texts = {sign: " ".join(sorted(map(plain, t))) for sign, t in ((1, here), (-1, there))}
        sign = 1 if texts[1] <= texts[-1] else -1
        return sign, f"({texts[sign]})"
    if isinstance(node.op, ast.Mult | ast.Div):
        parts = factors(node, "*")
        return math.prod(s for s, _ in parts), f"({' '.join(sorted(t for _, t in parts))})"
    left, right = canonical(node.left), canonical(node.right)
    if isinstance(node.op, ast.Pow):
        whole = isinstance(node.right, ast.Constant) and isinstance(node.right.value, int)
        if whole:
            return left[0] ** node.right.value, f"({left[1]})**{node.right.value}"
        return 1, f"({plain(left)})**({plain(right)})"
    symbol = type(node.op).__name__
    return 1, f"({f' {symbol} '.join(sorted((plain(left), plain(right))))})"


def terms(node: ast.expr, sign: int) -> list[Signed]:
    """The terms of nested sums and differences."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        other = -sign if isinstance(node.op, ast.Sub) else sign
        return terms(node.left, sign) + terms(node.right, other)
    inner, text = canonical(node)
    return [(sign * inner, text)]


def factors(node: ast.expr, mark: str) -> list[Signed]:
    """The factors of nested products and quotients, marked as above or below the line."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        below = {"*": "/", "/": "*"}[mark] if isinstance(node.op, ast.Div) else mark
        return factors(node.left, mark) + factors(node.right, below)
    sign, text = canonical(node)
    return [(sign, mark + text)]
