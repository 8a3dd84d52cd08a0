"""`check_machine`: what every machine promises, on points of any domain."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils import _safe_indexing

from mercer.functions import Function
from mercer.testing.report import BrokenLaw, NotApplicable, Report, held_to

SAME = 1e-8
"""The relative difference of values that come from the same measure in another form."""

METHODS = ("predict", "decision_function", "predict_proba", "transform", "kneighbors")
"""What a fitted machine may be asked about points."""


@dataclass(frozen=True)
class Trial:
    """A machine with data to learn from.

    Attributes:
        machine: The machine, not fitted.
        points: Raw points.
        targets: A target a point, or None.
    """

    machine: Any
    points: Any
    targets: Any

    def fresh(self) -> Any:
        """A machine of its own, whose chance is fixed."""
        machine = clone(self.machine)
        if "random_state" in machine.get_params(deep=False):
            machine.set_params(random_state=0)
        return machine

    def fit(self, rows: Any = None, **more: Any) -> Any:
        """A machine that has learned from all points, or from these rows."""
        chosen = np.arange(len(self)) if rows is None else np.asarray(rows)
        X = take(self.points, chosen)
        if self.targets is None:
            return self.fresh().fit(X, **more)
        return self.fresh().fit(X, np.asarray(self.targets)[chosen], **more)

    def __len__(self) -> int:
        if isinstance(self.points, Mapping):
            return len(next(iter(self.points.values())))
        shape = getattr(self.points, "shape", None)
        return int(shape[0]) if shape else len(self.points)

    def answers(self, machine: Any, points: Any = None) -> dict[str, np.ndarray[Any, Any]]:
        """All that a fitted machine says of points."""
        X = self.points if points is None else points
        found: dict[str, np.ndarray[Any, Any]] = {}
        for name in METHODS:
            if hasattr(machine, name):
                said = getattr(machine, name)(X)
                parts = said if isinstance(said, tuple) else (said,)
                found |= {f"{name}[{n}]": np.asarray(part) for n, part in enumerate(parts)}
        if not found:
            raise BrokenLaw(f"a machine answers, and this one has none of {METHODS}.")
        return found


def take(points: Any, rows: Any) -> Any:
    """Some of the raw points, in their form."""
    if isinstance(points, Mapping):
        return {name: _safe_indexing(column, rows) for name, column in points.items()}
    if isinstance(points, tuple):
        return tuple(points[int(row)] for row in rows)
    return _safe_indexing(points, rows)


def same(found: Mapping[str, Any], wanted: Mapping[str, Any], meaning: str) -> None:
    """Raise unless two sets of answers agree."""
    for name, expected in wanted.items():
        given = found[name]
        if given.shape != expected.shape:
            raise BrokenLaw(f"{meaning}\n{name}: shape {given.shape}, not {expected.shape}.")
        if expected.dtype.kind in "fc":
            size = float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0))
            off = ~np.isclose(given, expected, rtol=SAME, atol=SAME * size, equal_nan=True)
        else:
            off = given != expected
        if off.any():
            at = tuple(int(n) for n in np.argwhere(off)[0])
            raise BrokenLaw(
                f"{meaning}\n{name} at {at}: {given[at]!r}, not {expected[at]!r}; "
                f"{int(off.sum())} of {off.size} differ."
            )


# ----------------------------------------------------------------------------------- laws


def _returns_itself(trial: Trial) -> None:
    machine = trial.fresh()
    given = (trial.points,) if trial.targets is None else (trial.points, trial.targets)
    if machine.fit(*given) is not machine:
        raise BrokenLaw("fit(...) must return the machine itself.")


def _leaves_parameters(trial: Trial) -> None:
    machine = trial.fresh()
    before = {name: repr(value) for name, value in machine.get_params().items()}
    points, targets = copy.deepcopy(trial.points), copy.deepcopy(trial.targets)
    fitted = machine.fit(points) if targets is None else machine.fit(points, targets)
    after = {name: repr(value) for name, value in fitted.get_params().items()}
    if before != after:
        changed = [name for name in before if before[name] != after.get(name)]
        raise BrokenLaw(
            f"fit(...) changed the parameters {changed}: keep what is found in name_."
        )
    if not (_equal(points, trial.points) and _equal(targets, trial.targets)):
        raise BrokenLaw("fit(...) changed the data that it was given.")


def _equal(one: Any, other: Any) -> bool:
    """Whether data of any form are the same."""
    if isinstance(one, Mapping):
        return all(_equal(one[name], other[name]) for name in one)
    if hasattr(one, "equals"):
        return bool(one.equals(other))
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, other))
    return bool(one == other)


def _clones(trial: Trial) -> None:
    fitted = trial.fit()
    again = clone(fitted)
    names = [n for n in vars(again) if n.endswith("_") and not n.startswith("_")]
    if names:
        raise BrokenLaw(f"a clone must not be fitted, and has {names}.")
    method = next(name for name in METHODS if hasattr(fitted, name))
    try:
        getattr(again, method)(trial.points)
    except NotFittedError:
        return
    raise BrokenLaw(f"{method} before fit must raise NotFittedError.")


def _takes_parameters(trial: Trial) -> None:
    machine = trial.fresh()
    machine.set_params(**machine.get_params(deep=False))
    try:
        machine.set_params(no_such_parameter=1)
    except ValueError:
        return
    raise BrokenLaw("set_params(no_such_parameter=1) must raise a ValueError.")


def _learns_anew(trial: Trial) -> None:
    machine = trial.fit()
    first = trial.answers(machine)
    given = (trial.points,) if trial.targets is None else (trial.points, trial.targets)
    same(trial.answers(machine.fit(*given)), first, "a second fit must forget the first.")


def _one_by_one(trial: Trial) -> None:
    machine = trial.fit()
    whole = trial.answers(machine)
    rows = np.arange(len(trial))[:5]
    alone = [trial.answers(machine, take(trial.points, rows[n : n + 1])) for n in rows]
    found = {name: np.concatenate([one[name] for one in alone]) for name in whole}
    wanted = {name: values[:5] for name, values in whole.items()}
    same(found, wanted, "what is said of a point must not depend on the other points.")


def _order_of_points(trial: Trial) -> None:
    machine = trial.fit()
    turn = np.random.default_rng(0).permutation(len(trial))
    whole = trial.answers(machine)
    found = trial.answers(machine, take(trial.points, turn))
    wanted = {name: values[turn] for name, values in whole.items()}
    same(found, wanted, "answers must be in the order of the points.")


def _order_of_rows(trial: Trial) -> None:
    reason = getattr(trial.machine, "order_matters", "")
    if reason:
        raise NotApplicable(reason)
    turn = np.random.default_rng(1).permutation(len(trial))
    found = trial.answers(trial.fit(turn))
    same(
        _unnamed(found),
        _unnamed(trial.answers(trial.fit())),
        "the order of rows must not matter.",
    )


def _weights(trial: Trial) -> None:
    if "sample_weight" not in inspect.signature(trial.machine.fit).parameters:
        raise NotApplicable("this machine takes no weights")
    times = np.random.default_rng(2).integers(0, 3, len(trial))
    if trial.targets is not None:  # every label stays
        _, first = np.unique(np.asarray(trial.targets), return_index=True)
        if is_classifier(trial.machine):
            times[first] = 1
    times[:2] = 1
    weighted = trial.fit(sample_weight=times.astype(float))
    repeated = trial.fit(np.repeat(np.arange(len(trial)), times))
    same(
        _unnamed(trial.answers(weighted)), _unnamed(trial.answers(repeated)),
        "a weight must equal so many repetitions, and zero no row.",
    )  # fmt: skip


def _unnamed(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Answers without those that name rows of the training data."""
    return {name: values for name, values in answers.items() if not name.startswith("kn")}


