import pytest
import tensorflow as tf

from keras_vit.cli.bench_trace import operation_seconds, trace_table


@pytest.fixture
def products():
    """A call of seven matrix products and one softmax."""
    matrix = tf.Variable(tf.ones((67, 67)))  # of a constant nothing would be left to run

    @tf.function
    def call():
        x = matrix
        for _ in range(7):
            x = tf.matmul(x, matrix)
        return tf.nn.softmax(x)

    call()
    return call


def test_every_operation_is_counted(products):
    taken = operation_seconds(products)
    product = next(kind for kind in taken if "MatMul" in kind)
    assert taken[product][1] == 7
    softmax = next(kind for kind in taken if "Softmax" in kind)
    assert taken[softmax][1] == 1
    assert all(seconds > 0 for seconds, _ in taken.values())


def test_the_longest_comes_first(products):
    seconds = [seconds for seconds, _ in operation_seconds(products).values()]
    assert seconds == sorted(seconds, reverse=True)
    assert trace_table("seven products", products).row_count > 1


def test_a_call_without_tensorflow_is_refused():
    with pytest.raises(ValueError, match="holds no operation"):
        operation_seconds(lambda: None)
