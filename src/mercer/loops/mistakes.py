"""The perceptron's visits: which rows are on the wrong side, and what that changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.loops.compiled import compiled


@compiled(frozenset())
def next_mistake(values: Any, codes: Any, start: Any) -> int:
    """The first row whose own class has not more than every other."""
    for row in range(start, len(values)):
        if wrong(values[row], codes[row]) >= 0:
            return row
    return len(values)


@compiled(frozenset())
def wrong(values: Any, own: Any) -> int:
    """-1 for a row on the right side, else the class that won instead, or 0 for two."""
    if len(values) == 1:
        return -1 if (values[0] > 0 if own > 0 else values[0] < 0) else 0
    best = 1 if own == 0 else 0
    for c in range(len(values)):
        if c != own and values[c] > values[best]:
            best = c
    return -1 if values[own] > values[best] else best


@compiled()
def visit(
    rows: Any, is_primal: Any, values: Any, codes: Any, counts: Any, delayed: Any, start: Any,
    visits: Any, mistakes: Any, winners: Any,
) -> int:  # fmt: skip
    """Visit rows once. Dual: `rows` are kernel values, and `values` those of the function, a
    row each. Primal: `rows` are features, and `values` the weights, a row a feature.
    """
    outputs = values.shape[1]
    now = np.empty(outputs)
    found = 0
    for row in range(start, len(rows)):
        for c in range(outputs):
            now[c] = 0.0 if is_primal else values[row, c]
        if is_primal:
            for t in range(rows.shape[1]):
                for c in range(outputs):
                    now[c] += rows[row, t] * values[t, c]
        winner = wrong(now, codes[row])
        if winner < 0:
            continue
        for c in range(outputs):
            if outputs == 1:
                change = 1.0 if codes[row] > 0 else -1.0
            elif c == codes[row] or c == winner:
                change = 1.0 if c == codes[row] else -1.0
            else:
                continue
            for t in range(len(values)):
                values[t, c] += change * rows[row, t]
            counts[row, c] += change
            delayed[row, c] += (visits + row - start) * change
        mistakes[found], winners[found] = row, winner
        found += 1
    return found
