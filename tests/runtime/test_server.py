"""A served model is a predictor like any other."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from keras_vit import runtime
from keras_vit.cli.main import app
from keras_vit.runtime.server import Server, is_address
from tests.export.server.toys import serving, toy


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def server(artefacts, folder):
    toy(folder / "models" / "toy" / "1")
    (folder / "models" / "digits" / "3").mkdir(parents=True)
    shutil.copy(artefacts["float32"], folder / "models" / "digits" / "3" / "model.tflite")
    with serving(folder / "models", tokens=("secret",), max_batch=8) as running:
        yield running


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("KERAS_VIT_TOKEN", "secret")


def addresses(server, name, version=""):
    rest = f"http://127.0.0.1:{server.rest_port}/v1/models/{name}"
    grpc = f"grpc://127.0.0.1:{server.port}/{name}"
    if version:
        return f"{rest}/versions/{version}", f"{grpc}/{version}"
    return rest, grpc


@pytest.mark.parametrize("which", [0, 1], ids=["rest", "grpc"])
@pytest.mark.parametrize("version", ["", "3"])
def test_its_answers_are_the_files(artefacts, server, folder, which, version):
    predictor = runtime.open(addresses(server, "digits", version)[which])
    file = runtime.open(artefacts["float32"])
    pixels = artefacts.pixels[:11]  # two batches
    np.testing.assert_allclose(predictor.logits(pixels), file.logits(pixels), rtol=1e-5)
    assert predictor.logits(pixels[:0]).shape == (0, 10)
    assert (predictor.kind, predictor.path, predictor.class_names) == ("server", None, ())
    assert predictor.preprocessing.image_size == (16, 16)
    assert predictor.preprocessing.channels == 1
    paths = []
    for index, one in enumerate(artefacts.pixels[:9]):
        paths.append(folder / f"{index}.png")
        Image.fromarray(one[..., 0]).save(paths[-1])
    found, expected = predictor.predict_files(paths, top=3), file.predict_files(paths, top=3)
    for row, wanted in zip(found, expected, strict=True):
        assert [name for name, _ in row] == [name for name, _ in wanted]
        np.testing.assert_allclose([p for _, p in row], [p for _, p in wanted], rtol=1e-5)
    assert predictor.predict_files([]) == []


@pytest.mark.parametrize("which", [0, 1], ids=["rest", "grpc"])
def test_what_it_refuses(server, folder, monkeypatch, which):
    bad = folder / "bad.jpg"
    bad.write_text("no picture")
    predictor = runtime.open(addresses(server, "digits")[which])
    with pytest.raises(ValueError, match="bad.jpg cannot be decoded as a picture: The bytes"):
        predictor.predict_files([bad])
    with pytest.raises(FileNotFoundError):
        predictor.predict_files([folder / "gone.jpg"])
    with pytest.raises(ValueError, match="`top` must be at least 1"):
        predictor.predict_files([bad], top=0)
    with pytest.raises(ValueError, match=r"Latest\(net\). Check the model's name"):
        runtime.open(addresses(server, "net")[which])
    with pytest.raises(ValueError, match="takes no images"):
        runtime.open(addresses(server, "toy")[which])
    monkeypatch.setenv("KERAS_VIT_TOKEN", "wrong")
    with pytest.raises(PermissionError, match="KERAS_VIT_TOKEN"):
        runtime.open(addresses(server, "digits")[which])
    assert Server(addresses(server, "digits")[which], token="secret").preprocessing


@pytest.mark.parametrize(
    "address",
    [
        "http://host:1",
        "http://host:1/digits",
        "grpc://host:1",
        "grpcs://host:1/a/b",
        "https://h/v1",
    ],
)
def test_addresses_of_another_form(address):
    assert is_address(address)
    with pytest.raises(ValueError, match="must be http://HOST:PORT/v1/models/NAME"):
        runtime.open(address)


def test_a_server_that_tells_less(server, monkeypatch):
    predictor = runtime.open(addresses(server, "digits")[0])
    for outputs in (
        {"probabilities": np.array([[0.25, 0.75]])},
        {"logits": np.log([[0.25, 0.75]])},
    ):
        monkeypatch.setattr(predictor._client, "predict", lambda *_, told=outputs: told)
        ((first, second),) = predictor.predict_files([__file__], top=2)
        assert first[0] == "1" and first[1] == pytest.approx(0.75) and second[0] == "0"


def test_the_command_and_the_client_of_a_checkout(artefacts, server, folder):
    pictures = []
    for index, one in enumerate(artefacts.pixels[:2]):
        pictures.append(folder / f"picture {index}.png")
        Image.fromarray(one[..., 0]).save(pictures[-1])
    best = [rows[0][0] for rows in runtime.open(artefacts["float32"]).predict_files(pictures)]
    addresses_ = addresses(server, "digits")
    for address in addresses_:
        result = CliRunner().invoke(app, ["predict", address, *map(str, pictures), "--top", "1"])
        assert result.exit_code == 0, result.output
        for picture, name in zip(pictures, best, strict=True):
            assert str(picture) in result.stdout and name in result.stdout
    (folder / "text.jpg").write_text("no picture")
    client = Path(__file__).parents[2] / "export" / "serving" / "client.py"

    def run(address, *files):
        command = [sys.executable, client, address, *files]
        return subprocess.run(command, capture_output=True, text=True)

    done = run(addresses_[0], *pictures, folder / "text.jpg")
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    for line, picture, name in zip(lines, pictures, best, strict=False):
        assert line.startswith(f"{picture}: {name} ") and line.endswith("%")
    assert "text.jpg: The bytes are not" in lines[2]
    done = run(addresses(server, "net")[0], pictures[0])
    assert done.returncode == 1 and done.stderr.startswith("404: Servable not found")
    done = run("http://127.0.0.1:9/v1/models/net", pictures[0])
    assert done.returncode == 1 and "refused" in done.stderr
