"""How good predictions are on rows that the fit has not seen, and how sure that is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]

RESAMPLES = 1_000
"""Times that the held-out rows are drawn again."""

TOGETHER = 2_000_000
"""Counts that are held at once."""


@dataclass(frozen=True)
class Score:
    """One number with its uncertainty.

    Attributes:
        name: What it is: "R2", "error" (root mean squared), "accuracy", "log loss".
        value: The number on the held-out rows.
        low: The lower end of what 95 in 100 resamplings of these rows give.
        high: The upper end.
        baseline: What the best constant gives there.
    """

    name: str
    value: float
    low: float
    high: float
    baseline: float

    def to_dict(self) -> dict[str, Any]:
        """The score as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.name} {self.value:.4g} ({self.low:.4g} to {self.high:.4g}); "
            f"a constant gives {self.baseline:.4g}"
        )


def score(
    targets: NDArray[Any],
    predictions: NDArray[Any],
    constant: Any,
    probabilities: Reals | None = None,
    shares: Reals | None = None,
    seed: int = 0,
) -> list[Score]:
    """Scores on held-out rows, each with an interval by the bootstrap.

    Args:
        targets: Numbers; or, with probabilities, for each row the place of its class.
        predictions: What was predicted for them.
        constant: The best constant prediction: the mean, or the place of the commonest class.
        probabilities: For classes: a row a point, a column a class.
        shares: For classes: how common each was among the rows of the fit.
        seed: Of the resampling.

    Example:
        >>> found = score(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.0]), 1.0)
        >>> [(one.name, one.value) for one in found]
        [('R2', 1.0), ('error', 0.0)]
    """
    if probabilities is None:
        return _of_numbers(targets, predictions, float(constant), seed)
    hits = (predictions == targets).astype(np.float64)
    usual = (constant == targets).astype(np.float64)
    rows = np.arange(len(targets))
    least = np.finfo(np.float64).tiny
    losses = -np.log(np.maximum(probabilities[rows, targets], least))
    plain = -np.log(np.maximum(np.asarray(shares)[targets], least))
    return [
        _mean("accuracy", hits, usual, seed),
        _mean("log loss", losses, plain, seed),
    ]


def _mean(name: str, values: Reals, baseline: Reals, seed: int) -> Score:
    drawn = _resampled(values[:, None], seed)[:, 0]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Score(name, float(values.mean()), float(low), float(high), float(baseline.mean()))


def _of_numbers(targets: Reals, predictions: Reals, constant: float, seed: int) -> list[Score]:
    # In units of the spread, around the mean, so that no square leaves the range of numbers.
    center, unit = float(targets.mean()), float(np.abs(targets - targets.mean()).max()) or 1.0
    apart = (targets - center) / unit
    squares = np.stack(
        [
            ((targets - predictions) / unit) ** 2,
            apart,
            apart**2,
            ((targets - constant) / unit) ** 2,
        ],
        axis=1,
    )
    whole = squares.mean(axis=0)[None]
    drawn = _resampled(squares, seed)
    found = []
    if float(_spread(whole)[0]) > 0:
        many = _share(drawn)
        known = many[np.isfinite(many)]
        low, high = np.quantile(known, [0.025, 0.975])
        own = 1 - float(whole[0, 3] / _spread(whole)[0])
        found.append(Score("R2", float(_share(whole)[0]), float(low), float(high), own))
    low, high = np.quantile(np.sqrt(drawn[:, 0]), [0.025, 0.975]) * unit
    errors = np.sqrt(whole[0, [0, 3]]) * unit
    found.append(Score("error", float(errors[0]), float(low), float(high), float(errors[1])))
    return found


def _spread(means: Reals) -> Reals:
    spread: Reals = means[:, 2] - means[:, 1] ** 2
    return spread


def _share(means: Reals) -> Reals:
    """One minus the squared error in units of the variance."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Reals = 1 - means[:, 0] / _spread(means)
    return share


def _resampled(columns: Reals, seed: int) -> Reals:
    """The means of columns over rows drawn with replacement, as often as `RESAMPLES` says."""
    chance = np.random.default_rng(seed)
    rows = len(columns)
    found = np.empty((RESAMPLES, columns.shape[1]))
    step = max(1, TOGETHER // rows)
    for start in range(0, RESAMPLES, step):
        many = min(step, RESAMPLES - start)
        counts = chance.multinomial(rows, np.full(rows, 1 / rows), size=many)
        found[start : start + many] = counts @ columns / rows
    return found
