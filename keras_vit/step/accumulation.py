"""A share of the batch worked off in pieces, one after another: the memory of a piece."""

import tensorflow as tf


def in_pieces(work, batch, pieces, states):
    """Does `work` on each piece of a batch and returns what it would on all of it.

    Args:
        work: from (batch, states) to (sums, new states, outputs), as in
            `keras_vit.step.gradients`.
        batch: structure of tensors that have the examples on their first axis; None is kept.
        pieces: number of pieces. The first takes what does not go into equal ones.
        states: place -> tensor, the states that the first piece reads; each of the others reads
            what the one before it left.

    Returns:
        The sums of all pieces, the last states, and the outputs in the order of the examples.
    """
    if pieces == 1:
        return work(batch, states)
    first, rest = _split(batch, pieces)
    sums, new, outputs = work(first, states)
    # Outside the loop it is seen which gradients there are, and which states a piece changes.
    arrays = [_array(pieces - 1, output) for output in _tensors(outputs)]

    def piece(index, sums, new, arrays):
        more, newer, outputs = work(_map(lambda tensor: tensor[index], rest), {**states, **new})
        sums = [total + value for total, value in zip(sums, _tensors(more), strict=True)]
        arrays = [
            array.write(index, output)
            for array, output in zip(arrays, _tensors(outputs), strict=True)
        ]
        return index + 1, sums, {place: newer[place] for place in new}, arrays

    _, totals, new, arrays = tf.while_loop(
        lambda index, *_: index < pieces - 1,
        piece,
        (0, _tensors(sums), new, arrays),
        parallel_iterations=1,
    )
    joined = [
        _join(head, array.stack()) for head, array in zip(_tensors(outputs), arrays, strict=True)
    ]
    return _filled(sums, totals), new, _filled(outputs, joined)


def _split(batch, pieces):
    """The first piece, and the others on an axis of their own."""

    def sizes(tensor):
        size = tf.shape(tensor)[0] // pieces
        return size, tf.shape(tensor)[0] - size * (pieces - 1)

    def rest(tensor):
        size, first = sizes(tensor)
        shape = tf.concat([[pieces - 1, size], tf.shape(tensor)[1:]], axis=0)
        split = tf.reshape(tensor[first:], shape)
        return tf.ensure_shape(split, [pieces - 1, None, *tensor.shape[1:]])

    return _map(lambda tensor: tensor[: sizes(tensor)[1]], batch), _map(rest, batch)


def _array(size, output):
    shape = [None, *output.shape[1:]]
    return tf.TensorArray(output.dtype, size, element_shape=shape)


def _join(first, rest):
    """The first piece's outputs and the others', again on one axis."""
    shape = tf.concat([[-1], tf.shape(first)[1:]], axis=0)
    return tf.concat([first, tf.reshape(rest, shape)], axis=0)


def _map(function, structure):
    """`function` on each tensor of a structure; None stays."""
    return tf.nest.map_structure(lambda leaf: None if leaf is None else function(leaf), structure)


def _tensors(structure):
    """The tensors of a structure in a list, without None: a loop carries only tensors."""
    return [leaf for leaf in tf.nest.flatten(structure) if leaf is not None]


def _filled(structure, tensors):
    """The structure with these tensors in the place of its own."""
    tensors = iter(tensors)
    return _map(lambda _: next(tensors), structure)
