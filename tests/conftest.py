"""What all tests share: one source of chance a test, and no pictures on the screen."""

from __future__ import annotations

import os
import zlib

import numpy as np
import pytest
from hypothesis import settings

os.environ["MPLBACKEND"] = "Agg"

# The first call of a compiled loop takes seconds, so time is no sign of a mistake here.
settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


@pytest.fixture
def rng(request):
    """Random numbers of this test: neither the order of the tests nor a neighbour matters."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
