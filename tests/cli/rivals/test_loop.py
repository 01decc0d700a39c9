import io
import json
import sys

from keras_vit.cli.rivals import loop


def test_seconds_are_of_each_call():
    called = []
    found = loop.seconds(lambda: called.append(1), 3)
    assert len(found) == len(called) == 3 and min(found) >= 0


def test_it_answers_line_by_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "with_nobody.py").write_text(
        "def calls(settings):\n"
        "    print('a backend speaks')\n"
        "    return {'a call': lambda: None, settings['other']: lambda: None}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("a call 2\nanother 1\n"))
    loop.main("with_nobody", json.dumps({"other": "another"}))
    printed = capsys.readouterr()
    names, first, second = map(json.loads, printed.out.splitlines())
    assert names == ["a call", "another"] and (len(first), len(second)) == (2, 1)
    assert printed.err == "a backend speaks\n"
