"""A machine as plain data: texts, numbers, lists, and arrays apart."""

from __future__ import annotations

import datetime as dt
from dataclasses import fields
from decimal import Decimal
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._metadata_requests import SIMPLE_METHODS, MetadataRequest

from mercer.errors import InvalidType, NoTextForm
from mercer.kernels import Kernel
from mercer.machines.precomputed import Precomputed
from mercer.persistence.allowed import KERNELS, MACHINES, PARTS, VALUES
from mercer.proofs import FormulaKernel

Node = Any
"""What JSON can hold. A dict has the key "is", which says what it stands for."""

ARRAYS = "biufUS"
"""The kinds of arrays that are kept as they are."""


class Encoder:
    """Writes one machine. What is met twice is written once.

    Attributes:
        arrays: The arrays, in the order in which they were met.
    """

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # alive until the end, so that no address is used twice

    def encode(self, value: Any, place: str) -> Node:
        """A value as a node.

        Args:
            value: Anything that a machine may hold.
            place: Where it was found, for the message.

        Raises:
            NoTextForm: It is a kernel with user code.
            InvalidType: It is nothing that a model file may hold.
        """
        if value is None or type(value) in (bool, int, float, str):
            return value
        if type(value) is list:
            return [self.encode(item, f"{place}[{at}]") for at, item in enumerate(value)]
        if type(value) in (tuple, set, frozenset, dict):
            return self._container(value, place)
        if type(value) in (bytes, dt.datetime, dt.date, Decimal):
            return {"is": type(value).__name__, "of": _told(value)}
        if id(value) in self._seen:
            return {"is": "same", "as": self._seen[id(value)]}
        node: Node = self._large(value, place)
        self._seen[id(value)] = node["number"] = len(self._seen)
        self._kept.append(value)
        return node

    def _container(self, value: Any, place: str) -> Node:
        items = value
        if isinstance(value, dict):
            items = [list(pair) for pair in value.items()]
        elif isinstance(value, set | frozenset):
            items = sorted(value, key=repr)  # the same file for the same machine
        return {
            "is": type(value).__name__,
            "of": [self.encode(item, f"{place}[...]") for item in items],
        }

    def _large(self, value: Any, place: str) -> dict[str, Node]:
        """Values that are written once, however often they are met."""
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value, place)
        if isinstance(value, Kernel):
            return self._kernel(value, place)
        if sp.issparse(value) and value.format == "csr":
            return self._sparse(value, place)
        if VALUES.get(type(value).__name__) is type(value):
            return {"is": type(value).__name__} | self._fields(value, place)
        if PARTS.get(type(value).__name__) is type(value):
            part: dict[str, Node] = self.machine(value, vars(value))
            return part
        return self._foreign(value, place)

    def _foreign(self, value: Any, place: str) -> dict[str, Node]:
        """What belongs to NumPy and scikit-learn; anything else is refused."""
        if isinstance(value, np.random.RandomState):
            state = value.get_state(legacy=False)
            return {"is": "chance", "of": self.encode(state, place)}
        if isinstance(value, MetadataRequest):
            wanted = {name: getattr(value, name).requests for name in SIMPLE_METHODS}
            return {"is": "routing", "of": self.encode(wanted, place)}
        raise InvalidType(
            f"{place} is {_named(value)}, and a model file holds numbers, texts, arrays and "
            "mercer's own objects: nothing that could run code when it is loaded.\nLeave it "
            "out, or pickle the machine, at your own risk: load no pickle that you do not "
            "trust."
        )

    def _array(self, value: Any, place: str) -> dict[str, Node]:
        if value.dtype.kind == "O":
            items = [self.encode(item, f"{place}[...]") for item in value.ravel()]
            return {"is": "objects", "of": items, "shape": list(value.shape)}
        if value.dtype.kind not in ARRAYS:
            raise InvalidType(
                f"{place} is an array of {value.dtype}, and a model file holds arrays of "
                "numbers and texts.\nConvert it to numbers first."
            )
        self.arrays.append(np.asarray(value))
        kind = "array" if isinstance(value, np.ndarray) else "scalar"
        return {"is": kind, "at": len(self.arrays) - 1}

    def _sparse(self, value: Any, place: str) -> dict[str, Node]:
        parts = {name: getattr(value, name) for name in ("data", "indices", "indptr")}
        node = {name: self.encode(part, place) for name, part in parts.items()}
        return {"is": "csr", "shape": [int(n) for n in value.shape]} | node

    def _fields(self, value: Any, place: str) -> dict[str, Node]:
        found = {field.name: getattr(value, field.name) for field in fields(value)}
        return {"fields": {k: self.encode(part, f"{place}.{k}") for k, part in found.items()}}

    def _kernel(self, kernel: Kernel, place: str) -> dict[str, Node]:
        if type(kernel) is Precomputed:
            return {"is": "precomputed", "of": self.encode(kernel.matrix, place)}
        if type(kernel) is FormulaKernel:
            # The proof goes along: it is checked when it is read, and not searched for again.
            return {
                "is": "formula",
                "proof": self.encode(kernel.proof().to_dict(), place),
                "values": self.encode(kernel.values, place),
            }
        if KERNELS.get(kernel.word) is type(kernel):
            return {"is": "kernel", "word": kernel.word} | self._fields(kernel, place)
        raise NoTextForm(
            f"{place} is {kernel}, a kernel with code of your own, which a model file does not "
            "hold: loading it would run that code.\nBuild the kernel of mercer's own kernels, "
            "or pickle the machine, at your own risk: load no pickle that you do not trust."
        )

    def machine(self, machine: BaseEstimator, state: dict[str, Any]) -> Node:
        """A machine with its parameters, and what it has learned.

        Args:
            machine: The machine.
            state: Its attributes, those apart that are not to be kept.
        """
        name = type(machine).__name__
        wanted = machine.get_params(deep=False)
        return {
            "is": name,
            "parameters": {k: self.encode(value, k) for k, value in wanted.items()},
            "learned": {
                k: self.encode(value, k) for k, value in state.items() if k not in wanted
            },
        }


def check_machine(machine: Any) -> None:
    """Raise unless it is a machine of mercer.

    Raises:
        InvalidType: It is something else.
    """
    if MACHINES.get(type(machine).__name__) is not type(machine):
        raise InvalidType(
            f"{_named(machine)} is no machine of mercer, and a model file holds no code of "
            "yours.\nSave the machine of mercer inside it, if there is one; or pickle it, "
            "at your own risk: load no pickle that you do not trust."
        )


def _told(value: Any) -> str:
    """A value that has no name in JSON, as text."""
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, Decimal) else value.isoformat()


def _named(value: Any) -> str:
    """What a value is, in a few words."""
    if callable(value) and hasattr(value, "__name__"):
        return f"the function {value.__name__}"
    return f"an object of the class {type(value).__module__}.{type(value).__qualname__}"
