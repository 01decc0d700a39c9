"""Runs the README's examples, as CONTRIBUTING.md ("Examples in the README") describes.

Every fenced block of Python or of shell commands runs, in reading order, in one empty folder;
the Python blocks under one heading share their variables. A block that is not to be run says why
in an HTML comment before it: `<!-- not run: downloads 300 MB -->`. Shell commands that an example
needs and a reader does not stand in a comment that begins with `<!-- setup`.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PYTHON, SHELL = {"python", "py"}, {"bash", "sh", "shell", "console"}

PART = re.compile(
    r"^(?P<heading>\#+\ [^\n]*)$"
    r"|^<!--\ not\ run:(?P<reason>.*?)-->$"
    r"|^<!--\ setup\n(?P<setup>.*?)^-->$"
    r"|^```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)

# Runs the blocks of one section; each is compiled at its own line of the README, so that a
# traceback points there.
RUNNER = """
import subprocess, sys
namespace = {"__name__": "__main__"}
for is_python, line, code in %r:
    if is_python:
        exec(compile("\\n" * (line - 1) + code, "README.md", "exec"), namespace)
    else:
        sys.stdout.flush()
        subprocess.run(["bash", "-euo", "pipefail", "-c", code], check=True)
"""


class Block(NamedTuple):
    is_python: bool
    line: int
    code: str


def commands(language, code):
    """The commands of a shell block; in a `console` block those are the lines with `$ `."""
    if language != "console":
        return code
    return "".join(line[2:] + "\n" for line in code.splitlines() if line.startswith("$ "))


def sections(text):
    """Yields (heading, blocks that run) of a Markdown text."""
    heading, blocks, skip = "top", [], False
    for match in PART.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        language = match["language"]
        if match["heading"]:
            yield heading, blocks
            heading, blocks = match["heading"].strip("# "), []
        elif match["reason"] is not None:
            assert match["reason"].strip(), f"README.md:{line}: `not run:` needs a reason."
            skip = True
        elif match["setup"] is not None:
            blocks.append(Block(False, line + 1, match["setup"]))
        elif language in PYTHON | SHELL:
            if not skip:
                code = commands(language, match["code"])
                blocks.append(Block(language in PYTHON, line + 1, code))
            skip = False
    yield heading, blocks


def sections_of_the_readme():
    if README.exists():
        for heading, blocks in sections(README.read_text("utf-8")):
            if blocks:
                yield pytest.param(blocks, id=heading)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("readme")


@pytest.mark.parametrize("blocks", list(sections_of_the_readme()))
def test_examples_of_the_readme(blocks, folder):
    # The commands of this Python's environment (keras-vit, python) come first.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, "-c", RUNNER % [tuple(block) for block in blocks]],
        cwd=folder,
        env=os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_blocks_are_found_in_reading_order():
    text = (
        "# First\n<!-- setup\ntouch picture\n-->\n```bash\nls\n```\n```text\nno code\n```\n"
        "## Second\n```python\nx = 1\n```\n<!-- not run: asks for a password -->\n"
        "```bash\nsudo ls\n```\n```console\n$ ls\npicture\n```\n"
    )
    assert list(sections(text)) == [
        ("top", []),
        ("First", [Block(False, 3, "touch picture\n"), Block(False, 6, "ls\n")]),
        ("Second", [Block(True, 13, "x = 1\n"), Block(False, 20, "ls\n")]),
    ]


def test_a_block_that_is_not_run_needs_a_reason():
    with pytest.raises(AssertionError, match="needs a reason"):
        list(sections("<!-- not run: -->\n```bash\nls\n```\n"))


def test_readme_never_names_the_distribution_of_others():
    # keras-vit on PyPI is an unrelated package.
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        if (ROOT / name).exists():
            assert not re.search(r"pip install '?keras-vit(?!-kit)", (ROOT / name).read_text())
