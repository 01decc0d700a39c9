"""The page: what is written without a browser, and what Chromium shows of it."""

import base64
import dataclasses
import json
import shutil
import subprocess
from pathlib import Path

import keras
import numpy as np
import pytest
from PIL import Image

from keras_vit import runtime
from keras_vit.data import decode, fit
from keras_vit.export.web import write_page
from keras_vit.export.web.browser import ask, chromium, served, status
from keras_vit.export.web.page import PAGE, attention_grid
from keras_vit.layers import Preprocessing
from tests.small_vit import digit_images, small_vit


@pytest.fixture
def no_litertjs(monkeypatch):
    """LiteRT.js is left out: what is tested is beside it."""
    monkeypatch.setattr("keras_vit.export.web.page.copy_litertjs", lambda folder: folder.mkdir())


def test_what_is_in_the_folder(no_litertjs, tmp_path):
    model = small_vit(depth=1)
    write_page(model, tmp_path / "page", title="Digits")
    names = {path.name for path in (tmp_path / "page").iterdir()}
    assert names == {
        *(path.name for path in PAGE.iterdir()), "litert", "model.json",
        "dynamic.tflite", "float32.tflite",
    }  # fmt: skip
    found = json.loads((tmp_path / "page" / "model.json").read_text())
    assert found["name"] == "Digits" and found["preprocessing"]["class_names"][3] == "digit 3"
    for file in found["files"]:
        assert file["attention"] == [4, 4] and file["output"]["scale"] == 0
        assert file["bytes"] == (tmp_path / "page" / file["path"]).stat().st_size


def test_another_folder_is_left_alone(no_litertjs, tmp_path):
    (tmp_path / "photo.jpg").write_bytes(b"")
    with pytest.raises(ValueError, match="new, empty or an earlier page"):
        write_page(small_vit(depth=1), tmp_path)


def test_windows_have_no_map():
    from tests.export.rewrite.families import FAMILIES

    assert attention_grid(FAMILIES["swin"]()) is None
    assert attention_grid(FAMILIES["vit"]()) == (4, 6)


def test_the_page_asks_no_other_server():
    for path in PAGE.iterdir():
        assert "http" not in path.read_text("utf-8").replace("(https, or localhost", ""), path


@pytest.mark.prove
@pytest.mark.parametrize("path", sorted(PAGE.glob("*.js")), ids=lambda path: path.name)
def test_the_scripts_parse(path):
    node = [shutil.which("node"), "--input-type=module", "--check"]
    subprocess.run(node, input=path.read_bytes(), check=True)


FIT = """
import { fit } from "data:text/javascript;base64,%s";
let text = "";
for await (const piece of process.stdin) text += piece;
const { width, height, data, preprocessing } = JSON.parse(text);
const image = { width, height, data: Uint8ClampedArray.from(data) };
console.log(JSON.stringify(Array.from(fit(image, preprocessing))));
"""


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic", "nearest"])
@pytest.mark.parametrize("resize", [{}, {"resize": "crop", "crop": 0.9}])
def test_a_browser_resizes_to_the_very_pixels_of_python(seed, interpolation, resize):
    """One level of one pixel moves the logits of a model in integers by several steps."""
    random = np.random.default_rng(seed)
    height, width = random.integers(30, 300, 2)
    picture = random.integers(0, 256, (height, width, 3), "uint8")
    preprocessing = Preprocessing(image_size=(97, 61), interpolation=interpolation, **resize)
    expected = np.asarray(fit(picture, preprocessing)).ravel()
    opaque = np.dstack([picture, np.full((height, width), 255, "uint8")])
    request = {"width": int(width), "height": int(height), "data": opaque.ravel().tolist()}
    request["preprocessing"] = dataclasses.asdict(preprocessing)
    code = FIT % base64.b64encode((PAGE / "pixels.js").read_bytes()).decode()
    found = subprocess.run(
        [shutil.which("node"), "--input-type=module", "-e", code],
        input=json.dumps(request), capture_output=True, text=True, check=True,
    )  # fmt: skip
    np.testing.assert_array_equal(json.loads(found.stdout), expected)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """(folder, pictures: one at the model's size, one to be made smaller, one transparent)."""
    folder = tmp_path_factory.mktemp("web")
    pixels, _ = digit_images((32, 32), 3)
    keras.utils.set_random_seed(7)
    model = small_vit((32, 32), (8, 8), 3)
    write_page(model, folder / "page", pixels[:200], title="Digits")
    random = np.random.default_rng(5)
    wide = np.kron(random.integers(0, 256, (19, 23, 3)), np.ones((5, 5, 1))).astype("uint8")
    clear = np.dstack([wide, np.where(wide[..., :1] > 127, 255, 0).astype("uint8")])
    pictures = {"same": pixels[1500], "wide": wide, "clear": clear}
    for name, picture in pictures.items():
        Image.fromarray(picture).save(folder / f"{name}.png")
    return folder / "page", [folder / f"{name}.png" for name in pictures]


