"""Saving and loading: the same predictions to the last bit, for every machine and domain."""

import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn

import mercer as mc
from mercer import machines, persistence
from mercer.persistence import store

KERNELS = [
    "gaussian((0.5, 2.0, 3.0))",
    "2.5 * linear + polynomial(3, 0.5) * exponential(2.0)",
    "normalized(polynomial(2)) + exp(gaussian(0.7))",
    "schoenberg(linear, 0.5) ** 2",
    "series(gaussian, (0.0, 1.0, 0.5))",
    "gaussian(0.5).on(0, 2) + matern(2.5, 1.5).on(1)",
    "gaussian(metric=((2.0, 0.5, 0.0), (0.5, 1.0, 0.0), (0.0, 0.0, 1.0)))",
    "rational_quadratic(0.3, 0.1) + wendland(1, 5.0)",
]


@pytest.fixture
def data(rng):
    X = rng.normal(size=(30, 3))
    return X, np.sin(X[:, 0]) + X[:, 1]


def again(machine, tmp_path, **options):
    mc.save(machine, tmp_path / "m.mercer", **options)
    return mc.load(tmp_path / "m.mercer")


@pytest.mark.parametrize("name", machines.__all__)
def test_every_machine_comes_back_the_same_to_the_last_bit(name, data, tmp_path):
    X, y = data
    machine = getattr(machines, name)()
    if name == "KernelCenterer":  # it takes kernel values alone
        X = X @ X.T
    assert again(machine, tmp_path).get_params() == machine.get_params()
    machine.fit(X, (y > 0).astype(int))
    back = again(machine, tmp_path)
    assert type(back) is type(machine)
    asked = 0
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(machine, method):
            asked += 1
            wanted, found = (getattr(m, method)(X[::-1] + 0.1) for m in (machine, back))
            np.testing.assert_array_equal(found, wanted)
    assert asked
    assert not hasattr(back, "kernel_") or back.kernel_ == machine.kernel_


@pytest.mark.parametrize("text", KERNELS)
def test_a_kernel_comes_back_equal(text, data, tmp_path):
    X, y = data
    machine = mc.KernelRidge(text, 0.1).fit(X, y)
    back = again(machine, tmp_path)
    assert back.kernel_ == machine.kernel_ == mc.kernel(text)
    assert (back.predict(X) == machine.predict(X)).all()
    assert again(mc.KernelRidge(mc.kernel(text)), tmp_path).kernel == mc.kernel(text)


def test_a_kernel_longer_than_a_text_may_be_comes_back(rng, tmp_path):
    kernel = mc.Gaussian(scale=tuple(rng.uniform(1, 2, size=3000)))
    X, y = rng.normal(size=(5, 3000)), rng.normal(size=5)
    with pytest.raises(mc.errors.NoTextForm):
        mc.kernel(str(kernel))
    assert again(mc.KernelRidge(kernel, 0.1).fit(X, y), tmp_path).kernel_ == kernel


def test_deviations_and_intervals_come_back_the_same(data, tmp_path):
    X, y = data
    machine = mc.KernelRidge().fit(X, y)
    back = again(machine, tmp_path)
    for wanted, found in zip(
        machine.predict(X + 0.1, return_std=True),
        back.predict(X + 0.1, return_std=True),
        strict=True,
    ):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(
        back.predict_interval(X + 0.1), machine.predict_interval(X + 0.1)
    )
    assert str(back.plan_) == str(machine.plan_)
    assert back.function_.norm() == machine.function_.norm()
    np.testing.assert_array_equal(back.loo_predictions_, machine.loo_predictions_)


def test_a_band_is_kept_as_it_is(data, tmp_path):
    X, y = data
    machine = mc.KernelRidge("gaussian(1.0)", [0.1, 0.01], plan="band").fit(X, y)
    mc.save(machine, tmp_path / "m.mercer")
    back = mc.load(tmp_path / "m.mercer")
    np.testing.assert_array_equal(back.predict_interval(X), machine.predict_interval(X))
    np.testing.assert_array_equal(
        back.predict(X, return_std=True), machine.predict(X, return_std=True)
    )


def test_what_only_intervals_need_can_be_left_out(data, tmp_path):
    X, y = data
    machine = mc.KernelRidge().fit(X, y)
    mc.save(machine, tmp_path / "whole.mercer")
    mc.save(machine, tmp_path / "light.mercer", intervals=False)
    whole, light = ((tmp_path / f"{n}.mercer").stat().st_size for n in ("whole", "light"))
    # 29 eigenvectors of 30 numbers of 8 bytes, and more.
    assert light < whole - 29 * 30 * 8
    back = mc.load(tmp_path / "light.mercer")
    assert (back.predict(X) == machine.predict(X)).all()
    with pytest.raises(mc.errors.MercerError):
        back.predict_interval(X)