def _survives_pickle(trial: Trial) -> None:
    machine = trial.fit()
    try:
        again = pickle.loads(pickle.dumps(machine))  # noqa: S301 - written in this line
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise NotApplicable(f"it holds code that no pickle takes: {error}") from None
    same(trial.answers(again), trial.answers(machine), "a pickle must say the same.")


def _answers_fit(trial: Trial) -> None:
    machine, rows = trial.fit(), len(trial)
    for name, values in trial.answers(machine).items():
        if len(values) != rows:
            raise BrokenLaw(f"{name} has {len(values)} rows for {rows} points.")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise BrokenLaw(f"{name} has values that are no finite numbers.")


def _classes(trial: Trial) -> None:
    if not is_classifier(trial.machine):
        raise NotApplicable("this machine has no classes")
    machine = trial.fit()
    classes = list(machine.classes_)
    strange = set(np.unique(machine.predict(trial.points)).tolist()) - set(classes)
    if strange or sorted(classes) != classes:
        raise BrokenLaw(f"predictions are among the sorted classes_ {classes}, not {strange}.")
    if hasattr(machine, "predict_proba"):
        chances = machine.predict_proba(trial.points)
        sums = chances.sum(axis=1)
        if chances.shape[1] != len(classes) or not np.allclose(sums, 1) or (chances < 0).any():
            raise BrokenLaw("probabilities have a column a class, are >= 0 and sum to one.")


