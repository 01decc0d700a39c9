"""`tf.Example`s for classification."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow_serving.apis import classification_pb2, input_pb2

from keras_vit.export.server import examples
from keras_vit.export.server.errors import Refused
from keras_vit.export.server.signatures import tensor_info


def example(**features):
    made = tf.train.Example()
    for name, value in features.items():
        made.features.feature[name].float_list.value.append(value)
    return made


def features(serialized):
    parsed = tf.train.Example.FromString(serialized)
    return {key: one.float_list.value[0] for key, one in parsed.features.feature.items()}


def test_examples_and_their_context():
    message = input_pb2.Input()
    message.example_list.examples.extend([example(x=1), example(x=2)])
    assert [features(one) for one in examples.serialized(message)] == [{"x": 1}, {"x": 2}]
    message = input_pb2.Input()
    message.example_list_with_context.context.CopyFrom(example(x=5, y=6))
    message.example_list_with_context.examples.extend([example(x=1)])
    assert [features(one) for one in examples.serialized(message)] == [{"x": 1, "y": 6}]


def test_nothing_is_refused():
    message = input_pb2.Input()
    with pytest.raises(Refused, match="Input is empty"):
        examples.serialized(message)
    message.example_list.SetInParent()
    with pytest.raises(Refused, match="Input is empty"):
        examples.serialized(message)


def definition(method=examples.METHOD, inputs=("inputs",), outputs=("classes", "scores")):
    info = tensor_info(tf.string, (None,), "x")
    return meta_graph_pb2.SignatureDef(
        method_name=method,
        inputs=dict.fromkeys(inputs, info),
        outputs=dict.fromkeys(outputs, info),
    )


def test_signatures_that_classify():
    for outputs in (("classes",), ("scores",), ("scores", "classes")):
        wanted = definition(outputs=outputs)
        examples.check(wanted)
        assert examples.wanted(wanted) == sorted(outputs)
    with pytest.raises(Refused, match="Was: tensorflow/serving/predict"):
        examples.check(definition("tensorflow/serving/predict"))
    for wrong in ({"inputs": ("x",)}, {"outputs": ("x",)}):
        with pytest.raises(Refused, match="must have the input `inputs`"):
            examples.check(definition(**wrong))


def test_results():
    classes = np.array([[b"a", b"b"]], dtype=object)
    scores = np.array([[0.25, 0.75]], "float32")
    result = classification_pb2.ClassificationResult()
    examples.fill(result, {"classes": classes, "scores": scores})
    found = [(one.label, one.score) for one in result.classifications[0].classes]
    assert found == [("a", 0.25), ("b", 0.75)]
    result = classification_pb2.ClassificationResult()
    examples.fill(result, {"scores": scores})
    assert [one.score for one in result.classifications[0].classes] == [0.25, 0.75]
