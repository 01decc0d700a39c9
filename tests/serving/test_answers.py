"""TF Serving's own stubs and plain HTTP get the model's own answers, for every kind of picture."""

import concurrent.futures

import numpy as np
import pytest
from google.protobuf import json_format
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow_serving.apis import get_model_metadata_pb2

from keras_vit.data.decode import decode, fit
from tests.data.pictures import as_rgb, in_every_form, photograph
from tests.serving.clients import (
    by_grpc,
    by_rest,
    classified_by_grpc,
    in_base64,
    metadata_by_grpc,
    predicted,
)

pytestmark = pytest.mark.prove
BATCH = 13  # no power of two, and below the server's limit of 16


@pytest.fixture(scope="module")
def pictures():
    """Portraits of every orientation, mode and format."""
    return list(in_every_form(photograph(41, 31)).values())


@pytest.fixture(scope="module")
def pixels(pictures, network):
    """What our one decoder makes of them."""
    about = network.preprocessing
    return np.stack([fit(decode(picture, 3), about).numpy() for picture in pictures])


def check_same(found, expected):
    found, expected = np.asarray(found, "float32"), np.asarray(expected)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()


def batches(*lists):
    for start in range(0, len(lists[0]), BATCH):
        yield [one[start : start + BATCH] for one in lists]


def softmax(logits):
    shifted = np.exp(np.float64(logits) - logits.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def test_pictures_by_grpc(served, pictures, pixels, logits):
    for some, theirs in batches(pictures, pixels):
        outputs = by_grpc(served, "serving_bytes", image_bytes=some)
        expected = logits(theirs)
        check_same(outputs["logits"], expected)
        check_same(outputs["probabilities"], softmax(expected))
        best = np.argsort(-expected, axis=-1)[:, :5]
        np.testing.assert_array_equal(outputs["classes"], best)
        labels = [[f"digit {index}".encode() for index in row] for row in best]
        np.testing.assert_array_equal(outputs["labels"], np.array(labels, object))
        check_same(outputs["scores"], np.take_along_axis(softmax(expected), best, axis=-1))


def test_pictures_by_rest(served, pictures, pixels, logits):
    for some, theirs in batches(pictures, pixels):
        rows = predicted(served, "serving_bytes", [in_base64(one) for one in some])
        named = predicted(served, "serving_bytes", [{"image_bytes": in_base64(x)} for x in some])
        expected = logits(theirs)
        for answer in (rows, named):
            check_same([row["logits"] for row in answer], expected)
            best = [row["labels"][0] for row in answer]
            assert best == [f"digit {index}" for index in expected.argmax(axis=-1)]


@pytest.mark.parametrize("signature", ["serving_default", "serving_uint8"])
def test_pixels_by_both(served, pixels, logits, signature):
    dtype = {"serving_default": "float32", "serving_uint8": "uint8"}[signature]
    for (theirs,) in batches(pixels):
        expected, images = logits(theirs), theirs.astype(dtype)
        check_same(by_grpc(served, signature, images=images)["logits"], expected)
        rows = predicted(served, signature, images.tolist())
        check_same([row["logits"] for row in rows], expected)


def test_every_picture_is_read_as_pillow_reads_it(pictures, pixels, network):
    """So that the answers are those of the pictures, and not only of our decoder."""
    from PIL import Image

    height, width = network.preprocessing.image_size
    for picture, ours in zip(pictures, pixels, strict=True):
        theirs = Image.fromarray(as_rgb(picture)).resize((width, height), Image.Resampling.BICUBIC)
        assert np.abs(np.asarray(theirs, "float32") - ours).mean() < 3


def test_classified_by_both(served, pictures, pixels, logits):
    for some, theirs in batches(pictures, pixels):
        expected = softmax(logits(theirs))
        best = np.argsort(-expected, axis=-1)[:, :5]
        scores = np.take_along_axis(expected, best, axis=-1)
        by_stub = classified_by_grpc(served, some)
        examples = [{"image/encoded": in_base64(picture)} for picture in some]
        status, answer = by_rest(
            served, "/v1/models/vit:classify", {"signature_name": "classify", "examples": examples}
        )
        assert status == 200, answer
        rows = [[[one.label, one.score] for one in row.classes] for row in by_stub]
        for found in (rows, answer["results"]):
            labels = [[label for label, _ in row] for row in found]
            assert labels == [[f"digit {index}" for index in row] for row in best]
            check_same([[score for _, score in row] for row in found], scores)


def test_metadata_is_that_of_the_saved_model(served, exported):
    saved = saved_model_pb2.SavedModel.FromString((exported / "saved_model.pb").read_bytes())
    definitions = saved.meta_graphs[0].signature_def
    assert {"serving_default", "serving_uint8", "serving_bytes", "classify"} <= set(definitions)
    spec, by_stub = metadata_by_grpc(served)
    assert (spec.name, spec.version.value) == ("vit", 1)
    assert dict(by_stub) == dict(definitions)
    status, answer = by_rest(served, "/v1/models/vit/metadata")
    assert status == 200 and answer["model_spec"] == {
        "name": "vit", "signature_name": "", "version": "1",
    }  # fmt: skip
    parsed = get_model_metadata_pb2.SignatureDefMap()
    json_format.ParseDict(answer["metadata"]["signature_def"], parsed, ignore_unknown_fields=True)
    assert dict(parsed.signature_def) == dict(definitions)


def test_a_picture_that_cannot_be_read_fails_alone(served, pictures, pixels, logits):
    """Asked at the same time, so that they come into one batch; and in one request."""
    expected = logits(pixels[:BATCH])
    bad = pictures[0][: len(pictures[0]) // 2]
    asked = [[picture] for picture in pictures[:BATCH]] + [[bad]] * 3
    with concurrent.futures.ThreadPoolExecutor(len(asked)) as pool:
        outputs = list(
            pool.map(lambda one: by_grpc(served, "serving_bytes", image_bytes=one), asked)
        )
    check_same([one["logits"][0] for one in outputs[:BATCH]], expected)
    assert all(one["error"][0] == b"" for one in outputs[:BATCH])
    together = by_grpc(served, "serving_bytes", image_bytes=[pictures[0], bad, pictures[1]])
    check_same(together["logits"][[0, 2]], expected[:2])
    for rows in (*outputs[BATCH:], {name: array[1:2] for name, array in together.items()}):
        assert rows["error"][0] and not rows["logits"].any()
        assert (rows["classes"] == -1).all()
    answer = predicted(served, "serving_bytes", [in_base64(bad), in_base64(pictures[0])])
    assert answer[0]["error"] and not answer[1]["error"]
    check_same([answer[1]["logits"]], expected[:1])
