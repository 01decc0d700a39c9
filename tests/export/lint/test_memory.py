"""Peak memory of a graph whose lifetimes can be counted by hand."""

from keras_vit.export.lint.graph import Graph, Operator, Tensor
from keras_vit.export.lint.memory import peak_activations


def tensor(size, constant=False):
    return Tensor(f"of {size}", (size,), "INT8", [] if constant else None, ())


def operator(position, inputs, outputs):
    return Operator(position, "ADD", 1, False, tuple(inputs), tuple(outputs))


def test_a_branch_lives_until_it_is_added():
    image, branch, wide, narrow, out = (tensor(size) for size in (7, 11, 31, 3, 2))
    graph = Graph(
        [
            operator(0, [image, tensor(1000, constant=True)], [branch]),
            operator(1, [branch], [wide]),
            operator(2, [wide], [narrow]),
            operator(3, [narrow, branch], [out]),
        ],
        [image],
        [out],
    )
    peak, where = peak_activations(graph)
    assert peak == 11 + 31 + 3 and where.position == 2


def test_an_output_lives_to_the_end_and_one_that_nobody_reads_does_not():
    image, early, unread, late = (tensor(size) for size in (5, 100, 1000, 10))
    graph = Graph(
        [
            operator(0, [image], [early]),
            operator(1, [image], [unread]),
            operator(2, [image], [late]),
        ],
        [image],
        [early, late],
    )
    assert peak_activations(graph)[0] == 5 + 100 + 1000


def test_bytes_of_a_type():
    assert Tensor("x", (3, -1, 5), "FLOAT32", None, ()).size_bytes == 60
    assert Tensor("x", (), "INT32", None, ()).size_bytes == 4
