import io
import json
import os
import subprocess
import sys

import pytest

from keras_vit.cli.rivals import loop


def test_seconds_are_of_each_call():
    called = []
    found = loop.seconds(lambda: called.append(1), 3)
    assert len(found) == len(called) == 3 and min(found) >= 0


def test_it_answers_line_by_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "with_nobody.py").write_text(
        "held = []\n"
        "def make(settings):\n"
        "    print('a backend speaks')\n"
        "    return lambda: held.append(bytearray(settings['bytes']))\n"
        "CALLS = {'a call': make}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("2\n1\n"))
    size = 2**26
    loop.main("with_nobody", "a call", json.dumps({"bytes": size}))
    printed = capsys.readouterr()
    ready, first, second = map(json.loads, printed.out.splitlines())
    assert ready == "ready" and len(first["seconds"]) == 2 and len(second["seconds"]) == 1
    assert printed.err == "a backend speaks\n"
    if sys.platform == "linux":
        # The most that this process ever held may have come before, so only up to a point.
        assert second["growth"] >= first["growth"]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_growth_is_the_process_own(tmp_path):
    """64 MiB are held in a fresh process, and the growth is that much."""
    code = (
        "import runpy, sys; sys.argv[0] = sys.argv.pop(1)\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    (tmp_path / "with_nobody.py").write_text(
        "held = []\nCALLS = {'a call': lambda settings: lambda: held.append(b'x' * 2**26)}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, loop.__file__, "with_nobody", "a call", "{}"],
        input="1\n",
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    growth = json.loads(done.stdout.splitlines()[1])["growth"]
    assert 0.9 < growth / 2**26 < 1.3, done.stderr
