"""Which functions are sections, and the search for the closest one."""

import numpy as np
import pytest

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter

SQUARE = mc.Polynomial(degree=2, offset=0)


# Which have one


@pytest.mark.parametrize("kernel", [mc.Gaussian(), SQUARE, mc.Linear(), mc.Laplacian()])
def test_a_section_has_a_preimage(kernel, rng):
    assert mc.has_preimage(mc.section(kernel, rng.normal(size=3)))


@pytest.mark.parametrize("kernel", [mc.Gaussian(), mc.Laplacian(), mc.Matern()])
def test_sections_of_strict_kernels_are_independent(kernel, rng):
    X = rng.normal(size=(3, 2))
    f = mc.section(kernel, X[0])
    assert not mc.has_preimage(mc.barycenter(kernel, X))
    assert not mc.has_preimage(2 * f)
    assert not mc.has_preimage(-f)
    assert not mc.has_preimage(f - f)
    g = mc.section(kernel, X[1])
    assert mc.has_preimage(f + g - g)
    # The same anchor twice is one section.
    assert mc.has_preimage(mc.Function(kernel, X[[0, 0, 1]], [0.25, 0.75, 0.0]))
    F = mc.Function(kernel, X, np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]))
    np.testing.assert_array_equal(mc.has_preimage(F), [True, False])


def test_every_linear_function_has_one(rng):
    f = mc.Function(mc.Linear(), rng.normal(size=(4, 3)), rng.normal(size=4))
    assert mc.has_preimage(f)
    found = mc.preimage(f)
    # The distance is the root of a difference that is right to 1e-15.
    assert found.distance <= 1e-7
    assert f.distance(mc.section(mc.Linear(), found.point)) <= 1e-7


def test_a_quadratic_form_has_one_if_it_is_positive_of_rank_one(rng):
    x, y = [3.0, 0.0, 0.0], [0.0, 4.0, 0.0]
    f, g = mc.section(SQUARE, x), mc.section(SQUARE, y)
    for function, expected in (
        (f, True),
        (2 * f, True),
        (-f, False),
        (f + g, False),
        (f - f, True),
    ):
        assert mc.has_preimage(function) is expected, expected
        assert mc.has_preimage(function) == (mc.preimage(function).distance <= 1e-6)
    # The closest square to 9 x0^2 + 16 x1^2 is the larger one, and the other is left over.
    found = mc.preimage(f + g)
    np.testing.assert_allclose(np.abs(found.point), y, rtol=0, atol=1e-12)
    assert found.distance == pytest.approx(9.0, rel=1e-12)
    assert mc.preimage(-f).distance == pytest.approx(f.norm())
    assert mc.has_preimage(mc.section(mc.Linear() ** 2, x))
    many = mc.Function(SQUARE, rng.normal(size=(5, 3)), rng.normal(size=5))
    assert not mc.has_preimage(many)


def test_other_kernels_say_that_they_do_not_know():
    f = mc.section(mc.Polynomial(3), [1.0])
    for ask in (mc.has_preimage, mc.preimage):
        with pytest.raises(InvalidParameter, match=r"known|searched"):
            ask(f)
    with pytest.raises(InvalidParameter, match="candidates"):
        mc.preimage(mc.section(mc.Laplacian(), [1.0]))


# The search for the Gaussian


@pytest.mark.parametrize("scale", [0.3, 1.0, (0.5, 2.0, 1.0)])
def test_the_search_finds_the_point_of_a_section(scale, rng):
    x = rng.normal(size=3)
    f = mc.section(mc.Gaussian(scale), x)
    found = mc.preimage(f)
    np.testing.assert_allclose(found.point, x, rtol=0, atol=1e-12)
    assert found.distance <= 1e-7


def test_the_search_recovers_a_section_from_its_projection(rng):
    # K_x is nearly in the span of many sections around x.
    k, x = mc.Gaussian(1.0), np.array([0.2, -0.1])
    f = mc.section(k, x).project(rng.uniform(-1.5, 1.5, (60, 2)))
    found = mc.preimage(f)
    np.testing.assert_allclose(found.point, x, rtol=0, atol=1e-3)
    assert found.distance < 1e-3


@pytest.mark.parametrize("sign", ["positive", "mixed"])
@pytest.mark.parametrize("scale", [0.3, 1.0])
def test_the_point_found_is_the_best_of_a_grid(sign, scale, rng):
    c = rng.normal(size=12)
    f = mc.Function(
        mc.Gaussian(scale), rng.uniform(-2, 2, (12, 2)), np.abs(c) if sign == "positive" else c
    )
    found = mc.preimage(f)
    axis = np.linspace(-3, 3, 121)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    assert f(found.point[None])[0] >= f(grid).max()
    # There the gradient is zero: the iteration stops when steps are below rounding, or after
    # a thousand steps of a linear rate.
    assert np.abs(f.gradient(found.point[None])).max() <= 1e-6
    # And the distance is that of the section.
    apart = f.distance(mc.section(f.kernel, found.point))
    assert found.distance == pytest.approx(apart, abs=1e-7)


def test_where_the_function_is_negative_everywhere_the_search_still_climbs():
    f = -mc.section(mc.Gaussian(), [0.0])
    found = mc.preimage(f, start=[[1.0]])
    # ||f - K_x||^2 = 2 + 2 k(0, x), which is least far away from 0.
    assert np.sqrt(2) <= found.distance < 1.8


def test_a_start_can_be_given(rng):
    # Two hills; the higher one has no anchor near it.
    k = mc.Gaussian(0.5)
    f = mc.barycenter(k, [[-3.0], [2.5], [3.5]])
    found = mc.preimage(f, start=[3.0])
    assert f(found.point[None])[0] >= f([[-3.0], [2.5], [3.0]]).max()
    for start in ([[1.0, 2.0]], [1.0, 2.0], [["a"]], [np.nan]):
        with pytest.raises(InvalidInput):
            mc.preimage(f, start=start)


def test_several_outputs_have_a_point_each(rng):
    X = rng.normal(size=(2, 3))
    f = mc.Function(mc.Gaussian(), X, np.eye(2))
    found = mc.preimage(f)
    np.testing.assert_allclose(found.point, X, rtol=0, atol=1e-12)
    assert found.distance.shape == (2,)


def test_the_search_takes_single_precision_and_sparse_points(rng):
    sparse = pytest.importorskip("scipy.sparse")
    X = rng.normal(size=(5, 2))
    expected = mc.preimage(mc.barycenter(mc.Gaussian(), X)).point
    for points, room in ((X.astype(np.float32), 1e-3), (sparse.csr_array(X), 1e-7)):
        found = mc.preimage(mc.barycenter(mc.Gaussian(), points)).point
        np.testing.assert_allclose(found, expected, rtol=0, atol=room)


@pytest.mark.parametrize("power", [-1000, -500, 500, 1000])
def test_the_search_does_not_mind_the_size_of_the_function(power, rng):
    X, c = rng.normal(size=(5, 2)), rng.uniform(1, 2, 5)
    at = mc.preimage(mc.Function(mc.Gaussian(), X, c)).point
    far = mc.preimage(mc.Function(mc.Gaussian(), X, np.ldexp(c, power)))
    np.testing.assert_array_equal(far.point, at)
    assert np.isfinite(far.distance)
