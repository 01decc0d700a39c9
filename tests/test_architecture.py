"""Keeps the order of imports, the sizes and the names of this repository.

Every check reads files only, and holds for folders that are not there yet.
"""

import ast
import io
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "keras_vit"
RUNNABLE = [ROOT / "training", ROOT / "export"]

# A part imports only from parts of a lower rank, and from itself.
RANKS = {
    "version": 0,
    "backend": 0,
    "files": 0,
    "hints": 0,
    "one_pass": 0,
    "layers": 1,
    "step": 2,
    "models": 3,
    "data": 3,
    "objectives": 4,
    "weights": 4,
    "explain": 4,
    "factory": 5,
    "runtime": 6,
    "training": 7,
    "export": 7,
    "cli": 8,
}

# What every installation has. Anything else is imported inside the function that needs it.
REQUIRED = {
    "PIL",
    "keras",
    "matplotlib",
    "ml_dtypes",
    "numpy",
    "rich",
    "safetensors",
    "sklearn",
    "typer",
}
# These parts may import TensorFlow at the top; `import keras_vit` under JAX must do without them.
TENSORFLOW_PARTS = {"step", "data", "explain", "runtime", "training", "export"}
# These run on any backend: keras.ops and keras.random only.
NEUTRAL_PARTS = {"layers", "models", "objectives"}
BACKENDS = {"tensorflow", "jax", "jaxlib", "torch"}

LINES_IN_LAYERS, LINES_ELSEWHERE, LINES_OF_AN_ENTRY, LINES_OF_A_FUNCTION = 300, 400, 40, 40


def files(*folders):
    found = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in found]


def part_of(path):
    """The part that a file of the package belongs to: `layers`, ..., or None for the root."""
    first = path.relative_to(PACKAGE).parts[0]
    name = first.removesuffix(".py")
    return None if name == "__init__" else name


def parse(path):
    return ast.parse(path.read_text("utf-8"), filename=str(path))


def imported(path):
    """Yields (line, absolute dotted name, whether it is imported when the file is).

    `from a.b import c` gives `a.b.c`, since c may be a module.
    """
    tree = parse(path)
    inner = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    package = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            base += [node.module] if node.module else []
            names = [".".join([*base, alias.name]) for alias in node.names]
        for name in names:
            yield node.lineno, name, id(node) not in inner


def lines_of_code(path):
    """The numbers of the lines that hold more than a comment."""
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines = set()
    source = path.read_text("utf-8")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skipped and token.string:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines


def docstring_lines(function):
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is None:
        return set()
    return set(range(first.lineno, first.end_lineno + 1))


@pytest.mark.parametrize("path", files(PACKAGE))
def test_a_part_imports_only_what_stands_before_it(path):
    part = part_of(path)
    if part is None:  # keras_vit/__init__.py shows every part to the user
        return
    assert part in RANKS, f"Give `{part}` a rank in RANKS, beside the parts it works with."
    wrong = []
    for line, name, _ in imported(path):
        root, _, rest = name.partition(".")
        if root != "keras_vit":
            continue
        other = rest.split(".")[0]
        if other not in RANKS:
            wrong.append(f"{line}: `{name}`: import from the module where it is defined")
        elif other != part and RANKS[other] >= RANKS[part]:
            wrong.append(f"{line}: `{part}` must not import `{other}`")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", files(PACKAGE))
def test_optional_packages_are_imported_where_they_are_used(path):
    allowed = {"keras_vit", *REQUIRED, *sys.stdlib_module_names}
    if part_of(path) in TENSORFLOW_PARTS:
        allowed.add("tensorflow")
    wrong = [
        f"{line}: `{name}`: import it inside the function that needs it, with "
        "keras_vit.layers.extras.require"
        for line, name, at_the_top in imported(path)
        if at_the_top and name.split(".")[0] not in allowed
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", files(*(PACKAGE / part for part in sorted(NEUTRAL_PARTS))))
def test_the_core_imports_no_backend(path):
    wrong = [
        f"{line}: `{name}`: use keras.ops and keras.random"
        for line, name, _ in imported(path)
        if name.split(".")[0] in BACKENDS
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", files(*RUNNABLE))
def test_an_entry_file_is_thin_and_imports_no_other(path):
    count = len(path.read_text("utf-8").splitlines())
    assert count <= LINES_OF_AN_ENTRY, (
        f"An entry file has at most {LINES_OF_AN_ENTRY} lines; this one has {count}. "
        "Its logic belongs in keras_vit."
    )
    neighbours = {"training", "export"} | {file.stem for file in path.parent.glob("*.py")}
    wrong = [f"{line}: `{name}`" for line, name, _ in imported(path) if name in neighbours]
    assert not wrong, "An entry file imports from keras_vit only: " + ", ".join(wrong)


@pytest.mark.parametrize("path", files(PACKAGE, *RUNNABLE, ROOT / "tests"))
def test_file_sizes(path):
    in_layers = path.is_relative_to(PACKAGE / "layers")
    cap = LINES_IN_LAYERS if in_layers else LINES_ELSEWHERE
    count = len(path.read_text("utf-8").splitlines())
    assert count <= cap, f"A file here has at most {cap} lines; this one has {count}. Split it."


@pytest.mark.parametrize("path", files(PACKAGE, *RUNNABLE))
def test_function_sizes(path):
    code = lines_of_code(path)
    wrong = []
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            own = code & set(range(node.lineno, node.end_lineno + 1))
            count = len(own - docstring_lines(node))
            if count > LINES_OF_A_FUNCTION:
                wrong.append(f"{node.lineno}: `{node.name}` has {count} lines of code")
    assert not wrong, f"At most {LINES_OF_A_FUNCTION} are allowed:\n" + "\n".join(wrong)


@pytest.mark.parametrize("path", files(PACKAGE, *RUNNABLE, ROOT / "tests"))
def test_no_vague_file_name_and_no_note_of_unfinished_work(path):
    assert path.stem not in {"util", "utils"}, "Name the file after the one thing that it holds."
    for note in ("TO" + "DO", "FIX" + "ME"):
        assert note not in path.read_text("utf-8"), f"File an issue instead of writing {note}."


def test_every_entry_file_is_run_by_a_test():
    entries = [path for folder in RUNNABLE for path in sorted(folder.rglob("*.[ps][yh]"))]
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py"))
    missing = [str(path.relative_to(ROOT)) for path in entries if path.name not in tests]
    assert not missing, "No test names these entry files: " + ", ".join(missing)


def test_every_module_has_its_test():
    modules = [path.relative_to(PACKAGE) for path in sorted(PACKAGE.rglob("*.py"))]
    tests = [path.with_name(f"test_{path.name}") for path in modules if path.stem != "__init__"]
    missing = [f"tests/{path}" for path in tests if not (ROOT / "tests" / path).exists()]
    assert not missing, "Tests mirror keras_vit file for file. Missing:\n" + "\n".join(missing)
