"""The one check of scikit-learn's that a process has to be started for."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_arrays_of_other_libraries_are_checked_where_scipy_takes_them():
    # SciPy reads the switch when it is imported: without it the check is skipped elsewhere.
    command = [sys.executable, "-m", "pytest", "tests/machines", "-q", "-k", "array_api_input"]
    found = subprocess.run(
        [*command, "-p", "no:cacheprovider"],
        cwd=ROOT, env=os.environ | {"SCIPY_ARRAY_API": "1"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout[-2000:]
    assert " passed" in found.stdout
    assert "skipped" not in found.stdout
