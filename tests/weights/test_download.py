import errno
import io
import json
import os
import threading

import pytest

from keras_vit.weights import download as module
from keras_vit.weights.download import RECORD, cache_folder, download
from tests.weights.file_server import CONTENT, SHA256, serving

HALF = 1_500_007
RESUMED = f"bytes={HALF}-"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as server:
        yield server


@pytest.fixture
def fetch(server, tmp_path):
    """Downloads from the server; `fetch.path` is where to."""

    def fetch(sha256=None):
        return download(server.url, "w.npz", sha256, tmp_path)

    fetch.path = tmp_path / "w.npz"
    fetch.part = tmp_path / "w.npz.part"
    return fetch


def asked(server):
    return [span for _, span in server.requests]


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def recorded(folder):
    return json.loads((folder / RECORD).read_text())


def test_a_file_comes_once(server, fetch):
    assert fetch() == fetch.path
    assert fetch.path.read_bytes() == CONTENT
    assert fetch() == fetch() == fetch.path
    assert server.requests == [("/folder/w.npz", None)]
    assert files(fetch.path.parent) == [RECORD, "w.npz"]


def test_where_it_goes(server, tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_VIT_CACHE", str(tmp_path / "a" / "b"))
    assert download(server.url, "w.npz", SHA256) == tmp_path / "a" / "b" / "w.npz"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KERAS_VIT_CACHE", "~/weights")
    assert cache_folder() == tmp_path / "weights"
    monkeypatch.delenv("KERAS_VIT_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "keras_vit"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "keras_vit"


@pytest.mark.parametrize("digits", [SHA256, SHA256[:8], SHA256[:8].upper()])
def test_the_right_checksum(fetch, digits):
    assert fetch(digits).read_bytes() == CONTENT
    assert fetch(digits) == fetch.path
    assert files(fetch.path.parent) == ["w.npz"]  # nothing to record


def test_the_wrong_checksum(server, fetch):
    with pytest.raises(ValueError, match=rf"sha256 is {SHA256}, expected 00000000…\. Remove it"):
        fetch("00000000")
    assert not fetch.path.exists() and not fetch.part.exists()
    fetch(SHA256)
    # What lies there already may be the user's own: it is refused, and kept.
    with pytest.raises(ValueError, match=r"w\.npz is not the file that http.* should give"):
        fetch("0" * 64)
    assert fetch.path.read_bytes() == CONTENT
    assert len(server.requests) == 2


def test_a_file_without_a_checksum_is_recorded(server, fetch):
    fetch()
    assert recorded(fetch.path.parent) == {"w.npz": SHA256}
    download(server.url, "other.npz", None, fetch.path.parent)
    assert recorded(fetch.path.parent) == {"w.npz": SHA256, "other.npz": SHA256}
    damaged = bytearray(CONTENT)
    damaged[HALF] ^= 1
    fetch.path.write_bytes(damaged)
    with pytest.raises(ValueError, match=rf"expected {SHA256}, as .*{RECORD} has it"):
        fetch()
    fetch.path.unlink()
    assert fetch().read_bytes() == CONTENT


def test_a_published_file_that_was_replaced(server, fetch):
    fetch()
    fetch.path.unlink()
    server.content = b"another"
    with pytest.raises(ValueError, match="or its line there if the file was replaced, and try"):
        fetch()
    assert not fetch.path.exists() and not fetch.part.exists()
    (fetch.path.parent / RECORD).unlink()
    assert fetch().read_bytes() == b"another"


@pytest.mark.parametrize("text", ["no JSON", "[1, 2]", ""])
def test_a_damaged_record(fetch, text):
    fetch()
    (fetch.path.parent / RECORD).write_text(text)
    with pytest.raises(ValueError, match=rf"{RECORD} is damaged; remove it, and it will be"):
        fetch()


def test_a_record_that_cannot_be_written(fetch, monkeypatch):
    def denied(path):
        raise PermissionError(errno.EACCES, "denied")

    monkeypatch.setattr(module, "replacing", denied)
    assert fetch().read_bytes() == CONTENT
    assert files(fetch.path.parent) == ["w.npz"]


def test_a_file_put_there_by_hand(server, fetch):
    fetch.path.write_bytes(b"by hand")
    assert fetch().read_bytes() == b"by hand"
    assert server.requests == []
    fetch.path.write_bytes(b"by another hand")
    with pytest.raises(ValueError, match="is not the file"):
        fetch()


@pytest.mark.parametrize("length", [True, False], ids=["length", "chunked"])
@pytest.mark.parametrize("ranges", ["honoured", "ignored", "shifted"])
def test_a_connection_that_breaks(server, fetch, ranges, length):
    server.breaks_after, server.length = HALF, length
    with pytest.raises(ConnectionError, match="Try again to go on where it broke off"):
        fetch()
    assert not fetch.path.exists()
    kept = fetch.part.stat().st_size
    assert kept == HALF if length else kept <= HALF
    server.breaks_after, server.ranges = None, ranges
    assert fetch().read_bytes() == CONTENT
    assert recorded(fetch.path.parent) == {"w.npz": SHA256}
    again = f"bytes={kept}-" if kept else None
    assert asked(server) == [None, again, None][: 3 if ranges == "shifted" and again else 2]
    assert files(fetch.path.parent) == [RECORD, "w.npz"]


def test_a_connection_that_breaks_twice(server, fetch):
    server.breaks_after = 1_000_003
    for done in (1_000_003, 2_000_006):
        with pytest.raises(ConnectionError, match=rf"broke off after {done} of 3000017 bytes"):
            fetch(SHA256)
    server.breaks_after = None
    assert fetch(SHA256).read_bytes() == CONTENT
    assert asked(server) == [None, "bytes=1000003-", "bytes=2000006-"]


def leave_part(fetch, content):
    """What a process leaves that was killed: the bytes, and which version they are of."""
    fetch.part.write_bytes(content)
    fetch.part.with_name("w.npz.part.version").write_text('"first"', "utf-8")


def test_a_part_of_a_version_that_is_replaced_is_not_continued(server, fetch):
    server.breaks_after = HALF
    with pytest.raises(ConnectionError):
        fetch()
    server.breaks_after, server.content, server.etag = None, CONTENT[::-1], '"second"'
    assert fetch().read_bytes() == CONTENT[::-1]
    assert asked(server) == [None, RESUMED]
    assert files(fetch.path.parent) == [RECORD, "w.npz"]


def test_a_part_without_its_version_is_not_continued(server, fetch):
    fetch.part.write_bytes(b"x" * HALF)
    assert fetch().read_bytes() == CONTENT
    assert asked(server) == [None]


def test_a_part_that_is_whole(server, fetch):
    """A process that was killed before it could rename the file."""
    leave_part(fetch, CONTENT)
    assert fetch(SHA256).read_bytes() == CONTENT
    assert asked(server) == [f"bytes={len(CONTENT)}-"]


@pytest.mark.parametrize("extra", [1, 1000])
def test_a_part_that_is_longer_than_the_file(server, fetch, extra):
    leave_part(fetch, CONTENT + bytes(extra))
    assert fetch().read_bytes() == CONTENT
    assert asked(server) == [f"bytes={len(CONTENT) + extra}-", None]


def test_a_part_of_another_file(server, fetch):
    leave_part(fetch, b"x" * HALF)
    with pytest.raises(ValueError, match="is not the file"):
        fetch(SHA256)
    assert not fetch.part.exists()
    assert fetch(SHA256).read_bytes() == CONTENT
    assert asked(server) == [RESUMED, None]


@pytest.mark.parametrize("status", [404, 403, 500])
def test_what_the_server_refuses(server, fetch, status):
    server.status = status
    with pytest.raises(ConnectionError, match=f"HTTP Error {status}.* put it at {fetch.path}"):
        fetch()
    assert not fetch.path.exists()
    server.status = 200
    assert fetch().read_bytes() == CONTENT


def test_a_server_that_is_down(server, fetch, monkeypatch):
    server.shutdown()
    server.server_close()
    with pytest.raises(ConnectionError) as caught:
        fetch()
    text = str(caught.value)
    assert server.url in text and "refused" in text and f"put it at {fetch.path}." in text
    fetch.path.write_bytes(CONTENT)
    assert fetch(SHA256) == fetch.path


def test_a_server_that_hangs(server, fetch, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.2)
    server.stalled = threading.Event()
    try:
        with pytest.raises(ConnectionError, match="timed out"):
            fetch()
    finally:
        server.stalled.set()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk(server, fetch, monkeypatch, number):
    room = 2 * module.CHUNK

    class Disk(io.FileIO):
        def write(self, chunk):
            if self.tell() + len(chunk) > room:
                raise OSError(number, os.strerror(number))
            return super().write(chunk)

    def full(path, mode="r"):
        return Disk(path, mode[0]) if str(path).endswith(".part") else open(path, mode)

    with monkeypatch.context() as patched:
        patched.setattr(module, "open", full, raising=False)
        with pytest.raises(OSError, match="What has arrived is kept: make room") as caught:
            fetch()
    assert caught.value.errno == number and not isinstance(caught.value, ConnectionError)
    text = str(caught.value)
    assert str(fetch.part) in text and os.strerror(number) in text and "KERAS_VIT_CACHE" in text
    assert fetch.part.read_bytes() == CONTENT[:room]
    assert fetch().read_bytes() == CONTENT
    assert asked(server) == [None, f"bytes={room}-"]


def test_a_folder_that_cannot_be_made(server, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        download(server.url, "w.npz", None, tmp_path / "file" / "cache")
    assert server.requests == []


def test_several_that_want_the_same_file_at_a_time(server, fetch):
    """Threads here: the lock is one between open files, whichever process opened them."""
    begin, brought = threading.Barrier(5), []

    def bring():
        begin.wait()
        brought.append(fetch(SHA256))

    threads = [threading.Thread(target=bring) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert brought == [fetch.path] * 5
    assert asked(server) == [None]
    assert fetch.path.read_bytes() == CONTENT
    assert files(fetch.path.parent) == ["w.npz"]


def test_the_progress_is_shown_on_a_terminal_only(fetch, monkeypatch, capsys):
    fetch()
    assert capsys.readouterr() == ("", "")
    fetch.path.unlink()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    fetch()
    out, err = capsys.readouterr()
    assert out == "" and "w.npz" in err and "100%" in err
