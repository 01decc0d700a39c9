"""Builds the distribution as a release does, and uses it where nothing of the checkout is near."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from keras_vit.version import __version__

ROOT = Path(__file__).parents[1]
STEM = f"keras_vit_kit-{__version__}"
# What the Makefile installs; the other extras are not pinned.
PINNED_EXTRAS = [
    "tensorflow", "data", "edge", "detection", "jax", "dev", "reference", "tpu-check"
]  # fmt: skip


def run(*command, cwd, env=None):
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def clean_copy(target):
    """Copies what git has or would add, so that nothing built or left behind helps the build."""
    listed = run("git", "ls-files", "-z", "-co", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes((ROOT / name).read_bytes())


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist, the wheel built from that sdist, and the wheel's content in a folder."""
    folder = tmp_path_factory.mktemp("packaging")
    clean_copy(folder / "source")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist")]
    run(*build, cwd=folder / "source")
    wheel = folder / "dist" / f"{STEM}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "unzipped")
    return SimpleNamespace(
        source=folder / "source",
        sdist=folder / "dist" / f"{STEM}.tar.gz",
        wheel=wheel,
        unzipped=folder / "unzipped",
    )


def test_wheel_holds_only_keras_vit(built):
    assert {path.name for path in built.unzipped.iterdir()} == {"keras_vit", f"{STEM}.dist-info"}


def test_wheel_holds_every_file_of_the_package(built):
    # A data file whose ending setup.py does not list would be missing from the wheel alone.
    def content(folder):
        found = (folder / "keras_vit").rglob("*")
        return {str(path.relative_to(folder)) for path in found if path.is_file()}

    assert content(built.unzipped) == content(built.source)


def test_sdist_holds_the_package_and_its_papers(built):
    with tarfile.open(built.sdist) as archive:
        names = set(archive.getnames())
    papers = ["LICENSE", "README.md", "pyproject.toml", "setup.py", "keras_vit/__init__.py"]
    assert {f"{STEM}/{name}" for name in papers} <= names


def test_metadata(built):
    info = built.unzipped / f"{STEM}.dist-info"
    lines = (info / "METADATA").read_text("utf-8").splitlines()
    assert "Name: keras-vit-kit" in lines
    assert f"Version: {__version__}" in lines
    extras = {line.partition(": ")[2] for line in lines if line.startswith("Provides-Extra")}
    promised = "tensorflow tensorflow-gpu tpu jax data edge serve onnx hub tpu-check dev"
    assert set(promised.split()) <= extras
    assert "keras-vit = keras_vit.cli.main:main" in (info / "entry_points.txt").read_text()


def needed_for(needed, extras):
    """Whether a requirement of the metadata holds when these extras are installed."""
    marker = needed.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)


def test_constraints_pin_what_make_installs(built):
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    assert all(pin.url is None and str(pin.specifier).startswith("==") for pin in pins)
    pinned = {canonicalize_name(p.name): str(p.specifier).removeprefix("==") for p in pins}
    info = metadata.Distribution.at(built.unzipped / f"{STEM}.dist-info")
    for needed in map(Requirement, info.requires):
        if needed_for(needed, PINNED_EXTRAS):
            version = pinned.get(canonicalize_name(needed.name))
            assert version, f"constraints.txt does not pin `{needed}`."
            assert needed.specifier.contains(version), f"`{needed}` excludes {version}."


def test_wheel_is_imported_in_an_empty_folder(built, tmp_path):
    code = (
        f"import sys; sys.path.insert(0, {str(built.unzipped)!r})\n"
        "import keras_vit\n"
        "from keras_vit.cli.main import main\n"
        "print(keras_vit.__file__, keras_vit.__version__)"
    )
    # -I: neither the folder nor PYTHONPATH nor the user's own packages come in between.
    place, version = run(sys.executable, "-I", "-c", code, cwd=tmp_path).split()[-2:]
    assert Path(place).is_relative_to(built.unzipped)
    assert version == __version__


@pytest.mark.prove
def test_wheel_without_a_backend_says_what_to_install(built, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv/bin/python")
    constraints = str(ROOT / "constraints.txt")
    run(python, "-m", "pip", "install", "-q", "-c", constraints, str(built.wheel), cwd=tmp_path)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("KERAS")}
    clean |= {"KERAS_HOME": str(tmp_path)}
    clean.pop("PYTHONPATH", None)
    for command in (
        [python, "-c", "import keras_vit"],
        [tmp_path / "venv/bin/keras-vit", "models"],
    ):
        done = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True)
        assert done.returncode != 0
        assert "pip install 'keras-vit-kit[tensorflow]'" in done.stderr.splitlines()[-1]
