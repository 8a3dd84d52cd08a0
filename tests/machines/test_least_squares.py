"""From kernel and plan to a solution: what is stored, what is said, what memory it takes."""

import json
import subprocess
import sys

import numpy as np
import pytest

import mercer as mc
from mercer.domains.samples import as_sample
from mercer.errors import BudgetExceeded, NotPositiveDefinite
from mercer.machines.assumed import check_assumed
from mercer.machines.least_squares import fit_least_squares
from mercer.solvers import cholesky, choose

K = mc.Gaussian(1.3)


@pytest.fixture
def sample(rng):
    X = rng.normal(size=(120, 3))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=120)
    return as_sample(K.domain.encode(X), y, None)


def fit(sample, penalty=0.01, kernel=K, **plan):
    chance = np.random.RandomState(0)
    return fit_least_squares(
        kernel, sample, penalty, plan=mc.Plan(**plan), has_offset=True, chance=chance
    )


def test_where_float32_is_too_rough_the_factor_is_in_float64(sample, monkeypatch):
    monkeypatch.setattr(choose, "MIXED", 100)
    monkeypatch.setattr(cholesky, "WORTH", 30)
    assert fit(sample, 1.0).plan.method == "mixed"
    found = fit(sample, 1e-7)
    assert found.plan.method == found.solution.method == "cholesky"
    assert "float32 is too rough" in str(found.plan)
    assert found.plan.memory <= found.plan.budget


