"""Machine code on disk, for later processes: Numba's cache, made safe for what is here.

Numba looks whether the file of a loop has changed. But a loop takes code from other files too,
its register tiles and its profile, and after an upgrade of one of them the old machine code
would read the new layout of the points, beyond their end. And Numba finds the code through an
index, which two processes may write at once; one is then given what the other compiled.

So the name of a file is a digest of all that its code depends on, and there is no index.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

SOURCES = hashlib.sha256(
    b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
).hexdigest()[:16]
"""A digest of all loops."""


class Kept(FunctionCache):  # type: ignore[misc]
    """The machine code of one loop, for each signature and each processor.

    Raises:
        RuntimeError: There is no folder to write to.
    """

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, SOURCES)

    def save_overload(self, signature: Any, data: Any) -> None:
        # A full disk, or a folder that has become read-only, costs time and nothing else.
        with suppress(OSError):
            super().save_overload(signature, data)


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """One file for each key, written whole or not at all."""

    def __init__(self, folder: str, loop: str, sources: str) -> None:
        super().__init__(folder, loop, sources)
        self._folder, self._loop, self._sources = Path(folder), loop, sources

    def _name(self, key: Any) -> str:
        # Numba's types have a repr that tells them apart, the same in every process.
        told = repr((key, numba.__version__, llvmlite.__version__))
        digest = hashlib.sha256(told.encode()).hexdigest()[:32]
        return f"{self._loop}.{self._sources}.{digest}.nbc"

    def load(self, key: Any) -> Any:
        try:
            return self._load_data(self._name(key))
        except Exception:  # noqa: BLE001 - a file that cannot be read is compiled anew
            return None

    def save(self, key: Any, data: Any) -> None:
        for old in self._folder.glob(f"{self._loop}.*.nb[ci]"):
            if not old.name.startswith(f"{self._loop}.{self._sources}."):
                old.unlink(missing_ok=True)
        self._save_data(self._name(key), data)

    def flush(self) -> None:
        for file in self._folder.glob(f"{self._loop}.*.nb[ci]"):
            file.unlink(missing_ok=True)
