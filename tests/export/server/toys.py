"""SavedModels that are made in a moment, and a way to ask a server."""

import contextlib
import json
import urllib.error
import urllib.request

import tensorflow as tf

from keras_vit.export.server import Server, Settings
from keras_vit.export.server.logs import Log

CLASSIFY = "tensorflow/serving/classify"


class Lines:
    """A log's stream that keeps its events."""

    def __init__(self):
        self.events = []

    def write(self, text):
        self.events.append(json.loads(text))

    def flush(self):
        pass

    def of(self, event):
        return [one for one in self.events if one["event"] == event]


def toy(folder, scale=2.0):
    """Saves a SavedModel with signatures of every kind.

    `serving_default`: y = scale * x, and refuses negative numbers; `pair`: two inputs; `texts`:
    strings in and out; `fixed`: no batch axis; `classify`: `tf.Example`s.
    """

    def signature(*specs):
        return tf.function(input_signature=specs, autograph=False)

    rows = tf.TensorSpec((None, 2), tf.float32, "x")
    numbers = tf.TensorSpec((None,), tf.int32, "count")
    texts = tf.TensorSpec((None,), tf.string, "text_bytes")
    fixed = tf.TensorSpec((2, 3), tf.float32, "x")
    examples = tf.TensorSpec((None,), tf.string, "inputs")

    @signature(rows)
    def serve(x):
        with tf.control_dependencies([tf.debugging.assert_non_negative(x, "x is negative")]):
            return {"y": scale * x}

    @signature(rows, numbers)
    def pair(x, count):
        return {"total": tf.reduce_sum(x, 1) + tf.cast(count, tf.float32), "count": 2 * count}

    @signature(texts)
    def text(text_bytes):
        return {"back_bytes": text_bytes, "length": tf.strings.length(text_bytes)}

    @signature(fixed)
    def whole(x):
        return {"total": tf.reduce_sum(x)}

    @signature(examples)
    def classify(inputs):
        parsed = tf.io.parse_example(inputs, {"x": tf.io.FixedLenFeature([2], tf.float32)})
        names = tf.broadcast_to(tf.constant([["a", "b"]]), tf.shape(parsed["x"]))
        return {"classes": names, "scores": scale * parsed["x"]}

    calls = {"serving_default": serve, "pair": pair, "texts": text, "fixed": whole}
    calls["classify"] = classify
    tf.saved_model.save(tf.Module(), str(folder), signatures=calls)
    updater = tf.compat.v1.saved_model.signature_def_utils.MethodNameUpdater(str(folder))
    updater.replace_method_name("classify", CLASSIFY)
    updater.save()


@contextlib.contextmanager
def serving(folder, **settings):
    """A server on free ports, once it is ready; its log's lines are in `.lines`."""
    lines = Lines()
    settings = {"port": 0, "rest_port": 0, "poll_s": 0.05, **settings}
    with Server(Settings(folder, **settings), Log(lines)) as server:
        server.lines = lines
        assert server.loaded.wait(60)
        yield server


def asked(server, path, body=None, method=None, headers=None):
    """(status, JSON or text, headers) of an HTTP request."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.rest_port}{path}", data, headers or {}, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, _content(answer), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, _content(error), error.headers


def _content(answer):
    content = answer.read()
    if answer.headers.get_content_type() == "application/json":
        return json.loads(content)
    return content.decode()
