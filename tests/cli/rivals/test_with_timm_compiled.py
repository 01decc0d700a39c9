"""That compiled timm answers is tested in `../test_bench_against.py`, where timm is."""

import sys
import types

from keras_vit.cli.rivals import with_timm_compiled


def test_it_is_timm_compiled(monkeypatch):
    asked = []
    timm = types.ModuleType("with_timm")
    timm.inference = timm.training_step = lambda *given, **named: asked.append((given, named))
    monkeypatch.setitem(sys.modules, "with_timm", timm)
    for call in with_timm_compiled.CALLS.values():
        call("settings")
    assert asked == 2 * [(("settings",), {"compiled": True})]
