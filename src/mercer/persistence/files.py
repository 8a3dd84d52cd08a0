"""Files that are there whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mercer.errors import InvalidFile


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """A file to write to, which takes the place of `path` when all went well.

    Whatever stops the writing, be it Ctrl-C or a full disk, leaves `path` as it was.

    Args:
        path: Where the file is to be. What is there and is no file, such as /dev/null, is
            written to as it is.

    Raises:
        InvalidFile: Nothing can be written there.
    """
    goal = Path(path)
    try:
        goal = goal.resolve()
        if goal.is_dir():
            raise InvalidFile(f"{path} is a folder, and a file is to be written.\nName a file.")
        if goal.exists() and not goal.is_file():
            yield goal
            return
        part = goal.with_name(f".{goal.name}.{os.getpid()}.part")
        try:
            part.touch(exist_ok=False)
            yield part
            part.replace(goal)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidFile(
            f"{path} cannot be written ({error.strerror or error}).\nName another file."
        ) from error
