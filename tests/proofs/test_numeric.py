import math
import random
from fractions import Fraction

import numpy as np
import pytest

from mercer.errors import InvalidInput
from mercer.proofs.numeric import as_array, evaluate, gram
from mercer.proofs.reading import read
from mercer.proofs.trees import PI, Tree, call, number, parameter, point

PLAIN = {
    "exp": math.exp, "cos": math.cos, "sin": math.sin, "tan": math.tan, "tanh": math.tanh,
    "sinh": math.sinh, "cosh": math.cosh, "acos": math.acos, "asin": math.asin,
    "atan": math.atan, "abs": abs, "log": math.log,
}  # fmt: skip
UNDEFINED = math.nan


def whole(values):
    if any(value != int(value) for value in values):
        raise ValueError
    return [int(value) for value in values]


def plainly(tree, x, y, s):
    """The same in Python's own arithmetic; NaN where that raises an error."""
    try:
        return _plainly(tree, x, y, s)
    except (ValueError, ZeroDivisionError, OverflowError):
        return UNDEFINED


def _plainly(tree, x, y, s):  # noqa: PLR0911 - one line a head
    args = [_plainly(part, x, y, s) for part in tree.args]
    if any(not math.isfinite(value) for value in args):
        raise ValueError
    fixed = {"pi": math.pi, "parameter": s, "point": x if tree.value == "x" else y}
    match tree.head:
        case "number":
            return float(tree.value)
        case "pi" | "parameter" | "point":
            return fixed[tree.head]
        case "add":
            return math.fsum(args)
        case "multiply":
            return math.prod(args)
        case "power":
            value = args[0] ** args[1]
            return value if isinstance(value, float) else UNDEFINED
        case "min" | "max":
            return {"min": min, "max": max}[tree.head](args)
        case "gcd" | "lcm":
            return float({"gcd": math.gcd, "lcm": math.lcm}[tree.head](*whole(args)))
    return PLAIN[tree.head](*args)


def random_tree(draw, depth, pool):
    """A tree in which parts are often repeated."""
    if pool and draw.random() < 0.15:
        return draw.choice(pool)
    leaves = [point("x"), point("y"), parameter("s"), PI, number(draw.randint(-3, 3))]
    leaves += [
        point("x"),
        point("y"),
        number(Fraction(draw.randint(-9, 9), draw.randint(1, 9))),
    ]
    if depth == 0 or draw.random() < 0.25:
        return draw.choice(leaves)
    parts = [random_tree(draw, depth - 1, pool) for _ in range(draw.randint(2, 3))]
    head = draw.choice(["add", "multiply", "divide", "power", "root", "many", *PLAIN])
    if head in ("add", "multiply"):
        tree = Tree(head, tuple(parts))
    elif head == "divide":
        tree = parts[0] / parts[1]
    elif head == "power":
        tree = parts[0] ** number(draw.randint(-5, 6))
    elif head == "root":
        tree = parts[0] ** number(Fraction(draw.randint(-3, 3), draw.randint(2, 3)))
    elif head == "many":
        tree = call(draw.choice(["min", "max", "gcd", "lcm"]), *parts)
    else:
        tree = call(head, parts[0])
    pool.append(tree)
    return tree


def test_random_formulas_have_the_values_of_plain_python():
    draw = random.Random(3)
    xs, ys = [-2.0, 0.0, 0.75, 3.0], [-1.0, 0.4, 6.0]
    X, Y = np.array(xs)[:, None], np.array(ys)[None, :]
    compared = 0
    for _ in range(1500):
        tree = random_tree(draw, 4, [])
        values = evaluate(tree, X, Y, {"s": Fraction(3, 4)})
        assert values.shape == (4, 3)
        assert values.dtype == np.float64
        for i, x in enumerate(xs):
            for j, y in enumerate(ys):
                wanted = plainly(tree, x, y, 0.75)
                if math.isfinite(wanted) and abs(wanted) < 1e9 and is_tame(tree, x, y):
                    compared += 1
                    size = max(1, abs(wanted))
                    assert values[i, j] == pytest.approx(wanted, abs=1e-9 * size), tree
    assert (X.ravel() == xs).all()
    assert (Y.ravel() == ys).all()
    assert compared > 3000


def is_tame(tree, x, y):
    """Whether no part is so large, or so near a step, that rounding decides the value."""
    heads = {part.head for part in tree.walk()}
    if heads & {"gcd", "lcm", "tan"}:
        return False
    sizes = [abs(plainly(part, x, y, 0.75)) for part in tree.walk()]
    return all(size < 20 and (size > 1e-3 or size == 0) for size in sizes)


@pytest.mark.parametrize(
    ("text", "x", "y"),
    [
        ("1/(x-y)", 1, 1),
        ("(x-y)/(x-y)", 1, 1),
        ("x**(-2)", 0, 1),
        ("x**(-1/3)", 0, 1),
        ("x**y", 0, -1),
        ("log(x)", 0, 1),
        ("log(x)", -1, 1),
        ("sqrt(x)", -1, 1),
        ("x**(1/3)", -8, 1),
        ("x**y", -2, 0.5),
        ("acos(x)", 1.0001, 1),
        ("asin(x)", -1.0001, 1),
        ("gcd(x, y)", 1.5, 3),
        ("lcm(x, y)", 1e300, 3),
        ("max(x, log(y))", 1, -1),
    ],
)
def test_what_is_undefined_is_nan_and_silent(text, x, y):
    with np.errstate(all="raise"):
        assert np.isnan(evaluate(read(text).tree, np.array(float(x)), np.array(float(y))))