def test_landmarks_are_all_that_is_kept_of_many_rows(rng, tmp_path):
    X = rng.normal(size=(2000, 4))
    plan = mc.Plan(method="landmarks", anchors=20)
    machine = mc.KernelRidge("gaussian(2.0)", plan=plan).fit(X, X[:, 0])
    mc.save(machine, tmp_path / "m.mercer")
    # One prediction left out a row, and 20 landmarks: not the 2000 x 4 points, nor the
    # 2000 x 20 eigenvectors.
    assert (tmp_path / "m.mercer").stat().st_size < 8 * 2000 * 4
    assert (mc.load(tmp_path / "m.mercer").predict(X) == machine.predict(X)).all()


TABLE = {
    "age": [31.0, 47.0, np.nan, 60.0, 22.0, 35.0],
    "city": ["Oslo", None, "Rome", "Oslo", "Bern", "Rome"],
    "words": [{"a"}, {"a", "b"}, set(), {"c"}, {"b"}, {"a", "c"}],
}
TABLE_KERNEL = "delta.on('age') + delta.on('city') + jaccard.on('words')"
DOMAINS = {
    "a table": (TABLE_KERNEL, TABLE),
    "sets": ("jaccard", [{"a", 1}, {"b"}, set(), {"c", ("d", 2)}]),
    "numbers": ("min", np.array([[1.0], [2.0], [3.5]])),
    "texts": ("delta", ["b", "a", "b", "c"]),
    "odd labels": ("delta", [None, 3, "x", (1, "y"), b"z", frozenset({1}), 2.5, True]),
    "big numbers": ("delta", [2**60, 2**60 + 1, -5]),
    "sparse vectors": ("gaussian", sp.csr_array(np.eye(5)[:, :4])),
    "single precision": ("linear", np.eye(4, dtype=np.float32)),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_points_of_every_domain_come_back(name, rng, tmp_path):
    text, X = DOMAINS[name]
    rows = 6 if name == "a table" else X.shape[0] if hasattr(X, "shape") else len(X)
    y = rng.normal(size=rows)
    machine = mc.KernelRidge(text, 0.1).fit(X, y)
    back = again(machine, tmp_path)
    np.testing.assert_array_equal(back.predict(X), machine.predict(X))
    np.testing.assert_array_equal(back.function_(X), machine.function_(X))


def test_a_kernel_given_by_its_values_comes_back(data, tmp_path):
    X, y = data
    K = mc.Gaussian()(X)
    machine = mc.KernelRidge("precomputed", 0.1).fit(K, y)
    assert (again(machine, tmp_path).predict(K[:4]) == machine.predict(K[:4])).all()


def test_a_proved_formula_comes_back_with_its_proof(rng, tmp_path):
    kernel = mc.kernel("formula('min(x, y)/max(x, y)', 'positive') + min")
    x = rng.uniform(1, 2, size=(8, 1))
    machine = mc.KernelRidge(kernel, 0.1).fit(x, x[:, 0])
    back = again(machine, tmp_path)
    assert back.kernel_ == kernel
    back.kernel_.proof().check()
    assert (back.predict(x) == machine.predict(x)).all()


def test_parameters_of_every_kind_come_back(tmp_path):
    chance = np.random.RandomState(3)
    machine = mc.KernelRidge(
        mc.Gaussian(2.0), np.array([0.1, 1.0]), plan=mc.Plan(memory="1 GB"), random_state=chance
    )
    back = again(machine, tmp_path)
    assert back.kernel == machine.kernel
    assert back.plan == machine.plan
    assert (back.penalty == machine.penalty).all()
    assert back.random_state.randint(10**6) == chance.randint(10**6)


def test_requests_for_metadata_come_back(tmp_path):
    with sklearn.config_context(enable_metadata_routing=True):
        machine = mc.KernelRidge().set_fit_request(sample_weight=True)
        back = again(machine, tmp_path)
        assert back.get_metadata_routing().fit.requests == {"sample_weight": True}


def test_names_of_columns_come_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0]})
    back = again(mc.KernelRidge("linear", 0.1).fit(X, [1.0, 2.0, 3.0]), tmp_path)
    assert list(back.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="names"):
        back.predict(X[["b", "a"]])


