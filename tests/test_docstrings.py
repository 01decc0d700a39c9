"""Runs the `>>>` examples in the docstrings of keras_vit."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "keras_vit"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules_with_examples():
    """The names of the modules with an example; the others need not be imported."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if ">>> " in path.read_text("utf-8"):
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            yield ".".join(part for part in parts if part != "__init__")


@pytest.mark.parametrize("name", list(modules_with_examples()))
def test_docstring_examples(name, tmp_path, monkeypatch):
    module = import_module(name)
    monkeypatch.chdir(tmp_path)  # an example may write a file
    report = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for case in doctest.DocTestFinder(exclude_empty=True).find(module):
        runner.run(case, out=report.append)
    assert runner.failures == 0, "".join(report)
    assert runner.tries > 0, f"{name} has `>>>`, but not in a docstring that doctest finds."
