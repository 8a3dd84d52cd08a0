"""How well the defaults predict: KernelRidge() and KernelLogisticRegression() with no argument,
on DataFrames as they come, against scikit-learn's KernelRidge and SVC with imputing, one-hot
columns, standardisation and a search over 5 x 5 settings by 5 folds.

    python benchmarks/accuracy.py --data ../shared/data/tabular
    python benchmarks/accuracy.py --data ... --sets yacht energy --splits 2 --only mercer

Splits are the standard ones where the data have them (at most five), else five seeded ones of
80/20. Each result is a row as soon as it is there; `--read FILE...` sums rows up again, and
with `--page` as a table for the docs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

from _common import THREADS, row

# isort: split
import numpy as np
import pandas as pd
from joblib import parallel_config
from sklearn.compose import (
    TransformedTargetRegressor,
    make_column_selector,
    make_column_transformer,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import accuracy_score, root_mean_squared_error
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import mercer as mc

ROWS = 10_000
SPLITS = 5

SETS = (
    "yacht", "sonar", "glass", "ionosphere", "energy", "german_credit", "concrete", "titanic",
    "banknote", "airfoil", "wine_red", "abalone", "spambase", "phoneme", "satimage", "kin8nm",
    "power", "covtype_10k",
)  # fmt: skip
"""The tabular sets of at most `ROWS` rows, small ones first."""


def table(path):
    """A set as a DataFrame, its targets, and whether they are classes."""
    with np.load(path, allow_pickle=False) as found:
        parts = dict(found)
    values = parts["X"].astype(np.float64)
    names = [str(name) for name in parts["feature_names"]]
    levels = json.loads(str(parts["levels_json"])) if "levels_json" in parts else {}
    columns = {}
    for at, name in enumerate(names):
        column = values[:, at]
        if parts["categorical"][at]:
            words = levels.get(name) or [str(k) for k in range(int(np.nanmax(column)) + 1)]
            codes = np.where(np.isnan(column), -1, column).astype(int)
            column = pd.Categorical.from_codes(codes, [str(word) for word in words])
        columns[name] = column
    is_classes = "class" in str(parts["task"])
    targets = parts["y"] if is_classes else parts["y"].astype(np.float64)
    return pd.DataFrame(columns), targets, is_classes, parts


def splits(parts, targets, is_classes):
    """The rows of each test part: the standard ones, else seeded ones."""
    if "test_splits" in parts:
        return list(parts["test_splits"])[:SPLITS]
    if "test_idx" in parts:
        return [parts["test_idx"]]
    if "fold" in parts:
        return [np.flatnonzero(parts["fold"] == k) for k in range(SPLITS)]
    rows = np.arange(len(targets))
    strata = targets if is_classes else None
    return [
        train_test_split(rows, test_size=0.2, random_state=seed, stratify=strata)[1]
        for seed in range(SPLITS)
    ]


def mercer(X, y, X_new, *, is_classes):
    """The defaults."""
    machine = mc.KernelLogisticRegression() if is_classes else mc.KernelRidge()
    machine.fit(X, y)
    return machine.predict(X_new), {"kernel": str(machine.kernel_)}


def peer(X, y, X_new, *, is_classes):
    """Scikit-learn, with what its guide recommends before a kernel sees a table."""
    numbers = make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True), StandardScaler()
    )
    words = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    )
    prepare = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (words, make_column_selector(dtype_exclude="number")),
        sparse_threshold=0,
    )
    width = prepare.fit_transform(X, y).shape[1]
    gammas = np.geomspace(0.03, 3, 5) / width
    if is_classes:
        machine = make_pipeline(prepare, SVC(cache_size=1000))
        grid = {"svc__C": np.geomspace(0.1, 1000, 5), "svc__gamma": gammas}
    else:
        machine = TransformedTargetRegressor(
            make_pipeline(prepare, KernelRidge(kernel="rbf")), transformer=StandardScaler()
        )
        name = "regressor__kernelridge__"
        grid = {f"{name}alpha": np.geomspace(1e-6, 1, 5), f"{name}gamma": gammas}
    scoring = "accuracy" if is_classes else "neg_root_mean_squared_error"
    # Rows may be sorted: folds of neighbours would choose badly.
    folds = (StratifiedKFold if is_classes else KFold)(5, shuffle=True, random_state=0)
    search = GridSearchCV(machine, grid, cv=folds, scoring=scoring, n_jobs=2)
    with parallel_config("loky", inner_max_num_threads=1):
        search.fit(X, y)
    best = {name.rsplit("__", 1)[-1]: float(v) for name, v in search.best_params_.items()}
    return search.predict(X_new), best


CONTENDERS = {"mercer": mercer, "scikit-learn": peer}


def run(folder, sets, most, contenders, rows=None):
    """Every set, split and contender: a row each."""
    for name in sets:
        X, y, is_classes, parts = table(folder / f"{name}.npz")
        for at, test in enumerate(splits(parts, y, is_classes)[:most]):
            train = np.setdiff1d(np.arange(len(y)), test)
            if rows is not None and len(train) > rows:
                train = np.sort(np.random.default_rng(at).permutation(train)[:rows])
            for who in contenders:
                start = time.perf_counter()
                told, facts = CONTENDERS[who](
                    X.iloc[train].reset_index(drop=True), y[train],
                    X.iloc[test].reset_index(drop=True), is_classes=is_classes,
                )  # fmt: skip
                seconds = time.perf_counter() - start
                if is_classes:
                    loss = 1 - accuracy_score(y[test], told)
                else:
                    loss = root_mean_squared_error(y[test], told)
                measure = "error" if is_classes else "rmse"
                row(name, who, seconds, split=at, rows=len(train), measure=measure,
                    loss=float(loss), **facts)  # fmt: skip
                sys.stdout.flush()


def summed(found):
    """A row a set, and one for all: mean losses, ranks and seconds."""
    ranks, seconds = [], []
    for name in dict.fromkeys(f["task"] for f in found):
        own = [f for f in found if f["task"] == name]
        told = {
            who: {f["split"]: f for f in own if f["contender"] == who} for who in CONTENDERS
        }
        common = set.intersection(*(set(t) for t in told.values()))
        if not common:
            continue
        loss = {who: float(np.mean([t[s]["loss"] for s in common])) for who, t in told.items()}
        spent = {who: sum(t[s]["seconds"] for s in common) for who, t in told.items()}
        ours, theirs = loss.values()
        rank = 1.5 if np.isclose(ours, theirs, rtol=1e-9) else 1.0 if ours < theirs else 2.0
        ranks.append(rank)
        seconds.append(list(spent.values()))
        print(json.dumps({
            "task": name, "splits": len(common), "measure": own[0]["measure"], "rank": rank,
            **{f"loss {who}": round(v, 5) for who, v in loss.items()},
            **{f"seconds {who}": round(v, 2) for who, v in spent.items()},
        }))  # fmt: skip
    if ranks:
        total = dict(zip(CONTENDERS, np.sum(seconds, axis=0).round(1).tolist(), strict=True))
        mean = float(np.mean(ranks))
        print(json.dumps({
            "task": "all", "sets": len(ranks), "mean rank mercer": round(mean, 3),
            "mean rank scikit-learn": round(3 - mean, 3), "seconds": total,
            "reached": mean < 1.5 and total["mercer"] < total["scikit-learn"],
            "threads": THREADS,
        }))  # fmt: skip


def page(found):
    """The table of the docs: a line a set, the smaller loss in bold."""
    print(
        "| set | rows | splits | measure | scikit-learn | mercer |\n|---|---|---|---|---|---|"
    )
    for name in dict.fromkeys(f["task"] for f in found):
        own = [f for f in found if f["task"] == name]
        told = [{f["split"]: f for f in own if f["contender"] == w} for w in CONTENDERS]
        common = set.intersection(*(set(t) for t in told))
        if not common:
            continue
        ours, theirs = (float(np.mean([t[s]["loss"] for s in common])) for t in told)
        best = min(ours, theirs)
        shown = [f"**{v:.4g}**" if np.isclose(v, best) else f"{v:.4g}" for v in (theirs, ours)]
        rows = max(f["rows"] for f in own)
        print(
            f"| {name} | {rows} | {len(common)} | {own[0]['measure']} | {' | '.join(shown)} |"
        )


def main():
    """Read the command line, run, sum up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/tabular"))
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--only", nargs="*", default=list(CONTENDERS), choices=list(CONTENDERS))
    parser.add_argument("--rows", type=int, help="train on at most so many rows")
    parser.add_argument("--read", nargs="*", type=Path, help="files of rows to sum up")
    parser.add_argument("--page", action="store_true", help="sum up as a table for the docs")
    given = parser.parse_args()
    if given.read:
        lines = [line for path in given.read for line in path.read_text().splitlines()]
        rows = [json.loads(line) for line in lines if line.startswith("{")]
        (page if given.page else summed)([r for r in rows if "loss" in r and "split" in r])
        return
    warnings.simplefilter("ignore", ConvergenceWarning)
    run(given.data, given.sets, given.splits, given.only, given.rows)


if __name__ == "__main__":
    main()