def test_where_float64_does_not_fit_float32_is_taken_at_any_price(sample, monkeypatch):
    monkeypatch.setattr(choose, "MIXED", 100)
    monkeypatch.setattr(choose, "TILES", 1_000)
    monkeypatch.setattr(cholesky, "WORTH", 30)
    needs = choose.needed(120, 1, 0, 0, many_penalties=False)
    found = fit(sample, 1e-7, memory=(needs["mixed"] + needs["cholesky"]) // 2)
    assert found.solution.method == "mixed"
    assert found.solution.residual <= 1e-8


def test_all_methods_give_one_function(sample):
    wanted = fit(sample, method="spectral")
    for method in ("band", "cholesky", "mixed", "conjugate"):
        found = fit(sample, method=method, tolerance=1e-11)
        np.testing.assert_allclose(
            found.solution.coefficients, wanted.solution.coefficients, atol=1e-9
        )
        assert found.is_exact


def test_landmarks_by_both_ways_are_one_function(sample):
    one = fit(sample, 0.01, method="landmarks", anchors=30, tolerance=1e-11)
    path = fit(sample, np.array([0.01, 1e9]), method="landmarks", anchors=30)
    assert path.penalty == 0.01
    assert len(one.anchors) == len(path.anchors) == 30
    assert not one.is_exact
    values = K.block(sample.points, one.anchors)
    np.testing.assert_allclose(
        values @ one.solution.coefficients + one.solution.offset,
        values @ path.solution.coefficients + path.solution.offset,
        atol=1e-7,
    )


def test_the_penalty_that_landmarks_choose_is_used_on_all_points(sample, monkeypatch):
    monkeypatch.setattr(choose, "SPECTRAL", 100)
    monkeypatch.setattr(choose, "LANDMARKS", 40)
    found = fit(sample, None)
    assert found.is_exact
    assert found.solution.method == found.plan.method == "cholesky"
    assert "leave-one-out over 40 landmarks" in str(found.plan)
    assert found.penalty in found.path.penalties
    wanted = fit(sample, found.penalty, method="cholesky").solution
    np.testing.assert_array_equal(found.solution.coefficients, wanted.coefficients)
    # Who asks for landmarks gets them, and so does who has no room for more.
    assert not fit(sample, None, method="landmarks").is_exact
    assert not fit(sample, None, anchors=40).is_exact
    monkeypatch.setattr("mercer.machines.least_squares.EXACT", 100)
    assert not fit(sample, None).is_exact


def test_all_points_as_landmarks_are_the_exact_method(sample):
    exact = fit(sample, method="cholesky")
    found = fit(sample, method="landmarks", tolerance=1e-11)
    values = [
        K.block(sample.points, one.anchors) @ one.solution.coefficients + one.solution.offset
        for one in (exact, found)
    ]
    np.testing.assert_allclose(*values, atol=1e-7)


def test_the_kernel_of_sets_is_stored_where_there_is_room(rng):
    kernel = mc.SetIntersection()
    sets = [{int(w) for w in rng.integers(0, 50, 5)} for _ in range(60)]
    sample = as_sample(kernel.domain.encode(sets), rng.normal(size=60), None)
    roomy = fit(sample, 0.1, kernel, method="cholesky")
    assert roomy.plan.memory >= 2 * 8 * len(sample) ** 2
    tight = fit(sample, 0.1, kernel, method="cholesky", memory=roomy.plan.memory - 1)
    assert tight.plan.memory < roomy.plan.memory
    np.testing.assert_allclose(
        tight.solution.coefficients, roomy.solution.coefficients, atol=1e-10
    )


def test_what_nobody_proved_is_looked_at(rng):
    X = rng.normal(size=(50, 2))
    wrong = mc.from_function(lambda x, y: float(abs(x @ y)) - 0.9 * float(x @ y))
    with pytest.raises(NotPositiveDefinite, match=r"50 of the points.*\n.*check_kernel"):
        check_assumed(wrong, wrong.domain.encode(X))
    right = mc.from_function(lambda x, y: float(x @ y))
    check_assumed(right, right.domain.encode(np.repeat(X, 3, axis=0)))
    check_assumed(K, K.domain.encode(X))


MEASURE = """
import json, resource, sys
import numpy as np
import mercer as mc

n, d, penalty, options = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.normal(size=(n, d))
y = np.sin(X[:, 0]) + X[:, 1]
warm = mc.KernelRidge(mc.Gaussian(3.0), penalty, plan=mc.Plan(**options | {"memory": "1 GB"}))
warm.fit(X[:500], y[:500]).predict(X[:500])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = mc.KernelRidge(mc.Gaussian(3.0), penalty, plan=mc.Plan(**options)).fit(X, y)
model.predict(X)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
unit = 1 if sys.platform == "darwin" else 1024
print(json.dumps([(after - before) * unit, model.plan_.memory, model.plan_.method]))
"""


@pytest.mark.parametrize(
    ("n", "penalty", "options", "method"),
    [
        (2_500, 1e-3, {"memory": "110 MB"}, "cholesky"),
        (2_500, 1e-3, {"memory": "80 MB", "method": "mixed"}, "mixed"),
        (2_500, 1e-3, {"memory": "60 MB"}, "landmarks"),
        (2_500, "auto", {"memory": "80 MB"}, "landmarks"),
        (1_000, "auto", {"memory": "80 MB"}, "spectral"),
        (1_500, [1e-2, 1e-1, 1.0], {"memory": "140 MB"}, "band"),
        (2_500, 1e-1, {"memory": "70 MB", "method": "conjugate"}, "conjugate"),
    ],
)
def test_the_budget_is_kept(n, penalty, options, method):
    """The peak of a process of its own, above what it held after a small fit."""
    options = {"method": "cholesky", **options} if method == "cholesky" else options
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, json.dumps([n, 5, penalty, options])],
        capture_output=True,
        text=True,
        check=True,
    )
    taken, told, chosen = json.loads(run.stdout.splitlines()[-1])
    assert chosen == method
    assert told <= mc.Plan(**options).budget()
    # The allocator keeps a little more than was asked of it.
    assert taken <= told + 10e6


def test_what_fits_nowhere_is_refused(sample):
    with pytest.raises(BudgetExceeded, match="allow more"):
        fit(sample, memory="10 KB")
