"""That packages are timed is tested in `../test_bench_against.py`, in a process of its own."""

import json
import sys
import types

from keras_vit.cli.rivals import start


def test_a_part_after_the_other(monkeypatch, capsys):
    order = []

    def build(settings):
        order.append(settings)
        return lambda: order.append("step")

    package = types.ModuleType("with_nobody")
    package.PACKAGE, package.CALLS = "json", {"training step": build}
    monkeypatch.setitem(sys.modules, "with_nobody", package)
    start.main("with_nobody", json.dumps({"width": 3}))
    assert order == [{"width": 3}, "step"]
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["import", "build", "first step"] and min(found.values()) >= 0
