"""Plain data back to a machine: everything is built by its own constructor, and checked."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Never

import numpy as np
import scipy.sparse as sp
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from mercer.domains import Batch, CategoryBatch, DenseBatch, RecordBatch, SetBatch, SparseBatch
from mercer.errors import InvalidFile
from mercer.kernels import Kernel
from mercer.machines.precomputed import Places, Precomputed
from mercer.persistence.allowed import KERNELS, MACHINES, PARTS, VALUES
from mercer.proofs import FormulaKernel, FormulaProof

Node = Any


class Decoder:
    """Reads one machine.

    Args:
        arrays: The arrays of the file.
    """

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self.arrays = arrays
        self._made: dict[int, Any] = {}

    def decode(self, node: Node) -> Any:
        """The value that a node stands for.

        Raises:
            InvalidFile: It stands for nothing that a model file may hold.
        """
        if isinstance(node, list):
            return [self.decode(item) for item in node]
        if not isinstance(node, dict):
            return node
        kind = str(node.get("is"))
        if kind == "same":
            return self._made[node["as"]]
        readers = self._readers()
        if kind in VALUES:
            made = self._value(node, VALUES[kind])
        elif kind in PARTS:
            made = self._built(node, PARTS[kind])
        elif kind in readers:
            made = readers[kind](node)
        else:
            _refuse(f"it asks for {kind!r}, which is not among mercer's own objects")
        if "number" in node:
            self._made[node["number"]] = made
        return made

    def _readers(self) -> dict[Any, Callable[[Node], Any]]:
        """How each kind of node is read, those of `VALUES` apart."""
        return {
            "tuple": lambda node: tuple(self.decode(node["of"])),
            "set": lambda node: set(self.decode(node["of"])),
            "frozenset": lambda node: frozenset(self.decode(node["of"])),
            "dict": lambda node: {
                self.decode(key): self.decode(item) for key, item in node["of"]
            },
            "bytes": lambda node: bytes.fromhex(node["of"]),
            "datetime": lambda node: dt.datetime.fromisoformat(node["of"]),
            "date": lambda node: dt.date.fromisoformat(node["of"]),
            "Decimal": lambda node: Decimal(node["of"]),
            "array": lambda node: self._array(node["at"]),
            "scalar": lambda node: self._array(node["at"])[()],
            "objects": self._objects,
            "csr": self._sparse,
            "kernel": self._kernel,
            "precomputed": lambda node: self._precomputed(self.decode(node["of"])),
            "formula": self._formula,
            "chance": self._chance,
            "routing": lambda node: _Routing(self.decode(node["of"])),
        }

    def _array(self, at: int) -> NDArray[Any]:
        if not 0 <= at < len(self.arrays):
            _refuse(f"it has {len(self.arrays)} arrays, and asks for number {at}")
        return self.arrays[at]

    def _objects(self, node: Node) -> NDArray[np.object_]:
        items = self.decode(node["of"])
        flat = np.empty(len(items), dtype=object)
        flat[:] = items
        return flat.reshape(node["shape"])

    def _sparse(self, node: Node) -> Any:
        parts = [self.decode(node[name]) for name in ("data", "indices", "indptr")]
        if not all(isinstance(part, np.ndarray) for part in parts):
            _refuse("a sparse matrix in it is not made of arrays")
        matrix = sp.csr_array(tuple(parts), shape=tuple(node["shape"]))
        matrix.check_format(full_check=True)  # compiled loops trust the indices
        return matrix

    def _value(self, node: Node, kind: type[Any]) -> Any:
        made = kind(**{name: self.decode(part) for name, part in node["fields"].items()})
        if isinstance(made, Batch):
            _check_batch(made)
        return made

    def _kernel(self, node: Node) -> Kernel:
        if node["word"] not in KERNELS:
            _refuse(f"it asks for a kernel called {node['word']!r}, which there is not")
        return KERNELS[node["word"]](
            **{name: self.decode(part) for name, part in node["fields"].items()}
        )

    def _precomputed(self, matrix: Any) -> Kernel:
        if not (isinstance(matrix, np.ndarray) and matrix.ndim == 2):
            _refuse("its kernel values are no matrix")
        return Precomputed.of(matrix)

    def _formula(self, node: Node) -> Kernel:
        proof = FormulaProof.from_dict(self.decode(node["proof"]))
        return FormulaKernel.from_proof(proof, self.decode(node["values"]))

    def _chance(self, node: Node) -> np.random.RandomState:
        chance = np.random.RandomState()
        chance.set_state(self.decode(node["of"]))
        return chance

    def machine(self, node: Node) -> BaseEstimator:
        """The machine that a file describes."""
        if not isinstance(node, dict) or node.get("is") not in MACHINES:
            _refuse("it describes no machine of mercer")
        return self._built(node, MACHINES[node["is"]])

    def _built(self, node: Node, kind: type[Any]) -> BaseEstimator:
        machine = kind(
            **{name: self.decode(value) for name, value in node["parameters"].items()}
        )
        for name, part in node["learned"].items():
            value = self.decode(part)
            if isinstance(value, _Routing):
                value.route(machine)
            elif name.startswith("__") or not name.isidentifier() or hasattr(kind, name):
                _refuse(f"it sets {name!r}, which is nothing that a machine learns")
            else:
                setattr(machine, name, value)
        return machine


class _Routing:
    """Which metadata the methods of a machine ask for."""

    def __init__(self, wanted: dict[str, dict[str, Any]]) -> None:
        self.wanted = wanted

    def route(self, machine: BaseEstimator) -> None:
        """Make the machine ask for them."""
        with sklearn.config_context(enable_metadata_routing=True):
            for method, requests in self.wanted.items():
                known = getattr(machine.get_metadata_routing(), method).requests
                asked = {k: value for k, value in requests.items() if k in known}
                if asked:
                    getattr(machine, f"set_{method}_request")(**asked)


def _check_batch(batch: Batch) -> None:
    """Raise unless compiled loops may trust what a batch says of itself."""
    match batch:
        case DenseBatch(values=values):
            sound = _is_reals(values) and values.flags.c_contiguous
        case CategoryBatch(codes=codes, levels=levels):
            whole = isinstance(codes, np.ndarray) and codes.dtype == np.int64
            sound = whole and codes.ndim == 1 and isinstance(levels, tuple)
            sound = sound and (not codes.size or 0 <= codes.min() <= codes.max() < len(levels))
        case SparseBatch(matrix=matrix):
            sound = sp.issparse(matrix)
        case SetBatch(members=members, items=items):
            sound = sp.issparse(members) and (items is None or len(items) == members.shape[1])
        case RecordBatch(columns=columns, length=length):
            sound = isinstance(columns, dict) and all(
                isinstance(part, Batch) and len(part) == length for part in columns.values()
            )
        case Places(places=places):
            sound = isinstance(places, np.ndarray) and places.dtype.kind == "i"
        case _:
            sound = True
    if not sound:
        _refuse(f"its points, a {type(batch).__name__}, do not fit together")


def _is_reals(values: Any) -> bool:
    return (
        isinstance(values, np.ndarray)
        and values.ndim == 2
        and values.dtype in (np.float32, np.float64)
    )


def _refuse(why: str) -> Never:
    raise InvalidFile(why)
