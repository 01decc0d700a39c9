"""The app for Ray Serve in real processes on this machine."""

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from keras_vit import runtime
from keras_vit.data.decode import decode, fit
from keras_vit.export import export
from tests.data.pictures import in_every_form, photograph
from tests.small_vit import small_vit

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "export" / "serving"


@pytest.fixture
def address(tmp_path):
    """Runs `ray.yaml` and `ray_app.py` with a small model, and stops them."""
    import yaml

    model = export(small_vit(channels=3), "server", tmp_path / "model")
    config = yaml.safe_load((FOLDER / "ray.yaml").read_text())
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = config["http_options"]["port"] = free.getsockname()[1]
    config["applications"][0]["args"]["model"] = str(model)
    (tmp_path / "ray.yaml").write_text(yaml.safe_dump(config))
    home, log = tempfile.mkdtemp(prefix="ray"), tmp_path / "log"  # Ray's sockets need a short path
    names = {"HOME": home, "RAY_TMPDIR": home, "RAY_USAGE_STATS_ENABLED": "0"}
    environment = os.environ | names | {"PYTHONPATH": f"{FOLDER}{os.pathsep}{ROOT}"}
    command = [Path(sys.executable).parent / "serve", "run", tmp_path / "ray.yaml"]
    with log.open("w") as file:
        process = subprocess.Popen(
            command, env=environment, stdout=file, stderr=file, start_new_session=True
        )
    url = f"http://127.0.0.1:{port}/"
    try:
        end = time.monotonic() + 120
        while not is_there(url):
            assert process.poll() is None and time.monotonic() < end, log.read_text()[-4000:]
            time.sleep(0.2)
        yield url, runtime.open(model)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:  # Ray's own ending can hang on a busy machine
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(home, ignore_errors=True)


def is_there(url):
    """Whether requests find the application; they wait for its first replica."""
    try:
        with urllib.request.urlopen(f"{url}-/routes", timeout=5) as answer:
            return "vit" in json.load(answer).values()
    except OSError:
        return False


def ask(url, pictures):
    instances = [{"b64": base64.b64encode(picture).decode()} for picture in pictures]
    request = urllib.request.Request(url, json.dumps({"instances": instances}).encode())
    with urllib.request.urlopen(request, timeout=60) as answer:
        return [one["logits"] for one in json.load(answer)["predictions"]]


@pytest.mark.prove
def test_ray_serve_gives_the_models_answers(address):
    url, model = address
    pictures = list(in_every_form(photograph(41, 31)).values())
    pixels = [fit(decode(one, 3), model.preprocessing).numpy() for one in pictures]
    expected = model.logits(np.stack(pixels))
    answers = np.array(ask(url, pictures))
    assert np.abs(answers - expected).max() <= 1e-5 * np.abs(expected).max()
    # What is no picture is the client's mistake, and the next request is answered.
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(url, [b"no picture"])
    assert refused.value.code == 400
    assert "not a JPEG" in json.load(refused.value)["error"]
    assert ask(url, pictures[:1]) == [pytest.approx(expected[0], abs=1e-4)]