def _transforms(trial: Trial) -> None:
    if not hasattr(trial.machine, "fit_transform"):
        raise NotApplicable("this machine does not transform")
    machine = trial.fresh()
    given = (trial.points,) if trial.targets is None else (trial.points, trial.targets)
    found = np.asarray(machine.fit_transform(*given))
    wanted = np.asarray(trial.fit().transform(trial.points))
    same({"transform": found}, {"transform": wanted}, "fit_transform is fit, then transform.")


def _function(trial: Trial) -> None:
    found = getattr(trial.fit(), "function_", None)
    if found is None:
        raise NotApplicable("this machine has no function_")
    if not isinstance(found, Function) or not np.isfinite(np.asarray(found.norm())).all():
        raise BrokenLaw("function_ is a mercer.Function with a finite norm.")


def _lengths(trial: Trial) -> None:
    if trial.targets is None:
        raise NotApplicable("this machine takes no targets")
    for targets, what in ((np.asarray(trial.targets)[:-1], "too few targets"), (None, "none")):
        try:
            trial.fresh().fit(trial.points, targets)
        except (ValueError, TypeError):
            continue
        raise BrokenLaw(f"{what}: fit(X, y) must raise a ValueError that says so.")


def _no_rows(trial: Trial) -> None:
    rows: Sequence[int] = []
    try:
        trial.fit(np.asarray(rows, dtype=np.int64))
    except ValueError:
        return
    raise BrokenLaw("no rows at all: fit(X) must raise a ValueError that says so.")


def _in_company(trial: Trial) -> None:
    if isinstance(trial.points, Mapping):
        raise NotApplicable("scikit-learn does not split a dict of columns")
    if trial.targets is None or not hasattr(trial.machine, "predict"):
        raise NotApplicable("scikit-learn validates machines that predict targets")
    pipe = make_pipeline("passthrough", trial.fresh())
    found = cross_val_predict(pipe, trial.points, trial.targets, cv=2)
    if len(found) != len(trial):
        raise BrokenLaw("cross_val_predict in a pipeline must predict every row.")


LAWS: Mapping[str, Callable[[Trial], None]] = MappingProxyType(
    {
        "fit returns the machine": _returns_itself,
        "fit leaves parameters and data alone": _leaves_parameters,
        "a clone is not fitted, and says so": _clones,
        "parameters can be set, and only those that exist": _takes_parameters,
        "a second fit forgets the first": _learns_anew,
        "a point is answered for by itself": _one_by_one,
        "answers are in the order of the points": _order_of_points,
        "the order of the rows does not matter": _order_of_rows,
        "weights are repetitions": _weights,
        "a pickle says the same": _survives_pickle,
        "answers are finite, one a point": _answers_fit,
        "predictions are classes, probabilities sum to one": _classes,
        "fit_transform is fit and transform": _transforms,
        "function_ is an element of an RKHS": _function,
        "targets must match the points": _lengths,
        "no rows are refused": _no_rows,
        "pipelines and cross-validation work": _in_company,
    }
)
"""Every law in words, and its check."""


def check_machine(machine: Any, points: Any, targets: Any = None) -> Report:
    """Check what every machine promises, on points of any domain.

    Scikit-learn's own checks make arrays of numbers. This suite takes the points that you
    give it: lists of sets, tables of mixed columns, texts.

    Args:
        machine: A machine, with a kernel for such points.
        points: Raw points: a list, an array, a DataFrame or a dict of columns.
        targets: A target a point, for machines that learn from them.

    Returns:
        The laws that were checked, and those that were skipped with the reason. Print it.

    Raises:
        BrokenLaw: An `AssertionError` that says which law is broken, and where.

    Example:
        >>> import mercer as mc
        >>> baskets = [{"tea"}, {"tea", "milk"}, {"rum"}, {"rum", "gin"}] * 3
        >>> report = check_machine(mc.KernelRidge("jaccard", 0.1), baskets, range(12))
        >>> len(report.checked) > 10
        True
    """
    trial = Trial(machine, points, targets)
    return Report(str(machine), len(trial), SAME, held_to(LAWS, trial, machine))
