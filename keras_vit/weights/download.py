"""Downloads published weights: once, with progress, resumed where it broke off, and checked."""

import contextlib
import errno
import hashlib
import http.client
import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path

from rich.console import Console
from rich.progress import DownloadColumn, Progress, TransferSpeedColumn

from keras_vit.files import replacing
from keras_vit.weights.archives.damage import refused

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

CHUNK = 1 << 20
SECONDS = 30
# Checksums of what was downloaded before, for files whose source states none.
RECORD = "checksums.json"
# What the disk says, not the network.
OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS)


def cache_folder():
    """Where downloads are kept: `$KERAS_VIT_CACHE`, or `keras_vit` in the user's cache folder."""
    chosen = os.environ.get("KERAS_VIT_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "keras_vit"


def download(url, file, sha256=None, folder=None):
    """Returns the local path of a published file, downloading it if need be.

    A download that broke off is kept as `FILE.part` and taken up where it ended. A file whose
    checksum no source states is recorded at its first download in `checksums.json` beside it, and
    checked against that from then on. Of several processes that want a file, one downloads it.

    Args:
        url: where it lies.
        file: its name in the cache folder.
        sha256: the checksum's first hexadecimal digits, or None.
        folder: the cache folder; `cache_folder()` by default.

    Raises:
        ConnectionError: if the place cannot be reached; the message says which file to put where.
        OSError: if the folder cannot be written, or the disk is full.
        ValueError: if the file is not the one expected. It is then not kept.
    """
    folder = Path(folder or cache_folder())
    path = folder / file
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder / f"{file}.lock"):
            if not path.exists():  # another process may have brought it meanwhile
                _bring(url, path, sha256)
                return path
    _check(path, path, url, sha256)
    return path


@contextlib.contextmanager
def _alone(lock):
    """Lets one process at a time into the block."""
    with open(lock, "w") as file:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # some network disks know no locks
                fcntl.flock(file, fcntl.LOCK_EX)
        yield
        # Not after a failure: a process that waits for this file could then meet one that does not.
        lock.unlink(missing_ok=True)


def _bring(url, path, sha256):
    part = path.with_name(f"{path.name}.part")
    try:
        _fetch(url, part)
    except (OSError, http.client.HTTPException) as error:
        if getattr(error, "errno", None) in OF_THE_DISK:
            raise OSError(
                error.errno,
                f"{part} cannot be written ({error.strerror}). What has arrived is kept: make "
                "room and try again, or name another folder in the variable KERAS_VIT_CACHE",
            ) from error
        reason = str(error) or type(error).__name__
        raise ConnectionError(
            f"{url} cannot be downloaded ({reason}). Try again to go on where it broke off; where "
            f"there is no network, bring the file by other means and put it at {path}."
        ) from error
    _check(part, path, url, sha256)
    part.replace(path)
    part.with_name(f"{part.name}.version").unlink(missing_ok=True)


def _fetch(url, part):
    version = part.with_name(f"{part.name}.version")
    done = part.stat().st_size if part.exists() and version.exists() else 0
    response, start = _request(url, done, version.read_text("utf-8") if done else "")
    if response is None:
        return
    with response:
        length = response.headers.get("Content-Length")
        total = start + int(length) if length else None
        done = start
        # Only half of the same version may be taken up again.
        etag = response.headers.get("ETag") or response.headers.get("Last-Modified")
        if etag:
            version.write_text(etag, "utf-8")
        with open(part, "ab" if start else "wb") as file, _Progress(part.stem, total) as bar:
            while chunk := response.read(CHUNK):
                file.write(chunk)
                done += len(chunk)
                bar.show(done)
    if total is not None and done != total:
        raise OSError(f"the connection broke off after {done} of {total} bytes")


def _request(url, done, version=""):
    """Asks for a file from byte `done` on.

    Returns:
        The response, None if no byte is left to fetch, and the byte that it starts at.
    """
    headers = {"Range": f"bytes={done}-", "If-Range": version} if done else {}
    try:
        response = urllib.request.urlopen(
            urllib.request.Request(url, headers=headers), timeout=SECONDS
        )
    except urllib.error.HTTPError as error:
        with error:
            if error.code != 416 or not done:  # no such range
                raise
            total = re.fullmatch(r"bytes \*/(\d+)", error.headers.get("Content-Range", ""))
        return (None, done) if total and int(total[1]) == done else _request(url, 0)
    if response.status != 206:
        return response, 0
    start = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    if start and int(start[1]) == done:
        return response, done
    response.close()
    return _request(url, 0)


class _Progress:
    """A rich progress bar on a terminal, nothing elsewhere."""

    def __init__(self, name, total):
        columns = (*Progress.get_default_columns(), DownloadColumn(), TransferSpeedColumn())
        console = Console(stderr=True)
        self.progress = Progress(*columns, console=console, disable=not sys.stderr.isatty())
        self.task = self.progress.add_task(name, total=total)

    def __enter__(self):
        self.progress.start()
        return self

    def show(self, done):
        self.progress.update(self.task, completed=done)

    def __exit__(self, *_):
        self.progress.stop()


def _check(file, path, url, sha256):
    """Compares a file with its stated or recorded checksum; records it if there is none."""
    record_path = path.with_name(RECORD)
    record = _record(record_path)
    expected = str(sha256 or record.get(path.name, "")).lower()
    with open(file, "rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if not expected:
        # A shared folder may be there to read only.
        with contextlib.suppress(OSError), replacing(record_path) as temporary:
            temporary.write_text(json.dumps({**record, path.name: found}, indent=1), "utf-8")
    elif not found.startswith(expected):
        if file != path:
            file.unlink()
        stated = "" if sha256 else f", as {record_path} has it from its first download"
        remedy = "Remove it" if sha256 else "Remove it, or its line there if the file was replaced,"
        raise ValueError(
            f"{path} is not the file that {url} should give: its sha256 is {found}, expected "
            f"{expected}{'…' if len(expected) < 64 else ''}{stated}. {remedy} and try again."
        )


def _record(path):
    if not path.exists():
        return {}
    with refused(f"{path} is damaged; remove it, and it will be written anew"):
        return dict(json.loads(path.read_text("utf-8")))
