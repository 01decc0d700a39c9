"""The page, and what it asks."""

import asyncio
import base64
import json

import numpy as np
import pytest
from PIL import Image

from keras_vit.export import export
from keras_vit.export.server import page
from tests.data.pictures import encode
from tests.export.server.browser import complaints, opened, requested
from tests.export.server.toys import asked, serving
from tests.small_vit import small_vit


def test_the_best_classes():
    outputs = {"probabilities": np.array([[0.2, 0.5, 0.3]])}
    assert page.best(outputs, ()) == [["1", 0.5], ["2", 0.3], ["0", 0.2]]
    assert page.best(outputs, ("a", "b", "c"))[0] == ["b", 0.5]
    outputs |= {"labels": np.array([["č".encode()]], object), "scores": np.array([[0.75]])}
    assert page.best(outputs, ("a", "b", "c")) == [["č", 0.75]]


def test_a_model_that_takes_no_pictures(server):
    (model,) = asked(server, "/page.json")[1]["models"]
    assert model == {"name": "toy", "version": 1, "takes_pictures": False, "preprocessing": None}
    status, answer, _ = asked(server, "/page/look/toy", b"x")
    assert status == 412 and "takes no pictures" in answer["error"]
    assert asked(server, "/page/look/none", b"x")[0] == 404


@pytest.mark.prove
def test_a_look_at_a_picture(artefacts):
    file = encode(artefacts.pixels[0, ..., 0], "PNG")
    with serving(artefacts["float32"]) as server:
        (model,) = asked(server, "/page.json")[1]["models"]
        assert model["takes_pictures"] and model["preprocessing"]["image_size"] == [16, 16]
        path = f"/page/look/{model['name']}"
        status, answer, _ = asked(server, path, file)
        assert status == 200 and answer["attention"] is None
        assert len(answer["classes"]) == 5 and answer["classes"][0][0].startswith("digit")
        assert answer["decode_ms"] > 0 and answer["model_ms"] > 0
        encoded = {"b64": base64.b64encode(file).decode("ascii")}
        body = {"signature_name": "serving_bytes", "instances": [encoded]}
        _, answered, _ = asked(server, f"/v1/models/{model['name']}:predict", body)
        assert answered["predictions"][0]["labels"] == [name for name, _ in answer["classes"]]
        status, answer, _ = asked(server, path, b"no picture")
        assert status == 400 and "not a JPEG" in answer["error"]


@pytest.fixture(scope="module")
def explained(tmp_path_factory):
    """A server for a model that shows its attention, and a picture."""
    folder = tmp_path_factory.mktemp("explained")
    model = small_vit((32, 32), channels=3, class_token=True, pooling="token")
    export(model, "server", folder / "models" / "digits" / "1")
    noise = np.random.default_rng(5).integers(0, 256, (60, 90, 3), "uint8")
    Image.fromarray(noise).resize((900, 600)).save(folder / "noise.jpg")
    (folder / "text.jpg").write_text("no picture")
    with serving(folder / "models", tokens=("secret",)) as server:
        server.folder = folder
        yield server


@pytest.mark.prove
@pytest.mark.parametrize(("width", "dark"), [(1000, False), (390, True)])
def test_a_person_tries_it(explained, tmp_path, width, dark):
    async def scene():
        url = f"http://127.0.0.1:{explained.rest_port}/"
        async with opened(url, tmp_path, width=width, dark=dark) as seen:
            await _come_in(seen)
            await _try(seen, explained.folder)
            # Nothing is wider than the window, and nothing came from elsewhere.
            assert await seen.value("document.documentElement.scrollWidth") <= width
            assert all(one.startswith(("http://127.0.0.1", "data:")) for one in requested(seen))
            expected = "rgb(22, 24, 28)" if dark else "rgb(246, 245, 242)"
            back = "getComputedStyle(document.body).backgroundColor"
            assert await seen.value(back) == expected
            return complaints(seen)

    # The browser tells of the answers 401 and 400 that the scene wants, and of nothing else.
    for complaint in asyncio.run(scene()):
        assert "401" in complaint or "400" in complaint, json.loads(complaint)


async def _come_in(seen):
    """The token, by the keyboard alone."""
    await seen.until("document.readyState == 'complete' && !at('access').hidden")
    await seen.value("at('token').focus()")
    await seen.call("Input.insertText", text="secret")
    await seen.press("Tab", 9)
    assert await seen.value("document.activeElement.textContent") == "Use it"
    await seen.value("document.activeElement.click()")
    await seen.until("at('status').textContent == 'Ready for a picture.'")
    assert await seen.value("at('tools').hidden && at('access').hidden")
    order = []
    await seen.value("document.activeElement.blur()")
    for _ in range(2):
        await seen.press("Tab", 9)
        order.append(await seen.value("document.activeElement.id"))
    assert set(order) == {"model", "file"}


async def _try(seen, folder):
    picture = "at('canvas').toDataURL()"
    await seen.choose("#file", folder / "noise.jpg")
    await seen.until("at('classes').children.length == 5")
    assert (await seen.value("at('status').textContent")).startswith("digit ")
    assert " ms" in await seen.value("at('timing').textContent")
    widths = await seen.value("[...document.querySelectorAll('i')].map(one => one.style.width)")
    shares = [float(one.rstrip("%")) for one in widths]
    assert shares == sorted(shares, reverse=True) and shares[0] > 0
    looked = await seen.value(picture)
    await seen.value("at('attention').click()")
    plain = await seen.value(picture)
    assert plain != looked
    await seen.value("at('attention').click()")
    assert await seen.value(picture) == looked
    await seen.choose("#file", folder / "text.jpg")
    await seen.until("at('status').classList.contains('wrong')")
    assert "not a JPEG" in await seen.value("at('status').textContent")
    assert await seen.value("at('classes').children.length") == 0
