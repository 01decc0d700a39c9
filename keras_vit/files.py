"""Writing files so that nothing is lost when the writing fails."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path


@contextlib.contextmanager
def replacing(path):
    """Gives a temporary path beside `path`, and moves it to `path` if the block succeeds.

    What is at `path` stays as it is until the new file, or folder, is whole; if the block
    fails, what it wrote is removed.

    Args:
        path: file or folder to write; its parent folder is made if need be.

    Yields:
        A `Path` with the same ending, in a folder of its own beside `path`.

    Raises:
        OSError: if the parent folder cannot be written; the message names it.
    """
    path = Path(path)
    room = _room_beside(path)
    try:
        temporary = room / path.name
        yield temporary
        _flush(temporary)
        _put(temporary, path)
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _room_beside(path):
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise type(error)(
            error.errno, f"Cannot write in the folder {path.parent} ({error.strerror})"
        ) from error


def require_writable(folder):
    """Checks that files can be written in a folder, which is made if need be.

    Raises:
        OSError: if not; the message names the folder.
    """
    _room_beside(Path(folder) / "probe").rmdir()


def _flush(path):
    """Makes sure that a file's bytes are on the disk before its name is."""
    if path.is_file():
        with open(path, "rb") as file:
            os.fsync(file.fileno())


def _put(temporary, path):
    """Renames; a folder cannot replace a full folder, so the old one steps aside first."""
    if path.is_dir():
        old = temporary.with_name("old")
        os.replace(path, old)
        try:
            os.replace(temporary, path)
        except OSError:
            os.replace(old, path)
            raise
    else:
        os.replace(temporary, path)
