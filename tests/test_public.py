"""The public names, and what importing them costs."""

import subprocess
import sys

import pytest

import mercer as mc
import mercer.machines


def test_every_machine_is_a_public_name():
    assert set(mercer.machines.__all__) == set(mc._MACHINES)
    assert set(mc._MACHINES) | set(mc._FILES) <= set(mc.__all__) <= set(dir(mc))
    for name in mercer.machines.__all__:
        assert getattr(mc, name) is getattr(mercer.machines, name)


def test_what_is_no_name_is_no_attribute():
    with pytest.raises(AttributeError, match="KernelRigde"):
        _ = mc.KernelRigde


def test_scikit_learn_is_imported_with_the_first_machine():
    code = (
        "import sys, mercer as mc; a = 'sklearn' in sys.modules; mc.Gaussian()([[1.0]]);"
        "b = 'sklearn' in sys.modules; mc.KernelRidge; print(a, b, 'sklearn' in sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["False", "False", "True"]
