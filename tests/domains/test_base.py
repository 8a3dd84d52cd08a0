import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from mercer.domains import REALS, Anything, Batch, Categories, Numbers, Sets, Vectors, distinct
from mercer.domains.records import Records
from mercer.errors import DomainMismatch, InvalidInput, InvalidType

masses = st.floats(0.1, 10.0) | st.just(0.0)
rows = st.lists(st.tuples(st.integers(-2, 2), masses), min_size=1, max_size=20).filter(
    lambda pairs: any(mass for _, mass in pairs)
)


@given(rows)
def test_the_sum_of_weights_is_kept(pairs):
    values, weights = map(list, zip(*pairs, strict=True))
    once = distinct(REALS.encode(values), np.array(weights))
    assert once.weights.sum() == pytest.approx(sum(weights))
    assert (once.weights > 0).all()
    assert len(once.points) == len({v for v, w in pairs if w > 0} - _empty(pairs))


def _empty(pairs):
    return {v for v, _ in pairs if sum(w for u, w in pairs if u == v) == 0}


@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(pairs, random):
    moved = random.sample(pairs, len(pairs))
    one, two = (
        distinct(REALS.encode([v for v, _ in p]), np.array([w for _, w in p]))
        for p in (pairs, moved)
    )
    # Bit for bit: sums are taken in an order of their own.
    assert np.array_equal(one.points.values, two.points.values)
    assert np.array_equal(one.weights, two.weights)


@given(
    st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 3)), min_size=1).filter(
        lambda pairs: any(times for _, times in pairs)
    )
)
def test_weights_equal_repetition(pairs):
    weighted = distinct(REALS.encode([v for v, _ in pairs]), np.array([t for _, t in pairs]))
    repeated = distinct(REALS.encode([v for v, t in pairs for _ in range(t)]))
    assert np.array_equal(weighted.points.values, repeated.points.values)
    assert np.array_equal(weighted.weights, repeated.weights)


def test_weight_zero_is_no_row():
    once = distinct(REALS.encode([5.0, 1.0, 5.0]), np.array([0.0, 2.0, 0.0]))
    assert once.points.values.tolist() == [[1.0]]
    assert once.labels.tolist() == [-1, 0, -1]


def test_labels_lead_back_to_the_points():
    X = np.random.default_rng(0).integers(0, 2, size=(30, 3)).astype(float)
    once = distinct(Vectors().encode(X))
    assert np.array_equal(once.points.values[once.labels], X)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "2 points need 2 weights"),
        ([1.0, -1.0], "finite and not negative"),
        ([1.0, np.nan], "finite and not negative"),
        ([0.0, 0.0], "all weights are zero"),
    ],
)
def test_weights_that_are_none(weights, message):
    with pytest.raises(InvalidInput, match=message):
        distinct(REALS.encode([1, 2]), np.array(weights))


def test_a_domain_meets_itself_and_what_it_shares():
    assert Sets().meet(Sets()) == Sets()
    assert Anything().meet(Sets()) == Sets() == Sets().meet(Anything())
    assert Vectors().meet(Numbers(low=1)) == Numbers(low=1)


@pytest.mark.parametrize("other", [Categories(), Vectors(), Numbers(), Records()])
def test_domains_with_nothing_in_common(other):
    with pytest.raises(DomainMismatch, match="no point belongs to both"):
        Sets().meet(other)


@pytest.mark.parametrize("domain", [Vectors(), Numbers(), Records(), Categories()])
def test_a_batch_of_another_domain(domain):
    with pytest.raises(InvalidType, match="already encoded, as a SetBatch"):
        domain.encode(Sets().encode([{1}]))


def test_a_batch_need_not_list_its_points():
    class Secret(Batch):
        def __len__(self):
            return 1

        def __getitem__(self, index):
            return self

        def identify(self, *others):
            return ()

    with pytest.raises(NotImplementedError, match="Secret"):
        Secret().raw()


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, "a"], "weights are one number a row"),
        ([1, 1j], "weights are one number a row"),
        (np.ma.array([1.0, 2.0], mask=[False, True]), "masked"),
        ([1e308, 1e308], "more than 1e308"),
    ],
)
def test_what_is_no_weight(weights, words):
    with pytest.raises(InvalidInput, match=words):
        distinct(REALS.encode([1.0, 1.0]), weights)


@pytest.mark.parametrize(
    ("domain", "points"),
    [
        (Vectors(), lambda X: X),
        (Vectors(), lambda X: sp.csr_array((X.ravel(), np.tile([0, 1], 2), [0, 2, 4]))),
        (Anything(), list),
        (Records(), lambda X: {"x": X}),
    ],
    ids=["dense", "sparse", "objects", "records"],
)
def test_points_that_lie_in_memory_of_the_user(domain, points):
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert domain.encode(points(X)).shares_memory(X[:, :1])
    assert not domain.encode(points(X)).shares_memory(X.copy())