@pytest.mark.prove
def test_a_browser_says_what_python_says(page):
    folder, pictures = page
    with served(folder) as address, chromium() as driver:
        driver.get(address)
        for name in ("float32", "dynamic", "int8"):
            predictor = runtime.open(folder / f"{name}.tflite")
            for picture in pictures:
                answer = ask(driver, picture, name)
                image = decode(picture.read_bytes(), 3)
                expected = predictor.logits(np.asarray(fit(image, predictor.preprocessing))[None])[
                    0
                ]
                step = next(
                    file["output"]["scale"]
                    for file in json.loads((folder / "model.json").read_text())["files"]
                    if file["name"] == name
                )
                # Dynamic ranges differ by the kernels (4e-3 on a whole DeiT-Ti).
                tolerance = {"float32": 1e-4, "dynamic": 2e-2, "int8": 1.001 * step}[name]
                scale = 1 if name == "int8" else np.abs(expected).max()
                assert np.abs(answer["logits"] - expected).max() <= tolerance * scale, picture
                assert answer["engine"] == "wasm" and answer["milliseconds"] > 0
                shares = np.exp(expected - expected.max())
                best = predictor.class_names[shares.argmax()]
                assert status(driver).startswith(best)
                assert (answer["attention"] is None) == (name == "int8")
                if name == "float32":
                    assert sum(answer["attention"]) == pytest.approx(1, abs=1e-4)
        # LiteRT's engine tells all it has to say as errors.
        severe = [one["message"] for one in driver.get_log("browser") if one["level"] == "SEVERE"]
        assert not [message for message in severe if "/litert/wasm/" not in message]


@pytest.mark.prove
def test_threads_and_no_network(page):
    """The service worker isolates the page, and keeps it for days without a server."""
    from selenium.webdriver.support.ui import WebDriverWait

    folder, pictures = page
    with chromium() as driver:
        with served(folder) as address:
            driver.get(address)
            wait = WebDriverWait(driver, 60)
            wait.until(lambda d: d.execute_script("return self.crossOriginIsolated"))
            online = ask(driver, pictures[0], "float32")
            assert "threads" in driver.find_element("id", "threads").text
        driver.get(address)  # nobody serves it now
        offline = ask(driver, pictures[0], "float32")
        assert offline["logits"] == pytest.approx(online["logits"], rel=1e-5, abs=1e-5)


@pytest.mark.prove
def test_keys_alone_do(page):
    """Each control is reached by the tabulator, and none of it needs a pointer."""
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    folder, pictures = page
    with served(folder) as address, chromium(width=390, height=844) as driver:
        driver.get(address)
        ask(driver, pictures[0], "float32")
        reached = []
        for _ in range(8):
            ActionChains(driver).send_keys(Keys.TAB).perform()
            focused = driver.switch_to.active_element
            reached.append(focused.get_attribute("id") or focused.get_attribute("name"))
        assert {"file", "camera", "attention", "files", "engines"} <= set(reached)
        width = driver.execute_script("return document.documentElement.scrollWidth")
        assert width <= driver.execute_script("return innerWidth")


CALLER = """<!doctype html><link rel="icon" href="data:,"><script type="importmap">{"imports": {
"@litertjs/core": "./litert/core.js", "@litertjs/wasm-utils": "./litert/wasm-utils.js"}}</script>
<script type="module">import { classify } from "./classify.mjs"; self.classify = classify;</script>
"""


@pytest.mark.prove
def test_the_caller_in_javascript_runs(page):
    from selenium.webdriver.support.ui import WebDriverWait

    folder, _ = page
    shutil.copy(Path(__file__).parents[3] / "export" / "callers" / "classify.mjs", folder)
    (folder / "caller.html").write_text(CALLER)
    pixels = np.random.default_rng(2).integers(0, 256, (1, 32, 32, 3))
    with served(folder) as address, chromium() as driver:
        driver.get(f"{address}caller.html")
        WebDriverWait(driver, 30).until(
            lambda d: d.execute_script("return typeof self.classify === 'function'")
        )
        script = "const done = arguments[2]; classify(arguments[0], arguments[1]).then(done, done)"
        logits = driver.execute_async_script(script, "float32.tflite", pixels.ravel().tolist())
    expected = runtime.open(folder / "float32.tflite").logits(pixels)[0]
    np.testing.assert_allclose(logits, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
