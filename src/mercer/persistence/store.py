"""Save a machine, and load it: the same predictions to the last bit, and no pickle."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from mercer.errors import InvalidFile, MercerError
from mercer.machines.least_squares import Fitted
from mercer.persistence.container import NO_MODEL, pack, unpack
from mercer.persistence.decoding import Decoder
from mercer.persistence.encoding import Encoder, check_machine
from mercer.persistence.files import replacing

FORMAT = 1
"""The version of the layout of the text: it changes when older readers would misread it."""

SIGN = "mercer model"


@dataclass(frozen=True, eq=False)
class Stored:
    """What a model file holds.

    Attributes:
        machine: The machine.
        about: Plain data that were saved with it.
        versions: The versions of mercer and of what it stands on, when it was saved.
    """

    machine: BaseEstimator
    about: dict[str, Any]
    versions: dict[str, str]


def save(
    machine: BaseEstimator,
    path: Path | str,
    *,
    about: dict[str, Any] | None = None,
    intervals: bool = True,
) -> None:
    """Save a machine of mercer, fitted or not, without pickle.

    The file holds texts, numbers and arrays in the format of skops, and no code: the kernel is
    built again from its words, and its parameters are checked again. The file is there whole or
    not at all, whatever interrupts the writing.

    Args:
        machine: A machine of mercer.
        path: The file. What is there already is replaced in the end.
        about: Plain data to keep beside it: texts, numbers, lists, dicts.
        intervals: Whether to keep what only `return_std` and `predict_interval` need: with all
            points as anchors, the eigenvectors of their matrix.

    Raises:
        NoTextForm: The kernel holds code of yours.
        InvalidType: It is no machine of mercer, or holds what no model file may.
        InvalidFile: The file cannot be written.

    Example:
        >>> import mercer as mc, tempfile
        >>> model = mc.KernelRidge("gaussian(2.0)", 0.1).fit([[0.0], [1.0]], [0.0, 1.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mc.save(model, folder + "/line.mercer")
        ...     again = mc.load(folder + "/line.mercer")
        >>> bool(again.predict([[0.5]]) == model.predict([[0.5]]))
        True
    """
    check_machine(machine)
    encoder = Encoder()
    body = {
        "what": SIGN,
        "format": FORMAT,
        "versions": versions(),
        "about": encoder.encode(about or {}, "about"),
        "machine": encoder.machine(machine, _kept(machine, intervals=intervals)),
    }
    text = json.dumps(body)
    with replacing(path) as part, part.open("wb") as file:
        pack(text, encoder.arrays, file)


def load(path: Path | str) -> BaseEstimator:
    """Load a machine that `save` has written.

    Nothing in the file is run: it names parts of mercer from a fixed list, and what is not on
    the list is refused. A file from another version of mercer is read with a warning, or
    refused if that version wrote another layout.

    Args:
        path: The file.

    Raises:
        InvalidFile: It is no model, is damaged, or asks for what is not allowed.
    """
    return read(path).machine


def read(path: Path | str) -> Stored:
    """Load a machine, with all that was saved beside it.

    Args:
        path: The file.

    Raises:
        InvalidFile: It is no model, is damaged, or asks for what is not allowed.
    """
    text, arrays = unpack(path)
    try:
        body = json.loads(text)
        known = body["what"] == SIGN
        found, told = body["format"], dict(body["versions"])
    except (ValueError, TypeError, KeyError, RecursionError):
        known = False
    if not known:
        raise InvalidFile(f"{path} is a file of skops, and no model of mercer.")
    _check_version(path, found, told)
    decoder = Decoder(arrays)
    try:
        about = decoder.decode(body["about"])
        machine = decoder.machine(body["machine"])
    except MercerError as error:
        raise InvalidFile(f"{path} is refused: {error}\nNothing in it was run.") from error
    except Exception as error:  # what does not fit together fails somewhere
        said = f"{type(error).__name__}: {error}"
        raise InvalidFile(f"{path} cannot be read as a model ({said}). {NO_MODEL}") from error
    return Stored(machine, about, told)


def versions() -> dict[str, str]:
    """The versions of Python, of mercer and of what it computes with."""
    names = ("mercer", "numpy", "scipy", "scikit-learn", "skops")
    found = {name: importlib.metadata.version(name) for name in names}
    return {"python": platform.python_version()} | found


def _check_version(path: Path | str, found: Any, told: dict[str, str]) -> None:
    mine, theirs = versions()["mercer"], told.get("mercer", "an unknown version")
    if found != FORMAT:
        raise InvalidFile(
            f"{path} was written by mercer {theirs} in layout {found!r}, and this is mercer "
            f"{mine}, which reads layout {FORMAT}.\nInstall that version, or fit again."
        )
    if theirs != mine:
        warnings.warn(
            f"{path} was written by mercer {theirs}, and this is mercer {mine}: predictions "
            "may differ.\nFit again to be sure.",
            UserWarning,
            stacklevel=4,
        )


def _kept(machine: BaseEstimator, *, intervals: bool) -> dict[str, Any]:
    """What a machine has learned, less what it needs no more.

    Deviations and intervals need the eigenvectors and the training points; where the function
    is a sum over landmarks there are none, and both are many times larger than the function.
    """
    state = dict(vars(machine))
    fitted = state.get("_fitted")
    if isinstance(fitted, Fitted) and not (intervals and fitted.is_exact):
        state |= {"_fitted": replace(fitted, spectrum=None), "_sample": None}
    return state