def test_what_is_too_large_is_infinite_and_a_hair_beyond_one_is_one():
    one = np.array(1.0)
    assert evaluate(read("exp(1000*x)").tree, one, one) == np.inf
    assert evaluate(read("-exp(1000*x)").tree, one, one) == -np.inf
    assert evaluate(read("10**299*10**299*x").tree, one, one) == np.inf
    assert evaluate(read("acos(x)").tree, one + 2e-16, one) == 0
    assert evaluate(read("x**0").tree, 0 * one, one) == 1
    assert evaluate(read("(-2)**(x+y)").tree, one, 2 * one) == -8


def test_a_value_divided_by_itself_is_one():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(1000)
    for text in ("x/x", "x*y/(x*y)", "(1+x*x)/(1+x*x)"):
        assert (evaluate(read(text).tree, x, x) == 1).all()


NORMS = {"1": 1, "2": 2, "3": 3, "4": 4, "5/2": 2.5, "inf": np.inf, "1/2": 0.5}


@pytest.mark.parametrize("order", NORMS)
@pytest.mark.parametrize("vector", ["x-y", "y-x", "x+2*y", "x/norm(x) - 3*y", "(x-y)/2", "x"])
def test_norms(rng, order, vector):
    X, Y = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    tree = read(f"norm({vector}, {order})", "vectors").tree
    values = evaluate(tree, X[:, None], Y[None])
    for i, x in enumerate(X):
        for j, y in enumerate(Y):
            names = {"x": x, "y": y, "norm": np.linalg.norm}
            v = np.abs(eval(vector, names))
            p = NORMS[order]
            wanted = v.max() if p == np.inf else (v**p).sum() ** (1 / p)
            assert values[i, j] == pytest.approx(wanted, rel=1e-12)


def test_products_of_vectors(rng):
    X, Y = rng.standard_normal((5, 2)), rng.standard_normal((4, 2))
    A = np.array([[2.0, 1.0], [0.5, 3.0]])
    pairs = {
        "dot(x, y)": X @ Y.T,
        "dot(y, x)": X @ Y.T,
        "dot(x, x)": np.repeat((X**2).sum(axis=1)[:, None], 4, axis=1),
        "dot(x, [[2, 1], [1/2, 3]], y)": X @ A @ Y.T,
        "dot(x, A, y)": X @ A @ Y.T,
        "dot(x-y, A, x+y)": np.array([[(x - y) @ A @ (x + y) for y in Y] for x in X]),
        "dot(2*x, 3*y)": 6 * X @ Y.T,
        "norm(x-y)**2 - dot(x-y, x-y)": np.zeros((5, 4)),
        "2": np.full((5, 4), 2.0),
    }
    for text, wanted in pairs.items():
        tree = read(text, "vectors(2)", "A psd").tree
        values = evaluate(tree, X[:, None], Y[None], {"A": A})
        np.testing.assert_allclose(values, wanted, rtol=1e-12, atol=1e-12, err_msg=text)


def test_a_matrix_that_does_not_fit_is_refused(rng):
    X = rng.standard_normal((5, 3))
    with pytest.raises(InvalidInput, match="does not act on vectors of 3"):
        evaluate(read("dot(x, [[1, 0], [0, 1]], y)", "vectors").tree, X[:, None], X[None])


@pytest.mark.parametrize("text", ["x & y", "x | y", "x ^ y", "x", "(x & y) | x", "x ^ y ^ x"])
def test_sets(text):
    sets = [frozenset(s) for s in ([], [1], [1, 2], [2, 3, 4], [1, 2, 3, 4])]
    formula = read(f"len({text})", "sets")
    wanted = [[len(eval(text, {"x": x, "y": y})) for y in sets] for x in sets]
    assert gram(formula, sets).tolist() == wanted
    P = as_array(sets)
    one_pair = evaluate(formula.tree, P[3], P[4])
    assert one_pair == wanted[3][4]


def test_further_axes_come_first(rng):
    for text, space, shape in (
        ("exp(-abs(x-y)**3)*x*y", "reals", (6, 5)),
        ("exp(-norm(x-y,3))*dot(x,y)", "vectors", (6, 5, 2)),
        ("dot(x,y)", "vectors", (6, 5, 2)),
    ):
        P = rng.standard_normal(shape)
        tree = read(text, space).tree
        wide = space == "vectors"
        x, y = (P[:, :, None, :], P[:, None]) if wide else (P[:, :, None], P[:, None])
        batch = evaluate(tree, x, y, wide=wide)
        for Q, values in zip(P, batch, strict=True):
            np.testing.assert_allclose(gram(read(text, space), Q.tolist()), values, rtol=1e-13)


def test_on_the_circle_points_are_angles():
    formula = read("exp(-norm(x-y)**2) * dot(x, y)", "circle")
    points = [Fraction(0), Fraction(1, 2), Fraction(3)]
    at = np.array([0, 0.5, 3.0])
    z = np.stack([np.cos(at), np.sin(at)], axis=1)
    squares = ((z[:, None] - z) ** 2).sum(axis=2)
    np.testing.assert_allclose(gram(formula, points), np.exp(-squares) * (z @ z.T), atol=1e-15)


def test_inputs_are_not_written_into(rng):
    X = rng.standard_normal((4, 1))
    before = X.copy()
    X.setflags(write=False)
    for text in ("x", "x**1", "exp(x)", "x*1", "abs(x) + abs(x)", "max(x, x)"):
        value = evaluate(read(text).tree, X, X.T)
        value[...] = 7
        assert (before == X).all()
