"""The file itself: a text and arrays, in the format of skops, checked before it is believed.

A file of skops is a zip archive: a scheme that says which objects to build, and the arrays. Of
all that skops could build a model file needs a list, texts and arrays. A scheme with anything
else is refused before skops sees it, and skops is told to trust nothing.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, BinaryIO, Never
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from numpy.lib import format as npy
from numpy.typing import NDArray

from mercer.errors import InvalidFile
from mercer.persistence.encoding import ARRAYS

SCHEME = "schema.json"

ALLOWED = frozenset(
    {
        ("ListNode", "builtins", "list"),
        ("JsonNode", "builtins", "str"),
        ("NdArrayNode", "numpy", "ndarray"),
    }
)
"""What skops may build."""

NO_MODEL = "It is not a model that mercer saved, or it is damaged."


def pack(text: str, arrays: list[NDArray[Any]], out: BinaryIO) -> None:
    """Write a text and arrays."""
    # It imports torch wherever that is installed: seconds, which other work is spared.
    import skops.io  # noqa: PLC0415

    skops.io.dump([text, *arrays], out, compression=ZIP_STORED)


def unpack(path: Path | str) -> tuple[str, list[NDArray[Any]]]:
    """Read them back.

    Raises:
        InvalidFile: The file holds anything else.
    """
    import skops.io  # noqa: PLC0415 - as above

    try:
        with Path(path).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            with ZipFile(file) as archive:
                _check_sizes(archive, size)
                _check_scheme(json.loads(archive.read(SCHEME)))
            file.seek(0)
            found = skops.io.load(file, trusted=[])
    except OSError as error:
        raise InvalidFile(f"{path} cannot be read ({error.strerror or error}).") from error
    except InvalidFile as error:
        raise InvalidFile(f"{path} is refused: {error}\nNothing in it was run.") from error
    except (BadZipFile, RecursionError, MemoryError) as error:
        raise InvalidFile(f"{path} cannot be read as a model. {NO_MODEL}") from error
    except Exception as error:  # whatever skops meets in a file that it did not write
        raise InvalidFile(f"{path} cannot be read as a model ({error}). {NO_MODEL}") from error
    text, *arrays = found
    return text, arrays


def _check_sizes(archive: ZipFile, size: int) -> None:
    """Raise if anything in the archive is larger than the file that it came in."""
    members = archive.infolist()
    names = [member.filename for member in members]
    if SCHEME not in names:
        _refuse(f"it is a zip archive without {SCHEME}. {NO_MODEL}")
    if len(set(names)) < len(names):
        _refuse("it holds several parts of one name.")
    # Nothing is compressed here, so the parts cannot be larger than the whole.
    if any(member.compress_type != ZIP_STORED for member in members):
        _refuse("its parts are compressed, which those of a model are not.")
    if sum(member.file_size for member in members) > size:
        _refuse("it claims to be larger than it is: a bomb.")
    for member in members:
        if member.filename != SCHEME:
            with archive.open(member) as part:
                _check_array(part, member.file_size)


def _check_array(part: Any, size: int) -> None:
    """Raise unless a part is an array of numbers or texts, of the size that it claims."""
    version = npy.read_magic(part)
    if version == (1, 0):
        shape, _, dtype = npy.read_array_header_1_0(part)
    elif version == (2, 0):
        shape, _, dtype = npy.read_array_header_2_0(part)
    else:
        _refuse(f"an array in it has the version {version}, which is not known.")
    if dtype.kind not in ARRAYS:
        _refuse(f"an array in it holds {dtype}, and not numbers or texts.")
    if min(shape, default=0) < 0 or part.tell() + math.prod(shape) * dtype.itemsize != size:
        _refuse(f"an array in it claims the shape {shape}, and its part has {size} bytes.")


def _check_scheme(scheme: Any) -> None:
    """Raise unless the scheme describes a list of a text and arrays, and nothing else."""
    _check_node(scheme, "ListNode")
    first, *rest = scheme["content"]
    _check_node(first, "JsonNode")
    for node in rest:
        _check_node(node, "NdArrayNode")
        if node["type"] != "numpy" or node["file"] == SCHEME:
            _refuse("an array in it is not stored as one.")


def _check_node(node: Any, loader: str) -> None:
    said = tuple(str(node[key]) for key in ("__loader__", "__module__", "__class__"))
    if said not in ALLOWED or said[0] != loader:
        _refuse(
            f"it asks for {said[1]}.{said[2]}, and a model holds texts and arrays alone. "
            "Whoever made it wants something else."
        )


def _refuse(why: str) -> Never:
    raise InvalidFile(why)