def test_plain_data_are_kept_beside(data, tmp_path):
    X, y = data
    about = {"rows": 3, "names": ["a", None], "more": {"x": (1.5, True)}}
    mc.save(mc.KernelRidge("linear", 1.0).fit(X, y), tmp_path / "m.mercer", about=about)
    stored = persistence.read(tmp_path / "m.mercer")
    assert stored.about == about
    assert stored.versions["numpy"] == np.__version__


# What is refused when it is saved


@pytest.mark.parametrize(
    "kernel",
    [
        mc.FeatureKernel(lambda x: [x]),
        mc.from_function(lambda x, y: 1.0),
        mc.Gaussian().map(lambda x: x),
        2 * mc.Linear().weighted(lambda x: 1.0) + mc.Gaussian(),
        lambda x, y: 1.0,
    ],
)
def test_code_of_the_user_is_refused_with_a_way_out(kernel, tmp_path):
    with pytest.raises(mc.errors.MercerError, match=r"(?s)run.*pickle.*risk"):
        mc.save(mc.KernelRidge(kernel, 0.1), tmp_path / "m.mercer")
    assert not list(tmp_path.iterdir())


def test_a_kernel_of_a_class_of_the_user_is_refused(tmp_path):
    class Mine(mc.Gaussian):
        pass

    with pytest.raises(mc.errors.NoTextForm, match="code of your own"):
        mc.save(mc.KernelRidge(Mine()), tmp_path / "m.mercer")


def test_what_is_no_machine_is_refused(tmp_path):
    class Mine(mc.KernelRidge):
        pass

    for thing in (Mine(), mc.Gaussian(), "text", None):
        with pytest.raises(mc.errors.InvalidType, match="no machine of mercer"):
            mc.save(thing, tmp_path / "m.mercer")


def test_an_object_among_what_was_learned_is_refused(data, tmp_path):
    machine = mc.KernelRidge("linear", 1.0).fit(*data)
    machine.extra_ = object()
    with pytest.raises(mc.errors.InvalidType, match="extra_"):
        mc.save(machine, tmp_path / "m.mercer")


# The file


def test_what_stops_the_writing_leaves_the_old_file(data, tmp_path, monkeypatch):
    machine = mc.KernelRidge("linear", 1.0).fit(*data)
    path = tmp_path / "m.mercer"
    mc.save(machine, path)
    before = path.read_bytes()

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "pack", stop)
    with pytest.raises(KeyboardInterrupt):
        mc.save(machine, path)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["m.mercer"]


def test_a_link_is_followed(data, tmp_path):
    (tmp_path / "real.mercer").write_text("old")
    (tmp_path / "link.mercer").symlink_to("real.mercer")
    mc.save(mc.KernelRidge("linear", 1.0).fit(*data), tmp_path / "link.mercer")
    assert (tmp_path / "link.mercer").is_symlink()
    assert mc.load(tmp_path / "real.mercer")


def test_where_nothing_can_be_written_it_is_told(data, tmp_path):
    machine = mc.KernelRidge("linear", 1.0).fit(*data)
    for path in (tmp_path, tmp_path / "none" / "m.mercer"):
        with pytest.raises(mc.errors.InvalidFile, match="Name"):
            mc.save(machine, path)


def test_a_file_of_another_version_says_so(data, tmp_path, monkeypatch):
    machine = mc.KernelRidge("linear", 1.0).fit(*data)
    mine = store.versions()
    monkeypatch.setattr(store, "versions", lambda: mine | {"mercer": "0.0.1"})
    mc.save(machine, tmp_path / "m.mercer")
    monkeypatch.setattr(store, "versions", lambda: mine)
    with pytest.warns(UserWarning, match=r"(?s)mercer 0\.0\.1.*Fit again"):
        mc.load(tmp_path / "m.mercer")


def test_a_file_of_another_layout_is_refused(data, tmp_path, monkeypatch):
    machine = mc.KernelRidge("linear", 1.0).fit(*data)
    monkeypatch.setattr(store, "FORMAT", 99)
    mc.save(machine, tmp_path / "m.mercer")
    monkeypatch.undo()
    with pytest.raises(mc.errors.InvalidFile, match="layout 99"):
        mc.load(tmp_path / "m.mercer")


def test_the_file_is_one_of_skops_that_names_no_class_of_ours(data, tmp_path):
    skops = pytest.importorskip("skops.io")
    mc.save(mc.KernelRidge().fit(*data), tmp_path / "m.mercer")
    assert skops.get_untrusted_types(file=tmp_path / "m.mercer") == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text, *arrays = skops.load(tmp_path / "m.mercer", trusted=[])
    assert json.loads(text)["machine"]["is"] == "KernelRidge"
    assert all(isinstance(array, np.ndarray) for array in arrays)
