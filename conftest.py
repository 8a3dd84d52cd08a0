"""What every doctest may use without saying so: `np` and `mc`, as the docs import them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc


@pytest.fixture(autouse=True)
def _names(doctest_namespace: dict[str, Any]) -> None:
    doctest_namespace.update(np=np, mc=mc)
