"""Taking some of the tokens of each example: a fixed number, so that all shapes are known."""

from keras import ops


def gather_tokens(tokens, indices):
    """Returns the tokens of each example that its indices name.

    It is a gather of rows from one matrix, which TFLite has as GATHER; indices for each number of
    a token, as `ops.take_along_axis` wants them, would be as large as the tokens.

    Args:
        tokens: `[b, n, ...]`, `n` known.
        indices: int `[b, m]`, values 0 to `n - 1`.

    Returns:
        `[b, m, ...]`.

    Example:

    >>> gather_tokens(ops.array([[5, 7], [2, 3]]), ops.array([[1], [0]])).numpy().tolist()
    [[7], [2]]
    """
    count, rest, batch = tokens.shape[1], tokens.shape[2:], ops.shape(tokens)[0]
    starts = count * ops.arange(batch, dtype=indices.dtype)
    rows = ops.reshape(indices + starts[:, None], (-1,))
    taken = ops.take(ops.reshape(tokens, (-1, *rest)), rows, axis=0)
    return ops.reshape(taken, (batch, indices.shape[1], *rest))
